//! Two hundred orders in all states, and servers that die while they are ended.

use super::{pay, sum, withdrawal};
use crate::support::{ShowSpec, Stage, eventually, headers_for, run};
use app::{
    domain::{
        hold::Refusal,
        ids::{OrderNo, ShowId},
        order::{CancelReason, OrderStatus},
        seat::SeatState,
        time::Millis,
    },
    error::AppError,
};
use axum::http::StatusCode;
use futures::{StreamExt, stream};
use server::{
    clock::Clock,
    gateway::wire::{Callback, CallbackKind, CallbackStatus},
    kafka::messages::Placed,
    ticketing::Ticketing,
};
use std::time::Duration;

const SEATS: u32 = 200;

/// Orders of one seat each, in every state.
struct Orders {
    pending: Vec<OrderNo>,
    paid: Vec<OrderNo>,
    given_up: Vec<OrderNo>,
    discarded: Vec<OrderNo>,
    on_their_way: Vec<(OrderNo, Placed)>,
}

async fn two_hundred_orders(stage: &Stage, show: ShowId) -> Orders {
    let made: Vec<(u32, OrderNo)> = stream::iter(0..SEATS)
        .map(|seat| async move { (seat, an_order(stage, show, seat).await) })
        .buffer_unordered(6)
        .collect()
        .await;
    let of = |seats: std::ops::Range<u32>| {
        let chosen = made.iter().filter(|(seat, _)| seats.contains(seat));
        chosen.map(|(_, order_no)| *order_no).collect::<Vec<_>>()
    };
    let mut on_their_way = Vec::new();
    for order_no in of(190..SEATS) {
        on_their_way.push((order_no, stage.message(show, order_no).await));
    }
    Orders {
        pending: of(0..100),
        paid: of(100..160),
        given_up: of(160..180),
        discarded: of(180..190),
        on_their_way,
    }
}

/// An order of one seat, in the state that its seat stands for.
async fn an_order(stage: &Stage, show: ShowId, seat: u32) -> OrderNo {
    let user = stage.user().await;
    if seat >= 180 {
        let order_no = stage.hold(&user, show, &[seat]).await.expect("a hold");
        if seat < 190 {
            let mut stale = stage.message(show, order_no).await;
            stale.placed_at = stale.placed_at - Millis::minutes(5);
            let written = stage.ticketing.create_orders(&[stale]).await;
            written.expect("stores");
        }
        return order_no;
    }
    let order_no = stage.pending(&user, show, &[seat]).await;
    match seat {
        0..60 => {}
        60..100 => drop(stage.payment(&user, order_no).await),
        100..160 => {
            let payment = stage.payment(&user, order_no).await;
            pay(stage, &stage.ticketing, &payment.out_trade_no).await;
        }
        _ => {
            let ended = stage.ticketing.end_order(order_no, CancelReason::User);
            assert!(ended.await.expect("stores"));
        }
    }
    order_no
}

/// Everything that a server that died left to the outbox.
async fn settle(stage: &Stage, ticketing: &Ticketing) {
    stage.clock.advance(Millis::seconds(21));
    ticketing.settle_due().await.expect("stores");
}

/// The gateway's word that a refund was carried out.
async fn confirm_refund(stage: &Stage, ticketing: &Ticketing, refund_no: &str) {
    let refund = ticketing.db().refund(refund_no).await.expect("a database");
    let refund = refund.expect("a refund");
    let now = stage.clock.now();
    let callback = Callback {
        callback_id: format!("cb_{}", uuid::Uuid::new_v4().simple()),
        kind: CallbackKind::Refund,
        out_trade_no: refund.out_trade_no.clone(),
        third_trade_no: format!("gw_{}", refund.out_trade_no),
        refund_no: Some(refund_no.to_owned()),
        status: CallbackStatus::Succeeded,
        amount_minor: refund.amount.minor,
        currency: refund.amount.currency,
        occurred_at_ms: now.0,
    };
    let body = serde_json::to_vec(&callback).expect("JSON");
    // Twice: a notice may be repeated.
    for _ in 0..2 {
        let answer = ticketing
            .take_callback("simulated", &headers_for(&body, now), &body)
            .await;
        assert_eq!(answer, StatusCode::OK);
    }
}

