//! Seats: Redis against the database, show by show.

use super::{Class, FOLLOW_UP_GRACE, Finding, Presence, Repair, half_lost};
use crate::{
    fault::{self, Point},
    mysql::{orders::OrderRecord, shows::TakenSeat},
    redis::{
        HeldSeat, HoldRecord, RedisError,
        scripts::{FreeReply, Freed},
        snapshot::ShowSnapshot,
    },
    ticketing::{Failure, Ticketing, rebuild::zoned_seats, show_facts::ShowFacts},
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    order::OrderStatus,
    seat::SeatState,
    time::Timestamp,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A show as both stores have it. Redis was read first, so an order whose row was read and that Redis does not know was lost,
/// or held since.
pub(super) struct Compared<'a> {
    pub facts: &'a ShowFacts,
    pub snapshot: ShowSnapshot,
    pub claims: Vec<TakenSeat>,
    /// Every order that owns a seat in either store or holds one, as far as it has a row.
    pub orders: HashMap<OrderNo, OrderRecord>,
}

impl Compared<'_> {
    pub fn finding(
        &self,
        class: Class,
        order_no: OrderNo,
        detail: String,
        repair: Repair,
    ) -> Finding {
        Finding {
            class,
            show: self.facts.show.id,
            order_no: Some(order_no),
            detail,
            repair,
        }
    }

    /// Whether Redis gives every claimed seat to the order that claims it.
    fn owns_what_is_claimed(&self) -> bool {
        let owners = &self.snapshot.owners;
        self.claims
            .iter()
            .filter(|claim| claim.order_no.is_some())
            .all(|claim| owners.get(&claim.seat).copied() == claim.order_no)
    }

    pub fn zoned(&self, seats: &[SeatIndex]) -> Vec<(SeatIndex, ZoneId)> {
        seats
            .iter()
            .filter_map(|seat| Some((*seat, self.facts.zone_of(*seat)?.id)))
            .collect()
    }
}

impl Ticketing {
    pub(super) async fn find_in_show(
        &self,
        show: ShowId,
        presence: Presence,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let Some(facts) = self.facts(show).await? else {
            return Ok(());
        };
        let Some(snapshot) = self.inner.redis.snapshot(show).await? else {
            if presence == Presence::Needed {
                found.push(Finding {
                    class: Class::SeatLost,
                    show,
                    order_no: None,
                    detail: "is not in Redis".to_owned(),
                    repair: Repair::Load(show),
                });
            }
            return Ok(());
        };
        let claims = self.inner.db.taken_seats(show).await?;
        let mut numbers: BTreeSet<OrderNo> = snapshot.owners.values().copied().collect();
        numbers.extend(snapshot.holds.keys());
        numbers.extend(snapshot.standing.keys());
        numbers.extend(claims.iter().filter_map(|claim| claim.order_no));
        let orders = self
            .inner
            .db
            .orders_by_number(&numbers.into_iter().collect::<Vec<_>>())
            .await?;
        let compared = Compared {
            facts: &facts,
            snapshot,
            claims,
            orders,
        };
        self.find_terms(show, &compared.snapshot.terms, found)
            .await?;
        self.find_in_both(&compared, found).await
    }

    /// What the two stores say differently of a show that both have.
    async fn find_in_both(
        &self,
        compared: &Compared<'_>,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        // Of a show that is half there nothing else can be said, and no repair of a single seat would get through.
        if let Some(half_lost) = half_lost::find(compared) {
            found.push(half_lost);
            return Ok(());
        }
        let before = found.len();
        self.find_lost(compared, found).await?;
        self.find_orphans(compared, found);
        self.find_given_back(compared, found).await?;
        self.find_withheld(compared, found).await?;
        self.find_unlisted(compared, found).await?;
        // Counters are judged once the seats are right: a wrong seat makes a wrong count. In a show that has begun, tickets
        // that were given back are counted and not claimed, and nobody buys by these counters any more. Orders that were held
        // since Redis was read are claimed, and not counted there yet.
        let is_one_moment = compared.owns_what_is_claimed();
        if found.len() == before && is_one_moment && self.now() < compared.facts.show.starts_at {
            found.extend(self.find_wrong_counters(compared).await?);
        }
        Ok(())
    }

