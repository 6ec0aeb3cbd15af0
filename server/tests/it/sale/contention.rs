//! Many callers, few seats.

use crate::support::{Answer, Customer, ShowSpec, TestApp, eventually, run};
use app::{
    domain::{
        hold::Refusal,
        ids::{OrderNo, ShowId},
        order::OrderStatus,
    },
    error::AppError,
};
use std::sync::Arc;
use tokio::sync::Barrier;

const CALLERS: usize = 1_000;

/// Lets a thousand customers ask at the same moment, each for the seat that `seat_of` names; orders and refusals.
async fn storm(app: &TestApp, spec: ShowSpec, seat_of: fn(usize) -> u32) -> (Vec<OrderNo>, usize) {
    let show = app.show(spec).await;
    let barrier = Arc::new(Barrier::new(CALLERS));
    let mut callers = Vec::with_capacity(CALLERS);
    for caller in 0..CALLERS {
        let customer = app.customer().await;
        let barrier = Arc::clone(&barrier);
        callers.push(tokio::spawn(async move {
            barrier.wait().await;
            insist(&customer, show, seat_of(caller)).await
        }));
    }
    let (mut orders, mut refused) = (Vec::new(), 0);
    for caller in callers {
        match caller.await.expect("a caller") {
            Ok(order_no) => orders.push(order_no),
            Err((
                _,
                AppError::Refused {
                    refusal: Refusal::SeatsTaken { seats },
                },
            )) => {
                assert_eq!(seats.len(), 1, "the refusal names the seat");
                refused += 1;
            }
            Err((status, other)) => {
                panic!("neither an order nor a named refusal: {status} {other}")
            }
        }
    }
    let number = i64::try_from(show.0).expect("a small number");
    let expected = i64::try_from(orders.len()).expect("a small number");
    eventually("every accepted order is written", || async {
        let written = app
            .count(
                "SELECT COUNT(*) FROM orders WHERE show_id = ? AND status = 0",
                number,
            )
            .await;
        (written == expected).then_some(())
    })
    .await;
    let claims = app
        .count("SELECT COUNT(*) FROM seat_claim WHERE show_id = ?", number)
        .await;
    assert_eq!(claims, expected, "one claim an order");
    let twice = app
        .count(
            "SELECT COUNT(*) FROM (SELECT seat FROM order_item WHERE show_id = ? GROUP BY seat HAVING COUNT(*) > 1) d",
            number,
        )
        .await;
    assert_eq!(twice, 0, "no seat in two orders");
    let [_, locked, sold, _] = app.seat_counts(show).await;
    assert_eq!(
        (locked, sold),
        (orders.len(), 0),
        "Redis has as many locks as there are orders"
    );
    (orders, refused)
}

/// Asks until the answer is not "busy", as the same submission.
async fn insist(customer: &Customer, show: ShowId, seat: u32) -> Answer<OrderNo> {
    let key = uuid::Uuid::new_v4().to_string();
    eventually("the server has time", || async {
        match customer.place_as(show, &[seat], &key).await {
            Err((_, AppError::Busy { .. })) => None,
            answer => Some(answer),
        }
    })
    .await
}

#[test]
fn a_thousand_callers_on_one_seat_make_exactly_one_order() {
    run(async {
        // Its own, so that nobody else hears "busy" meanwhile; these callers do, as from a deployed server.
        let app = &TestApp::start(&[("SEATFLOW_STORE_WAIT_MS", "1000")]).await;
        let (orders, refused) = storm(
            app,
            ShowSpec {
                seats: 1,
                ..ShowSpec::default()
            },
            |_| 0,
        )
        .await;
        assert_eq!((orders.len(), refused), (1, CALLERS - 1));
    });
}

#[test]
fn a_thousand_callers_on_a_hundred_seats_make_exactly_a_hundred_orders() {
    run(async {
        // Its own, so that nobody else hears "busy" meanwhile; these callers do, as from a deployed server.
        let app = &TestApp::start(&[("SEATFLOW_STORE_WAIT_MS", "1000")]).await;
        let spec = ShowSpec {
            seats: 100,
            ..ShowSpec::default()
        };
        let (orders, refused) =
            storm(app, spec, |caller| u32::try_from(caller % 100).unwrap_or(0)).await;
        assert_eq!((orders.len(), refused), (100, CALLERS - 100));
        let evidence = app.verify().await;
        println!("{}", evidence.table());
        for name in ["duplicate claims", "seats in more than one live order"] {
            let found = evidence
                .invariants
                .iter()
                .find(|invariant| invariant.name == name);
            assert_eq!(
                found.map(|invariant| invariant.violations),
                Some(0),
                "{name}"
            );
        }
    });
}

#[test]
fn opposite_seat_orders_do_not_block_each_other() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        for pair in 0..10 {
            let seats = [pair * 2, pair * 2 + 1];
            let reversed = [seats[1], seats[0]];
            let (one, other) = (app.customer().await, app.customer().await);
            let (a, b) = tokio::join!(one.place(show, &seats), other.place(show, &reversed));
            let winners = usize::from(a.is_ok()) + usize::from(b.is_ok());
            assert_eq!(winners, 1, "one of two gets both seats");
        }
    });
}

#[test]
fn two_clicks_with_one_key_make_one_order() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let (a, b) = tokio::join!(
            customer.place_as(show, &[3], "the-same-submission"),
            customer.place_as(show, &[3], "the-same-submission"),
        );
        let order_no = a.expect("the first click");
        assert_eq!(b.expect("the second click"), order_no);
        customer.until(order_no, OrderStatus::Pending).await;
        let again = customer.place_as(show, &[3], "the-same-submission").await;
        assert_eq!(again.expect("a late third click"), order_no);
        assert_eq!(app.seat_counts(show).await, [39, 1, 0, 0]);
    });
}
