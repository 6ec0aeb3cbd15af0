//! What may happen to a show, and in which shows it happens.

use super::super::fixture::{EPOCH, NOW, SHOW};
use app::domain::{
    catalogue::ShowStatus,
    hold::LimitedBy,
    ids::{OrderNo, SeatIndex, UserId, ZoneId},
    seat::SeatState,
    time::{Millis, Timestamp},
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};
use server::redis::{
    HoldRecord, limit_field,
    scripts::{HoldCommand, LoadShow, LoadedSeat, ShowMeta},
};
use std::collections::{BTreeMap, BTreeSet};

/// Seats of the show; the next number is a seat that it does not have.
pub const SEATS: u32 = 8;
/// Zones of the seats 0–3, 4–6 and 7. The last is beyond what Lua's numbers can tell apart.
pub const ZONES: [ZoneId; 3] = [ZoneId(1), ZoneId(2), ZoneId(9_007_199_254_740_993)];
/// A zone that the show does not have.
const NO_ZONE: ZoneId = ZoneId(77);
pub const USERS: u16 = 3;
pub const KEYS: u16 = 20;
const ORDERS: u16 = 8;

/// A call of a script, or something that befalls Redis.
#[derive(Debug, Clone)]
pub enum Step {
    Hold(Wish),
    Release(Order),
    Confirm(Order, Which),
    FreeSold(Order, Which),
    Restore(Order, Which),
    Load,
    /// A seat's lock is lost while the order's record stays.
    LoseLock(SeatIndex),
    /// An order's record is lost while its locks stay.
    LoseRecord(Order),
    LoseShow,
}

impl Step {
    /// The order for which a script is called.
    pub fn caller(&self) -> Option<OrderNo> {
        match self {
            Self::Hold(wish) => Some(wish.order.number()),
            Self::Release(order) | Self::Confirm(order, _) | Self::FreeSold(order, _) | Self::Restore(order, _) => {
                Some(order.number())
            }
            Self::Load | Self::LoseLock(_) | Self::LoseRecord(_) | Self::LoseShow => None,
        }
    }

    /// Whether seats and counters may disagree afterwards, because Redis forgot one of them or was told of seats that
    /// nobody held.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::LoseLock(_) | Self::LoseRecord(_) | Self::LoseShow => true,
            Self::Confirm(_, which) => matches!(which, Which::These(_)),
            Self::Hold(_)
            | Self::Release(_)
            | Self::FreeSold(..)
            | Self::Restore(..)
            | Self::Load => false,
        }
    }
}

/// One of a few orders. Who places it and what it counts for are parts of which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order(pub u16);

impl Order {
    pub fn user(self) -> UserId {
        UserId(u64::from(self.0 % USERS))
    }

    pub fn number(self) -> OrderNo {
        OrderNo::from_parts(NOW.0, 1, self.0, self.user()).unwrap()
    }

    pub fn limits(self) -> Vec<(LimitedBy, String)> {
        let all = [
            (LimitedBy::User, self.user().to_string()),
            (LimitedBy::Device, (self.0 % 2).to_string()),
            (LimitedBy::Attendee, (self.0 % 5).to_string()),
        ];
        // Some orders count for less than others.
        all.into_iter().take(1 + usize::from(self.0 % 3)).collect()
    }

    pub fn limit_fields(self) -> Vec<String> {
        self.limits()
            .iter()
            .map(|(by, value)| limit_field(*by, value))
            .collect()
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..ORDERS).map(Self)
    }
}

/// Which seats a call names.
#[derive(Debug, Clone)]
pub enum Which {
    /// Those that are the order's.
    Own,
    These(BTreeSet<u32>),
}

/// What a buyer asks for.
#[derive(Debug, Clone)]
pub struct Wish {
    pub order: Order,
    pub seats: BTreeSet<u32>,
    pub is_zone_right: bool,
    pub key: u16,
    pub fingerprint: u16,
    pub level: u8,
    pub at: Timestamp,
}

impl Wish {
    pub fn command(&self) -> HoldCommand {
        let zone = |seat| {
            if self.is_zone_right {
                zone_of(seat)
            } else {
                NO_ZONE
            }
        };
        HoldCommand {
            show: SHOW,
            order_no: self.order.number(),
            user: self.order.user(),
            level: self.level,
            now: self.at,
            // In descending order, as a caller may name them.
            seats: self
                .seats
                .iter()
                .rev()
                .map(|&seat| (SeatIndex(seat), zone(seat)))
                .collect(),
            limits: self.order.limits(),
            idempotency_key: key(self.key),
            fingerprint: self.fingerprint.to_string(),
            message: r#"{"text":"\"|\\"}"#.to_owned(),
        }
    }
}

pub fn key(number: u16) -> String {
    format!("key-{number}")
}

pub fn zone_of(seat: u32) -> ZoneId {
    match seat {
        0..4 => ZONES[0],
        4..7 => ZONES[1],
        _ => ZONES[2],
    }
}

