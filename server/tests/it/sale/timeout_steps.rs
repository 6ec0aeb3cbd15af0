//! An order's deadline may be waited for in several steps.

use crate::support::{ShowSpec, Stage, TestApp, run};
use app::domain::{ids::OrderNo, order::OrderStatus, time::Millis};
use server::{
    clock::Clock,
    kafka::{
        batch::Received,
        delay::{DelayHandler, FireResult},
        messages::Timeout,
    },
};

const STEPS: (&str, &str) = ("SEATFLOW_TIMEOUT_STEPS_MS", "600000,200000");

/// What the delayed consumer does when the order's message comes due.
async fn fire(stage: &Stage, order_no: OrderNo) -> FireResult {
    let order = stage
        .ticketing
        .db()
        .order(order_no)
        .await
        .expect("a database");
    let order = order.expect("an order");
    let message = Timeout {
        order_no,
        show_id: order.show_id,
        due_at: stage.clock.now(),
    };
    let due = Received {
        message,
        key: order_no.to_string(),
        sent_at: None,
        trace: None,
    };
    stage.ticketing.fire(&due).await
}

#[test]
fn a_message_is_armed_again_with_each_step_and_the_row_decides_at_the_deadline() {
    run(async {
        let stage = Stage::with(&[STEPS]).await;
        let show = stage.show(ShowSpec::default()).await;
        let order_no = stage.pending(&stage.user().await, show, &[1]).await;
        let order = stage
            .ticketing
            .db()
            .order(order_no)
            .await
            .expect("a database");
        let placed_at = order.expect("an order").placed_at;
        for (minute, next) in [
            (0, Millis::minutes(10)),
            (10, Millis(800_000)),
            (14, Millis::minutes(15)),
        ] {
            let now = placed_at + Millis::minutes(minute);
            stage.clock.advance(now + Millis(5) - stage.clock.now());
            let fired = fire(&stage, order_no).await;
            assert!(
                matches!(fired, FireResult::Again(at) if at == placed_at + next),
                "in minute {minute}: {fired:?}"
            );
            assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        }
        stage.clock.advance(Millis::minutes(1));
        assert!(matches!(fire(&stage, order_no).await, FireResult::Done));
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        assert!(
            matches!(fire(&stage, order_no).await, FireResult::Done),
            "a second message changes nothing"
        );
    });
}

#[test]
fn an_order_that_is_waited_for_in_steps_ends_at_its_deadline_and_not_with_a_step() {
    run(async {
        // The sweeper never helps.
        let settings = [
            ("SEATFLOW_TIMEOUT_STEPS_MS", "1000,1000"),
            ("SEATFLOW_SWEEP_EVERY_MS", "3600000"),
            ("SEATFLOW_DISCARD_AFTER_MS", "50000"),
        ];
        let app = TestApp::start(&settings).await;
        let show = app
            .show(ShowSpec {
                hold_for: Millis::seconds(4),
                ..ShowSpec::default()
            })
            .await;
        let customer = app.customer().await;
        let order_no = customer.place(show, &[1]).await.expect("an order");
        let order = customer.until(order_no, OrderStatus::Cancelled).await;
        let late = order.now - order.expires.at;
        assert!(
            (0..50_000).contains(&late.0),
            "{} ms after the deadline",
            late.0
        );
        app.running.stop().await;
    });
}
