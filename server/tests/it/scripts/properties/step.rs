//! What may happen to a show: calls of scripts, and what befalls Redis.

use super::{
    super::fixture::{NOW, SHOW},
    model::ModelShow,
    places::Places,
};
use app::domain::{
    hold::LimitedBy,
    ids::{OrderNo, SeatIndex, UserId, ZoneId},
    seat::SeatState,
    time::Timestamp,
};
use server::redis::{HeldSeat, HoldRecord, attendee_field, limit_field, scripts::HoldCommand};
use std::collections::BTreeSet;

/// Seats of the show; the next number is a seat that it does not have.
pub const SEATS: u32 = 8;
/// Zones of the seats 0–3, 4–6 and 7. The last is beyond what Lua's numbers can tell apart.
pub const ZONES: [ZoneId; 3] = [ZoneId(1), ZoneId(2), ZoneId(9_007_199_254_740_993)];
/// A zone that the show does not have.
const NO_ZONE: ZoneId = ZoneId(77);
pub const USERS: u16 = 3;
pub const KEYS: u16 = 20;
pub const ORDERS: u16 = 8;

/// A call of a script, or something that befalls Redis.
#[derive(Debug, Clone)]
pub enum Step {
    Hold(Wish),
    Release(Order),
    Confirm(Order, Which),
    FreeSold(Order, Which),
    Restore(Order, Which),
    /// An order and the standing zone.
    Places(Order, Places),
    /// Staff withhold seats.
    Block(BTreeSet<u32>),
    /// Staff offer them again.
    Unblock(BTreeSet<u32>),
    /// Reconciliation counts anew; what it counted may be of an earlier moment.
    Count {
        is_current: bool,
    },
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
            Self::Release(order)
            | Self::Confirm(order, _)
            | Self::FreeSold(order, _)
            | Self::Restore(order, _)
            | Self::Places(order, _) => Some(order.number()),
            Self::Block(_)
            | Self::Unblock(_)
            | Self::Count { .. }
            | Self::Load
            | Self::LoseLock(_)
            | Self::LoseRecord(_)
            | Self::LoseShow => None,
        }
    }

    /// The same call for another order.
    fn for_order(self, order: Order) -> Self {
        match self {
            Self::Release(_) => Self::Release(order),
            Self::Confirm(_, which) => Self::Confirm(order, which),
            Self::FreeSold(_, which) => Self::FreeSold(order, which),
            Self::Restore(_, which) => Self::Restore(order, which),
            Self::Places(_, wish) => Self::Places(order, wish),
            Self::LoseRecord(_) => Self::LoseRecord(order),
            other => other,
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
            | Self::Places(..)
            | Self::Block(_)
            | Self::Unblock(_)
            | Self::Count { .. }
            | Self::Load => false,
        }
    }
}

/// A step as it was drawn. Which orders and seats it is about may depend on what happened before: random ones would mostly
/// be about nothing.
#[derive(Debug, Clone)]
pub struct Draw {
    pub step: Step,
    /// Take one of the orders that hold something, or hold a seat whose lock was lost, if there are any.
    pub holder: Option<usize>,
}

impl Draw {
    pub fn resolved(&self, show: &ModelShow) -> Step {
        match self.chosen(show) {
            // Numbers are never used twice, so an order that has tickets already does not get them again.
            Step::Hold(wish)
                if show.standing.contains_key(&wish.order.number())
                    && !show.holds.contains_key(&wish.order.number()) =>
            {
                let standing = Standing::None;
                Step::Hold(Wish { standing, ..wish })
            }
            step => step,
        }
    }

    fn chosen(&self, show: &ModelShow) -> Step {
        match (self.step.clone(), self.holder) {
            (Step::LoseLock(seat), _) => {
                let is_locked = |(_, state): &(SeatIndex, SeatState)| *state == SeatState::Locked;
                let locked: Vec<SeatIndex> = show
                    .seats()
                    .filter(is_locked)
                    .map(|(seat, _)| seat)
                    .collect();
                Step::LoseLock(pick(&locked, usize::try_from(seat.0).unwrap()).unwrap_or(seat))
            }
            (Step::Hold(wish), Some(at)) => {
                // A lock that was lost is taken by the next buyer, while the loser's record still names the seat.
                let seats = pick(&lost_seats(show), at).map_or(wish.seats, |seat| [seat.0].into());
                Step::Hold(Wish { seats, ..wish })
            }
            // Who takes places has none yet.
            (step @ Step::Places(_, Places::Take(_)), _) => step,
            (step @ Step::Places(..), Some(at)) => {
                let owners = |order: &Order| show.floor.has_any(order.number());
                let owners: Vec<Order> = Order::all().filter(owners).collect();
                pick(&owners, at).map_or(step.clone(), |order| step.for_order(order))
            }
            (step, Some(at)) => {
                let holds = |order: &Order| show.holds.contains_key(&order.number());
                let holders: Vec<Order> = Order::all().filter(holds).collect();
                pick(&holders, at).map_or(step.clone(), |order| step.for_order(order))
            }
            (step, None) => step,
        }
    }
}

fn lost_seats(show: &ModelShow) -> Vec<SeatIndex> {
    let named = show
        .holds
        .values()
        .flat_map(|record| record.seats.iter().map(|held| held.seat));
    named
        .filter(|seat| show.state(*seat) == SeatState::Available)
        .collect()
}

fn pick<T: Copy>(list: &[T], at: usize) -> Option<T> {
    list.get(at.checked_rem(list.len())?).copied()
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
            (LimitedBy::Phone, (self.0 % 5).to_string()),
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

    /// The tickets without a seat that it has besides others: none, one or two, some for named persons.
    pub fn standing(self) -> Vec<Option<String>> {
        let attendee = |ticket: u16| {
            let person = (self.0 + ticket) % 4;
            (person > 0).then(|| attendee_field(&person.to_string()))
        };
        (0..self.0 % 3).map(attendee).collect()
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

/// Whether an order is for its tickets without a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    None,
    AsWell,
    /// If it has any; else it is for its seats.
    Only,
}

/// What a buyer asks for.
#[derive(Debug, Clone)]
pub struct Wish {
    pub order: Order,
    pub seats: BTreeSet<u32>,
    pub standing: Standing,
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
        let standing = match self.standing {
            Standing::None => Vec::new(),
            Standing::AsWell | Standing::Only => self.order.standing(),
        };
        let is_seated = self.standing != Standing::Only || standing.is_empty();
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
                .filter(|_| is_seated)
                .rev()
                .map(|&seat| HeldSeat {
                    zone: zone(seat),
                    ..held(seat)
                })
                .collect(),
            standing,
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

pub fn zoned(seats: impl IntoIterator<Item = u32>) -> Vec<HeldSeat> {
    seats.into_iter().map(held).collect()
}

/// A seat with its zone and with the person who always takes it: two seats of three are for a few people.
pub fn held(seat: u32) -> HeldSeat {
    HeldSeat {
        seat: SeatIndex(seat),
        zone: zone_of(seat),
        attendee: (!seat.is_multiple_of(3)).then(|| attendee_field(&(seat % 4).to_string())),
    }
}

/// A record as reconciliation writes it for an order that lost its own.
pub fn record(order: Order, seats: Vec<HeldSeat>, standing: Vec<Option<String>>) -> HoldRecord {
    HoldRecord {
        user: order.user(),
        created: NOW,
        seats,
        standing,
        limits: order.limit_fields(),
        message: String::new(),
    }
}
