//! Money that comes too late, in another amount than was asked for, or is not given back at once.

use super::stories::LANGUAGES;
use crate::support::{Customer, ShowSpec, TestApp, eventually, reconcile, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::{CancelReason, OrderStatus, RefundProgress},
    payment::PaymentStatus,
    seat::SeatState,
    time::Millis,
};

/// A success that the gateway keeps back until the payment is closed.
const AFTER_CLOSE: &[(&str, &str)] = &[("outcome", "succeed"), ("after_close", "on")];

/// How far the refund of an order's newest payment has come.
async fn refund(customer: &Customer, order_no: OrderNo) -> Option<RefundProgress> {
    let order = customer.order(order_no).await.expect("the order");
    order.payment.and_then(|attempt| attempt.refund)
}

/// An order of seat 1 that its buyer has paid at the cashier, of which nothing is heard before the order's end.
async fn paid_in_secret(app: &TestApp, switches: &[(&str, &str)]) -> (Customer, ShowId, OrderNo) {
    let show = app.show(ShowSpec::default()).await;
    let customer = app.customer().await;
    let order_no = customer.pending(show, &[1]).await;
    let cashier = customer.start_paying(order_no).await.expect("a cashier");
    let all: Vec<_> = AFTER_CLOSE.iter().chain(switches).copied().collect();
    customer.at_cashier_with(&cashier, &all).await;
    (customer, show, order_no)
}

#[test]
fn a_card_charged_after_the_seats_went_to_somebody_else_is_given_back_and_nobody_is_asked_to_pay_again()
 {
    run(async {
        let app = TestApp::start(&[]).await;
        let (customer, show, order_no) = paid_in_secret(&app, &[("delay_s", "600")]).await;
        app.clock.advance(Millis::minutes(15));
        let order = customer.until(order_no, OrderStatus::Cancelled).await;
        assert_eq!(order.cancel_reason, Some(CancelReason::Timeout));
        let winner = app.customer().await;
        let theirs = eventually("the seat is on sale again", || async {
            winner.place(show, &[1]).await.ok()
        })
        .await;
        winner.until(theirs, OrderStatus::Pending).await;
        winner.pay(theirs).await;
        winner.until(theirs, OrderStatus::Paid).await;
        app.clock.advance(Millis::seconds(600));
        eventually("the money is back", || async {
            let progress = refund(&customer, order_no).await;
            (progress == Some(RefundProgress::Succeeded)).then_some(())
        })
        .await;
        assert_eq!(customer.status(order_no).await, OrderStatus::Cancelled);
        assert_eq!(winner.status(theirs).await, OrderStatus::Paid);
        assert_eq!(app.seat(show, 1).await, SeatState::Sold);
        for language in LANGUAGES {
            let page = customer
                .page(&format!("/orders/{order_no}"), language.accept)
                .await;
            assert!(page.contains(language.too_late), "{page}");
            assert!(page.contains("¥68.00"), "{page}");
            for invitation in ["/api/payments/start", language.pay, language.choose_again] {
                assert!(!page.contains(invitation), "{invitation} in {page}");
            }
        }
        customer
            .start_paying(order_no)
            .await
            .expect_err("there is nothing to pay");
        assert!(app.verify().await.is_clean());
    });
}

#[test]
fn a_page_that_said_failed_before_the_success_leads_nobody_into_paying_twice() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        let fields = [
            ("outcome", "fail"),
            ("failed_page", "on"),
            ("delay_s", "600"),
        ];
        customer.at_cashier_with(&cashier, &fields).await;
        let order = customer.order(order_no).await.expect("the order");
        let attempt = order.payment.map(|attempt| attempt.status);
        assert_eq!(attempt, Some(PaymentStatus::Paying));
        for language in LANGUAGES {
            let page = customer
                .page(&format!("/orders/{order_no}"), language.accept)
                .await;
            assert!(page.contains(language.processing), "{page}");
            assert!(!page.contains(language.failed), "{page}");
        }
        let again = customer.start_paying(order_no).await.expect("a cashier");
        assert_eq!(
            again, cashier,
            "the way leads back to the attempt under way"
        );
        app.clock.advance(Millis::seconds(600));
        customer.until(order_no, OrderStatus::Paid).await;
        let attempts = "SELECT COUNT(*) FROM payment WHERE order_no = ?";
        assert_eq!(app.count(attempts, order_no.as_i64()).await, 1);
        assert_eq!(refund(&customer, order_no).await, None);
    });
}

#[test]
fn a_refund_that_the_gateway_refuses_is_seen_and_repeated_until_it_succeeds() {
    run(async {
        let app = TestApp::start(&[]).await;
        // As often as gives a slow machine half a minute to look at the refusal.
        let switches = [("refund_answer", "refuse"), ("refund_times", "6")];
        let (customer, _, order_no) = paid_in_secret(&app, &switches).await;
        customer.cancel(order_no).await.expect("given up");
        eventually("the refusal is seen", || async {
            let progress = refund(&customer, order_no).await;
            (progress == Some(RefundProgress::Failed)).then_some(())
        })
        .await;
        let order = customer.order(order_no).await.expect("the order");
        assert_eq!(order.status, OrderStatus::Cancelled);
        let attempt = order.payment.map(|attempt| attempt.status);
        assert_eq!(attempt, Some(PaymentStatus::Success), "not refunded");
        let open = "SELECT COUNT(*) FROM discrepancy WHERE order_no = ? AND resolved_at IS NULL";
        assert_eq!(app.count(open, order_no.as_i64()).await, 1);
        for language in LANGUAGES {
            let page = customer
                .page(&format!("/orders/{order_no}"), language.accept)
                .await;
            assert!(page.contains(language.refused), "{page}");
        }
        eventually("the seventh try succeeds", || async {
            app.clock.advance(Millis::seconds(5));
            let progress = refund(&customer, order_no).await;
            (progress == Some(RefundProgress::Succeeded)).then_some(())
        })
        .await;
        assert_eq!(app.count(open, order_no.as_i64()).await, 0);
        let refunds = "SELECT COUNT(*) FROM gw_refund r JOIN gw_payment p ON p.third_trade_no = r.third_trade_no \
             WHERE p.out_trade_no = CONCAT(?, '-1')";
        assert_eq!(app.count(refunds, order_no.as_i64()).await, 1);
    });
}

#[test]
fn a_notice_of_another_amount_moves_nothing_until_the_gateway_is_asked_and_says_the_right_one() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        let fields = [("outcome", "succeed"), ("wrong_amount", "on")];
        customer.at_cashier_with(&cashier, &fields).await;
        let doubts = || async {
            let open = "SELECT COUNT(*) FROM discrepancy WHERE order_no = ? AND kind = 'wrong_amount' \
                 AND resolved_at IS NULL";
            app.count(open, order_no.as_i64()).await
        };
        eventually("a person can see it", || async {
            (doubts().await == 1).then_some(())
        })
        .await;
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        assert_eq!(app.seat(show, 1).await, SeatState::Locked);
        app.clock.advance(Millis::seconds(30));
        assert_eq!(reconcile(app.ticketing()).await.repaired, 1);
        let order = customer.until(order_no, OrderStatus::Paid).await;
        let attempt = order.payment.map(|attempt| attempt.status);
        assert_eq!(attempt, Some(PaymentStatus::Success));
        assert_eq!(doubts().await, 0);
        assert!(app.verify().await.is_clean());
    });
}
