//! Payment and timeout at the same instant: one of them wins everywhere.

use crate::support::{Notice, ShowSpec, Stage, headers_for, run};
use app::domain::{order::OrderStatus, payment::PaymentStatus, seat::SeatState, time::Millis};
use axum::http::StatusCode;
use server::clock::Clock;
use std::sync::Arc;
use tokio::sync::Barrier;

const ROUNDS: u32 = 200;

#[test]
fn payment_and_timeout_at_a_barrier_have_one_winner_in_two_hundred_rounds() {
    run(async {
        let stage = Stage::new().await;
        let show = stage
            .show(ShowSpec {
                seats: ROUNDS,
                limit: 1,
                ..ShowSpec::default()
            })
            .await;
        let (mut paid, mut expired) = (0, 0);
        for seat in 0..ROUNDS {
            if race(&stage, show, seat).await == OrderStatus::Paid {
                paid += 1
            } else {
                expired += 1
            }
        }
        assert_eq!(paid + expired, ROUNDS);
        let counts = stage
            .ticketing
            .db()
            .counts(stage.clock.now())
            .await
            .expect("a database");
        assert_eq!(counts.unbalanced_postings, 0);
        assert_eq!(counts.unpaid_paid_orders, 0);
        assert_eq!(
            counts.duplicate_claims + counts.dead_claims + counts.unclaimed_items,
            0
        );
        assert_eq!(
            counts.postings,
            i64::from(ROUNDS),
            "each payment was captured once"
        );
        assert_eq!(
            counts.open_discrepancies,
            i64::from(expired),
            "each late payment is on record"
        );
        println!("{paid} paid, {expired} expired");
    });
}

/// One order whose payment and whose deadline come at once.
async fn race(stage: &Stage, show: app::domain::ids::ShowId, seat: u32) -> OrderStatus {
    let user = stage.user().await;
    let order_no = stage.pending(&user, show, &[seat]).await;
    let payment = stage.payment(&user, order_no).await;
    stage.clock.advance(Millis::minutes(15));
    let notice = Notice::success(&payment.out_trade_no, payment.amount);
    let body = notice.body(stage.clock.now());
    let headers = headers_for(&body, stage.clock.now());
    let barrier = Arc::new(Barrier::new(2));
    let (pays, expires) = (stage.ticketing.clone(), stage.ticketing.clone());
    let (one, other) = (Arc::clone(&barrier), barrier);
    let paying = tokio::spawn(async move {
        one.wait().await;
        pays.take_callback(&headers, &body).await
    });
    let expiring = tokio::spawn(async move {
        other.wait().await;
        expires.expire(order_no).await
    });
    assert_eq!(
        paying.await.expect("a payment"),
        StatusCode::OK,
        "recorded whoever wins"
    );
    expiring.await.expect("a timeout").expect("stores");

    let status = stage.status(order_no).await.expect("the order");
    let payment = stage
        .ticketing
        .db()
        .payment(&payment.out_trade_no)
        .await
        .expect("a database");
    assert_eq!(
        payment.expect("the payment").status,
        PaymentStatus::Success,
        "the money was taken"
    );
    let refund = stage
        .ticketing
        .db()
        .refund(&format!("{order_no}-1-r1"))
        .await
        .expect("a database");
    match status {
        OrderStatus::Paid => {
            assert_eq!(stage.seat(show, seat).await, SeatState::Sold);
            assert!(refund.is_none(), "nothing is given back");
        }
        OrderStatus::Cancelled => {
            assert_eq!(stage.seat(show, seat).await, SeatState::Available);
            assert!(refund.is_some(), "the money goes back");
        }
        other => panic!("neither paid nor cancelled: {other:?}"),
    }
    status
}
