//! Staff withhold seats and give orders more time; crashes in between are put right.

use crate::support::{ShowSpec, Stage, eventually, reconcile, run};
use app::{
    domain::{
        hold::Refusal,
        ids::{SeatIndex, ShowId},
        order::{CancelReason, OrderStatus},
        seat::SeatState,
        time::Millis,
    },
    error::AppError,
};
use server::{
    clock::Clock,
    kafka::{Topic, offsets::GroupProgress},
    kafka_config,
    ticketing::{
        blocking::BlockingRefusal,
        extend::{AWAIT_PAYMENT_MAX, ExtendRefusal},
        reconcile::Class,
    },
};

fn seats(numbers: &[u32]) -> Vec<SeatIndex> {
    numbers.iter().copied().map(SeatIndex).collect()
}

async fn rows(stage: &Stage, show: ShowId) -> Vec<SeatIndex> {
    let rows = stage.ticketing.db().withheld_seats(show).await;
    let rows = rows.expect("a database");
    rows.into_iter().map(|(seat, _)| seat).collect()
}

async fn findings(stage: &Stage, show: ShowId) -> Vec<Class> {
    let all = stage.ticketing.find_all().await.expect("stores");
    let of_show = all.into_iter().filter(|finding| finding.show == show);
    of_show.map(|finding| finding.class).collect()
}

#[test]
fn withheld_seats_are_refused_to_buyers_until_they_are_offered_again() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let wanted = seats(&[3, 12, 13]);
        let new = stage.ticketing.block_seats(show, &wanted).await;
        assert_eq!(new.expect("free seats"), wanted);
        let again = stage.ticketing.block_seats(show, &seats(&[3, 4])).await;
        assert_eq!(again.expect("done before"), seats(&[4]));
        assert_eq!(rows(&stage, show).await, seats(&[3, 4, 12, 13]));
        let refused = stage.hold(&buyer, show, &[2, 3]).await;
        let taken = Refusal::SeatsTaken { seats: seats(&[3]) };
        assert_eq!(refused, Err(AppError::from(taken)));
        let offered = stage.ticketing.unblock_seats(show, &seats(&[3, 5])).await;
        assert_eq!(offered.expect("withheld seats"), seats(&[3]));
        stage.hold(&buyer, show, &[2, 3]).await.expect("free seats");
        assert!(findings(&stage, show).await.is_empty());
    });
}

#[test]
fn seats_of_orders_are_named_and_stay_theirs() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        // One order has a row and a claim, the other is still on its way.
        stage.pending(&buyer, show, &[1]).await;
        stage.hold(&buyer, show, &[2]).await.expect("a hold");
        for (wish, expected) in [(&[0, 1][..], [1]), (&[0, 2], [2])] {
            let refused = stage.ticketing.block_seats(show, &seats(wish)).await;
            let Err(BlockingRefusal::Taken(taken)) = refused else {
                panic!("not refused: {refused:?}")
            };
            assert_eq!(taken, seats(&expected));
        }
        assert_eq!(rows(&stage, show).await, []);
        assert_eq!(stage.seat(show, 0).await, SeatState::Available);
        assert_eq!(stage.seat(show, 2).await, SeatState::Locked);
    });
}

#[test]
fn wishes_that_make_no_sense_are_refused_by_name() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let ticketing = &stage.ticketing;
        let unknown = ticketing.block_seats(show, &seats(&[40])).await;
        assert!(
            matches!(unknown, Err(BlockingRefusal::UnknownSeat(SeatIndex(40)))),
            "{unknown:?}"
        );
        let none = ticketing.block_seats(show, &[]).await;
        assert!(
            matches!(none, Err(BlockingRefusal::SeatCount(0))),
            "{none:?}"
        );
        let nowhere = ticketing.block_seats(ShowId(9_999_999), &seats(&[1])).await;
        assert!(
            matches!(nowhere, Err(BlockingRefusal::NoShow(_))),
            "{nowhere:?}"
        );
    });
}

