//! The batch consumer.

use super::broker::{Broker, DeadLetter, Patience, eventually, order_no, placed};
use async_trait::async_trait;
use server::kafka::{
    DeliveryFuture, KafkaSetupError, Message as _, Topic, TraceParent,
    batch::{BatchHandler, BatchLimits, HandlerError, Poison, Received, run_batches},
    dead_letter,
    messages::Placed,
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

type Answer = dyn Fn(usize) -> Result<(), HandlerError> + Send + Sync;

/// Keeps every batch it is handed and answers by the number of the attempt, counted from 0.
struct Recorder {
    batches: Mutex<Vec<Vec<Received<Placed>>>>,
    answer: Box<Answer>,
}

impl Recorder {
    fn new(
        answer: impl Fn(usize) -> Result<(), HandlerError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            batches: Mutex::default(),
            answer: Box::new(answer),
        })
    }

    /// The shows of each batch.
    fn shows(&self) -> Vec<Vec<u64>> {
        let batches = self.batches.lock().unwrap();
        batches
            .iter()
            .map(|batch| batch.iter().map(|it| it.message.show_id.0).collect())
            .collect()
    }

    fn count(&self) -> usize {
        self.batches.lock().unwrap().iter().map(Vec::len).sum()
    }
}

#[async_trait]
impl BatchHandler for Recorder {
    type Message = Placed;

    async fn handle(&self, batch: &[Received<Placed>]) -> Result<(), HandlerError> {
        let attempt = {
            let mut batches = self.batches.lock().unwrap();
            batches.push(batch.to_vec());
            batches.len() - 1
        };
        (self.answer)(attempt)
    }
}

/// Never done with anything.
struct Stuck(Mutex<usize>);

#[async_trait]
impl BatchHandler for Stuck {
    type Message = Placed;

    async fn handle(&self, batch: &[Received<Placed>]) -> Result<(), HandlerError> {
        *self.0.lock().unwrap() += batch.len();
        std::future::pending().await
    }
}

struct Running {
    task: JoinHandle<Result<(), KafkaSetupError>>,
    cancel: CancellationToken,
}

impl Running {
    fn start<H: BatchHandler>(broker: &Broker, handler: &Arc<H>, messages_max: usize) -> Self {
        let cancel = CancellationToken::new();
        let limits = BatchLimits {
            messages_max,
            ..BatchLimits::default()
        };
        let subscription = broker.subscription("writer");
        let task = tokio::spawn(run_batches(
            subscription,
            limits,
            Arc::clone(handler),
            cancel.clone(),
        ));
        Self { task, cancel }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.task.await.expect("no panic").expect("a clean end");
    }
}

