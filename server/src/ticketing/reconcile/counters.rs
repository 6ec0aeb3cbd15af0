//! Counters: remaining places of zones and tickets of buyers, counted anew from seats and orders.

use super::{Class, Finding, Presence, Repair, seats::Compared};
use crate::{
    redis::{
        HeldSeat, attendee_field,
        scripts::{CountedAt, Counters, SetCountersReply},
    },
    ticketing::{Failure, Ticketing, rebuild::zoned_seats},
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    seat::SeatState,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How often a show is counted again because a seat or a ticket changed meanwhile.
const TRIES_MAX: usize = 10;
/// Orders whose tickets are read at once.
const PART: usize = 500;

fn count_zones(compared: &Compared<'_>) -> BTreeMap<ZoneId, u32> {
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
    zones
}

/// Tickets by counter.
#[derive(Default)]
struct Tally {
    bought: BTreeMap<String, u32>,
    /// The seats that are counted, each for its order.
    seats: BTreeSet<(OrderNo, SeatIndex)>,
}

impl Tally {
    fn add(&mut self, limits: &[String], attendee: Option<&String>) {
        for counter in limits.iter().chain(attendee) {
            *self.bought.entry(counter.clone()).or_default() += 1;
        }
    }

    fn add_seat(
        &mut self,
        (order_no, seat): (OrderNo, SeatIndex),
        limits: &[String],
        attendee: Option<&String>,
    ) {
        self.seats.insert((order_no, seat));
        self.add(limits, attendee);
    }
}

/// Tickets of every live order with a row, and of every hold that has no row yet. An order that ended but has not given its
/// seats back still counts, because giving them back lowers the counter. A ticket without a seat counts as long as it is
/// listed in `standing`.
fn count_tickets(compared: &Compared<'_>) -> Tally {
    let mut tally = Tally::default();
    let mut has_claims: BTreeSet<OrderNo> = BTreeSet::new();
    for claim in &compared.claims {
        let order = claim.order_no.and_then(|no| compared.orders.get(&no));
        if let Some(order) = order {
            has_claims.insert(order.order_no);
            let attendee = claim.attendee.as_deref().map(attendee_field);
            let seat = (order.order_no, claim.seat);
            tally.add_seat(seat, &order.limit_counters, attendee.as_ref());
        }
    }
    for (order_no, record) in &compared.snapshot.holds {
        for held in record
            .seats
            .iter()
            .filter(|_| !has_claims.contains(order_no))
        {
            let seat = (*order_no, held.seat);
            tally.add_seat(seat, &record.limits, held.attendee.as_ref());
        }
    }
    for (order_no, tickets) in &compared.snapshot.standing {
        let hold = compared.snapshot.holds.get(order_no);
        let order = compared.orders.get(order_no);
        let limits = hold
            .map(|record| &record.limits)
            .or_else(|| order.map(|order| &order.limit_counters));
        for attendee in tickets {
            tally.add(limits.map_or(&[], Vec::as_slice), attendee.as_ref());
        }
    }
    tally
}

/// Seats that Redis gives to orders which neither claim nor hold them.
fn uncounted(compared: &Compared<'_>, tally: &Tally) -> BTreeMap<OrderNo, Vec<SeatIndex>> {
    let mut uncounted: BTreeMap<OrderNo, Vec<SeatIndex>> = BTreeMap::new();
    for (seat, order_no) in &compared.snapshot.owners {
        if !tally.seats.contains(&(*order_no, *seat)) {
            uncounted.entry(*order_no).or_default().push(*seat);
        }
    }
    uncounted
}

fn differing<K: Ord>(one: &BTreeMap<K, u32>, other: &BTreeMap<K, u32>) -> usize {
    let keys: BTreeSet<&K> = one.keys().chain(other.keys()).collect();
    keys.into_iter()
        .filter(|key| one.get(*key) != other.get(*key))
        .count()
}

impl Ticketing {
    /// The finding that a show's counters are wrong, when they are.
    pub(super) async fn find_wrong_counters(
        &self,
        compared: &Compared<'_>,
    ) -> Result<Option<Finding>, Failure> {
        let mut tally = count_tickets(compared);
        if !self.count_until_given_back(compared, &mut tally).await? {
            return Ok(None);
        }
        let counted = Counters {
            zones: count_zones(compared),
            bought: tally.bought,
        };
        let kept = &compared.snapshot.counters;
        if *kept == counted {
            return Ok(None);
        }
        let zones = differing(&kept.zones, &counted.zones);
        let buyers = differing(&kept.bought, &counted.bought);
        Ok(Some(Finding {
            class: Class::Counter,
            show: compared.facts.show.id,
            order_no: None,
            detail: format!("{zones} zone counter(s) and {buyers} buyer counter(s) are wrong"),
            repair: Repair::Count {
                at: compared.snapshot.at(),
                counters: counted,
            },
        }))
    }

    /// Counts seats whose money is back and which Redis has not been told of: a ticket has no claim from that commit on, and
    /// giving its seat back lowers the counters by it. False when an order is not known well enough to be counted; it has no
    /// row yet and its record can't be read.
    async fn count_until_given_back(
        &self,
        compared: &Compared<'_>,
        tally: &mut Tally,
    ) -> Result<bool, Failure> {
        let uncounted = uncounted(compared, tally);
        if uncounted.is_empty() {
            return Ok(true);
        }
        let numbers: Vec<OrderNo> = uncounted.keys().copied().collect();
        let mut items = HashMap::new();
        for part in numbers.chunks(PART) {
            items.extend(self.inner.db.items_of(part).await?);
        }
        for (order_no, seats) in uncounted {
            let Some(order) = compared.orders.get(&order_no) else {
                return Ok(false);
            };
            let items = items.get(&order_no).map_or(&[][..], Vec::as_slice);
            let known: Vec<HeldSeat> = zoned_seats(items);
            for seat in seats {
                let held = known.iter().find(|held| held.seat == seat);
                let attendee = held.and_then(|held| held.attendee.as_ref());
                tally.add_seat((order_no, seat), &order.limit_counters, attendee);
            }
        }
        Ok(true)
    }

    /// Writes a count. It is void once a seat or a ticket has changed since, and a show that sells well changes between a
    /// round's look and its repair: then this show alone is looked at again and written at once. False when its counters
    /// are right meanwhile, or when something else of it must be put right first.
    pub(super) async fn write_counters(
        &self,
        show: ShowId,
        at: CountedAt,
        counters: &Counters,
    ) -> Result<bool, Failure> {
        let mut count = (at, counters.clone());
        for _ in 0..TRIES_MAX {
            match self
                .inner
                .redis
                .set_counters(show, count.0, &count.1)
                .await?
            {
                SetCountersReply::Set => return Ok(true),
                SetCountersReply::Rebuild => return Ok(false),
                SetCountersReply::Moved => {}
            }
            let mut found = Vec::new();
            // A show that Redis lost meanwhile is the next round's.
            self.find_in_show(show, Presence::Over, &mut found).await?;
            // Nothing is found when the counters are right, and when orders came between the readings.
            if found.is_empty() {
                continue;
            }
            let again = found.into_iter().find_map(|finding| match finding.repair {
                Repair::Count { at, counters } => Some((at, counters)),
                _ => None,
            });
            let Some(again) = again else { return Ok(false) };
            count = again;
        }
        Ok(false)
    }
}
