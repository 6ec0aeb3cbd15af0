//! Evidence: the invariants of the sale, read from the live stores and counted.

use super::{Failure, Ticketing, offer_evidence::OfferEvidence, under_way::UnderWay};
use crate::{mysql::money::MoneyOfCurrency, redis::snapshot::ShowSnapshot};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId},
    money::Money,
    seat::SeatState,
    time::Millis,
};
use serde::Serialize;
use std::collections::HashMap;

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
    /// Where all money is, by currency.
    pub money: Vec<MoneyOfCurrency>,
    /// What is not finished, which is no fault.
    pub under_way: Vec<UnderWay>,
}

impl Evidence {
    /// Whether nothing is violated.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.invariants
            .iter()
            .all(|invariant| invariant.violations == 0)
    }

    /// A table for a terminal: a line an invariant, then a line a currency.
    #[must_use]
    pub fn table(&self) -> String {
        let invariants = self.invariants.iter().map(|i| {
            let mark = if i.violations == 0 { "ok" } else { "VIOLATED" };
            format!(
                "{:<10}{:<44}{:>8}  of {} {}\n",
                mark, i.name, i.violations, i.checked, i.of
            )
        });
        invariants
            .chain(self.money.iter().map(money_line))
            .collect()
    }
}

/// Where all money of a currency is, as a sum that a person can check.
fn money_line(money: &MoneyOfCurrency) -> String {
    let mark = if money.missing() == 0 {
        "ok"
    } else {
        "VIOLATED"
    };
    let amount = |minor| match money.currency.parse() {
        Ok(currency) => Money::new(minor, currency).to_string(),
        Err(_) => minor.to_string(),
    };
    format!(
        "{mark:<10}captured {} - given back {} - on its way back {} - kept as fees {} = live tickets {}\n",
        amount(money.captured),
        amount(money.given_back),
        amount(money.owed),
        amount(money.kept),
        amount(money.tickets),
    )
}

fn wrong_currencies(money: &[MoneyOfCurrency]) -> i64 {
    let wrong = money.iter().filter(|money| money.missing() != 0).count();
    i64::try_from(wrong).unwrap_or(i64::MAX)
}

#[derive(Default)]
struct SeatFindings {
    locks: i64,
    /// Locked and sold.
    taken: i64,
    ownerless: i64,
    orphaned_locks: i64,
    claims: i64,
    claims_not_held: i64,
    zones: i64,
    wrong_counters: i64,
    offer: OfferEvidence,
}

