//! A show as the scripts must keep it, in plain Rust.
//!
//! Written from the headers of `lua/`, with maps instead of keys. A further script becomes a further function here, a
//! variant of `Step`, and a line in `Stage::play`.

use app::domain::{
    catalogue::ShowStatus,
    hold::Refusal,
    ids::{OrderNo, SeatIndex, UserId, ZoneId},
    seat::{SeatChange, SeatState},
};
use server::redis::{
    HoldRecord, limit_field,
    scripts::{
        ConfirmReply, FreeReply, HoldCommand, HoldReply, LoadReply, LoadShow, ReleaseReply,
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
    pub bought: BTreeMap<String, i64>,
    /// Every change since the show was loaded; their number is the version.
    pub changes: Vec<u32>,
    pub idempotency: BTreeMap<(UserId, String), OrderNo>,
    /// A user's last order and what it was for.
    pub guards: BTreeMap<UserId, (OrderNo, String)>,
}

impl ModelShow {
    pub fn new(load: &LoadShow) -> Self {
        let mut states = vec![SeatState::Available; usize::try_from(load.meta.seats).unwrap()];
        for seat in &load.seats {
            states[place(seat.seat)] = seat.state;
        }
        Self {
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
            bought: load
                .bought
                .iter()
                .map(|(field, count)| (field.clone(), i64::from(*count)))
                .collect(),
            changes: Vec::new(),
            idempotency: BTreeMap::new(),
            guards: BTreeMap::new(),
        }
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
        *self = Self {
            idempotency: std::mem::take(&mut self.idempotency),
            guards: std::mem::take(&mut self.guards),
            ..Self::new(load)
        };
        LoadReply::Loaded
    }

    pub fn hold(&mut self, command: &HoldCommand) -> HoldReply {
        let Some(meta) = self.meta.clone() else {
            return HoldReply::Rebuild;
        };
        if let Some(earlier) = self.earlier_order(command) {
            return HoldReply::Repeated(earlier);
        }
        if let Some(refusal) = self.refusal(command, &meta) {
            return HoldReply::Refused(refusal);
        }
        let mut seats = command.seats.clone();
        seats.sort_unstable();
        for (seat, zone) in &seats {
            self.set(*seat, SeatState::Locked, Some(command.order_no));
            *self.zones.entry(*zone).or_default() -= 1;
        }
        let limits: Vec<String> = command
            .limits
            .iter()
            .map(|(by, value)| limit_field(*by, value))
            .collect();
        for field in &limits {
            *self.bought.entry(field.clone()).or_default() += count(&seats);
        }
        let record = HoldRecord {
            user: command.user,
            created: command.now,
            seats,
            limits,
            message: command.message.clone(),
        };
        self.holds.insert(command.order_no, record);
        self.unsent.insert(command.order_no, command.now.0);
        self.idempotency.insert(
            (command.user, command.idempotency_key.clone()),
            command.order_no,
        );
        self.guards.insert(
            command.user,
            (command.order_no, command.fingerprint.clone()),
        );
        HoldReply::Held {
            version: u64::try_from(self.changes.len()).unwrap(),
        }
    }

    fn earlier_order(&self, command: &HoldCommand) -> Option<OrderNo> {
        let by_key = self
            .idempotency
            .get(&(command.user, command.idempotency_key.clone()))
            .copied();
        let by_guard = || {
            let (order_no, fingerprint) = self.guards.get(&command.user)?;
            (*fingerprint == command.fingerprint && self.holds.contains_key(order_no))
                .then_some(*order_no)
        };
        let own = || {
            self.holds
                .contains_key(&command.order_no)
                .then_some(command.order_no)
        };
        by_key.or_else(by_guard).or_else(own)
    }

    fn refusal(&self, command: &HoldCommand, meta: &ShowMeta) -> Option<Refusal> {
        if !matches!(meta.status, ShowStatus::OnSale | ShowStatus::SoldOut) {
            return Some(Refusal::NotOnSale);
        }
        if command.now < meta.sale_start {
            return Some(Refusal::SaleNotStarted {
                starts_at: meta.sale_start,
            });
        }
        if command.now >= meta.sale_end {
            return Some(Refusal::SaleEnded);
        }
        if command.level < meta.level {
            return Some(Refusal::LevelRequired { level: meta.level });
        }
        for (by, value) in &command.limits {
            let have = self
                .bought
                .get(&limit_field(*by, value))
                .copied()
                .unwrap_or(0);
            if have + count(&command.seats) > i64::from(meta.limit) {
                let have = u32::try_from(have).unwrap();
                return Some(Refusal::LimitReached {
                    by: *by,
                    limit: meta.limit,
                    have,
                });
            }
        }
        let mut seats = command.seats.clone();
        seats.sort_unstable();
        if let Some((seat, _)) = seats.iter().find(|(seat, _)| seat.0 >= meta.seats) {
            return Some(Refusal::UnknownSeat { seat: *seat });
        }
        let is_taken = |seat: &SeatIndex| self.state(*seat) != SeatState::Available;
        let taken: Vec<SeatIndex> = seats
            .iter()
            .map(|(seat, _)| *seat)
            .filter(is_taken)
            .collect();
        if !taken.is_empty() {
            return Some(Refusal::SeatsTaken { seats: taken });
        }
        let is_short = |zone: &ZoneId| {
            let wanted = seats.iter().filter(|(_, of)| of == zone).count();
            self.zones.get(zone).copied().unwrap_or(0) < i64::try_from(wanted).unwrap()
        };
        let zone = seats.iter().map(|(_, zone)| *zone).find(is_short)?;
        Some(Refusal::ZoneSoldOut { zone })
    }

    pub fn release(&mut self, order_no: OrderNo) -> ReleaseReply {
        if self.meta.is_none() {
            return ReleaseReply::Rebuild;
        }
        let Some(record) = self.holds.get(&order_no).cloned() else {
            return ReleaseReply::Nothing;
        };
        let seats = self.free(order_no, &record.seats, &record.limits, |state| {
            state == SeatState::Locked
        });
        ReleaseReply::Released { seats }
    }

    pub fn free_sold(
        &mut self,
        order_no: OrderNo,
        limits: &[String],
        seats: &[(SeatIndex, ZoneId)],
    ) -> FreeReply {
        if self.meta.is_none() {
            return FreeReply::Rebuild;
        }
        let mut seats = seats.to_vec();
        seats.sort_unstable();
        let is_taken = |state| matches!(state, SeatState::Locked | SeatState::Sold);
        FreeReply::Freed {
            seats: self.free(order_no, &seats, limits, is_taken),
        }
    }

    /// Frees the order's own seats among some, in their order, and forgets its hold.
    fn free(
        &mut self,
        order_no: OrderNo,
        seats: &[(SeatIndex, ZoneId)],
        limits: &[String],
        may_go: impl Fn(SeatState) -> bool,
    ) -> Vec<SeatIndex> {
        let mut freed = Vec::new();
        for (seat, zone) in seats {
            if self.owners.get(seat) == Some(&order_no) && may_go(self.state(*seat)) {
                self.set(*seat, SeatState::Available, None);
                *self.zones.entry(*zone).or_default() += 1;
                freed.push(*seat);
            }
        }
        for field in limits.iter().filter(|_| !freed.is_empty()) {
            let left = self.bought.entry(field.clone()).or_default();
            *left -= count(&freed);
            if *left <= 0 {
                self.bought.remove(field);
            }
        }
        self.forget_hold(order_no);
        freed
    }

    pub fn confirm(&mut self, order_no: OrderNo, seats: &[(SeatIndex, ZoneId)]) -> ConfirmReply {
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
        let before = self.changes.len();
        for (seat, zone) in seats {
            match self.state(seat) {
                SeatState::Sold => continue,
                SeatState::Available => *self.zones.entry(zone).or_default() -= 1,
                SeatState::Locked | SeatState::Blocked => {}
            }
            self.set(seat, SeatState::Sold, Some(order_no));
        }
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
        let before = self.changes.len();
        for (seat, zone) in &record.seats {
            if self.state(*seat) == SeatState::Available {
                self.set(*seat, SeatState::Locked, Some(order_no));
                *self.zones.entry(*zone).or_default() -= 1;
            }
        }
        let changed = self.changes.len() - before;
        for field in record.limits.iter().filter(|_| changed > 0) {
            *self.bought.entry(field.clone()).or_default() += i64::try_from(changed).unwrap();
        }
        self.holds.entry(order_no).or_insert_with(|| record.clone());
        RestoreReply::Restored {
            changed: u32::try_from(changed).unwrap(),
        }
    }

    /// Seats that an order can't have: unknown, another's, withheld, or its own in a state that does not fit.
    fn conflicts(
        &self,
        order_no: OrderNo,
        seats: &[(SeatIndex, ZoneId)],
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
            .map(|(seat, _)| *seat)
            .filter(is_conflict)
            .collect()
    }

    /// A seat whose lock Redis has lost while the order's record stayed.
    pub fn lose_lock(&mut self, seat: SeatIndex, zone: ZoneId) {
        self.set(seat, SeatState::Available, None);
        *self.zones.entry(zone).or_default() += 1;
    }

    fn forget_hold(&mut self, order_no: OrderNo) {
        self.holds.remove(&order_no);
        self.unsent.remove(&order_no);
    }

    fn set(&mut self, seat: SeatIndex, state: SeatState, owner: Option<OrderNo>) {
        self.states[place(seat)] = state;
        match owner {
            Some(order_no) => self.owners.insert(seat, order_no),
            None => self.owners.remove(&seat),
        };
        self.changes.push(SeatChange { seat, state }.packed());
    }
}

fn place(seat: SeatIndex) -> usize {
    usize::try_from(seat.0).unwrap()
}

fn count<T>(list: &[T]) -> i64 {
    i64::try_from(list.len()).unwrap()
}
