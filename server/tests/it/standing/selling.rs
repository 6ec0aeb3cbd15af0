//! Buying places without seats.

use super::floor::{Floor, pending, staged, violations};
use crate::support::{Answer, Customer, ShowSpec, TestApp, eventually, run};
use app::{
    domain::{
        hold::{Choice, LimitedBy, Refusal},
        ids::OrderNo,
        order::OrderStatus,
        standing::STANDING_HEADER,
    },
    error::AppError,
};
use futures::future::join_all;
use reqwest::Method;
use std::sync::Arc;
use tokio::sync::Barrier;

const BUYERS: u32 = 300;
const PLACES: u32 = 100;

fn sold_out(floor: Floor) -> AppError {
    Refusal::ZoneSoldOut { zone: floor.zone }.into()
}

/// Asks until the answer is not "busy".
async fn insist(customer: &Customer, floor: Floor, quantity: u32) -> Answer<OrderNo> {
    eventually("the server has time", || async {
        match customer.place_best(floor.show, floor.zone, quantity).await {
            Err((_, AppError::Busy { .. })) => None,
            answer => Some(answer),
        }
    })
    .await
}

/// Lets everybody ask at the same moment, each for one to three places; the orders with their quantities, and what was
/// refused.
async fn rush(app: &TestApp, floor: Floor) -> (Vec<(Customer, OrderNo, u32)>, Vec<u32>) {
    let barrier = Arc::new(Barrier::new(usize::try_from(BUYERS).unwrap()));
    let mut buyers = Vec::new();
    for buyer in 0..BUYERS {
        let (customer, barrier) = (app.customer().await, Arc::clone(&barrier));
        let quantity = buyer % 3 + 1;
        buyers.push(tokio::spawn(async move {
            barrier.wait().await;
            let answer = insist(&customer, floor, quantity).await;
            (customer, quantity, answer)
        }));
    }
    let (mut orders, mut refused) = (Vec::new(), Vec::new());
    for buyer in buyers {
        let (customer, quantity, answer) = buyer.await.expect("a buyer");
        match answer {
            Ok(order_no) => orders.push((customer, order_no, quantity)),
            Err((_, error)) => {
                assert_eq!(error, sold_out(floor), "neither an order nor sold out");
                refused.push(quantity);
            }
        }
    }
    (orders, refused)
}

