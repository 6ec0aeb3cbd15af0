//! When a show leaves, what keeps it, and what a round that ended early leaves to the next one.

use super::{OVER, keys_of, leaves, opened, paid, paid_places, round, stage, until_gone};
use crate::{
    standing::floor::{Floor, violations},
    support::{ShowSpec, Stage, run},
};
use app::domain::{
    ids::OrderNo,
    order::{CancelReason, OrderStatus},
    show_terms::TermsChange,
    time::Millis,
};
use server::{
    clock::Clock,
    config::LOCK_LEASE,
    redis::{
        keys::PieceKey,
        scripts::{GiveWhy, UnloadReply},
    },
    ticketing::{
        Ticketing,
        unload::{OverShow, StillOpen},
    },
};
use std::time::Duration;

#[test]
fn a_show_leaves_once_it_is_over_and_not_before() {
    run(async {
        let stage = stage().await;
        let (floor, next) = (opened(&stage).await, stage.show(ShowSpec::default()).await);
        let loaded = stage.ticketing.load_show_patiently(next).await;
        loaded.expect("a show");
        paid(&stage, &stage.user().await, floor.show, &[1, 30]).await;
        paid_places(&stage, &stage.user().await, floor, 4).await;
        stage.clock.advance(Millis::minutes(40));
        assert_eq!(round(&stage.ticketing).await, []);
        stage.clock.advance(Millis::minutes(40));
        stage.ticketing.keep_books().await.expect("stores");
        // Looking alone changes nothing.
        let before = keys_of(stage.ticketing.redis(), floor);
        let seen = stage.ticketing.over_shows().await.expect("stores");
        assert_eq!(seen, [leaves(floor.show)]);
        assert_eq!(keys_of(stage.ticketing.redis(), floor), before);
        assert!(before.len() > 10, "{before:?}");
        assert_eq!(round(&stage.ticketing).await, [leaves(floor.show)]);
        assert_eq!(keys_of(stage.ticketing.redis(), floor), [""; 0]);
        let loaded = stage.ticketing.redis().loaded_shows().await;
        assert_eq!(loaded.expect("Redis"), [next], "the other one stays");
        assert_eq!(round(&stage.ticketing).await, []);
        assert_eq!(stage.ticketing.find_all().await.expect("stores").len(), 0);
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn what_is_open_keeps_a_show_until_it_has_ended() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        let (redis, user) = (stage.ticketing.redis(), stage.user().await);
        let held = stage.pending(&user, floor.show, &[1]).await;
        let sold = paid(&stage, &user, floor.show, &[2]).await.0;
        stage.clock.advance(OVER);
        let stays = |open| {
            [OverShow {
                show: floor.show,
                stays: Some(open),
            }]
        };
        assert_eq!(round(&stage.ticketing).await, stays(StillOpen::Pending(1)));
        // The same with the order's row gone from sight: Redis says so itself.
        set_status(&stage, held, 2).await;
        assert_eq!(round(&stage.ticketing).await, stays(StillOpen::Held(1)));
        set_status(&stage, held, 0).await;
        let ended = stage.ticketing.end_order(held, CancelReason::User).await;
        assert!(ended.expect("stores"));
        // What the release changed is not in the books yet.
        let seen = stage.ticketing.over_shows().await.expect("stores");
        assert!(
            matches!(
                seen[..],
                [OverShow {
                    stays: Some(StillOpen::Unbooked(1)),
                    ..
                }]
            ),
            "{seen:?}"
        );
        add_outbox_row(&stage, sold).await;
        assert_eq!(round(&stage.ticketing).await, stays(StillOpen::Outbox(1)));
        let whole = redis.show_meta(floor.show).await.expect("Redis");
        assert!(whole.is_some(), "nothing has left");
        sqlx::query("DELETE FROM outbox")
            .execute(stage.ticketing.db().pool())
            .await
            .expect("a database");
        assert_eq!(round(&stage.ticketing).await, [leaves(floor.show)]);
        assert_eq!(keys_of(redis, floor), [""; 0]);
        assert_eq!(stage.status(held).await, Some(OrderStatus::Cancelled));
        assert_eq!(stage.status(sold).await, Some(OrderStatus::Paid));
    });
}

