//! A consumer that hands whole batches to a handler.
//!
//! One batch after the other: what is there is collected up to the limits, handled, and committed. A batch that fails is
//! repeated as it is until it succeeds, for as long as what it needs is away; nothing is skipped. A message that can never
//! be handled must not stop its partition: the handler names it, or panics at it again and again, and it goes to the dead
//! letters. Instances of one group share the partitions.

use super::{
    BoxError, KafkaSetupError, Message, Subscription,
    client::Change,
    dead_letter::DeadLetters,
    group::{Arrived, Gone, Member, Positions, RESTART_PAUSE},
    metric,
    pauses::{Pauses, surviving},
};
use crate::fault::{self, Point};
use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

pub use super::group::Received;

/// A consumer polls at least this often when there is nothing to do, to send failed commits again.
const IDLE_TICK: Duration = Duration::from_millis(500);
/// After this long with one batch, a consumer stops fetching and polls all the same, so that its group goes on. A handler
/// that is not in trouble is done before.
const PATIENCE: Duration = Duration::from_secs(1);
/// Pauses between attempts at one batch, and at one dead letter.
const PAUSES: Pauses = Pauses {
    first: Duration::from_millis(50),
    longest: Duration::from_millis(2_000),
};

/// After so many panics in a row the messages of a batch are handed in one by one, and one that makes the handler panic
/// as often by itself is given up.
const PANICS_MAX: u32 = 5;

/// How much a handler gets at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Messages of one batch; at least 1.
    pub messages_max: usize,
    /// How long the first message of a batch waits for others, in milliseconds.
    pub linger_ms_max: u64,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self {
            messages_max: 200,
            linger_ms_max: 5,
        }
    }
}

/// Handles batches. Every batch may come again, whole or in part or regrouped: the state that a handler writes tells it what
/// is done already.
#[async_trait::async_trait]
pub trait BatchHandler: Send + Sync + 'static {
    /// What is read; its topic is [`Message::TOPIC`].
    type Message: Message;

    /// Handles a batch. Messages of one key are in the order in which they were sent.
    ///
    /// # Errors
    /// [`HandlerError`] says whether the batch is repeated or some messages are given up. A panic is a wish to repeat, too,
    /// but not for ever.
    async fn handle(&self, batch: &[Received<Self::Message>]) -> Result<(), HandlerError>;
}

/// Why a batch is not done.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// Something was out of reach: hand in the same batch again after a pause, for as long as it takes.
    #[error("the batch has to be repeated")]
    Retry(#[source] BoxError),
    /// These messages can never be handled. All others of the batch are done.
    #[error("messages of the batch were given up")]
    Poison(Vec<Poison>),
}

/// A message that can never be handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poison {
    /// Its place in the batch.
    pub index: usize,
    /// Why, for the person who reads the dead letter.
    pub reason: String,
}

/// Reads batches until `cancel`; the batch in hand is finished and committed first, unless it waits for a repetition.
///
/// # Errors
/// When a client can't be made of the settings. Brokers out of reach are no error: it goes on when they are back.
pub async fn run_batches<H: BatchHandler>(
    subscription: Subscription,
    limits: BatchLimits,
    handler: Arc<H>,
    cancel: CancellationToken,
) -> Result<(), KafkaSetupError> {
    let topic = H::Message::TOPIC;
    let bench = Arc::new(Bench {
        handler,
        dead_letters: DeadLetters::new(&subscription, topic),
        group: subscription.group.clone(),
        cancel: cancel.clone(),
    });
    loop {
        let mut consumer = BatchConsumer {
            member: Member::join(&subscription, topic)?,
            bench: Arc::clone(&bench),
            limits,
            waiting: VecDeque::new(),
            owned: BTreeSet::new(),
            positions: Positions::new(),
        };
        match consumer.run(&cancel).await {
            Ok(()) => {
                consumer.apply_changes();
                consumer.member.leave(consumer.positions).await;
                return Ok(());
            }
            Err(Gone) => sleep(RESTART_PAUSE).await,
        }
    }
}

struct BatchConsumer<H> {
    member: Member,
    bench: Arc<Bench<H>>,
    limits: BatchLimits,
    /// Arrived and not handled yet.
    waiting: VecDeque<Arrived>,
    /// Partitions that are this consumer's.
    owned: BTreeSet<i32>,
    positions: Positions,
}

impl<H: BatchHandler> BatchConsumer<H> {
    async fn run(&mut self, cancel: &CancellationToken) -> Result<(), Gone> {
        loop {
            tokio::select! {
                () = cancel.cancelled() => return Ok(()),
                filled = self.fill() => filled?,
            }
            self.apply_changes();
            if self.member.take_commit_failed() {
                self.member.commit(&self.positions);
            }
            let count = self.waiting.len().min(self.limits.messages_max.max(1));
            let batch: Vec<Arrived> = self.waiting.drain(..count).collect();
            if batch.is_empty() {
                continue;
            }
            if !self.see_through(&batch).await? {
                return Ok(());
            }
            fault::point(Point::BatchBeforeCommit);
            self.commit(&batch);
            fault::point(Point::BatchAfterCommit);
        }
    }

