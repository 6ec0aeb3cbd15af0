//! A show as the scripts must keep it, in plain Rust.
//!
//! Written from the headers of `lua/`, with maps instead of keys. A further script becomes a further function here, a
//! variant of `Step`, and a line in `Stage::play`.

use super::{
    books::{self, Books},
    places::ModelFloor,
    refusals::rises,
};
use app::domain::{
    ids::{OrderNo, SeatIndex, UserId, ZoneId},
    seat::{SeatChange, SeatState},
};
use server::redis::{
    HeldSeat, HoldRecord, limit_field,
    scripts::{
        ConfirmReply, FreeReply, Freed, HoldCommand, HoldReply, LoadReply, LoadShow, ReleaseReply,
        RestoreReply, ShowMeta,
    },
};
use std::collections::BTreeMap;

/// Everything that a show's keys hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelShow {
    /// None while the show is not loaded.
    pub meta: Option<ShowMeta>,
    pub states: Vec<SeatState>,
    pub owners: BTreeMap<SeatIndex, OrderNo>,
    pub holds: BTreeMap<OrderNo, HoldRecord>,
    /// By the moment of the hold, in milliseconds.
    pub unsent: BTreeMap<OrderNo, i64>,
    pub zones: BTreeMap<ZoneId, i64>,
    /// How the zones came to have what they have left.
    pub books: Books,
    pub bought: BTreeMap<String, i64>,
    /// Tickets without a seat, each its attendee's counter.
    pub standing: BTreeMap<OrderNo, Vec<Option<String>>>,
    /// Every change since the show was loaded; their number is the version.
    pub changes: Vec<u32>,
    pub idempotency: BTreeMap<(UserId, String), (OrderNo, String)>,
    /// A user's last order and what it was for.
    pub guards: BTreeMap<UserId, (OrderNo, String)>,
    /// Its standing zone, whose keys are not the show's.
    pub floor: ModelFloor,
}

impl ModelShow {
    pub fn new(load: &LoadShow) -> Self {
        let mut states = vec![SeatState::Available; usize::try_from(load.meta.seats).unwrap()];
        for seat in &load.seats {
            states[place(seat.seat)] = seat.state;
        }
        let mut show = Self {
            meta: Some(load.meta.clone()),
            states,
            owners: load
                .seats
                .iter()
                .filter_map(|seat| Some((seat.seat, seat.order_no?)))
                .collect(),
            holds: load.holds.iter().cloned().collect(),
            unsent: BTreeMap::new(),
            zones: load
                .zones
                .iter()
                .map(|(zone, left)| (*zone, i64::from(*left)))
                .collect(),
            books: Books::new(),
            bought: load
                .bought
                .iter()
                .map(|(field, count)| (field.clone(), i64::from(*count)))
                .collect(),
            standing: load.standing.iter().cloned().collect(),
            changes: Vec::new(),
            idempotency: BTreeMap::new(),
            guards: BTreeMap::new(),
            floor: ModelFloor::default(),
        };
        show.book(&BTreeMap::new(), None, "load");
        show
    }

    /// Notes what has changed since the zones had `before` left.
    pub(super) fn book(
        &mut self,
        before: &BTreeMap<ZoneId, i64>,
        order_no: Option<OrderNo>,
        why: &str,
    ) {
        books::note(&mut self.books, before, &self.zones, order_no, why);
    }

    pub fn state(&self, seat: SeatIndex) -> SeatState {
        self.states[place(seat)]
    }