#[test]
fn three_hundred_buyers_of_a_hundred_places_in_four_pieces_buy_exactly_a_hundred() {
    run(async {
        let app = TestApp::start(&[]).await;
        let spec = ShowSpec {
            standing: Some((PLACES, 4)),
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let floor = Floor::of(app.db(), show).await;
        let (orders, refused) = rush(&app, floor).await;
        let bought: u32 = orders.iter().map(|(.., quantity)| quantity).sum();
        assert_eq!(
            bought, PLACES,
            "no piece keeps places while buyers are refused"
        );
        assert_eq!(
            orders.len() + refused.len(),
            usize::try_from(BUYERS).unwrap()
        );
        let redis = app.ticketing().redis();
        for places in floor.places(redis).await {
            assert_eq!((places.total, places.left()), (25, 0), "{places:?}");
        }
        for (customer, order_no, _) in &orders {
            customer.until(*order_no, OrderStatus::Pending).await;
        }
        join_all(
            orders
                .iter()
                .map(|(customer, order_no, _)| customer.pay(*order_no)),
        )
        .await;
        for (customer, order_no, quantity) in &orders {
            let order = customer.until(*order_no, OrderStatus::Paid).await;
            assert_eq!(order.items.len(), usize::try_from(*quantity).unwrap());
            assert!(order.items.iter().all(|item| item.seat.is_none()));
        }
        eventually("every place is sold", || async {
            (floor.counts(redis).await == (0, PLACES, 0)).then_some(())
        })
        .await;
        assert_eq!(floor.stock(app.db()).await.taken, PLACES);
        assert_eq!(violations(app.ticketing()).await, []);
        app.running.stop().await;
    });
}

#[test]
fn places_are_collected_from_several_pieces_and_given_back_when_there_are_too_few() {
    run(async {
        let (stage, floor) = staged(4, 4).await;
        let (one, other) = (stage.user().await, stage.user().await);
        let redis = stage.ticketing.redis();
        let order_no = pending(&stage, &one, floor, 3).await;
        let pieces = stage
            .ticketing
            .db()
            .pieces_of(order_no)
            .await
            .expect("pieces");
        assert_eq!(
            pieces.iter().map(|(_, count)| *count).collect::<Vec<_>>(),
            [1, 1, 1]
        );
        let refused = stage.hold_places(&other, floor.show, floor.zone, 2).await;
        assert_eq!(refused.expect_err("one place is left"), sold_out(floor));
        assert_eq!(floor.counts(redis).await, (3, 0, 1), "nothing stays behind");
        pending(&stage, &other, floor, 1).await;
        assert_eq!(floor.counts(redis).await, (4, 0, 0));
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn many_who_collect_at_once_leave_no_place_unsold() {
    run(async {
        let (stage, floor) = staged(12, 6).await;
        // Two places a piece and three for each buyer: nobody finds them in one piece.
        let mut users = Vec::new();
        for _ in 0..12 {
            users.push(stage.user().await);
        }
        let asked = users
            .iter()
            .map(|user| stage.hold_places(user, floor.show, floor.zone, 3));
        let answers = join_all(asked).await;
        let held = answers.iter().filter(|answer| answer.is_ok()).count();
        let full = answers.iter().filter(|answer| {
            answer
                .as_ref()
                .is_err_and(|error| *error == sold_out(floor))
        });
        assert_eq!((held, full.count()), (4, 8), "{answers:?}");
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (12, 0, 0));
    });
}

#[test]
fn a_submission_sent_twice_is_one_order_even_for_the_last_places() {
    run(async {
        let (stage, floor) = staged(2, 2).await;
        let user = stage.user().await;
        let choice = || Choice::Best {
            zone: floor.zone,
            quantity: 2,
        };
        let first = stage
            .submit(&user, floor.show, choice(), "one-submission")
            .await;
        let second = stage
            .submit(&user, floor.show, choice(), "one-submission")
            .await;
        let first = first.expect("an order");
        assert_eq!(second.expect("the same order"), first);
        // A double click with another key asks for the same, and is told of the order that has it.
        let third = stage
            .submit(&user, floor.show, choice(), "another-submission")
            .await;
        let told = Refusal::AlreadyPlaced { order_no: first };
        assert_eq!(third.expect_err("the same wish"), told.into());
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (2, 0, 0));
    });
}

#[test]
fn whoever_has_the_most_tickets_already_takes_no_places_away() {
    run(async {
        let (stage, floor) = staged(10, 2).await;
        let user = stage.user().await;
        pending(&stage, &user, floor, 3).await;
        let refused = stage.hold_places(&user, floor.show, floor.zone, 2).await;
        let expected = Refusal::LimitReached {
            by: LimitedBy::User,
            limit: 4,
            have: 3,
            attendee: None,
        };
        assert_eq!(refused.expect_err("four at most"), expected.into());
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (3, 0, 7));
    });
}

#[test]
fn an_order_may_have_seats_or_places_and_says_which() {
    run(async {
        let app = TestApp::shared().await;
        let spec = ShowSpec {
            standing: Some((30, 3)),
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let floor = Floor::of(app.db(), show).await;
        let customer = app.customer().await;
        let seated = customer.pending(show, &[5]).await;
        let standing = insist(&customer, floor, 2).await.expect("an order");
        let order = customer.until(standing, OrderStatus::Pending).await;
        assert_eq!(order.total.minor, 6_000);
        let page = customer.request(Method::GET, &format!("/orders/{standing}"));
        let html = page
            .send()
            .await
            .expect("a page")
            .text()
            .await
            .expect("a body");
        assert!(html.contains("Standing, 2 places"), "{html}");
        let seats: Vec<bool> = customer
            .order(seated)
            .await
            .expect("the other order")
            .items
            .iter()
            .map(|item| item.seat.is_some())
            .collect();
        assert_eq!(seats, [true]);
        let mine: app::api::orders::MySeats = customer
            .get(&format!("/api/orders/mine?show_id={show}"))
            .await
            .expect("own places");
        assert_eq!((mine.seats.len(), mine.standing), (1, 2));
    });
}

#[test]
fn a_poll_says_what_is_left_and_only_where_there_are_standing_zones() {
    run(async {
        let app = TestApp::shared().await;
        let spec = ShowSpec {
            standing: Some((30, 3)),
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let floor = Floor::of(app.db(), show).await;
        let customer = app.customer().await;
        let said = |show| {
            let customer = customer.clone();
            async move {
                let request = customer.request(Method::GET, &format!("/shows/{show}/seats"));
                let response = request.send().await.expect("an answer");
                let header = response.headers().get(STANDING_HEADER);
                header.map(|value| value.to_str().expect("text").to_owned())
            }
        };
        assert_eq!(said(show).await, Some(format!("{}:30", floor.zone)));
        insist(&customer, floor, 3).await.expect("an order");
        eventually("the poll says so", || async {
            (said(show).await == Some(format!("{}:27", floor.zone))).then_some(())
        })
        .await;
        let seated = app.show(ShowSpec::default()).await;
        assert_eq!(said(seated).await, None);
    });
}
