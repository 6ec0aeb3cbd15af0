//! Messages that can never be handled do not stop their partition.

use super::broker::{Broker, eventually, placed};
use async_trait::async_trait;
use server::kafka::{
    Message as _, Topic,
    batch::{BatchHandler, BatchLimits, HandlerError, Received, run_batches},
    dead_letter,
    messages::Placed,
};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Panics whenever the order of this show is in its batch, and keeps what else it is handed.
struct Panicking {
    at: u64,
    done: Mutex<Vec<u64>>,
}

#[async_trait]
impl BatchHandler for Panicking {
    type Message = Placed;

    async fn handle(&self, batch: &[Received<Placed>]) -> Result<(), HandlerError> {
        let shows: Vec<u64> = batch.iter().map(|it| it.message.show_id.0).collect();
        assert!(!shows.contains(&self.at), "on purpose");
        self.done.lock().unwrap().extend(shows);
        Ok(())
    }
}

/// Hands messages to a handler that panics at show `at` until it is done with so many, and answers those in their order.
async fn handled(broker: &Broker, at: u64, count: usize) -> Vec<u64> {
    let handler = Arc::new(Panicking {
        at,
        done: Mutex::default(),
    });
    let cancel = CancellationToken::new();
    let consumer = tokio::spawn(run_batches(
        broker.subscription("writer"),
        BatchLimits::default(),
        Arc::clone(&handler),
        cancel.clone(),
    ));
    eventually("the other messages", || {
        handler.done.lock().unwrap().len() >= count
    })
    .await;
    cancel.cancel();
    consumer.await.expect("no panic").expect("a clean end");
    let mut done = handler.done.lock().unwrap().clone();
    done.sort_unstable();
    done
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_at_which_the_handler_panics_is_given_up_and_the_others_are_handled_once() {
    let broker = Broker::start().await;
    for number in 0..5_u16 {
        // Of one key, so that they come in one batch.
        let order = Placed {
            show_id: placed(number, number.into()).show_id,
            ..placed(1, 0)
        };
        broker.producer.send(&order, None).unwrap().await.unwrap();
    }
    assert_eq!(handled(&broker, 2, 4).await, [0, 1, 3, 4]);
    let letters = broker.dead_letters(Topic::OrderCreate, 1).await;
    assert_eq!(letters.len(), 1);
    let given_up = Placed::decode(&letters[0].payload).unwrap();
    assert_eq!(given_up.show_id, placed(2, 2).show_id);
    assert!(letters[0].headers[dead_letter::REASON].contains("panicked"));
    let next = broker.producer.send(&placed(1, 7), None);
    next.unwrap().await.unwrap();
    assert_eq!(handled(&broker, 99, 1).await, [7], "the rest is committed");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_message_that_fills_its_letter_does_not_hold_up_the_next() {
    let broker = Broker::start().await;
    // As large as a message may be; beside the headers of a letter it is too large.
    let large = vec![b'x'; 999_850];
    let sent = broker
        .producer
        .enqueue(Topic::OrderCreate, "same", &large, None);
    sent.unwrap().await.unwrap();
    let next = placed(1, 100).encode();
    let sent = broker
        .producer
        .enqueue(Topic::OrderCreate, "same", &next, None);
    sent.unwrap().await.unwrap();
    assert_eq!(handled(&broker, 0, 1).await, [100]);
    let letters = broker.dead_letters(Topic::OrderCreate, 1).await;
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].key, "same");
    assert_eq!(letters[0].payload, b"");
    let reason = &letters[0].headers[dead_letter::REASON];
    assert!(
        reason.ends_with("its 999850 bytes do not fit in here"),
        "{reason}"
    );
    broker.stop().await;
}
