//! What is kept of notices, and the bounds of what they may say.

use crate::support::{Notice, ShowSpec, Stage, headers_for, run};
use app::domain::{
    ids::OrderNo,
    money::Money,
    order::{CancelReason, OrderStatus},
    time::Millis,
};
use axum::http::StatusCode;
use server::clock::Clock;

async fn payable(stage: &Stage) -> (OrderNo, Notice) {
    let show = stage.show(ShowSpec::default()).await;
    let user = stage.user().await;
    let order_no = stage.pending(&user, show, &[1]).await;
    let payment = stage.payment(&user, order_no).await;
    let notice = Notice::success(&payment.out_trade_no, payment.amount);
    (order_no, notice)
}

async fn tell(stage: &Stage, body: &[u8]) -> StatusCode {
    let headers = headers_for(body, stage.clock.now());
    let shop = &stage.ticketing;
    shop.take_callback("simulated", &headers, body).await
}

async fn kept(stage: &Stage, callback_id: &str) -> (String, String, u32) {
    sqlx::query_as("SELECT raw_body, result, repeats FROM payment_callback WHERE callback_id = ?")
        .bind(callback_id)
        .fetch_one(stage.ticketing.db().pool())
        .await
        .expect("one notice")
}

#[test]
fn the_notice_that_moved_the_money_is_the_one_that_is_kept() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, right) = payable(&stage).await;
        let now = stage.clock.now();
        let mut wrong = right.clone();
        wrong.amount = Money::new(right.amount.minor + 1, right.amount.currency);
        let (wrong, body) = (wrong.body(now), right.body(now));
        assert_eq!(tell(&stage, &wrong).await, StatusCode::OK);
        let before = kept(&stage, &right.callback_id).await;
        assert_eq!((before.1.as_str(), before.2), ("wrong_amount", 0));
        for repeats in 1..3 {
            assert_eq!(tell(&stage, &body).await, StatusCode::OK);
            let (raw_body, result, counted) = kept(&stage, &right.callback_id).await;
            assert_eq!(raw_body.as_bytes(), body, "the body that paid");
            assert_eq!((result.as_str(), counted), ("applied", repeats));
        }
        assert_eq!(tell(&stage, &wrong).await, StatusCode::OK);
        let after = kept(&stage, &right.callback_id).await;
        assert_eq!(after.0.as_bytes(), body, "a later fault changes nothing");
        assert_eq!(after.1, "applied");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
    });
}

#[test]
fn a_notice_with_an_endless_number_is_refused_for_good() {
    run(async {
        let stage = Stage::new().await;
        let (order_no, right) = payable(&stage).await;
        let now = stage.clock.now();
        let endless = "n".repeat(65);
        let altered = |change: fn(&mut Notice, String)| {
            let mut notice = right.clone();
            change(&mut notice, endless.clone());
            notice.body(now)
        };
        for body in [
            altered(|notice, number| notice.callback_id = number),
            altered(|notice, number| notice.third_trade_no = number),
            altered(|notice, number| notice.out_trade_no = number),
        ] {
            assert_eq!(tell(&stage, &body).await, StatusCode::BAD_REQUEST);
        }
        let longest = altered(|notice, number| notice.callback_id = number[1..].to_owned());
        assert_eq!(tell(&stage, &longest).await, StatusCode::OK);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
    });
}

#[test]
fn a_payment_is_dated_when_it_was_paid_and_not_when_that_was_heard() {
    run(async {
        let stage = Stage::new().await;
        let moments = async |order_no: OrderNo| -> (i64, i64, i64) {
            sqlx::query_as(
                "SELECT create_time, pay_time, update_time FROM payment WHERE order_no = ?",
            )
            .bind(order_no.as_i64())
            .fetch_one(stage.ticketing.db().pool())
            .await
            .expect("a paid payment")
        };
        // The notice comes two minutes late.
        let (order_no, notice) = payable(&stage).await;
        let paid_at = stage.clock.now();
        stage.clock.advance(Millis::minutes(2));
        assert_eq!(tell(&stage, &notice.body(paid_at)).await, StatusCode::OK);
        let (begun, paid, heard) = moments(order_no).await;
        assert_eq!(paid, paid_at.0.max(begun));
        assert!(heard - paid >= Millis::minutes(2).0 - 100);

        // Gateways whose clocks are wrong: nothing is paid tomorrow, or before it was begun.
        let (order_no, notice) = payable(&stage).await;
        let tomorrow = stage.clock.now() + Millis::minutes(24 * 60);
        assert_eq!(tell(&stage, &notice.body(tomorrow)).await, StatusCode::OK);
        let (_, paid, heard) = moments(order_no).await;
        assert_eq!(paid, heard);
        let (order_no, notice) = payable(&stage).await;
        let yesterday = stage.clock.now() - Millis::minutes(24 * 60);
        assert_eq!(tell(&stage, &notice.body(yesterday)).await, StatusCode::OK);
        let (begun, paid, _) = moments(order_no).await;
        assert_eq!(paid, begun);
    });
}

#[test]
fn a_close_that_finds_the_money_taken_is_asked_about_at_once() {
    run(async {
        // What the order's end leaves to the outbox waits for this test.
        let settings = [("SEATFLOW_OUTBOX_EVERY_MS", "3600000")];
        let app = crate::support::TestApp::start(&settings).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[1]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        // The order ends in the database; then the customer pays, and no notice of it is ever right.
        let ended = app
            .db()
            .cancel_order(order_no, CancelReason::User, app.clock.now());
        let rows = ended.await.expect("a database").expect("pending");
        let unheard = [
            ("outcome", "succeed"),
            ("wrong_signature", "on"),
            ("faulty_attempts", "1000"),
        ];
        customer.at_cashier_with(&cashier, &unheard).await;
        app.ticketing().settle_now(rows).await;
        let late = "SELECT COUNT(*) FROM refund WHERE order_no = ? AND reason = 'late_payment'";
        assert_eq!(app.count(late, order_no.as_i64()).await, 1);
    });
}
