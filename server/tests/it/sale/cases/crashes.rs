//! A server that dies while tickets are sold.

use crate::support::{Customer, ShowSpec, TestApp, eventually, run};
use app::domain::{
    hold::Placed,
    ids::{OrderNo, ShowId},
    order::{OrderStatus, OrderView, RefundProgress},
    time::Millis,
};
use futures::{StreamExt, stream};
use reqwest::{Method, RequestBuilder, StatusCode, header};
use serde::de::DeserializeOwned;
use server::mysql::Db;
use std::time::Duration;
use tokio::time::sleep;

const TICKETS: u32 = 650;
const TICKETS_OF_ONE: u32 = 4;
const BUYERS_AT_ONCE: usize = 24;
/// How many orders are paid when the server dies.
const DEATHS: [i64; 2] = [40, 100];
/// For how long a buyer tries again while nobody answers.
const TRIES_MAX: u32 = 600;
const PAUSE: Duration = Duration::from_millis(100);

/// Asks until there is an answer of success, as a person reloads a page; nothing when another answer ends it.
async fn patiently<T: DeserializeOwned>(request: impl Fn() -> RequestBuilder) -> Option<T> {
    for _ in 0..TRIES_MAX {
        let request = request().header(header::ACCEPT, "application/json");
        if let Ok(answer) = request.send().await {
            if answer.status().is_success() {
                return Some(answer.json().await.expect("what was asked for"));
            }
            let is_final = answer.status().is_client_error()
                && answer.status() != StatusCode::TOO_MANY_REQUESTS;
            if is_final {
                return None;
            }
        }
        sleep(PAUSE).await;
    }
    panic!("nobody answers any more");
}

/// One who wants these seats, and stays until they are paid for or are not to be had.
async fn buy(customer: &Customer, show: ShowId, seats: &[u32]) -> OrderNo {
    let mut form = vec![
        ("show_id", show.to_string()),
        ("idempotency_key", uuid::Uuid::new_v4().to_string()),
    ];
    form.extend(seats.iter().map(|seat| ("seats[]", seat.to_string())));
    let place = || {
        customer
            .request(Method::POST, "/api/orders/place")
            .form(&form)
    };
    let placed: Placed = patiently(place).await.expect("nobody else wants them");
    let order_no = placed.order_no;
    let number = [("order_no", order_no.to_string())];
    while look(customer, order_no).await.status == OrderStatus::Creating {
        sleep(PAUSE).await;
    }
    while look(customer, order_no).await.status == OrderStatus::Pending {
        let start = || {
            customer
                .request(Method::POST, "/api/payments/start")
                .form(&number)
        };
        if let Some(cashier) = patiently::<String>(start).await {
            // An answer that is lost is looked for on the order's page.
            customer.press_pay(&cashier).await;
        }
        sleep(PAUSE).await;
    }
    order_no
}

async fn look(customer: &Customer, order_no: OrderNo) -> OrderView {
    let path = format!("/api/orders/order?order_no={order_no}");
    let order = patiently(|| customer.request(Method::GET, &path)).await;
    order.expect("a buyer's own order is never gone")
}

async fn count(db: &Db, query: &'static str) -> i64 {
    sqlx::query_scalar(query)
        .fetch_one(db.pool())
        .await
        .expect("a count")
}

#[test]
fn of_650_tickets_whose_server_dies_twice_each_payment_has_its_order_or_goes_back() {
    run(async {
        let mut app = TestApp::start(&[
            ("SEATFLOW_DATABASE_CONNECTIONS", "16"),
            // A dead server's messages wait until its successor is the group's.
            ("SEATFLOW_DISCARD_AFTER_MS", "50000"),
        ])
        .await;
        let show = app
            .show(ShowSpec {
                seats: TICKETS,
                ..ShowSpec::default()
            })
            .await;
        let mut customers = Vec::new();
        for first in (0..TICKETS).step_by(TICKETS_OF_ONE as usize) {
            let seats = first..(first + TICKETS_OF_ONE).min(TICKETS);
            customers.push((app.customer().await, seats.collect::<Vec<u32>>()));
        }
        let sale = tokio::spawn(async move {
            stream::iter(customers)
                .map(|(customer, seats)| async move {
                    let order_no = buy(&customer, show, &seats).await;
                    (customer, seats, order_no)
                })
                .buffer_unordered(BUYERS_AT_ONCE)
                .collect::<Vec<_>>()
                .await
        });
        let db = Db::connect(&app.config().stores).await.expect("a database");
        for paid in DEATHS {
            eventually("so many orders are paid", || async {
                let orders = count(&db, "SELECT COUNT(*) FROM orders WHERE status = 1").await;
                (orders >= paid).then_some(())
            })
            .await;
            app = app.after_a_crash().await;
            // What the dead server had taken to do is free for its successor.
            app.clock.advance(Millis::seconds(31));
        }
        let bought = sale.await.expect("every buyer comes to an end");
        let mut sold = 0;
        for (customer, seats, order_no) in &bought {
            let order = look(customer, *order_no).await;
            match order.status {
                OrderStatus::Paid => sold += seats.len(),
                // Written too late to be believed: whoever paid nevertheless has it back.
                _ => {
                    eventually("its money is back", || async {
                        let order = look(customer, *order_no).await;
                        let refund = order.payment.map(|payment| payment.refund);
                        let is_settled =
                            matches!(refund, None | Some(Some(RefundProgress::Succeeded)));
                        is_settled.then_some(())
                    })
                    .await;
                }
            }
        }
        assert!(sold > 0);
        let captured = "SELECT COUNT(*) FROM gw_payment WHERE status = 'succeeded'";
        let explained = "SELECT COUNT(*) FROM gw_payment g JOIN payment p ON p.out_trade_no = g.out_trade_no \
             JOIN orders o ON o.order_no = p.order_no WHERE g.status = 'succeeded' AND \
             (o.status = 1 OR EXISTS (SELECT 1 FROM gw_refund r WHERE r.out_trade_no = g.out_trade_no \
             AND r.status = 'succeeded'))";
        let captured = count(&db, captured).await;
        assert!(captured >= DEATHS[1], "{captured}");
        assert_eq!(count(&db, explained).await, captured);
        eventually("both stores agree", || async {
            app.verify().await.is_clean().then_some(())
        })
        .await;
        let [available, locked, seats_sold, _] = app.seat_counts(show).await;
        assert_eq!((locked, seats_sold), (0, sold), "{available} are left");
    });
}
