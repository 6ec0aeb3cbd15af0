//! Counters: remaining places of zones and tickets of buyers, counted anew from seats and orders.

use super::{Class, Finding, Repair, seats::Compared};
use crate::{
    redis::scripts::{Counters, SetCountersReply},
    ticketing::{Failure, Ticketing},
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId},
    seat::{MapVersion, SeatState},
};
use std::collections::{BTreeMap, BTreeSet};

/// The finding that a show's counters are wrong, when they are.
pub(super) fn compare(compared: &Compared<'_>) -> Option<Finding> {
    let counted = count(compared);
    let kept = &compared.snapshot.counters;
    if *kept == counted {
        return None;
    }
    let zones = differing(&kept.zones, &counted.zones);
    let buyers = differing(&kept.bought, &counted.bought);
    Some(Finding {
        class: Class::Counter,
        show: compared.facts.show.id,
        order_no: None,
        detail: format!("{zones} zone counter(s) and {buyers} buyer counter(s) are wrong"),
        repair: Repair::Count {
            at: compared.snapshot.map.at,
            counters: counted,
        },
    })
}

fn count(compared: &Compared<'_>) -> Counters {
    let facts = compared.facts;
    let mut zones: BTreeMap<_, u32> = facts.zones.iter().map(|zone| (zone.id, 0)).collect();
    for (state, seat) in compared.snapshot.map.states().zip((0..).map(SeatIndex)) {
        let zone = facts
            .zone_of(seat)
            .filter(|_| state == SeatState::Available);
        if let Some(count) = zone.and_then(|zone| zones.get_mut(&zone.id)) {
            *count += 1;
        }
    }
    Counters {
        zones,
        bought: tickets(compared),
    }
}

/// Tickets by counter: of every live order with a row, and of every hold that has no row yet. An order that ended but has
/// not given its seats back still counts, because giving them back lowers the counter.
fn tickets(compared: &Compared<'_>) -> BTreeMap<String, u32> {
    let mut seats_of: BTreeMap<OrderNo, BTreeSet<SeatIndex>> = BTreeMap::new();
    for claim in &compared.claims {
        if let Some(order_no) = claim.order_no {
            seats_of.entry(order_no).or_default().insert(claim.seat);
        }
    }
    let mut bought: BTreeMap<String, u32> = BTreeMap::new();
    let mut add = |counters: &[String], seats: usize| {
        for counter in counters {
            *bought.entry(counter.clone()).or_default() += u32::try_from(seats).unwrap_or(0);
        }
    };
    for (order_no, seats) in &seats_of {
        if let Some(order) = compared.orders.get(order_no) {
            add(&order.limit_counters, seats.len());
        }
    }
    for (order_no, record) in &compared.snapshot.holds {
        if !seats_of.contains_key(order_no) {
            add(&record.limits, record.seats.len());
        }
    }
    bought
}

fn differing<K: Ord>(one: &BTreeMap<K, u32>, other: &BTreeMap<K, u32>) -> usize {
    let keys: BTreeSet<&K> = one.keys().chain(other.keys()).collect();
    keys.into_iter()
        .filter(|key| one.get(*key) != other.get(*key))
        .count()
}

impl Ticketing {
    /// Writes a count if no seat has changed since.
    pub(super) async fn write_counters(
        &self,
        show: ShowId,
        at: MapVersion,
        counters: &Counters,
    ) -> Result<bool, Failure> {
        let reply = self.inner.redis.set_counters(show, at, counters).await?;
        Ok(reply == SetCountersReply::Set)
    }
}
