//! Changing how many places a standing zone has, while it is sold.

use super::pieces::pieces_of_zone;
use crate::{
    fault::{self, Point},
    redis::{keys::Piece, scripts::SetCapacityReply, standing::Places},
    ticketing::{Failure, Ticketing},
};
use app::domain::{ids::ZoneId, standing::shares};

/// How often the shares are counted anew because places were sold meanwhile.
const TRIES_MAX: usize = 10;
/// Most places of a zone.
pub const CAPACITY_MAX: u32 = 1_000_000;

/// Why a capacity was not changed. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum CapacityError {
    /// The show has no such zone, or it has seats.
    #[error("there is no standing zone {zone}")]
    NoStandingZone {
        /// The zone that was named.
        zone: ZoneId,
    },
    /// More than any zone may have.
    #[error("a zone has at most {CAPACITY_MAX} places")]
    TooMany,
    /// More places are sold and held than there would be.
    #[error("{sold} places are sold and {held} are held: the zone can't have fewer than {}", sold + held)]
    Below {
        /// Places of orders that are not paid yet.
        held: u32,
        /// Places of paid orders.
        sold: u32,
    },
    /// Somebody else is changing it, or it is sold faster than it can be counted.
    #[error("the zone's places are changing too fast: try again")]
    Busy,
    /// A store failed.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<crate::mysql::DbError> for CapacityError {
    fn from(error: crate::mysql::DbError) -> Self {
        Self::Failure(error.into())
    }
}

impl From<crate::redis::RedisError> for CapacityError {
    fn from(error: crate::redis::RedisError) -> Self {
        Self::Failure(error.into())
    }
}

impl Ticketing {
    /// Sets how many places a standing zone has, sold and held ones included.
    ///
    /// Pieces that lose places lose them in Redis before the database lowers the capacity, and those that win places win
    /// them after it: so Redis never offers what the database does not have. A crash in between leaves pieces that are too
    /// small, which reconciliation makes as large as the database says.
    ///
    /// # Errors
    /// Says why not; nothing has changed then.
    pub async fn set_standing_capacity(
        &self,
        zone: ZoneId,
        capacity: u32,
    ) -> Result<(), CapacityError> {
        if capacity > CAPACITY_MAX {
            return Err(CapacityError::TooMany);
        }
        self.share_out_alone(zone, Some(capacity)).await
    }

    /// Shares the places that a zone has out anew.
    ///
    /// # Errors
    /// As [`Ticketing::set_standing_capacity`].
    pub(in crate::ticketing) async fn share_out_anew(
        &self,
        zone: ZoneId,
    ) -> Result<(), CapacityError> {
        self.share_out_alone(zone, None).await
    }

    /// Shares a zone's places out while nobody else does: this many, or as many as the database says once that is so.
    async fn share_out_alone(
        &self,
        zone: ZoneId,
        capacity: Option<u32>,
    ) -> Result<(), CapacityError> {
        let totals = self.inner.db.piece_totals(zone).await?;
        if totals.is_empty() {
            return Err(CapacityError::NoStandingZone { zone });
        }
        let pieces = pieces_of_zone(zone, totals.len());
        let lead = self.inner.db.try_lead(&format!("capacity.{zone}")).await?;
        let Some(lead) = lead else {
            return Err(CapacityError::Busy);
        };
        let mut outcome = match capacity {
            // Counts that are too high would leave nothing to share out.
            None => self.follow_shares(zone).await,
            Some(_) => Ok(()),
        };
        if outcome.is_ok() {
            outcome = self.share_out(zone, &pieces, capacity).await;
        }
        if outcome.is_err() {
            // Pieces that have lost places already get them back.
            outcome = self.follow_shares(zone).await.and(outcome);
        }
        lead.give_up().await;
        outcome
    }

    async fn share_out(
        &self,
        zone: ZoneId,
        pieces: &[Piece],
        capacity: Option<u32>,
    ) -> Result<(), CapacityError> {
        let stock = self.inner.db.standing_stock(zone).await?;
        let stock = stock.ok_or(CapacityError::NoStandingZone { zone })?;
        let capacity = capacity.unwrap_or(stock.capacity);
        for _ in 0..TRIES_MAX {
            let places = self.zone_places(pieces).await?;
            let taken: Vec<u32> = places
                .iter()
                .map(|places| places.locked + places.sold)
                .collect();
            let Some(totals) = shares(capacity, &taken) else {
                return Err(below(&places));
            };
            let lowered = |(place, total): &(usize, &u32)| **total <= places[*place].total;
            if !self
                .set_totals(pieces, totals.iter().enumerate().filter(lowered))
                .await?
            {
                continue;
            }
            fault::point(Point::CapacityBeforeRow);
            if !self.inner.db.set_capacity(zone, capacity, &totals).await? {
                return Err(below(&places));
            }
            tracing::info!(
                zone_id = zone.0,
                capacity,
                "capacity of a standing zone changed"
            );
            fault::point(Point::CapacityAfterRow);
            return self.follow_shares(zone).await;
        }
        Err(CapacityError::Busy)
    }

    /// Makes the pieces in Redis as large as the database says, as far as what is taken of them allows. Counts are those of
    /// the entries afterwards.
    ///
    /// # Errors
    /// When a store fails.
    pub(in crate::ticketing) async fn follow_shares(
        &self,
        zone: ZoneId,
    ) -> Result<(), CapacityError> {
        let totals = self.inner.db.piece_totals(zone).await?;
        let pieces = pieces_of_zone(zone, totals.len());
        self.set_totals(&pieces, totals.iter().enumerate()).await?;
        Ok(())
    }

    /// Sets the totals of some pieces. False when more was taken of one of them meanwhile.
    async fn set_totals<'t>(
        &self,
        pieces: &[Piece],
        totals: impl Iterator<Item = (usize, &'t u32)> + Send,
    ) -> Result<bool, CapacityError> {
        let mut all_set = true;
        for (place, total) in totals {
            let Some(&piece) = pieces.get(place) else {
                continue;
            };
            let mut reply = self
                .inner
                .redis
                .set_standing_capacity(piece, *total)
                .await?;
            if reply == SetCapacityReply::Rebuild {
                self.load_zone(piece.zone).await?;
                reply = self
                    .inner
                    .redis
                    .set_standing_capacity(piece, *total)
                    .await?;
            }
            all_set &= reply == SetCapacityReply::Set;
            fault::point(Point::CapacityBetweenPieces);
        }
        Ok(all_set)
    }
}

fn below(places: &[Places]) -> CapacityError {
    CapacityError::Below {
        held: places.iter().map(|places| places.locked).sum(),
        sold: places.iter().map(|places| places.sold).sum(),
    }
}
