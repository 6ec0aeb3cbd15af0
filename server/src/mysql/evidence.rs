//! The invariants of the sale, counted in the database.

use super::{Db, DbError, money::MoneyCounts};
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
    /// Postings whose accounts do not add up to zero.
    pub unbalanced_postings: i64,
    /// Orders and shows whose money is not what their tickets are worth.
    pub money: MoneyCounts,
    /// Discrepancies that are not put right.
    pub open_discrepancies: i64,
    /// Outbox rows that failed too often.
    pub dead_letters: i64,
}

/// Places of all standing zones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StockCounts {
    /// Places that orders have.
    pub places: i64,
    /// Places that stocks, pieces of orders and tickets have in different numbers.
    pub disagreeing: i64,
    /// Places that orders have beyond their zone's capacity.
    pub over_capacity: i64,
}

/// Work that a row says is still to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Orders that wait for their payment or their deadline.
    pub pending_orders: i64,
    /// Payments that are neither paid nor over.
    pub open_payments: i64,
    /// Refunds whose money is not back.
    pub refunds: i64,
    /// Rows of the outbox that are not dead letters.
    pub outbox_rows: i64,
}

impl Db {
    /// Counts everything the invariants need.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn counts(&self, overdue_before: Timestamp) -> Result<DatabaseCounts, DbError> {
        const LIVE: &str = "(0, 1, 4)";
        // Joins a ticket's refund if its money is back.
        const GIVEN_BACK: &str = "LEFT JOIN refund_item ri ON ri.order_no = i.order_no AND ri.item_no = i.item_no \
             LEFT JOIN refund r ON r.id = ri.refund_id AND r.status = 3";
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
                "SELECT COUNT(*) FROM (SELECT 1 FROM order_item i JOIN orders o ON o.order_no = i.order_no {GIVEN_BACK} \
                 WHERE o.status IN {LIVE} AND i.seat IS NOT NULL AND r.id IS NULL \
                 GROUP BY i.show_id, i.seat HAVING COUNT(*) > 1) d"
            ))
            .await?,
            unclaimed_items: count(format!(
                "SELECT COUNT(*) FROM order_item i JOIN orders o ON o.order_no = i.order_no \
                 LEFT JOIN seat_claim c ON c.show_id = i.show_id AND c.seat = i.seat AND c.order_no = i.order_no \
                 {GIVEN_BACK} WHERE o.status IN {LIVE} AND i.seat IS NOT NULL AND c.order_no IS NULL AND r.id IS NULL"
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
            postings: count("SELECT COUNT(*) FROM ledger_posting".to_owned()).await?,
            unbalanced_postings: count(
                "SELECT COUNT(*) FROM ledger_posting \
                 WHERE gateway + sales + fees + owed_to_customers + discrepancy <> 0"
                    .to_owned(),
            )
            .await?,
            money: self.money_counts().await?,
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

    /// Counts the places of all standing zones: as their stocks have them, as the pieces of orders add up, and as tickets do
    /// (those of live orders, and those whose money went back after the show had begun: their places stay taken).
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stock_counts(&self) -> Result<StockCounts, DbError> {
        // One statement reads one moment, and whatever changes a count changes all three in one transaction.
        let (places, disagreeing, over_capacity) = sqlx::query_as(
            "SELECT CAST(COALESCE(SUM(z.taken), 0) AS SIGNED), \
             CAST(COALESCE(SUM(ABS(z.taken - z.by_piece) + ABS(z.by_piece - z.tickets)), 0) AS SIGNED), \
             CAST(COALESCE(SUM(GREATEST(z.taken - z.capacity, 0)), 0) AS SIGNED) FROM \
             (SELECT CAST(s.taken AS SIGNED) AS taken, CAST(s.capacity AS SIGNED) AS capacity, \
              CAST(COALESCE(p.quantity, 0) AS SIGNED) AS by_piece, COALESCE(t.tickets, 0) AS tickets \
              FROM standing_stock s \
              LEFT JOIN (SELECT zone_id, SUM(quantity) AS quantity FROM order_piece GROUP BY zone_id) p \
               ON p.zone_id = s.zone_id \
              LEFT JOIN (SELECT i.zone_id, COUNT(*) AS tickets FROM orders o \
               JOIN order_item i ON i.order_no = o.order_no JOIN shows w ON w.id = o.show_id \
               LEFT JOIN refund_item ri ON ri.order_no = i.order_no AND ri.item_no = i.item_no \
               LEFT JOIN refund r ON r.id = ri.refund_id AND r.status = 3 \
               WHERE o.status IN (0, 1, 3, 4) AND i.seat IS NULL AND (r.id IS NULL OR r.succeeded_at >= w.starts_at) \
               GROUP BY i.zone_id) t ON t.zone_id = s.zone_id) z",
        )
        .fetch_one(self.pool())
        .await?;
        Ok(StockCounts {
            places,
            disagreeing,
            over_capacity,
        })
    }

    /// Counts what is not finished.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unfinished(&self) -> Result<Unfinished, DbError> {
        let (pending_orders, open_payments, refunds, outbox_rows) = sqlx::query_as(
            "SELECT (SELECT COUNT(*) FROM orders WHERE status = 0), \
             (SELECT COUNT(*) FROM payment WHERE status IN (1, 2)), \
             (SELECT COUNT(*) FROM refund WHERE status <> 3), \
             (SELECT COUNT(*) FROM outbox WHERE dead_at IS NULL)",
        )
        .fetch_one(self.pool())
        .await?;
        Ok(Unfinished {
            pending_orders,
            open_payments,
            refunds,
            outbox_rows,
        })
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
