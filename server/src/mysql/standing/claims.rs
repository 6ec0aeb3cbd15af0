//! Places within the transactions that make and end orders: claimed, and given back.

use crate::{
    mysql::{DbError, shapes::parts},
    redis::keys::Piece,
};
use app::domain::ids::{OrderNo, ZoneId};
use sqlx::{MySql, MySqlConnection, QueryBuilder};
use std::collections::BTreeMap;

pub(super) async fn pieces_in(
    connection: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<Vec<(Piece, u32)>, DbError> {
    let rows: Vec<(u64, u16, u32)> = sqlx::query_as(
        "SELECT zone_id, piece, quantity FROM order_piece WHERE order_no = ? ORDER BY zone_id, piece",
    )
    .bind(order_no.as_i64())
    .fetch_all(connection)
    .await?;
    let read = |(zone, piece, quantity)| {
        let zone = ZoneId(zone);
        (Piece { zone, piece }, quantity)
    };
    Ok(rows.into_iter().map(read).collect())
}

/// Places that orders of a batch took, as their rows will say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewPiece {
    /// The order.
    pub order_no: OrderNo,
    /// The piece.
    pub piece: Piece,
    /// How many places.
    pub quantity: u32,
}

/// Claims the places of a batch within its transaction: one update a zone, in key order, so that two batches never wait
/// for each other in a circle. Comes last in its transaction, because everybody who sells in a zone waits for its row.
///
/// # Errors
/// [`DbError::NoPlaces`] when a zone has fewer left; the transaction must be rolled back then.
pub(in crate::mysql) async fn claim_places(
    tx: &mut MySqlConnection,
    pieces: &[NewPiece],
) -> Result<(), DbError> {
    for part in parts(pieces) {
        let mut rows = QueryBuilder::<MySql>::new(
            "INSERT INTO order_piece (order_no, zone_id, piece, quantity) ",
        );
        rows.push_values(part, |mut row, new| {
            row.push_bind(new.order_no.as_i64())
                .push_bind(new.piece.zone.0)
                .push_bind(new.piece.piece)
                .push_bind(new.quantity);
        });
        rows.build().execute(&mut *tx).await?;
    }
    let mut wanted: BTreeMap<ZoneId, u32> = BTreeMap::new();
    for new in pieces {
        let count = wanted.entry(new.piece.zone).or_default();
        *count = count.saturating_add(new.quantity);
    }
    for (zone, quantity) in wanted {
        let claimed = sqlx::query(
            "UPDATE standing_stock SET taken = taken + ? WHERE zone_id = ? AND taken + ? <= capacity",
        )
        .bind(quantity)
        .bind(zone.0)
        .bind(quantity)
        .execute(&mut *tx)
        .await?;
        if claimed.rows_affected() == 0 {
            return Err(DbError::NoPlaces);
        }
    }
    Ok(())
}

/// Gives back to the stock what an order has, within the transaction that ends it. The order's rows stay, with nothing in
/// them, so that its places can be found in Redis.
///
/// # Errors
/// When the database fails.
pub(in crate::mysql) async fn return_places(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<(), DbError> {
    let mut by_zone: BTreeMap<ZoneId, u32> = BTreeMap::new();
    for (piece, quantity) in pieces_in(tx, order_no).await? {
        *by_zone.entry(piece.zone).or_default() += quantity;
    }
    if by_zone.is_empty() {
        return Ok(());
    }
    sqlx::query("UPDATE order_piece SET quantity = 0 WHERE order_no = ?")
        .bind(order_no.as_i64())
        .execute(&mut *tx)
        .await?;
    // Last, because everybody who sells in a zone waits for its stock.
    for (zone, quantity) in by_zone {
        lower_stock(tx, zone, quantity).await?;
    }
    Ok(())
}

/// Takes some places of one zone off what a live order has, within the transaction that gives their money back: from its
/// last pieces first. The caller makes sure that this happens once for each ticket. Afterwards
/// `Ticketing::settle_given` makes Redis follow.
///
/// # Errors
/// When the database fails.
pub async fn return_some(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
    zone: ZoneId,
    quantity: u32,
) -> Result<(), DbError> {
    let mut missing = quantity;
    let pieces = pieces_in(tx, order_no).await?;
    let of_zone = pieces
        .into_iter()
        .rev()
        .filter(|(piece, _)| piece.zone == zone);
    for (piece, has) in of_zone {
        let given = has.min(missing);
        if given == 0 {
            continue;
        }
        sqlx::query(
            "UPDATE order_piece SET quantity = quantity - ? \
             WHERE order_no = ? AND zone_id = ? AND piece = ? AND quantity >= ?",
        )
        .bind(given)
        .bind(order_no.as_i64())
        .bind(zone.0)
        .bind(piece.piece)
        .bind(given)
        .execute(&mut *tx)
        .await?;
        missing -= given;
    }
    lower_stock(tx, zone, quantity - missing).await
}

async fn lower_stock(tx: &mut MySqlConnection, zone: ZoneId, quantity: u32) -> Result<(), DbError> {
    sqlx::query("UPDATE standing_stock SET taken = taken - ? WHERE zone_id = ? AND taken >= ?")
        .bind(quantity)
        .bind(zone.0)
        .bind(quantity)
        .execute(tx)
        .await?;
    Ok(())
}
