//! A show that has left Redis: what customers, staff, gateways and late messages find.

use super::{OVER, keys_of, leaves, opened, paid, paid_places, pay, round, stage, until_gone};
use crate::{
    standing::floor::{Floor, violations},
    support::{ShowSpec, Stage, TestApp, eventually, run},
};
use app::{
    domain::{
        catalogue::SaleState,
        hold::{Choice, Refusal},
        ids::{OrderNo, SeatIndex, ShowId},
        order::{CancelReason, OrderStatus},
        refund::TicketChoice,
        seat::{MapVersion, SeatState},
        time::Millis,
    },
    error::AppError,
};
use axum::http::StatusCode;
use server::ticketing::expire::Expiry;
use std::time::Duration;

/// A show that has left Redis: seats 1 and 30 and four places are sold, seat 2 was given up, seat 5 is withheld.
struct Gone {
    stage: Stage,
    floor: Floor,
    user: app::domain::user::User,
    sold: OrderNo,
    given_up: OrderNo,
}

async fn gone() -> Gone {
    let stage = stage().await;
    let floor = opened(&stage).await;
    let show = floor.show;
    let user = stage.user().await;
    let sold = paid(&stage, &user, show, &[1, 30]).await.0;
    paid_places(&stage, &stage.user().await, floor, 4).await;
    let given_up = stage.pending(&user, show, &[2]).await;
    let ended = stage
        .ticketing
        .end_order(given_up, CancelReason::User)
        .await;
    assert!(ended.expect("stores"));
    let withheld = stage.ticketing.block_seats(show, &[SeatIndex(5)]).await;
    withheld.expect("a withheld seat");
    stage.clock.advance(OVER);
    until_gone(&stage.ticketing, floor).await;
    Gone {
        stage,
        floor,
        user,
        sold,
        given_up,
    }
}

#[test]
fn its_pages_answer_from_the_database_and_do_not_bring_it_back() {
    run(async {
        let Gone {
            stage,
            floor,
            user,
            sold,
            ..
        } = gone().await;
        let (ticketing, show) = (&stage.ticketing, floor.show);
        let page = ticketing.show_page(show).await.expect("a page");
        assert_eq!(page.sale, SaleState::Ended);
        assert!(page.zones.iter().all(|zone| zone.seats_free == 0));
        let map = ticketing.show_map(show).await.expect("a map").seats;
        assert_eq!(map.at, MapVersion::default());
        let states = [1, 2, 5, 30, 39].map(|seat| map.state(SeatIndex(seat)));
        assert_eq!(
            states,
            [
                SeatState::Sold,
                SeatState::Available,
                SeatState::Blocked,
                SeatState::Sold,
                SeatState::Available
            ]
        );
        let left = ticketing.standing_left(show).await.expect("stores");
        assert_eq!(left[..], [(floor.zone, 0)]);
        let order = ticketing.own_order(&user, sold).await.expect("the order");
        assert_eq!(order.status, OrderStatus::Paid);
        let mine = ticketing.own_seats(&user, show).await.expect("own seats");
        assert_eq!(mine.seats, [SeatIndex(1), SeatIndex(30)]);
        assert_eq!(keys_of(ticketing.redis(), floor), [""; 0]);
        assert_eq!(violations(ticketing).await, []);
    });
}

#[test]
fn buyers_are_refused_and_do_not_bring_it_back_and_a_repeat_still_finds_its_order() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        let show = floor.show;
        let user = stage.user().await;
        let seats = || Choice::Seats(vec![SeatIndex(3)]);
        let key = uuid::Uuid::new_v4().to_string();
        let placed = stage.submit(&user, show, seats(), &key).await;
        let placed = placed.expect("a hold");
        let message = stage.message(show, placed).await;
        let written = stage.ticketing.create_orders(&[message]).await;
        written.expect("an order");
        let ended = stage.ticketing.end_order(placed, CancelReason::User).await;
        assert!(ended.expect("stores"));
        stage.clock.advance(OVER);
        until_gone(&stage.ticketing, floor).await;
        let places = |zone, quantity| Choice::Best { zone, quantity };
        let front = stage.ticketing.db().zones(show).await.expect("zones")[0].id;
        let other = stage.user().await;
        for choice in [seats(), places(front, 2), places(floor.zone, 2)] {
            let another = uuid::Uuid::new_v4().to_string();
            let refused = stage.submit(&other, show, choice, &another).await;
            assert_eq!(refused, Err(AppError::from(Refusal::SaleEnded)));
        }
        let again = stage.submit(&user, show, seats(), &key).await;
        assert_eq!(again, Ok(placed));
        assert_eq!(keys_of(stage.ticketing.redis(), floor), [""; 0]);
        let orders = "SELECT COUNT(*) FROM orders";
        let orders: i64 = sqlx::query_scalar(orders)
            .fetch_one(stage.ticketing.db().pool())
            .await
            .expect("a count");
        assert_eq!(orders, 1);
    });
}

