//! Money of an order that is over goes back, and a refund that nobody sends is sent.

use super::{A_WHILE, reconcile};
use crate::support::{Notice, ShowSpec, Stage, headers_for, run};
use app::domain::{order::CancelReason, payment::PaymentStatus};
use server::{clock::Clock, ticketing::reconcile::Class};

#[test]
fn money_of_an_order_that_is_over_is_given_back() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        assert!(
            stage
                .ticketing
                .end_order(order_no, CancelReason::User)
                .await
                .expect("stores")
        );
        let now = stage.clock.now();
        let body = Notice::success(&payment.out_trade_no, payment.amount).body(now);
        stage
            .ticketing
            .take_callback("simulated", &headers_for(&body, now), &body)
            .await;
        let pool = stage.ticketing.db().pool();
        for table in ["DELETE FROM refund", "DELETE FROM outbox"] {
            sqlx::query(table).execute(pool).await.expect("a lost row");
        }
        stage.clock.advance(A_WHILE);
        assert_eq!(reconcile(&stage).await, [Class::Money]);
        let refund_no = format!("{}-r1", payment.out_trade_no);
        assert!(
            stage
                .ticketing
                .db()
                .refund(&refund_no)
                .await
                .expect("a database")
                .is_some()
        );
        // The outbox has it now, so it is not requested twice.
        assert_eq!(reconcile(&stage).await, []);
        sqlx::query("DELETE FROM outbox")
            .execute(pool)
            .await
            .expect("a lost outbox");
        stage.clock.advance(A_WHILE);
        assert_eq!(
            reconcile(&stage).await,
            [Class::Money],
            "a refund that nobody sends is sent again"
        );
        let payment = stage
            .ticketing
            .db()
            .payment(&payment.out_trade_no)
            .await
            .expect("a database");
        assert_eq!(payment.expect("the payment").status, PaymentStatus::Success);
    });
}
