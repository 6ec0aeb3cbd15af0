//! Places of standing zones: their stock, how it is shared among pieces, and what orders have of it.

mod claims;

pub use claims::return_some;
pub(super) use claims::{NewPiece, claim_places, return_places};

use self::claims::pieces_in;
use super::{Db, DbError};
use crate::redis::keys::Piece;
use app::domain::{
    ids::{OrderNo, ShowId, UserId, ZoneId},
    order::OrderStatus,
};
use sqlx::{MySql, MySqlConnection, QueryBuilder};
use std::collections::HashMap;

/// A zone's stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stock {
    /// Places in all.
    pub capacity: u32,
    /// Places that orders have.
    pub taken: u32,
}

/// A zone's places at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneCount {
    /// As the stock has them.
    pub stock: Stock,
    /// As the pieces of orders add up.
    pub by_piece: u32,
    /// Tickets of live orders, and those whose money went back after the show had begun: their places stay taken.
    pub tickets: u32,
}

/// Places of one piece that an order has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceOfOrder {
    /// The order.
    pub order_no: OrderNo,
    /// Where it stands.
    pub status: OrderStatus,
    /// When it was placed, ms since 1970 UTC.
    pub placed_at_ms: i64,
    /// When it was paid, ms since 1970 UTC.
    pub paid_at_ms: Option<i64>,
    /// The piece.
    pub piece: Piece,
    /// How many places.
    pub quantity: u32,
}

const TAKEN: &str = "SELECT p.order_no, o.status, o.placed_at, o.paid_at, p.zone_id, p.piece, p.quantity \
     FROM order_piece p JOIN orders o ON o.order_no = p.order_no";

#[derive(sqlx::FromRow)]
struct PieceRow {
    order_no: i64,
    status: u8,
    placed_at: i64,
    paid_at: Option<i64>,
    zone_id: u64,
    piece: u16,
    quantity: u32,
}

impl TryFrom<PieceRow> for PieceOfOrder {
    type Error = DbError;
    fn try_from(row: PieceRow) -> Result<Self, DbError> {
        let unreadable = || DbError::Unreadable {
            what: "order_piece",
        };
        Ok(Self {
            order_no: OrderNo::try_from(row.order_no).map_err(|_| unreadable())?,
            status: OrderStatus::from_code(row.status).ok_or_else(unreadable)?,
            placed_at_ms: row.placed_at,
            paid_at_ms: row.paid_at,
            piece: Piece {
                zone: ZoneId(row.zone_id),
                piece: row.piece,
            },
            quantity: row.quantity,
        })
    }
}

