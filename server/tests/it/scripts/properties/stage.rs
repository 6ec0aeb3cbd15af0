//! Plays steps on a real Redis and reads back what they left.

use super::{
    super::fixture::{SHOW, Stage, url},
    model::ModelShow,
    sequence::Sequence,
    step::{KEYS, Order, SEATS, Step, USERS, Which, key, record, zone_of, zoned},
};
use app::domain::{
    ids::{OrderNo, SeatIndex, UserId, ZoneId},
    seat::{MapVersion, SeatMap, SeatState},
};
use proptest::{prelude::*, test_runner::TestCaseError};
use server::redis::{
    RedisError,
    keys::{Keys, ShowKey},
    scripts::{LoadReply, LoadShow, ShowMeta},
};
use std::{collections::BTreeMap, fmt::Debug};
use tokio::runtime::Runtime;

type Texts = BTreeMap<String, String>;
type Read = (
    bool,
    Vec<u8>,
    Texts,
    Texts,
    Vec<(String, i64)>,
    BTreeMap<u64, i64>,
    BTreeMap<String, i64>,
    usize,
    Vec<Vec<u8>>,
    Vec<Option<String>>,
);

/// A Redis of the test's own, with one connection for the scripts and one for looking behind them.
pub struct PropertyStage {
    runtime: Runtime,
    stage: Stage,
    behind: redis::Connection,
}

impl PropertyStage {
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let stage = runtime.block_on(Stage::empty());
        let behind = redis::Client::open(url())
            .unwrap()
            .get_connection()
            .unwrap();
        Self {
            runtime,
            stage,
            behind,
        }
    }

    /// Forgets the sequence before and loads the show of the next.
    pub fn open(&mut self, sequence: &Sequence) -> ModelShow {
        let keys = self.show_keys().into_iter().chain(self.submission_keys());
        let keys: Vec<String> = keys.collect();
        redis::cmd("DEL").arg(keys).exec(&mut self.behind).unwrap();
        let loaded = self
            .runtime
            .block_on(self.stage.redis.load(&sequence.load))
            .unwrap();
        assert_eq!(loaded, LoadReply::Loaded);
        ModelShow::new(&sequence.load)
    }

    /// Takes a step in Redis and in the model; the replies must be the same. The reply's name.
    pub fn play(
        &mut self,
        model: &mut ModelShow,
        load: &LoadShow,
        step: &Step,
    ) -> Result<String, TestCaseError> {
        let redis = &self.stage.redis;
        match step {
            Step::Hold(wish) => {
                let command = wish.command();
                same(
                    self.runtime.block_on(redis.hold(&command)),
                    model.hold(&command),
                )
            }
            Step::Release(order) => {
                let reply = self.runtime.block_on(redis.release(SHOW, order.number()));
                same(reply, model.release(order.number()))
            }
            Step::Confirm(order, which) => {
                let seats = seats_of(model, *order, which);
                let reply = self
                    .runtime
                    .block_on(redis.confirm(SHOW, order.number(), &seats));
                same(reply, model.confirm(order.number(), &seats))
            }
            Step::FreeSold(order, which) => {
                let (seats, limits) = (seats_of(model, *order, which), order.limit_fields());
                let reply =
                    self.runtime
                        .block_on(redis.free_sold(SHOW, order.number(), &limits, &seats));
                same(reply, model.free_sold(order.number(), &limits, &seats))
            }
            Step::Restore(order, which) => {
                let record = record(*order, seats_of(model, *order, which));
                let reply = self
                    .runtime
                    .block_on(redis.restore(SHOW, order.number(), &record));
                same(reply, model.restore(order.number(), &record))
            }
            Step::Load => same(self.runtime.block_on(redis.load(load)), model.load(load)),
            Step::LoseLock(_) | Step::LoseRecord(_) | Step::LoseShow => {
                self.befall(model, step);
                Ok(String::from("Befallen"))
            }
        }
    }

    fn befall(&mut self, model: &mut ModelShow, step: &Step) {
        let key = |key| self.stage.key(key);
        let mut writes = redis::pipe();
        match step {
            Step::LoseLock(seat) if model.state(*seat) == SeatState::Locked => {
                model.lose_lock(*seat, zone_of(seat.0));
                let change = model.changes.last().unwrap().to_be_bytes();
                writes
                    .cmd("BITFIELD")
                    .arg(key(ShowKey::Map))
                    .arg("SET")
                    .arg("u2")
                    .arg(format!("#{seat}"))
                    .arg(0);
                writes.hdel(key(ShowKey::Owners), seat.0).hincr(
                    key(ShowKey::Zones),
                    zone_of(seat.0).0,
                    1,
                );
                writes
                    .incr(key(ShowKey::Version), 1)
                    .rpush(key(ShowKey::Changes), &change[..]);
            }
            Step::LoseRecord(order) => {
                let number = order.number();
                model.holds.remove(&number);
                model.unsent.remove(&number);
                writes
                    .hdel(key(ShowKey::Holds), number.to_string())
                    .zrem(key(ShowKey::Unsent), number.to_string());
            }
            Step::LoseShow => {
                model.meta = None;
                writes.del(key(ShowKey::Meta));
            }
            _ => return,
        }
        writes.exec(&mut self.behind).unwrap();
    }

    /// What Redis holds now, in the model's form.
    pub fn read(&mut self, meta: &ShowMeta) -> ModelShow {
        let [
            map,
            owners,
            holds,
            unsent,
            zones,
            bought,
            version,
            changes,
            loaded,
        ] = self.show_keys();
        let mut reads = redis::pipe();
        reads
            .atomic()
            .exists(loaded)
            .get(map)
            .hgetall(owners)
            .hgetall(holds)
            .zrange_withscores(unsent, 0, -1);
        reads
            .hgetall(zones)
            .hgetall(bought)
            .get(version)
            .lrange(changes, 0, -1)
            .mget(self.submission_keys());
        let (is_loaded, bits, owners, holds, unsent, zones, bought, version, changes, submissions): Read =
            reads.query(&mut self.behind).unwrap();
        assert_eq!(version, changes.len(), "the version counts the changes");
        let map = SeatMap {
            at: MapVersion::default(),
            seats: meta.seats,
            bits,
        };
        let (idempotency, guards) = submissions_of(submissions);
        ModelShow {
            meta: is_loaded.then(|| meta.clone()),
            states: map.states().collect(),
            owners: owners
                .into_iter()
                .map(|(seat, order)| (SeatIndex(seat.parse().unwrap()), number(&order)))
                .collect(),
            holds: holds
                .into_iter()
                .map(|(order, json)| (number(&order), serde_json::from_str(&json).unwrap()))
                .collect(),
            unsent: unsent
                .into_iter()
                .map(|(order, at)| (number(&order), at))
                .collect(),
            zones: zones
                .into_iter()
                .map(|(zone, left)| (ZoneId(zone), left))
                .collect(),
            bought,
            changes: changes
                .iter()
                .map(|bytes| u32::from_be_bytes(bytes[..].try_into().unwrap()))
                .collect(),
            idempotency,
            guards,
        }
    }

    fn show_keys(&self) -> [String; 9] {
        ShowKey::ALL.map(|key| self.stage.key(key))
    }

    /// Every idempotency key, then every user's guard.
    fn submission_keys(&self) -> Vec<String> {
        let keys: &Keys = self.stage.redis.keys();
        let idempotency =
            submissions().map(|(user, number)| keys.idempotency(SHOW, user, &key(number)));
        idempotency
            .chain(users().map(|user| keys.guard(SHOW, user)))
            .collect()
    }
}

