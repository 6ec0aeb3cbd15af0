//! The delayed consumer.

use super::broker::{Broker, Patience, eventually, order_no, timeout};
use app::domain::{
    ids::OrderNo,
    time::{Millis, Timestamp},
};
use async_trait::async_trait;
use server::{
    clock::{Clock, ShiftedClock},
    kafka::{
        DeliveryFuture, KafkaSetupError, Pauses, Topic, TraceParent, dead_letter,
        delay::{DelayHandler, DelayLimits, FireResult, Received, run_delayed},
        messages::Timeout,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const HOUR: Millis = Millis::minutes(60);
const LIMITS: DelayLimits = DelayLimits {
    heap_max: 100_000,
    firing_max: 32,
    tries_max: 3,
    pauses: Pauses {
        first: Duration::from_millis(10),
        longest: Duration::from_millis(20),
    },
};

#[derive(Debug, Clone)]
struct Fired {
    order_no: OrderNo,
    due_at: Timestamp,
    at: Timestamp,
    trace: Option<TraceParent>,
}

type Answer = dyn Fn(&Timeout, usize) -> FireResult + Send + Sync;

/// Keeps what it is fired with and when, and answers by the message and how often its order was fired before.
struct Recorder {
    clock: Arc<ShiftedClock>,
    fired: Mutex<Vec<Fired>>,
    answer: Box<Answer>,
}

impl Recorder {
    fn new(
        clock: &Arc<ShiftedClock>,
        answer: impl Fn(&Timeout, usize) -> FireResult + Send + Sync + 'static,
    ) -> Arc<Self> {
        let answer: Box<Answer> = Box::new(answer);
        Arc::new(Self {
            clock: Arc::clone(clock),
            fired: Mutex::default(),
            answer,
        })
    }

    fn of(&self, order_no: OrderNo) -> Vec<Fired> {
        let fired = self.fired.lock().unwrap();
        fired
            .iter()
            .filter(|it| it.order_no == order_no)
            .cloned()
            .collect()
    }

    fn count(&self) -> usize {
        self.fired.lock().unwrap().len()
    }

    /// How often each order was fired.
    fn counts(&self) -> BTreeMap<OrderNo, usize> {
        let mut counts = BTreeMap::new();
        for fired in self.fired.lock().unwrap().iter() {
            *counts.entry(fired.order_no).or_default() += 1;
        }
        counts
    }

    fn assert_none_was_early(&self) {
        for fired in self.fired.lock().unwrap().iter() {
            assert!(fired.at >= fired.due_at, "early: {fired:?}");
        }
    }
}

#[async_trait]
impl DelayHandler for Recorder {
    async fn fire(&self, due: &Received<Timeout>) -> FireResult {
        let Timeout {
            order_no, due_at, ..
        } = due.message;
        let before = self.of(order_no).len();
        let fired = Fired {
            order_no,
            due_at,
            at: self.clock.now(),
            trace: due.trace,
        };
        self.fired.lock().unwrap().push(fired);
        (self.answer)(&due.message, before)
    }
}

struct Running {
    task: JoinHandle<Result<(), KafkaSetupError>>,
    cancel: CancellationToken,
}

impl Running {
    fn start(broker: &Broker, recorder: &Arc<Recorder>, limits: DelayLimits) -> Self {
        let cancel = CancellationToken::new();
        let clock: Arc<dyn Clock> = Arc::<ShiftedClock>::clone(&recorder.clock);
        let task = tokio::spawn(run_delayed(
            broker.subscription("expirer"),
            limits,
            clock,
            Arc::clone(recorder),
            cancel.clone(),
        ));
        Self { task, cancel }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.task.await.expect("no panic").expect("a clean end");
    }
}

async fn send_all(broker: &Broker, timeouts: impl IntoIterator<Item = Timeout>) {
    let sent: Vec<DeliveryFuture> = timeouts
        .into_iter()
        .map(|it| broker.producer.send(&it, None).unwrap())
        .collect();
    for delivery in sent {
        delivery.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_fire_when_they_are_due_never_before_and_exactly_once() {
    let broker = Broker::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let start = clock.now();
    let recorder = Recorder::new(&clock, |_, _| FireResult::Done);
    let running = Running::start(&broker, &recorder, LIMITS);
    send_all(&broker, (0..50).map(|number| timeout(number, start + HOUR))).await;
    // What was sent last in each partition is due first: when it has fired, all the others were read.
    send_all(&broker, (50..80).map(|number| timeout(number, start))).await;
    eventually("what is due", || recorder.count() >= 30).await;
    assert!((0..50).all(|number| recorder.of(order_no(number)).is_empty()));

    clock.advance(HOUR);
    eventually("the rest", || recorder.count() >= 80).await;
    running.stop().await;
    recorder.assert_none_was_early();

    let after = Recorder::new(&clock, |_, _| FireResult::Done);
    let running = Running::start(&broker, &after, LIMITS);
    send_all(&broker, (80..110).map(|number| timeout(number, start))).await;
    eventually("the new ones", || after.count() >= 30).await;
    running.stop().await;
    for counts in [recorder.counts(), after.counts()] {
        assert!(counts.values().all(|count| *count == 1));
    }
    assert!(
        after
            .counts()
            .into_keys()
            .all(|order| order >= order_no(80)),
        "the rest was committed"
    );
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_delay_is_kept_on_a_clock_that_nobody_moves() {
    let broker = Broker::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let recorder = Recorder::new(&clock, |_, _| FireResult::Done);
    let running = Running::start(&broker, &recorder, LIMITS);
    let trace = TraceParent::random();
    let soon = timeout(1, clock.now() + Millis(700));
    broker
        .producer
        .send(&soon, Some(trace))
        .unwrap()
        .await
        .unwrap();
    eventually("it fires", || recorder.count() == 1).await;
    running.stop().await;
    recorder.assert_none_was_early();
    assert_eq!(recorder.of(order_no(1))[0].trace, Some(trace));
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_early_fires_again_at_its_new_time() {
    let broker = Broker::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let start = clock.now();
    let later = start + HOUR;
    let recorder = Recorder::new(&clock, move |_, before| match before {
        0 => FireResult::Again(later),
        _ => FireResult::Done,
    });
    let running = Running::start(&broker, &recorder, LIMITS);
    send_all(&broker, [timeout(1, start)]).await;
    eventually("the first time", || recorder.count() == 1).await;
    clock.advance(HOUR);
    eventually("the second time", || recorder.count() == 2).await;
    running.stop().await;
    recorder.assert_none_was_early();
    assert_eq!(recorder.of(order_no(1))[1].due_at, later);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_firing_fails_is_repeated_and_ends_in_the_dead_letters() {
    let broker = Broker::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let start = clock.now();
    // Order 1 never succeeds, order 2 at the third attempt, order 3 panics once.
    let recorder = Recorder::new(&clock, |timeout, before| {
        let order = timeout.order_no;
        if order == order_no(1) || (order == order_no(2) && before < 2) {
            return FireResult::Retry("the cancel threw".into());
        }
        assert!(order != order_no(3) || before > 0, "on purpose");
        FireResult::Done
    });
    let running = Running::start(&broker, &recorder, LIMITS);
    send_all(&broker, (1..=4).map(|number| timeout(number, start))).await;
    broker
        .producer
        .enqueue(Topic::OrderTimeout, "?", b"{}", None)
        .unwrap()
        .await
        .unwrap();
    let mut letters = broker.dead_letters(Topic::OrderTimeout, 2).await;
    eventually("all attempts", || recorder.count() >= 9).await;
    running.stop().await;

    let counts: Vec<usize> = recorder.counts().into_values().collect();
    assert_eq!(counts, [3, 3, 2, 1]);
    letters.sort_by(|one, other| one.key.cmp(&other.key));
    let reasons: Vec<&str> = letters
        .iter()
        .map(|it| it.headers[dead_letter::REASON].as_str())
        .collect();
    assert_eq!(reasons.len(), 2);
    assert_eq!(letters[0].key, order_no(1).to_string());
    assert_eq!(reasons[0], "failed 3 times, at last: the cancel threw");
    assert_eq!(letters[1].key, "?");
    assert!(reasons[1].starts_with("malformed message"));

    let after = Recorder::new(&clock, |_, _| FireResult::Done);
    let running = Running::start(&broker, &after, LIMITS);
    send_all(&broker, (10..40).map(|number| timeout(number, start))).await;
    eventually("the new ones", || after.count() >= 30).await;
    running.stop().await;
    assert!(
        after.of(order_no(1)).is_empty(),
        "a dead letter is not fired any more"
    );
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_consumer_had_in_its_heap_fires_at_the_next() {
    let broker = Broker::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let start = clock.now();
    let killed = Recorder::new(&clock, |_, _| FireResult::Done);
    let running = Running::start(&broker, &killed, LIMITS);
    send_all(&broker, (0..40).map(|number| timeout(number, start + HOUR))).await;
    send_all(&broker, (40..60).map(|number| timeout(number, start))).await;
    eventually("what is due", || killed.count() >= 20).await;
    running.task.abort();
    assert!(running.task.await.unwrap_err().is_cancelled());

    clock.advance(HOUR);
    let next = Recorder::new(&clock, |_, _| FireResult::Done);
    let running = Running::start(&broker, &next, LIMITS);
    let waiting: BTreeSet<OrderNo> = (0..40).map(order_no).collect();
    eventually("all that waited", || {
        waiting
            .iter()
            .all(|order| next.counts().contains_key(order))
    })
    .await;
    running.stop().await;
    next.assert_none_was_early();
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_heap_reads_no_further_and_goes_on_without_losing_any() {
    const COUNT: u16 = 1_000;
    let broker = Broker::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let start = clock.now();
    send_all(
        &broker,
        (0..COUNT).map(|number| timeout(number, start + HOUR)),
    )
    .await;
    // Due at once, but behind more messages than the heap holds.
    send_all(
        &broker,
        (COUNT..COUNT + 20).map(|number| timeout(number, start)),
    )
    .await;
    let recorder = Recorder::new(&clock, |_, _| FireResult::Done);
    let limits = DelayLimits {
        heap_max: 100,
        ..LIMITS
    };
    let running = Running::start(&broker, &recorder, limits);
    // That nothing happens can only be seen by waiting.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(recorder.count(), 0, "the heap is bounded");

    clock.advance(HOUR);
    let all = usize::from(COUNT) + 20;
    eventually("all of them", || recorder.counts().len() == all).await;
    running.stop().await;
    recorder.assert_none_was_early();
    assert!(
        recorder.counts().values().all(|count| *count == 1),
        "and each once"
    );
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_consumers_share_the_partitions_and_the_heap_moves_with_them() {
    let broker = Broker::start().await;
    let clock = Arc::new(ShiftedClock::default());
    let start = clock.now();
    let recorders = [0, 1].map(|_| Recorder::new(&clock, |_, _| FireResult::Done));
    let first = Running::start(&broker, &recorders[0], LIMITS);
    send_all(
        &broker,
        (0..100).map(|number| timeout(number, start + HOUR)),
    )
    .await;
    send_all(&broker, (100..130).map(|number| timeout(number, start))).await;
    eventually("the first reads all", || recorders[0].count() >= 30).await;

    let second = Running::start(&broker, &recorders[1], LIMITS);
    let mut sent = 130;
    let patience = Patience::new();
    while recorders[1].count() == 0 {
        patience.wait_for("the second gets work").await;
        send_all(
            &broker,
            (sent..sent + 10).map(|number| timeout(number, start)),
        )
        .await;
        sent += 10;
    }
    clock.advance(HOUR);
    let fired = || -> BTreeSet<OrderNo> {
        recorders
            .iter()
            .flat_map(|it| it.counts().into_keys())
            .collect()
    };
    eventually("all of them", || fired().len() == usize::from(sent)).await;
    for running in [first, second] {
        running.stop().await;
    }
    let by = |recorder: &Recorder| {
        (0..100)
            .filter(|n| !recorder.of(order_no(*n)).is_empty())
            .count()
    };
    assert!(
        by(&recorders[0]) > 0 && by(&recorders[1]) > 0,
        "what waited fires at both"
    );
    assert_eq!(
        by(&recorders[0]) + by(&recorders[1]),
        100,
        "and at one of them each"
    );
    broker.stop().await;
}
