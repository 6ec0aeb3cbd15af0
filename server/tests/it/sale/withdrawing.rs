//! A withdrawn show: each of its orders is cancelled or refunded, once, and their buyers are told.

mod two_hundred;

use crate::support::{Notice, ShowSpec, Stage, TestApp, eventually, headers_for, run};
use app::{
    domain::{
        hold::Refusal,
        ids::{OrderNo, ShowId},
        order::{CancelReason, OrderStatus, RefundProgress},
        seat::SeatState,
    },
    error::AppError,
};
use axum::http::StatusCode;
use server::{
    clock::Clock,
    mysql::{money::RefundFault, withdrawals::Withdrawal},
    ticketing::Ticketing,
};

async fn pay(stage: &Stage, ticketing: &Ticketing, out_trade_no: &str) {
    let now = stage.clock.now();
    let payment = ticketing
        .db()
        .payment(out_trade_no)
        .await
        .expect("a database");
    let amount = payment.expect("a payment").amount;
    let body = Notice::success(out_trade_no, amount).body(now);
    let answer = ticketing
        .take_callback("simulated", &headers_for(&body, now), &body)
        .await;
    assert_eq!(answer, StatusCode::OK);
}

async fn withdrawal(ticketing: &Ticketing, show: ShowId) -> Withdrawal {
    let withdrawal = ticketing.db().withdrawal(show).await.expect("a database");
    withdrawal.expect("the show was withdrawn")
}

async fn sum(stage: &Stage, account: &str) -> i64 {
    sqlx::query_scalar(
        "SELECT CAST(COALESCE(SUM(amount_minor), 0) AS SIGNED) FROM ledger_entry WHERE account = ?",
    )
    .bind(account)
    .fetch_one(stage.ticketing.db().pool())
    .await
    .expect("a sum")
}

#[test]
fn withdrawing_twice_is_withdrawing_once() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let order_no = stage.pending(&stage.user().await, show, &[1]).await;
        for _ in 0..2 {
            stage
                .ticketing
                .withdraw_show(show)
                .await
                .expect("a withdrawal");
            stage.ticketing.work_on_withdrawals().await.expect("stores");
        }
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        let progress = withdrawal(&stage.ticketing, show).await;
        assert_eq!((progress.found, progress.cancelled), (1, 1));
        let snapshot = stage.ticketing.redis().snapshot(show).await.expect("Redis");
        assert_eq!(snapshot.expect("a show").map.at.version, 2);
        let unknown = stage.ticketing.withdraw_show(ShowId(999_999)).await;
        assert!(unknown.is_err(), "there is no such show");
    });
}

#[test]
fn a_paid_order_is_not_marked_refunded_while_the_gateway_refuses() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        pay(&stage, &stage.ticketing, &payment.out_trade_no).await;
        stage
            .ticketing
            .withdraw_show(show)
            .await
            .expect("a withdrawal");
        for _ in 0..3 {
            stage.ticketing.work_on_withdrawals().await.expect("stores");
        }
        let refund_no = format!("{}-r1", payment.out_trade_no);
        let db = stage.ticketing.db();
        let (fault, now) = (RefundFault::Refused, stage.clock.now());
        db.refund_not_done(&refund_no, fault, "not today", now)
            .await
            .expect("a database");
        let order = stage
            .ticketing
            .own_order(&user, order_no)
            .await
            .expect("the order");
        assert_eq!(order.status, OrderStatus::Paid);
        assert!(order.withdrawn, "the page can say why");
        let attempt = order.payment.expect("the payment");
        assert_eq!(attempt.refund, Some(RefundProgress::Failed));
        assert_eq!(
            stage.seat(show, 1).await,
            SeatState::Sold,
            "the seat stays the customer's"
        );
        assert_eq!(
            sum(&stage, "owed_to_customers").await,
            -payment.amount.minor,
            "its money is owed"
        );
        let refunds: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM refund")
            .fetch_one(db.pool())
            .await
            .expect("a count");
        assert_eq!(refunds, 1);
    });
}

#[test]
fn customers_of_a_withdrawn_show_are_told_and_get_their_money_from_the_gateway() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let (payer, holder) = (app.customer().await, app.customer().await);
        let paid = payer.pending(show, &[1, 2]).await;
        payer.pay(paid).await;
        payer.until(paid, OrderStatus::Paid).await;
        let held = holder.pending(show, &[5]).await;
        app.ticketing()
            .withdraw_show(show)
            .await
            .expect("a withdrawal");
        let order = holder.until(held, OrderStatus::Cancelled).await;
        assert_eq!(order.cancel_reason, Some(CancelReason::ShowWithdrawn));
        payer.until(paid, OrderStatus::Refunded).await;
        let order = payer.order(paid).await.expect("the order");
        let attempt = order.payment.expect("the payment");
        assert_eq!(attempt.refund, Some(RefundProgress::Succeeded));
        eventually("the seats are free in Redis", || async {
            (app.seat_counts(show).await == [40, 0, 0, 0]).then_some(())
        })
        .await;
        let page = |customer: crate::support::Customer, order_no: OrderNo, lang: &'static str| async move {
            let request = customer
                .request(reqwest::Method::GET, &format!("/orders/{order_no}"))
                .header(reqwest::header::ACCEPT_LANGUAGE, lang);
            request
                .send()
                .await
                .expect("a page")
                .text()
                .await
                .expect("a text")
        };
        let told = page(holder.clone(), held, "en").await;
        assert!(told.contains("The show was withdrawn"), "{told}");
        let told = page(payer.clone(), paid, "zh-CN").await;
        assert!(
            told.contains("本场次不再按计划举行") && told.contains("已原路退回"),
            "{told}"
        );
        let refused = app.customer().await.place(show, &[9]).await;
        assert!(
            matches!(
                refused,
                Err((
                    _,
                    AppError::Refused {
                        refusal: Refusal::NotOnSale
                    }
                ))
            ),
            "{refused:?}"
        );
    });
}
