//! How far a consumer group has come in a topic, for those who must wait until it has handled what was there.

use super::{KafkaConfig, KafkaSetupError, Topic, client::ClientLog};
use rdkafka::{
    Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _, ConsumerContext},
    error::KafkaError,
};
use std::{sync::Arc, time::Duration};

/// How long one question to the brokers may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

impl ConsumerContext for ClientLog {}

/// The brokers did not say how far a group has come.
#[derive(Debug, thiserror::Error)]
pub enum ProgressError {
    /// They did not answer, or not what was asked.
    #[error("Kafka did not say how far a group has come")]
    Kafka(#[from] KafkaError),
    /// The thread that asked ended early.
    #[error("the question was given up")]
    GivenUp,
}

/// Where the partitions of a topic ended at one moment. Those with nothing in them are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicEnds(Vec<(i32, i64)>);

impl TopicEnds {
    /// Whether the topic had nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Looks at a group's committed offsets from outside: it reads no message and takes no partition away from a member.
pub struct GroupProgress {
    topic: String,
    client: Option<Arc<BaseConsumer<ClientLog>>>,
}

impl GroupProgress {
    /// Prepares to ask. It does not wait for the brokers.
    ///
    /// # Errors
    /// When librdkafka refuses the settings.
    pub fn new(config: &KafkaConfig, topic: Topic, group: &str) -> Result<Self, KafkaSetupError> {
        let client = config
            .consumer(group)
            .create_with_context(ClientLog)
            .map_err(KafkaSetupError::Client)?;
        Ok(Self {
            topic: config.topic(topic),
            client: Some(Arc::new(client)),
        })
    }

    /// Where the topic ends now.
    ///
    /// # Errors
    /// When the brokers don't answer within some seconds.
    pub async fn ends(&self) -> Result<TopicEnds, ProgressError> {
        let topic = self.topic.clone();
        self.ask(move |client| {
            let metadata = client.fetch_metadata(Some(&topic), ANSWER_TIMEOUT)?;
            let partitions = metadata
                .topics()
                .iter()
                .flat_map(|topic| topic.partitions().iter().map(|partition| partition.id()));
            let mut ends = Vec::new();
            for partition in partitions {
                let (low, high) = client.fetch_watermarks(&topic, partition, ANSWER_TIMEOUT)?;
                if high > low {
                    ends.push((partition, high));
                }
            }
            Ok(TopicEnds(ends))
        })
        .await
    }

    /// Whether the group has committed everything before these ends.
    ///
    /// # Errors
    /// When the brokers don't answer within some seconds.
    pub async fn has_passed(&self, ends: &TopicEnds) -> Result<bool, ProgressError> {
        if ends.is_empty() {
            return Ok(true);
        }
        let (topic, ends) = (self.topic.clone(), ends.clone());
        self.ask(move |client| {
            let mut asked = TopicPartitionList::new();
            for (partition, _) in &ends.0 {
                asked.add_partition(&topic, *partition);
            }
            let committed = client.committed_offsets(asked, ANSWER_TIMEOUT)?;
            let passed = |(partition, end): &(i32, i64)| {
                let found = committed.find_partition(&topic, *partition);
                // A partition that the group never committed has no offset, and nothing of it is known to be handled.
                matches!(found.map(|found| found.offset()), Some(Offset::Offset(at)) if at >= *end)
            };
            Ok(ends.0.iter().all(passed))
        })
        .await
    }

    /// librdkafka's questions block their thread.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&BaseConsumer<ClientLog>) -> Result<T, KafkaError> + Send + 'static,
    ) -> Result<T, ProgressError> {
        let client = self.client.clone().ok_or(ProgressError::GivenUp)?;
        let asked = tokio::task::spawn_blocking(move || question(&client)).await;
        Ok(asked.map_err(|_| ProgressError::GivenUp)??)
    }
}

impl Drop for GroupProgress {
    fn drop(&mut self) {
        // Its thread is joined on drop, which would hold up the runtime.
        let client = self.client.take();
        std::thread::spawn(move || drop(client));
    }
}