#[test]
fn a_seat_that_an_order_has_does_not_keep_the_others_from_being_offered_again() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let wanted = seats(&[3, 4, 5]);
        let withheld = stage.ticketing.block_seats(show, &seats(&[3, 5])).await;
        withheld.expect("free seats");
        // Withholding the third one crashed after its row, so Redis went on selling it.
        let db = stage.ticketing.db();
        let now = stage.clock.now();
        let written = db.withhold_seats(show, &seats(&[4]), now).await;
        written.expect("a row");
        let order_no = stage.pending(&buyer, show, &[4]).await;
        let offered = stage.ticketing.unblock_seats(show, &wanted).await;
        assert_eq!(offered.expect("the others"), seats(&[3, 5]));
        assert_eq!(stage.seat(show, 3).await, SeatState::Available);
        assert_eq!(stage.seat(show, 4).await, SeatState::Locked, "{order_no}");
        assert_eq!(rows(&stage, show).await, []);
        assert!(findings(&stage, show).await.is_empty());
    });
}

#[test]
fn seats_are_named_by_number_range_or_label() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let ticketing = stage.ticketing.clone();
            async move { ticketing.named_seats(show, &names).await }
        };
        // Rows of twenty: the third seat of the second row is number 22.
        let several = named(&["0", "5-7", "2/3", "Stalls/1/1"]).await;
        assert_eq!(several.expect("seats"), seats(&[0, 5, 6, 7, 22]));
        for wrong in ["40", "7-5", "5-40", "9/9", "Circle/1/1", "A", ""] {
            let refused = named(&["1", wrong]).await;
            assert!(
                matches!(&refused, Err(BlockingRefusal::UnknownName(name)) if name == wrong),
                "{wrong}: {refused:?}"
            );
        }
    });
}

#[test]
fn withheld_seats_survive_the_loss_of_redis() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let withheld = stage.ticketing.block_seats(show, &seats(&[3, 12])).await;
        withheld.expect("free seats");
        stage
            .ticketing
            .redis()
            .forget_show(show)
            .await
            .expect("Redis");
        stage.hold(&buyer, show, &[2]).await.expect("a free seat");
        assert_eq!(stage.seat(show, 3).await, SeatState::Blocked);
        let left = stage.ticketing.redis().remaining(&[show]).await;
        let left: Vec<u32> = left.expect("Redis")[0]
            .iter()
            .flatten()
            .map(|(_, left)| *left)
            .collect();
        assert_eq!(
            left,
            [8, 29],
            "ten less one withheld and one held, thirty less one"
        );
        assert!(findings(&stage, show).await.is_empty());
    });
}

#[test]
fn a_crash_before_redis_followed_is_completed_by_reconciliation() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let held = stage
            .hold(&buyer, show, &[20])
            .await
            .expect("loads the show");
        let db = stage.ticketing.db();
        // Withholding crashed after the rows: Redis still offers the seats, and one was held meanwhile.
        let now = stage.clock.now();
        db.withhold_seats(show, &seats(&[4, 20]), now)
            .await
            .expect("rows");
        assert!(
            findings(&stage, show).await.is_empty(),
            "whoever withholds has a moment to finish"
        );
        stage.clock.advance(Millis::seconds(11));
        assert_eq!(findings(&stage, show).await, [Class::SeatLost]);
        reconcile(&stage.ticketing).await;
        assert_eq!(stage.seat(show, 4).await, SeatState::Blocked);
        assert_eq!(stage.seat(show, 20).await, SeatState::Locked, "{held}");
        // Offering crashed after the rows: Redis still withholds the seat.
        db.offer_seats(show, &seats(&[4, 20])).await.expect("rows");
        assert_eq!(findings(&stage, show).await, [Class::SeatLost]);
        reconcile(&stage.ticketing).await;
        assert_eq!(stage.seat(show, 4).await, SeatState::Available);
        assert!(findings(&stage, show).await.is_empty());
        let repairs = db.repairs(10).await.expect("a database");
        assert_eq!(repairs.len(), 2);
        assert!(repairs.iter().all(|repair| repair.class == "seat_lost"));
    });
}

