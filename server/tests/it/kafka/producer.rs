//! The producer when there is no broker.

use server::kafka::{KafkaConfig, ProduceError, Producer, Topic};
use std::time::{Duration, Instant};

#[tokio::test]
async fn without_a_broker_messages_are_refused_at_once_or_their_result_is_unknown() {
    let producer = Producer::new(&KafkaConfig::new("127.0.0.1:1")).unwrap();
    let first = producer
        .enqueue(Topic::Notify, "key", b"first", None)
        .unwrap();
    let payload = [b'x'; 1_000];
    let mut taken = 1;
    let refused = loop {
        let started = Instant::now();
        let answer = producer.enqueue(Topic::Notify, "key", &payload, None);
        assert!(started.elapsed() < Duration::from_secs(1), "nobody waits");
        match answer {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
        assert!(taken <= 100_000, "the queue is bounded");
    };
    assert!(matches!(refused, ProduceError::QueueFull), "{refused:?}");
    assert!(matches!(first.await, Err(ProduceError::Unknown(_))));
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_and_not_taken() {
    let producer = Producer::new(&KafkaConfig::new("127.0.0.1:1")).unwrap();
    let refused = producer.enqueue(Topic::Notify, "key", &vec![0; 2_000_000], None);
    assert!(matches!(refused, Err(ProduceError::Refused(_))));
    assert!(
        producer.flush(Duration::from_millis(200)).await.is_ok(),
        "nothing is in the queue"
    );
}