    pub fn seats(&self) -> impl Iterator<Item = (SeatIndex, SeatState)> + '_ {
        (0..).map(SeatIndex).zip(self.states.iter().copied())
    }

    pub fn load(&mut self, load: &LoadShow) -> LoadReply {
        if let Some(meta) = &self.meta {
            return LoadReply::AlreadyPresent { epoch: meta.epoch };
        }
        let before = std::mem::take(&mut self.zones);
        *self = Self {
            idempotency: std::mem::take(&mut self.idempotency),
            guards: std::mem::take(&mut self.guards),
            books: std::mem::take(&mut self.books),
            floor: std::mem::take(&mut self.floor),
            ..Self::new(load)
        };
        self.book(&before, None, "load");
        LoadReply::Loaded
    }

    pub fn hold(&mut self, command: &HoldCommand) -> HoldReply {
        let Some(meta) = self.meta.clone() else {
            return HoldReply::Rebuild;
        };
        if let Some(earlier) = self.earlier(command) {
            return earlier;
        }
        if let Some(refusal) = self.refusal(command, &meta) {
            return refusal;
        }
        let before = self.zones.clone();
        let mut seats = command.seats.clone();
        seats.sort_unstable();
        for held in &seats {
            self.set(held.seat, SeatState::Locked, Some(command.order_no));
            *self.zones.entry(held.zone).or_default() -= 1;
        }
        self.book(&before, Some(command.order_no), "hold");
        for (field, tickets) in rises(command) {
            *self.bought.entry(field).or_default() += tickets;
        }
        if !command.standing.is_empty() {
            self.standing
                .insert(command.order_no, command.standing.clone());
        }
        let limits: Vec<String> = command
            .limits
            .iter()
            .map(|(by, value)| limit_field(*by, value))
            .collect();
        let record = HoldRecord {
            user: command.user,
            created: command.now,
            seats,
            standing: command.standing.clone(),
            limits,
            message: command.message.clone(),
        };
        self.holds.insert(command.order_no, record);
        self.unsent.insert(command.order_no, command.now.0);
        self.idempotency.insert(
            (command.user, command.idempotency_key.clone()),
            (command.order_no, command.fingerprint.clone()),
        );
        self.guards.insert(
            command.user,
            (command.order_no, command.fingerprint.clone()),
        );
        HoldReply::Held {
            version: u64::try_from(self.changes.len()).unwrap(),
        }
    }

    pub fn release(&mut self, order_no: OrderNo) -> ReleaseReply {
        if self.meta.is_none() {
            return ReleaseReply::Rebuild;
        }
        let Some(record) = self.holds.get(&order_no).cloned() else {
            return ReleaseReply::Nothing;
        };
        let freed = Freed {
            seats: record.seats,
            with_standing: true,
            standing_kept: Vec::new(),
            limits: record.limits,
        };
        let before = self.zones.clone();
        let seats = self.free(order_no, &freed, |state| state == SeatState::Locked);
        self.book(&before, Some(order_no), "release");
        ReleaseReply::Released { seats }
    }

    pub fn free_sold(&mut self, order_no: OrderNo, freed: &Freed) -> FreeReply {
        if self.meta.is_none() {
            return FreeReply::Rebuild;
        }
        let mut freed = freed.clone();
        freed.seats.sort_unstable();
        let is_taken = |state| matches!(state, SeatState::Locked | SeatState::Sold);
        let before = self.zones.clone();
        let seats = self.free(order_no, &freed, is_taken);
        self.book(&before, Some(order_no), "free");
        FreeReply::Freed { seats }
    }

    /// Frees the order's own among some tickets, in their order, and forgets its hold.
    fn free(
        &mut self,
        order_no: OrderNo,
        freed: &Freed,
        may_go: impl Fn(SeatState) -> bool,
    ) -> Vec<SeatIndex> {
        let (mut gone, mut attendees) = (Vec::new(), Vec::new());
        for held in &freed.seats {
            if self.owners.get(&held.seat) == Some(&order_no) && may_go(self.state(held.seat)) {
                self.set(held.seat, SeatState::Available, None);
                *self.zones.entry(held.zone).or_default() += 1;
                gone.push(held.seat);
                attendees.push(held.attendee.clone());
            }
        }
        if freed.with_standing {
            attendees.extend(self.standing.remove(&order_no).unwrap_or_default());
        }
        for field in freed.limits.iter().filter(|_| !attendees.is_empty()) {
            self.lower(field, count(&attendees));
        }
        for field in attendees.iter().flatten() {
            self.lower(field, 1);
        }
        self.forget_hold(order_no);
        gone
    }

    fn lower(&mut self, field: &str, by: i64) {
        let left = self.bought.entry(field.to_owned()).or_default();
        *left -= by;
        if *left <= 0 {
            self.bought.remove(field);
        }
    }

    pub fn confirm(&mut self, order_no: OrderNo, seats: &[HeldSeat]) -> ConfirmReply {
        if self.meta.is_none() {
            return ConfirmReply::Rebuild;
        }
        let mut seats = seats.to_vec();
        seats.sort_unstable();
        let conflicts = self.conflicts(order_no, &seats, |state| {
            matches!(state, SeatState::Locked | SeatState::Sold)
        });
        if !conflicts.is_empty() {
            return ConfirmReply::Conflict { seats: conflicts };
        }
        let (before, zones) = (self.changes.len(), self.zones.clone());
        for held in seats {
            match self.state(held.seat) {
                SeatState::Sold => continue,
                SeatState::Available => *self.zones.entry(held.zone).or_default() -= 1,
                SeatState::Locked | SeatState::Blocked => {}
            }
            self.set(held.seat, SeatState::Sold, Some(order_no));
        }
        self.book(&zones, Some(order_no), "confirm");
        self.forget_hold(order_no);
        ConfirmReply::Confirmed {
            changed: u32::try_from(self.changes.len() - before).unwrap(),
        }
    }

    pub fn restore(&mut self, order_no: OrderNo, record: &HoldRecord) -> RestoreReply {
        if self.meta.is_none() {
            return RestoreReply::Rebuild;
        }
        let conflicts = self.conflicts(order_no, &record.seats, |state| state == SeatState::Locked);
        if !conflicts.is_empty() {
            return RestoreReply::Conflict { seats: conflicts };
        }
        let (before, mut counted) = (self.zones.clone(), Vec::new());
        for held in &record.seats {
            if self.state(held.seat) == SeatState::Available {
                self.set(held.seat, SeatState::Locked, Some(order_no));
                *self.zones.entry(held.zone).or_default() -= 1;
                counted.push(held.attendee.clone());
            }
        }
        self.book(&before, Some(order_no), "restore");
        if !record.standing.is_empty() && !self.standing.contains_key(&order_no) {
            self.standing.insert(order_no, record.standing.clone());
            counted.extend(record.standing.iter().cloned());
        }
        for field in record.limits.iter().filter(|_| !counted.is_empty()) {
            *self.bought.entry(field.clone()).or_default() += count(&counted);
        }
        for field in counted.iter().flatten() {
            *self.bought.entry(field.clone()).or_default() += 1;
        }
        self.holds.entry(order_no).or_insert_with(|| record.clone());
        RestoreReply::Restored {
            changed: u32::try_from(counted.len()).unwrap(),
        }
    }

    /// Seats that an order can't have: unknown, another's, withheld, or its own in a state that does not fit.
    fn conflicts(
        &self,
        order_no: OrderNo,
        seats: &[HeldSeat],
        fits: impl Fn(SeatState) -> bool,
    ) -> Vec<SeatIndex> {
        let is_conflict =
            |seat: &SeatIndex| match (self.states.get(place(*seat)), self.owners.get(seat)) {
                (Some(SeatState::Available), None) => false,
                (Some(state), Some(owner)) => *owner != order_no || !fits(*state),
                _ => true,
            };
        seats
            .iter()
            .map(|held| held.seat)
            .filter(is_conflict)
            .collect()
    }

    /// A seat whose lock Redis has lost while the order's record stayed.
    pub fn lose_lock(&mut self, seat: SeatIndex, zone: ZoneId) {
        let before = self.zones.clone();
        self.set(seat, SeatState::Available, None);
        *self.zones.entry(zone).or_default() += 1;
        self.book(&before, None, "lost");
    }

    fn forget_hold(&mut self, order_no: OrderNo) {
        self.holds.remove(&order_no);
        self.unsent.remove(&order_no);
    }

    pub(super) fn set(&mut self, seat: SeatIndex, state: SeatState, owner: Option<OrderNo>) {
        self.states[place(seat)] = state;
        match owner {
            Some(order_no) => self.owners.insert(seat, order_no),
            None => self.owners.remove(&seat),
        };
        self.changes.push(SeatChange { seat, state }.packed());
    }
}

pub(super) fn place(seat: SeatIndex) -> usize {
    usize::try_from(seat.0).unwrap()
}

pub(super) fn count<T>(list: &[T]) -> i64 {
    i64::try_from(list.len()).unwrap()
}
