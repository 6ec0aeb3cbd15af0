//! Attempts to pay, and the gateway's notices about them.

use crate::support::{Notice, ShowSpec, Stage, TestApp, eventually, headers_for, run};
use app::{
    domain::{
        money::Money,
        order::{CancelReason, OrderStatus, RefundProgress},
        payment::PaymentStatus,
        seat::SeatState,
        time::Millis,
    },
    error::AppError,
};
use axum::http::{HeaderMap, StatusCode};
use server::clock::Clock;

#[test]
fn a_failed_payment_leaves_the_order_and_the_next_attempt_is_a_real_one() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let first = customer.start_paying(order_no).await.expect("a cashier");
        assert_eq!(
            customer.start_paying(order_no).await.expect("the same one"),
            first
        );
        customer.at_cashier(&first, "fail").await;
        eventually("the attempt failed", || async {
            let order = customer.order(order_no).await.ok()?;
            (order.payment?.status == PaymentStatus::Failed).then_some(())
        })
        .await;
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        assert_eq!(app.seat(show, 1).await, SeatState::Locked);
        let second = customer
            .start_paying(order_no)
            .await
            .expect("another cashier");
        assert_ne!(first, second);
        customer.at_cashier(&second, "succeed").await;
        customer.until(order_no, OrderStatus::Paid).await;
        let attempts = app
            .db()
            .payments_of_order(order_no)
            .await
            .expect("a database");
        let states: Vec<_> = attempts.iter().map(|payment| payment.status).collect();
        assert_eq!(states, [PaymentStatus::Failed, PaymentStatus::Success]);
    });
}

#[test]
fn four_clicks_on_pay_open_one_payment() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let (a, b, c, d) = tokio::join!(
            customer.start_paying(order_no),
            customer.start_paying(order_no),
            customer.start_paying(order_no),
            customer.start_paying(order_no),
        );
        let first = a.expect("a cashier");
        for other in [b, c, d] {
            assert_eq!(other.expect("a cashier"), first);
        }
        assert_eq!(
            app.count(
                "SELECT COUNT(*) FROM payment WHERE order_no = ?",
                order_no.as_i64()
            )
            .await,
            1
        );
    });
}

#[test]
fn money_for_an_expired_order_goes_back_by_itself() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        customer.start_paying(order_no).await.expect("a cashier");
        let payment = app
            .db()
            .payments_of_order(order_no)
            .await
            .expect("a database")
            .remove(0);
        app.ticketing()
            .end_order(order_no, CancelReason::User)
            .await
            .expect("stores");
        // The customer was faster at the gateway than our wish to close the payment there.
        let notice = Notice {
            third_trade_no: payment.third_trade_no.expect("the gateway knows it"),
            ..Notice::success(&payment.out_trade_no, payment.amount)
        };
        let body = notice.body(app.clock.now());
        let headers = headers_for(&body, app.clock.now());
        let url = format!("{}/callbacks/payments/simulated", app.base);
        let answer = app
            .http
            .post(&url)
            .headers(headers.clone())
            .body(body.clone())
            .send()
            .await;
        assert_eq!(
            answer.expect("an answer").status(),
            200,
            "recorded, so that it is not repeated for days"
        );
        let order = customer
            .order(order_no)
            .await
            .expect("the order stays visible");
        assert_eq!(order.status, OrderStatus::Cancelled);
        assert!(
            order.payment.expect("the attempt").refund.is_some(),
            "the customer sees the refund"
        );
        let again = app.http.post(&url).headers(headers).body(body).send().await;
        assert_eq!(again.expect("an answer").status(), 200);
        let number = order_no.as_i64();
        assert_eq!(
            app.count("SELECT COUNT(*) FROM refund WHERE order_no = ?", number)
                .await,
            1,
            "one refund"
        );
        assert_eq!(
            app.count(
                "SELECT CAST(SUM(amount_minor) AS SIGNED) FROM ledger_entry WHERE order_no = ?",
                number
            )
            .await,
            0
        );
        assert_eq!(app.seat(show, 1).await, SeatState::Available);
        let refused = customer
            .start_paying(order_no)
            .await
            .expect_err("it can't be paid again");
        assert_eq!(refused.1, AppError::OrderState);
    });
}