pub fn zoned(seats: impl IntoIterator<Item = u32>) -> Vec<(SeatIndex, ZoneId)> {
    seats
        .into_iter()
        .map(|seat| (SeatIndex(seat), zone_of(seat)))
        .collect()
}

/// A record as reconciliation writes it for an order that lost its own.
pub fn record(order: Order, seats: Vec<(SeatIndex, ZoneId)>) -> HoldRecord {
    HoldRecord {
        user: order.user(),
        created: NOW,
        seats,
        limits: order.limit_fields(),
        message: String::new(),
    }
}

/// A show and what happens to it.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub load: LoadShow,
    /// Places of each zone that the counter misses from the beginning.
    pub missing: BTreeMap<ZoneId, i64>,
    pub steps: Vec<Step>,
}

/// Shows with a few seats taken, and 20 to 40 steps; half of them without faults.
pub fn sequences() -> impl Strategy<Value = Sequence> {
    (shows(), any::<bool>(), vec(step(), 20..=40)).prop_map(
        |((load, missing), with_faults, mut steps)| {
            steps.retain(|step| with_faults || !step.is_fault());
            Sequence {
                load,
                missing,
                steps,
            }
        },
    )
}

fn shows() -> impl Strategy<Value = (LoadShow, BTreeMap<ZoneId, i64>)> {
    let status = prop_oneof![
        36 => Just(ShowStatus::OnSale),
        2 => Just(ShowStatus::SoldOut),
        1 => Just(ShowStatus::Draft),
        1 => Just(ShowStatus::Withdrawn),
    ];
    let taken = prop_oneof![
        8 => Just(None),
        1 => Just(Some(SeatState::Blocked)),
        1 => Just(Some(SeatState::Sold)),
    ];
    let missing = prop_oneof![9 => Just(0_u32), 1 => Just(1)];
    let (limit, level) = (2..=8_u32, prop_oneof![9 => Just(0_u8), 1 => Just(1)]);
    (
        status,
        limit,
        level,
        vec(taken, SEATS as usize),
        vec(missing, ZONES.len()),
    )
        .prop_map(|(status, limit, level, taken, missing)| {
            let meta = ShowMeta {
                epoch: EPOCH,
                status,
                sale_start: NOW - Millis::minutes(1),
                sale_end: NOW + Millis::minutes(1),
                limit,
                level,
                seats: SEATS,
            };
            let mut load = load(meta, &taken);
            // A counter can't miss more places than there are.
            let missing = load.zones.iter_mut().zip(missing).map(|((zone, left), missing)| {
                let missing = missing.min(*left);
                *left -= missing;
                (*zone, i64::from(missing))
            });
            let missing = missing.collect();
            (load, missing)
        },
    )
}

fn load(meta: ShowMeta, taken: &[Option<SeatState>]) -> LoadShow {
    let (mut seats, mut left, mut bought) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for (seat, state) in (0..SEATS).zip(taken) {
        let places = left.entry(zone_of(seat)).or_insert(0);
        let Some(state) = *state else {
            *places += 1;
            continue;
        };
        let order = Order(u16::try_from(seat).unwrap());
        let order_no = (state == SeatState::Sold).then(|| order.number());
        seats.push(LoadedSeat { seat: SeatIndex(seat), state, order_no });
        for field in order.limit_fields().into_iter().filter(|_| order_no.is_some()) {
            *bought.entry(field).or_insert(0) += 1;
        }
    }
    LoadShow {
        show: SHOW,
        meta,
        seats,
        zones: left.into_iter().collect(),
        bought: bought.into_iter().collect(),
        holds: Vec::new(),
        replaces: None,
    }
}

fn step() -> impl Strategy<Value = Step> {
    let order = || (0..ORDERS).prop_map(Order);
    let seats = || btree_set(prop_oneof![20 => 0..SEATS, 1 => Just(SEATS)], 1..=3);
    let which = || prop_oneof![2 => Just(Which::Own), 1 => seats().prop_map(Which::These)];
    let at = prop_oneof![
        18 => Just(NOW),
        1 => Just(NOW - Millis(60_001)),
        1 => Just(NOW + Millis::minutes(1)),
    ];
    let wish = (
        order(),
        seats(),
        proptest::bool::weighted(0.95),
        0..KEYS,
        0..4_u16,
        0..=1_u8,
        at,
    )
        .prop_map(
            |(order, seats, is_zone_right, key, fingerprint, level, at)| Wish {
                order,
                seats,
                is_zone_right,
                key,
                fingerprint,
                level,
                at,
            },
        );
    prop_oneof![
        20 => wish.prop_map(Step::Hold),
        6 => order().prop_map(Step::Release),
        6 => (order(), which()).prop_map(|(order, which)| Step::Confirm(order, which)),
        4 => (order(), which()).prop_map(|(order, which)| Step::FreeSold(order, which)),
        3 => (order(), which()).prop_map(|(order, which)| Step::Restore(order, which)),
        4 => Just(Step::Load),
        3 => (0..SEATS).prop_map(|seat| Step::LoseLock(SeatIndex(seat))),
        2 => order().prop_map(Step::LoseRecord),
        1 => Just(Step::LoseShow),
    ]
}
