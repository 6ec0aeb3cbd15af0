//! Seats: Redis against the database, show by show.

use super::{Class, FOLLOW_UP_GRACE, Finding, Presence, Repair, counters};
use crate::{
    fault::{self, Point},
    mysql::{orders::OrderRecord, shows::TakenSeat},
    redis::{
        HeldSeat, RedisError,
        scripts::{FreeReply, Freed, RestoreReply},
        snapshot::ShowSnapshot,
    },
    ticketing::{
        Failure, Ticketing,
        rebuild::{record_of, zoned_seats},
        show_facts::ShowFacts,
    },
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    order::OrderStatus,
    seat::SeatState,
    time::Timestamp,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A show as both stores have it. Redis was read first, so a claim that Redis does not know is no order in flight.
pub(super) struct Compared<'a> {
    pub facts: &'a ShowFacts,
    pub snapshot: ShowSnapshot,
    pub claims: Vec<TakenSeat>,
    /// Every order that owns a seat in either store or holds one, as far as it has a row.
    pub orders: HashMap<OrderNo, OrderRecord>,
}

impl Compared<'_> {
    fn finding(&self, class: Class, order_no: OrderNo, detail: String, repair: Repair) -> Finding {
        Finding {
            class,
            show: self.facts.show.id,
            order_no: Some(order_no),
            detail,
            repair,
        }
    }

    pub fn zoned(&self, seats: &[SeatIndex]) -> Vec<(SeatIndex, ZoneId)> {
        seats
            .iter()
            .filter_map(|seat| Some((*seat, self.facts.zone_of(*seat)?.id)))
            .collect()
    }
}

impl Ticketing {
    /// Shows that Redis has, and those that have claims and are not over.
    pub(super) async fn shows_to_compare(&self) -> Result<BTreeMap<ShowId, Presence>, Failure> {
        let loaded = self.inner.redis.loaded_shows().await?;
        let (db, before) = (&self.inner.db, self.over_before());
        let claimed = db.claimed_shows(before).await?;
        let over = db.over_shows(&loaded, before).await?;
        let all = loaded.into_iter().chain(claimed);
        let mut shows: BTreeMap<ShowId, Presence> =
            all.map(|show| (show, Presence::Needed)).collect();
        shows.extend(over.into_iter().map(|over| (over.show, Presence::Over)));
        Ok(shows)
    }

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
        let before = found.len();
        self.find_lost(&compared, found);
        self.find_orphans(&compared, found);
        self.find_given_back(&compared, found).await?;
        self.find_withheld(&compared, found).await?;
        // Counters are judged once the seats are right: a wrong seat makes a wrong count. In a show that has begun, tickets
        // that were given back are counted and not claimed, and nobody buys by these counters any more.
        if found.len() == before && self.now() < facts.show.starts_at {
            found.extend(counters::compare(&compared));
        }
        Ok(())
    }

    /// Claims whose seat is not the order's in Redis.
    fn find_lost(&self, compared: &Compared<'_>, found: &mut Vec<Finding>) {
        let mut lost: BTreeMap<OrderNo, (Class, Vec<SeatIndex>)> = BTreeMap::new();
        for claim in &compared.claims {
            let Some(order_no) = claim.order_no else {
                continue;
            };
            let Some(order) = compared.orders.get(&order_no) else {
                continue;
            };
            let state = compared.snapshot.map.state(claim.seat);
            let is_own = compared.snapshot.owners.get(&claim.seat) == Some(&order_no);
            let class = match order.status {
                OrderStatus::Paid | OrderStatus::Ticketed => {
                    let is_settled = is_own && state == SeatState::Sold;
                    let is_recent = order
                        .paid_at
                        .is_some_and(|at| self.now() < at + FOLLOW_UP_GRACE);
                    if is_settled || is_recent {
                        continue;
                    }
                    Class::PaidNotSold
                }
                OrderStatus::Pending if !is_own || state != SeatState::Locked => Class::SeatLost,
                _ => continue,
            };
            lost.entry(order_no)
                .or_insert((class, Vec::new()))
                .1
                .push(claim.seat);
        }
        for (order_no, (class, seats)) in lost {
            let detail = format!("has {} seat(s) that Redis does not give it", seats.len());
            let repair = match class {
                Class::PaidNotSold => Repair::Sell(order_no),
                _ => Repair::Restore(order_no),
            };
            found.push(compared.finding(class, order_no, detail, repair));
        }
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

    /// Locks again what a pending order lost, and looks again: an order that ended meanwhile gives everything back.
    pub(super) async fn restore_locks(&self, order_no: OrderNo) -> Result<bool, Failure> {
        let Some(order) = self.inner.db.order(order_no).await? else {
            return Ok(false);
        };
        if order.status != OrderStatus::Pending {
            return Ok(false);
        }
        let items = self
            .inner
            .db
            .items_of(&[order_no])
            .await?
            .remove(&order_no)
            .unwrap_or_default();
        let record = record_of(&order, &items);
        let reply = self
            .inner
            .redis
            .restore(order.show_id, order_no, &record)
            .await?;
        fault::point(Point::ReconcileAfterRestore);
        let now = self.inner.db.order(order_no).await?;
        if now.is_none_or(|order| order.status != OrderStatus::Pending) {
            self.inner.redis.release(order.show_id, order_no).await?;
        }
        if let RestoreReply::Conflict { seats } = &reply {
            tracing::error!(%order_no, seats = ?seats, "claimed seats are another's in Redis");
        }
        Ok(matches!(reply, RestoreReply::Restored { changed } if changed > 0))
    }

    /// Makes sure that an order without a row never gets one, then frees its seats.
    pub(super) async fn bury(
        &self,
        show: ShowId,
        order_no: OrderNo,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<bool, Failure> {
        let record = self.inner.redis.hold_record(show, order_no).await?;
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
        let items = self.inner.db.items_of(&[order_no]).await?;
        let items = items.get(&order_no).map_or(&[][..], Vec::as_slice);
        // A tombstone does not say what its order counts for its buyer. What it still holds does.
        let record = match self.inner.redis.hold_record(show, order_no).await {
            Err(RedisError::UnexpectedReply { .. }) => None,
            record => record?,
        };
        let (limits, held) = record.map_or_else(
            || (order.limit_counters, zoned_seats(items)),
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
