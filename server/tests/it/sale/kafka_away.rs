//! While Kafka is away nobody waits for it for long: orders end on time, notices are answered, and what could not be told is
//! told later.

use crate::support::{Notice, ShowSpec, Stage, choose_at, eventually, headers_for, run};
use app::domain::{
    hold::Choice, ids::SeatIndex, order::OrderStatus, seat::SeatState, time::Millis,
};
use axum::http::StatusCode;
use server::{clock::Clock, ticketing::Ticketing};
use std::time::Duration;
use tokio::time::timeout;

/// Orders that nobody pays. An acknowledgement is given up after 10 s at the latest: sweeping these one by one would take ten
/// times the patience, side by side but with no patience of one's own thirty seconds, and one by one with it forty.
const OVERDUE: u32 = 40;
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a gateway waits for the answer to its notice.
const GATEWAY_PATIENCE: Duration = Duration::from_secs(5);
/// For two seconds an order is left to the server that took it.
const RESEND_AFTER: Millis = Millis(2_001);

/// How many rows of the outbox wait to be done.
async fn waiting(stage: &Stage) -> i64 {
    let waiting = stage.ticketing.db().outbox_waiting().await;
    waiting.expect("a database")
}

#[test]
fn overdue_orders_end_and_their_seats_are_free_although_kafka_is_away() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let mut orders = Vec::new();
        for seat in 0..OVERDUE {
            orders.push(stage.pending(&stage.user().await, show, &[seat]).await);
        }
        let apart = stage.server_without_kafka().await;
        stage.clock.advance(Millis::minutes(16));
        let swept = timeout(PATIENCE, apart.sweep_once()).await;
        let swept = swept.expect("nobody waits for Kafka order by order");
        assert_eq!(swept.expect("stores"), OVERDUE);
        for (order_no, seat) in orders.into_iter().zip(0..) {
            assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
            assert_eq!(stage.seat(show, seat).await, SeatState::Available);
        }
        assert_eq!(
            waiting(&stage).await,
            i64::from(OVERDUE),
            "still to be told"
        );
        // A server that reaches Kafka tells it, on a machine that is busy with other things not all at the first try.
        eventually("all is told", || async {
            stage.clock.advance(Millis::minutes(2));
            stage.ticketing.settle_due().await.expect("stores");
            (waiting(&stage).await == 0).then_some(())
        })
        .await;
    });
}

#[test]
fn a_payment_notice_is_answered_while_the_gateway_waits_although_kafka_is_away() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        let now = stage.clock.now();
        let body = Notice::success(&payment.out_trade_no, payment.amount).body(now);
        let apart = stage.server_without_kafka().await;
        let headers = headers_for(&body, now);
        let answer = apart.take_callback("simulated", &headers, &body);
        let answer = timeout(GATEWAY_PATIENCE, answer).await;
        assert_eq!(answer.expect("an answer in time"), StatusCode::OK);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        assert_eq!(stage.seat(show, 1).await, SeatState::Sold);
        assert_eq!(waiting(&stage).await, 1, "still to be told");
    });
}

#[test]
fn an_order_that_kafkas_client_still_has_is_not_sent_again() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let apart = stage.server_without_kafka().await;
        let choice = Choice::Seats(vec![SeatIndex(3)]);
        let placed = choose_at(&apart, &stage.user().await, show, choice).await;
        placed.expect("it is accepted all the same");
        stage.clock.advance(RESEND_AFTER);
        let relay = async |server: &Ticketing| server.relay_once().await.expect("Redis");
        // Within the 10 s after which its client gives it up.
        for round in 1..=3 {
            assert_eq!(relay(&apart).await, 0, "round {round}");
        }
        eventually("it was given up, and is sent again", || async {
            (relay(&apart).await == 1).then_some(())
        })
        .await;
        assert_eq!(relay(&apart).await, 0, "now it is under way again");
        assert_eq!(
            relay(&stage.ticketing).await,
            1,
            "another server has not sent it"
        );
    });
}
