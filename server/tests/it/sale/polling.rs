//! A buyer who waits for the own order asks again and again: Redis answers until there is a row.

use crate::support::{ShowSpec, Stage, choose_at, eventually, run};
use app::domain::{
    hold::Choice,
    ids::{OrderNo, SeatIndex},
    order::{CancelReason, OrderStatus},
    time::{Millis, Timestamp},
    user::User,
};
use server::{clock::Clock, redis::keys::ShowKey};
use std::time::Duration;

async fn told(stage: &Stage, user: &User, order_no: OrderNo) -> OrderStatus {
    let order = stage.ticketing.own_order(user, order_no).await;
    order.expect("an order").status
}

/// Has Redis say again that an order is on its way, as a server does that dies between writing the row and dropping this.
async fn cached_again(stage: &Stage, order_no: OrderNo, json: &str) {
    let redis = stage.ticketing.redis();
    redis.cache_order(order_no, json).await.expect("Redis");
}

#[test]
fn an_order_is_on_its_way_until_it_has_its_row_and_no_longer() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[1]).await.expect("a hold");
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Creating);
        let message = stage.message(show, order_no).await;
        let created = stage.ticketing.create_orders(&[message]).await;
        created.expect("stores");
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Pending);
        let ended = stage.ticketing.end_order(order_no, CancelReason::User);
        assert!(ended.await.expect("stores"));
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Cancelled);
    });
}

#[test]
fn redis_is_asked_before_the_database_and_believed_for_two_seconds() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let (user, other) = (stage.user().await, stage.user().await);
        let order_no = stage.hold(&user, show, &[1]).await.expect("a hold");
        let redis = stage.ticketing.redis();
        let json = redis.cached_order(order_no).await.expect("Redis");
        let json = json.expect("an accepted order is cached");
        let message = stage.message(show, order_no).await;
        let created = stage.ticketing.create_orders(&[message]).await;
        created.expect("stores");
        assert_eq!(
            redis.cached_order(order_no).await.expect("Redis"),
            None,
            "whoever writes the row drops it"
        );
        cached_again(&stage, order_no, &json).await;
        assert_eq!(
            told(&stage, &user, order_no).await,
            OrderStatus::Creating,
            "the database was not asked"
        );
        let stranger = stage.ticketing.own_order(&other, order_no).await;
        assert!(stranger.is_err(), "it is nobody else's");
        stage.clock.advance(Millis::seconds(2));
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Pending);
    });
}

#[test]
fn an_order_that_was_held_and_never_announced_is_found_by_whoever_sends_its_submission_again() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let submit = async || {
            let choice = Choice::Seats(vec![SeatIndex(1)]);
            stage.submit(&user, show, choice, "one-submission-1").await
        };
        let order_no = submit().await.expect("a hold");
        let redis = stage.ticketing.redis();
        eventually("Kafka has acknowledged it", || async {
            let unsent = redis.unsent(show, Timestamp(i64::MAX), 9).await;
            unsent.expect("Redis").is_empty().then_some(())
        })
        .await;
        // As after the death of the server that held it.
        let (placed_ms, number) = (stage.clock.now().0.to_string(), order_no.to_string());
        let unsent = ["ZADD", &placed_ms, &number];
        stage.meddle(show, ShowKey::Unsent, &unsent).await;
        redis.forget_order(order_no).await.expect("Redis");
        let order = stage.ticketing.own_order(&user, order_no).await;
        assert!(order.is_err(), "nobody knows it: {order:?}");
        assert_eq!(submit().await, Ok(order_no));
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Creating);
    });
}

#[test]
fn an_order_that_waited_for_its_show_begins_when_it_is_held() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let server = stage.another_server().await;
        let lock = format!("load.{show}");
        let lead = stage.ticketing.db().try_lead(&lock);
        let lead = lead.await.expect("a database").expect("a lock");
        let begun = stage.clock.now();
        let waiting = tokio::spawn(async move {
            let choice = Choice::Seats(vec![SeatIndex(1)]);
            choose_at(&server, &user, show, choice).await
        });
        // Four of the five seconds that a message may take.
        for _ in 0..40 {
            stage.clock.advance(Millis(100));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        lead.give_up().await;
        let order_no = waiting.await.expect("a task").expect("a hold");
        let message = stage.message(show, order_no).await;
        assert_eq!(message.placed_at, begun + Millis::seconds(4));
        assert_eq!(message.expire_at, message.placed_at + Millis::minutes(15));
        let created = stage.ticketing.create_orders(&[message]).await;
        created.expect("stores");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
    });
}
