//! Reconciliation found that an order has no row, and the row arrives before the tombstone: the tombstone is refused, and
//! the order keeps what it holds.
//!
//! Both sides are the product's own code, and meet at the primary key. The transaction that writes the order is held up by
//! a lock that the test has, after its row was inserted and before it commits.

use crate::{
    standing::floor::staged,
    support::{ShowSpec, Stage, all_repaired, eventually, reconcile, run},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::{CancelReason, OrderStatus},
    seat::SeatState,
    time::Millis,
};
use server::{
    clock::Clock,
    config::LOCK_LEASE,
    kafka::messages::Placed,
    ticketing::reconcile::{Class, Round},
};
use sqlx::{MySql, Transaction};

/// The message of an order whose lease is over, as a consumer reads it whose clock is wrong: it does not think it stale.
async fn late_message(stage: &Stage, show: ShowId, order_no: OrderNo) -> Placed {
    let mut message = stage.message(show, order_no).await;
    stage.clock.advance(Millis(LOCK_LEASE.0 + 1_000));
    message.placed_at = stage.clock.now();
    message
}

/// Waits until a statement that begins like this is under way in the stage's database.
pub(super) async fn is_under_way(stage: &Stage, statement: &str) {
    let pool = stage.ticketing.db().pool();
    eventually(statement, || async {
        let running: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE CONCAT(?, '%')",
        )
        .bind(statement)
        .fetch_one(pool)
        .await
        .expect("what the database does");
        (running > 0).then_some(())
    })
    .await;
}

/// Writes the order, held up by `lock` at the statement that begins like this, while a round finds that it has no row and
/// wants to bury it. What the round did.
async fn row_arrives_before_the_tombstone(
    stage: &Stage,
    message: Placed,
    lock: Transaction<'static, MySql>,
    held_up_at: &str,
) -> Round {
    let ticketing = stage.ticketing.clone();
    let written = tokio::spawn(async move { ticketing.create_orders(&[message]).await });
    is_under_way(stage, held_up_at).await;
    let let_go = async {
        is_under_way(stage, "INSERT INTO orders").await;
        lock.rollback().await.expect("the lock is let go");
    };
    let (round, ()) = tokio::join!(reconcile(&stage.ticketing), let_go);
    let refused = written.await.expect("a writer").expect("stores");
    assert_eq!(refused, []);
    round
}

fn classes(round: &Round) -> Vec<Class> {
    round.findings.iter().map(|finding| finding.class).collect()
}

#[test]
fn an_order_whose_row_arrives_before_its_tombstone_keeps_its_seat() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[1]).await.expect("a hold");
        let message = late_message(&stage, show, order_no).await;
        let mut lock = stage.ticketing.db().pool().begin().await.expect("a start");
        sqlx::query("INSERT INTO seat_claim (show_id, seat, order_no) VALUES (?, 1, 1)")
            .bind(show.0)
            .execute(&mut *lock)
            .await
            .expect("a claim that is never made");
        let round =
            row_arrives_before_the_tombstone(&stage, message, lock, "INSERT INTO seat_claim").await;
        assert_eq!(classes(&round), [Class::OrphanLock], "it had no row");
        assert_eq!(round.repaired, 0, "the tombstone was refused");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
        assert!(owners.values().all(|owner| *owner == order_no));
        assert_eq!(all_repaired(&stage.ticketing).await, []);
        let given_up = stage.ticketing.end_order(order_no, CancelReason::User);
        assert!(given_up.await.expect("stores"), "it is an order as any");
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        super::is_clean(&stage).await;
    });
}

#[test]
fn an_order_whose_row_arrives_before_its_tombstone_keeps_its_standing_places() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let user = stage.user().await;
        let held = stage.hold_places(&user, floor.show, floor.zone, 3).await;
        let order_no = held.expect("a hold");
        let message = late_message(&stage, floor.show, order_no).await;
        let mut lock = stage.ticketing.db().pool().begin().await.expect("a start");
        sqlx::query("SELECT taken FROM standing_stock WHERE zone_id = ? FOR UPDATE")
            .bind(floor.zone.0)
            .execute(&mut *lock)
            .await
            .expect("a lock");
        let round =
            row_arrives_before_the_tombstone(&stage, message, lock, "UPDATE standing_stock").await;
        assert!(!round.findings.is_empty(), "it had no row");
        assert!(
            classes(&round)
                .iter()
                .all(|class| *class == Class::OrphanLock)
        );
        assert_eq!(round.repaired, 0, "every tombstone was refused");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (3, 0, 3));
        super::is_clean(&stage).await;
        let given_up = stage.ticketing.end_order(order_no, CancelReason::User);
        assert!(given_up.await.expect("stores"), "it is an order as any");
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (0, 0, 6));
    });
}