#[test]
fn a_deadline_that_staff_moved_is_the_one_that_counts() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            hold_for: Millis::minutes(15),
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let buyer = stage.user().await;
        let order_no = stage.pending(&buyer, show, &[1]).await;
        let before = stage.ticketing.db().order(order_no).await.expect("a row");
        let before = before.expect("an order").expire_at;
        let moved = stage
            .ticketing
            .extend_order(order_no, Millis::minutes(20))
            .await;
        assert_eq!(moved.expect("pending"), before + Millis::minutes(20));
        stage.clock.advance(Millis::minutes(16));
        let early = stage.ticketing.expire(order_no).await.expect("stores");
        let due_at = before + Millis::minutes(20);
        assert_eq!(early, server::ticketing::expire::Expiry::NotYet { due_at });
        assert_eq!(stage.ticketing.sweep_once().await.expect("stores"), 0);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        stage.clock.advance(Millis::minutes(20));
        stage.ticketing.expire(order_no).await.expect("stores");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
    });
}

#[test]
fn kafka_has_the_message_of_a_moved_deadline_when_the_command_ends() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let order_no = stage.hold(&buyer, show, &[1]).await.expect("a hold");
        let message = stage.message(show, order_no).await;
        let written = stage.ticketing.db().insert_order(&message).await;
        written.expect("a database");
        let kafka = kafka_config(stage.config());
        let progress = GroupProgress::new(&kafka, Topic::OrderTimeout, "expire").expect("a client");
        // Kafka has two seconds for each answer, which it may miss on a busy machine.
        let ends = || eventually("Kafka answers", || async { progress.ends().await.ok() });
        let before = ends().await;
        assert!(before.is_empty(), "the row alone was written");
        let moved = stage
            .ticketing
            .extend_order(order_no, Millis::minutes(5))
            .await;
        moved.expect("pending");
        let after = ends().await;
        assert!(!after.is_empty(), "a process may end now");
    });
}

#[test]
fn a_payment_that_ended_with_the_old_deadline_does_not_stop_a_new_one() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let order_no = stage.pending(&buyer, show, &[1]).await;
        let first = stage.payment(&buyer, order_no).await;
        let moved = stage
            .ticketing
            .extend_order(order_no, Millis::minutes(30))
            .await;
        moved.expect("pending");
        let same = stage.payment(&buyer, order_no).await;
        assert_eq!(
            same.out_trade_no, first.out_trade_no,
            "it can still be paid"
        );
        stage.clock.advance(Millis::minutes(16));
        let second = stage.payment(&buyer, order_no).await;
        assert_ne!(second.out_trade_no, first.out_trade_no);
        assert!(second.expire_at > first.expire_at);
    });
}

#[test]
fn only_pending_orders_get_more_time_and_not_without_end() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let order_no = stage.pending(&buyer, show, &[1]).await;
        let ticketing = &stage.ticketing;
        for minutes in [0, -5, 61] {
            let refused = ticketing
                .extend_order(order_no, Millis::minutes(minutes))
                .await;
            assert!(matches!(refused, Err(ExtendRefusal::Length)), "{refused:?}");
        }
        let hour = Millis::minutes(60);
        let first = Millis::minutes(15);
        for _ in 0..(AWAIT_PAYMENT_MAX.0 - first.0) / hour.0 {
            ticketing
                .extend_order(order_no, hour)
                .await
                .expect("pending");
        }
        let endless = ticketing.extend_order(order_no, hour).await;
        assert!(
            matches!(endless, Err(ExtendRefusal::NotExtendable(_))),
            "{endless:?}"
        );
        let other = stage.pending(&buyer, show, &[2]).await;
        let ended = ticketing.end_order(other, CancelReason::User).await;
        assert!(ended.expect("stores"));
        let over = ticketing.extend_order(other, hour).await;
        assert!(
            matches!(over, Err(ExtendRefusal::NotExtendable(_))),
            "{over:?}"
        );
        let late = stage.pending(&buyer, show, &[3]).await;
        stage.clock.advance(Millis::minutes(15));
        let late = ticketing.extend_order(late, hour).await;
        assert!(
            matches!(late, Err(ExtendRefusal::NotExtendable(_))),
            "a deadline that has passed is not moved: {late:?}"
        );
    });
}
