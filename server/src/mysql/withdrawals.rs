//! Withdrawn shows: which are still being worked on, which of their orders are left, and how far the work has come.

use super::{Db, DbError};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::CancelReason,
    refund::RefundReason,
    time::Timestamp,
};

/// How far the withdrawal of a show has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Withdrawal {
    /// Orders that it concerns.
    pub found: u32,
    /// Orders that it cancelled.
    pub cancelled: u32,
    /// Paid orders whose money was asked back from the gateway.
    pub refunds_requested: u32,
    /// Paid orders whose money is back.
    pub refunded: u32,
    /// When it began.
    pub requested_at: Timestamp,
    /// When Redis was told; none while it was not.
    pub closed_in_redis_at: Option<Timestamp>,
    /// When nothing was left to do.
    pub finished_at: Option<Timestamp>,
}

#[derive(sqlx::FromRow)]
struct Row {
    orders_found: u32,
    cancelled: u32,
    refunds_requested: u32,
    refunded: u32,
    requested_at: i64,
    closed_in_redis_at: Option<i64>,
    finished_at: Option<i64>,
}

/// What beginning a withdrawal found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// There is no such show.
    NoShow,
    /// This call withdrew the show.
    Now,
    /// It was withdrawn before; the work goes on.
    Before,
}

