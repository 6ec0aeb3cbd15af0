//! A consumer that fires each message when it is due.
//!
//! It reads ahead into a heap ordered by due time. Nothing sleeps inside a poll: one loop waits for the next message, the
//! earliest due time and the end of what it has fired, whichever comes first. A partition is committed up to the earliest
//! message that is not resolved, so after a crash everything unresolved is read and fired again.
//!
//! A message that is to fire later than it says ([`FireResult::Again`]) is written anew with its new time and the old one
//! is resolved; were it kept, one often delayed order would hold back the commits of its whole partition. A message whose
//! firing fails stays in the heap under a later time, and after [`DelayLimits::tries_max`] attempts goes to the dead
//! letters.
//!
//! The heap is bounded. When it is full, fetching stops until it is half empty; a message behind that bound can fire late,
//! and the sweeper over the rows is what keeps its deadline then.

mod memory;

use super::{
    BoxError, KafkaSetupError, Message as _, Pauses, Producer, Subscription,
    client::Change,
    dead_letter::DeadLetters,
    group::{Gone, Member, RESTART_PAUSE},
    messages::Timeout,
    metric,
    pauses::surviving,
};
use crate::{
    clock::Clock,
    fault::{self, Point},
};
use app::domain::time::{Millis, Timestamp};
use memory::{Entry, Memory};
use std::{sync::Arc, time::Duration};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

pub use super::group::Received;

/// The longest wait; a clock that is moved meanwhile is noticed after it.
const TICK: Duration = Duration::from_millis(50);
const COMMIT_INTERVAL: Duration = Duration::from_millis(200);
/// How long what is being fired may take when the server stops.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// Bounds of a delayed consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayLimits {
    /// Messages in memory, those being fired included; each takes about 300 bytes.
    pub heap_max: usize,
    /// Messages being fired at once.
    pub firing_max: usize,
    /// Attempts at one message before it goes to the dead letters.
    pub tries_max: u32,
    /// Pauses between these attempts.
    pub pauses: Pauses,
}

impl Default for DelayLimits {
    /// 100,000 in memory, 32 at once, 10 attempts within a minute and a half, which outlasts a database restart.
    fn default() -> Self {
        let pauses = Pauses {
            first: Duration::from_millis(200),
            longest: Duration::from_secs(30),
        };
        Self {
            heap_max: 100_000,
            firing_max: 32,
            tries_max: 10,
            pauses,
        }
    }
}

/// What is done when a message is due.
#[async_trait::async_trait]
pub trait DelayHandler: Send + Sync + 'static {
    /// Acts on a message that is due, never earlier. It may come more than once: what it wakes decides what there is to do.
    async fn fire(&self, due: &Received<Timeout>) -> FireResult;
}

/// What became of a message that was fired.
#[derive(Debug)]
pub enum FireResult {
    /// It is done with.
    Done,
    /// It was early: fire it again at this time.
    Again(Timestamp),
    /// Something was out of reach: try again after a pause. A panic means the same.
    Retry(BoxError),
}

/// Fires messages until `cancel`; what is being fired then has 5 s to finish.
///
/// # Errors
/// When a client can't be made of the settings. Brokers out of reach are no error: it goes on when they are back.
pub async fn run_delayed<H: DelayHandler>(
    subscription: Subscription,
    limits: DelayLimits,
    clock: Arc<dyn Clock>,
    handler: Arc<H>,
    cancel: CancellationToken,
) -> Result<(), KafkaSetupError> {
    let topic = Timeout::TOPIC;
    let trigger = Arc::new(Trigger {
        handler,
        producer: subscription.producer.clone(),
        dead_letters: DeadLetters::new(&subscription, topic),
        group: subscription.group.clone(),
        limits,
    });
    loop {
        let mut consumer = DelayedConsumer {
            member: Member::join(&subscription, topic)?,
            trigger: Arc::clone(&trigger),
            clock: Arc::clone(&clock),
            memory: Memory::default(),
            firing: JoinSet::new(),
            paused: false,
            committed_at: Instant::now(),
        };
        match consumer.run(&cancel).await {
            Ok(()) => {
                consumer.finish().await;
                return Ok(());
            }
            Err(Gone) => sleep(RESTART_PAUSE).await,
        }
    }
}

/// What a fired message comes back with.
enum Outcome {
    Resolved,
    /// To be fired again after a pause.
    Failed(Duration),
}

struct DelayedConsumer<H> {
    member: Member,
    trigger: Arc<Trigger<H>>,
    clock: Arc<dyn Clock>,
    memory: Memory,
    firing: JoinSet<(Entry, Outcome)>,
    paused: bool,
    committed_at: Instant,
}

impl<H: DelayHandler> DelayedConsumer<H> {
    async fn run(&mut self, cancel: &CancellationToken) -> Result<(), Gone> {
        loop {
            self.apply_changes();
            self.fire_due();
            self.regulate();
            self.commit_now_and_then();
            let wait = self.wait();
            tokio::select! {
                () = cancel.cancelled() => return Ok(()),
                next = self.member.next() => {
                    let message = next?;
                    self.apply_changes();
                    self.memory.accept(message, self.clock.now());
                }
                Some(fired) = self.firing.join_next() => {
                    if let Ok((entry, outcome)) = fired {
                        self.settle(entry, outcome);
                    }
                }
                () = sleep(wait) => {}
            }
        }
    }