    /// Collects a batch, or returns with nothing after a while.
    async fn fill(&mut self) -> Result<(), Gone> {
        if self.waiting.is_empty() {
            match timeout(IDLE_TICK, self.member.next()).await {
                Ok(next) => self.accept(next?),
                Err(_) => return Ok(()),
            }
        }
        let deadline = Instant::now() + Duration::from_millis(self.limits.linger_ms_max);
        while self.waiting.len() < self.limits.messages_max {
            match timeout_at(deadline, self.member.next()).await {
                Ok(next) => self.accept(next?),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Has a batch handled. False when the server stops before that succeeded.
    async fn see_through(&mut self, batch: &[Arrived]) -> Result<bool, Gone> {
        let bench = Arc::clone(&self.bench);
        let work = bench.see_through(batch);
        tokio::pin!(work);
        if let Ok(done) = timeout(PATIENCE, &mut work).await {
            return Ok(done);
        }
        self.member.pause();
        loop {
            tokio::select! {
                done = &mut work => {
                    self.member.resume();
                    return Ok(done);
                }
                next = self.member.next() => {
                    // From a partition that was assigned just now.
                    self.accept(next?);
                    self.member.pause();
                }
            }
        }
    }

    fn accept(&mut self, message: Arrived) {
        self.apply_changes();
        self.waiting.push_back(message);
    }

    fn apply_changes(&mut self) {
        for change in self.member.take_changes() {
            match change {
                Change::Assigned(partitions) => self.owned.extend(partitions),
                Change::Revoked(partitions) => {
                    self.owned
                        .retain(|partition| !partitions.contains(partition));
                    self.positions
                        .retain(|partition, _| !partitions.contains(partition));
                    self.waiting
                        .retain(|message| !partitions.contains(&message.partition));
                }
            }
        }
    }

    /// Commits a batch that is done. What was taken away meanwhile is the new owner's to commit.
    fn commit(&mut self, batch: &[Arrived]) {
        self.apply_changes();
        for message in batch
            .iter()
            .filter(|message| self.owned.contains(&message.partition))
        {
            let position = self.positions.entry(message.partition).or_insert(0);
            *position = (*position).max(message.offset + 1);
        }
        self.member.commit(&self.positions);
    }
}

/// How handing messages in came to an end.
enum Ended {
    /// The handler is done with them, but for those it gave up.
    Done(Vec<Poison>),
    Panicked,
}

/// Where one batch is worked on; it knows nothing of partitions and commits.
struct Bench<H> {
    handler: Arc<H>,
    dead_letters: DeadLetters,
    group: String,
    cancel: CancellationToken,
}

impl<H: BatchHandler> Bench<H> {
    async fn see_through(&self, batch: &[Arrived]) -> bool {
        let mut readable = Vec::with_capacity(batch.len());
        let mut origins = Vec::with_capacity(batch.len());
        for arrived in batch {
            match arrived.read::<H::Message>() {
                Ok(received) => {
                    readable.push(received);
                    origins.push(arrived);
                }
                Err(fault) => {
                    if !self.bury(arrived, &fault.reason()).await {
                        return false;
                    }
                }
            }
        }
        if readable.is_empty() {
            return true;
        }
        let poisoned = match self.repeat(&readable).await {
            Some(poisoned) => poisoned,
            None => return false,
        };
        for poison in poisoned {
            if let Some(origin) = origins.get(poison.index)
                && !self.bury(origin, &poison.reason).await
            {
                return false;
            }
        }
        true
    }

    /// Hands a batch in until the handler is done with it, and says what was given up. None when the server stops first.
    async fn repeat(&self, batch: &[Received<H::Message>]) -> Option<Vec<Poison>> {
        if let Ended::Done(poisoned) = self.attempt(batch).await? {
            return Some(poisoned);
        }
        let mut all = Vec::new();
        for (index, message) in batch.iter().enumerate() {
            match self.attempt(std::slice::from_ref(message)).await? {
                Ended::Done(poisoned) => {
                    all.extend(poisoned.into_iter().map(|it| Poison { index, ..it }));
                }
                Ended::Panicked => all.push(Poison {
                    index,
                    reason: format!("the handler panicked {PANICS_MAX} times at it alone"),
                }),
            }
        }
        Some(all)
    }

    /// Hands messages in until the handler is done with them or has panicked too often. None when the server stops first.
    async fn attempt(&self, batch: &[Received<H::Message>]) -> Option<Ended> {
        let mut panics = 0;
        for failures in 1.. {
            match surviving(self.handler.handle(batch)).await {
                Some(Ok(())) => return Some(Ended::Done(Vec::new())),
                Some(Err(HandlerError::Poison(poisoned))) => return Some(Ended::Done(poisoned)),
                Some(Err(HandlerError::Retry(cause))) => {
                    panics = 0;
                    tracing::warn!(
                        error = &*cause as &(dyn std::error::Error + 'static),
                        group = self.group,
                        failures,
                        "batch is repeated"
                    );
                }
                None => {
                    panics += 1;
                    tracing::error!(group = self.group, failures, "batch handler panicked");
                    if panics == PANICS_MAX {
                        return Some(Ended::Panicked);
                    }
                }
            }
            metrics::counter!(metric::RETRIES, "group" => self.group.clone()).increment(1);
            if !self.rest(failures).await {
                break;
            }
        }
        None
    }

    /// Writes a dead letter, for as long as it takes. False when the server stops first.
    async fn bury(&self, message: &Arrived, reason: &str) -> bool {
        fault::point(Point::BuryBeforeLetter);
        for failures in 1.. {
            match self.dead_letters.bury(message, reason).await {
                Ok(()) => {
                    fault::point(Point::BuryAfterLetter);
                    return true;
                }
                Err(error) => {
                    tracing::warn!(
                        error = &error as &(dyn std::error::Error + 'static),
                        group = self.group,
                        failures,
                        "dead letter is repeated"
                    );
                }
            }
            if !self.rest(failures).await {
                break;
            }
        }
        false
    }

    /// Rests after a failure. False when the server stops meanwhile.
    async fn rest(&self, failures: u32) -> bool {
        tokio::select! {
            () = self.cancel.cancelled() => false,
            () = sleep(PAUSES.after(failures)) => true,
        }
    }
}
