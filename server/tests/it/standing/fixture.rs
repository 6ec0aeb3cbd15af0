//! A piece of a standing zone under a key prefix of its own.

use app::domain::{
    ids::{OrderNo, UserId, ZoneId},
    time::Timestamp,
};
use redis::FromRedisValue;
use server::redis::{
    Redis, RedisConfig,
    keys::{Piece, PieceKey},
    scripts::{
        GiveStandingReply, GiveWhy, LoadReply, LoadStanding, TakeStanding, TakeStandingReply,
    },
    standing::{Places, TakenPlaces},
};
use std::{collections::BTreeMap, time::Duration};

pub const EPOCH: u32 = 1_795_990_000;
pub const NOW: Timestamp = Timestamp(1_795_990_000_000);
/// A zone beyond what Lua's numbers can tell apart.
pub const PIECE: Piece = Piece {
    zone: ZoneId(9_007_199_254_740_993),
    piece: 3,
};

/// A Redis of a test's own; its keys are deleted when it ends, however it ends.
pub struct PieceStage {
    pub redis: Redis,
    prefix: String,
}

/// Every key's value.
pub type Dump = BTreeMap<String, Vec<u8>>;

impl PieceStage {
    /// Without any piece.
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

    /// With [`PIECE`] of so many places, none taken.
    pub async fn open(total: u32) -> Self {
        let stage = Self::empty().await;
        let reply = stage.redis.load_standing(&load(total, &[])).await.unwrap();
        assert_eq!(reply, LoadReply::Loaded);
        stage
    }

    pub async fn take(&self, order: u16, quantity: u32, least: u32) -> TakeStandingReply {
        self.redis
            .take_standing(&take(order, quantity, least))
            .await
            .unwrap()
    }

    pub async fn give(&self, order: u16, keep: u32) -> GiveStandingReply {
        self.redis
            .give_standing(PIECE, order_no(order), keep, GiveWhy::Release)
            .await
            .unwrap()
    }

    /// Locked and sold places, and what is left.
    pub async fn counts(&self) -> (u32, u32, u32) {
        let places: Places = self.redis.places(&[PIECE]).await.unwrap()[0].unwrap();
        (places.locked, places.sold, places.left())
    }

    pub async fn taken(&self) -> BTreeMap<OrderNo, TakenPlaces> {
        let snapshot = self.redis.piece_snapshot(PIECE).await.unwrap();
        snapshot.unwrap().taken
    }

    /// What each entry of the log says left: before and after, oldest first; before is empty where the log begins.
    pub fn log(&self) -> Vec<(String, i64, String)> {
        let key = self.redis.keys().piece(PIECE, PieceKey::Quantities);
        let entries: Vec<(String, BTreeMap<String, String>)> =
            self.raw(&["XRANGE", &key, "-", "+"]);
        let read = |(_, fields): (String, BTreeMap<String, String>)| {
            let after: i64 = fields["after"].parse().unwrap();
            let change: i64 = fields["change"].parse().unwrap();
            assert_eq!(fields["zone"], PIECE.zone.to_string());
            if let Ok(before) = fields["before"].parse::<i64>() {
                assert_eq!(before + change, after);
            }
            (fields["before"].clone(), after, fields["why"].clone())
        };
        entries.into_iter().map(read).collect()
    }

    /// Runs a command past the product's own code.
    pub fn raw<T: FromRedisValue>(&self, command: &[&str]) -> T {
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
                (key, value)
            })
            .collect()
    }

    fn key_names(&self) -> Vec<String> {
        redis::cmd("KEYS")
            .arg(format!("{}:*", self.prefix))
            .query(&mut connection())
            .unwrap()
    }
}

impl Drop for PieceStage {
    fn drop(&mut self) {
        let keys = self.key_names();
        if !keys.is_empty() {
            redis::cmd("DEL").arg(keys).exec(&mut connection()).unwrap();
        }
    }
}

fn url() -> String {
    std::env::var("REDIS_URL").expect("REDIS_URL must name a Redis for the tests")
}

fn connection() -> redis::Connection {
    redis::Client::open(url())
        .unwrap()
        .get_connection()
        .unwrap()
}

pub fn order_no(number: u16) -> OrderNo {
    OrderNo::from_parts(NOW.0, 1, number, UserId(u64::from(number))).unwrap()
}

pub fn take(order: u16, quantity: u32, least: u32) -> TakeStanding {
    TakeStanding {
        piece: PIECE,
        order_no: order_no(order),
        now: NOW,
        quantity,
        least,
    }
}

pub fn load(total: u32, taken: &[(u16, TakenPlaces)]) -> LoadStanding {
    LoadStanding {
        piece: PIECE,
        epoch: EPOCH,
        total,
        taken: taken
            .iter()
            .map(|(order, taken)| (order_no(*order), *taken))
            .collect(),
        replaces: None,
    }
}