    fn apply_changes(&mut self) {
        for change in self.member.take_changes() {
            match change {
                Change::Assigned(partitions) => {
                    self.memory.assign(&partitions);
                    if self.paused {
                        self.member.pause();
                    }
                }
                Change::Revoked(partitions) => self.memory.revoke(&partitions),
            }
        }
    }

    fn fire_due(&mut self) {
        while self.firing.len() < self.trigger.limits.firing_max {
            let now = self.clock.now();
            let Some((_, entry)) = self.memory.pop_due(now) else {
                break;
            };
            let trigger = Arc::clone(&self.trigger);
            self.firing.spawn(async move { trigger.pull(entry).await });
        }
    }

    /// Stops fetching when the heap is full and goes on when it is half empty.
    fn regulate(&mut self) {
        let heap_max = self.trigger.limits.heap_max;
        let held = self.held();
        if held >= heap_max && !self.paused {
            self.member.pause();
            self.paused = true;
        } else if self.paused && held <= heap_max / 2 {
            self.member.resume();
            self.paused = false;
        }
    }

    fn held(&self) -> usize {
        self.memory.len() + self.firing.len()
    }

    fn wait(&self) -> Duration {
        if self.firing.len() >= self.trigger.limits.firing_max {
            return TICK;
        }
        let Some(due_at) = self.memory.next_due() else {
            return TICK;
        };
        let remaining_ms = u64::try_from((due_at - self.clock.now()).0).unwrap_or(0);
        Duration::from_millis(remaining_ms).min(TICK)
    }

    fn settle(&mut self, entry: Entry, outcome: Outcome) {
        match outcome {
            Outcome::Resolved => self.memory.resolve(&entry),
            Outcome::Failed(pause) => {
                let pause_ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
                self.memory
                    .put_back(entry, self.clock.now() + Millis(pause_ms));
            }
        }
    }

    fn commit_now_and_then(&mut self) {
        if self.committed_at.elapsed() < COMMIT_INTERVAL {
            return;
        }
        self.committed_at = Instant::now();
        let held = u32::try_from(self.held()).unwrap_or(u32::MAX);
        metrics::gauge!(metric::DELAY_HEAP_SIZE).set(f64::from(held));
        let positions = if self.member.take_commit_failed() {
            self.memory.positions()
        } else {
            self.memory.moved_positions()
        };
        self.member.commit(&positions);
    }

    async fn finish(mut self) {
        let rest = async {
            while let Some(fired) = self.firing.join_next().await {
                if let Ok((entry, outcome)) = fired {
                    self.settle(entry, outcome);
                }
            }
        };
        if timeout(FINISH_TIMEOUT, rest).await.is_err() {
            tracing::warn!(
                group = self.trigger.group,
                "timeouts were still being fired at the end"
            );
        }
        self.apply_changes();
        self.member.leave(self.memory.positions()).await;
    }
}

/// Fires one message; it knows nothing of partitions and commits.
struct Trigger<H> {
    handler: Arc<H>,
    producer: Producer,
    dead_letters: DeadLetters,
    group: String,
    limits: DelayLimits,
}

impl<H: DelayHandler> Trigger<H> {
    async fn pull(&self, mut entry: Entry) -> (Entry, Outcome) {
        let outcome = match entry.message.read::<Timeout>() {
            Err(fault) => self.bury(&mut entry, &fault.reason()).await,
            Ok(received) => self.fire(&mut entry, received).await,
        };
        (entry, outcome)
    }

    async fn fire(&self, entry: &mut Entry, received: Received<Timeout>) -> Outcome {
        let cause: BoxError = match surviving(self.handler.fire(&received)).await {
            Some(FireResult::Done) => return Outcome::Resolved,
            Some(FireResult::Again(due_at)) => match self.write_anew(received, due_at).await {
                Ok(()) => return Outcome::Resolved,
                Err(error) => error.into(),
            },
            Some(FireResult::Retry(cause)) => cause,
            None => "the handler panicked".into(),
        };
        entry.failures += 1;
        metrics::counter!(metric::RETRIES, "group" => self.group.clone()).increment(1);
        tracing::warn!(
            error = &*cause as &(dyn std::error::Error + 'static),
            order_no = %String::from_utf8_lossy(&entry.message.key),
            failures = entry.failures,
            "timeout is repeated"
        );
        if entry.failures < self.limits.tries_max {
            return Outcome::Failed(self.limits.pauses.after(entry.failures));
        }
        let reason = format!("failed {} times, at last: {cause}", entry.failures);
        self.bury(entry, &reason).await
    }

    async fn write_anew(
        &self,
        received: Received<Timeout>,
        due_at: Timestamp,
    ) -> Result<(), super::ProduceError> {
        let message = Timeout {
            due_at,
            ..received.message
        };
        self.producer.send(&message, received.trace)?.await?;
        fault::point(Point::RearmAfterSend);
        Ok(())
    }

    /// Writes a dead letter; when that fails the message is fired once more after the longest pause.
    async fn bury(&self, entry: &mut Entry, reason: &str) -> Outcome {
        match self.dead_letters.bury(&entry.message, reason).await {
            Ok(()) => {
                fault::point(Point::TimeoutAfterLetter);
                Outcome::Resolved
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &(dyn std::error::Error + 'static),
                    group = self.group,
                    "dead letter is repeated"
                );
                entry.failures = entry.failures.max(1);
                Outcome::Failed(self.limits.pauses.longest)
            }
        }
    }
}
