//! The books of a sale: every change of a zone's places, once, in a chain without gaps that ends at what is left.

use crate::support::{ShowSpec, Stage, run};
use app::domain::{
    ids::{SeatIndex, ShowId, ZoneId},
    order::{CancelReason, OrderStatus},
    time::{Millis, Timestamp},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use server::redis::{
    keys::ShowKey,
    quantities::{LogPlace, QuantityChange},
};
use std::collections::{BTreeMap, BTreeSet};

const SEATS: u32 = 40;

async fn books(stage: &Stage, show: ShowId) -> BTreeMap<ZoneId, Vec<QuantityChange>> {
    let db = stage.ticketing.db();
    let mut books = BTreeMap::new();
    for zone in db.zones(show).await.expect("zones") {
        let since = Timestamp(0);
        let changes = db.quantities_of(show, zone.id, 0, since, 100_000).await;
        books.insert(zone.id, changes.expect("a database"));
    }
    books
}

async fn left(stage: &Stage, show: ShowId) -> BTreeMap<ZoneId, i64> {
    let shows = stage.ticketing.redis().remaining(&[show]).await;
    let left = shows.expect("Redis")[0].clone().expect("a loaded show");
    left.into_iter()
        .map(|(zone, left)| (zone, i64::from(left)))
        .collect()
}

/// Each change begins with what the one before it left, and the last one left what is left now.
fn is_chain(changes: &[QuantityChange], left: i64) {
    let mut last: Option<i64> = None;
    for change in changes {
        let began_anew = change.why == "load" && change.before.is_none();
        if !began_anew {
            assert_eq!(change.before, last, "{change:?}");
        }
        let before = change.before.unwrap_or(0);
        assert_eq!(before + change.change, change.after, "{change:?}");
        last = Some(change.after);
    }
    assert_eq!(last, Some(left));
}

async fn forget(stage: &Stage, show: ShowId) {
    let redis = stage.ticketing.redis();
    redis.forget_show(show).await.expect("Redis");
    stage
        .ticketing
        .load_show_patiently(show)
        .await
        .expect("stores");
}

/// Buyers, staff and time do things in a random order.
async fn rush(stage: &Stage, show: ShowId, random: &mut StdRng) {
    let mut pending = Vec::new();
    for _ in 0..150 {
        let seat = random.random_range(0..SEATS);
        match random.random_range(0..10) {
            0..5 => {
                let buyer = stage.user().await;
                if let Ok(order_no) = stage.hold(&buyer, show, &[seat, (seat + 1) % SEATS]).await {
                    let message = stage.message(show, order_no).await;
                    let created = stage.ticketing.create_orders(&[message]).await;
                    created.expect("stores");
                    pending.push((buyer, order_no));
                }
            }
            5 => {
                if let Some((_, order_no)) = pending.pop() {
                    let ended = stage.ticketing.end_order(order_no, CancelReason::User);
                    ended.await.expect("stores");
                }
            }
            6 => {
                if let Some((buyer, order_no)) = pending.pop() {
                    // Its deadline may have passed meanwhile.
                    if stage.status(order_no).await == Some(OrderStatus::Pending) {
                        let payment = stage.payment(&buyer, order_no).await;
                        super::rebuilding::pay(stage, &payment).await;
                    }
                }
            }
            7 => {
                let _ = stage.ticketing.block_seats(show, &[SeatIndex(seat)]).await;
            }
            8 => {
                let _ = stage
                    .ticketing
                    .unblock_seats(show, &[SeatIndex(seat)])
                    .await;
            }
            _ => {
                stage.clock.advance(Millis::minutes(2));
                stage.ticketing.sweep_once().await.expect("stores");
            }
        }
    }
}

#[test]
fn after_a_rush_the_books_are_a_chain_that_ends_at_what_is_left() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let loaded = stage.ticketing.load_show_patiently(show).await;
        loaded.expect("stores");
        let mut random = StdRng::seed_from_u64(20_261_130);
        let mut moved = 0;
        for _ in 0..3 {
            rush(&stage, show, &mut random).await;
            let books = stage.ticketing.keep_books().await.expect("stores");
            assert_eq!(books.gaps, 0);
            moved += books.new;
            forget(&stage, show).await;
        }
        moved += stage.ticketing.keep_books().await.expect("stores").new;
        let left = left(&stage, show).await;
        let books = books(&stage, show).await;
        let mut whys = BTreeSet::new();
        for (zone, changes) in &books {
            is_chain(changes, left[zone]);
            whys.extend(changes.iter().map(|change| change.why.as_str()));
            let orders = changes.iter().filter(|change| change.order_no.is_some());
            assert!(orders.count() > 10, "changes name their orders");
        }
        let expected: BTreeSet<&str> = ["block", "hold", "load", "release", "unblock"].into();
        assert_eq!(whys, expected, "every kind of change was met");
        let rows: usize = books.values().map(Vec::len).sum();
        assert_eq!(u64::try_from(rows).expect("a count"), moved);
        let again = stage.ticketing.keep_books().await.expect("stores");
        assert_eq!((again.new, again.gaps), (0, 0), "nothing is left to move");
    });
}

