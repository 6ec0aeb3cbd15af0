//! Leases: what has no row once its lease is over is freed soon after.
//!
//! A whole round compares everything, which takes long when much is on sale, and is minutes away. This looks at no more than
//! the numbers of orders: each tells when it was made. So a seat or a place that a crash has left is free again within the
//! lease and a quarter of a minute, however long a whole round takes.

use super::{Class, Finding, LEADER_LOCK, Repair};
use crate::{
    redis::{RedisError, keys::Piece},
    ticketing::{Failure, Ticketing},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    time::Millis,
};
use std::{collections::BTreeSet, time::Duration};

/// How often leases are looked at. With a lease of 60 s everything left behind is free within 90 s.
pub(super) const LEASES_EVERY: Duration = Duration::from_secs(15);
/// Leases that ended earlier were looked at several times, and whole rounds go on with what is left of them.
const LOOKED_AT: Millis = Millis::minutes(10);

impl Ticketing {
    /// Frees what orders without a row have whose lease ended some minutes ago or less; how much was put right. None when
    /// another server reconciles.
    ///
    /// # Errors
    /// When a store fails; what was freed stays free.
    pub async fn free_after_leases(&self) -> Result<Option<usize>, Failure> {
        let Some(lead) = self.inner.db.try_lead(LEADER_LOCK).await? else {
            return Ok(None);
        };
        let freed = self.free_what_is_left().await;
        lead.give_up().await;
        freed.map(Some)
    }

    async fn free_what_is_left(&self) -> Result<usize, Failure> {
        let shows = self.inner.redis.loaded_shows().await?;
        let pieces = self.inner.db.pieces_of_shows(&shows).await?;
        let mut repaired = 0;
        for show in shows {
            let pieces = pieces.get(&show).map_or(&[][..], Vec::as_slice);
            for finding in self.left_in_show(show, pieces).await? {
                if self.repair_and_note(&finding).await? {
                    repaired += 1;
                }
            }
        }
        Ok(repaired)
    }

    async fn left_in_show(&self, show: ShowId, pieces: &[Piece]) -> Result<Vec<Finding>, Failure> {
        let redis = &self.inner.redis;
        let holding = self.just_ended(redis.holding_orders(show).await?);
        let mut in_pieces = Vec::new();
        for piece in pieces {
            let orders = self.just_ended(redis.orders_in_piece(*piece).await?);
            in_pieces.extend(orders.into_iter().map(|order_no| (order_no, *piece)));
        }
        let numbers: BTreeSet<OrderNo> = holding
            .iter()
            .copied()
            .chain(in_pieces.iter().map(|(order_no, _)| *order_no))
            .collect();
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<OrderNo> = numbers.into_iter().collect();
        // Read after Redis: an order that has a row by now is not one that was left.
        let rows = self.inner.db.orders_by_number(&numbers).await?;
        let mut found = Vec::new();
        // The hold first: it knows the buyer, who is to find what became of the order.
        for order_no in holding {
            if rows.contains_key(&order_no) {
                continue;
            }
            let record = match redis.hold_record(show, order_no).await {
                Ok(Some(record)) => record,
                Ok(None) => continue,
                // It is a whole round's to judge what can't be read.
                Err(error @ RedisError::UnexpectedReply { .. }) => {
                    tracing::warn!(%order_no, show_id = show.0, %error, "unreadable record of a hold");
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let seats: Vec<_> = record
                .seats
                .iter()
                .map(|held| (held.seat, held.zone))
                .collect();
            let detail = format!("has no row and holds {} seat(s)", seats.len());
            let repair = Repair::Tombstone { order_no, seats };
            found.push(left(show, order_no, detail, repair));
        }
        for (order_no, piece) in in_pieces {
            if !rows.contains_key(&order_no) {
                let detail = format!("has no row and has places in piece {}", piece.piece);
                let repair = Repair::GivePlaces { order_no, piece };
                found.push(left(show, order_no, detail, repair));
            }
        }
        Ok(found)
    }

    /// Those whose lease has ended, and not long ago.
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
