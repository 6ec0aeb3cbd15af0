//! A show of a hundred seats under a key prefix of its own.

use app::domain::{
    catalogue::ShowStatus,
    hold::LimitedBy,
    ids::{OrderNo, SeatIndex, ShowId, UserId, ZoneId},
    seat::{MapUpdate, SeatMap, SeatState},
    time::{Millis, Timestamp},
};
use server::redis::{
    HeldSeat, Redis, RedisConfig,
    keys::ShowKey,
    scripts::{HoldCommand, HoldReply, LoadReply, LoadShow, SeatsReply, ShowMeta},
};
use std::{collections::BTreeMap, time::Duration};

pub const SHOW: ShowId = ShowId(7);
pub const EPOCH: u32 = 1_795_990_000;
pub const NOW: Timestamp = Timestamp(1_795_990_000_000);
/// Seats 0–49, 50–89 and 90–99. The last is beyond what Lua's numbers can tell apart.
pub const ZONES: [ZoneId; 3] = [ZoneId(1), ZoneId(2), ZoneId(9_007_199_254_740_993)];

/// A Redis of a test's own; its keys are deleted when it ends, however it ends.
pub struct Stage {
    pub redis: Redis,
    prefix: String,
}

/// Every key's value and the moment it runs out.
pub type Dump = BTreeMap<String, (Vec<u8>, i64)>;

impl Stage {
    /// Without any show.
    pub async fn empty() -> Self {
        let prefix = format!("test-{}", uuid::Uuid::new_v4().simple());
        // A busy machine may answer late; how late is not what these tests are about.
        let config = RedisConfig {
            prefix: prefix.clone(),
            connect_timeout: Duration::from_secs(30),
            response_timeout: Duration::from_secs(30),
            ..RedisConfig::new(url())
        };
        Self {
            redis: Redis::connect(&config).await.expect("Redis at REDIS_URL"),
            prefix,
        }
    }

    /// With [`SHOW`] on sale and all its seats available.
    pub async fn open() -> Self {
        Self::with(show()).await
    }

    pub async fn with(load: LoadShow) -> Self {
        let stage = Self::empty().await;
        assert_eq!(stage.redis.load(&load).await.unwrap(), LoadReply::Loaded);
        stage
    }

    pub fn key(&self, key: ShowKey) -> String {
        self.redis.keys().show(SHOW, key)
    }

    /// Runs a command past the product's own code.
    pub fn raw<T: redis::FromRedisValue>(&self, command: &[&str]) -> T {
        let mut sent = redis::cmd(command[0]);
        sent.arg(&command[1..]);
        sent.query(&mut connection()).unwrap()
    }

    pub fn dump(&self) -> Dump {
        let mut connection = connection();
        self.key_names()
            .into_iter()
            .map(|key| {
                let value = redis::cmd("DUMP").arg(&key).query(&mut connection).unwrap();
                let ends = redis::cmd("PEXPIRETIME")
                    .arg(&key)
                    .query(&mut connection)
                    .unwrap();
                (key, (value, ends))
            })
            .collect()
    }

    pub async fn map(&self) -> SeatMap {
        match self.redis.seats(SHOW, None).await.unwrap() {
            SeatsReply::Update(MapUpdate::Whole(map)) => map,
            other => panic!("not a whole map: {other:?}"),
        }
    }

    pub async fn state(&self, seat: u32) -> SeatState {
        self.map().await.state(SeatIndex(seat))
    }

    pub async fn remaining(&self) -> Vec<u32> {
        let shows = self.redis.remaining(&[SHOW]).await.unwrap();
        shows[0]
            .as_ref()
            .unwrap()
            .iter()
            .map(|(_, left)| *left)
            .collect()
    }

    pub fn bought(&self) -> BTreeMap<String, u32> {
        self.raw(&["HGETALL", &self.key(ShowKey::Bought)])
    }

    pub async fn held(&self, command: &HoldCommand) {
        let reply = self.redis.hold(command).await.unwrap();
        assert!(matches!(reply, HoldReply::Held { .. }), "{reply:?}");
    }

    fn key_names(&self) -> Vec<String> {
        redis::cmd("KEYS")
            .arg(format!("{}:*", self.prefix))
            .query(&mut connection())
            .unwrap()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let keys = self.key_names();
        if !keys.is_empty() {
            redis::cmd("DEL").arg(keys).exec(&mut connection()).unwrap();
        }
    }
}

pub fn url() -> String {
    std::env::var("REDIS_URL").expect("REDIS_URL must name a Redis for the tests")
}

fn connection() -> redis::Connection {
    redis::Client::open(url())
        .unwrap()
        .get_connection()
        .unwrap()
}

pub fn show() -> LoadShow {
    LoadShow {
        show: SHOW,
        meta: ShowMeta {
            epoch: EPOCH,
            status: ShowStatus::OnSale,
            sale_start: NOW - Millis::minutes(1),
            sale_end: NOW + Millis::minutes(1),
            limit: 4,
            level: 0,
            seats: 100,
        },
        seats: Vec::new(),
        zones: ZONES.into_iter().zip([50, 40, 10]).collect(),
        bought: Vec::new(),
        holds: Vec::new(),
        standing: Vec::new(),
        replaces: None,
    }
}

/// Seats for nobody in particular.
pub fn zoned(seats: &[u32]) -> Vec<HeldSeat> {
    let zone = |seat| match seat {
        0..50 => ZONES[0],
        50..90 => ZONES[1],
        _ => ZONES[2],
    };
    seats
        .iter()
        .map(|&seat| (SeatIndex(seat), zone(seat)).into())
        .collect()
}

pub fn order_no(number: u16) -> OrderNo {
    OrderNo::from_parts(NOW.0, 1, number, UserId(u64::from(number))).unwrap()
}

/// A hold of `seats` by user `number` for the order of the same number, with keys that nobody else uses.
pub fn wish(number: u16, seats: &[u32]) -> HoldCommand {
    HoldCommand {
        show: SHOW,
        order_no: order_no(number),
        user: UserId(u64::from(number)),
        level: 0,
        now: NOW,
        seats: zoned(seats),
        standing: Vec::new(),
        limits: vec![(LimitedBy::User, number.to_string())],
        idempotency_key: format!("key-{number}"),
        fingerprint: format!("{seats:?}"),
        message: format!(r#"{{"order":"{}"}}"#, order_no(number)),
    }
}