#[test]
fn money_taken_after_the_order_was_given_up_is_back_at_the_gateway_too() {
    run(async {
        // What the order's end leaves to the outbox waits until the customer has paid.
        let settings = [("SEATFLOW_OUTBOX_EVERY_MS", "3600000")];
        let app = TestApp::start(&settings).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        // The order ends in the database, but the gateway has not heard of it when the customer pays.
        let now = app.clock.now();
        let reason = CancelReason::User;
        app.db()
            .cancel_order(order_no, reason, now)
            .await
            .expect("a database")
            .expect("pending");
        customer.at_cashier(&cashier, "succeed").await;
        eventually("the refund has succeeded at the gateway", || async {
            app.ticketing().settle_due().await.expect("stores");
            let attempt = customer.order(order_no).await.ok()?.payment?;
            (attempt.refund == Some(RefundProgress::Succeeded)).then_some(())
        })
        .await;
        let evidence = app.verify().await;
        let open = evidence
            .invariants
            .iter()
            .find(|found| found.name == "open discrepancies");
        assert_eq!(
            open.map(|found| found.violations),
            Some(0),
            "put right by the refund"
        );
        let number = order_no.as_i64();
        let sum = "SELECT CAST(SUM(amount_minor) AS SIGNED) FROM ledger_entry WHERE order_no = ? AND account = 'gateway'";
        assert_eq!(
            app.count(sum, number).await,
            0,
            "what was captured was given back"
        );
    });
}

/// A pending order with an open payment, and what a gateway's success for it looks like.
async fn payable(stage: &Stage) -> (app::domain::ids::OrderNo, Notice) {
    let show = stage.show(ShowSpec::default()).await;
    let user = stage.user().await;
    let order_no = stage.pending(&user, show, &[1]).await;
    let payment = stage.payment(&user, order_no).await;
    (
        order_no,
        Notice::success(&payment.out_trade_no, payment.amount),
    )
}

#[test]
fn a_notice_of_other_money_moves_nothing_and_one_that_comes_first_is_believed() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, notice) = payable(&stage).await;
        let tell = async |notice: &Notice| {
            let now = stage.clock.now();
            let body = notice.body(now);
            let headers = headers_for(&body, now);
            let answer = stage
                .ticketing
                .take_callback("simulated", &headers, &body)
                .await;
            assert_eq!(answer, StatusCode::OK, "it is recorded");
        };
        let open = async || {
            let now = stage.clock.now();
            let counts = stage.ticketing.db().counts(now).await;
            counts.expect("a database").open_discrepancies
        };
        tell(&Notice {
            third_trade_no: "gw_of_other_money".to_owned(),
            ..notice.clone()
        })
        .await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        assert_eq!(open().await, 1, "a person can see it");
        tell(&Notice {
            callback_id: "cb_of_its_own_money".to_owned(),
            ..notice
        })
        .await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        assert_eq!(open().await, 1, "until the gateway is asked");

        // The answer to this charge was lost: nobody knows the gateway's number until its notice comes.
        let (order_no, notice) = payable(&stage).await;
        sqlx::query("UPDATE payment SET status = 1, third_trade_no = NULL WHERE order_no = ?")
            .bind(order_no.as_i64())
            .execute(stage.ticketing.db().pool())
            .await
            .expect("a database");
        tell(&notice).await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        let known = stage.ticketing.db().payment(&notice.out_trade_no).await;
        let known = known.expect("a database").expect("the payment");
        assert_eq!(known.third_trade_no, Some(notice.third_trade_no));
    });
}

#[test]
fn an_altered_stale_or_unsigned_notice_changes_nothing() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, notice) = payable(&stage).await;
        let now = stage.clock.now();
        let body = notice.body(now);
        let mut altered = body.clone();
        let last = altered.len() - 2;
        altered[last] = altered[last].wrapping_add(1);
        let refused = [
            (
                headers_for(&body, now),
                altered.clone(),
                StatusCode::UNAUTHORIZED,
            ),
            (
                headers_for(&body, now - Millis::seconds(301)),
                body.clone(),
                StatusCode::UNAUTHORIZED,
            ),
            (
                headers_for(&body, now + Millis::seconds(301)),
                body.clone(),
                StatusCode::UNAUTHORIZED,
            ),
            (HeaderMap::new(), body.clone(), StatusCode::UNAUTHORIZED),
            (
                headers_for(b"{}", now),
                b"{}".to_vec(),
                StatusCode::BAD_REQUEST,
            ),
        ];
        for (headers, body, expected) in refused {
            assert_eq!(
                stage
                    .ticketing
                    .take_callback("simulated", &headers, &body)
                    .await,
                expected
            );
        }
        let unknown = Notice::success("1444462736871129092-9", notice.amount).body(now);
        let answer = stage
            .ticketing
            .take_callback("simulated", &headers_for(&unknown, now), &unknown)
            .await;
        assert_eq!(answer, StatusCode::NOT_FOUND);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        let payment = stage
            .ticketing
            .db()
            .payment(&notice.out_trade_no)
            .await
            .expect("a database");
        assert_eq!(payment.expect("the payment").status, PaymentStatus::Paying);
    });
}

