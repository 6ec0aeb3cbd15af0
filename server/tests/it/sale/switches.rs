//! The gateway's switches from the cashier to the sold seat: whatever notices do on their way, one payment is captured once.

use crate::support::{Customer, ShowSpec, TestApp, eventually, run};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    seat::SeatState,
    time::Millis,
};

const SEAT: u32 = 2;

/// Somebody has pressed "pay" at a cashier that misbehaves.
struct Paying {
    app: TestApp,
    show: ShowId,
    customer: Customer,
    order_no: OrderNo,
}

impl Paying {
    async fn with(switches: &[(&str, &str)]) -> Self {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[SEAT]).await;
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        let mut fields = vec![("outcome", "succeed")];
        fields.extend(switches);
        customer.at_cashier_with(&cashier, &fields).await;
        Self {
            app,
            show,
            customer,
            order_no,
        }
    }

    /// Waits for the gateway's next attempts, whose pauses grow, until the order is paid.
    async fn until_repeated_rightly(&self) {
        eventually("a right repetition has come", || async {
            self.app.clock.advance(Millis::seconds(5));
            (self.customer.status(self.order_no).await == OrderStatus::Paid).then_some(())
        })
        .await;
    }

    async fn count(&self, sql: &'static str) -> i64 {
        self.app.count(sql, self.order_no.as_i64()).await
    }

    /// The order is paid, its seat is sold, and its money was captured once.
    async fn is_paid_once(&self) {
        self.customer.until(self.order_no, OrderStatus::Paid).await;
        eventually("the seat is sold", || async {
            (self.app.seat(self.show, SEAT).await == SeatState::Sold).then_some(())
        })
        .await;
        let captures = self
            .count("SELECT COUNT(DISTINCT posting) FROM ledger_entry WHERE order_no = ?")
            .await;
        assert_eq!(captures, 1);
        let refunds = self
            .count("SELECT COUNT(*) FROM refund WHERE order_no = ?")
            .await;
        assert_eq!(refunds, 0);
    }
}

const NOTICES: &str = "SELECT COUNT(*) FROM payment_callback c JOIN payment p ON p.out_trade_no = c.out_trade_no \
     WHERE p.order_no = ?";

#[test]
fn twenty_copies_of_a_notice_are_one_notice_and_capture_once() {
    run(async {
        let paying = Paying::with(&[("copies", "20")]).await;
        eventually("all copies were taken", || async {
            paying.app.clock.advance(Millis::seconds(1));
            let repeats = paying
                .count(
                    "SELECT CAST(COALESCE(MAX(c.repeats), 0) AS SIGNED) FROM payment_callback c \
                     JOIN payment p ON p.out_trade_no = c.out_trade_no WHERE p.order_no = ?",
                )
                .await;
            (repeats == 19).then_some(())
        })
        .await;
        paying.is_paid_once().await;
        assert_eq!(paying.count(NOTICES).await, 1);
    });
}

#[test]
fn a_declined_try_that_is_told_of_after_the_success_takes_nothing_back() {
    run(async {
        let paying = Paying::with(&[("reorder", "on")]).await;
        eventually("both notices were taken", || async {
            paying.app.clock.advance(Millis::seconds(1));
            (paying.count(NOTICES).await == 2).then_some(())
        })
        .await;
        paying.is_paid_once().await;
    });
}

#[test]
fn a_notice_with_a_wrong_signature_is_not_believed_and_its_right_repetition_is() {
    run(async {
        let paying = Paying::with(&[("wrong_signature", "on"), ("faulty_attempts", "4")]).await;
        assert_eq!(paying.count(NOTICES).await, 0, "nothing unproven is kept");
        assert_eq!(
            paying.customer.status(paying.order_no).await,
            OrderStatus::Pending
        );
        paying.until_repeated_rightly().await;
        paying.is_paid_once().await;
    });
}

#[test]
fn a_notice_with_an_old_time_is_not_believed_and_its_right_repetition_is() {
    run(async {
        let paying = Paying::with(&[("stale_timestamp", "on"), ("faulty_attempts", "4")]).await;
        assert_eq!(paying.count(NOTICES).await, 0, "nothing old is kept");
        assert_eq!(
            paying.customer.status(paying.order_no).await,
            OrderStatus::Pending
        );
        paying.until_repeated_rightly().await;
        paying.is_paid_once().await;
    });
}
