//! Refunds that the gateway refuses, fails, or takes its time over.

use super::{bought_with, confirmed, give_back, money_faults, paid, refunds_of, until_back, wish};
use crate::support::{ShowSpec, Stage, TestApp, headers_for, run};
use app::domain::{
    money::Money,
    order::{OrderStatus, RefundProgress},
    seat::SeatState,
    time::Millis,
};
use axum::http::StatusCode;
use server::{
    clock::Clock,
    gateway::wire::{Callback, CallbackKind, CallbackStatus},
    mysql::money::RefundFault,
};

#[test]
fn a_refused_refund_leaves_the_order_paid_and_succeeds_later() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        // As often as gives a slow machine some seconds to look at the refusal.
        let switches = [("refund_answer", "refuse"), ("refund_times", "4")];
        let order_no = bought_with(&customer, show, &[5, 6], &switches).await;
        let refund = give_back(&customer, order_no, &[0, 1])
            .await
            .expect("a refund");
        assert_eq!(refund.progress, RefundProgress::Failed, "visible at once");
        let order = customer.order(order_no).await.expect("the order");
        assert_eq!(order.status, OrderStatus::Paid);
        assert_eq!(refunds_of(&order), [Some(RefundProgress::Failed); 2]);
        assert!(order.is_refund_under_way());
        assert_eq!(
            app.seat(show, 5).await,
            SeatState::Sold,
            "the seats stay the customer's"
        );
        let order = customer.until(order_no, OrderStatus::Refunded).await;
        assert_eq!(refunds_of(&order), [Some(RefundProgress::Succeeded); 2]);
        let postings = "SELECT COUNT(*) FROM ledger_posting WHERE order_no = ?";
        assert_eq!(
            app.count(postings, order_no.as_i64()).await,
            3,
            "captured, owed and given back once each, however often it was tried"
        );
        assert_eq!(money_faults(app).await, [""; 0]);
    });
}

#[test]
fn a_refund_that_was_accepted_and_failed_is_tried_under_another_number() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let switches = [("refund_answer", "fail"), ("refund_times", "2")];
        let order_no = bought_with(&customer, show, &[5], &switches).await;
        let refund = give_back(&customer, order_no, &[0])
            .await
            .expect("a refund");
        customer.until(order_no, OrderStatus::Refunded).await;
        let known = app
            .db()
            .refund(&refund.refund_no)
            .await
            .expect("a database");
        let known = known.expect("the refund");
        assert_eq!(
            (known.attempt, known.status),
            (3, RefundProgress::Succeeded)
        );
        let tried: Vec<String> = sqlx::query_scalar(
            "SELECT refund_no FROM gw_refund WHERE out_trade_no = ? ORDER BY refund_no",
        )
        .bind(&known.out_trade_no)
        .fetch_all(app.db().pool())
        .await
        .expect("the gateway's rows");
        let base = &refund.refund_no;
        assert_eq!(
            tried,
            [base.clone(), format!("{base}-2"), format!("{base}-3")]
        );
        assert_eq!(money_faults(app).await, [""; 0]);
    });
}

#[test]
fn a_slow_refund_is_on_its_way_until_the_gateway_says_that_it_is_done() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = bought_with(&customer, show, &[5], &[("refund_delay_s", "300")]).await;
        let refund = give_back(&customer, order_no, &[0])
            .await
            .expect("a refund");
        assert_eq!(refund.progress, RefundProgress::Sent);
        assert_eq!(customer.status(order_no).await, OrderStatus::Paid);
        assert_eq!(app.seat(show, 5).await, SeatState::Sold);
        app.clock.advance(Millis::seconds(300));
        let order = until_back(&customer, order_no, 0).await;
        assert_eq!(order.status, OrderStatus::Refunded);
    });
}

/// What the gateway says about a refund.
fn notice(refund_no: &str, status: CallbackStatus, amount: Money, at_ms: i64) -> Vec<u8> {
    let (out_trade_no, _) = refund_no.split_once("-r").expect("a refund's number");
    let callback = Callback {
        callback_id: format!("cb_{}", uuid::Uuid::new_v4().simple()),
        kind: CallbackKind::Refund,
        out_trade_no: out_trade_no.to_owned(),
        third_trade_no: format!("gw_{out_trade_no}"),
        refund_no: Some(refund_no.to_owned()),
        status,
        amount_minor: amount.minor,
        currency: amount.currency,
        occurred_at_ms: at_ms,
    };
    serde_json::to_vec(&callback).expect("JSON")
}