async fn order_rows(stage: &Stage, show: ShowId) -> Vec<(i64, u8, Option<i64>, Option<i64>)> {
    sqlx::query_as(
        "SELECT order_no, status, paid_at, closed_at FROM orders WHERE show_id = ? ORDER BY order_no",
    )
    .bind(show.0)
    .fetch_all(stage.ticketing.db().pool())
    .await
    .expect("orders")
}

#[test]
fn what_is_said_again_late_changes_nothing_and_it_leaves_again() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        let show = floor.show;
        let (user, other) = (stage.user().await, stage.user().await);
        let sold = stage.hold(&user, show, &[1]).await.expect("a hold");
        let given_up = stage.hold(&other, show, &[2]).await.expect("a hold");
        let messages = [
            stage.message(show, sold).await,
            stage.message(show, given_up).await,
        ];
        let written = stage.ticketing.create_orders(&messages).await;
        written.expect("orders");
        let payment = stage.payment(&user, sold).await;
        assert_eq!(pay(&stage, &payment).await, StatusCode::OK);
        let ended = stage
            .ticketing
            .end_order(given_up, CancelReason::User)
            .await;
        assert!(ended.expect("stores"));
        stage.clock.advance(OVER);
        until_gone(&stage.ticketing, floor).await;
        let before = order_rows(&stage, show).await;
        let written = stage.ticketing.create_orders(&messages).await;
        assert!(written.expect("stores").is_empty());
        for order_no in [sold, given_up] {
            let woken = stage.ticketing.expire(order_no).await;
            assert_eq!(woken.expect("stores"), Expiry::Finished);
        }
        assert_eq!(keys_of(stage.ticketing.redis(), floor), [""; 0]);
        // What follows a payment is done again, which needs the show.
        let answer = eventually("the notice is taken", || async {
            (pay(&stage, &payment).await == StatusCode::OK).then_some(())
        });
        answer.await;
        eventually("the seats are sold", || async {
            stage.ticketing.settle_paid(sold).await.ok()
        })
        .await;
        assert_eq!(stage.seat(show, 1).await, SeatState::Sold);
        assert_eq!(stage.seat(show, 2).await, SeatState::Available);
        assert_eq!(order_rows(&stage, show).await, before);
        until_gone(&stage.ticketing, floor).await;
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn money_that_comes_after_it_left_goes_back_without_it() {
    run(async {
        let stage = stage().await;
        let floor = opened(&stage).await;
        let show = floor.show;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        let ended = stage
            .ticketing
            .end_order(order_no, CancelReason::User)
            .await;
        assert!(ended.expect("stores"));
        stage.clock.advance(OVER);
        let stays = round(&stage.ticketing).await;
        assert!(stays[0].stays.is_some(), "the gateway has not closed it");
        // Nobody listens at the gateway's address here; as if it had said that it closed the payment.
        sqlx::query("DELETE FROM outbox WHERE kind = 'payment.close'")
            .execute(stage.ticketing.db().pool())
            .await
            .expect("a database");
        until_gone(&stage.ticketing, floor).await;
        assert_eq!(pay(&stage, &payment).await, StatusCode::OK);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        let refunds: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM refund WHERE order_no = ?")
            .bind(order_no.as_i64())
            .fetch_one(stage.ticketing.db().pool())
            .await
            .expect("a count");
        assert_eq!(refunds, 1, "requested");
        assert_eq!(keys_of(stage.ticketing.redis(), floor), [""; 0]);
    });
}

