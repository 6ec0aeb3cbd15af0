//! What staff and reconciliation do to a show, as the scripts must do it.

use super::model::{ModelShow, place};
use app::domain::{
    ids::{SeatIndex, ZoneId},
    seat::SeatState,
};
use server::redis::scripts::{BlockReply, Counters, SetCountersReply};

impl ModelShow {
    /// Withholds free seats, or offers withheld ones again.
    pub fn block(&mut self, seats: &[(SeatIndex, ZoneId)], to: SeatState) -> BlockReply {
        let Some(meta) = &self.meta else {
            return BlockReply::Rebuild;
        };
        if let Some((seat, _)) = seats.iter().rfind(|(seat, _)| seat.0 >= meta.seats) {
            return BlockReply::Unknown { seat: *seat };
        }
        let is_taken = |state| matches!(state, SeatState::Locked | SeatState::Sold);
        let named = seats.iter().map(|(seat, _)| *seat);
        let taken: Vec<SeatIndex> = named.filter(|seat| is_taken(self.state(*seat))).collect();
        if !taken.is_empty() {
            return BlockReply::Taken { seats: taken };
        }
        let (before, mut changed) = (self.zones.clone(), Vec::new());
        for (seat, zone) in seats
            .iter()
            .filter(|(seat, _)| self.states[place(*seat)] != to)
        {
            changed.push((*seat, *zone));
        }
        for (seat, zone) in &changed {
            self.set(*seat, to, None);
            let by = if to == SeatState::Blocked { -1 } else { 1 };
            *self.zones.entry(*zone).or_default() += by;
        }
        let why = if to == SeatState::Blocked {
            "block"
        } else {
            "unblock"
        };
        self.book(&before, None, why);
        BlockReply::Done {
            changed: changed.into_iter().map(|(seat, _)| seat).collect(),
        }
    }

    /// Writes counters that were counted when so many seats and tickets had changed.
    pub fn set_counters(&mut self, is_current: bool, counters: &Counters) -> SetCountersReply {
        if self.meta.is_none() {
            return SetCountersReply::Rebuild;
        }
        if !is_current {
            return SetCountersReply::Moved;
        }
        let before = self.zones.clone();
        let counted = |count: &u32| i64::from(*count);
        self.zones.extend(
            counters
                .zones
                .iter()
                .map(|(zone, left)| (*zone, counted(left))),
        );
        let bought = counters.bought.iter();
        self.bought = bought
            .map(|(field, have)| (field.clone(), counted(have)))
            .collect();
        self.book(&before, None, "count");
        SetCountersReply::Set
    }
}
