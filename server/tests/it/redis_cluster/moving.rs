//! A slot moves to a new master while its show is sold.

use super::{a_show_for_each, application, key_of, masters::Masters};
use crate::support::{TestApp, eventually, run};
use app::{
    domain::{ids::ShowId, order::OrderStatus},
    error::AppError,
};
use futures::future::join_all;
use std::time::Duration;

/// How long the slot's keys are on their way, or all moved and nobody told.
const PAUSE: Duration = Duration::from_millis(100);

/// Forty buyers, one after the other while the slot moves; each gets the seat that is asked for, some when they try again.
async fn buy(app: &TestApp, show: ShowId) {
    let buyers = (0..40_u32).map(|seat| async move {
        let customer = app.customer().await;
        tokio::time::sleep(Duration::from_millis(u64::from(seat) * 15)).await;
        let key = format!("moving-{seat:0>20}");
        let order_no = eventually("an order", || async {
            match customer.place_as(show, &[seat], &key).await {
                Ok(order_no) => Some(order_no),
                Err((_, AppError::Busy { .. })) => None,
                Err(refused) => panic!("{refused:?}"),
            }
        })
        .await;
        customer.until(order_no, OrderStatus::Pending).await;
    });
    join_all(buyers).await;
}

#[test]
fn orders_go_on_while_the_slot_of_their_show_moves_to_a_new_master() {
    run(async {
        let mut masters = Masters::start().await;
        let app = application(&masters).await;
        let show = a_show_for_each(&masters, &app).await[1];
        let slot = masters.slot_of(&key_of(&app, show)).await;
        let first = app.map(show).await.at;
        // Handles that know the slots as they are now and hear of the moving only by what they ask.
        let prefix = &app.config().stores.redis_prefix;
        let (asking, late) = (masters.redis(prefix).await, masters.redis(prefix).await);
        let impatient = masters.patient_redis(prefix, PAUSE * 3).await;
        let new = masters.grow().await;

        let moving = async {
            tokio::time::sleep(PAUSE).await;
            masters.begin_moving(slot, 1, new).await;
            tokio::time::sleep(PAUSE).await;
            while masters.move_keys(slot, 1, new).await > 0 {}
            let meta = asking.show_meta(show).await.expect("Redis");
            assert_eq!(meta.expect("a show").epoch, first.epoch);
            let left = asking.remaining(&[show]).await.expect("Redis");
            assert!(left[0].is_some());
            // A transaction names keys that are nowhere, of which neither master can say whose they are.
            let snapshot = impatient.snapshot(show).await;
            snapshot.expect_err("too short a wait");
            masters.end_moving(slot, 1, new).await;
        };
        tokio::join!(buy(&app, show), moving);

        assert_eq!(app.seat_counts(show).await, [0, 40, 0, 0]);
        let at = app.map(show).await.at;
        assert_eq!(
            (at.epoch, at.version),
            (first.epoch, 40),
            "nothing was lost"
        );
        let snapshot = late.snapshot(show).await.expect("Redis");
        assert_eq!(snapshot.expect("a show").owners.len(), 40);
        let evidence = app.verify().await;
        assert!(evidence.is_clean(), "{}", evidence.table());
        app.running.stop().await;
    });
}
