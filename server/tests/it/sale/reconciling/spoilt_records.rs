//! A record of a hold that nobody can read: it keeps no other order waiting, and its own is given up after its lease.

use super::{is_clean, reconcile, unsent_again};
use crate::support::{ShowSpec, Stage, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    seat::SeatState,
    time::{Millis, Timestamp},
};
use server::{clock::Clock, config::LOCK_LEASE, redis::keys::ShowKey, ticketing::reconcile::Class};

/// Two orders that Kafka has not acknowledged; the record of the first can't be read.
async fn scene() -> (Stage, ShowId, [OrderNo; 2]) {
    let stage = Stage::new().await;
    let show = stage.show(ShowSpec::default()).await;
    let spoilt = stage.hold(&stage.user().await, show, &[1]).await;
    let spoilt = spoilt.expect("a hold");
    stage.clock.advance(Millis(1));
    let other = stage.hold(&stage.user().await, show, &[2]).await;
    let other = other.expect("a hold");
    unsent_again(&stage, show, &[spoilt, other]).await;
    let record = ["HSET", &spoilt.to_string(), "x"];
    stage.meddle(show, ShowKey::Holds, &record).await;
    (stage, show, [spoilt, other])
}

#[test]
fn an_order_is_sent_again_behind_one_whose_record_is_spoilt() {
    run(async {
        let (stage, show, [_, other]) = scene().await;
        let redis = stage.ticketing.redis();
        let later = stage.clock.now() + Millis(1);
        let first = redis.unsent(show, later, 1).await.expect("Redis");
        assert_eq!(first.len(), 1, "one that can be sent");
        assert_eq!(first[0].0, other);
        stage.clock.advance(Millis(2_001));
        assert_eq!(stage.ticketing.relay_once().await.expect("Redis"), 1);
    });
}

#[test]
fn an_order_whose_record_is_spoilt_is_given_up_after_its_lease() {
    run(async {
        let (stage, show, [spoilt, other]) = scene().await;
        let message = stage.message(show, other).await;
        let written = stage.ticketing.create_orders(&[message]).await;
        written.expect("an order");
        let redis = stage.ticketing.redis();
        redis.acknowledge_sent(show, other).await.expect("Redis");
        assert_eq!(reconcile(&stage).await, [], "it may be on its way");
        stage.clock.advance(Millis(LOCK_LEASE.0 + 1_000));
        assert_eq!(reconcile(&stage).await, [Class::OrphanLock]);
        assert_eq!(stage.status(spoilt).await, Some(OrderStatus::Discarded));
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        assert_eq!(stage.seat(show, 2).await, SeatState::Locked);
        let unsent = redis.unsent_count(show, Timestamp(i64::MAX)).await;
        assert_eq!(unsent.expect("Redis"), 0, "nobody waits for it");
        assert_eq!(reconcile(&stage).await, [Class::Counter], "what it counted");
        is_clean(&stage).await;
    });
}