fn users() -> impl Iterator<Item = UserId> {
    (0..USERS).map(|user| UserId(u64::from(user)))
}

fn submissions() -> impl Iterator<Item = (UserId, u16)> {
    users().flat_map(|user| (0..KEYS).map(move |number| (user, number)))
}

type Submissions = (
    BTreeMap<(UserId, String), OrderNo>,
    BTreeMap<UserId, (OrderNo, String)>,
);

/// The values of [`PropertyStage::submission_keys`].
fn submissions_of(mut values: Vec<Option<String>>) -> Submissions {
    let guards = values.split_off(submissions().count());
    let idempotency = submissions()
        .zip(values)
        .filter_map(|((user, at), order)| Some(((user, key(at)), number(&order?))))
        .collect();
    let guards = users()
        .zip(guards)
        .filter_map(|(user, guard)| {
            let guard = guard?;
            let (order, fingerprint) = guard.split_once('|').unwrap();
            Some((user, (number(order), fingerprint.to_owned())))
        })
        .collect();
    (idempotency, guards)
}

fn number(text: &str) -> OrderNo {
    text.parse().unwrap()
}

/// The seats that a call names, at least one.
fn seats_of(model: &ModelShow, order: Order, which: &Which) -> Vec<(SeatIndex, ZoneId)> {
    let own = || {
        model
            .owners
            .iter()
            .filter(|(_, owner)| **owner == order.number())
            .map(|(seat, _)| seat.0)
    };
    match which {
        Which::These(seats) => zoned(seats.iter().copied()),
        // Calls without a seat are wrong; a seat that the show does not have is nobody's.
        Which::Own if own().next().is_none() => zoned([SEATS]),
        Which::Own => zoned(own()),
    }
}

fn same<T: PartialEq + Debug>(
    reply: Result<T, RedisError>,
    expected: T,
) -> Result<String, TestCaseError> {
    let reply = reply.map_err(|error| TestCaseError::fail(format!("{error}: {error:?}")))?;
    prop_assert_eq!(&reply, &expected);
    let text = format!("{reply:?}");
    let mut words = text.split(|character: char| !character.is_alphanumeric());
    Ok(words
        .find(|word| *word != "Refused")
        .unwrap_or_default()
        .to_owned())
}