impl Ticketing {
    /// Reads both stores and counts.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn verify(&self) -> Result<Evidence, Failure> {
        let counts = self.inner.db.counts(self.now() - OVERDUE_GRACE).await?;
        let mut seats = SeatFindings::default();
        let mut standing = self.stock_evidence().await?;
        // Shows that must be loaded and are not have nothing to compare; finding them is reconciliation's.
        for show in self.inner.redis.loaded_shows().await? {
            self.verify_show(show, &mut seats).await?;
            self.verify_standing(show, &mut standing).await?;
        }
        let money = self.inner.db.money_in_all().await?;
        // Sold seats, buyers' counters and open refunds are compared there, by the rules that mend them.
        let found = self.find_all().await?;
        let to_mend = found.iter().filter(|finding| finding.is_wrong()).count();
        let of = |name, violations, checked, of| Invariant {
            name,
            violations,
            checked,
            of,
        };
        Ok(Evidence {
            under_way: self.under_way().await?,
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
                    "locks and sold seats without an owner",
                    seats.ownerless,
                    seats.taken,
                    "seats",
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
                    "standing places that stores disagree on",
                    standing.disagreeing,
                    standing.places,
                    "places",
                ),
                of(
                    "standing places beyond the capacity",
                    standing.over_capacity,
                    standing.places,
                    "places",
                ),
                of(
                    "shows sold on other terms than decided",
                    seats.offer.other_terms,
                    seats.offer.shows,
                    "shows",
                ),
                of(
                    "withheld seats that stores disagree on",
                    seats.offer.disagreeing,
                    seats.offer.withheld,
                    "withheld seats",
                ),
                of(
                    "pieces with other places than decided",
                    seats.offer.other_totals,
                    seats.offer.pieces,
                    "pieces",
                ),
                of(
                    "changes of places that the books miss",
                    seats.offer.unexplained,
                    seats.offer.changes,
                    "changes",
                ),
                of(
                    "unbalanced ledger postings",
                    counts.unbalanced_postings,
                    counts.postings,
                    "postings",
                ),
                of(
                    "orders without the money of their tickets",
                    counts.money.wrong_orders,
                    counts.money.orders,
                    "orders",
                ),
                of(
                    "shows without the money of their tickets",
                    counts.money.wrong_shows,
                    counts.money.shows,
                    "shows",
                ),
                of(
                    "currencies without the money of all tickets",
                    wrong_currencies(&money),
                    i64::try_from(money.len()).unwrap_or(i64::MAX),
                    "currencies",
                ),
                of(
                    "orders whose ledger disagrees",
                    counts.money.wrong_ledgers,
                    counts.money.orders,
                    "orders",
                ),
                of(
                    "open discrepancies",
                    counts.open_discrepancies,
                    counts.orders,
                    "orders",
                ),
                of(
                    "things that reconciliation would mend",
                    i64::try_from(to_mend).unwrap_or(i64::MAX),
                    counts.orders,
                    "orders",
                ),
                of("dead letters", counts.dead_letters, counts.orders, "orders"),
            ],
            money,
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
            match state {
                SeatState::Available => {
                    if let Some(count) = facts.zone_of(seat).and_then(|zone| free.get_mut(&zone.id))
                    {
                        *count += 1;
                    }
                }
                SeatState::Locked => {
                    found.locks += 1;
                    if let Some(order_no) = owners.get(&seat)
                        && self.is_orphan(seat, *order_no, &claims).await?
                    {
                        found.orphaned_locks += 1;
                    }
                }
                SeatState::Sold | SeatState::Blocked => {}
            }
            if matches!(state, SeatState::Locked | SeatState::Sold) {
                found.taken += 1;
                found.ownerless += i64::from(!owners.contains_key(&seat));
            }
        }
        found.claims += i64::try_from(claims.len()).unwrap_or(i64::MAX);
        found.claims_not_held += self.claims_not_held(&snapshot, show, &claims).await?;
        for (zone, count) in &snapshot.counters.zones {
            found.zones += 1;
            if free.get(zone) != Some(&i64::from(*count)) {
                found.wrong_counters += 1;
            }
        }
        self.verify_offer(&facts, &snapshot, &mut found.offer).await
    }

    /// Claimed seats that Redis does not give to their orders. It is asked once more about those: what was held after the
    /// snapshot had its claim before the second reading.
    async fn claims_not_held(
        &self,
        snapshot: &ShowSnapshot,
        show: ShowId,
        claims: &HashMap<SeatIndex, OrderNo>,
    ) -> Result<i64, Failure> {
        let is_held = |snapshot: &ShowSnapshot, seat, order_no| {
            let state = snapshot.map.state(seat);
            let is_own = snapshot.owners.get(&seat) == Some(&order_no);
            is_own && matches!(state, SeatState::Locked | SeatState::Sold)
        };
        let mut lost: Vec<(SeatIndex, OrderNo)> =
            claims.iter().map(|(seat, no)| (*seat, *no)).collect();
        lost.retain(|(seat, order_no)| !is_held(snapshot, *seat, *order_no));
        if lost.is_empty() {
            return Ok(0);
        }
        let Some(again) = self.inner.redis.snapshot(show).await? else {
            // The whole show is lost by now; finding that is reconciliation's.
            return Ok(0);
        };
        lost.retain(|(seat, order_no)| !is_held(&again, *seat, *order_no));
        Ok(i64::try_from(lost.len()).unwrap_or(i64::MAX))
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
        if age < self.inner.config.limits.lock_lease.0 {
            return Ok(false);
        }
        let order = self.inner.db.order(order_no).await?;
        Ok(!order.is_some_and(|order| order.status.is_live()))
    }
}
