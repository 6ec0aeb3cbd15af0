//! What a crash or a lost store leaves apart.

use super::floor::{Floor, pending, staged, violations};
use crate::support::{Stage, reconcile, run};
use app::domain::{
    ids::OrderNo,
    order::{CancelReason, OrderStatus},
    time::Millis,
    user::User,
};
use server::{
    clock::Clock,
    redis::{
        keys::Piece,
        scripts::{GiveWhy, LoadStanding},
    },
};

/// Takes places as a server does that crashes before it holds the order.
async fn taken_by_a_crashed_server(stage: &Stage, user: &User, piece: Piece) -> OrderNo {
    let order_no = OrderNo::from_parts(stage.clock.now().0, 60, 7, user.id).expect("a number");
    stage.take_places(piece, order_no, 2).await;
    order_no
}

async fn repaired(stage: &Stage) -> usize {
    reconcile(&stage.ticketing).await.repaired
}

#[test]
fn places_that_a_crash_left_taken_are_given_back_after_their_lease() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let user = stage.user().await;
        let redis = stage.ticketing.redis();
        let order_no = taken_by_a_crashed_server(&stage, &user, floor.pieces()[1]).await;
        assert_eq!(repaired(&stage).await, 0, "it may still be on its way");
        assert_eq!(floor.counts(redis).await, (2, 0, 4));
        stage.clock.advance(Millis::seconds(61));
        assert_ne!(violations(&stage.ticketing).await, []);
        assert_eq!(repaired(&stage).await, 1);
        assert_eq!(floor.counts(redis).await, (0, 0, 6));
        assert_eq!(
            stage.status(order_no).await,
            Some(OrderStatus::Discarded),
            "a late message can't become an order"
        );
        assert_eq!(repaired(&stage).await, 0, "once");
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn an_order_that_is_held_keeps_its_places_while_its_message_is_on_its_way() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let user = stage.user().await;
        let held = stage.hold_places(&user, floor.show, floor.zone, 2).await;
        let order_no = held.expect("a hold");
        let message = stage.message(floor.show, order_no).await;
        assert_eq!(repaired(&stage).await, 0);
        stage
            .ticketing
            .create_orders(&[message])
            .await
            .expect("stores");
        stage.clock.advance(Millis::minutes(2));
        assert_eq!(repaired(&stage).await, 0, "it has a row");
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (2, 0, 4));
    });
}

#[test]
fn a_buyer_finds_an_order_whose_places_went_back_before_its_hold() {
    run(async {
        let (stage, floor) = staged(6, 1).await;
        let user = stage.user().await;
        let held = stage.hold_places(&user, floor.show, floor.zone, 2).await;
        let order_no = held.expect("a hold");
        // Places are taken before the order is held: on a slow server half a minute before.
        let (redis, piece) = (stage.ticketing.redis(), floor.pieces()[0]);
        let snapshot = redis.piece_snapshot(piece).await.expect("Redis");
        let mut taken = snapshot.expect("a piece").taken[&order_no];
        taken.created = taken.created - Millis::seconds(30);
        redis.forget_piece(piece).await.expect("Redis");
        let load = LoadStanding {
            piece,
            epoch: u32::MAX,
            total: 6,
            taken: vec![(order_no, taken)],
            replaces: None,
        };
        redis.load_standing(&load).await.expect("Redis");
        stage.clock.advance(Millis::seconds(45));
        assert_eq!(repaired(&stage).await, 1);
        assert_eq!(floor.counts(redis).await, (0, 0, 6));
        let order = stage.ticketing.own_order(&user, order_no).await;
        assert_eq!(
            order.expect("the buyer's own").status,
            OrderStatus::Discarded
        );
        stage.clock.advance(Millis::seconds(30));
        // The hold, then what it counted.
        for _ in 0..2 {
            repaired(&stage).await;
        }
        let left = stage.ticketing.find_all().await.expect("stores");
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(violations(&stage.ticketing).await, []);
        pending(&stage, &user, floor, 4).await;
    });
}

#[test]
fn a_held_order_that_never_got_a_row_loses_hold_and_places_in_one_round() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let user = stage.user().await;
        let held = stage.hold_places(&user, floor.show, floor.zone, 2).await;
        let order_no = held.expect("a hold");
        let message = stage.message(floor.show, order_no).await;
        stage.clock.advance(Millis::seconds(61));
        repaired(&stage).await;
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (0, 0, 6));
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
        stage
            .ticketing
            .create_orders(&[message])
            .await
            .expect("stores");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 0);
        assert_eq!(violations(&stage.ticketing).await, []);
        // The buyer's limit is free again.
        pending(&stage, &user, floor, 4).await;
    });
}

