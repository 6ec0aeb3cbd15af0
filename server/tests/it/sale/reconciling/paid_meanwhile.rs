//! Reconciliation locks again what a pending order lost, and the order is paid before it has looked again.

use super::{is_clean, late_rows::is_under_way, success};
use crate::support::{ShowSpec, Stage, reconcile, run};
use app::domain::{order::OrderStatus, seat::SeatState};
use server::{clock::Clock, ticketing::reconcile::Class};

/// What reconciliation reads of an order between its two looks at it.
const ITEMS: &str = "SELECT i.order_no, i.item_no, i.seat";

#[test]
fn an_order_that_is_paid_while_its_locks_come_back_keeps_its_seat() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        let released = stage.ticketing.redis().release(show, order_no).await;
        released.expect("a lost hold");
        let db = stage.ticketing.db();
        // Finding does not read this table; the repair does, and waits for it.
        let mut held_up = db.pool().acquire().await.expect("a connection");
        sqlx::raw_sql("LOCK TABLES refund_item WRITE")
            .execute(&mut *held_up)
            .await
            .expect("a lock");
        let paid = async {
            is_under_way(&stage, ITEMS).await;
            let notice = success(&payment, "cb_while_locks_come_back");
            let recorded = db.record_notice(&notice, stage.clock.now());
            recorded.await.expect("a database").expect("a payment");
            sqlx::raw_sql("UNLOCK TABLES")
                .execute(&mut *held_up)
                .await
                .expect("the lock is let go");
        };
        let (round, ()) = tokio::join!(reconcile(&stage.ticketing), paid);
        let classes: Vec<Class> = round.findings.iter().map(|found| found.class).collect();
        assert_eq!(classes, [Class::SeatLost]);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Paid));
        assert_eq!(stage.seat(show, 1).await, SeatState::Sold);
        let held = stage.ticketing.redis().hold_record(show, order_no).await;
        assert_eq!(held.expect("Redis"), None, "a paid order holds nothing");
        is_clean(&stage).await;
    });
}