#[test]
fn a_notice_of_another_amount_is_recorded_and_moves_nothing() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, mut notice) = payable(&stage).await;
        notice.amount = Money::new(notice.amount.minor - 1, notice.amount.currency);
        let now = stage.clock.now();
        let body = notice.body(now);
        assert_eq!(
            stage
                .ticketing
                .take_callback("simulated", &headers_for(&body, now), &body)
                .await,
            StatusCode::OK
        );
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        let counts = stage.ticketing.db().counts(now).await.expect("a database");
        assert_eq!((counts.open_discrepancies, counts.postings), (1, 0));
    });
}

#[test]
fn a_hundred_repetitions_capture_once() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, notice) = payable(&stage).await;
        let now = stage.clock.now();
        let body = notice.body(now);
        for _ in 0..100 {
            let answer = stage
                .ticketing
                .take_callback("simulated", &headers_for(&body, now), &body)
                .await;
            assert_eq!(answer, StatusCode::OK);
        }
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        let counts = stage.ticketing.db().counts(now).await.expect("a database");
        assert_eq!(
            (
                counts.postings,
                counts.unbalanced_postings,
                counts.open_discrepancies
            ),
            (1, 0, 0)
        );
    });
}

#[test]
fn a_repetition_completes_what_the_first_notice_left_undone() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        let notice = Notice::success(&payment.out_trade_no, payment.amount);
        let now = stage.clock.now();
        let body = notice.body(now);
        // The transaction was committed, then the server died: the seat is still only locked.
        let recorded = server::mysql::money::PaymentNotice {
            channel: payment.channel.clone(),
            callback_id: notice.callback_id.clone(),
            out_trade_no: notice.out_trade_no.clone(),
            third_trade_no: None,
            event: app::domain::payment::PaymentEvent::Succeeded,
            amount: notice.amount,
            happened_at: None,
            fail_reason: None,
            raw_body: String::new(),
            is_asked_for: false,
        };
        stage
            .ticketing
            .db()
            .record_notice(&recorded, now)
            .await
            .expect("a database")
            .expect("a payment");
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        assert_eq!(
            stage
                .ticketing
                .take_callback("simulated", &headers_for(&body, now), &body)
                .await,
            StatusCode::OK
        );
        assert_eq!(stage.seat(show, 1).await, SeatState::Sold);
    });
}

#[test]
fn a_decline_that_turns_into_a_success_pays_the_order() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, success) = payable(&stage).await;
        let now = stage.clock.now();
        let mut decline = success.clone();
        decline.callback_id.push('d');
        decline.status = server::gateway::wire::CallbackStatus::Failed;
        for notice in [&decline, &success, &decline] {
            let body = notice.body(now);
            let answer = stage
                .ticketing
                .take_callback("simulated", &headers_for(&body, now), &body)
                .await;
            assert_eq!(answer, StatusCode::OK);
        }
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        let payment = stage
            .ticketing
            .db()
            .payment(&success.out_trade_no)
            .await
            .expect("a database");
        assert_eq!(payment.expect("the payment").status, PaymentStatus::Success);
    });
}

#[test]
fn an_accepted_refund_ends_when_the_gateway_says_so() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, notice) = payable(&stage).await;
        stage
            .ticketing
            .end_order(order_no, CancelReason::User)
            .await
            .expect("stores");
        let now = stage.clock.now();
        let body = notice.body(now);
        assert_eq!(
            stage
                .ticketing
                .take_callback("simulated", &headers_for(&body, now), &body)
                .await,
            StatusCode::OK
        );
        let refund_no = format!("{}-r1", notice.out_trade_no);
        let db = stage.ticketing.db();
        let refund = db
            .refund(&refund_no)
            .await
            .expect("a database")
            .expect("a refund");
        assert_eq!(
            refund.status,
            RefundProgress::Requested,
            "the gateway is out of reach on this stage"
        );
        for _ in 0..2 {
            let follow_up = db.refund_succeeded(&refund_no, now).await;
            assert!(
                follow_up.expect("a database").expect("a refund").is_empty(),
                "the cancelled order stays as it is"
            );
        }
        let counts = db.counts(now).await.expect("a database");
        assert_eq!(
            (
                counts.postings,
                counts.unbalanced_postings,
                counts.open_discrepancies
            ),
            (2, 0, 0)
        );
        let payment = db.payment(&notice.out_trade_no).await.expect("a database");
        assert_eq!(
            payment.expect("the payment").status,
            PaymentStatus::Refunded
        );
    });
}