#[test]
fn staff_move_nothing_that_left_and_what_they_withhold_is_withheld_when_it_leaves_again() {
    run(async {
        let Gone {
            stage,
            floor,
            given_up,
            ..
        } = gone().await;
        let ticketing = &stage.ticketing;
        // Staff have it loaded, as anybody who changes it has.
        let withheld = ticketing.block_seats(floor.show, &[SeatIndex(7)]).await;
        withheld.expect("a withheld seat");
        ticketing
            .set_standing_capacity(floor.zone, 9)
            .await
            .expect("a capacity");
        assert!(!keys_of(ticketing.redis(), floor).is_empty());
        until_gone(ticketing, floor).await;
        let rows = ticketing.db().withheld_seats(floor.show).await;
        let rows: Vec<SeatIndex> = rows
            .expect("rows")
            .into_iter()
            .map(|(seat, _)| seat)
            .collect();
        assert_eq!(rows, [SeatIndex(5), SeatIndex(7)]);
        assert_eq!(floor.stock(ticketing.db()).await.capacity, 9);
        assert_eq!(stage.status(given_up).await, Some(OrderStatus::Cancelled));
        assert_eq!(violations(ticketing).await, []);
    });
}

#[test]
fn what_the_database_must_keep_by_itself_is_still_counted() {
    run(async {
        let Gone { stage, floor, .. } = gone().await;
        let set = async |taken: u32| {
            sqlx::query("UPDATE standing_stock SET taken = ? WHERE zone_id = ?")
                .bind(taken)
                .bind(floor.zone.0)
                .execute(stage.ticketing.db().pool())
                .await
        };
        set(3).await.expect("a database");
        let disagreeing = "standing places that stores disagree on";
        assert_eq!(violations(&stage.ticketing).await, [(disagreeing, 1)]);
        set(6).await.expect("a database");
        assert_eq!(violations(&stage.ticketing).await, [(disagreeing, 2)]);
        set(4).await.expect("a database");
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn its_tickets_can_be_given_back_and_a_browser_gets_its_map() {
    run(async {
        let settings = [("SEATFLOW_UNLOAD_AFTER_MS", "60000")];
        let app = TestApp::start(&settings).await;
        let spec = ShowSpec {
            sale_ends_in: Millis::minutes(10),
            standing: Some((6, 2)),
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let floor = Floor::of(app.db(), show).await;
        let (seated, standing) = (app.customer().await, app.customer().await);
        let seat = seated.pending(show, &[1]).await;
        let places = standing.place_best(show, floor.zone, 2).await;
        let places = places.expect("places");
        standing.until(places, OrderStatus::Pending).await;
        for (customer, order_no) in [(&seated, seat), (&standing, places)] {
            customer.pay(order_no).await;
            customer.until(order_no, OrderStatus::Paid).await;
        }
        app.clock.advance(Millis::minutes(12));
        until_gone(app.ticketing(), floor).await;
        // Longer than a map is kept that was read while the show was there.
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert_eq!(app.seat_counts(show).await, [39, 0, 1, 0]);
        let page = seated.page(&format!("/shows/{show}"), "en").await;
        assert!(page.contains("The sale of this show is over."), "{page}");
        assert_eq!(keys_of(app.ticketing().redis(), floor), [""; 0]);
        for order_no in [seat, places] {
            let note = "the singer was ill";
            let given = app
                .ticketing()
                .refund_by_staff(order_no, TicketChoice::All, note, 0)
                .await;
            given.expect("a refund");
        }
        seated.until(seat, OrderStatus::Refunded).await;
        standing.until(places, OrderStatus::Refunded).await;
        until_gone(app.ticketing(), floor).await;
        // The show has begun: its places stay taken, as in one that is still loaded.
        assert_eq!(floor.stock(app.db()).await.taken, 2);
        eventually("nothing is wrong", || async {
            app.verify().await.is_clean().then_some(())
        })
        .await;
        assert!(
            app.ticketing()
                .over_shows()
                .await
                .expect("stores")
                .is_empty()
        );
        assert_ne!(round(app.ticketing()).await, [leaves(show)]);
    });
}
