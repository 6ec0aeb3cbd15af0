//! A channel that takes another amount than it was asked for.

use super::{payment, send, shop, tally};
use crate::support::{ShowSpec, TestApp, eventually, run};
use app::domain::{
    ids::OrderNo,
    money::{Currency, Money},
    order::{OrderStatus, RefundProgress},
    payment::PaymentStatus,
    refund::RefundReason,
    time::Millis,
};
use reqwest::StatusCode;
use server::{clock::Clock, mysql::money::EndRefusal, ticketing::discrepancies::EndError};

async fn discrepancies(app: &TestApp) -> Vec<(String, String)> {
    let open = app.ticketing().discrepancies(false, 50).await;
    let open = open.expect("a database").into_iter();
    open.map(|one| (one.kind, one.detail)).collect()
}

async fn posted(app: &TestApp, order_no: OrderNo, account: &'static str) -> i64 {
    sqlx::query_scalar(
        "SELECT CAST(COALESCE(SUM(amount_minor), 0) AS SIGNED) FROM ledger_entry WHERE order_no = ? AND account = ?",
    )
    .bind(order_no.as_i64())
    .bind(account)
    .fetch_one(app.db().pool())
    .await
    .expect("a database")
}

#[test]
fn another_amount_that_was_really_taken_goes_back_exactly_and_pays_nothing() {
    run(async {
        for other in [
            Money::new(6_799, Currency::Cny),
            Money::new(9_900, Currency::Cny),
            Money::new(950, Currency::Usd),
        ] {
            let (app, office) = shop().await;
            let show = app.show(ShowSpec::default()).await;
            let customer = app.customer().await;
            let order_no = customer.pending(show, &[1]).await;
            customer.start_paying(order_no).await.expect("a cashier");
            let number = payment(&app, order_no, 0).await.out_trade_no;
            office.take(&number, other);
            // Told by a notice it is not believed; asked, the office says the same.
            let now = app.clock.now();
            let told = tally::notice("paid", &number, other, now);
            let answer = send(&app, "tally", tally::headers(&told, now), told).await;
            assert_eq!(answer, StatusCode::OK);
            assert_eq!(discrepancies(&app).await[0].0, "wrong_amount");
            app.clock.advance(Millis::seconds(11));
            app.ticketing().reconcile().await.expect("stores");

            let taken = payment(&app, order_no, 0).await;
            assert_eq!(taken.status, PaymentStatus::Success);
            assert_eq!(taken.captured(), other);
            assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
            assert_eq!(posted(&app, order_no, "gateway").await, other.minor);
            assert_eq!(posted(&app, order_no, "sales").await, 0);
            assert_eq!(posted(&app, order_no, "discrepancy").await, 0);
            let refund_no = format!("{number}-r1");
            let entry = office.entry(&number).expect("an entry");
            assert_eq!(entry.refunds.get(&refund_no), Some(&other), "exactly that");
            let open = discrepancies(&app).await;
            assert_eq!(open.len(), 1, "{open:?}");
            assert_eq!(open[0].0, "other_amount", "and a person sees it");
            let order = customer.order(order_no).await.expect("the order");
            assert_eq!(order.refunds[0].reason, RefundReason::OtherAmount);
            assert_eq!(order.refunds[0].amount, other);

            // Nobody repairs it for ever, and nobody ends it while money is owed.
            app.clock.advance(Millis::seconds(11));
            let round = app.ticketing().reconcile().await.expect("stores");
            assert!(round.is_none_or(|round| round.findings.is_empty()));
            let id = app.ticketing().discrepancies(false, 1).await;
            let id = id.expect("a database")[0].id;
            let ended = app.ticketing().end_discrepancy(id, "ops", "by hand").await;
            assert!(
                matches!(ended, Err(EndError::Refused(EndRefusal::MoneyOwed))),
                "{ended:?}"
            );

            // The customer pays the right amount meanwhile.
            customer.start_paying(order_no).await.expect("another try");
            let second = payment(&app, order_no, 1).await;
            office.pay(&second.out_trade_no);
            let now = app.clock.now();
            let paid = tally::notice("paid", &second.out_trade_no, second.amount, now);
            let answer = send(&app, "tally", tally::headers(&paid, now), paid).await;
            assert_eq!(answer, StatusCode::OK);
            customer.until(order_no, OrderStatus::Paid).await;
            let now = app.clock.now();
            let back = tally::refund_notice(&refund_no, &number, other, now);
            let answer = send(&app, "tally", tally::headers(&back, now), back).await;
            assert_eq!(answer, StatusCode::OK);
            let order = customer.order(order_no).await.expect("the order");
            assert_eq!(order.refunds[0].progress, RefundProgress::Succeeded);
            assert_eq!(
                payment(&app, order_no, 0).await.status,
                PaymentStatus::Refunded
            );
            eventually("everything is clean", || async {
                app.verify().await.is_clean().then_some(())
            })
            .await;
        }
    });
}

#[test]
fn a_channel_that_contradicts_itself_waits_for_a_person_who_ends_it_with_a_note() {
    run(async {
        let (app, office) = shop().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        customer.start_paying(order_no).await.expect("a cashier");
        let payment = payment(&app, order_no, 0).await;
        let (number, amount) = (payment.out_trade_no, payment.amount);
        let other = Money::new(amount.minor - 1, amount.currency);
        let now = app.clock.now();
        office.take(&number, other);
        for told in [amount, other] {
            let told = tally::notice("paid", &number, told, now);
            let answer = send(&app, "tally", tally::headers(&told, now), told).await;
            assert_eq!(answer, StatusCode::OK);
        }
        customer.until(order_no, OrderStatus::Paid).await;
        app.clock.advance(Millis::seconds(11));
        app.ticketing().reconcile().await.expect("stores");
        let open = app.ticketing().discrepancies(false, 50).await;
        let open = open.expect("a database");
        assert_eq!(open.len(), 1, "{open:?}");
        assert_eq!(open[0].kind, "two_amounts");
        let repairs = app.db().repairs(100).await.expect("a database").len();
        for _ in 0..3 {
            app.clock.advance(Millis::seconds(11));
            app.ticketing().reconcile().await.expect("stores");
        }
        let now_there = app.db().repairs(100).await.expect("a database").len();
        assert_eq!(now_there, repairs, "nothing is repaired again and again");
        let id = open[0].id;
        let shop = app.ticketing();
        let without = shop.end_discrepancy(id, "ops", "  ").await;
        assert!(matches!(without, Err(EndError::Note)), "{without:?}");
        let note = "the office confirmed the first amount";
        shop.end_discrepancy(id, "ops", note).await.expect("ended");
        let again = shop.end_discrepancy(id, "ops", note).await;
        assert!(
            matches!(again, Err(EndError::Refused(EndRefusal::Over))),
            "{again:?}"
        );
        let noted = app.db().repairs(1).await.expect("a database");
        assert!(noted[0].detail.contains(note), "{}", noted[0].detail);
        assert!(app.verify().await.is_clean());
    });
}
