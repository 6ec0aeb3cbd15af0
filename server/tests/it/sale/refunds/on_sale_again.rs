//! What becomes of seats and places whose money is back.

use super::{confirmed, paid, paid_for, pay, wish};
use crate::{
    standing::floor::{Floor, pending, staged},
    support::{ShowSpec, Stage, reconcile, run},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    refund::TicketChoice,
    seat::SeatState,
    time::Millis,
    user::User,
};
use server::{
    clock::Clock,
    redis::{
        scripts::{GiveWhy, SellStanding},
        standing::PlaceState,
    },
};

async fn given_back(stage: &Stage, user: &User, order_no: OrderNo, items: &[u32]) -> String {
    let refund = stage
        .ticketing
        .refund_own(user, wish(order_no, items))
        .await;
    let number = refund.expect("a refund").refund_no;
    confirmed(stage, &number).await;
    number
}

async fn sold_copies(stage: &Stage, show: ShowId) -> i64 {
    sqlx::query_scalar("SELECT COUNT(*) FROM show_seat WHERE show_id = ? AND state = 2")
        .bind(show.0)
        .fetch_one(stage.ticketing.db().pool())
        .await
        .expect("a count")
}

/// An order of places that was paid.
async fn paid_places(stage: &Stage, user: &User, floor: Floor, quantity: u32) -> OrderNo {
    let order_no = pending(stage, user, floor, quantity).await;
    pay(stage, user, order_no).await;
    order_no
}

/// What reconciliation would say once nothing is new any more.
async fn findings(stage: &Stage) -> Vec<String> {
    stage.clock.advance(Millis::seconds(30));
    let found = stage.ticketing.find_all().await.expect("stores");
    found.iter().map(ToString::to_string).collect()
}

async fn version(stage: &Stage, show: ShowId) -> u64 {
    let snapshot = stage.ticketing.redis().snapshot(show).await.expect("Redis");
    snapshot.expect("a loaded show").map.at.version
}

#[test]
fn a_seat_goes_back_on_sale_exactly_once() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let (user, other) = (stage.user().await, stage.user().await);
        let (order_no, _) = paid(&stage, &user, show, &[5, 6]).await;
        assert_eq!(version(&stage, show).await, 4, "two seats locked and sold");
        let refund = stage
            .ticketing
            .refund_own(&user, wish(order_no, &[1]))
            .await;
        let number = refund.expect("a refund").refund_no;
        assert_eq!(
            stage.seat(show, 6).await,
            SeatState::Sold,
            "not before the money is back"
        );
        confirmed(&stage, &number).await;
        assert_eq!(stage.seat(show, 6).await, SeatState::Available);
        assert_eq!(stage.seat(show, 5).await, SeatState::Sold);
        assert_eq!(version(&stage, show).await, 5);
        assert_eq!(sold_copies(&stage, show).await, 1);
        confirmed(&stage, &number).await;
        assert_eq!(version(&stage, show).await, 5, "a repeat frees nothing");

        let (resold, _) = paid(&stage, &other, show, &[6]).await;
        confirmed(&stage, &number).await;
        stage.ticketing.settle_paid(order_no).await.expect("stores");
        stage
            .ticketing
            .db()
            .mark_seats_sold(order_no, stage.clock.now())
            .await
            .expect("stores");
        assert_eq!(stage.seat(show, 6).await, SeatState::Sold);
        let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
        assert_eq!(owners[&app::domain::ids::SeatIndex(6)], resold);
        assert_eq!(findings(&stage).await, [""; 0]);
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn seats_of_a_show_that_has_begun_stay_as_they_were() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            sale_ends_in: Millis::minutes(60 * 48),
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let user = stage.user().await;
        let (order_no, _) = paid(&stage, &user, show, &[5, 6]).await;
        let (whole, _) = paid(&stage, &user, show, &[8]).await;
        stage.clock.advance(Millis::minutes(60 * 48));
        let staff = async |order_no, tickets| {
            let refund = stage
                .ticketing
                .refund_by_staff(order_no, tickets, "it rained", 0)
                .await;
            confirmed(&stage, &refund.expect("a refund").refund_no).await;
        };
        staff(order_no, TicketChoice::Items(vec![0])).await;
        staff(whole, TicketChoice::All).await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        assert_eq!(stage.status(whole).await, Some(OrderStatus::Refunded));
        for seat in [5, 6, 8] {
            assert_eq!(stage.seat(show, seat).await, SeatState::Sold, "seat {seat}");
        }
        assert_eq!(sold_copies(&stage, show).await, 3);
        assert_eq!(findings(&stage).await, [""; 0]);
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn a_show_that_redis_lost_comes_back_without_tickets_that_were_given_back() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            limit: 2,
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let (user, other) = (stage.user().await, stage.user().await);
        let (order_no, _) = paid(&stage, &user, show, &[5, 6]).await;
        given_back(&stage, &user, order_no, &[0]).await;
        stage
            .ticketing
            .redis()
            .forget_show(show)
            .await
            .expect("Redis");
        stage
            .ticketing
            .load_show_patiently(show)
            .await
            .expect("stores");
        assert_eq!(stage.seat(show, 5).await, SeatState::Available);
        assert_eq!(stage.seat(show, 6).await, SeatState::Sold);
        stage.hold(&other, show, &[5]).await.expect("a free seat");
        stage
            .hold(&user, show, &[7])
            .await
            .expect("one of two tickets");
        stage.hold(&user, show, &[8]).await.expect_err("the limit");
    });
}

