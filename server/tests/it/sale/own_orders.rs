//! What a buyer sees of the own orders from the first moment, and what a second submission leads to.

use crate::support::{ShowSpec, Stage, TestApp, run};
use app::{
    domain::{
        hold::Refusal,
        ids::SeatIndex,
        order::{CancelReason, OrderStatus},
        payment::PaymentStatus,
    },
    error::AppError,
};

#[test]
fn seats_of_an_order_that_has_no_row_yet_are_the_buyers_own() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let (user, other) = (stage.user().await, stage.user().await);
        let mine = |user| {
            let ticketing = stage.ticketing.clone();
            async move { ticketing.own_seats(&user, show).await.expect("own seats") }
        };
        let order_no = stage.hold(&user, show, &[3, 4]).await.expect("a hold");
        assert_eq!(stage.status(order_no).await, None, "it has no row");
        let creating = mine(user.clone()).await;
        assert_eq!(creating.seats, [SeatIndex(3), SeatIndex(4)]);
        assert_eq!(creating.pending, Some(order_no), "and the way to it");
        assert_eq!(mine(other).await, app::ports::MySeats::default());

        let message = stage.message(show, order_no).await;
        stage
            .ticketing
            .create_orders(&[message])
            .await
            .expect("stores");
        assert_eq!(mine(user.clone()).await, creating, "each seat once");
        let second = stage.hold(&user, show, &[9]).await.expect("a hold");
        let both = mine(user.clone()).await;
        assert_eq!(both.seats, [SeatIndex(3), SeatIndex(4), SeatIndex(9)]);
        assert_ne!(second, order_no);
        let ended = stage
            .ticketing
            .end_order(order_no, CancelReason::User)
            .await;
        assert!(ended.expect("stores"));
        assert_eq!(mine(user.clone()).await.seats, [SeatIndex(9)]);
        stage
            .ticketing
            .redis()
            .release(show, second)
            .await
            .expect("Redis");
        assert_eq!(mine(user).await, app::ports::MySeats::default());
    });
}

#[test]
fn the_same_seats_under_another_key_are_answered_with_the_order_that_has_them() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let key = uuid::Uuid::new_v4().to_string();
        let order_no = customer
            .place_as(show, &[1, 2], &key)
            .await
            .expect("an order");
        let repeated = customer.place_as(show, &[1, 2], &key).await;
        assert_eq!(repeated.expect("the same submission"), order_no);
        let again = customer.place(show, &[1, 2]).await;
        let placed = AppError::Refused {
            refusal: Refusal::AlreadyPlaced { order_no },
        };
        assert_eq!(again.map_err(|(_, error)| error), Err(placed));
        let orders = app.count(
            "SELECT COUNT(*) FROM orders WHERE show_id = ?",
            i64::try_from(show.0).expect("a number"),
        );
        customer.until(order_no, OrderStatus::Pending).await;
        assert_eq!(orders.await, 1, "no second order");
        // Given up, the seats can be bought anew at once.
        customer.cancel(order_no).await.expect("given up");
        crate::support::eventually("the seats can be bought anew", || async {
            customer.place(show, &[1, 2]).await.ok()
        })
        .await;
    });
}

#[test]
fn a_page_without_scripts_of_a_cancelled_order_looks_again_while_money_may_arrive() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let page = |order_no| {
            let customer = customer.clone();
            async move {
                let request =
                    customer.request(reqwest::Method::GET, &format!("/orders/{order_no}"));
                request
                    .send()
                    .await
                    .expect("a page")
                    .text()
                    .await
                    .expect("a text")
            }
        };
        let untried = customer.pending(show, &[1]).await;
        customer.cancel(untried).await.expect("given up");
        assert!(!page(untried).await.contains("http-equiv=\"refresh\""));
        let tried = customer.pending(show, &[2]).await;
        customer.start_paying(tried).await.expect("a cashier");
        customer.cancel(tried).await.expect("given up");
        let order = customer.until(tried, OrderStatus::Cancelled).await;
        assert_eq!(
            order.payment.map(|attempt| attempt.status),
            Some(PaymentStatus::Closed)
        );
        let text = page(tried).await;
        assert!(text.contains("content=\"30\""), "{text}");
        assert!(text.contains("Should a payment still arrive"), "{text}");
    });
}
