//! The pieces of a zone: loading them, and writing what orders have of them.

use crate::{
    mysql::standing::PieceOfOrder,
    redis::{
        RedisError,
        keys::Piece,
        scripts::{
            GiveStandingReply, GiveWhy, LoadReply, LoadStanding, SellStanding, SellStandingReply,
        },
        standing::{PlaceState, Places, TakenPlaces},
    },
    ticketing::{Failure, Ticketing},
};
use app::domain::{
    ids::{OrderNo, ShowId, ZoneId},
    order::OrderStatus,
    time::Timestamp,
};

/// All pieces of a zone.
pub(in crate::ticketing) fn pieces_of_zone(zone: ZoneId, count: usize) -> Vec<Piece> {
    (0_u16..)
        .take(count)
        .map(|piece| Piece { zone, piece })
        .collect()
}

/// How an order's places are taken, by where the order stands. One whose money went back after its show had begun keeps
/// them sold.
pub(in crate::ticketing) fn state_of(status: OrderStatus) -> PlaceState {
    match status {
        OrderStatus::Paid | OrderStatus::Ticketed | OrderStatus::Refunded => PlaceState::Sold,
        _ => PlaceState::Locked,
    }
}

impl Ticketing {
    /// Loads the pieces of a zone that Redis does not have, each with what orders have of it; the number of pieces
    /// that this call loaded. Several servers may do so at once: the first one's reading stands.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn load_zone(&self, zone: ZoneId) -> Result<usize, Failure> {
        let totals = self.inner.db.piece_totals(zone).await?;
        let pieces = pieces_of_zone(zone, totals.len());
        let present = self.inner.redis.places(&pieces).await?;
        if present.iter().all(Option::is_some) {
            return Ok(0);
        }
        let taken = self.inner.db.taken_pieces(zone).await?;
        let mut loaded = 0;
        for ((piece, total), present) in pieces.into_iter().zip(totals).zip(present) {
            if present.is_some() {
                continue;
            }
            let load = LoadStanding {
                piece,
                epoch: u32::try_from(self.now().0 / 1000).unwrap_or(u32::MAX),
                total,
                taken: entries(&taken, piece),
                replaces: None,
            };
            if self.inner.redis.load_standing(&load).await? == LoadReply::Loaded {
                loaded += 1;
            }
        }
        tracing::info!(
            zone_id = zone.0,
            pieces = loaded,
            "standing zone loaded into Redis"
        );
        Ok(loaded)
    }

    /// Reads the standing zones of a show from the database again; what is held and not yet written is lost.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn reload_zones(&self, show: ShowId) -> Result<(), Failure> {
        let pieces = self.inner.db.pieces_of_shows(&[show]).await?;
        let pieces: Vec<Piece> = pieces.into_values().flatten().collect();
        for piece in &pieces {
            self.inner.redis.forget_piece(*piece).await?;
        }
        self.zone_places(&pieces).await?;
        Ok(())
    }

    /// The counts of all pieces of a zone; pieces that Redis does not have are loaded first.
    ///
    /// # Errors
    /// When a store fails.
    pub(in crate::ticketing) async fn zone_places(
        &self,
        pieces: &[Piece],
    ) -> Result<Vec<Places>, Failure> {
        let mut places = self.inner.redis.places(pieces).await?;
        let mut zones: Vec<ZoneId> = pieces
            .iter()
            .zip(&places)
            .filter(|(_, places)| places.is_none())
            .map(|(piece, _)| piece.zone)
            .collect();
        zones.dedup();
        if !zones.is_empty() {
            for zone in zones {
                self.load_zone(zone).await?;
            }
            places = self.inner.redis.places(pieces).await?;
        }
        places
            .into_iter()
            .collect::<Option<Vec<Places>>>()
            .ok_or(Failure::Broken("a standing zone is lost again"))
    }

    /// Gives back what an order has in a piece. What can't be given back now is found by reconciliation.
    pub(super) async fn give_place(&self, order_no: OrderNo, piece: Piece, why: GiveWhy) {
        let mut given = self.give_all(piece, order_no, why).await;
        if given.as_ref().is_err_and(RedisError::may_have_run) {
            given = self.give_all(piece, order_no, why).await;
        }
        if let Err(error) = given {
            tracing::warn!(%order_no, zone_id = piece.zone.0, %error, "places not given back, reconciliation will");
        }
    }

    async fn give_all(
        &self,
        piece: Piece,
        order_no: OrderNo,
        why: GiveWhy,
    ) -> Result<GiveStandingReply, RedisError> {
        self.inner
            .redis
            .give_standing(piece, order_no, 0, why)
            .await
    }

    /// Gives back in Redis what an order has beyond what the database says. True when something was given back. May be
    /// repeated.
    ///
    /// # Errors
    /// When a store fails.
    pub(in crate::ticketing) async fn settle_given(
        &self,
        order_no: OrderNo,
        why: GiveWhy,
    ) -> Result<bool, Failure> {
        let mut any = false;
        for (piece, keep) in self.inner.db.pieces_of(order_no).await? {
            let redis = &self.inner.redis;
            let mut reply = redis.give_standing(piece, order_no, keep, why).await?;
            if reply == GiveStandingReply::Rebuild {
                // A loading that is under way may have read the order as it was before.
                self.load_zone(piece.zone).await?;
                reply = redis.give_standing(piece, order_no, keep, why).await?;
            }
            if reply == GiveStandingReply::Rebuild {
                return Err(Failure::Broken("a standing zone is lost again"));
            }
            any |= matches!(reply, GiveStandingReply::Given { .. });
        }
        Ok(any)
    }

    /// Writes an order's places to Redis as the database has them. True when that changed something. May be repeated.
    ///
    /// # Errors
    /// When a store fails.
    pub(in crate::ticketing) async fn settle_taken(
        &self,
        order_no: OrderNo,
        state: PlaceState,
    ) -> Result<bool, Failure> {
        let mut any = false;
        for (piece, quantity) in self.inner.db.pieces_of(order_no).await? {
            if quantity == 0 {
                continue;
            }
            let sell = SellStanding {
                piece,
                order_no,
                now: self.now(),
                quantity,
                state,
            };
            let mut reply = self.inner.redis.sell_standing(&sell).await?;
            if reply == SellStandingReply::Rebuild {
                self.load_zone(piece.zone).await?;
                reply = self.inner.redis.sell_standing(&sell).await?;
            }
            if reply == SellStandingReply::Rebuild {
                return Err(Failure::Broken("a standing zone is lost again"));
            }
            any |= matches!(reply, SellStandingReply::Written { .. });
        }
        Ok(any)
    }
}

/// What orders have of a piece.
fn entries(taken: &[PieceOfOrder], piece: Piece) -> Vec<(OrderNo, TakenPlaces)> {
    taken
        .iter()
        .filter(|of_order| of_order.piece == piece)
        .map(|of_order| {
            let taken = TakenPlaces {
                quantity: of_order.quantity,
                state: state_of(of_order.status),
                created: Timestamp(of_order.placed_at_ms),
            };
            (of_order.order_no, taken)
        })
        .collect()
}
