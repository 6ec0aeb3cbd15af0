//! Accepted orders that have no row yet.

use super::fixture::{Stage, order_no};

#[tokio::test]
async fn an_order_is_found_until_it_is_forgotten() {
    let stage = Stage::empty().await;
    let (first, second, redis) = (order_no(1), order_no(2), &stage.redis);
    assert_eq!(redis.cached_order(first).await.unwrap(), None);
    for (number, json) in [(first, r#"{"名":"1"}"#), (second, "2")] {
        redis.cache_order(number, json).await.unwrap();
        assert_eq!(
            redis.cached_order(number).await.unwrap().as_deref(),
            Some(json)
        );
    }
    let ttl: i64 = stage.raw(&["PTTL", &redis.keys().order(first)]);
    assert!((3_500_000..=3_600_000).contains(&ttl), "{ttl}");
    redis
        .forget_orders(&[first, order_no(3)])
        .await
        .expect("one of them was never there");
    assert_eq!(redis.cached_order(first).await.unwrap(), None);
    assert!(redis.cached_order(second).await.unwrap().is_some());
    redis.forget_orders(&[]).await.expect("nothing to do");
}
