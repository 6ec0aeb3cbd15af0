//! A member of a consumer group that reads one topic: next message, commit, pause, leave.

use super::{
    KafkaSetupError, Message, Subscription, Topic, TraceParent,
    client::{Change, GroupNotes},
    messages::UnreadableMessage,
    trace::TRACEPARENT,
};
use app::domain::time::Timestamp;
use rdkafka::{
    Message as _, Offset, TopicPartitionList,
    consumer::{CommitMode, Consumer as _, StreamConsumer},
    error::{KafkaError, KafkaResult},
    message::{BorrowedMessage, Headers as _},
};
use std::{collections::BTreeMap, time::Duration};

/// How long leaving a group may hold up whoever waits for it.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a consumer rests before it starts over after an error from which its client can't recover.
pub(super) const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// By partition, the offset of the first message that is not done yet.
pub(super) type Positions = BTreeMap<i32, i64>;

/// A message as it came, not read yet.
#[derive(Debug, Clone)]
pub(super) struct Arrived {
    pub(super) partition: i32,
    pub(super) offset: i64,
    pub(super) key: Vec<u8>,
    pub(super) payload: Vec<u8>,
    pub(super) sent_at: Option<Timestamp>,
    pub(super) trace: Option<TraceParent>,
}

/// A message that was read, with what came along.
#[derive(Debug, Clone)]
pub struct Received<M> {
    /// The message, upgraded to its newest version.
    pub message: M,
    /// What it is keyed by.
    pub key: String,
    /// When its sender handed it to Kafka; none when the topic keeps no times.
    pub sent_at: Option<Timestamp>,
    /// The trace that caused it.
    pub trace: Option<TraceParent>,
}

impl Arrived {
    fn from_borrowed(message: &BorrowedMessage<'_>) -> Self {
        let trace = message.headers().and_then(|headers| {
            let header = headers.iter().find(|header| header.key == TRACEPARENT)?;
            std::str::from_utf8(header.value?).ok()?.parse().ok()
        });
        Self {
            partition: message.partition(),
            offset: message.offset(),
            key: message.key().unwrap_or_default().to_vec(),
            payload: message.payload().unwrap_or_default().to_vec(),
            sent_at: message.timestamp().to_millis().map(Timestamp),
            trace,
        }
    }

    pub(super) fn read<M: Message>(&self) -> Result<Received<M>, UnreadableMessage> {
        Ok(Received {
            message: M::decode(&self.payload)?,
            key: String::from_utf8_lossy(&self.key).into_owned(),
            sent_at: self.sent_at,
            trace: self.trace,
        })
    }
}

/// The client met an error from which it can't recover; a new one has to take its place.
#[derive(Debug)]
pub(super) struct Gone;

/// A member of a group.
///
/// Leaving a group talks to the brokers and blocks, so it happens on a thread of its own: in [`Member::leave`], which waits
/// for it a while, or when a member is dropped, which does not.
pub(super) struct Member {
    consumer: Option<StreamConsumer<GroupNotes>>,
    topic: String,
    group: String,
}

impl Member {
    pub(super) fn join(subscription: &Subscription, topic: Topic) -> Result<Self, KafkaSetupError> {
        let config = &subscription.config;
        let topic = config.topic(topic);
        let consumer: StreamConsumer<GroupNotes> = config
            .consumer(&subscription.group)
            .create_with_context(GroupNotes::new(&subscription.group))
            .map_err(KafkaSetupError::Client)?;
        consumer
            .subscribe(&[&topic])
            .map_err(KafkaSetupError::Client)?;
        Ok(Self {
            consumer: Some(consumer),
            topic,
            group: subscription.group.clone(),
        })
    }

    /// Waits for the next message. May be dropped at any time without losing one.
    ///
    /// Changes of the assignment that came before the message are in [`Member::take_changes`] when it returns.
    pub(super) async fn next(&self) -> Result<Arrived, Gone> {
        let Some(consumer) = &self.consumer else {
            return Err(Gone);
        };
        loop {
            match consumer.recv().await {
                Ok(message) => return Ok(Arrived::from_borrowed(&message)),
                Err(KafkaError::MessageConsumptionFatal(code)) => {
                    tracing::error!(%code, group = self.group, "kafka consumer is restarted");
                    return Err(Gone);
                }
                Err(error) => tracing::warn!(%error, group = self.group, "kafka consumer"),
            }
        }
    }

    /// Partitions that came or went since the last call, oldest first.
    pub(super) fn take_changes(&self) -> Vec<Change> {
        self.consumer
            .as_ref()
            .map(|it| it.context().take_changes())
            .unwrap_or_default()
    }

    /// Whether a commit failed since the last call, so that it has to be sent again.
    pub(super) fn take_commit_failed(&self) -> bool {
        self.consumer
            .as_ref()
            .is_some_and(|it| it.context().take_commit_failed())
    }

    /// Sends positions to the brokers without waiting.
    pub(super) fn commit(&self, positions: &Positions) {
        self.attempt("commit", |consumer| {
            if positions.is_empty() {
                return Ok(());
            }
            consumer.commit(&self.list(positions)?, CommitMode::Async)
        });
    }

    /// Stops fetching, of every partition that is assigned now. What is read ahead is thrown away and fetched again later,
    /// which costs up to a second: this is for a consumer that can take no more, not for its ordinary pace.
    pub(super) fn pause(&self) {
        self.attempt("pause", |consumer| consumer.pause(&consumer.assignment()?));
    }

    /// Goes on fetching.
    pub(super) fn resume(&self) {
        self.attempt("resume", |consumer| {
            consumer.resume(&consumer.assignment()?)
        });
    }

    /// Commits positions and leaves the group, so that others get its partitions at once.
    pub(super) async fn leave(mut self, positions: Positions) {
        let Some(consumer) = self.consumer.take() else {
            return;
        };
        let list = self.list(&positions);
        let group = self.group.clone();
        let (left, leaving) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            if !positions.is_empty()
                && let Err(error) = list.and_then(|it| consumer.commit(&it, CommitMode::Sync))
            {
                tracing::warn!(%error, group, "last offsets were not committed");
            }
            drop(consumer);
            drop(left);
        });
        if tokio::time::timeout(LEAVE_TIMEOUT, leaving).await.is_err() {
            tracing::warn!(
                group = self.group,
                "kafka consumer did not leave its group in time"
            );
        }
    }

    fn attempt(
        &self,
        what: &str,
        call: impl FnOnce(&StreamConsumer<GroupNotes>) -> KafkaResult<()>,
    ) {
        if let Some(consumer) = &self.consumer
            && let Err(error) = call(consumer)
        {
            tracing::warn!(%error, what, group = self.group, "kafka consumer");
        }
    }

    fn list(&self, positions: &Positions) -> KafkaResult<TopicPartitionList> {
        let mut list = TopicPartitionList::new();
        for (&partition, &offset) in positions {
            list.add_partition_offset(&self.topic, partition, Offset::Offset(offset))?;
        }
        Ok(list)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(consumer) = self.consumer.take() {
            std::thread::spawn(move || drop(consumer));
        }
    }
}
