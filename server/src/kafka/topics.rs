//! The topics, and making sure that they are there.

use super::{KafkaConfig, KafkaSetupError, client::ClientLog};
use rdkafka::{
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    types::RDKafkaErrorCode,
};
use std::time::Duration;

/// How long Kafka keeps messages: 8 days, far above the longest delay plus a day.
const RETENTION_MS: &str = "691200000";
/// How long Kafka keeps dead letters: 30 days, so that a person sees them.
const DEAD_LETTER_RETENTION_MS: &str = "2592000000";
/// Dead letters are few, and are read in the order in which they came.
const DEAD_LETTER_PARTITIONS: i32 = 1;
const ADMIN_TIMEOUT: Duration = Duration::from_secs(20);

/// A topic. Each has a dead-letter topic of the same name with `.dlq` behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Orders whose seats are held and whose row is to be written.
    OrderCreate,
    /// Orders whose deadline is to be watched.
    OrderTimeout,
    /// What happened to orders: paid, closed, refunded.
    OrderEvents,
    /// Messages to customers.
    Notify,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 4] = [
        Self::OrderCreate,
        Self::OrderTimeout,
        Self::OrderEvents,
        Self::Notify,
    ];

    /// The name without the installation's prefix.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderCreate => "order.create",
            Self::OrderTimeout => "order.timeout",
            Self::OrderEvents => "order.events",
            Self::Notify => "notify",
        }
    }
}

/// Makes every topic and its dead-letter topic that is not there yet. Topics that exist stay as they are.
///
/// They are never compacted: two messages of one key are two facts.
///
/// # Errors
/// When the brokers can't be reached within 20 s or refuse a topic.
pub async fn ensure_topics(config: &KafkaConfig) -> Result<(), KafkaSetupError> {
    let admin: AdminClient<ClientLog> = config
        .client()
        .create_with_context(ClientLog)
        .map_err(KafkaSetupError::Client)?;
    let names = Topic::ALL.map(|topic| (config.topic(topic), config.dead_letter_topic(topic)));
    let wanted: Vec<NewTopic<'_>> = names
        .iter()
        .flat_map(|(name, dead)| {
            [
                new_topic(config, name, config.partitions, RETENTION_MS),
                new_topic(
                    config,
                    dead,
                    DEAD_LETTER_PARTITIONS,
                    DEAD_LETTER_RETENTION_MS,
                ),
            ]
        })
        .collect();
    let options = AdminOptions::new()
        .request_timeout(Some(ADMIN_TIMEOUT))
        .operation_timeout(Some(ADMIN_TIMEOUT));
    let results = admin.create_topics(&wanted, &options).await;
    // Its thread is joined on drop, which would hold up the runtime.
    tokio::task::spawn_blocking(move || drop(admin));
    for result in results.map_err(KafkaSetupError::Admin)? {
        match result {
            Ok(topic) => tracing::info!(topic, "made a Kafka topic"),
            Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((topic, code)) => return Err(KafkaSetupError::Topic { topic, code }),
        }
    }
    Ok(())
}

fn new_topic<'a>(
    config: &KafkaConfig,
    name: &'a str,
    partitions: i32,
    retention_ms: &'a str,
) -> NewTopic<'a> {
    let topic = NewTopic::new(
        name,
        partitions,
        TopicReplication::Fixed(config.replication),
    )
    .set("cleanup.policy", "delete")
    .set("retention.ms", retention_ms);
    // With three copies an acknowledgement means two of them, so that losing one broker loses nothing.
    if config.replication >= 3 {
        topic.set("min.insync.replicas", "2")
    } else {
        topic
    }
}