async fn told(stage: &Stage, body: Vec<u8>) -> StatusCode {
    let headers = headers_for(&body, stage.clock.now());
    stage
        .ticketing
        .take_callback("simulated", &headers, &body)
        .await
}

async fn progress(stage: &Stage, refund_no: &str) -> (RefundProgress, u32) {
    let refund = stage.ticketing.db().refund(refund_no).await;
    let refund = refund.expect("a database").expect("a refund");
    (refund.status, refund.attempt)
}

#[test]
fn a_notice_about_a_refund_is_believed_only_for_its_amount_and_its_try() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let (order_no, payment) = paid(&stage, &user, show, &[5, 6]).await;
        let refund = stage
            .ticketing
            .refund_own(&user, wish(order_no, &[0]))
            .await
            .expect("a refund");
        let number = refund.refund_no;
        assert_eq!(number, format!("{}-r1", payment.out_trade_no));
        let now = stage.clock.now().0;
        let (back, failed) = (CallbackStatus::Succeeded, CallbackStatus::Failed);
        let more = Money::new(refund.amount.minor + 1, refund.amount.currency);
        assert_eq!(
            told(&stage, notice(&number, back, more, now)).await,
            StatusCode::OK
        );
        assert_eq!(progress(&stage, &number).await.0, RefundProgress::Requested);
        let evidence = stage.ticketing.verify().await.expect("stores");
        let open = evidence
            .invariants
            .iter()
            .find(|i| i.name == "open discrepancies");
        assert_eq!(
            open.map(|open| open.violations),
            Some(1),
            "the other amount is noted"
        );

        let amount = refund.amount;
        for _ in 0..2 {
            assert_eq!(
                told(&stage, notice(&number, failed, amount, now)).await,
                StatusCode::OK
            );
            assert_eq!(progress(&stage, &number).await, (RefundProgress::Failed, 2));
        }
        let unknown = notice(&format!("{}-r7", payment.out_trade_no), back, amount, now);
        assert_eq!(told(&stage, unknown).await, StatusCode::NOT_FOUND);
        let second = format!("{number}-2");
        for _ in 0..2 {
            assert_eq!(
                told(&stage, notice(&second, back, amount, now)).await,
                StatusCode::OK
            );
            assert_eq!(progress(&stage, &number).await.0, RefundProgress::Succeeded);
        }
        assert_eq!(
            told(&stage, notice(&second, failed, amount, now)).await,
            StatusCode::OK
        );
        assert_eq!(progress(&stage, &number).await.0, RefundProgress::Succeeded);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn a_refund_that_nobody_sends_or_hears_of_is_found() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let (order_no, _) = paid(&stage, &user, show, &[5]).await;
        let refund = stage
            .ticketing
            .refund_own(&user, wish(order_no, &[0]))
            .await
            .expect("a refund");
        let (db, number) = (stage.ticketing.db(), refund.refund_no);
        let money = async || {
            let found = stage.ticketing.find_all().await.expect("stores");
            let of_money = found
                .into_iter()
                .filter(|found| found.class.word() == "money");
            of_money.map(|found| found.detail).collect::<Vec<_>>()
        };
        stage.clock.advance(Millis::minutes(1));
        assert_eq!(money().await, [""; 0], "the outbox is at it");
        sqlx::query("DELETE FROM outbox WHERE kind = 'refund.send'")
            .execute(db.pool())
            .await
            .expect("a database");
        assert_eq!(
            money().await,
            [format!("refund {number} is not on its way")]
        );
        db.refund_sent(&number, stage.clock.now())
            .await
            .expect("a database");
        assert_eq!(money().await, [""; 0], "the gateway is at it");
        stage.clock.advance(Millis::minutes(11));
        let silent =
            format!("refund {number} was accepted long ago; the gateway knows what became of it");
        assert_eq!(money().await, [silent]);
        // What is known to have failed is not moved back by an answer that comes late.
        let now = stage.clock.now();
        let fault = RefundFault::Failed;
        db.refund_not_done(&number, fault, "no", now)
            .await
            .expect("a database");
        db.refund_sent(&number, now).await.expect("a database");
        assert_eq!(progress(&stage, &number).await, (RefundProgress::Failed, 2));
        confirmed(&stage, &format!("{number}-2")).await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Refunded));
    });
}