async fn set_status(stage: &Stage, order_no: OrderNo, status: u8) {
    sqlx::query("UPDATE orders SET status = ?, closed_at = ? WHERE order_no = ?")
        .bind(status)
        .bind(stage.clock.now().0)
        .bind(order_no.as_i64())
        .execute(stage.ticketing.db().pool())
        .await
        .expect("a database");
}

/// A row that somebody has failed to work on so often that it is a dead letter.
async fn add_outbox_row(stage: &Stage, order_no: OrderNo) {
    let now = stage.clock.now().0;
    sqlx::query(
        "INSERT INTO outbox (kind, order_no, payload, next_at, dead_at, created_at) \
         VALUES ('order.paid', ?, '', ?, ?, ?)",
    )
    .bind(order_no.as_i64())
    .bind(now)
    .bind(now)
    .bind(now)
    .execute(stage.ticketing.db().pool())
    .await
    .expect("a database");
}

#[test]
fn places_that_nobody_holds_keep_the_whole_show_until_their_lease_is_over() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        let (piece, redis) = (floor.pieces()[1], stage.ticketing.redis());
        stage.clock.advance(OVER);
        let user = stage.user().await;
        let order_no = OrderNo::from_parts(stage.clock.now().0, 60, 7, user.id);
        let order_no = order_no.expect("a number");
        stage.take_places(piece, order_no, 2).await;
        let stays = OverShow {
            show: floor.show,
            stays: Some(StillOpen::Locked(2)),
        };
        assert_eq!(round(&stage.ticketing).await, [stays]);
        let whole = redis.show_meta(floor.show).await.expect("Redis");
        assert!(whole.is_some(), "the show has not left alone");
        stage.clock.advance(Millis(LOCK_LEASE.0 + 1));
        until_gone(&stage.ticketing, floor).await;
        let status = stage.status(order_no).await;
        assert_eq!(status, Some(OrderStatus::Discarded), "the tombstone");
    });
}

#[test]
fn a_round_that_ended_after_any_step_is_finished_by_the_next() {
    run(async {
        for steps in 1..=4 {
            let stage = stage().await;
            let floor = opened(&stage).await;
            paid(&stage, &stage.user().await, floor.show, &[1]).await;
            paid_places(&stage, &stage.user().await, floor, 4).await;
            stage.ticketing.keep_books().await.expect("stores");
            stage.clock.advance(OVER);
            end_early(&stage, floor, steps).await;
            // In between nothing is missed, and nobody brings it back.
            assert_eq!(violations(&stage.ticketing).await, [], "step {steps}");
            let found = stage.ticketing.find_all().await.expect("stores");
            assert!(found.is_empty(), "step {steps}: {found:?}");
            assert_eq!(round(&stage.ticketing).await, [leaves(floor.show)]);
            assert_eq!(keys_of(stage.ticketing.redis(), floor), [""; 0]);
            let loaded = stage.ticketing.redis().loaded_shows().await;
            assert_eq!(loaded.expect("Redis"), []);
        }
    });
}

/// What a round leaves that ends after so many of its steps: the show, one piece, all pieces, and what is known of collecting.
async fn end_early(stage: &Stage, floor: Floor, steps: usize) {
    let redis = stage.ticketing.redis();
    let meta = redis.show_meta(floor.show).await.expect("Redis");
    let epoch = meta.map(|meta| meta.epoch);
    let gone = redis.unload(floor.show, epoch).await.expect("Redis");
    assert!(matches!(gone, UnloadReply::Unloaded { .. }), "{gone:?}");
    for piece in floor.pieces().into_iter().take(steps - 1) {
        let places = redis.places(&[piece]).await.expect("Redis")[0];
        let epoch = places.map(|places| places.epoch);
        let gone = redis.unload_standing(piece, epoch).await.expect("Redis");
        assert!(matches!(gone, UnloadReply::Unloaded { .. }), "{gone:?}");
    }
    if steps == 4 {
        redis.forget_collecting(floor.zone).await.expect("Redis");
    }
}

