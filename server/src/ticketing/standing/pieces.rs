//! The pieces of a zone: loading them, and writing what orders have of them.

use crate::{
    fault::{self, Point},
    mysql::{sale::Sale, standing::PieceOfOrder},
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
    /// Has the show of a zone loaded as far as Redis does not have it: its pieces are lost and come back as its seats are.
    ///
    /// # Errors
    /// As [`Ticketing::load_show`].
    pub(in crate::ticketing) async fn load_zone(&self, zone: ZoneId) -> Result<(), Failure> {
        let show = self.inner.db.show_of_zone(zone).await?;
        let show = show.ok_or(Failure::Broken("no such zone"))?;
        self.load_show(show).await?;
        Ok(())
    }

    /// Writes the pieces of a show's standing zones that Redis does not have, each with what orders have of it; how many
    /// these were. Called by one loader at a time, once what was on its way is written: see `loading.rs`.
    pub(in crate::ticketing) async fn load_pieces(&self, sale: &Sale) -> Result<usize, Failure> {
        let all: Vec<Piece> = sale.pieces.iter().map(|(piece, _)| *piece).collect();
        let present = self.inner.redis.places(&all).await?;
        let missing = sale.pieces.iter().zip(present);
        let mut loaded = 0;
        for ((piece, total), _) in missing.filter(|(_, present)| present.is_none()) {
            let load = LoadStanding {
                piece: *piece,
                epoch: u32::try_from(self.now().0 / 1000).unwrap_or(u32::MAX),
                total: *total,
                taken: entries(&sale.places, *piece),
                replaces: None,
            };
            if self.inner.redis.load_standing(&load).await? == LoadReply::Loaded {
                loaded += 1;
            }
            fault::point(Point::RebuildBetweenPieces);
        }
        Ok(loaded)
    }

    /// Reads the standing zones of a show from the database again, and the show if Redis does not have it, after the orders
    /// that Kafka has were written; what is held and not sent is lost.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn reload_zones(&self, show: ShowId) -> Result<(), Failure> {
        let pieces = self.inner.db.pieces_of_shows(&[show]).await?;
        for piece in pieces.into_values().flatten() {
            self.inner.redis.forget_piece(piece).await?;
            fault::point(Point::RebuildBetweenForgetting);
        }
        self.load_show_patiently(show).await?;
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

    /// Gives back what an order has in a piece, at a second attempt if need be. What can't be given back now is found by
    /// reconciliation, once the order is over.
    ///
    /// # Errors
    /// When the order may still have it.
    pub(super) async fn give_place(
        &self,
        order_no: OrderNo,
        piece: Piece,
        why: GiveWhy,
    ) -> Result<(), RedisError> {
        let mut given = self.give_all(piece, order_no, why).await;
        if given.is_err() {
            given = self.give_all(piece, order_no, why).await;
        }
        if let Err(error) = &given {
            tracing::warn!(%order_no, zone_id = piece.zone.0, %error, "places not given back, reconciliation will");
        }
        given.map(|_| ())
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
        let pieces = self.inner.db.pieces_of(order_no).await?;
        for (place, (piece, keep)) in pieces.into_iter().enumerate() {
            if place > 0 {
                fault::point(Point::SettleBetweenPieces);
            }
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
        let mut pieces = self.inner.db.pieces_of(order_no).await?;
        pieces.retain(|(_, quantity)| *quantity > 0);
        for (place, (piece, quantity)) in pieces.into_iter().enumerate() {
            if place > 0 {
                fault::point(Point::SettlePaidBetweenPieces);
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
