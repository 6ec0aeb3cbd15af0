//! Tickets without a seat: whether Redis lists each of them, and so counts it for its buyer.
//!
//! The list is the show's. The places of these tickets are in pieces, elsewhere in a cluster, and are compared zone by zone
//! (`standing.rs`): each of the two may be lost without the other.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair, seats::Compared};
use crate::{
    mysql::{orders::ItemRecord, standing::PieceOfOrder},
    redis::{HoldRecord, scripts::RestoreReply},
    ticketing::{Failure, Ticketing, rebuild::record_of},
};
use app::domain::{ids::OrderNo, order::OrderStatus, time::Timestamp};
use std::collections::BTreeMap;

/// An order with tickets without a seat, as the database has it.
struct Standing {
    order: PieceOfOrder,
    /// Tickets whose money is not back.
    tickets: u32,
}

impl Ticketing {
    /// Tickets of live orders that Redis does not list, or lists although their money is back; and holds of orders that are
    /// paid.
    pub(super) async fn find_unlisted(
        &self,
        compared: &Compared<'_>,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let facts = compared.facts;
        if facts.zones.iter().all(|zone| zone.standing.is_none()) {
            return Ok(());
        }
        let mut too_many = BTreeMap::new();
        for (order_no, standing) in self.standing_orders(compared).await? {
            let listed = compared
                .snapshot
                .standing
                .get(&order_no)
                .map_or(0, Vec::len);
            // An order has few tickets.
            let listed = u32::try_from(listed).unwrap_or(u32::MAX);
            if listed > standing.tickets {
                too_many.insert(order_no, listed - standing.tickets);
            }
            found.extend(self.judge_listing(compared, &standing, listed));
        }
        // Those of a show that has begun stay as they were.
        if too_many.is_empty() || self.now() >= facts.show.starts_at {
            return Ok(());
        }
        let numbers: Vec<OrderNo> = too_many.keys().copied().collect();
        let before = self.now() - FOLLOW_UP_GRACE;
        let given_back = self.inner.db.tickets_given_back(&numbers, before).await?;
        for (order_no, count) in too_many {
            if given_back.contains(&(order_no, None)) {
                let detail = format!("still counts {count} ticket(s) whose money it has back");
                let repair = Repair::FreeTickets(order_no);
                found.push(compared.finding(Class::OrphanSale, order_no, detail, repair));
            }
        }
        Ok(())
    }

    async fn standing_orders(
        &self,
        compared: &Compared<'_>,
    ) -> Result<BTreeMap<OrderNo, Standing>, Failure> {
        let mut orders: BTreeMap<OrderNo, Standing> = BTreeMap::new();
        let show = compared.facts.show.id;
        for of_order in self.inner.db.taken_pieces_of_show(show).await? {
            let standing = orders.entry(of_order.order_no);
            let standing = standing.or_insert(Standing {
                order: of_order,
                tickets: 0,
            });
            standing.tickets += of_order.quantity;
        }
        Ok(orders)
    }

    /// What is wrong with an order of which Redis lists so many tickets.
    fn judge_listing(
        &self,
        compared: &Compared<'_>,
        standing: &Standing,
        listed: u32,
    ) -> Option<Finding> {
        let order = &standing.order;
        let is_past = |at: i64| self.now() >= Timestamp(at) + FOLLOW_UP_GRACE;
        let lost = || {
            format!(
                "has {} standing ticket(s) that Redis does not count",
                standing.tickets
            )
        };
        let (class, detail, repair) = match order.status {
            // A younger one may have been held after Redis was read.
            OrderStatus::Pending if listed == 0 && is_past(order.placed_at_ms) => {
                (Class::SeatLost, lost(), Repair::Restore(order.order_no))
            }
            OrderStatus::Paid | OrderStatus::Ticketed if order.paid_at_ms.is_none_or(is_past) => {
                if listed == 0 {
                    (
                        Class::SeatLost,
                        lost(),
                        Repair::CountTickets(order.order_no),
                    )
                } else if is_held_without_seats(compared, order.order_no) {
                    let detail = "is paid and still held".to_owned();
                    (Class::PaidNotSold, detail, Repair::Sell(order.order_no))
                } else {
                    return None;
                }
            }
            _ => return None,
        };
        Some(compared.finding(class, order.order_no, detail, repair))
    }

    /// Lists again the tickets without a seat of a paid order, counts them, and looks again: what was given back meanwhile is
    /// not counted.
    pub(super) async fn count_tickets_again(&self, order_no: OrderNo) -> Result<bool, Failure> {
        let db = &self.inner.db;
        let is_paid = |status| matches!(status, OrderStatus::Paid | OrderStatus::Ticketed);
        let order = db.order(order_no).await?;
        let Some(order) = order.filter(|order| is_paid(order.status)) else {
            return Ok(false);
        };
        let mut live = db.items_of_order(order_no).await?;
        live.retain(ItemRecord::is_live);
        let record = HoldRecord {
            // Seats of a paid order are sold, and marked as that elsewhere.
            seats: Vec::new(),
            ..record_of(&order, &live)
        };
        if record.standing.is_empty() {
            return Ok(false);
        }
        let redis = &self.inner.redis;
        let reply = redis.restore(order.show_id, order_no, &record).await?;
        // Whoever dies here leaves a hold of a paid order, which is a finding of its own.
        match db.order(order_no).await? {
            Some(now) if is_paid(now.status) => {
                // A paid order holds nothing.
                self.settle_paid(order_no).await?;
                self.free_tickets(&now).await?;
            }
            _ => {
                redis.release(order.show_id, order_no).await?;
            }
        }
        Ok(matches!(reply, RestoreReply::Restored { changed } if changed > 0))
    }
}

/// Whether Redis has a hold of an order without seats. One with seats is told by these.
fn is_held_without_seats(compared: &Compared<'_>, order_no: OrderNo) -> bool {
    let record = compared.snapshot.holds.get(&order_no);
    record.is_some_and(|record| record.seats.is_empty())
}
