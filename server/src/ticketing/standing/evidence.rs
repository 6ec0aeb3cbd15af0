//! Evidence about standing zones: their places in the database, on tickets and in Redis, counted against each other.

use super::pieces::pieces_of_zone;
use crate::{
    mysql::standing::PieceOfOrder,
    redis::{
        keys::Piece,
        standing::{PieceSnapshot, PlaceState},
    },
    ticketing::{Failure, Ticketing},
};
use app::domain::ids::{OrderNo, ShowId, ZoneId};
use std::collections::{BTreeMap, HashMap};

/// What is wrong with the places that were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StandingEvidence {
    /// Places that orders have.
    pub places: i64,
    /// Places that one store, or the tickets, have and another has not.
    pub disagreeing: i64,
    /// Places that are taken beyond a zone's capacity.
    pub over_capacity: i64,
}

impl Ticketing {
    /// The evidence that the database alone gives, of all standing zones that there are.
    ///
    /// # Errors
    /// When the database fails.
    pub(in crate::ticketing) async fn stock_evidence(&self) -> Result<StandingEvidence, Failure> {
        let counts = self.inner.db.stock_counts().await?;
        Ok(StandingEvidence {
            places: counts.places,
            disagreeing: counts.disagreeing,
            over_capacity: counts.over_capacity,
        })
    }

    /// Adds up what Redis has of a show's standing zones.
    ///
    /// # Errors
    /// When a store fails.
    pub(in crate::ticketing) async fn verify_standing(
        &self,
        show: ShowId,
        found: &mut StandingEvidence,
    ) -> Result<(), Failure> {
        let Some(facts) = self.facts(show).await? else {
            return Ok(());
        };
        for zone in facts.zones.iter().filter(|zone| zone.standing.is_some()) {
            self.verify_zone(zone.id, found).await?;
        }
        Ok(())
    }

    async fn verify_zone(&self, zone: ZoneId, found: &mut StandingEvidence) -> Result<(), Failure> {
        let totals = self.inner.db.piece_totals(zone).await?;
        let mut snapshots = Vec::with_capacity(totals.len());
        for piece in pieces_of_zone(zone, totals.len()) {
            // A piece that is not loaded has nothing to compare; it is loaded by the next who asks for it.
            if let Some(snapshot) = self.inner.redis.piece_snapshot(piece).await? {
                snapshots.push((piece, snapshot));
            }
        }
        let Some(stock) = self.inner.db.standing_stock(zone).await? else {
            return Ok(());
        };
        let taken_in_redis = snapshots
            .iter()
            .map(|(_, snapshot)| snapshot.places.locked + snapshot.places.sold)
            .sum::<u32>();
        found.over_capacity += beyond(taken_in_redis, stock.capacity);
        let taken = self.inner.db.taken_pieces(zone).await?;
        for (piece, snapshot) in &snapshots {
            found.disagreeing += wrong_counts(snapshot);
            found.disagreeing += self.wrong_entries(*piece, snapshot, &taken).await?;
        }
        Ok(())
    }

    /// Places of a piece that Redis gives to an order and the database does not, or the other way round.
    async fn wrong_entries(
        &self,
        piece: Piece,
        snapshot: &PieceSnapshot,
        taken: &[PieceOfOrder],
    ) -> Result<i64, Failure> {
        let in_database: HashMap<OrderNo, u32> = taken
            .iter()
            .filter(|of_order| of_order.piece == piece)
            .map(|of_order| (of_order.order_no, of_order.quantity))
            .collect();
        let mut wrong = disagreeing(snapshot, &in_database);
        // What was taken after the first reading had its row before the second.
        if wrong > 0
            && let Some(again) = self.inner.redis.piece_snapshot(piece).await?
        {
            wrong = wrong.min(disagreeing(&again, &in_database));
        }
        let mut unknown: BTreeMap<OrderNo, u32> = BTreeMap::new();
        for (order_no, taken) in &snapshot.taken {
            // An order that was placed a moment ago may have no row yet, or may have ended and be about to give back.
            let is_young = self.now() - taken.created < self.inner.config.limits.lock_lease;
            if !is_young && !in_database.contains_key(order_no) {
                unknown.insert(*order_no, taken.quantity);
            }
        }
        let numbers: Vec<OrderNo> = unknown.keys().copied().collect();
        let orders = self.inner.db.orders_by_number(&numbers).await?;
        for (order_no, quantity) in unknown {
            // One that became live after the first reading is right.
            if !orders
                .get(&order_no)
                .is_some_and(|order| order.status.is_live())
            {
                wrong += i64::from(quantity);
            }
        }
        Ok(wrong)
    }
}

/// Places by which a piece differs from what orders have of it in the database.
fn disagreeing(snapshot: &PieceSnapshot, in_database: &HashMap<OrderNo, u32>) -> i64 {
    let differences = in_database.iter().map(|(order_no, quantity)| {
        let taken = snapshot.taken.get(order_no);
        differ(taken.map_or(0, |taken| taken.quantity), *quantity)
    });
    differences.sum()
}

/// Places by which a piece's counts differ from its entries.
fn wrong_counts(snapshot: &PieceSnapshot) -> i64 {
    let of_state = |state| {
        let entries = snapshot.taken.values();
        let of_state = entries.filter(|entry| entry.state == state);
        of_state.map(|entry| entry.quantity).sum::<u32>()
    };
    differ(snapshot.places.locked, of_state(PlaceState::Locked))
        + differ(snapshot.places.sold, of_state(PlaceState::Sold))
}

fn differ(one: u32, other: u32) -> i64 {
    i64::from(one.abs_diff(other))
}

fn beyond(taken: u32, capacity: u32) -> i64 {
    i64::from(taken.saturating_sub(capacity))
}