impl Db {
    /// Which pieces an order's places came from, and how many of each it has: none of any when it is over, unless its money
    /// went back after the show had begun.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pieces_of(&self, order_no: OrderNo) -> Result<Vec<(Piece, u32)>, DbError> {
        let mut connection = self.pool().acquire().await?;
        pieces_in(&mut connection, order_no).await
    }

    /// The show that a zone belongs to.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn show_of_zone(&self, zone: ZoneId) -> Result<Option<ShowId>, DbError> {
        let show: Option<u64> = sqlx::query_scalar("SELECT show_id FROM show_zone WHERE id = ?")
            .bind(zone.0)
            .fetch_optional(self.pool())
            .await?;
        Ok(show.map(ShowId))
    }

    /// What orders have of a zone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn taken_pieces(&self, zone: ZoneId) -> Result<Vec<PieceOfOrder>, DbError> {
        let rows: Vec<PieceRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "{TAKEN} WHERE p.zone_id = ? AND p.quantity > 0"
        )))
        .bind(zone.0)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter().map(PieceOfOrder::try_from).collect()
    }

    /// Numbers, states and standing places of a user's live orders of a show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn live_places_of(
        &self,
        user: UserId,
        show: ShowId,
    ) -> Result<Vec<(OrderNo, OrderStatus, u32)>, DbError> {
        let rows: Vec<(i64, u8, u32)> = sqlx::query_as(
            "SELECT o.order_no, o.status, p.quantity FROM orders o JOIN order_piece p ON p.order_no = o.order_no \
             WHERE o.user_id = ? AND o.show_id = ? AND o.status IN (0, 1, 4) ORDER BY o.order_no LIMIT 1000",
        )
        .bind(user.0)
        .bind(show.0)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter()
            .map(|(order_no, status, quantity)| {
                let unreadable = || DbError::Unreadable { what: "orders" };
                Ok((
                    OrderNo::try_from(order_no).map_err(|_| unreadable())?,
                    OrderStatus::from_code(status).ok_or_else(unreadable)?,
                    quantity,
                ))
            })
            .collect()
    }

    /// What orders have of the standing zones of a show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn taken_pieces_of_show(&self, show: ShowId) -> Result<Vec<PieceOfOrder>, DbError> {
        let mut connection = self.pool().acquire().await?;
        taken_pieces_in(&mut connection, show).await
    }

    /// A zone's stock; none for a zone of seats.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn standing_stock(&self, zone: ZoneId) -> Result<Option<Stock>, DbError> {
        let row: Option<(u32, u32)> =
            sqlx::query_as("SELECT capacity, taken FROM standing_stock WHERE zone_id = ?")
                .bind(zone.0)
                .fetch_optional(self.pool())
                .await?;
        Ok(row.map(|(capacity, taken)| Stock { capacity, taken }))
    }

    /// A zone's places by piece, in the order of the pieces.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn piece_totals(&self, zone: ZoneId) -> Result<Vec<u32>, DbError> {
        Ok(
            sqlx::query_scalar("SELECT total FROM standing_piece WHERE zone_id = ? ORDER BY piece")
                .bind(zone.0)
                .fetch_all(self.pool())
                .await?,
        )
    }

    /// The pieces of the standing zones of some shows.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pieces_of_shows(
        &self,
        shows: &[ShowId],
    ) -> Result<HashMap<ShowId, Vec<Piece>>, DbError> {
        let mut found: HashMap<ShowId, Vec<Piece>> = HashMap::new();
        if shows.is_empty() {
            return Ok(found);
        }
        let mut query = QueryBuilder::<MySql>::new(
            "SELECT show_id, id, pieces FROM show_zone WHERE standing_capacity IS NOT NULL AND show_id IN (",
        );
        let mut list = query.separated(", ");
        for show in shows {
            list.push_bind(show.0);
        }
        query.push(")");
        let rows: Vec<(u64, u64, u16)> = query
            .build_query_as()
            .persistent(false)
            .fetch_all(self.pool())
            .await?;
        for (show, zone, pieces) in rows {
            let zone = ZoneId(zone);
            let all = (0..pieces).map(|piece| Piece { zone, piece });
            found.entry(ShowId(show)).or_default().extend(all);
        }
        Ok(found)
    }

    /// Changes a zone's capacity and its shares. False when orders have more than that; nothing is changed then.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_capacity(
        &self,
        zone: ZoneId,
        capacity: u32,
        totals: &[u32],
    ) -> Result<bool, DbError> {
        self.transact((zone, capacity, totals), |&(zone, capacity, totals), tx| {
            Box::pin(async move {
                let stock: Option<(u32,)> =
                    sqlx::query_as("SELECT taken FROM standing_stock WHERE zone_id = ? FOR UPDATE")
                        .bind(zone.0)
                        .fetch_optional(&mut *tx)
                        .await
                        .map_err(DbError::from)?;
                if stock.is_none_or(|(taken,)| taken > capacity) {
                    return Ok(false);
                }
                sqlx::query(
                    "UPDATE standing_stock SET capacity = ? WHERE zone_id = ? AND taken <= ?",
                )
                .bind(capacity)
                .bind(zone.0)
                .bind(capacity)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                sqlx::query("UPDATE show_zone SET standing_capacity = ? WHERE id = ?")
                    .bind(capacity)
                    .bind(zone.0)
                    .execute(&mut *tx)
                    .await
                    .map_err(DbError::from)?;
                for (piece, total) in (0_u16..).zip(totals) {
                    sqlx::query(
                        "UPDATE standing_piece SET total = ? WHERE zone_id = ? AND piece = ?",
                    )
                    .bind(total)
                    .bind(zone.0)
                    .bind(piece)
                    .execute(&mut *tx)
                    .await
                    .map_err(DbError::from)?;
                }
                Ok::<_, DbError>(true)
            })
        })
        .await
    }

    /// Counts a zone's taken places anew from its orders. True when that changed the stock.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn recount_stock(&self, zone: ZoneId) -> Result<bool, DbError> {
        self.transact(zone, |&zone, tx| {
            Box::pin(async move {
                // Whoever makes or ends an order waits for this row before its commit, so the count is of a moment.
                let locked: Option<u32> = sqlx::query_scalar(
                    "SELECT taken FROM standing_stock WHERE zone_id = ? FOR UPDATE",
                )
                .bind(zone.0)
                .fetch_optional(&mut *tx)
                .await
                .map_err(DbError::from)?;
                let counted = taken_places(tx, zone).await?;
                if locked.is_none_or(|taken| taken == counted) {
                    return Ok(false);
                }
                let done = sqlx::query(
                    "UPDATE standing_stock SET taken = ? WHERE zone_id = ? AND capacity >= ?",
                )
                .bind(counted)
                .bind(zone.0)
                .bind(counted)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                Ok::<_, DbError>(done.rows_affected() > 0)
            })
        })
        .await
    }

    /// A zone's stock beside what orders have of it, all at one moment; none for a zone of seats.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn zone_count(&self, zone: ZoneId) -> Result<Option<ZoneCount>, DbError> {
        // One statement reads one moment, and whatever changes a count changes all three in one transaction.
        let row: Option<(u32, u32, i64, i64)> = sqlx::query_as(
            "SELECT s.capacity, s.taken, \
             (SELECT CAST(COALESCE(SUM(p.quantity), 0) AS SIGNED) FROM order_piece p WHERE p.zone_id = s.zone_id), \
             (SELECT COUNT(*) FROM orders o JOIN order_item i ON i.order_no = o.order_no \
              LEFT JOIN refund_item ri ON ri.order_no = i.order_no AND ri.item_no = i.item_no \
              LEFT JOIN refund r ON r.id = ri.refund_id AND r.status = 3 \
              WHERE o.show_id = w.id AND o.status IN (0, 1, 3, 4) AND i.zone_id = s.zone_id AND i.seat IS NULL \
              AND (r.id IS NULL OR r.succeeded_at >= w.starts_at)) \
             FROM standing_stock s JOIN show_zone z ON z.id = s.zone_id JOIN shows w ON w.id = z.show_id \
             WHERE s.zone_id = ?",
        )
        .bind(zone.0)
        .fetch_optional(self.pool())
        .await?;
        let whole = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(row.map(|(capacity, taken, by_piece, tickets)| ZoneCount {
            stock: Stock { capacity, taken },
            by_piece: whole(by_piece),
            tickets: whole(tickets),
        }))
    }
}

