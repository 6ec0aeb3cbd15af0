//! What must be true when everything has come to its end.

use super::life::Player;
use crate::support::TestApp;
use app::domain::{ids::ShowId, order::OrderStatus, seat::SeatState};
use proptest::{prop_assert, prop_assert_eq, test_runner::TestCaseError};
use std::collections::HashMap;

/// A payment as both sides have it.
#[derive(sqlx::FromRow)]
struct Payment {
    out_trade_no: String,
    /// The shop's state.
    status: u8,
    amount_minor: i64,
    /// The gateway's state.
    at_gateway: String,
    /// What the gateway has given back.
    given_back: i64,
}

impl Payment {
    fn is_taken(&self) -> bool {
        self.at_gateway == "succeeded"
    }
}

#[derive(sqlx::FromRow)]
struct Ticket {
    seat: u32,
    price_minor: i64,
    /// Whether it was given back.
    is_back: bool,
}

/// Compares shop, gateway, seats and evidence; how each order ended.
pub async fn audit(
    app: &TestApp,
    show: ShowId,
    players: &[Player],
) -> Result<Vec<String>, TestCaseError> {
    let map = app.map(show).await;
    let owners = app.ticketing().redis().owners(show).await.expect("Redis");
    let mut ends = Vec::new();
    for player in players {
        let order_no = player.order_no;
        let order = app.db().order(order_no).await.expect("a database");
        let status = order.as_ref().map(|order| order.status);
        let payments = payments(app, player).await;
        let kept = agree(&payments)?;
        let status = status.expect("the order");
        let expected = [
            OrderStatus::Paid,
            OrderStatus::Ticketed,
            OrderStatus::Cancelled,
            OrderStatus::Refunded,
        ];
        prop_assert!(expected.contains(&status), "{} is {:?}", order_no, status);
        let tickets = tickets(app, player).await;
        let live = tickets
            .iter()
            .filter(|ticket| status.is_live() && !ticket.is_back);
        let worth: i64 = live.clone().map(|ticket| ticket.price_minor).sum();
        prop_assert_eq!(kept, worth, "money of order {}, {:?}", order_no, status);
        let live: Vec<u32> = live.map(|ticket| ticket.seat).collect();
        prop_assert_eq!(
            live.is_empty(),
            !status.is_live(),
            "tickets of {}",
            order_no
        );
        for seat in player.seats {
            let found = (map.state(seat), owners.get(&seat));
            let expected = if live.contains(&seat.0) {
                (SeatState::Sold, Some(&order_no))
            } else {
                (SeatState::Available, None)
            };
            prop_assert_eq!(found, expected, "seat {} of {}", seat, order_no);
        }
        let taken = payments.iter().filter(|payment| payment.is_taken());
        let back = payments.iter().filter(|payment| payment.given_back > 0);
        ends.push(format!(
            "{status:?} ({} captured, {} given back)",
            taken.count(),
            back.count()
        ));
    }
    let evidence = app.verify().await;
    prop_assert!(evidence.is_clean(), "{}", evidence.table());
    Ok(ends)
}

async fn tickets(app: &TestApp, player: &Player) -> Vec<Ticket> {
    sqlx::query_as(
        "SELECT i.seat, i.price_minor, EXISTS (SELECT 1 FROM refund_item b WHERE b.order_no = i.order_no \
         AND b.item_no = i.item_no) AS is_back FROM order_item i WHERE i.order_no = ? ORDER BY i.item_no",
    )
    .bind(player.order_no.as_i64())
    .fetch_all(app.db().pool())
    .await
    .expect("a database")
}

async fn payments(app: &TestApp, player: &Player) -> Vec<Payment> {
    sqlx::query_as(
        "SELECT p.out_trade_no, p.status, p.amount_minor, g.status AS at_gateway, \
         CAST(COALESCE((SELECT SUM(r.amount_minor) FROM gw_refund r \
         WHERE r.third_trade_no = g.third_trade_no AND r.status = 'succeeded'), 0) AS SIGNED) AS given_back \
         FROM payment p JOIN gw_payment g ON g.out_trade_no = p.out_trade_no WHERE p.order_no = ? ORDER BY p.id",
    )
    .bind(player.order_no.as_i64())
    .fetch_all(app.db().pool())
    .await
    .expect("a database")
}

/// Shop and gateway say the same of every payment; what the gateway has kept of all of them.
fn agree(payments: &[Payment]) -> Result<i64, TestCaseError> {
    let mut kept = 0;
    for payment in payments {
        let number = &payment.out_trade_no;
        let is_taken = payment.is_taken();
        prop_assert_eq!(
            matches!(payment.status, 3 | 6),
            is_taken,
            "{} is {} at the shop and {} at the gateway",
            number,
            payment.status,
            payment.at_gateway
        );
        if is_taken {
            let is_back = payment.given_back == payment.amount_minor;
            prop_assert_eq!(payment.status == 6, is_back, "refunds of {}", number);
            prop_assert!(payment.given_back <= payment.amount_minor, "{}", number);
            kept += payment.amount_minor - payment.given_back;
        } else {
            prop_assert_eq!(payment.given_back, 0, "refund of {}", number);
        }
    }
    let numbers: HashMap<_, _> = payments
        .iter()
        .map(|payment| (&payment.out_trade_no, payment))
        .collect();
    prop_assert_eq!(numbers.len(), payments.len(), "a number for each attempt");
    Ok(kept)
}
