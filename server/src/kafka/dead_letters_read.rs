//! Reading dead letters, and sending them back to where they came from.

use super::{
    BoxError, KafkaConfig, ProduceError, Producer, Topic,
    client::ClientLog,
    dead_letter::{GROUP, REASON, SOURCE_OFFSET, SOURCE_PARTITION, SOURCE_TOPIC},
    trace::TRACEPARENT,
};
use app::domain::time::Timestamp;
use rdkafka::{
    Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    message::{BorrowedMessage, Header, Headers as _, OwnedHeaders},
};
use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

/// How long reading may take altogether.
const READ_TIMEOUT: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(200);
/// Most dead letters of a topic that are handed out at once.
pub const LETTERS_MAX: usize = 1_000;

/// Where a dead letter lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LetterPlace {
    /// Full name of the dead-letter topic.
    pub topic: String,
    /// Its partition.
    pub partition: i32,
    /// The letter's offset there.
    pub offset: i64,
}

/// A message that nobody could read or handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Where it lies.
    pub place: LetterPlace,
    /// The topic that it was sent to.
    pub topic: Topic,
    /// When it was buried; none when the topic keeps no times.
    pub buried_at: Option<Timestamp>,
    /// What it was keyed by.
    pub key: Vec<u8>,
    /// What was in it.
    pub payload: Vec<u8>,
    /// Why it is here.
    pub reason: String,
    /// Topic, partition and offset that it came from.
    pub source: String,
    /// The consumer group that gave it up.
    pub group: String,
    trace: Option<String>,
}

/// Which of a topic's dead letters are wanted.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// The newest.
    Newest,
    /// The oldest but for these, however many lie before them.
    OldestBut(HashSet<LetterPlace>),
}

/// Dead letters of a topic, oldest first; at most [`LETTERS_MAX`].
///
/// # Errors
/// When the brokers can't be reached, the topic does not exist, or reading takes too long.
pub async fn read_dead_letters(
    config: &KafkaConfig,
    topic: Topic,
    wanted: Wanted,
    most: usize,
) -> Result<Vec<DeadLetter>, BoxError> {
    let (config, most) = (config.clone(), most.min(LETTERS_MAX));
    // librdkafka's calls block their thread.
    tokio::task::spawn_blocking(move || read(&config, topic, &wanted, most)).await?
}

/// Sends a dead letter's message to the topic it came from, and waits for the acknowledgement. Its handler removes
/// duplicates, as of any message.
///
/// # Errors
/// When it is not known to be written.
pub async fn send_back(producer: &Producer, letter: &DeadLetter) -> Result<(), ProduceError> {
    let mut headers = OwnedHeaders::new();
    if let Some(trace) = &letter.trace {
        headers = headers.insert(Header {
            key: TRACEPARENT,
            value: Some(trace),
        });
    }
    let topic = producer.config().topic(letter.topic);
    producer
        .enqueue_record(&topic, &letter.key, &letter.payload, headers)?
        .await
}

fn read(
    config: &KafkaConfig,
    topic: Topic,
    wanted: &Wanted,
    most: usize,
) -> Result<Vec<DeadLetter>, BoxError> {
    let name = config.dead_letter_topic(topic);
    let mut client = config.client();
    client
        // A reader on its own: it is assigned what it reads and commits nothing.
        .set("group.id", config.group("dead-letters-reader"))
        .set("enable.auto.commit", "false")
        .set("allow.auto.create.topics", "false");
    let consumer: BaseConsumer<ClientLog> = client.create_with_context(ClientLog)?;
    let metadata = consumer.fetch_metadata(Some(&name), READ_TIMEOUT)?;
    let partitions = metadata.topics().first().map(|topic| topic.partitions());
    let mut assigned = TopicPartitionList::new();
    let mut unread = BTreeMap::new();
    for partition in partitions.unwrap_or_default() {
        let (low, high) = consumer.fetch_watermarks(&name, partition.id(), READ_TIMEOUT)?;
        let from = match wanted {
            Wanted::Newest => low.max(high.saturating_sub(i64::try_from(most)?)),
            Wanted::OldestBut(_) => low,
        };
        if from < high && most > 0 {
            assigned.add_partition_offset(&name, partition.id(), Offset::Offset(from))?;
            unread.insert(partition.id(), Unread { end: high, most });
        }
    }
    let mut letters = Vec::new();
    if unread.is_empty() {
        return Ok(letters);
    }
    consumer.assign(&assigned)?;
    let began = Instant::now();
    while !unread.is_empty() {
        if began.elapsed() > READ_TIMEOUT {
            return Err(format!("{name} was not read within {} s", READ_TIMEOUT.as_secs()).into());
        }
        let Some(message) = consumer.poll(POLL) else {
            continue;
        };
        let message = message?;
        let (partition, offset) = (message.partition(), message.offset());
        let Some(of_partition) = unread.get_mut(&partition) else {
            continue;
        };
        if offset < of_partition.end {
            let letter = letter(&name, topic, &message);
            if wanted.has(&letter.place) {
                letters.push(letter);
                of_partition.most -= 1;
            }
        }
        if offset + 1 >= of_partition.end || of_partition.most == 0 {
            unread.remove(&partition);
        }
    }
    letters.sort_by_key(|letter| (letter.buried_at, letter.place.clone()));
    match wanted {
        Wanted::Newest => {
            letters.drain(..letters.len().saturating_sub(most));
        }
        Wanted::OldestBut(_) => letters.truncate(most),
    }
    Ok(letters)
}

/// What is still to be read of a partition.
struct Unread {
    /// The first offset that is not read any more.
    end: i64,
    /// Letters that are still to be kept.
    most: usize,
}

impl Wanted {
    fn has(&self, place: &LetterPlace) -> bool {
        match self {
            Self::Newest => true,
            Self::OldestBut(others) => !others.contains(place),
        }
    }
}

fn letter(name: &str, topic: Topic, message: &BorrowedMessage<'_>) -> DeadLetter {
    let header = |key: &str| {
        let headers = message.headers()?;
        let header = headers.iter().find(|header| header.key == key)?;
        Some(String::from_utf8_lossy(header.value?).into_owned())
    };
    let said = |key: &str| header(key).unwrap_or_default();
    DeadLetter {
        place: LetterPlace {
            topic: name.to_owned(),
            partition: message.partition(),
            offset: message.offset(),
        },
        topic,
        buried_at: message.timestamp().to_millis().map(Timestamp),
        key: message.key().unwrap_or_default().to_vec(),
        payload: message.payload().unwrap_or_default().to_vec(),
        reason: said(REASON),
        source: format!(
            "{}/{}@{}",
            said(SOURCE_TOPIC),
            said(SOURCE_PARTITION),
            said(SOURCE_OFFSET)
        ),
        group: said(GROUP),
        trace: header(TRACEPARENT),
    }
}
