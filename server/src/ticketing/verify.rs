//! Evidence: the invariants of the sale, read from the live stores and counted.

use super::{Failure, Ticketing, reconcile::LOCK_LEASE};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId},
    seat::SeatState,
    time::Millis,
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// How long an overdue order may wait for the sweeper before it counts as a fault.
const OVERDUE_GRACE: Millis = Millis(15_000);

/// One invariant: a number that must be zero, and what it was counted from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invariant {
    /// Names it.
    pub name: &'static str,
    /// How many things break it.
    pub violations: i64,
    /// How many things were looked at.
    pub checked: i64,
    /// What was looked at.
    pub of: &'static str,
}

/// All invariants at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The invariants.
    pub invariants: Vec<Invariant>,
}

impl Evidence {
    /// Whether nothing is violated.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.invariants
            .iter()
            .all(|invariant| invariant.violations == 0)
    }

    /// A table for a terminal.
    #[must_use]
    pub fn table(&self) -> String {
        self.invariants
            .iter()
            .map(|i| {
                let mark = if i.violations == 0 { "ok" } else { "VIOLATED" };
                format!(
                    "{:<10}{:<44}{:>8}  of {} {}\n",
                    mark, i.name, i.violations, i.checked, i.of
                )
            })
            .collect()
    }
}

#[derive(Default)]
struct SeatFindings {
    seats: i64,
    locks: i64,
    ownerless_locks: i64,
    orphaned_locks: i64,
    claims: i64,
    claims_not_held: i64,
    zones: i64,
    wrong_counters: i64,
}

impl Ticketing {
    /// Reads both stores and counts.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn verify(&self) -> Result<Evidence, Failure> {
        let counts = self.inner.db.counts(self.now() - OVERDUE_GRACE).await?;
        let mut seats = SeatFindings::default();
        let mut shows: HashSet<ShowId> =
            self.inner.redis.loaded_shows().await?.into_iter().collect();
        shows.extend(self.inner.db.claimed_shows().await?);
        for show in shows {
            self.verify_show(show, &mut seats).await?;
        }
        let of = |name, violations, checked, of| Invariant {
            name,
            violations,
            checked,
            of,
        };
        Ok(Evidence {
            invariants: vec![
                of(
                    "duplicate claims",
                    counts.duplicate_claims,
                    counts.claims,
                    "claims",
                ),
                of(
                    "seats in more than one live order",
                    counts.shared_seats,
                    counts.live_orders,
                    "live orders",
                ),
                of(
                    "seats of live orders without a claim",
                    counts.unclaimed_items,
                    counts.live_orders,
                    "live orders",
                ),
                of(
                    "claims without a live order",
                    counts.dead_claims,
                    counts.claims,
                    "claims",
                ),
                of(
                    "overdue orders",
                    counts.overdue_orders,
                    counts.orders,
                    "orders",
                ),
                of(
                    "locks without an owner",
                    seats.ownerless_locks,
                    seats.locks,
                    "locks",
                ),
                of(
                    "locks whose order does not exist",
                    seats.orphaned_locks,
                    seats.locks,
                    "locks",
                ),
                of(
                    "claimed seats not locked or sold",
                    seats.claims_not_held,
                    seats.claims,
                    "claims",
                ),
                of(
                    "zone counters that disagree with seats",
                    seats.wrong_counters,
                    seats.zones,
                    "zones",
                ),
                of(
                    "unbalanced ledger postings",
                    counts.unbalanced_postings,
                    counts.postings,
                    "postings",
                ),
                of(
                    "paid orders without their money",
                    counts.unpaid_paid_orders,
                    counts.orders,
                    "orders",
                ),
                of(
                    "open discrepancies",
                    counts.open_discrepancies,
                    counts.orders,
                    "orders",
                ),
                of("dead letters", counts.dead_letters, counts.orders, "orders"),
            ],
        })
    }

    async fn verify_show(&self, show: ShowId, found: &mut SeatFindings) -> Result<(), Failure> {
        let Some(facts) = self.facts(show).await? else {
            return Ok(());
        };
        // One moment for map, owners and counters: read apart, a sale in between would look like a fault.
        let Some(snapshot) = self.inner.redis.snapshot(show).await? else {
            return Ok(());
        };
        let (map, owners) = (&snapshot.map, &snapshot.owners);
        let claims: HashMap<SeatIndex, OrderNo> =
            self.inner.db.claims(show).await?.into_iter().collect();
        let mut free: HashMap<_, i64> = facts.zones.iter().map(|zone| (zone.id, 0)).collect();
        for (state, seat) in map.states().zip((0..).map(SeatIndex)) {
            found.seats += 1;
            match state {
                SeatState::Available => {
                    if let Some(count) = facts.zone_of(seat).and_then(|zone| free.get_mut(&zone.id))
                    {
                        *count += 1;
                    }
                }
                SeatState::Locked => {
                    found.locks += 1;
                    match owners.get(&seat) {
                        None => found.ownerless_locks += 1,
                        Some(order_no) if self.is_orphan(seat, *order_no, &claims).await? => {
                            found.orphaned_locks += 1;
                        }
                        Some(_) => {}
                    }
                }
                SeatState::Sold | SeatState::Blocked => {}
            }
            if let Some(order_no) = claims.get(&seat) {
                found.claims += 1;
                let held = matches!(state, SeatState::Locked | SeatState::Sold);
                if !held || owners.get(&seat) != Some(order_no) {
                    found.claims_not_held += 1;
                }
            }
        }
        for (zone, count) in &snapshot.counters.zones {
            found.zones += 1;
            if free.get(zone) != Some(&i64::from(*count)) {
                found.wrong_counters += 1;
            }
        }
        Ok(())
    }

    /// A lock that no claim backs, held by an order that has had time enough to be written.
    async fn is_orphan(
        &self,
        seat: SeatIndex,
        order_no: OrderNo,
        claims: &HashMap<SeatIndex, OrderNo>,
    ) -> Result<bool, Failure> {
        if claims.get(&seat) == Some(&order_no) {
            return Ok(false);
        }
        let age = self.now().0 - order_no.made_at_ms();
        if age < LOCK_LEASE.0 {
            return Ok(false);
        }
        let order = self.inner.db.order(order_no).await?;
        Ok(!order.is_some_and(|order| order.status.is_live()))
    }
}
