//! After a stall there are many messages that came too late: those that did not are written first, and the others don't wait
//! for each other.

use crate::support::{ShowSpec, Stage, eventually, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    seat::SeatState,
    time::Millis,
};
use server::kafka::messages::Placed;

/// Messages that came too late, and the seat of the one behind them.
const STALE: u32 = 30;

/// A batch as it is read after a stall: many messages that are too old, and last one that is not.
async fn batch(stage: &Stage) -> (ShowId, Vec<Placed>, OrderNo) {
    let show = stage.show(ShowSpec::default()).await;
    let mut messages = Vec::new();
    for seat in 0..=STALE {
        if seat == STALE {
            stage.clock.advance(Millis::seconds(6));
        }
        let held = stage.hold(&stage.user().await, show, &[seat]).await;
        messages.push(stage.message(show, held.expect("a hold")).await);
    }
    let fresh = messages.last().expect("the last").order_no;
    (show, messages, fresh)
}

/// All rows and seats are as they must be.
async fn is_as_it_must_be(stage: &Stage, show: ShowId, messages: &[Placed], fresh: OrderNo) {
    for (message, seat) in messages.iter().zip(0..) {
        let expected = if message.order_no == fresh {
            (OrderStatus::Pending, SeatState::Locked)
        } else {
            (OrderStatus::Discarded, SeatState::Available)
        };
        let status = stage.status(message.order_no).await.expect("a row");
        assert_eq!((status, stage.seat(show, seat).await), expected, "{seat}");
    }
    let notes = stage.ticketing.db().repairs(100).await.expect("notes");
    let stale = notes.iter().filter(|note| note.class == "stale_message");
    assert_eq!(stale.count(), STALE as usize, "each is noted once");
}

#[test]
fn an_order_behind_many_that_came_too_late_is_written_before_they_are_discarded() {
    run(async {
        let stage = Stage::new().await;
        let (show, messages, fresh) = batch(&stage).await;
        let pool = stage.ticketing.db().pool();
        // Nothing can be discarded without its note.
        sqlx::query("RENAME TABLE reconciliation_entry TO entry_away")
            .execute(pool)
            .await
            .expect("a fault");
        let outcome = stage.ticketing.create_orders(&messages).await;
        outcome.expect_err("the whole batch is handed in again");
        sqlx::query("RENAME TABLE entry_away TO reconciliation_entry")
            .execute(pool)
            .await
            .expect("its end");
        assert_eq!(stage.status(fresh).await, Some(OrderStatus::Pending));
        assert_eq!(stage.status(messages[0].order_no).await, None);
        assert_eq!(stage.seat(show, 0).await, SeatState::Locked);
        let outcome = stage.ticketing.create_orders(&messages).await;
        assert_eq!(outcome.expect("stores"), []);
        is_as_it_must_be(&stage, show, &messages, fresh).await;
    });
}

#[test]
fn orders_that_came_too_late_are_discarded_without_waiting_for_each_other() {
    run(async {
        let stage = Stage::new().await;
        let (show, messages, fresh) = batch(&stage).await;
        // Somebody is in the way of the first, and comes to nothing.
        let mut in_the_way = stage
            .ticketing
            .db()
            .pool()
            .begin()
            .await
            .expect("a database");
        sqlx::query(
            "INSERT INTO orders (order_no, user_id, show_id, status, amount_minor, currency, channel, \
             limit_counters, placed_at, expire_at) VALUES (?, 1, 1, 1, 100, 'CNY', '', '', 1, 1)",
        )
        .bind(messages[0].order_no.as_i64())
        .execute(&mut *in_the_way)
        .await
        .expect("a lock");
        // Each comes twice, as when the relay sent it again.
        let twice = [messages.clone(), messages.clone()].concat();
        let ticketing = stage.ticketing.clone();
        let creating = tokio::spawn(async move { ticketing.create_orders(&twice).await });
        for message in &messages[1..] {
            eventually("it has its row", || stage.status(message.order_no)).await;
        }
        assert!(!creating.is_finished(), "the first still waits");
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked, "rows first");
        in_the_way.rollback().await.expect("a database");
        let outcome = creating.await.expect("no panic");
        assert_eq!(outcome.expect("stores"), []);
        is_as_it_must_be(&stage, show, &messages, fresh).await;
    });
}
