//! What the tests share: topics of their own, messages, and a look at the dead letters.

use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, UserId, ZoneId},
    money::Currency,
    order::SeatLabel,
    time::{Millis, Timestamp},
};
use rdkafka::{
    ClientConfig, Message as _, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer as _},
    message::Headers as _,
};
use server::kafka::{
    KafkaConfig, Producer, Subscription, Topic, ensure_topics,
    messages::{Place, Placed, PlacedItem, Timeout},
};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// How long anything may take before a test gives up on it.
const DEADLINE: Duration = Duration::from_secs(60);
const NOVEMBER_2026: Timestamp = Timestamp(1_795_951_800_000);

/// Topics of one test, with 2 partitions each.
pub struct Broker {
    pub config: KafkaConfig,
    pub producer: Producer,
}

/// A dead letter as a person would see it.
pub struct DeadLetter {
    pub key: String,
    pub payload: Vec<u8>,
    pub headers: BTreeMap<String, String>,
}

impl Broker {
    pub async fn start() -> Self {
        let brokers = std::env::var("KAFKA_BROKERS").expect("KAFKA_BROKERS names a Kafka broker");
        let config = KafkaConfig {
            prefix: format!("test-{:016x}.", rand::random::<u64>()),
            partitions: 2,
            ..KafkaConfig::new(brokers)
        };
        ensure_topics(&config).await.expect("topics are made");
        let producer = Producer::new(&config).expect("a producer starts");
        Self { config, producer }
    }

    pub fn subscription(&self, group: &str) -> Subscription {
        Subscription {
            config: self.config.clone(),
            producer: self.producer.clone(),
            group: group.to_owned(),
        }
    }

    /// Waits for dead letters of a topic and returns all that are there.
    pub async fn dead_letters(&self, topic: Topic, count: usize) -> Vec<DeadLetter> {
        let name = self.config.dead_letter_topic(topic);
        let brokers = self.config.brokers.clone();
        let read = move || read_dead_letters(&brokers, &name, count);
        tokio::task::spawn_blocking(read)
            .await
            .expect("dead letters are read")
    }

    /// Deletes the topics, so that a broker that lives on does not fill up.
    pub async fn stop(self) {
        let admin: AdminClient<DefaultClientContext> = ClientConfig::new()
            .set("bootstrap.servers", &self.config.brokers)
            .create()
            .expect("an admin client starts");
        let names: Vec<String> = Topic::ALL
            .into_iter()
            .flat_map(|topic| {
                [
                    self.config.topic(topic),
                    self.config.dead_letter_topic(topic),
                ]
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        admin
            .delete_topics(&names, &AdminOptions::new())
            .await
            .expect("topics are deleted");
    }
}

fn read_dead_letters(brokers: &str, name: &str, count: usize) -> Vec<DeadLetter> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", "nobody")
        .set("enable.auto.commit", "false")
        .create()
        .expect("a consumer starts");
    let mut all = TopicPartitionList::new();
    all.add_partition_offset(name, 0, Offset::Beginning)
        .expect("a valid offset");
    consumer.assign(&all).expect("the partition is assigned");
    let (started, mut letters) = (Instant::now(), Vec::new());
    // One more look after the last that is expected, to see whether there are too many.
    while started.elapsed() < DEADLINE {
        let message = match consumer.poll(Duration::from_millis(500)) {
            Some(message) => message.expect("a dead letter is read"),
            None if letters.len() >= count => break,
            None => continue,
        };
        let text = |bytes: Option<&[u8]>| {
            String::from_utf8(bytes.unwrap_or_default().to_vec()).expect("text")
        };
        let headers = message
            .headers()
            .into_iter()
            .flat_map(|headers| headers.iter());
        letters.push(DeadLetter {
            key: text(message.key()),
            payload: message.payload().unwrap_or_default().to_vec(),
            headers: headers
                .map(|it| (it.key.to_owned(), text(it.value)))
                .collect(),
        });
    }
    letters
}

/// Bounds a wait in a test.
pub struct Patience(Instant);

impl Patience {
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// Rests a moment; panics when it has gone on for too long.
    pub async fn wait_for(&self, what: &str) {
        assert!(self.0.elapsed() < DEADLINE, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until something holds.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Patience::new();
    while !holds() {
        patience.wait_for(what).await;
    }
}

pub fn order_no(number: u16) -> OrderNo {
    let user = UserId(5);
    OrderNo::from_parts(NOVEMBER_2026.0, number / 1_000, number % 1_000, user).expect("in range")
}

/// An order; `show` tells messages of one order apart.
pub fn placed(number: u16, show: u64) -> Placed {
    Placed {
        order_no: order_no(number),
        user_id: UserId(5),
        show_id: ShowId(show),
        items: vec![PlacedItem {
            zone_id: ZoneId(7),
            price_minor: 6_800,
            place: Place::Seat {
                seat: SeatIndex(u32::from(number)),
                label: SeatLabel {
                    section: String::new(),
                    row: "C".to_owned(),
                    number: number.to_string(),
                },
            },
            attendee: None,
        }],
        pieces: Vec::new(),
        currency: Currency::Cny,
        amount_minor: 6_800,
        channel: "simulated".to_owned(),
        limits: vec!["u:5".to_owned()],
        placed_at: NOVEMBER_2026,
        expire_at: NOVEMBER_2026 + Millis::minutes(15),
    }
}

pub fn timeout(number: u16, due_at: Timestamp) -> Timeout {
    Timeout {
        order_no: order_no(number),
        show_id: ShowId(1),
        due_at,
    }
}
