//! Stores that have come apart are brought together, and what is in flight is left alone.

mod counting;
mod half_lost;
mod late_rows;
mod listed;
mod lost_entries;
mod money;
mod paid_meanwhile;
mod placed_meanwhile;
mod spoilt_records;
mod unlisted;
mod unread;

use crate::support::{ShowSpec, Stage, all_repaired, eventually, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::{CancelReason, OrderStatus},
    payment::PaymentEvent,
    seat::SeatState,
    time::{Millis, Timestamp},
};
use server::{
    clock::Clock,
    config::LOCK_LEASE,
    mysql::money::{PaymentNotice, PaymentRecord},
    redis::keys::ShowKey,
    ticketing::reconcile::Class,
};

/// Longer than the time that reconciliation leaves to the outbox.
const A_WHILE: Millis = Millis::seconds(11);

/// One round that puts right all that it finds; the classes of what it found.
async fn reconcile(stage: &Stage) -> Vec<Class> {
    all_repaired(&stage.ticketing).await
}

async fn is_clean(stage: &Stage) {
    assert_eq!(reconcile(stage).await, [], "a second round finds nothing");
    let evidence = stage.ticketing.verify().await.expect("stores");
    let seats: Vec<_> = evidence
        .invariants
        .iter()
        .filter(|found| {
            found.violations > 0
                && found.name != "open discrepancies"
                && found.name != "dead letters"
        })
        .collect();
    assert!(seats.is_empty(), "{seats:?}");
}

/// Orders of a show that Kafka has acknowledged, as they are when the acknowledgement is lost.
async fn unsent_again(stage: &Stage, show: ShowId, orders: &[OrderNo]) {
    let redis = stage.ticketing.redis();
    eventually("Kafka acknowledged all", || async {
        let unsent = redis.unsent_count(show, Timestamp(i64::MAX)).await;
        (unsent.expect("Redis") == 0).then_some(())
    })
    .await;
    for order_no in orders {
        let record = redis.hold_record(show, *order_no).await.expect("Redis");
        let at = record.expect("a hold").created.0.to_string();
        let listed = ["ZADD", at.as_str(), &order_no.to_string()];
        stage.meddle(show, ShowKey::Unsent, &listed).await;
    }
}

/// A stage with a show and one pending order for its seats 1 and 12, of two zones.
async fn scene() -> (Stage, ShowId, OrderNo) {
    let stage = Stage::new().await;
    let show = stage.show(ShowSpec::default()).await;
    let order_no = stage.pending(&stage.user().await, show, &[1, 12]).await;
    (stage, show, order_no)
}

#[test]
fn an_order_in_flight_is_left_alone() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let order_no = stage
            .hold(&stage.user().await, show, &[1])
            .await
            .expect("a hold");
        stage.clock.advance(Millis(LOCK_LEASE.0 - 2_000));
        assert_eq!(reconcile(&stage).await, []);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        assert_eq!(stage.status(order_no).await, None);
    });
}

#[test]
fn a_lock_without_a_row_is_freed_behind_a_tombstone_that_a_late_message_meets() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let order_no = stage
            .hold(&stage.user().await, show, &[1])
            .await
            .expect("a hold");
        let mut message = stage.message(show, order_no).await;
        stage.clock.advance(Millis(LOCK_LEASE.0 + 1_000));
        assert_eq!(reconcile(&stage).await, [Class::OrphanLock]);
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
        let rival = stage.pending(&stage.user().await, show, &[1]).await;
        // A consumer whose clock is wrong does not think the message stale.
        message.placed_at = stage.clock.now();
        stage
            .ticketing
            .create_orders(&[message])
            .await
            .expect("stores");
        assert_eq!(
            stage.status(order_no).await,
            Some(OrderStatus::Discarded),
            "it can't sell"
        );
        assert_eq!(stage.status(rival).await, Some(OrderStatus::Pending));
        assert_eq!(
            stage.seat(show, 1).await,
            SeatState::Locked,
            "the rival's lock is not released"
        );
        is_clean(&stage).await;
    });
}

#[test]
fn an_overdue_order_is_cancelled() {
    run(async {
        let (stage, show, order_no) = scene().await;
        stage.clock.advance(Millis::minutes(16));
        assert_eq!(reconcile(&stage).await, [Class::OverdueOrder]);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        is_clean(&stage).await;
    });
}

/// A notice that a payment succeeded, for recording it as a server does that dies before it settles.
fn success(payment: &PaymentRecord, callback_id: &str) -> PaymentNotice {
    PaymentNotice {
        channel: "simulated".to_owned(),
        callback_id: callback_id.to_owned(),
        out_trade_no: payment.out_trade_no.clone(),
        third_trade_no: None,
        event: PaymentEvent::Succeeded,
        amount: payment.amount,
        happened_at: None,
        fail_reason: None,
        raw_body: String::new(),
        is_asked_for: false,
    }
}

#[test]
fn a_paid_order_gets_its_seats_sold() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        let notice = success(&payment, "cb_of_a_server_that_died");
        let db = stage.ticketing.db();
        db.record_notice(&notice, stage.clock.now())
            .await
            .expect("a database")
            .expect("a payment");
        assert_eq!(
            reconcile(&stage).await,
            [],
            "what follows a commit has its own time"
        );
        stage.clock.advance(A_WHILE);
        assert_eq!(reconcile(&stage).await, [Class::PaidNotSold]);
        assert_eq!(stage.seat(show, 1).await, SeatState::Sold);
        is_clean(&stage).await;
    });
}