#[test]
fn changes_that_are_moved_twice_are_there_once() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        stage.hold(&buyer, show, &[1, 11]).await.expect("a hold");
        let redis = stage.ticketing.redis();
        let key = redis.keys().show(show, ShowKey::Quantities);
        let changes = redis.quantity_changes(&key, 100).await.expect("Redis");
        assert_eq!(changes.len(), 4, "two zones, loaded and then held from");
        let db = stage.ticketing.db();
        // A server wrote them and died before it could remove them from Redis.
        let first = db.book_quantities(show, 0, &changes).await.expect("rows");
        assert_eq!((first.new, first.gaps), (4, 0));
        let second = stage.ticketing.keep_books().await.expect("stores");
        assert_eq!((second.new, second.gaps), (0, 0));
        assert_eq!(redis.quantity_backlogs(&[key]).await.expect("Redis"), [0]);
        let rows: usize = books(&stage, show).await.values().map(Vec::len).sum();
        assert_eq!(rows, 4);
    });
}

#[test]
fn two_servers_that_move_the_same_log_lose_nothing() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        for seat in 0..4 {
            stage.hold(&buyer, show, &[seat]).await.expect("a hold");
        }
        let rounds = futures::future::join_all((0..8).map(|_| stage.ticketing.keep_books())).await;
        let new: u64 = rounds
            .into_iter()
            .map(|round| round.expect("stores").new)
            .sum();
        assert_eq!(new, 6, "two zones were loaded, four seats held");
        let left = left(&stage, show).await;
        for (zone, changes) in &books(&stage, show).await {
            is_chain(changes, left[zone]);
        }
    });
}

#[test]
fn what_the_log_lost_is_counted_as_a_gap() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        for seat in 0..4 {
            stage.hold(&buyer, show, &[seat]).await.expect("a hold");
        }
        let redis = stage.ticketing.redis();
        let key = redis.keys().show(show, ShowKey::Quantities);
        let changes = redis.quantity_changes(&key, 100).await.expect("Redis");
        let front = changes.last().expect("a hold").zone;
        let holds: Vec<LogPlace> = changes
            .iter()
            .filter(|change| change.why == "hold")
            .map(|change| change.at)
            .collect();
        let db = stage.ticketing.db();
        let kept: Vec<QuantityChange> = changes
            .iter()
            .filter(|change| change.at < holds[0])
            .cloned()
            .collect();
        db.book_quantities(show, 0, &kept).await.expect("rows");
        // The log was cut before the second hold was copied.
        redis.trim_quantities(&key, holds[1]).await.expect("Redis");
        let moved = stage.ticketing.keep_books().await.expect("stores");
        assert_eq!((moved.new, moved.gaps), (2, 1));
        let changes = db.quantities_of(show, front, 0, Timestamp(0), 100).await;
        let after: Vec<i64> = changes
            .expect("rows")
            .iter()
            .map(|change| change.after)
            .collect();
        assert_eq!(after, [10, 7, 6]);
    });
}

#[test]
fn each_piece_of_a_standing_zone_has_a_chain_of_its_own() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            standing: Some((9, 3)),
            limit: 9,
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let zones = stage.ticketing.db().zones(show).await.expect("zones");
        let is_floor = |zone: &&server::mysql::shows::ZoneRecord| zone.standing.is_some();
        let floor = zones.iter().find(is_floor).expect("a standing zone").id;
        let buyer = stage.user().await;
        for quantity in [2, 4] {
            let order_no = stage.hold_places(&buyer, show, floor, quantity).await;
            let message = stage.message(show, order_no.expect("places")).await;
            let created = stage
                .ticketing
                .create_orders(std::slice::from_ref(&message))
                .await;
            created.expect("stores");
            if quantity == 2 {
                let ended = stage
                    .ticketing
                    .end_order(message.order_no, CancelReason::User);
                assert!(ended.await.expect("stores"));
            }
        }
        stage.ticketing.keep_books().await.expect("stores");
        let again = stage.ticketing.keep_books().await.expect("stores");
        assert_eq!((again.new, again.gaps), (0, 0));
        let db = stage.ticketing.db();
        let (mut left, mut held) = (0, 0);
        for piece in 0..3 {
            let changes = db
                .quantities_of(show, floor, piece, Timestamp(0), 100)
                .await;
            let changes = changes.expect("a database");
            let last = changes.last().expect("the piece was loaded").after;
            is_chain(&changes, last);
            left += last;
            held += changes.iter().filter(|change| change.why == "hold").count();
        }
        assert_eq!(left, 5, "nine less four");
        assert!(held >= 2, "both orders took places");
    });
}
