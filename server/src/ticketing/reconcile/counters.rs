//! Counters: remaining places of zones and tickets of buyers, counted anew from seats and orders.

use super::{Class, Finding, Repair, seats::Compared};
use crate::{
    redis::{
        attendee_field,
        scripts::{CountedAt, Counters, SetCountersReply},
    },
    ticketing::{Failure, Ticketing},
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId},
    seat::SeatState,
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
            at: compared.snapshot.at(),
            counters: counted,
        },
    })
}

fn count(compared: &Compared<'_>) -> Counters {
    let facts = compared.facts;
    let seated = facts.zones.iter().filter(|zone| zone.standing.is_none());
    let mut zones: BTreeMap<_, u32> = seated.map(|zone| (zone.id, 0)).collect();
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
/// not given its seats back still counts, because giving them back lowers the counter. A ticket without a seat counts as
/// long as it is listed in `standing`.
fn tickets(compared: &Compared<'_>) -> BTreeMap<String, u32> {
    let mut bought: BTreeMap<String, u32> = BTreeMap::new();
    let mut add = |limits: &[String], attendee: Option<String>| {
        for counter in limits.iter().cloned().chain(attendee) {
            *bought.entry(counter).or_default() += 1;
        }
    };
    let mut has_claims: BTreeSet<OrderNo> = BTreeSet::new();
    for claim in &compared.claims {
        let order = claim.order_no.and_then(|no| compared.orders.get(&no));
        if let Some(order) = order {
            has_claims.insert(order.order_no);
            let attendee = claim.attendee.as_deref().map(attendee_field);
            add(&order.limit_counters, attendee);
        }
    }
    for (order_no, record) in &compared.snapshot.holds {
        for held in record
            .seats
            .iter()
            .filter(|_| !has_claims.contains(order_no))
        {
            add(&record.limits, held.attendee.clone());
        }
    }
    for (order_no, tickets) in &compared.snapshot.standing {
        let hold = compared.snapshot.holds.get(order_no);
        let order = compared.orders.get(order_no);
        let limits = hold
            .map(|record| &record.limits)
            .or_else(|| order.map(|order| &order.limit_counters));
        for attendee in tickets {
            add(limits.map_or(&[], Vec::as_slice), attendee.clone());
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
    /// Writes a count if no seat and no ticket has changed since.
    pub(super) async fn write_counters(
        &self,
        show: ShowId,
        at: CountedAt,
        counters: &Counters,
    ) -> Result<bool, Failure> {
        let reply = self.inner.redis.set_counters(show, at, counters).await?;
        Ok(reply == SetCountersReply::Set)
    }
}