impl Db {
    /// Withdraws a show and notes that its orders must be ended: one transaction.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn begin_withdrawal(&self, show: ShowId, now: Timestamp) -> Result<Begun, DbError> {
        self.transact((show, now), |&(show, now), tx| {
            Box::pin(async move {
                let status: Option<u8> =
                    sqlx::query_scalar("SELECT status FROM shows WHERE id = ? FOR UPDATE")
                        .bind(show.0)
                        .fetch_optional(&mut *tx)
                        .await
                        .map_err(DbError::from)?;
                if status.is_none() {
                    return Ok(Begun::NoShow);
                }
                let withdrawn = sqlx::query(
                    "UPDATE shows SET status = 3, terms_version = terms_version + 1, terms_changed_at = ? \
                     WHERE id = ? AND status <> 3",
                )
                .bind(now.0)
                .bind(show.0)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?
                .rows_affected();
                sqlx::query(
                    "INSERT INTO show_withdrawal (show_id, requested_at) VALUES (?, ?) \
                     ON DUPLICATE KEY UPDATE show_id = show_id",
                )
                .bind(show.0)
                .bind(now.0)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                Ok::<_, DbError>(if withdrawn == 1 { Begun::Now } else { Begun::Before })
            })
        })
        .await
    }

    /// How far the withdrawal of a show has come; none when it was not withdrawn.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn withdrawal(&self, show: ShowId) -> Result<Option<Withdrawal>, DbError> {
        let row: Option<Row> = sqlx::query_as(
            "SELECT orders_found, cancelled, refunds_requested, refunded, requested_at, closed_in_redis_at, \
             finished_at FROM show_withdrawal WHERE show_id = ?",
        )
        .bind(show.0)
        .fetch_optional(self.pool())
        .await?;
        Ok(row.map(|row| Withdrawal {
            found: row.orders_found,
            cancelled: row.cancelled,
            refunds_requested: row.refunds_requested,
            refunded: row.refunded,
            requested_at: Timestamp(row.requested_at),
            closed_in_redis_at: row.closed_in_redis_at.map(Timestamp),
            finished_at: row.finished_at.map(Timestamp),
        }))
    }

    /// Withdrawn shows that something is left to do for. One that was finished comes back when it has a live order after
    /// all, for example one whose message was read again from a backup.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_withdrawals(&self, most: u32) -> Result<Vec<ShowId>, DbError> {
        let shows: Vec<u64> = sqlx::query_scalar(
            "SELECT w.show_id FROM show_withdrawal w WHERE w.finished_at IS NULL OR EXISTS \
             (SELECT 1 FROM orders o WHERE o.show_id = w.show_id AND o.status IN (0, 1, 4)) \
             ORDER BY w.requested_at LIMIT ?",
        )
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        Ok(shows.into_iter().map(ShowId).collect())
    }

    /// A page of a show's pending orders with numbers above `after`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pending_of_show(
        &self,
        show: ShowId,
        after: Option<OrderNo>,
        most: u32,
    ) -> Result<Vec<OrderNo>, DbError> {
        let numbers: Vec<i64> = sqlx::query_scalar(
            "SELECT order_no FROM orders WHERE show_id = ? AND status = 0 AND order_no > ? \
             ORDER BY order_no LIMIT ?",
        )
        .bind(show.0)
        .bind(after.map_or(0, OrderNo::as_i64))
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        order_numbers(numbers)
    }

    /// A page of a show's paid orders with numbers above `after` that have a ticket whose money was not asked back.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unrefunded_of_show(
        &self,
        show: ShowId,
        after: Option<OrderNo>,
        most: u32,
    ) -> Result<Vec<OrderNo>, DbError> {
        let numbers: Vec<i64> = sqlx::query_scalar(
            "SELECT o.order_no FROM orders o WHERE o.show_id = ? AND o.status IN (1, 4) AND o.order_no > ? \
             AND EXISTS (SELECT 1 FROM order_item i LEFT JOIN refund_item r ON r.order_no = i.order_no \
             AND r.item_no = i.item_no WHERE i.order_no = o.order_no AND r.order_no IS NULL) \
             ORDER BY o.order_no LIMIT ?",
        )
        .bind(show.0)
        .bind(after.map_or(0, OrderNo::as_i64))
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        order_numbers(numbers)
    }

    /// Notes that Redis refuses buyers of the show from now on.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn note_closed_in_redis(&self, show: ShowId, now: Timestamp) -> Result<(), DbError> {
        sqlx::query(
            "UPDATE show_withdrawal SET closed_in_redis_at = ? WHERE show_id = ? AND closed_in_redis_at IS NULL",
        )
        .bind(now.0)
        .bind(show.0)
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// Counts how far the withdrawal has come and writes it down. The number of orders that are still live.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_withdrawal(&self, show: ShowId) -> Result<u32, DbError> {
        let (cancelled, live): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(CASE WHEN status = 2 AND cancel_reason = ? THEN 1 END), \
             COUNT(CASE WHEN status IN (0, 1, 4) THEN 1 END) FROM orders WHERE show_id = ?",
        )
        .bind(CancelReason::ShowWithdrawn.word())
        .bind(show.0)
        .fetch_one(self.pool())
        .await?;
        let (requested, refunded): (i64, i64) = sqlx::query_as(
            "SELECT COUNT(DISTINCT r.order_no), COUNT(DISTINCT CASE WHEN o.status = 3 THEN r.order_no END) \
             FROM orders o JOIN refund r ON r.order_no = o.order_no AND r.reason = ? WHERE o.show_id = ?",
        )
        .bind(RefundReason::ShowWithdrawn.word())
        .bind(show.0)
        .fetch_one(self.pool())
        .await?;
        sqlx::query(
            "UPDATE show_withdrawal SET orders_found = ?, cancelled = ?, refunds_requested = ?, refunded = ? \
             WHERE show_id = ?",
        )
        .bind(cancelled + live + refunded)
        .bind(cancelled)
        .bind(requested)
        .bind(refunded)
        .bind(show.0)
        .execute(self.pool())
        .await?;
        Ok(u32::try_from(live).unwrap_or(u32::MAX))
    }

    /// Notes that nothing is left to do.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn finish_withdrawal(&self, show: ShowId, now: Timestamp) -> Result<(), DbError> {
        sqlx::query(
            "UPDATE show_withdrawal SET finished_at = ? WHERE show_id = ? AND finished_at IS NULL",
        )
        .bind(now.0)
        .bind(show.0)
        .execute(self.pool())
        .await?;
        Ok(())
    }
}

fn order_numbers(numbers: Vec<i64>) -> Result<Vec<OrderNo>, DbError> {
    numbers
        .into_iter()
        .map(|number| OrderNo::try_from(number).map_err(|_| DbError::Unreadable { what: "orders" }))
        .collect()
}
