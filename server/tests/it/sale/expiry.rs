//! Unpaid orders end at their deadline, once.

use crate::support::{ShowSpec, Stage, TestApp, eventually, run};
use app::domain::{
    ids::SeatIndex,
    order::{CancelReason, OrderStatus},
    seat::SeatState,
    time::Millis,
};
use server::{kafka::messages::Place, mysql::outbox::OutboxKind, ticketing::expire::Expiry};

const FIVE_SECONDS: Millis = Millis::seconds(5);

#[test]
fn an_unpaid_order_is_released_once_after_its_five_seconds() {
    run(async {
        let app = TestApp::shared().await;
        let show = app
            .show(ShowSpec {
                hold_for: FIVE_SECONDS,
                ..ShowSpec::default()
            })
            .await;
        let customer = app.customer().await;
        // On a busy machine nobody may see it while it is pending.
        let order_no = customer.place(show, &[1, 2]).await.expect("an order");
        let order = customer.until(order_no, OrderStatus::Cancelled).await;
        assert_eq!(order.expires.at - order.placed.at, FIVE_SECONDS);
        assert_eq!(order.cancel_reason, Some(CancelReason::Timeout));
        assert!(order.now >= order.expires.at, "not before the deadline");
        eventually("the seats are free", || async {
            (app.seat_counts(show).await == [40, 0, 0, 0]).then_some(())
        })
        .await;
        // Two changes by the hold and two by the release: given back once, not twice.
        assert_eq!(app.map(show).await.at.version, 4);
        assert_eq!(
            app.count(
                "SELECT COUNT(*) FROM seat_claim WHERE order_no = ?",
                order_no.as_i64()
            )
            .await,
            0
        );
        assert_eq!(
            customer.status(order_no).await,
            OrderStatus::Cancelled,
            "the order stays visible"
        );
    });
}

#[test]
fn a_wake_up_before_the_deadline_changes_nothing() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[7]).await;
        stage.clock.advance(Millis::minutes(14));
        let expiry = stage.ticketing.expire(order_no).await.expect("stores");
        assert!(matches!(expiry, Expiry::NotYet { .. }), "{expiry:?}");
        assert_eq!(stage.ticketing.sweep_once().await.expect("stores"), 0);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        assert_eq!(stage.seat(show, 7).await, SeatState::Locked);
    });
}

#[test]
fn the_sweeper_ends_an_order_whose_message_was_lost() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[7]).await;
        stage.clock.advance(Millis::minutes(16));
        assert_eq!(stage.ticketing.sweep_once().await.expect("stores"), 1);
        assert_eq!(
            stage.ticketing.sweep_once().await.expect("stores"),
            0,
            "once"
        );
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        assert_eq!(stage.seat(show, 7).await, SeatState::Available);
        let expiry = stage.ticketing.expire(order_no).await.expect("stores");
        assert_eq!(
            expiry,
            Expiry::Finished,
            "the message that came after all finds it finished"
        );
    });
}

#[test]
fn an_order_that_cannot_be_swept_keeps_no_other_waiting() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let unreadable = stage.pending(&stage.user().await, show, &[1]).await;
        let behind = stage.pending(&stage.user().await, show, &[2]).await;
        // It is due first, and no server can read it.
        sqlx::query("UPDATE orders SET currency = 'ZZZ', expire_at = 0 WHERE order_no = ?")
            .bind(unreadable.as_i64())
            .execute(stage.ticketing.db().pool())
            .await
            .expect("a broken row");
        stage.clock.advance(Millis::minutes(16));
        assert_eq!(stage.ticketing.sweep_once().await.expect("stores"), 1);
        assert_eq!(stage.status(behind).await, Some(OrderStatus::Cancelled));
        assert_eq!(stage.seat(show, 2).await, SeatState::Available);
        assert_eq!(stage.ticketing.sweep_once().await.expect("stores"), 0);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
    });
}

#[test]
fn a_repeated_message_makes_no_second_order() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[3]).await.expect("a hold");
        let message = stage.message(show, order_no).await;
        let other = stage
            .hold(&stage.user().await, show, &[5])
            .await
            .expect("a hold");
        let other_message = stage.message(show, other).await;
        // A batch with a repetition in it is written all the same.
        let batch = [message.clone(), other_message, message];
        stage.ticketing.create_orders(&batch).await.expect("stores");
        for order_no in [order_no, other] {
            assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        }
    });
}

#[test]
fn a_claimed_seat_discards_only_the_order_that_wanted_it() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let owner = stage.pending(&stage.user().await, show, &[3]).await;
        // Another order for the same seat, as a stale replica of Redis would let it through.
        let rival = stage
            .hold(&stage.user().await, show, &[6, 7])
            .await
            .expect("a hold");
        let mut message = stage.message(show, rival).await;
        let Place::Seat { seat, .. } = &mut message.items[0].place else {
            panic!("a ticket without a seat")
        };
        *seat = SeatIndex(3);
        let innocent = stage
            .hold(&stage.user().await, show, &[9])
            .await
            .expect("a hold");
        let batch = [message, stage.message(show, innocent).await];
        stage.ticketing.create_orders(&batch).await.expect("stores");
        assert_eq!(stage.status(rival).await, Some(OrderStatus::Discarded));
        assert_eq!(stage.status(innocent).await, Some(OrderStatus::Pending));
        assert_eq!(stage.status(owner).await, Some(OrderStatus::Pending));
        assert_eq!(
            stage.seat(show, 3).await,
            SeatState::Locked,
            "the owner's seat is not released"
        );
        assert_eq!(
            stage.seat(show, 6).await,
            SeatState::Available,
            "the rival's own holds are"
        );
    });
}

#[test]
fn what_could_not_be_done_after_a_commit_is_done_from_the_outbox() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[7]).await;
        // The commit happened, then the server died before it gave the seat back.
        let now = {
            use server::clock::Clock;
            stage.clock.now()
        };
        let rows = stage
            .ticketing
            .db()
            .cancel_order(order_no, CancelReason::User, now)
            .await
            .expect("a database")
            .expect("a pending order");
        assert_eq!(rows[0].kind, OutboxKind::OrderClosed);
        assert_eq!(stage.seat(show, 7).await, SeatState::Locked);
        assert_eq!(
            stage.ticketing.settle_due().await.expect("stores"),
            0,
            "not due yet"
        );
        stage.clock.advance(Millis::seconds(3));
        assert_eq!(stage.ticketing.settle_due().await.expect("stores"), 1);
        assert_eq!(stage.seat(show, 7).await, SeatState::Available);
        stage.clock.advance(Millis::seconds(60));
        assert_eq!(
            stage.ticketing.settle_due().await.expect("stores"),
            0,
            "done once"
        );
    });
}
