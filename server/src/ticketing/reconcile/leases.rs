//! Leases: what has no row once its lease is over is freed soon after.
//!
//! A whole round compares everything, which takes long when much is on sale, and is minutes away. This looks at no more than
//! the numbers of orders: each tells when it was made. So a seat or a place that a crash has left is free again within the
//! lease and a quarter of a minute, however long a whole round takes.

use super::{Class, FINDINGS_MAX, FOLLOW_UP_GRACE, Finding, Repair};
use crate::{
    mysql::orders::OrderRecord,
    redis::keys::Piece,
    ticketing::{Failure, Ticketing},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    time::{Millis, Timestamp},
};
use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// How often leases are looked at. With a lease of 60 s everything left behind is free within 90 s.
const LEASES_EVERY: Duration = Duration::from_secs(15);
/// Leases that ended earlier were looked at several times, and whole rounds go on with what is left of them.
const LOOKED_AT: Millis = Millis::minutes(10);
/// Name of the lock that makes one server the one that looks. Not that of whole rounds, which may take longer than a lease;
/// where both find the same, the tombstone lets one of them free it.
const LEASES_LOCK: &str = "leases";

/// The rows of the orders that were looked at; one that has none is missing.
type Rows = HashMap<OrderNo, OrderRecord>;

impl Ticketing {
    /// Looks at leases until cancelled, whenever no other server does.
    pub async fn run_leases(&self, cancel: CancellationToken) {
        let mut ticks = tokio::time::interval(LEASES_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.free_after_leases().await {
                tracing::warn!(%error, cause = ?error, "leases not looked at");
            }
        }
    }

    /// Frees what orders without a row have whose lease ended some minutes ago or less; how much was put right. None when
    /// another server is at it.
    ///
    /// # Errors
    /// When a store fails; what was freed stays free.
    pub async fn free_after_leases(&self) -> Result<Option<usize>, Failure> {
        let Some(lead) = self.inner.db.try_lead(LEASES_LOCK).await? else {
            return Ok(None);
        };
        let freed = self.free_what_is_left().await;
        lead.give_up().await;
        freed.map(Some)
    }

    /// Goes through all loaded shows. One that can't be looked at keeps no other waiting.
    async fn free_what_is_left(&self) -> Result<usize, Failure> {
        let shows = self.inner.redis.loaded_shows().await?;
        let pieces = self.inner.db.pieces_of_shows(&shows).await?;
        let (mut seen, mut repaired, mut outcome) = (0, 0, Ok(()));
        for show in shows {
            let pieces = pieces.get(&show).map_or(&[][..], Vec::as_slice);
            let found = match self.left_in_show(show, pieces).await {
                Ok(found) => found,
                Err(error) => {
                    outcome = Err(error);
                    continue;
                }
            };
            for finding in found {
                repaired += usize::from(self.repair_and_note(&finding).await?);
                seen += 1;
            }
            if seen >= FINDINGS_MAX {
                tracing::warn!(findings = seen, "more than can be freed at once");
                break;
            }
        }
        outcome.map(|()| repaired)
    }

    async fn left_in_show(&self, show: ShowId, pieces: &[Piece]) -> Result<Vec<Finding>, Failure> {
        let redis = &self.inner.redis;
        let holding = self.just_ended(redis.holding_orders(show).await?);
        let mut in_pieces = Vec::new();
        for piece in pieces {
            let orders = self.just_ended(redis.orders_in_piece(*piece).await?);
            in_pieces.push((*piece, orders));
        }
        let mut numbers: BTreeSet<OrderNo> = holding.iter().copied().collect();
        numbers.extend(in_pieces.iter().flat_map(|(_, orders)| orders));
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<OrderNo> = numbers.into_iter().collect();
        // Read after Redis: an order that has a row by now is not one that was left.
        let rows = self.inner.db.orders_by_number(&numbers).await?;
        let mut found = Vec::new();
        // The hold first: it knows the buyer, who is to find what became of the order.
        for order_no in holding {
            found.extend(self.left_hold(show, order_no, &rows).await?);
        }
        for (piece, orders) in in_pieces {
            found.extend(self.left_places(show, piece, orders, &rows).await?);
        }
        Ok(found)
    }

    async fn left_hold(
        &self,
        show: ShowId,
        order_no: OrderNo,
        rows: &Rows,
    ) -> Result<Option<Finding>, Failure> {
        if !self.may_be_left(rows.get(&order_no)) {
            return Ok(None);
        }
        // What has no record that can be read is left to a whole round, which goes by the seats' owners.
        let Some(record) = self.readable_hold(show, order_no).await? else {
            return Ok(None);
        };
        if !self.is_over(record.created) {
            return Ok(None);
        }
        let seats: Vec<_> = record
            .seats
            .iter()
            .map(|held| (held.seat, held.zone))
            .collect();
        let count = seats.len();
        let (what, repair) = if rows.contains_key(&order_no) {
            ("is discarded", Repair::Free { order_no, seats })
        } else {
            ("has no row", Repair::Tombstone { order_no, seats })
        };
        let detail = format!("{what} and holds {count} seat(s)");
        Ok(Some(left(show, order_no, detail, repair)))
    }

    /// What a piece gives to orders that were left. The piece is read only when there may be one, and once.
    async fn left_places(
        &self,
        show: ShowId,
        piece: Piece,
        mut orders: Vec<OrderNo>,
        rows: &Rows,
    ) -> Result<Vec<Finding>, Failure> {
        orders.retain(|order_no| self.may_be_left(rows.get(order_no)));
        if orders.is_empty() {
            return Ok(Vec::new());
        }
        let Some(snapshot) = self.inner.redis.piece_snapshot(piece).await? else {
            return Ok(Vec::new());
        };
        let found = orders.into_iter().filter_map(|order_no| {
            let entry = snapshot.taken.get(&order_no)?;
            if !self.is_over(entry.created) {
                return None;
            }
            let what = if rows.contains_key(&order_no) {
                "is discarded"
            } else {
                "has no row"
            };
            let detail = format!("{what} and has {} standing place(s)", entry.quantity);
            let repair = Repair::GivePlaces { order_no, piece };
            Some(left(show, order_no, detail, repair))
        });
        Ok(found.collect())
    }

    /// Whether nobody else sees to an order: it has no row, or one that says for a while that it was discarded, which a server
    /// that died before it freed anything may have written.
    fn may_be_left(&self, row: Option<&OrderRecord>) -> bool {
        let Some(order) = row else { return true };
        let since = order.closed_at.unwrap_or(order.placed_at);
        order.status == OrderStatus::Discarded && self.now() >= since + FOLLOW_UP_GRACE
    }

    fn is_over(&self, created: Timestamp) -> bool {
        self.now() - created >= self.inner.config.limits.lock_lease
    }

    /// Those whose lease may have ended, and not long ago: a number is made a few seconds before anything is held, at most.
    fn just_ended(&self, orders: Vec<OrderNo>) -> Vec<OrderNo> {
        let ended = self.now() - self.inner.config.limits.lock_lease;
        let since = ended - LOOKED_AT;
        let is_due = |order_no: &OrderNo| (since.0..=ended.0).contains(&order_no.made_at_ms());
        orders.into_iter().filter(is_due).collect()
    }
}

fn left(show: ShowId, order_no: OrderNo, detail: String, repair: Repair) -> Finding {
    Finding {
        class: Class::OrphanLock,
        show,
        order_no: Some(order_no),
        detail,
        repair,
    }
}