#[test]
fn a_lost_lock_of_a_pending_order_is_locked_again() {
    run(async {
        let (stage, show, order_no) = scene().await;
        stage.meddle(show, ShowKey::Owners, &["HDEL", "1"]).await;
        stage
            .meddle(show, ShowKey::Map, &["BITFIELD", "SET", "u2", "#1", "0"])
            .await;
        assert_eq!(reconcile(&stage).await, [Class::SeatLost]);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        // The zone's counter and the buyer's went down and up by what was not counted before: the next round sees it.
        let counted = reconcile(&stage).await;
        assert!(
            counted.is_empty() || counted == [Class::Counter],
            "{counted:?}"
        );
        is_clean(&stage).await;
        assert!(
            stage
                .ticketing
                .end_order(order_no, CancelReason::User)
                .await
                .expect("stores")
        );
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        is_clean(&stage).await;
    });
}

#[test]
fn a_show_that_redis_lost_is_loaded() {
    run(async {
        let (stage, show, _) = scene().await;
        stage
            .ticketing
            .redis()
            .forget_show(show)
            .await
            .expect("Redis");
        assert_eq!(reconcile(&stage).await, [Class::SeatLost]);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        is_clean(&stage).await;
    });
}

#[test]
fn a_lock_of_an_order_that_is_over_is_freed() {
    run(async {
        let (stage, show, order_no) = scene().await;
        let now = stage.clock.now();
        let db = stage.ticketing.db();
        db.cancel_order(order_no, CancelReason::User, now)
            .await
            .expect("a database")
            .expect("pending");
        sqlx::query("DELETE FROM outbox")
            .execute(db.pool())
            .await
            .expect("a lost outbox");
        assert_eq!(reconcile(&stage).await, []);
        stage.clock.advance(A_WHILE);
        assert_eq!(reconcile(&stage).await, [Class::OrphanLock]);
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        assert_eq!(stage.seat(show, 12).await, SeatState::Available);
        is_clean(&stage).await;
    });
}

#[test]
fn a_record_of_an_order_that_is_over_is_dropped_and_no_longer_counts_against_its_buyer() {
    run(async {
        let (stage, show, order_no) = scene().await;
        let redis = stage.ticketing.redis();
        let record = redis
            .hold_record(show, order_no)
            .await
            .expect("Redis")
            .expect("a record");
        assert!(
            stage
                .ticketing
                .end_order(order_no, CancelReason::User)
                .await
                .expect("stores")
        );
        // As a loading that read the order before it ended leaves it.
        let json = format!(
            r#"{{"user":"{}","created_ms":{},"seats":[[1,"{}"]],"limits":["{}"],"message":""}}"#,
            record.user, record.created.0, record.seats[0].zone, record.limits[0]
        );
        stage
            .meddle(
                show,
                ShowKey::Holds,
                &["HSET", &order_no.to_string(), &json],
            )
            .await;
        stage
            .meddle(show, ShowKey::Bought, &["HSET", &record.limits[0], "1"])
            .await;
        stage.clock.advance(A_WHILE);
        assert_eq!(reconcile(&stage).await, [Class::OrphanLock]);
        assert!(
            redis
                .hold_record(show, order_no)
                .await
                .expect("Redis")
                .is_none()
        );
        assert_eq!(reconcile(&stage).await, [Class::Counter]);
        is_clean(&stage).await;
    });
}

#[test]
fn a_sold_seat_without_a_paid_order_is_freed() {
    run(async {
        let (stage, show, order_no) = scene().await;
        assert!(
            stage
                .ticketing
                .end_order(order_no, CancelReason::User)
                .await
                .expect("stores")
        );
        let owner = order_no.to_string();
        stage
            .meddle(show, ShowKey::Owners, &["HSET", "1", &owner])
            .await;
        stage
            .meddle(show, ShowKey::Map, &["BITFIELD", "SET", "u2", "#1", "2"])
            .await;
        stage.clock.advance(A_WHILE);
        assert_eq!(reconcile(&stage).await, [Class::OrphanSale]);
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        let counted = reconcile(&stage).await;
        assert!(
            counted.is_empty() || counted == [Class::Counter],
            "{counted:?}"
        );
        is_clean(&stage).await;
    });
}

#[test]
fn counters_are_counted_anew() {
    run(async {
        let (stage, show, _) = scene().await;
        let zones = stage
            .ticketing
            .redis()
            .remaining(&[show])
            .await
            .expect("Redis")
            .remove(0);
        let (zone, _) = zones.expect("a loaded show")[0];
        stage
            .meddle(show, ShowKey::Zones, &["HINCRBY", &zone.to_string(), "-3"])
            .await;
        stage
            .meddle(show, ShowKey::Bought, &["HSET", "u:999999", "4"])
            .await;
        assert_eq!(reconcile(&stage).await, [Class::Counter]);
        is_clean(&stage).await;
    });
}

#[test]
fn looking_touches_nothing() {
    run(async {
        let (stage, show, order_no) = scene().await;
        stage.clock.advance(Millis::minutes(16));
        for _ in 0..2 {
            let found = stage.ticketing.find_all().await.expect("stores");
            assert_eq!(found.len(), 1);
            assert!(
                found[0].to_string().starts_with("overdue_order"),
                "{}",
                found[0]
            );
        }
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
    });
}

#[test]
fn one_server_leads_at_a_time() {
    run(async {
        let stage = Stage::new().await;
        let db = stage.ticketing.db();
        let lead = db
            .try_lead("reconcile")
            .await
            .expect("a database")
            .expect("nobody leads");
        assert!(
            stage.ticketing.reconcile().await.expect("stores").is_none(),
            "somebody leads"
        );
        lead.give_up().await;
        assert!(stage.ticketing.reconcile().await.expect("stores").is_some());
    });
}
