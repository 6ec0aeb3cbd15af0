//! One customer's way, as a program goes it.

use crate::support::{ShowSpec, TestApp, eventually, run};
use app::domain::{
    hold::Refusal,
    ids::SeatIndex,
    money::{Currency, Money},
    order::{CancelReason, OrderPage, OrderStatus},
    payment::PaymentStatus,
    seat::SeatState,
};
use app::error::AppError;

#[test]
fn an_order_is_placed_paid_and_its_seats_are_sold() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.place(show, &[9, 10]).await.expect("an order");
        assert_eq!(app.seat(show, 9).await, SeatState::Locked);
        let order = customer.until(order_no, OrderStatus::Pending).await;
        // Seat 9 is of the dearer zone, seat 10 of the other.
        assert_eq!(order.total, Money::new(6_800 + 4_500, Currency::Cny));
        assert_eq!(
            order.items.iter().map(|item| item.seat).collect::<Vec<_>>(),
            [Some(SeatIndex(9)), Some(SeatIndex(10))]
        );
        let label = order.items[0].label.as_ref();
        assert_eq!(label.map(|label| label.number.as_str()), Some("10"));
        assert_eq!(customer.seats(show).await, [SeatIndex(9), SeatIndex(10)]);
        customer.pay(order_no).await;
        let order = customer.until(order_no, OrderStatus::Paid).await;
        assert!(order.paid.is_some());
        assert_eq!(
            order.payment.map(|attempt| attempt.status),
            Some(PaymentStatus::Success)
        );
        eventually("the seats are sold on the map", || async {
            (app.seat(show, 9).await == SeatState::Sold
                && app.seat(show, 10).await == SeatState::Sold)
                .then_some(())
        })
        .await;
        let number = order_no.as_i64();
        eventually("the database's copy is sold", || async {
            let sold = app
                .count(
                    "SELECT COUNT(*) FROM show_seat WHERE order_no = ? AND state = 2",
                    number,
                )
                .await;
            (sold == 2).then_some(())
        })
        .await;
        assert_eq!(
            app.count(
                "SELECT COUNT(*) FROM ledger_entry WHERE order_no = ?",
                number
            )
            .await,
            2
        );
        let late = customer
            .cancel(order_no)
            .await
            .expect_err("a paid order can't be given up");
        assert_eq!(late.1, AppError::OrderState);
    });
}

#[test]
fn a_second_buyer_cannot_hold_a_held_seat() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let (first, second) = (app.customer().await, app.customer().await);
        let order_no = first.pending(show, &[5]).await;
        let (status, error) = second.place(show, &[4, 5]).await.expect_err("a held seat");
        assert_eq!(status, 409);
        assert_eq!(
            error,
            Refusal::SeatsTaken {
                seats: vec![SeatIndex(5)]
            }
            .into()
        );
        assert_eq!(
            app.seat(show, 4).await,
            SeatState::Available,
            "nothing of the refused order is held"
        );
        first.cancel(order_no).await.expect("the first gives up");
        assert_eq!(
            first
                .order(order_no)
                .await
                .expect("the order stays")
                .cancel_reason,
            Some(CancelReason::User)
        );
        eventually("the seat is free", || async {
            (app.seat(show, 5).await == SeatState::Available).then_some(())
        })
        .await;
        second
            .place(show, &[4, 5])
            .await
            .expect("now both are free");
    });
}

#[test]
fn giving_up_twice_gives_back_once() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        // Seats of two zones: each must get back its own count.
        let order_no = customer.pending(show, &[8, 9, 10]).await;
        let (a, b) = tokio::join!(customer.cancel(order_no), customer.cancel(order_no));
        a.expect("once");
        b.expect("twice is no error");
        eventually("all seats are free", || async {
            (app.seat_counts(show).await == [40, 0, 0, 0]).then_some(())
        })
        .await;
        let page: app::domain::catalogue::ShowPage = customer
            .get(&format!("/api/catalogue/show?id={show}"))
            .await
            .expect("the show");
        let free: Vec<u32> = page.zones.iter().map(|zone| zone.seats_free).collect();
        assert_eq!(free, [10, 30]);
    });
}

#[test]
fn a_buyer_can_hold_as_many_seats_as_the_show_allows_and_no_more() {
    run(async {
        let app = TestApp::shared().await;
        let show = app
            .show(ShowSpec {
                limit: 2,
                ..ShowSpec::default()
            })
            .await;
        let customer = app.customer().await;
        let (_, error) = customer
            .place(show, &[1, 2, 3])
            .await
            .expect_err("three of two");
        assert!(
            matches!(
                error,
                AppError::Refused {
                    refusal: Refusal::LimitReached {
                        limit: 2,
                        have: 0,
                        ..
                    }
                }
            ),
            "{error:?}"
        );
        let order_no = customer.pending(show, &[1, 2]).await;
        let (_, error) = customer.place(show, &[3]).await.expect_err("a third");
        assert!(
            matches!(
                error,
                AppError::Refused {
                    refusal: Refusal::LimitReached { have: 2, .. }
                }
            ),
            "{error:?}"
        );
        customer.cancel(order_no).await.expect("a change of mind");
        eventually("the limit is free again", || async {
            customer.place(show, &[3]).await.ok()
        })
        .await;
    });
}

#[test]
fn orders_are_listed_newest_first_a_page_at_a_time() {
    run(async {
        let app = TestApp::shared().await;
        let show = app
            .show(ShowSpec {
                limit: 40,
                ..ShowSpec::default()
            })
            .await;
        let customer = app.customer().await;
        let mut placed = Vec::new();
        for seat in 0..25 {
            placed.push(customer.place(show, &[seat]).await.expect("an order"));
        }
        for order_no in &placed {
            customer.until(*order_no, OrderStatus::Pending).await;
        }
        placed.reverse();
        let first: OrderPage = customer.get("/api/orders/list").await.expect("a page");
        let before = first.next_before.expect("a second page");
        let second: OrderPage = customer
            .get(&format!("/api/orders/list?before={before}"))
            .await
            .expect("a page");
        assert_eq!(second.next_before, None);
        let listed: Vec<_> = first
            .orders
            .iter()
            .chain(&second.orders)
            .map(|order| order.order_no)
            .collect();
        assert_eq!(listed, placed);
    });
}
