//! The books: how the places of each zone became what they are.

use super::{Db, DbError, shapes::parts};
use crate::redis::quantities::{LogPlace, QuantityChange};
use app::domain::{
    ids::{OrderNo, ShowId, ZoneId},
    time::Timestamp,
};
use sqlx::{MySql, MySqlConnection, QueryBuilder};
use std::collections::BTreeMap;

/// What writing changes into the books came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Booked {
    /// Changes that were not there yet.
    pub new: u64,
    /// Places at which a change does not begin with what the one before it left: something between them was lost.
    pub gaps: u64,
}

/// The columns of a change, as rows have them.
#[derive(sqlx::FromRow)]
struct Row {
    zone_id: u64,
    logged_at: i64,
    seq: u32,
    quantity_before: Option<i64>,
    quantity_change: i64,
    quantity_after: i64,
    order_no: Option<i64>,
    why: String,
}

impl TryFrom<Row> for QuantityChange {
    type Error = DbError;
    fn try_from(row: Row) -> Result<Self, DbError> {
        let order_no = row.order_no.map(OrderNo::try_from).transpose();
        Ok(Self {
            at: LogPlace {
                ms: row.logged_at,
                seq: row.seq,
            },
            zone: ZoneId(row.zone_id),
            before: row.quantity_before,
            change: row.quantity_change,
            after: row.quantity_after,
            order_no: order_no.map_err(|_| DbError::Unreadable {
                what: "zone_quantity_log",
            })?,
            why: row.why,
        })
    }
}

impl Db {
    /// Writes changes of one log, oldest first. Those that are there already are left as they are.
    ///
    /// # Errors
    /// When the database fails; nothing is written then.
    pub async fn book_quantities(
        &self,
        show: ShowId,
        piece: u16,
        changes: &[QuantityChange],
    ) -> Result<Booked, DbError> {
        if changes.is_empty() {
            return Ok(Booked::default());
        }
        self.transact((show, piece, changes), |&(show, piece, changes), tx| {
            Box::pin(async move {
                let gaps = gaps(tx, show, piece, changes).await?;
                let new = insert(tx, show, piece, changes).await?;
                // Another server wrote some of them at the same moment, and counts what is missing.
                let all_new = usize::try_from(new) == Ok(changes.len());
                let gaps = if all_new { gaps } else { 0 };
                Ok::<_, DbError>(Booked { new, gaps })
            })
        })
        .await
    }

    /// How many changes of a show's places the books got since a moment, and how many of these do not begin with what the one
    /// before them left. A chain that begins anew, as after the loss of Redis, misses nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unexplained_changes(
        &self,
        show: ShowId,
        since: Timestamp,
    ) -> Result<(i64, i64), DbError> {
        Ok(sqlx::query_as(
            "SELECT COUNT(*), COUNT(CASE WHEN quantity_before <> last_after THEN 1 END) FROM \
             (SELECT quantity_before, LAG(quantity_after) OVER \
              (PARTITION BY zone_id, piece ORDER BY logged_at, seq) AS last_after \
              FROM zone_quantity_log WHERE show_id = ? AND logged_at >= ?) AS chain",
        )
        .bind(show.0)
        .bind(since.0)
        .fetch_one(self.pool())
        .await?)
    }

    /// The changes of a zone, or of one piece of it, oldest first, from a moment on.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn quantities_of(
        &self,
        show: ShowId,
        zone: ZoneId,
        piece: u16,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<QuantityChange>, DbError> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT zone_id, logged_at, seq, quantity_before, quantity_change, quantity_after, order_no, why \
             FROM zone_quantity_log WHERE show_id = ? AND zone_id = ? AND piece = ? AND logged_at >= ? \
             ORDER BY logged_at, seq LIMIT ?",
        )
        .bind(show.0)
        .bind(zone.0)
        .bind(piece)
        .bind(since.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter().map(QuantityChange::try_from).collect()
    }
}

/// How often a change does not begin with what the one before it left. A chain that begins anew is no gap.
async fn gaps(
    tx: &mut MySqlConnection,
    show: ShowId,
    piece: u16,
    changes: &[QuantityChange],
) -> Result<u64, DbError> {
    let mut left: BTreeMap<ZoneId, Option<i64>> = BTreeMap::new();
    let mut gaps = 0;
    for change in changes {
        let last = match left.get(&change.zone) {
            Some(last) => *last,
            None => left_before(tx, show, piece, change).await?,
        };
        if last.is_some() && change.before.is_some() && last != change.before {
            gaps += 1;
        }
        left.insert(change.zone, Some(change.after));
    }
    Ok(gaps)
}

async fn left_before(
    tx: &mut MySqlConnection,
    show: ShowId,
    piece: u16,
    change: &QuantityChange,
) -> Result<Option<i64>, DbError> {
    Ok(sqlx::query_scalar(
        "SELECT quantity_after FROM zone_quantity_log WHERE show_id = ? AND zone_id = ? AND piece = ? \
         AND (logged_at < ? OR (logged_at = ? AND seq < ?)) ORDER BY logged_at DESC, seq DESC LIMIT 1",
    )
    .bind(show.0)
    .bind(change.zone.0)
    .bind(piece)
    .bind(change.at.ms)
    .bind(change.at.ms)
    .bind(change.at.seq)
    .fetch_optional(tx)
    .await?)
}

async fn insert(
    tx: &mut MySqlConnection,
    show: ShowId,
    piece: u16,
    changes: &[QuantityChange],
) -> Result<u64, DbError> {
    let mut written = 0;
    for part in parts(changes) {
        let mut insert = QueryBuilder::<MySql>::new(
            "INSERT IGNORE INTO zone_quantity_log (show_id, zone_id, piece, logged_at, seq, quantity_before, \
             quantity_change, quantity_after, order_no, why) ",
        );
        insert.push_values(part, |mut row, change| {
            row.push_bind(show.0)
                .push_bind(change.zone.0)
                .push_bind(piece)
                .push_bind(change.at.ms)
                .push_bind(change.at.seq)
                .push_bind(change.before)
                .push_bind(change.change)
                .push_bind(change.after)
                .push_bind(change.order_no.map(OrderNo::as_i64))
                .push_bind(change.why.chars().take(16).collect::<String>());
        });
        let done = insert.build().execute(&mut *tx).await?;
        written += done.rows_affected();
    }
    Ok(written)
}
