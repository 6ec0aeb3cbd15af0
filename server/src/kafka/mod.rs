//! Kafka: how orders travel from the moment their seats are held to their row, their deadline and their effects.
//!
//! | file | what it is for |
//! |---|---|
//! | `topics.rs` | the topics, and making them |
//! | `messages/` | what is in them: versioned JSON, with a golden file for every version ever written |
//! | `producer.rs` | one shared producer that never waits |
//! | `batch.rs` | a consumer that hands whole batches to a handler and repeats them until they succeed |
//! | `delay.rs` | a consumer that fires each message when it is due |
//! | `heap.rs`, `watermark.rs` | the delayed consumer's memory, without any I/O |
//! | `offsets.rs` | how far a group has come, seen from outside |
//! | `group.rs` | a member of a consumer group: reading, committing, pausing, leaving |
//! | `dead_letter.rs` | where messages end that nobody could read or handle |
//! | `dead_letters_read.rs` | reading those, and sending them back |
//! | `trace.rs` | the W3C `traceparent` header |
//!
//! **Architecture Invariant:** delivery is at least once. Nothing here removes duplicates: a handler does, through the
//! state it writes. An offset is committed only after the effects of its message, and of all messages before it in its
//! partition, are written or the message lies in the dead-letter topic.

pub mod batch;
mod client;
pub mod dead_letter;
pub mod dead_letters_read;
pub mod delay;
mod group;
pub mod heap;
pub mod messages;
pub mod offsets;
mod pauses;
pub mod producer;
pub mod topics;
pub mod trace;
pub mod watermark;

pub use client::{KafkaConfig, KafkaSetupError, Subscription};
pub use messages::Message;
pub use pauses::Pauses;
pub use producer::{DeliveryFuture, ProduceError, Producer};
pub use topics::{Topic, ensure_topics};
pub use trace::TraceParent;

/// Any error, where only its text matters.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Names of the metrics, in one place so that dashboards and rules can be checked against them.
pub mod metric {
    /// Gauge: messages that wait in the delayed consumer's memory, those being fired included.
    pub const DELAY_HEAP_SIZE: &str = "seatflow_delay_heap_size";
    /// Counter, label `topic`: messages written to a dead-letter topic.
    pub const DEAD_LETTERS: &str = "seatflow_dead_letters_total";
    /// Counter, label `group`: attempts of handlers that asked for another try.
    pub const RETRIES: &str = "seatflow_consumer_retries_total";
    /// Gauge, label `group`: messages written but not yet committed, over the partitions this process reads.
    pub const CONSUMER_LAG: &str = "seatflow_consumer_lag";
}
