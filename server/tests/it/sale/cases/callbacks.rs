//! Notices of the gateway that are handled by halves, twice, or too late to matter.

use crate::support::{Notice, ShowSpec, Stage, headers_for, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::{CancelReason, OrderStatus},
    payment::PaymentStatus,
    seat::SeatState,
    user::User,
};
use axum::http::StatusCode;
use server::{clock::Clock, mysql::money::PaymentRecord};

struct Payable {
    stage: Stage,
    show: ShowId,
    user: User,
    order_no: OrderNo,
    payment: PaymentRecord,
}

/// A pending order of seat 1 with an open payment.
async fn payable() -> Payable {
    let stage = Stage::new().await;
    let show = stage.show(ShowSpec::default()).await;
    let user = stage.user().await;
    let order_no = stage.pending(&user, show, &[1]).await;
    let payment = stage.payment(&user, order_no).await;
    Payable {
        stage,
        show,
        user,
        order_no,
        payment,
    }
}

impl Payable {
    async fn send(&self, notice: &Notice) -> StatusCode {
        let now = self.stage.clock.now();
        let body = notice.body(now);
        let headers = headers_for(&body, now);
        let ticketing = &self.stage.ticketing;
        ticketing.take_callback("simulated", &headers, &body).await
    }

    fn success(&self) -> Notice {
        Notice::success(&self.payment.out_trade_no, self.payment.amount)
    }

    async fn payment_status(&self) -> PaymentStatus {
        let number = &self.payment.out_trade_no;
        let payment = self.stage.ticketing.db().payment(number).await;
        payment.expect("a database").expect("the payment").status
    }

    async fn count(&self, sql: &'static str) -> i64 {
        let pool = self.stage.ticketing.db().pool();
        sqlx::query_scalar(sql)
            .fetch_one(pool)
            .await
            .expect("a count")
    }

    async fn rename(&self, from: &str, to: &str) {
        let sql = sqlx::AssertSqlSafe(format!("RENAME TABLE {from} TO {to}"));
        sqlx::query(sql)
            .execute(self.stage.ticketing.db().pool())
            .await
            .expect("another name");
    }
}

#[test]
fn a_notice_that_failed_halfway_left_nothing_and_its_repetition_does_all_of_it() {
    run(async {
        let order = payable().await;
        let success = order.success();
        // The payment and the order have moved when the outbox is written; the notice is noted last of all.
        for table in ["outbox", "payment_callback"] {
            order.rename(table, "not_there").await;
            let answer = order.send(&success).await;
            assert_eq!(answer, StatusCode::SERVICE_UNAVAILABLE, "{table}");
            order.rename("not_there", table).await;
            assert_eq!(order.payment_status().await, PaymentStatus::Paying);
            let status = order.stage.status(order.order_no).await;
            assert_eq!(status, Some(OrderStatus::Pending), "{table}");
            let now = order.stage.clock.now();
            let counts = order.stage.ticketing.db().counts(now).await;
            assert_eq!(counts.expect("a database").postings, 0, "{table}");
            let noted = "SELECT COUNT(*) FROM payment_callback";
            assert_eq!(order.count(noted).await, 0, "{table}: not yet handled");
        }
        assert_eq!(order.send(&success).await, StatusCode::OK);
        assert_eq!(order.payment_status().await, PaymentStatus::Success);
        let status = order.stage.status(order.order_no).await;
        assert_eq!(status, Some(OrderStatus::Paid));
        assert_eq!(order.stage.seat(order.show, 1).await, SeatState::Sold);
    });
}

#[test]
fn a_timeout_message_after_the_payment_is_skipped() {
    run(async {
        use server::ticketing::expire::Expiry;
        let order = payable().await;
        assert_eq!(order.send(&order.success()).await, StatusCode::OK);
        order
            .stage
            .clock
            .advance(app::domain::time::Millis::minutes(20));
        for _ in 0..2 {
            let expiry = order.stage.ticketing.expire(order.order_no).await;
            assert_eq!(expiry.expect("stores"), Expiry::Finished);
        }
        let swept = order.stage.ticketing.sweep_once().await;
        assert_eq!(swept.expect("stores"), 0);
        let ended = order
            .stage
            .ticketing
            .end_order(order.order_no, CancelReason::Timeout)
            .await;
        assert!(!ended.expect("stores"));
        let status = order.stage.status(order.order_no).await;
        assert_eq!(status, Some(OrderStatus::Paid));
        assert_eq!(order.stage.seat(order.show, 1).await, SeatState::Sold);
        assert_eq!(order.count("SELECT COUNT(*) FROM seat_claim").await, 1);
        assert_eq!(order.count("SELECT COUNT(*) FROM refund").await, 0);
    });
}

#[test]
fn a_success_for_an_order_that_is_over_is_acknowledged_so_that_it_does_not_come_for_days() {
    run(async {
        let order = payable().await;
        let ended = order
            .stage
            .ticketing
            .cancel_own(&order.user, order.order_no);
        ended.await.expect("given up");
        let success = order.success();
        for _ in 0..3 {
            assert_eq!(order.send(&success).await, StatusCode::OK);
        }
        let open =
            "SELECT COUNT(*) FROM discrepancy WHERE kind = 'late_payment' AND resolved_at IS NULL";
        assert_eq!(order.count(open).await, 1, "a person can see it");
        assert_eq!(order.count("SELECT COUNT(*) FROM refund").await, 1);
        let status = order.stage.status(order.order_no).await;
        assert_eq!(status, Some(OrderStatus::Cancelled));
        assert_eq!(order.stage.seat(order.show, 1).await, SeatState::Available);
    });
}

#[test]
fn a_failure_that_arrives_after_the_success_takes_nothing_back() {
    run(async {
        let order = payable().await;
        assert_eq!(order.send(&order.success()).await, StatusCode::OK);
        for status in [
            server::gateway::wire::CallbackStatus::Failed,
            server::gateway::wire::CallbackStatus::Closed,
        ] {
            let mut late = order.success();
            late.status = status;
            assert_eq!(order.send(&late).await, StatusCode::OK);
        }
        assert_eq!(order.payment_status().await, PaymentStatus::Success);
        let status = order.stage.status(order.order_no).await;
        assert_eq!(status, Some(OrderStatus::Paid));
        assert_eq!(order.stage.seat(order.show, 1).await, SeatState::Sold);
    });
}
