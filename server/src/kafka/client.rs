//! The settings of every Kafka client, and what becomes of what librdkafka has to say.

use super::{Producer, Topic, metric};
use rdkafka::{
    ClientConfig, ClientContext, Statistics, TopicPartitionList,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, ConsumerContext, Rebalance},
    error::{KafkaError, KafkaResult},
};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// How long a consumer may go without polling before its group takes its partitions away, in milliseconds.
///
/// Consumers keep polling while a handler repeats a batch, so this is only met by a handler that blocks its thread.
const POLL_INTERVAL_MS_MAX: &str = "600000";
/// How long a killed consumer keeps its partitions, in milliseconds. Timeouts must be resolved 15 s after a kill.
const SESSION_TIMEOUT_MS: &str = "8000";
/// A member hears of a rebalance with its heartbeat, in milliseconds; two rounds pass before another gets its partitions.
const HEARTBEAT_INTERVAL_MS: &str = "1000";
/// After this long without an acknowledgement the result of a send is unknown, in milliseconds.
const MESSAGE_TIMEOUT_MS: &str = "10000";
/// How long a message may wait for others to travel with, in milliseconds.
const LINGER_MS: &str = "5";
const PRODUCER_QUEUE_MESSAGES_MAX: &str = "100000";
const PRODUCER_QUEUE_KBYTES_MAX: &str = "65536";
/// What one consumer reads ahead, in kilobytes and messages; librdkafka's 64 MB a consumer would be most of the server.
const READ_AHEAD_KBYTES_MAX: &str = "8192";
const READ_AHEAD_MESSAGES: &str = "10000";
/// How long fetching rests when enough is read ahead, in milliseconds; the default of a second starves fast handlers.
const READ_AHEAD_REST_MS: &str = "20";
const RECONNECT_MS_MAX: &str = "1000";
const STATISTICS_INTERVAL_MS: &str = "10000";

/// Where Kafka is and how topics are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaConfig {
    /// `host:port`, several separated by commas.
    pub brokers: String,
    /// Goes before the name of every topic and group, so that several installations can share brokers. May be empty.
    pub prefix: String,
    /// Partitions of a new topic; the most servers that can share its work.
    pub partitions: i32,
    /// Copies of a new topic.
    pub replication: i32,
}

impl KafkaConfig {
    /// Partitions of a topic unless configured.
    pub const PARTITIONS: i32 = 12;

    /// Settings for brokers at `brokers`: no prefix, the default partitions, one copy.
    #[must_use]
    pub fn new(brokers: impl Into<String>) -> Self {
        Self {
            brokers: brokers.into(),
            prefix: String::new(),
            partitions: Self::PARTITIONS,
            replication: 1,
        }
    }

    /// The full name of a topic.
    #[must_use]
    pub fn topic(&self, topic: Topic) -> String {
        format!("{}{}", self.prefix, topic.name())
    }

    /// The full name of a topic's dead-letter topic.
    #[must_use]
    pub fn dead_letter_topic(&self, topic: Topic) -> String {
        format!("{}.dlq", self.topic(topic))
    }

    /// The full name of a consumer group.
    pub(super) fn group(&self, group: &str) -> String {
        format!("{}{group}", self.prefix)
    }

    pub(super) fn client(&self) -> ClientConfig {
        let mut client = ClientConfig::new();
        client
            .set("bootstrap.servers", &self.brokers)
            .set("client.id", "seatflow")
            .set("log.connection.close", "false")
            .set("reconnect.backoff.max.ms", RECONNECT_MS_MAX)
            .set_log_level(RDKafkaLogLevel::Error);
        client
    }

    pub(super) fn producer(&self) -> ClientConfig {
        let mut client = self.client();
        client
            .set("acks", "all")
            .set("enable.idempotence", "true")
            .set("linger.ms", LINGER_MS)
            .set("compression.type", "lz4")
            .set("message.timeout.ms", MESSAGE_TIMEOUT_MS)
            .set("queue.buffering.max.messages", PRODUCER_QUEUE_MESSAGES_MAX)
            .set("queue.buffering.max.kbytes", PRODUCER_QUEUE_KBYTES_MAX);
        client
    }