    /// Seats and records in Redis whose order is not live, or has no row after its lease.
    fn find_orphans(&self, compared: &Compared<'_>, found: &mut Vec<Finding>) {
        let lease = self.inner.config.limits.lock_lease;
        let mut owned: BTreeMap<OrderNo, Vec<SeatIndex>> = BTreeMap::new();
        for (seat, order_no) in &compared.snapshot.owners {
            owned.entry(*order_no).or_default().push(*seat);
        }
        // A record without seats is left when a show is loaded while its order ends; it would count against its buyer.
        for (order_no, record) in &compared.snapshot.holds {
            let seats = || record.seats.iter().map(|held| held.seat).collect();
            owned.entry(*order_no).or_insert_with(seats);
        }
        // Tickets without a seat are counted as long as they are listed.
        for order_no in compared.snapshot.standing.keys() {
            owned.entry(*order_no).or_default();
        }
        for (order_no, seats) in owned {
            let is_sold = seats
                .iter()
                .any(|seat| compared.snapshot.map.state(*seat) == SeatState::Sold);
            let class = if is_sold {
                Class::OrphanSale
            } else {
                Class::OrphanLock
            };
            let zoned = compared.zoned(&seats);
            match compared.orders.get(&order_no) {
                None if self.now() - made_at(compared, order_no) < lease => {}
                None => {
                    let detail = format!("has no row and holds {} seat(s)", seats.len());
                    let repair = Repair::Tombstone {
                        order_no,
                        seats: zoned,
                    };
                    found.push(compared.finding(class, order_no, detail, repair));
                }
                Some(order) if order.status.is_live() => {}
                // The seats of a show that has begun stay as they were when its money went back.
                Some(order)
                    if order.status == OrderStatus::Refunded
                        && self.now() >= compared.facts.show.starts_at => {}
                Some(order) => {
                    let is_recent = order
                        .closed_at
                        .is_some_and(|at| self.now() < at + FOLLOW_UP_GRACE);
                    if is_recent {
                        continue;
                    }
                    let detail = format!("is {:?} and holds {} seat(s)", order.status, seats.len());
                    let repair = Repair::Free {
                        order_no,
                        seats: zoned,
                    };
                    found.push(compared.finding(class, order_no, detail, repair));
                }
            }
        }
    }

    /// Makes sure that an order without a row never gets one, then frees its seats.
    pub(super) async fn bury(
        &self,
        show: ShowId,
        order_no: OrderNo,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<bool, Failure> {
        let record = self.readable_hold(show, order_no).await?;
        let user = record.as_ref().map(|record| record.user);
        if !self
            .inner
            .db
            .insert_tombstone(order_no, show, user, self.now())
            .await?
        {
            // It exists after all: the next round sees its state.
            return Ok(false);
        }
        fault::point(Point::ReconcileAfterTombstone);
        let (limits, held) =
            record.map_or_else(Default::default, |record| (record.limits, record.seats));
        let freed = Freed {
            seats: with_attendees(seats, &held),
            with_standing: true,
            standing_kept: Vec::new(),
            limits,
        };
        let reply = self.inner.redis.free_sold(show, order_no, &freed).await?;
        fault::point(Point::ReconcileBeforeForgetting);
        self.inner.redis.forget_order(order_no).await?;
        Ok(matches!(reply, FreeReply::Freed { .. }))
    }

    /// Frees seats of an order whose row says that it is over. False when it is not over, or when the show is not loaded.
    pub(in crate::ticketing) async fn free_seats(
        &self,
        show: ShowId,
        order_no: OrderNo,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<bool, Failure> {
        let order = self.inner.db.order(order_no).await?;
        // No order ever comes back to life, so what is over now stays over.
        let Some(order) = order.filter(|order| !order.status.is_live()) else {
            return Ok(false);
        };
        let items = self.inner.db.items_of_order(order_no).await?;
        // A tombstone does not say what its order counts for its buyer. What it still holds does.
        let record = self.readable_hold(show, order_no).await?;
        let (limits, held) = record.map_or_else(
            || (order.limit_counters, zoned_seats(&items)),
            |record| (record.limits, record.seats),
        );
        let freed = Freed {
            seats: with_attendees(seats, &held),
            with_standing: true,
            standing_kept: Vec::new(),
            limits,
        };
        let reply = self.inner.redis.free_sold(show, order_no, &freed).await?;
        Ok(matches!(reply, FreeReply::Freed { .. }))
    }

    /// What an order holds. None also when its record can't be read: an order is given up all the same, and the counters that
    /// only its record knew are counted anew.
    pub(super) async fn readable_hold(
        &self,
        show: ShowId,
        order_no: OrderNo,
    ) -> Result<Option<HoldRecord>, Failure> {
        match self.inner.redis.hold_record(show, order_no).await {
            Err(error @ RedisError::UnexpectedReply { .. }) => {
                tracing::error!(%order_no, show_id = show.0, %error, "unreadable record of a hold");
                Ok(None)
            }
            record => Ok(record?),
        }
    }
}

/// When an order was held. Its number is older than that by what the search for its seats took.
fn made_at(compared: &Compared<'_>, order_no: OrderNo) -> Timestamp {
    let record = compared.snapshot.holds.get(&order_no);
    record.map_or(Timestamp(order_no.made_at_ms()), |record| record.created)
}

/// Seats as an order had them, as far as it is known whom they were for.
fn with_attendees(seats: &[(SeatIndex, ZoneId)], known: &[HeldSeat]) -> Vec<HeldSeat> {
    let attendee = |seat| {
        let held = known.iter().find(|held| held.seat == seat)?;
        held.attendee.clone()
    };
    seats
        .iter()
        .map(|&(seat, zone)| HeldSeat {
            seat,
            zone,
            attendee: attendee(seat),
        })
        .collect()
}
