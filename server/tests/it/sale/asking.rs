//! Asking the gateway instead of guessing, when its notices are late.

use crate::support::{ShowSpec, Stage, TestApp, run};
use app::domain::{
    order::{CancelReason, OrderStatus},
    seat::SeatState,
    time::Millis,
};

/// Notices that come after everything that these tests look at.
const LATE_NOTICES: &[(&str, &str)] = &[("outcome", "succeed"), ("delay_s", "600")];

#[test]
fn an_order_that_was_paid_a_moment_ago_is_not_closed_because_the_notice_is_late() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        customer.at_cashier_with(&cashier, LATE_NOTICES).await;
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        let closed = app
            .ticketing()
            .end_order(order_no, CancelReason::User)
            .await
            .expect("stores");
        assert!(!closed);
        assert_eq!(customer.status(order_no).await, OrderStatus::Paid);
        assert_eq!(app.seat(show, 1).await, SeatState::Sold);
        assert_eq!(refunds(&app, order_no.as_i64()).await, 0);
    });
}

#[test]
fn a_payment_near_its_end_is_asked_about_and_its_late_notice_changes_nothing_more() {
    run(async {
        let app = TestApp::start(&[]).await;
        let spec = ShowSpec {
            hold_for: Millis::seconds(120),
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        customer.at_cashier_with(&cashier, LATE_NOTICES).await;
        app.ticketing()
            .poll_payments_once()
            .await
            .expect("nothing is near its end");
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        app.clock.advance(Millis::seconds(110));
        app.ticketing().poll_payments_once().await.expect("stores");
        customer.until(order_no, OrderStatus::Paid).await;
        app.clock.advance(Millis::seconds(600));
        crate::support::eventually("the late notice was recorded, too", || async {
            let notices = app
                .count(
                    "SELECT COUNT(*) FROM payment_callback c JOIN payment p ON p.out_trade_no = c.out_trade_no \
                     WHERE p.order_no = ?",
                    order_no.as_i64(),
                )
                .await;
            (notices == 2).then_some(())
        })
        .await;
        assert_eq!(customer.status(order_no).await, OrderStatus::Paid);
        assert_eq!(refunds(&app, order_no.as_i64()).await, 0);
        assert_eq!(
            app.count(
                "SELECT COUNT(DISTINCT posting) FROM ledger_entry WHERE order_no = ?",
                order_no.as_i64()
            )
            .await,
            1
        );
    });
}

#[test]
fn a_gateway_that_is_away_does_not_keep_seats_locked() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[4]).await;
        stage.payment(&user, order_no).await;
        let closed = stage
            .ticketing
            .end_order(order_no, CancelReason::User)
            .await
            .expect("stores");
        assert!(closed);
        assert_eq!(stage.seat(show, 4).await, SeatState::Available);
    });
}

async fn refunds(app: &TestApp, order_no: i64) -> i64 {
    app.count("SELECT COUNT(*) FROM refund WHERE order_no = ?", order_no)
        .await
}