    pub(super) fn consumer(&self, group: &str) -> ClientConfig {
        let mut client = self.client();
        client
            .set("group.id", self.group(group))
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .set("auto.offset.reset", "earliest")
            .set("allow.auto.create.topics", "false")
            // What a member keeps in a rebalance it goes on with: its heap is not read again.
            .set("partition.assignment.strategy", "cooperative-sticky")
            .set("max.poll.interval.ms", POLL_INTERVAL_MS_MAX)
            .set("session.timeout.ms", SESSION_TIMEOUT_MS)
            .set("heartbeat.interval.ms", HEARTBEAT_INTERVAL_MS)
            .set("queued.max.messages.kbytes", READ_AHEAD_KBYTES_MAX)
            .set("queued.min.messages", READ_AHEAD_MESSAGES)
            .set("fetch.queue.backoff.ms", READ_AHEAD_REST_MS)
            .set("statistics.interval.ms", STATISTICS_INTERVAL_MS);
        client
    }
}

/// A Kafka client could not be made, or topics could not be made sure of.
#[derive(Debug, thiserror::Error)]
pub enum KafkaSetupError {
    /// librdkafka refused the settings or could not start.
    #[error("could not start a Kafka client")]
    Client(#[source] KafkaError),
    /// The brokers did not answer the request for topics.
    #[error("could not ask Kafka to create topics")]
    Admin(#[source] KafkaError),
    /// The brokers refused a topic.
    #[error("could not create the Kafka topic {topic}: {code}")]
    Topic {
        /// Its full name.
        topic: String,
        /// Why.
        code: rdkafka::types::RDKafkaErrorCode,
    },
}

/// What a consumer needs to take part in a group.
#[derive(Clone)]
pub struct Subscription {
    /// Where Kafka is.
    pub config: KafkaConfig,
    /// Writes dead letters and re-armed messages.
    pub producer: Producer,
    /// The group's name, without prefix. Members of one group share the work; each group sees every message.
    pub group: String,
}

/// Sends what librdkafka says to `tracing`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClientLog;

impl ClientContext for ClientLog {
    fn log(&self, _level: RDKafkaLogLevel, facility: &str, message: &str) {
        tracing::debug!(facility, message, "librdkafka");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::warn!(%error, reason, "kafka client");
    }
}

/// Partitions that came to a consumer or were taken from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Assigned(Vec<i32>),
    Revoked(Vec<i32>),
}

/// What a consumer hears besides messages.
///
/// librdkafka calls it from within a poll, so it only takes notes; the consumer reads them before it looks at the next
/// message.
#[derive(Debug, Default)]
pub(super) struct GroupNotes {
    group: String,
    changes: Mutex<Vec<Change>>,
    commit_failed: AtomicBool,
}

impl GroupNotes {
    pub(super) fn new(group: &str) -> Self {
        Self {
            group: group.to_owned(),
            ..Self::default()
        }
    }

    /// Changes since the last call, oldest first.
    pub(super) fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether an asynchronous commit failed since the last call.
    pub(super) fn take_commit_failed(&self) -> bool {
        self.commit_failed.swap(false, Ordering::Relaxed)
    }

    fn note(&self, change: Change) {
        self.changes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(change);
    }
}

impl ClientContext for GroupNotes {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        ClientLog.log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        ClientLog.error(error, reason);
    }

    fn stats(&self, statistics: Statistics) {
        let partitions = statistics
            .topics
            .values()
            .flat_map(|topic| topic.partitions.values());
        let lag: i64 = partitions
            .map(|partition| partition.consumer_lag.max(0))
            .sum();
        let lag = f64::from(u32::try_from(lag).unwrap_or(u32::MAX));
        metrics::gauge!(metric::CONSUMER_LAG, "group" => self.group.clone()).set(lag);
    }
}

impl ConsumerContext for GroupNotes {
    fn pre_rebalance(&self, _consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(list) => self.note(Change::Assigned(partitions_of(list))),
            Rebalance::Revoke(list) => self.note(Change::Revoked(partitions_of(list))),
            Rebalance::Error(error) => tracing::warn!(%error, group = self.group, "rebalance"),
        }
    }

    fn commit_callback(&self, result: KafkaResult<()>, _offsets: &TopicPartitionList) {
        if let Err(error) = result {
            // Usual in a rebalance; the offsets are sent again.
            tracing::debug!(%error, group = self.group, "offsets were not committed");
            self.commit_failed.store(true, Ordering::Relaxed);
        }
    }
}

/// A consumer reads one topic, so the partition's number says all.
fn partitions_of(list: &TopicPartitionList) -> Vec<i32> {
    list.elements()
        .iter()
        .map(|element| element.partition())
        .collect()
}
