//! What a caller learns when Redis is away or silent.

use super::fixture::Stage;
use server::redis::{Redis, RedisConfig, RedisError};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

#[tokio::test]
async fn a_redis_that_is_there_answers() {
    Stage::empty().await.redis.ping().await.unwrap();
}

#[tokio::test]
async fn nobody_at_the_address_means_that_nothing_ran() {
    // The port was free a moment ago, and this listener is closed again.
    let address = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let connected = Redis::connect(&RedisConfig::new(format!("redis://{address}"))).await;
    let error = connected.err().expect("nobody listens there");
    assert!(matches!(error, RedisError::Unreachable(_)), "{error:?}");
    assert!(!error.may_have_run());
    let connected = Redis::connect(&RedisConfig::new("not an address")).await;
    assert!(matches!(
        connected.err(),
        Some(RedisError::InvalidAddress(_))
    ));
}

/// Answers the client's greeting and falls silent.
async fn silent_redis() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut greeting = [0; 4096];
        assert!(client.read(&mut greeting).await.unwrap() > 0);
        client.write_all(b"+OK\r\n+OK\r\n").await.unwrap();
        while client.read(&mut greeting).await.is_ok_and(|read| read > 0) {}
    });
    format!("redis://{address}")
}

#[tokio::test]
async fn a_silent_redis_leaves_the_result_unknown_and_the_next_caller_is_told_to_wait() {
    let config = RedisConfig {
        // Much longer than the queue waits: on a busy machine the first must not have given up before the second has.
        response_timeout: Duration::from_secs(2),
        concurrency_max: 1,
        queue_wait_max: Duration::from_millis(50),
        ..RedisConfig::new(silent_redis().await)
    };
    let redis = Redis::connect(&config).await.unwrap();
    let (first, second) = tokio::join!(redis.ping(), redis.ping());
    let first = first.unwrap_err();
    assert!(matches!(first, RedisError::TimedOut(_)), "{first:?}");
    assert!(first.may_have_run());
    let second = second.unwrap_err();
    assert!(matches!(second, RedisError::Busy { .. }), "{second:?}");
    assert!(!second.may_have_run());
}