async fn send_all(broker: &Broker, orders: impl IntoIterator<Item = Placed>) {
    let sent: Vec<DeliveryFuture> = orders
        .into_iter()
        .map(|order| broker.producer.send(&order, None).unwrap())
        .collect();
    for delivery in sent {
        delivery.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_arrive_in_bounded_batches_in_the_order_of_their_key_and_only_once() {
    let broker = Broker::start().await;
    send_all(
        &broker,
        (0..300_u16).map(|number| placed(number % 3, number.into())),
    )
    .await;
    let recorder = Recorder::new(|_| Ok(()));
    let running = Running::start(&broker, &recorder, 100);
    eventually("all messages", || recorder.count() >= 300).await;
    running.stop().await;

    let batches = recorder.shows();
    assert!(
        batches.iter().all(|batch| batch.len() <= 100),
        "no batch is above the bound"
    );
    assert!(
        batches.len() < 30,
        "messages come together: {}",
        batches.len()
    );
    for order in 0..3 {
        let of_order: Vec<u64> = batches
            .iter()
            .flatten()
            .copied()
            .filter(|show| show % 3 == order)
            .collect();
        assert_eq!(of_order.len(), 100);
        assert!(of_order.is_sorted());
    }

    let after = Recorder::new(|_| Ok(()));
    let running = Running::start(&broker, &after, 100);
    send_all(
        &broker,
        [placed(0, 1_000), placed(1, 1_001), placed(2, 1_002)],
    )
    .await;
    eventually("the new messages", || after.count() >= 3).await;
    running.stop().await;
    assert!(
        after.shows().iter().flatten().all(|show| *show >= 1_000),
        "the rest was committed"
    );
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_comes_with_its_key_its_time_and_its_trace() {
    let broker = Broker::start().await;
    let trace = TraceParent::random();
    broker
        .producer
        .send(&placed(7, 70), Some(trace))
        .unwrap()
        .await
        .unwrap();
    let recorder = Recorder::new(|_| Ok(()));
    let running = Running::start(&broker, &recorder, 10);
    eventually("the message", || recorder.count() == 1).await;
    running.stop().await;
    let received = recorder.batches.lock().unwrap()[0][0].clone();
    assert_eq!(received.message, placed(7, 70));
    assert_eq!(received.key, order_no(7).to_string());
    assert_eq!(received.trace, Some(trace));
    assert!(received.sent_at.is_some());
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_fails_or_panics_comes_again_as_it_was_and_nothing_is_lost() {
    let broker = Broker::start().await;
    send_all(
        &broker,
        (0..20_u16).map(|number| placed(number, number.into())),
    )
    .await;
    let recorder = Recorder::new(|attempt| match attempt {
        0 => Err(HandlerError::Retry("the database is away".into())),
        1 => panic!("on purpose"),
        _ => Ok(()),
    });
    let running = Running::start(&broker, &recorder, 5);
    let all: BTreeSet<u64> = (0..20).collect();
    eventually("all messages", || {
        let seen: BTreeSet<u64> = recorder.shows().into_iter().skip(2).flatten().collect();
        seen == all
    })
    .await;
    running.stop().await;
    let batches = recorder.shows();
    assert_eq!(batches[0], batches[1]);
    assert_eq!(batches[0], batches[2]);
    let later: Vec<u64> = batches[2..].iter().flatten().copied().collect();
    assert_eq!(later.len(), 20, "and none of them twice once it succeeds");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_takes_long_loses_nothing_that_comes_meanwhile() {
    let broker = Broker::start().await;
    send_all(
        &broker,
        (0..50_u16).map(|number| placed(number, number.into())),
    )
    .await;
    // Pauses of 50 + 100 + 200 + 400 + 800 ms: long enough for the consumer to stop fetching and go on later.
    let recorder = Recorder::new(|attempt| {
        if attempt < 5 {
            Err(HandlerError::Retry("still away".into()))
        } else {
            Ok(())
        }
    });
    let running = Running::start(&broker, &recorder, 10);
    eventually("the first failures", || {
        recorder.batches.lock().unwrap().len() >= 3
    })
    .await;
    send_all(
        &broker,
        (50..80_u16).map(|number| placed(number, number.into())),
    )
    .await;
    eventually("all messages", || {
        recorder.shows().iter().skip(5).flatten().count() >= 80
    })
    .await;
    running.stop().await;
    let batches = recorder.shows();
    assert!(batches[..5].iter().all(|batch| *batch == batches[5]));
    let mut handled: Vec<u64> = batches[5..].iter().flatten().copied().collect();
    handled.sort_unstable();
    assert_eq!(handled, (0..80).collect::<Vec<u64>>());
    broker.stop().await;
}

fn assert_dead(letter: &DeadLetter, broker: &Broker, key: &str, reason: &str) {
    assert_eq!(letter.key, key);
    let header = |name: &str| letter.headers.get(name).cloned().unwrap_or_default();
    assert!(
        header(dead_letter::REASON).starts_with(reason),
        "{}",
        header(dead_letter::REASON)
    );
    assert_eq!(
        header(dead_letter::SOURCE_TOPIC),
        broker.config.topic(Topic::OrderCreate)
    );
    assert_eq!(header(dead_letter::GROUP), "writer");
    assert!(
        header(dead_letter::SOURCE_PARTITION)
            .parse::<i32>()
            .is_ok_and(|it| it < 2)
    );
    assert!(header(dead_letter::SOURCE_OFFSET).parse::<i64>().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_and_poisoned_messages_go_to_the_dead_letters_and_the_rest_goes_on() {
    let broker = Broker::start().await;
    let raw = |key: &str, payload: &[u8]| {
        broker.producer.enqueue(
            Topic::OrderCreate,
            key,
            payload,
            Some(TraceParent::random()),
        )
    };
    raw("same", b"not json").unwrap().await.unwrap();
    raw("same", br#"{"type":"placed_v9"}"#)
        .unwrap()
        .await
        .unwrap();
    raw("same", &placed(1, 100).encode())
        .unwrap()
        .await
        .unwrap();
    raw("same", &placed(2, 200).encode())
        .unwrap()
        .await
        .unwrap();
    let recorder = Recorder::new(|attempt| match attempt {
        0 => Err(HandlerError::Poison(vec![Poison {
            index: 0,
            reason: "cursed".to_owned(),
        }])),
        _ => Ok(()),
    });
    let running = Running::start(&broker, &recorder, 10);
    eventually("the readable messages", || recorder.count() >= 2).await;
    let letters = broker.dead_letters(Topic::OrderCreate, 3).await;
    running.stop().await;

    assert_eq!(recorder.shows().concat(), [100, 200], "each once, in order");
    assert_eq!(letters.len(), 3);
    assert_dead(&letters[0], &broker, "same", "malformed message");
    assert_eq!(letters[0].payload, b"not json");
    assert_dead(
        &letters[1],
        &broker,
        "same",
        r#"unknown message type "placed_v9""#,
    );
    assert_dead(&letters[2], &broker, "same", "cursed");
    assert_eq!(Placed::decode(&letters[2].payload).unwrap(), placed(1, 100));
    assert!(
        letters
            .iter()
            .all(|letter| letter.headers.contains_key("traceparent"))
    );
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_consumer_had_in_hand_goes_to_the_next() {
    let broker = Broker::start().await;
    send_all(
        &broker,
        (0..40_u16).map(|number| placed(number, number.into())),
    )
    .await;
    let stuck = Arc::new(Stuck(Mutex::default()));
    let killed = Running::start(&broker, &stuck, 10);
    eventually("a batch in hand", || *stuck.0.lock().unwrap() > 0).await;
    killed.task.abort();
    assert!(killed.task.await.unwrap_err().is_cancelled());

    let next = Recorder::new(|_| Ok(()));
    let running = Running::start(&broker, &next, 10);
    eventually("all messages", || next.count() >= 40).await;
    running.stop().await;
    let seen: BTreeSet<u64> = next.shows().into_iter().flatten().collect();
    assert_eq!(seen, (0..40).collect());
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_consumers_share_the_work_and_one_goes_on_alone() {
    let broker = Broker::start().await;
    let recorders = [Recorder::new(|_| Ok(())), Recorder::new(|_| Ok(()))];
    let [first, second] = recorders
        .each_ref()
        .map(|it| Running::start(&broker, it, 10));
    let mut sent = 0;
    let patience = Patience::new();
    while recorders.iter().any(|it| it.count() == 0) {
        patience.wait_for("both get work").await;
        send_all(
            &broker,
            (sent..sent + 10).map(|number| placed(number, number.into())),
        )
        .await;
        sent += 10;
    }
    second.stop().await;
    send_all(
        &broker,
        (sent..sent + 10).map(|number| placed(number, number.into())),
    )
    .await;
    sent += 10;
    let seen = || -> BTreeSet<u64> {
        recorders
            .iter()
            .flat_map(|it| it.shows().into_iter().flatten())
            .collect()
    };
    eventually("all messages", || seen().len() == usize::from(sent)).await;
    first.stop().await;
    assert_eq!(seen(), (0..u64::from(sent)).collect());
    broker.stop().await;
}