#[test]
fn a_seat_that_a_late_settling_took_back_is_found_and_freed() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let (order_no, _) = paid(&stage, &user, show, &[5, 6]).await;
        let items = stage
            .ticketing
            .db()
            .items_of(&[order_no])
            .await
            .expect("a database");
        let seats = server::ticketing::rebuild::zoned_seats(&items[&order_no]);
        given_back(&stage, &user, order_no, &[0]).await;
        // A server that read the order before its refund, and was held up.
        let redis = stage.ticketing.redis();
        redis.confirm(show, order_no, &seats).await.expect("Redis");
        assert_eq!(stage.seat(show, 5).await, SeatState::Sold);
        let found = findings(&stage).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("still has 1 seat(s) whose money it has back"),
            "{found:?}"
        );
        reconcile(&stage.ticketing).await;
        assert_eq!(stage.seat(show, 5).await, SeatState::Available);
        assert_eq!(stage.seat(show, 6).await, SeatState::Sold);
        // The seat was counted for its buyer once, and given back twice.
        assert!(
            findings(&stage)
                .await
                .iter()
                .all(|found| found.contains("counter"))
        );
        reconcile(&stage.ticketing).await;
        assert_eq!(findings(&stage).await, [""; 0]);
    });
}

#[test]
fn places_of_a_standing_zone_are_given_back_one_by_one() {
    run(async {
        let (stage, floor) = staged(20, 3).await;
        let user = stage.user().await;
        let order_no = paid_places(&stage, &user, floor, 3).await;
        let redis = stage.ticketing.redis();
        assert_eq!(floor.counts(redis).await, (0, 3, 17));

        let number = given_back(&stage, &user, order_no, &[0, 2]).await;
        for _ in 0..2 {
            assert_eq!(floor.counts(redis).await, (0, 1, 19));
            assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 1);
            confirmed(&stage, &number).await;
        }
        // Three of four tickets of the limit are free again.
        let three = stage.hold_places(&user, floor.show, floor.zone, 3).await;
        three.expect("three places");
        let one_more = stage.hold_places(&user, floor.show, floor.zone, 1).await;
        one_more.expect_err("the limit");
        given_back(&stage, &user, order_no, &[1]).await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Refunded));
        assert_eq!(floor.counts(redis).await, (3, 0, 17));
        assert_eq!(findings(&stage).await, [""; 0]);
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn places_of_a_show_that_has_begun_stay_taken() {
    run(async {
        let (stage, floor) = staged(20, 3).await;
        let user = stage.user().await;
        let partly = paid_places(&stage, &user, floor, 2).await;
        let whole = paid_places(&stage, &user, floor, 1).await;
        given_back(&stage, &user, partly, &[0]).await;
        let redis = stage.ticketing.redis();
        assert_eq!(floor.counts(redis).await, (0, 2, 18), "before it begins");
        let facts = stage.ticketing.db().show(floor.show).await;
        let starts_at = facts.expect("a database").expect("the show").starts_at;
        stage.clock.advance(starts_at - stage.clock.now());
        for (order_no, tickets) in [
            (partly, TicketChoice::Items(vec![1])),
            (whole, TicketChoice::All),
        ] {
            let refund = stage
                .ticketing
                .refund_by_staff(order_no, tickets, "it rained", 0)
                .await;
            confirmed(&stage, &refund.expect("a refund").refund_no).await;
            assert_eq!(stage.status(order_no).await, Some(OrderStatus::Refunded));
        }
        let in_both_stores = async |stage: &Stage| {
            assert_eq!(floor.counts(redis).await, (0, 2, 18));
            assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 2);
            assert_eq!(findings(stage).await, [""; 0]);
            let evidence = stage.ticketing.verify().await.expect("stores");
            assert!(evidence.is_clean(), "{}", evidence.table());
        };
        in_both_stores(&stage).await;
        // As the rows say it, whatever Redis loses.
        stage
            .ticketing
            .reload_zones(floor.show)
            .await
            .expect("stores");
        in_both_stores(&stage).await;
        let pieces = stage.ticketing.db().pieces_of(whole).await;
        for (piece, _) in pieces.expect("a database") {
            let gone = redis.give_standing(piece, whole, 0, GiveWhy::Repair);
            gone.await.expect("Redis");
        }
        assert_eq!(reconcile(&stage.ticketing).await.repaired, 1);
        in_both_stores(&stage).await;
    });
}

