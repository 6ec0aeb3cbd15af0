//! Why a hold is not made: it was made before, or something is in its way.

use super::model::{ModelShow, count};
use app::domain::{
    catalogue::ShowStatus,
    hold::Refusal,
    ids::{SeatIndex, ZoneId},
    seat::SeatState,
};
use server::redis::{
    HeldSeat, limit_field,
    scripts::{HoldCommand, HoldReply, ShowMeta},
};

impl ModelShow {
    pub(super) fn earlier(&self, command: &HoldCommand) -> Option<HoldReply> {
        let key = (command.user, command.idempotency_key.clone());
        if let Some((order_no, fingerprint)) = self.idempotency.get(&key) {
            let order_no = *order_no;
            return Some(if *fingerprint == command.fingerprint {
                HoldReply::Repeated(order_no)
            } else {
                HoldReply::Refused(Refusal::KeyUsed { order_no })
            });
        }
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
        by_guard().or_else(own).map(HoldReply::Repeated)
    }

    pub(super) fn refusal(&self, command: &HoldCommand, meta: &ShowMeta) -> Option<HoldReply> {
        let refused = |refusal| Some(HoldReply::Refused(refusal));
        if !matches!(meta.status, ShowStatus::OnSale | ShowStatus::SoldOut) {
            return refused(Refusal::NotOnSale);
        }
        if command.now < meta.sale_start {
            return refused(Refusal::SaleNotStarted {
                starts_at: meta.sale_start,
            });
        }
        if command.now >= meta.sale_end {
            return refused(Refusal::SaleEnded);
        }
        if command.level < meta.level {
            return refused(Refusal::LevelRequired { level: meta.level });
        }
        for (counter, tickets) in rises(command) {
            let have = self.bought.get(&counter).copied().unwrap_or(0);
            if have + tickets > i64::from(meta.limit) {
                return Some(HoldReply::LimitReached {
                    counter,
                    limit: meta.limit,
                    have: u32::try_from(have).unwrap(),
                });
            }
        }
        let mut seats = command.seats.clone();
        seats.sort_unstable();
        if let Some(held) = seats.iter().find(|held| held.seat.0 >= meta.seats) {
            return refused(Refusal::UnknownSeat { seat: held.seat });
        }
        let is_taken = |seat: &SeatIndex| self.state(*seat) != SeatState::Available;
        let taken: Vec<SeatIndex> = seats
            .iter()
            .map(|held| held.seat)
            .filter(is_taken)
            .collect();
        if !taken.is_empty() {
            return refused(Refusal::SeatsTaken { seats: taken });
        }
        let is_short = |zone: &ZoneId| {
            let wanted = seats.iter().filter(|held| held.zone == *zone).count();
            self.zones.get(zone).copied().unwrap_or(0) < i64::try_from(wanted).unwrap()
        };
        let zone = seats.iter().map(|held| held.zone).find(is_short)?;
        refused(Refusal::ZoneSoldOut { zone })
    }
}

/// What each counter rises by when a command's tickets are held, in the order in which it is checked.
pub fn rises(command: &HoldCommand) -> Vec<(String, i64)> {
    let tickets = count(&command.seats) + count(&command.standing);
    let limits = command.limits.iter();
    let mut rises: Vec<(String, i64)> = limits
        .map(|(by, value)| (limit_field(*by, value), tickets))
        .collect();
    let mut seats: Vec<&HeldSeat> = command.seats.iter().collect();
    seats.sort_unstable();
    let of_seats = seats.into_iter().map(|held| &held.attendee);
    for field in of_seats.chain(&command.standing).flatten() {
        match rises.iter_mut().find(|(counted, _)| counted == field) {
            Some((_, by)) => *by += 1,
            None => rises.push((field.clone(), 1)),
        }
    }
    rises
}
