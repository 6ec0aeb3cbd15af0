//! An accepted order that Kafka has not acknowledged is sent again until it has.

use crate::support::{ShowSpec, Stage, choose_at, eventually, run};
use app::domain::{
    hold::Choice,
    ids::{OrderNo, SeatIndex, ShowId},
    order::OrderStatus,
    seat::SeatState,
    time::{Millis, Timestamp},
};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use server::{
    clock::Clock,
    kafka::{Topic, offsets::GroupProgress},
    kafka_config,
    redis::keys::ShowKey,
    ticketing::loading::CREATE_GROUP,
};
use std::time::Duration;

/// For two seconds an order is left to the server that took it.
const RESEND_AFTER: Millis = Millis(2_001);
/// Longer than a group of consumers takes to come together, so that no message is stale when it is read.
const PATIENT: [(&str, &str); 1] = [("SEATFLOW_DISCARD_AFTER_MS", "50000")];

/// The show's orders of which Kafka has acknowledged nothing.
async fn unsent(stage: &Stage, show: ShowId) -> Vec<OrderNo> {
    let redis = stage.ticketing.redis();
    let unsent = redis.unsent(show, Timestamp(i64::MAX), 10).await;
    let unsent = unsent.expect("Redis");
    unsent.into_iter().map(|(order_no, _)| order_no).collect()
}

async fn is_acknowledged(stage: &Stage, show: ShowId) {
    eventually("Kafka acknowledged the order", || async {
        unsent(stage, show).await.is_empty().then_some(())
    })
    .await;
}

/// One round of the relay; how many orders it sent again.
async fn relay(stage: &Stage) -> usize {
    stage.ticketing.relay_once().await.expect("Redis")
}

/// How many messages `order.create` has.
async fn messages(stage: &Stage) -> i64 {
    let kafka = kafka_config(stage.config());
    let topic = kafka.topic(Topic::OrderCreate);
    let count = move || {
        let client: BaseConsumer = rdkafka::ClientConfig::new()
            .set("bootstrap.servers", &kafka.brokers)
            .create()
            .expect("a client");
        let ends = (0..kafka.partitions).map(|partition| {
            let ends = client.fetch_watermarks(&topic, partition, Duration::from_secs(30));
            let (low, high) = ends.expect("Kafka");
            high - low
        });
        ends.sum()
    };
    tokio::task::spawn_blocking(count).await.expect("a count")
}

/// A consumer handles all that the topic has; the order's row, and how many the show has.
async fn consumed(stage: &Stage, show: ShowId, order_no: OrderNo) -> (Option<OrderStatus>, i64) {
    let kafka = kafka_config(stage.config());
    let progress = GroupProgress::new(&kafka, Topic::OrderCreate, CREATE_GROUP).expect("a client");
    // Kafka has two seconds for each answer, which it may miss on a busy machine.
    let ends = eventually("Kafka answers", || async { progress.ends().await.ok() }).await;
    let consuming = stage.consume();
    eventually("everything is consumed", || async {
        let passed = progress.has_passed(&ends).await;
        matches!(passed, Ok(true)).then_some(())
    })
    .await;
    consuming.stop().await;
    let rows = sqlx::query_scalar("SELECT COUNT(*) FROM orders WHERE show_id = ?")
        .bind(show.0)
        .fetch_one(stage.ticketing.db().pool())
        .await
        .expect("a count");
    (stage.status(order_no).await, rows)
}

#[test]
fn an_order_that_was_never_sent_is_sent_by_another_server_once() {
    run(async {
        let stage = Stage::with(&PATIENT).await;
        let show = stage.show(ShowSpec::default()).await;
        let apart = stage.server_without_kafka().await;
        let choice = Choice::Seats(vec![SeatIndex(3)]);
        let order_no = choose_at(&apart, &stage.user().await, show, choice).await;
        let order_no = order_no.expect("it is accepted all the same");
        assert_eq!(unsent(&stage, show).await, [order_no]);
        assert_eq!(relay(&stage).await, 0, "it may still be on its way");
        stage.clock.advance(RESEND_AFTER);
        assert_eq!(messages(&stage).await, 0);
        assert_eq!(relay(&stage).await, 1);
        is_acknowledged(&stage, show).await;
        assert_eq!(relay(&stage).await, 0, "Kafka has it");
        assert_eq!(messages(&stage).await, 1);
        let pending = (Some(OrderStatus::Pending), 1);
        assert_eq!(consumed(&stage, show, order_no).await, pending);
        assert_eq!(stage.seat(show, 3).await, SeatState::Locked);
    });
}

#[test]
fn an_order_whose_acknowledgement_was_lost_is_sent_twice_and_written_once() {
    run(async {
        let stage = Stage::with(&PATIENT).await;
        let show = stage.show(ShowSpec::default()).await;
        let held = stage.hold(&stage.user().await, show, &[3]).await;
        let order_no = held.expect("a hold");
        is_acknowledged(&stage, show).await;
        assert_eq!(messages(&stage).await, 1);
        // The server died between Kafka's acknowledgement and taking the number off the list.
        let (at, number) = (stage.clock.now().0.to_string(), order_no.to_string());
        let listed = ["ZADD", at.as_str(), number.as_str()];
        stage.meddle(show, ShowKey::Unsent, &listed).await;
        assert_eq!(relay(&stage).await, 0, "it may still be on its way");
        stage.clock.advance(RESEND_AFTER);
        assert_eq!(relay(&stage).await, 1);
        is_acknowledged(&stage, show).await;
        assert_eq!(relay(&stage).await, 0, "Kafka has it");
        assert_eq!(messages(&stage).await, 2);
        let pending = (Some(OrderStatus::Pending), 1);
        assert_eq!(consumed(&stage, show, order_no).await, pending);
        let claims = "SELECT COUNT(*) FROM seat_claim WHERE order_no = ?";
        let claims: i64 = sqlx::query_scalar(claims)
            .bind(order_no.as_i64())
            .fetch_one(stage.ticketing.db().pool())
            .await
            .expect("a count");
        assert_eq!(claims, 1);
    });
}
