//! Money that the gateway took after an order was over, when no notice of it ever arrives.

use crate::support::{Customer, ShowSpec, TestApp, eventually, run};
use app::domain::{
    ids::OrderNo,
    order::{OrderStatus, RefundProgress},
    time::Millis,
};

/// The money is taken once the payment is closed, and every notice of it is signed wrongly until the gateway gives up.
const UNHEARD: &[(&str, &str)] = &[
    ("outcome", "succeed"),
    ("after_close", "on"),
    ("wrong_signature", "on"),
    ("faulty_attempts", "1000"),
];

async fn is_back(app: &TestApp, customer: &Customer, order_no: OrderNo) {
    eventually("the money is back", || async {
        app.clock.advance(Millis::minutes(20));
        let gateway = app.running.gateway.as_ref().expect("a gateway");
        gateway.deliver_due().await.expect("the gateway");
        app.ticketing().reconcile().await.expect("stores");
        let attempt = customer.order(order_no).await.ok()?.payment?;
        (attempt.refund == Some(RefundProgress::Succeeded)).then_some(())
    })
    .await;
    let applied = "SELECT COUNT(*) FROM payment_callback c JOIN payment p ON p.out_trade_no = c.out_trade_no \
         WHERE p.order_no = ? AND c.callback_id NOT LIKE 'query:%' AND c.callback_id NOT LIKE '%-r1%' \
         AND c.result = 'late'";
    assert_eq!(
        app.count(applied, order_no.as_i64()).await,
        0,
        "no notice came"
    );
    let sum = "SELECT CAST(SUM(amount_minor) AS SIGNED) FROM ledger_entry WHERE order_no = ? AND account = 'gateway'";
    assert_eq!(app.count(sum, order_no.as_i64()).await, 0);
    let evidence = app.verify().await;
    assert!(evidence.is_clean(), "{}", evidence.table());
}

#[test]
fn money_taken_after_the_order_was_given_up_goes_back_though_no_notice_ever_comes() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        customer.at_cashier_with(&cashier, UNHEARD).await;
        customer.cancel(order_no).await.expect("given up");
        assert_eq!(customer.status(order_no).await, OrderStatus::Cancelled);
        is_back(&app, &customer, order_no).await;
    });
}

#[test]
fn money_taken_for_a_declined_attempt_goes_back_though_no_notice_ever_comes() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let first = customer.start_paying(order_no).await.expect("a cashier");
        customer.at_cashier_with(&first, UNHEARD).await;
        // The shop was told that it failed, by mistake; the customer pays with another attempt.
        sqlx::query("UPDATE payment SET status = 4, ask_at = update_time WHERE order_no = ?")
            .bind(order_no.as_i64())
            .execute(app.db().pool())
            .await
            .expect("a database");
        customer.pay(order_no).await;
        customer.until(order_no, OrderStatus::Paid).await;
        eventually("the second money is back", || async {
            app.clock.advance(Millis::minutes(20));
            let gateway = app.running.gateway.as_ref().expect("a gateway");
            gateway.deliver_due().await.expect("the gateway");
            app.ticketing().reconcile().await.expect("stores");
            let back = "SELECT COUNT(*) FROM refund WHERE order_no = ? AND status = 3 AND reason = 'second_payment'";
            (app.count(back, order_no.as_i64()).await == 1).then_some(())
        })
        .await;
        assert_eq!(customer.status(order_no).await, OrderStatus::Paid);
        let evidence = app.verify().await;
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn asking_about_payments_that_are_over_ends_after_some_days_and_counts_as_no_repair() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        customer.start_paying(order_no).await.expect("a cashier");
        customer.cancel(order_no).await.expect("given up");
        let asked = "SELECT CAST(asked_times AS SIGNED) FROM payment WHERE order_no = ?";
        let planned = "SELECT COUNT(ask_at) FROM payment WHERE order_no = ?";
        assert_eq!(app.count(planned, order_no.as_i64()).await, 1);
        for _ in 0..40 {
            app.clock.advance(Millis::minutes(4 * 60));
            let round = app.ticketing().reconcile().await.expect("stores");
            let found = round.map(|round| round.findings.len());
            assert!(found.is_none_or(|found| found == 0), "nothing was new");
        }
        let times = app.count(asked, order_no.as_i64()).await;
        assert!((4..=8).contains(&times), "asked {times} times");
        assert_eq!(app.count(planned, order_no.as_i64()).await, 0, "no more");
        let repairs = "SELECT COUNT(*) FROM reconciliation_entry WHERE order_no = ?";
        assert_eq!(app.count(repairs, order_no.as_i64()).await, 0);
    });
}
