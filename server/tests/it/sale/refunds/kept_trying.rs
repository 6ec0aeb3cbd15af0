//! Money that is owed is sent for as long as it takes.

use super::{bought_with, give_back, refunds_of, wish};
use crate::support::{ShowSpec, Stage, TestApp, eventually, run};
use app::domain::{
    order::{OrderStatus, RefundProgress},
    time::Millis,
};
use server::mysql::outbox::ATTEMPTS_MAX;

#[test]
fn a_refund_that_is_refused_more_often_than_rows_live_is_back_once_the_gateway_takes_it() {
    run(async {
        let app = TestApp::start(&[]).await;
        let show = app.show(ShowSpec::default()).await;
        let customer = app.customer().await;
        let refusals = (ATTEMPTS_MAX + 5).to_string();
        let switches = [
            ("refund_answer", "refuse"),
            ("refund_times", refusals.as_str()),
        ];
        let order_no = bought_with(&customer, show, &[5], &switches).await;
        give_back(&customer, order_no, &[0])
            .await
            .expect("a refund");
        let order = customer.order(order_no).await.expect("the order");
        assert_eq!(refunds_of(&order), [Some(RefundProgress::Failed)]);
        let reason =
            "SELECT COUNT(*) FROM refund WHERE order_no = ? AND fail_reason LIKE '%RefundRefused%'";
        assert_eq!(app.count(reason, order_no.as_i64()).await, 1, "and why");
        eventually("the money is back", || async {
            app.clock.advance(Millis::minutes(15));
            app.ticketing().settle_due().await.expect("stores");
            (customer.status(order_no).await == OrderStatus::Refunded).then_some(())
        })
        .await;
        eventually("nothing is wrong", || async {
            app.verify().await.is_clean().then_some(())
        })
        .await;
    });
}

#[test]
fn a_refund_stays_on_its_way_while_the_gateway_is_away_for_days() {
    const ROUNDS: u32 = 3 * ATTEMPTS_MAX;
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let (order_no, _) = super::paid(&stage, &user, show, &[5]).await;
        let asked = stage.ticketing.refund_own(&user, wish(order_no, &[0]));
        let refund = asked.await.expect("a refund");
        for _ in 0..ROUNDS {
            stage.clock.advance(Millis::minutes(60));
            stage.ticketing.settle_due().await.expect("stores");
        }
        assert_eq!(stage.ticketing.dead_rows().await.expect("rows"), []);
        let tries: u32 = sqlx::query_scalar("SELECT attempts FROM outbox WHERE payload = ?")
            .bind(&refund.refund_no)
            .fetch_one(stage.ticketing.db().pool())
            .await
            .expect("a row that waits");
        assert_eq!(tries, 1 + ROUNDS, "at once and in every round");
        let open = stage.ticketing.db().oldest_refund().await;
        assert!(open.expect("a database").is_some(), "and seen");
    });
}
