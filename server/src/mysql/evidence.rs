//! The invariants of the sale, counted in the database.

use super::{Db, DbError};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId},
    time::Timestamp,
};

/// Counts from which the invariants are judged.
#[derive(Debug, Clone, Default)]
pub struct DatabaseCounts {
    /// Orders of every state.
    pub orders: i64,
    /// Orders that own their seats.
    pub live_orders: i64,
    /// Claims.
    pub claims: i64,
    /// (show, seat) pairs with more than one claim.
    pub duplicate_claims: i64,
    /// (show, seat) pairs that are items of more than one live order.
    pub shared_seats: i64,
    /// Items of live orders without a claim of that order.
    pub unclaimed_items: i64,
    /// Claims of orders that are not live.
    pub dead_claims: i64,
    /// Pending orders whose deadline passed longer than the grace ago.
    pub overdue_orders: i64,
    /// Ledger postings.
    pub postings: i64,
    /// Postings whose entries do not add up to zero.
    pub unbalanced_postings: i64,
    /// Paid orders whose captured and not refunded money is not their amount.
    pub unpaid_paid_orders: i64,
    /// Discrepancies that are not put right.
    pub open_discrepancies: i64,
    /// Outbox rows that failed too often.
    pub dead_letters: i64,
}

impl Db {
    /// Counts everything the invariants need.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn counts(&self, overdue_before: Timestamp) -> Result<DatabaseCounts, DbError> {
        const LIVE: &str = "(0, 1, 4)";
        let count = |sql: String| async move {
            sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(sql))
                .fetch_one(self.pool())
                .await
        };
        Ok(DatabaseCounts {
            orders: count("SELECT COUNT(*) FROM orders".to_owned()).await?,
            live_orders: count(format!("SELECT COUNT(*) FROM orders WHERE status IN {LIVE}")).await?,
            claims: count("SELECT COUNT(*) FROM seat_claim".to_owned()).await?,
            duplicate_claims: count(
                "SELECT COUNT(*) FROM (SELECT 1 FROM seat_claim GROUP BY show_id, seat HAVING COUNT(*) > 1) d"
                    .to_owned(),
            )
            .await?,
            shared_seats: count(format!(
                "SELECT COUNT(*) FROM (SELECT 1 FROM order_item i JOIN orders o ON o.order_no = i.order_no \
                 WHERE o.status IN {LIVE} GROUP BY i.show_id, i.seat HAVING COUNT(*) > 1) d"
            ))
            .await?,
            unclaimed_items: count(format!(
                "SELECT COUNT(*) FROM order_item i JOIN orders o ON o.order_no = i.order_no \
                 LEFT JOIN seat_claim c ON c.show_id = i.show_id AND c.seat = i.seat AND c.order_no = i.order_no \
                 WHERE o.status IN {LIVE} AND c.order_no IS NULL"
            ))
            .await?,
            dead_claims: count(format!(
                "SELECT COUNT(*) FROM seat_claim c LEFT JOIN orders o ON o.order_no = c.order_no \
                 WHERE o.order_no IS NULL OR o.status NOT IN {LIVE}"
            ))
            .await?,
            overdue_orders: count(format!(
                "SELECT COUNT(*) FROM orders WHERE status = 0 AND expire_at < {}",
                overdue_before.0
            ))
            .await?,
            postings: count("SELECT COUNT(DISTINCT posting) FROM ledger_entry".to_owned()).await?,
            unbalanced_postings: count(
                "SELECT COUNT(*) FROM (SELECT 1 FROM ledger_entry GROUP BY posting, currency \
                 HAVING SUM(amount_minor) <> 0) d"
                    .to_owned(),
            )
            .await?,
            unpaid_paid_orders: count(
                "SELECT COUNT(*) FROM orders o WHERE o.status IN (1, 4) AND o.amount_minor <> COALESCE((SELECT \
                 -SUM(l.amount_minor) FROM ledger_entry l WHERE l.order_no = o.order_no AND l.account = 'sales'), 0)"
                    .to_owned(),
            )
            .await?,
            open_discrepancies: count(
                "SELECT COUNT(*) FROM discrepancy WHERE resolved_at IS NULL".to_owned(),
            )
            .await?,
            dead_letters: count(
                "SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL".to_owned(),
            )
            .await?,
        })
    }

    /// Shows that have claims, to be compared with Redis.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claimed_shows(&self) -> Result<Vec<ShowId>, DbError> {
        let shows: Vec<u64> = sqlx::query_scalar("SELECT DISTINCT show_id FROM seat_claim")
            .fetch_all(self.pool())
            .await?;
        Ok(shows.into_iter().map(ShowId).collect())
    }

    /// A show's claims.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claims(&self, show: ShowId) -> Result<Vec<(SeatIndex, OrderNo)>, DbError> {
        let rows: Vec<(u32, i64)> =
            sqlx::query_as("SELECT seat, order_no FROM seat_claim WHERE show_id = ? ORDER BY seat")
                .bind(show.0)
                .fetch_all(self.pool())
                .await?;
        rows.into_iter()
            .map(|(seat, order_no)| {
                let order_no = OrderNo::try_from(order_no)
                    .map_err(|_| DbError::Unreadable { what: "seat_claim" })?;
                Ok((SeatIndex(seat), order_no))
            })
            .collect()
    }
}