/// What orders have of the standing zones of a show.
pub(super) async fn taken_pieces_in(
    connection: &mut MySqlConnection,
    show: ShowId,
) -> Result<Vec<PieceOfOrder>, DbError> {
    let rows: Vec<PieceRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "{TAKEN} JOIN show_zone z ON z.id = p.zone_id WHERE z.show_id = ? AND p.quantity > 0"
    )))
    .bind(show.0)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(PieceOfOrder::try_from).collect()
}

/// The pieces of the standing zones of a show, each with its places.
pub(super) async fn pieces_with_totals_in(
    connection: &mut MySqlConnection,
    show: ShowId,
) -> Result<Vec<(Piece, u32)>, DbError> {
    let rows: Vec<(u64, u16, u32)> = sqlx::query_as(
        "SELECT p.zone_id, p.piece, p.total FROM standing_piece p JOIN show_zone z ON z.id = p.zone_id \
         WHERE z.show_id = ? ORDER BY p.zone_id, p.piece",
    )
    .bind(show.0)
    .fetch_all(connection)
    .await?;
    let read = |(zone, piece, total)| {
        let zone = ZoneId(zone);
        (Piece { zone, piece }, total)
    };
    Ok(rows.into_iter().map(read).collect())
}

async fn taken_places(connection: &mut MySqlConnection, zone: ZoneId) -> Result<u32, DbError> {
    let counted: i64 = sqlx::query_scalar(
        "SELECT CAST(COALESCE(SUM(quantity), 0) AS SIGNED) FROM order_piece WHERE zone_id = ?",
    )
    .bind(zone.0)
    .fetch_one(connection)
    .await?;
    Ok(u32::try_from(counted).unwrap_or(u32::MAX))
}