#[test]
fn places_that_redis_was_not_told_of_are_found_and_freed() {
    run(async {
        let (stage, floor) = staged(3, 3).await;
        let user = stage.user().await;
        let order_no = paid_places(&stage, &user, floor, 3).await;
        let redis = stage.ticketing.redis();
        given_back(&stage, &user, order_no, &[0, 1]).await;
        assert_eq!(floor.counts(redis).await, (0, 1, 2));
        // A server that read the order before its refund, and was held up.
        let db = stage.ticketing.db();
        let pieces = db.pieces_of(order_no).await.expect("a database");
        let (piece, _) = pieces.into_iter().find(|(_, has)| *has == 0).expect("one");
        let sell = SellStanding {
            piece,
            order_no,
            now: stage.clock.now(),
            quantity: 1,
            state: PlaceState::Sold,
        };
        redis.sell_standing(&sell).await.expect("Redis");
        assert_eq!(floor.counts(redis).await, (0, 2, 1));
        let found = findings(&stage).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("money it has back"), "{found:?}");
        assert_eq!(reconcile(&stage.ticketing).await.repaired, 1);
        assert_eq!(floor.counts(redis).await, (0, 1, 2));
        assert_eq!(findings(&stage).await, [""; 0]);
    });
}

#[test]
fn a_person_whose_ticket_was_given_back_can_have_another() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            limit: 1,
            attendees_required: true,
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let (user, other) = (stage.user().await, stage.user().await);
        let listed = async |user| {
            let added = stage
                .ticketing
                .add_attendee(user, "Ann Example", "passport", "E12345678");
            added.await.expect("an entry").id
        };
        let (ann, same_person) = (listed(&user).await, listed(&other).await);
        let (order_no, _) = paid_for(&stage, &user, show, &[5], &[ann]).await;
        let second = stage.hold_for(&other, show, &[6], vec![same_person]).await;
        second.expect_err("one ticket a person, whichever account buys it");
        given_back(&stage, &user, order_no, &[0]).await;
        let second = stage.hold_for(&other, show, &[5], vec![same_person]).await;
        second.expect("the person has no ticket any more");
        assert_eq!(findings(&stage).await, [""; 0]);
    });
}

#[test]
fn of_a_withdrawn_show_only_what_is_left_is_given_back() {
    run(async {
        let stage = Stage::new().await;
        let mut spec = ShowSpec::default();
        spec.refund.fee_percent = 10;
        let show = stage.show(spec).await;
        let user = stage.user().await;
        let (order_no, payment) = paid(&stage, &user, show, &[5, 6]).await;
        given_back(&stage, &user, order_no, &[0]).await;
        stage.ticketing.withdraw_show(show).await.expect("stores");
        stage
            .ticketing
            .refund_own(&user, wish(order_no, &[1]))
            .await
            .expect_err("all goes back by itself");
        for _ in 0..3 {
            stage.ticketing.work_on_withdrawals().await.expect("stores");
        }
        let refunds = stage
            .ticketing
            .db()
            .refunds_of_order(order_no)
            .await
            .expect("a database");
        let told: Vec<_> = refunds
            .iter()
            .map(|refund| (refund.reason.word(), refund.amount.minor, refund.fee.minor))
            .collect();
        assert_eq!(
            told,
            [("customer", 6_120, 680), ("show_withdrawn", 6_800, 0)]
        );
        confirmed(&stage, &format!("{}-r2", payment.out_trade_no)).await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Refunded));
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}
