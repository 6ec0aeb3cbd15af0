//! Buying without choosing.

mod rush;

use crate::support::{Customer, ShowSpec, TestApp, eventually, run};
use app::{
    domain::{
        catalogue::ShowPage,
        hold::Refusal,
        ids::{SeatIndex, ShowId, ZoneId},
        order::OrderStatus,
    },
    error::AppError,
};
use std::{collections::BTreeSet, sync::Arc};
use tokio::sync::Barrier;

/// The two zones of a test's show, the dearer first.
async fn zones(customer: &Customer, show: ShowId) -> Vec<ZoneId> {
    let page: ShowPage = customer
        .get(&format!("/api/catalogue/show?id={show}"))
        .await
        .expect("the show");
    page.zones.iter().map(|zone| zone.id).collect()
}

#[test]
fn the_best_seats_are_together_in_one_row_of_the_zone() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let back = zones(&customer, show).await[1];
        let order_no = customer.place_best(show, back, 3).await.expect("an order");
        let order = customer.until(order_no, OrderStatus::Pending).await;
        let seats: Vec<u32> = order
            .items
            .iter()
            .filter_map(|item| Some(item.seat?.0))
            .collect();
        assert!(seats[0] >= 10, "of the cheaper zone: {seats:?}");
        assert!(
            seats.windows(2).all(|pair| pair[1] == pair[0] + 1),
            "side by side: {seats:?}"
        );
        let rows: BTreeSet<&str> = order
            .items
            .iter()
            .filter_map(|item| Some(item.label.as_ref()?.row.as_str()))
            .collect();
        assert_eq!(rows.len(), 1);
        // Asking again within the guard's time is the same wish, and is answered with its order.
        let (_, again) = customer
            .place_best(show, back, 3)
            .await
            .expect_err("the order is there");
        let refusal = Refusal::AlreadyPlaced { order_no };
        assert_eq!(again, AppError::Refused { refusal });
    });
}

#[test]
fn a_rush_for_the_best_seats_ends_with_every_seat_sold_and_no_error_before() {
    run(async {
        let app = TestApp::shared().await;
        let show = app
            .show(ShowSpec {
                seats: 60,
                front_seats: 0,
                ..ShowSpec::default()
            })
            .await;
        let first = app.customer().await;
        let zone = zones(&first, show).await[1];
        let barrier = Arc::new(Barrier::new(40));
        let mut callers = Vec::new();
        for _ in 0..40 {
            let (customer, barrier) = (app.customer().await, Arc::clone(&barrier));
            callers.push(tokio::spawn(async move {
                barrier.wait().await;
                customer.place_best(show, zone, 2).await
            }));
        }
        let (mut held, mut sold_out) = (0, 0);
        for caller in callers {
            match caller.await.expect("a caller") {
                Ok(_) => held += 1,
                Err((
                    _,
                    AppError::Refused {
                        refusal: Refusal::ZoneSoldOut { .. },
                    },
                )) => sold_out += 1,
                Err(other) => panic!("neither seats nor sold out: {other:?}"),
            }
        }
        assert_eq!((held, sold_out), (30, 10), "sixty seats are thirty pairs");
        eventually("every seat is held", || async {
            (app.seat_counts(show).await == [0, 60, 0, 0]).then_some(())
        })
        .await;
    });
}

#[test]
fn wishes_for_the_best_that_make_no_sense_are_refused_by_name() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let front = zones(&customer, show).await[0];
        let unknown = ZoneId(999_999);
        for (zone, quantity, expected) in [
            (front, 0, Refusal::NoSeats),
            (front, 21, Refusal::TooManySeats { limit: 20 }),
            (unknown, 1, Refusal::UnknownZone { zone: unknown }),
            (front, 11, Refusal::ZoneSoldOut { zone: front }),
        ] {
            let (_, error) = customer
                .place_best(show, zone, quantity)
                .await
                .expect_err("nonsense");
            assert_eq!(error, expected.into());
        }
        assert_eq!(app.map(show).await.at.version, 0);
        assert_eq!(customer.seats(show).await, Vec::<SeatIndex>::new());
    });
}
