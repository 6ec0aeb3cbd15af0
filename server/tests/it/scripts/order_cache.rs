//! Orders as their buyers last saw them.

use super::fixture::{Stage, order_no};
use app::domain::order::OrderStatus;
use server::redis::scripts::CacheReply;

#[tokio::test]
async fn a_view_is_found_until_it_is_forgotten() {
    let stage = Stage::empty().await;
    let (number, redis) = (order_no(1), &stage.redis);
    assert_eq!(redis.cached_order(number).await.unwrap(), None);
    redis
        .cache_order(number, OrderStatus::Pending, r#"{"名":"1"}"#)
        .await
        .unwrap();
    assert_eq!(
        redis.cached_order(number).await.unwrap().as_deref(),
        Some(r#"{"名":"1"}"#)
    );
    assert_eq!(redis.cached_order(order_no(2)).await.unwrap(), None);
    let ttl: i64 = stage.raw(&["PTTL", &redis.keys().order(number)]);
    assert!((3_500_000..=3_600_000).contains(&ttl), "{ttl}");
    redis.forget_order(number).await.unwrap();
    assert_eq!(redis.cached_order(number).await.unwrap(), None);
}

#[tokio::test]
async fn a_late_reader_cannot_put_an_order_back_to_an_earlier_stage() {
    let stage = Stage::empty().await;
    let (number, redis) = (order_no(1), &stage.redis);
    let cache = |status, json| redis.cache_order(number, status, json);
    assert_eq!(
        cache(OrderStatus::Cancelled, "cancelled").await.unwrap(),
        CacheReply::Kept
    );
    assert_eq!(
        cache(OrderStatus::Pending, "pending").await.unwrap(),
        CacheReply::Older
    );
    assert_eq!(
        redis.cached_order(number).await.unwrap().as_deref(),
        Some("cancelled")
    );
    assert_eq!(
        cache(OrderStatus::Cancelled, "again").await.unwrap(),
        CacheReply::Kept
    );
    assert_eq!(
        redis.cached_order(number).await.unwrap().as_deref(),
        Some("again")
    );
}