#[test]
fn two_hundred_orders_in_all_states_end_once_although_the_server_dies_in_the_middle() {
    run(async {
        let stage = Stage::with(&[("SEATFLOW_DISCARD_AFTER_MS", "50000")]).await;
        let show = stage
            .show(ShowSpec {
                seats: SEATS,
                ..ShowSpec::default()
            })
            .await;
        let orders = two_hundred_orders(&stage, show).await;

        // The server that withdraws the show dies when some orders are cancelled.
        let first = stage.another_server().await;
        first.withdraw_show(show).await.expect("a withdrawal");
        // It gets no further than to the last order, which this test holds on to, however fast it is.
        let last = orders.pending.iter().max().expect("pending orders");
        let mut lock = stage.ticketing.db().pool().begin().await.expect("a start");
        sqlx::query("SELECT order_no FROM orders WHERE order_no = ? FOR UPDATE")
            .bind(last.as_i64())
            .execute(&mut *lock)
            .await
            .expect("a lock");
        let dying = tokio::spawn(async move { first.work_on_withdrawals().await });
        eventually("some orders are cancelled", || async {
            let cancelled = stage.ticketing.db().count_withdrawal(show).await;
            cancelled.expect("a database");
            (withdrawal(&stage.ticketing, show).await.cancelled > 15).then_some(())
        })
        .await;
        dying.abort();
        assert!(dying.await.is_err(), "it died before it was done");
        lock.rollback().await.expect("the lock is let go");
        let so_far = withdrawal(&stage.ticketing, show).await;
        assert!(
            so_far.cancelled < 100 && so_far.refunds_requested == 0,
            "{so_far:?}"
        );

        // Two others take over at the same moment.
        let (one, other) = (stage.another_server().await, stage.another_server().await);
        let work = |server: Ticketing| async move {
            loop {
                if server
                    .work_on_withdrawals()
                    .await
                    .expect("stores")
                    .is_some()
                {
                    return server;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let (one, other) = tokio::join!(work(one), work(other));
        // What was on its way arrives, is written like any other order, and is met in the next round.
        for (order_no, message) in &orders.on_their_way {
            let mut message = message.clone();
            message.placed_at = stage.clock.now();
            one.create_orders(&[message]).await.expect("stores");
            assert_eq!(stage.status(*order_no).await, Some(OrderStatus::Pending));
        }
        other
            .work_on_withdrawals()
            .await
            .expect("stores")
            .expect("it leads");
        settle(&stage, &one).await;

        let progress = withdrawal(&one, show).await;
        assert_eq!(
            (
                progress.found,
                progress.cancelled,
                progress.refunds_requested,
                progress.refunded
            ),
            (170, 110, 60, 0)
        );
        for &order_no in &orders.paid {
            assert_eq!(
                stage.status(order_no).await,
                Some(OrderStatus::Paid),
                "not refunded before the gateway says so"
            );
            confirm_refund(&stage, &other, &format!("{order_no}-1-r1")).await;
        }
        settle(&stage, &one).await;
        all_has_ended_once(&stage, show, &orders).await;

        assert_eq!(
            progress.finished_at, None,
            "an order might still have been on its way"
        );
        stage.clock.advance(Millis::seconds(61));
        one.work_on_withdrawals().await.expect("stores");
        let progress = withdrawal(&one, show).await;
        assert_eq!((progress.refunded, progress.found), (60, 170));
        assert!(progress.finished_at.is_some());
        assert_eq!(one.work_on_withdrawals().await.expect("stores"), Some(0));
    });
}

async fn all_has_ended_once(stage: &Stage, show: ShowId, orders: &Orders) {
    let db = stage.ticketing.db();
    let on_their_way: Vec<OrderNo> = orders.on_their_way.iter().map(|(no, _)| *no).collect();
    let expected = [
        (
            &orders.pending,
            OrderStatus::Cancelled,
            Some(CancelReason::ShowWithdrawn),
        ),
        (
            &on_their_way,
            OrderStatus::Cancelled,
            Some(CancelReason::ShowWithdrawn),
        ),
        (
            &orders.given_up,
            OrderStatus::Cancelled,
            Some(CancelReason::User),
        ),
        (&orders.paid, OrderStatus::Refunded, None),
        (&orders.discarded, OrderStatus::Discarded, None),
    ];
    for (numbers, status, reason) in expected {
        for &order_no in numbers {
            let order = db
                .order(order_no)
                .await
                .expect("a database")
                .expect("a row");
            assert_eq!((order.status, order.cancel_reason), (status, reason));
        }
    }
    let refunds: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM refund WHERE status = 3")
        .fetch_one(db.pool())
        .await
        .expect("a count");
    assert_eq!(refunds, 60, "each was asked for and confirmed once");
    assert_eq!(
        (sum(stage, "sales").await, sum(stage, "gateway").await),
        (0, 0)
    );
    let snapshot = stage.ticketing.redis().snapshot(show).await.expect("Redis");
    let snapshot = snapshot.expect("a loaded show");
    assert!(
        snapshot
            .map
            .states()
            .all(|state| state == SeatState::Available)
    );
    // Each seat was locked and freed once, and those of paid orders were sold in between.
    assert_eq!(snapshot.map.at.version, u64::from(2 * SEATS + 60));
    assert!(snapshot.holds.is_empty() && snapshot.counters.bought.is_empty());
    let refused = stage.hold(&stage.user().await, show, &[0]).await;
    assert_eq!(
        refused,
        Err(AppError::Refused {
            refusal: Refusal::NotOnSale
        }),
        "what is free again is not sold again"
    );
    let evidence = stage.ticketing.verify().await.expect("stores");
    assert!(evidence.is_clean(), "{}", evidence.table());
}
