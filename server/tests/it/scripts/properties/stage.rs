//! Plays steps on a real Redis and reads back what they left.

use super::{
    super::fixture::{SHOW, Stage, url},
    books,
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
    HeldSeat, RedisError,
    keys::{Keys, ShowKey},
    scripts::{Freed, LoadReply, LoadShow, ShowMeta},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
};
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
    Texts,
    Vec<(String, Texts)>,
    Vec<Option<String>>,
);

/// A Redis of the test's own, with one connection for the scripts and one for looking behind them.
pub struct PropertyStage {
    pub(super) runtime: Runtime,
    pub(super) stage: Stage,
    pub(super) behind: redis::Connection,
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
        let keys: Vec<String> = keys.chain(self.floor_keys()).collect();
        redis::cmd("DEL").arg(keys).exec(&mut self.behind).unwrap();
        let loaded = self
            .runtime
            .block_on(self.stage.redis.load(&sequence.load))
            .unwrap();
        assert_eq!(loaded, LoadReply::Loaded);
        self.open_floor();
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
                let freed = Freed {
                    seats: seats_of(model, *order, which),
                    // Of a part of its seats only when tickets were given back one by one.
                    with_standing: matches!(which, Which::Own),
                    standing_kept: Vec::new(),
                    limits: order.limit_fields(),
                };
                let reply = self
                    .runtime
                    .block_on(redis.free_sold(SHOW, order.number(), &freed));
                same(reply, model.free_sold(order.number(), &freed))
            }
            Step::Restore(order, which) => {
                let standing = match which {
                    Which::Own => model.standing.get(&order.number()).cloned(),
                    Which::These(_) => Some(order.standing()),
                };
                let seats = seats_of(model, *order, which);
                let record = record(*order, seats, standing.unwrap_or_default());
                let reply = self
                    .runtime
                    .block_on(redis.restore(SHOW, order.number(), &record));
                same(reply, model.restore(order.number(), &record))
            }
            Step::Places(order, wish) => self.play_places(&mut model.floor, *order, wish),
            Step::Block(seats) => {
                let seats = zoned_seats(seats);
                let reply = self.runtime.block_on(redis.block(SHOW, &seats));
                same(reply, model.block(&seats, SeatState::Blocked))
            }
            Step::Unblock(seats) => {
                let seats = zoned_seats(seats);
                let reply = self.runtime.block_on(redis.unblock(SHOW, &seats));
                same(reply, model.block(&seats, SeatState::Available))
            }
            Step::Count { is_current } => self.count(model, load, *is_current),
            Step::Load => same(self.runtime.block_on(redis.load(load)), model.load(load)),
            Step::LoseLock(_) | Step::LoseRecord(_) | Step::LoseShow => {
                self.befall(model, step);
                Ok(String::from("Befallen"))
            }
        }
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
            standing,
            quantities,
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
            .hgetall(standing)
            .cmd("XRANGE")
            .arg(quantities)
            .arg("-")
            .arg("+")
            .mget(self.submission_keys());
        let (
            is_loaded,
            bits,
            owners,
            holds,
            unsent,
            zones,
            bought,
            version,
            changes,
            standing,
            quantities,
            submissions,
        ): Read = reads.query(&mut self.behind).unwrap();
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
            books: books::read(quantities),
            bought,
            standing: standing
                .into_iter()
                .map(|(order, json)| (number(&order), without_seat(&json)))
                .collect(),
            changes: changes
                .iter()
                .map(|bytes| u32::from_be_bytes(bytes[..].try_into().unwrap()))
                .collect(),
            idempotency,
            guards,
            floor: self.read_floor(),
        }
    }

    fn show_keys(&self) -> [String; 11] {
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
    BTreeMap<(UserId, String), (OrderNo, String)>,
    BTreeMap<UserId, (OrderNo, String)>,
);

/// The values of [`PropertyStage::submission_keys`].
fn submissions_of(mut values: Vec<Option<String>>) -> Submissions {
    let guards = values.split_off(submissions().count());
    let idempotency = submissions()
        .zip(values)
        .filter_map(|((user, at), value)| Some(((user, key(at)), submission(&value?))))
        .collect();
    let guards = users()
        .zip(guards)
        .filter_map(|(user, guard)| Some((user, submission(&guard?))))
        .collect();
    (idempotency, guards)
}

/// What a submission led to, and what it asked for.
fn submission(value: &str) -> (OrderNo, String) {
    let (order, fingerprint) = value.split_once('|').unwrap();
    (number(order), fingerprint.to_owned())
}

/// Attendees' counters of tickets without a seat, as `standing` keeps them.
fn without_seat(json: &str) -> Vec<Option<String>> {
    let counters: Vec<String> = serde_json::from_str(json).unwrap();
    let is_some = |counter: &String| !counter.is_empty();
    counters
        .into_iter()
        .map(|counter| Some(counter).filter(is_some))
        .collect()
}

fn number(text: &str) -> OrderNo {
    text.parse().unwrap()
}

fn zoned_seats(seats: &BTreeSet<u32>) -> Vec<(SeatIndex, ZoneId)> {
    seats
        .iter()
        .map(|&seat| (SeatIndex(seat), zone_of(seat)))
        .collect()
}

/// The seats that a call names, at least one unless the order has tickets without a seat.
fn seats_of(model: &ModelShow, order: Order, which: &Which) -> Vec<HeldSeat> {
    let own = || {
        model
            .owners
            .iter()
            .filter(|(_, owner)| **owner == order.number())
            .map(|(seat, _)| seat.0)
    };
    match which {
        Which::These(seats) => zoned(seats.iter().copied()),
        // A seat that the show does not have is nobody's.
        Which::Own if own().next().is_none() && !model.standing.contains_key(&order.number()) => {
            zoned([SEATS])
        }
        Which::Own => zoned(own()),
    }
}

pub(super) fn same<T: PartialEq + Debug>(
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