/// Two orders, one of them paid as far as the database knows.
async fn two_orders(stage: &Stage, floor: Floor) -> (OrderNo, OrderNo) {
    let first = pending(stage, &stage.user().await, floor, 3).await;
    let second = pending(stage, &stage.user().await, floor, 4).await;
    sqlx::query("UPDATE orders SET status = 1, paid_at = placed_at WHERE order_no = ?")
        .bind(second.as_i64())
        .execute(stage.ticketing.db().pool())
        .await
        .expect("a paid order");
    stage.ticketing.settle_paid(second).await.expect("stores");
    (first, second)
}

#[test]
fn a_lost_redis_comes_back_with_the_same_counts() {
    run(async {
        let (stage, floor) = staged(9, 3).await;
        two_orders(&stage, floor).await;
        let redis = stage.ticketing.redis();
        let before = floor.places(redis).await;
        assert_eq!(floor.counts(redis).await, (3, 4, 2));
        for piece in floor.pieces() {
            redis.forget_piece(piece).await.expect("Redis");
        }
        redis.forget_show(floor.show).await.expect("Redis");
        // The next buyer finds the pieces missing; what is in Kafka is waited for, and nobody reads it here.
        let user = stage.user().await;
        let refused = stage.hold_places(&user, floor.show, floor.zone, 3).await;
        refused.expect_err("the places are being counted");
        stage
            .ticketing
            .load_show_patiently(floor.show)
            .await
            .expect("a show");
        let refused = stage.hold_places(&user, floor.show, floor.zone, 3).await;
        refused.expect_err("two places are left");
        let counts: Vec<_> = before
            .iter()
            .map(|places| (places.total, places.locked, places.sold))
            .collect();
        let now: Vec<_> = floor
            .places(redis)
            .await
            .iter()
            .map(|places| (places.total, places.locked, places.sold))
            .collect();
        assert_eq!(now, counts);
        pending(&stage, &user, floor, 2).await;
        assert_eq!(floor.counts(redis).await, (5, 4, 0));
    });
}

#[test]
fn reconciliation_loads_a_piece_that_is_lost() {
    run(async {
        let (stage, floor) = staged(9, 3).await;
        two_orders(&stage, floor).await;
        let redis = stage.ticketing.redis();
        redis.forget_piece(floor.pieces()[2]).await.expect("Redis");
        assert_eq!(repaired(&stage).await, 1);
        assert_eq!(floor.counts(redis).await, (3, 4, 2));
    });
}

#[test]
fn places_that_redis_lost_of_live_orders_are_theirs_again() {
    run(async {
        let (stage, floor) = staged(9, 3).await;
        let (first, second) = two_orders(&stage, floor).await;
        let redis = stage.ticketing.redis();
        for order_no in [first, second] {
            let pieces = stage.ticketing.db().pieces_of(order_no).await;
            for (piece, _) in pieces.expect("pieces") {
                let gone = redis.give_standing(piece, order_no, 0, GiveWhy::Repair);
                gone.await.expect("Redis");
            }
        }
        assert_eq!(floor.counts(redis).await, (0, 0, 9));
        stage.clock.advance(Millis::seconds(11));
        repaired(&stage).await;
        assert_eq!(floor.counts(redis).await, (3, 4, 2));
        assert_eq!(repaired(&stage).await, 0);
    });
}

#[test]
fn places_of_an_order_that_is_over_are_found_and_given_back() {
    run(async {
        let (stage, floor) = staged(9, 3).await;
        let user = stage.user().await;
        let order_no = pending(&stage, &user, floor, 2).await;
        // As if the server had crashed between the commit and what follows it.
        let ended = stage
            .ticketing
            .db()
            .cancel_order(order_no, CancelReason::User, stage.clock.now())
            .await;
        ended.expect("a database").expect("a pending order");
        assert_eq!(repaired(&stage).await, 0, "the outbox has its turn first");
        stage.clock.advance(Millis::seconds(11));
        repaired(&stage).await;
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (0, 0, 9));
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 0);
    });
}

#[test]
fn counts_that_are_wrong_are_counted_anew() {
    run(async {
        let (stage, floor) = staged(9, 3).await;
        pending(&stage, &stage.user().await, floor, 3).await;
        let db = stage.ticketing.db();
        sqlx::query("UPDATE standing_stock SET taken = 8 WHERE zone_id = ?")
            .bind(floor.zone.0)
            .execute(db.pool())
            .await
            .expect("a wrong stock");
        let redis = stage.ticketing.redis();
        redis
            .set_standing_capacity(floor.pieces()[0], 7)
            .await
            .expect("Redis");
        assert_eq!(repaired(&stage).await, 2);
        assert_eq!(floor.stock(db).await.taken, 3);
        assert_eq!(floor.counts(redis).await, (3, 0, 6));
        assert_eq!(violations(&stage.ticketing).await, []);
        assert_eq!(repaired(&stage).await, 0);
    });
}