#[test]
fn a_piece_that_stays_behind_is_put_right_and_follows_the_show() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        let kept = paid_places(&stage, &stage.user().await, floor, 2).await;
        stage.ticketing.keep_books().await.expect("stores");
        stage.clock.advance(OVER);
        end_early(&stage, floor, 2).await;
        // A straggler takes a place of the piece that is left, and dies.
        let (user, now) = (stage.user().await, stage.clock.now());
        let order_no = OrderNo::from_parts(now.0, 61, 7, user.id).expect("a number");
        let piece = floor.pieces()[1];
        stage.take_places(piece, order_no, 1).await;
        let over = round(&stage.ticketing).await;
        assert_eq!(over[0].stays, Some(StillOpen::Locked(1)));
        stage.clock.advance(Millis(LOCK_LEASE.0 + 1));
        until_gone(&stage.ticketing, floor).await;
        assert_eq!(stage.status(kept).await, Some(OrderStatus::Paid));
        let given = stage.ticketing.redis();
        let given = given.give_standing(piece, order_no, 0, GiveWhy::Repair);
        given.await.expect("Redis");
        let log = stage
            .ticketing
            .redis()
            .keys()
            .piece(piece, PieceKey::Quantities);
        let backlog = stage.ticketing.redis().quantity_backlogs(&[log]).await;
        assert_eq!(backlog.expect("Redis"), [0], "a late gift makes no key");
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn a_withdrawn_show_leaves_once_its_withdrawal_is_done_however_late_it_would_begin() {
    run(async {
        let stage = stage().await;
        let spec = ShowSpec {
            standing: Some((6, 2)),
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let floor = Floor::of(stage.ticketing.db(), show).await;
        let order_no = stage.pending(&stage.user().await, show, &[1]).await;
        stage.ticketing.withdraw_show(show).await.expect("a show");
        stage.ticketing.work_on_withdrawals().await.expect("stores");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        stage.clock.advance(Millis::minutes(5));
        assert_eq!(round(&stage.ticketing).await, [], "not done yet");
        stage.ticketing.work_on_withdrawals().await.expect("stores");
        let done = stage.ticketing.db().withdrawal(show).await;
        let done = done.expect("a database").expect("a withdrawal");
        assert!(done.finished_at.is_some());
        stage.clock.advance(Millis::minutes(30));
        assert_eq!(round(&stage.ticketing).await, [], "done a moment ago");
        stage.clock.advance(Millis::minutes(40));
        assert_eq!(round(&stage.ticketing).await, [leaves(show)]);
        assert_eq!(keys_of(stage.ticketing.redis(), floor), [""; 0]);
    });
}

#[test]
fn a_show_that_is_sold_again_comes_back_with_what_was_sold() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        paid(&stage, &stage.user().await, floor.show, &[1]).await;
        stage.clock.advance(OVER);
        assert_eq!(round(&stage.ticketing).await, [leaves(floor.show)]);
        let change = TermsChange {
            sale_end: Some(stage.clock.now() + Millis::minutes(10)),
            ..TermsChange::default()
        };
        let changed = stage.ticketing.change_show(floor.show, &change).await;
        changed.expect("a change");
        let loaded = stage.ticketing.load_show_patiently(floor.show).await;
        loaded.expect("stores");
        let user = stage.user().await;
        let taken = stage.hold(&user, floor.show, &[1, 2]).await;
        taken.expect_err("seat 1 is sold");
        stage.hold(&user, floor.show, &[2]).await.expect("a hold");
        assert_eq!(round(&stage.ticketing).await, []);
    });
}

#[test]
fn a_show_that_is_loaded_and_unloaded_by_many_at_once_is_whole_and_listed_or_gone() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        let (kept, redis) = (stage.user().await, stage.ticketing.redis());
        let order_no = paid(&stage, &kept, floor.show, &[1]).await.0;
        paid_places(&stage, &kept, floor, 4).await;
        stage.clock.advance(OVER);
        until_gone(&stage.ticketing, floor).await;
        let other = stage.another_server().await;
        let load = async |ticketing: &Ticketing| {
            for _ in 0..6 {
                // Told to come back when it is unloaded meanwhile, as what follows a commit is.
                let _ = ticketing.settle_paid(order_no).await;
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
        };
        let unload = async {
            for _ in 0..30 {
                stage.ticketing.keep_books().await.expect("stores");
                stage.ticketing.reconcile().await.expect("stores");
            }
        };
        tokio::join!(load(&stage.ticketing), load(&other), unload);
        let listed = redis.loaded_shows().await.expect("Redis");
        if redis.show_meta(floor.show).await.expect("Redis").is_some() {
            assert_eq!(listed, [floor.show]);
        }
        assert_eq!(violations(&stage.ticketing).await, []);
        until_gone(&stage.ticketing, floor).await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
    });
}
