//! Two payment channels side by side: an order is paid, closed and refunded through the one that it names, in that
//! channel's own words, and no channel has a say in the payments of another.

mod other_amount;
mod tally;

use crate::support::{Notice, ShowSpec, TestApp, eventually, headers_for, run};
use app::domain::{
    ids::OrderNo,
    order::{OrderStatus, RefundProgress},
    payment::PaymentStatus,
    seat::SeatState,
};
use reqwest::{StatusCode, header::HeaderMap};
use server::{clock::Clock, mysql::money::PaymentRecord, payment_channel::ChargeState};
use std::sync::Arc;
use tally::Tally;

/// An application whose new orders are paid through the tally office, beside the simulated gateway.
async fn shop() -> (TestApp, Arc<Tally>) {
    let office = Arc::new(Tally::default());
    let new_orders = Arc::clone(&office);
    let app = TestApp::start_through(&[], |channels| channels.changed_to(new_orders)).await;
    (app, office)
}

/// An attempt to pay an order.
async fn payment(app: &TestApp, order_no: OrderNo, attempt: usize) -> PaymentRecord {
    let mut payments = app
        .db()
        .payments_of_order(order_no)
        .await
        .expect("payments");
    payments.remove(attempt)
}

async fn send(app: &TestApp, channel: &str, headers: HeaderMap, body: Vec<u8>) -> StatusCode {
    let url = format!("{}/callbacks/payments/{channel}", app.base);
    let request = app.http.post(url).headers(headers).body(body);
    request.send().await.expect("an answer").status()
}

#[test]
fn an_order_is_paid_through_the_channel_that_it_names() {
    run(async {
        let (app, office) = shop().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        assert!(cashier.starts_with("https://tally.example/"), "{cashier}");
        let payment = payment(&app, order_no, 0).await;
        assert_eq!(payment.channel, tally::NAME);
        let entry = office.entry(&payment.out_trade_no).expect("an entry");
        assert_eq!(entry.amount, payment.amount);
        assert!(entry.notify_url.ends_with("/callbacks/payments/tally"));
        office.pay(&payment.out_trade_no);
        let now = app.clock.now();
        let body = tally::notice("paid", &payment.out_trade_no, payment.amount, now);
        let headers = tally::headers(&body, now);
        let mut altered = body.clone();
        altered[4] ^= 1;
        for (channel, body, expected) in [
            ("tally", altered, StatusCode::UNAUTHORIZED),
            ("simulated", body.clone(), StatusCode::UNAUTHORIZED),
            ("nobody", body.clone(), StatusCode::NOT_FOUND),
        ] {
            let answer = send(&app, channel, headers.clone(), body).await;
            assert_eq!(answer, expected, "{channel}");
        }
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        for _ in 0..2 {
            let answer = send(&app, "tally", headers.clone(), body.clone()).await;
            assert_eq!(answer, StatusCode::OK);
        }
        customer.until(order_no, OrderStatus::Paid).await;
        assert_eq!(app.seat(show, 1).await, SeatState::Sold);
        let postings = "SELECT COUNT(DISTINCT posting) FROM ledger_entry WHERE order_no = ?";
        assert_eq!(app.count(postings, order_no.as_i64()).await, 1);
    });
}

#[test]
fn a_channel_has_no_say_in_the_payments_of_another() {
    run(async {
        let (app, _) = shop().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        customer.start_paying(order_no).await.expect("a cashier");
        let payment = payment(&app, order_no, 0).await;
        // Rightly signed, by the wrong one.
        let notice = Notice::success(&payment.out_trade_no, payment.amount);
        let body = notice.body(app.clock.now());
        let headers = headers_for(&body, app.clock.now());
        let answer = send(&app, "simulated", headers, body).await;
        assert_eq!(answer, StatusCode::NOT_FOUND);
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        let recorded = "SELECT COUNT(*) FROM payment_callback WHERE 0 = ?";
        assert_eq!(app.count(recorded, 0).await, 0);
    });
}

#[test]
fn orders_from_before_a_change_of_channels_keep_theirs() {
    run(async {
        let (app, office) = shop().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let (before, after) = (
            customer.pending(show, &[1]).await,
            customer.pending(show, &[2]).await,
        );
        sqlx::query("UPDATE orders SET channel = 'simulated' WHERE order_no = ?")
            .bind(before.as_i64())
            .execute(app.db().pool())
            .await
            .expect("a database");
        let cashier = customer.start_paying(before).await.expect("a cashier");
        assert!(cashier.starts_with(&app.base), "{cashier}");
        customer.start_paying(after).await.expect("a cashier");
        customer.at_cashier(&cashier, "succeed").await;
        customer.until(before, OrderStatus::Paid).await;
        assert_eq!(customer.status(after).await, OrderStatus::Pending);
        assert_eq!(office.entries(), 1);
    });
}

#[test]
fn giving_an_order_up_asks_and_closes_its_own_channel() {
    run(async {
        let (app, office) = shop().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let (unpaid, paid) = (
            customer.pending(show, &[1]).await,
            customer.pending(show, &[2]).await,
        );
        for order_no in [unpaid, paid] {
            customer.start_paying(order_no).await.expect("a cashier");
        }
        // The office has the money of one and has not said so.
        office.pay(&payment(&app, paid, 0).await.out_trade_no);
        customer.cancel(unpaid).await.expect("given up");
        customer.cancel(paid).await.expect_err("it is paid");
        customer.until(paid, OrderStatus::Paid).await;
        let closed = payment(&app, unpaid, 0).await.out_trade_no;
        eventually("the office closed the payment", || async {
            let entry = office.entry(&closed)?;
            (entry.state == ChargeState::Closed).then_some(())
        })
        .await;
    });
}

#[test]
fn money_that_came_too_late_goes_back_through_the_channel_it_came_through() {
    run(async {
        let (app, office) = shop().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        customer.start_paying(order_no).await.expect("a cashier");
        customer.cancel(order_no).await.expect("given up");
        let payment_before = payment(&app, order_no, 0).await;
        let (number, amount) = (payment_before.out_trade_no, payment_before.amount);
        office.pay(&number);
        let now = app.clock.now();
        let late = tally::notice("paid", &number, amount, now);
        let answer = send(&app, "tally", tally::headers(&late, now), late).await;
        assert_eq!(answer, StatusCode::OK);
        let refund_no = format!("{number}-r1");
        eventually("the office was asked to give the money back", || async {
            let entry = office.entry(&number)?;
            (entry.refunds.get(&refund_no) == Some(&amount)).then_some(())
        })
        .await;
        eventually("the customer sees that it is on its way", || async {
            let attempt = customer.order(order_no).await.ok()?.payment?;
            (attempt.refund == Some(RefundProgress::Sent)).then_some(())
        })
        .await;
        let now = app.clock.now();
        let back = tally::refund_notice(&refund_no, &number, amount, now);
        let headers = tally::headers(&back, now);
        let answer = send(&app, "tally", headers, back).await;
        assert_eq!(answer, StatusCode::OK);
        let order = customer.order(order_no).await.expect("the order");
        let attempt = order.payment.expect("the attempt");
        assert_eq!(attempt.refund, Some(RefundProgress::Succeeded));
        assert_eq!(
            payment(&app, order_no, 0).await.status,
            PaymentStatus::Refunded
        );
        assert!(app.verify().await.is_clean());
    });
}
