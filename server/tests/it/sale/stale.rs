//! An order whose message came too late is given up: first its row says so, then its seats go back.

use crate::support::{ShowSpec, Stage, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    seat::SeatState,
    time::Millis,
};
use server::{clock::ShiftedClock, kafka::messages::Placed};
use std::sync::Arc;

/// The longest that a message may be on its way, unless it is set otherwise.
const DISCARD_AFTER: Millis = Millis(5_000);

/// A hold of seat 3, and its message.
async fn held(stage: &Stage) -> (ShowId, OrderNo, Placed) {
    let show = stage.show(ShowSpec::default()).await;
    let held = stage.hold(&stage.user().await, show, &[3]).await;
    let order_no = held.expect("a hold");
    let message = stage.message(show, order_no).await;
    (show, order_no, message)
}

/// The orders of which it is noted that their message came too late, and what is noted.
async fn noted(stage: &Stage) -> Vec<(Option<OrderNo>, String)> {
    let notes = stage.ticketing.db().repairs(100).await.expect("notes");
    let stale = notes
        .into_iter()
        .filter(|note| note.class == "stale_message");
    stale.map(|note| (note.order_no, note.detail)).collect()
}

#[test]
fn a_stale_message_becomes_a_discarded_order_with_one_note_and_free_seats() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[3, 4]).await.expect("a hold");
        let message = stage.message(show, order_no).await;
        stage.clock.advance(Millis::seconds(6));
        // Twice in one batch, as when the relay sent it again.
        let twice = [message.clone(), message.clone()];
        stage.ticketing.create_orders(&twice).await.expect("stores");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
        assert_eq!(stage.seat(show, 3).await, SeatState::Available);
        assert_eq!(stage.seat(show, 4).await, SeatState::Available);
        let once = noted(&stage).await;
        assert_eq!(once.len(), 1, "{once:?}");
        assert_eq!(once[0].0, Some(order_no));
        assert!(once[0].1.starts_with("placed 6"), "how late: {}", once[0].1);
        // A rival has the seat when the message comes once more: it keeps it, and nothing more is noted.
        let rival = stage.pending(&stage.user().await, show, &[3]).await;
        let again = stage.ticketing.create_orders(&[message]).await;
        assert_eq!(again.expect("stores"), []);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
        assert_eq!(stage.status(rival).await, Some(OrderStatus::Pending));
        assert_eq!(stage.seat(show, 3).await, SeatState::Locked);
        assert_eq!(noted(&stage).await, once);
        let own = stage.ticketing.own_order(&user, order_no).await;
        assert_eq!(
            own.expect("the customer is told").status,
            OrderStatus::Discarded
        );
    });
}

#[test]
fn seats_of_a_stale_message_stay_locked_until_its_row_and_its_note_are_written() {
    run(async {
        let stage = Stage::new().await;
        let (show, order_no, message) = held(&stage).await;
        stage.clock.advance(Millis::seconds(6));
        let batch = [message];
        let pool = stage.ticketing.db().pool();
        for (away, back) in [
            (
                "RENAME TABLE orders TO orders_away",
                "RENAME TABLE orders_away TO orders",
            ),
            (
                "RENAME TABLE reconciliation_entry TO entry_away",
                "RENAME TABLE entry_away TO reconciliation_entry",
            ),
        ] {
            sqlx::query(away).execute(pool).await.expect("a fault");
            let outcome = stage.ticketing.create_orders(&batch).await;
            outcome.expect_err("the whole batch is handed in again");
            sqlx::query(back).execute(pool).await.expect("its end");
            assert_eq!(stage.status(order_no).await, None, "{away}");
            assert_eq!(stage.seat(show, 3).await, SeatState::Locked, "{away}");
            let record = stage.ticketing.redis().hold_record(show, order_no).await;
            assert!(record.expect("Redis").is_some(), "{away}");
        }
        assert_eq!(noted(&stage).await, []);
        stage.ticketing.create_orders(&batch).await.expect("stores");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
        assert_eq!(stage.seat(show, 3).await, SeatState::Available);
        assert_eq!(noted(&stage).await.len(), 1);
    });
}

#[test]
fn a_message_of_five_seconds_becomes_an_order_and_one_of_a_millisecond_more_does_not() {
    run(async {
        let stage = Stage::new().await;
        for (age, expected, seat) in [
            (DISCARD_AFTER, OrderStatus::Pending, SeatState::Locked),
            (
                Millis(DISCARD_AFTER.0 + 1),
                OrderStatus::Discarded,
                SeatState::Available,
            ),
        ] {
            let (show, order_no, message) = held(&stage).await;
            let clock = ShiftedClock::stopped_at(message.placed_at + age);
            let consumer = stage.server_with(Arc::new(clock)).await;
            let outcome = consumer.create_orders(&[message]).await;
            assert_eq!(outcome.expect("stores"), []);
            assert_eq!(stage.status(order_no).await, Some(expected), "{age:?}");
            assert_eq!(stage.seat(show, 3).await, seat, "{age:?}");
        }
        assert_eq!(noted(&stage).await.len(), 1);
    });
}
