//! Staff end orders that are not paid, by the one way by which every unpaid order ends.

use crate::support::{ShowSpec, TestApp, eventually, run};
use app::domain::{
    order::{CancelReason, OrderStatus},
    seat::SeatState,
    timeline::Happening,
};
use server::ticketing::cancel::CancelRefusal;

#[test]
fn an_order_that_staff_end_frees_its_seats_and_tells_its_buyer_who_ended_it() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[7]).await;
        app.ticketing()
            .cancel_by_staff(order_no)
            .await
            .expect("an order that awaits payment");
        let order = customer.order(order_no).await.expect("the own order");
        assert_eq!(order.status, OrderStatus::Cancelled);
        assert_eq!(order.cancel_reason, Some(CancelReason::Staff));
        let told = |reason| Happening::Cancelled { reason };
        assert!(
            order
                .timeline
                .iter()
                .any(|entry| entry.what == told(CancelReason::Staff))
        );
        assert_eq!(app.seat(show, 7).await, SeatState::Available);
        let again = app.ticketing().cancel_by_staff(order_no).await;
        assert!(
            matches!(
                again,
                Err(CancelRefusal::State {
                    status: OrderStatus::Cancelled,
                    ..
                })
            ),
            "{again:?}"
        );
    });
}

#[test]
fn a_paid_order_is_not_cancelled_by_staff() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[7]).await;
        customer.pay(order_no).await;
        customer.until(order_no, OrderStatus::Paid).await;
        let refused = app.ticketing().cancel_by_staff(order_no).await;
        let words = refused.expect_err("a paid order").to_string();
        assert!(words.contains("Paid"), "{words}");
        eventually("the seat is sold", || async {
            (app.seat(show, 7).await == SeatState::Sold).then_some(())
        })
        .await;
    });
}
