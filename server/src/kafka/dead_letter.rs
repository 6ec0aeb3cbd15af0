//! Dead letters: messages that nobody could read or handle, kept with the reason until a person has looked at them.
//!
//! A dead letter has the key, the payload and the `traceparent` of the message it was, and the headers below.

use super::{ProduceError, Producer, Topic, group::Arrived, metric, trace::TRACEPARENT};
use rdkafka::message::{Header, OwnedHeaders};

/// Header: why the message is here, in words.
pub const REASON: &str = "dead-letter-reason";
/// Header: full name of the topic it came from.
pub const SOURCE_TOPIC: &str = "dead-letter-source-topic";
/// Header: partition it came from, in decimal digits.
pub const SOURCE_PARTITION: &str = "dead-letter-source-partition";
/// Header: offset it had there, in decimal digits.
pub const SOURCE_OFFSET: &str = "dead-letter-source-offset";
/// Header: the consumer group that gave it up.
pub const GROUP: &str = "dead-letter-group";

/// Longest reason, in characters; it may quote what a database said.
const REASON_CHARS_MAX: usize = 1_000;

/// Where a consumer buries what it gives up.
pub(super) struct DeadLetters {
    producer: Producer,
    source: Topic,
    source_name: String,
    name: String,
    group: String,
}

impl DeadLetters {
    pub(super) fn new(subscription: &super::Subscription, source: Topic) -> Self {
        Self {
            producer: subscription.producer.clone(),
            source,
            source_name: subscription.config.topic(source),
            name: subscription.config.dead_letter_topic(source),
            group: subscription.group.clone(),
        }
    }

    /// Writes a dead letter and waits for its acknowledgement. A repeated call may write it twice.
    ///
    /// A message that is too large to be written once more beside its headers is left out of its letter: the letter says
    /// where it is. A partition must not wait for it.
    pub(super) async fn bury(&self, message: &Arrived, reason: &str) -> Result<(), ProduceError> {
        let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
        let mut written = self.write(message, &message.payload, &reason).await;
        if written.as_ref().is_err_and(ProduceError::is_too_large) {
            let bytes = message.payload.len();
            let reason = format!("{reason}; its {bytes} bytes do not fit in here");
            written = self.write(message, &[], &reason).await;
        }
        written?;
        metrics::counter!(metric::DEAD_LETTERS, "topic" => self.source.name()).increment(1);
        tracing::error!(
            topic = self.source.name(),
            group = self.group,
            partition = message.partition,
            offset = message.offset,
            key = %String::from_utf8_lossy(&message.key),
            reason,
            "message went to the dead letters"
        );
        Ok(())
    }

    async fn write(
        &self,
        message: &Arrived,
        payload: &[u8],
        reason: &str,
    ) -> Result<(), ProduceError> {
        let partition = message.partition.to_string();
        let offset = message.offset.to_string();
        let mut headers = OwnedHeaders::new();
        for (key, value) in [
            (REASON, reason),
            (SOURCE_TOPIC, self.source_name.as_str()),
            (SOURCE_PARTITION, partition.as_str()),
            (SOURCE_OFFSET, offset.as_str()),
            (GROUP, self.group.as_str()),
        ] {
            headers = headers.insert(Header {
                key,
                value: Some(value),
            });
        }
        if let Some(trace) = message.trace {
            let value = trace.to_string();
            headers = headers.insert(Header {
                key: TRACEPARENT,
                value: Some(&value),
            });
        }
        self.producer
            .enqueue_record(&self.name, &message.key, payload, headers)?
            .await
    }
}
