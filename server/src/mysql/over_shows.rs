//! Shows that are over, and those that are not: which of them need a place in Redis.

use super::{Db, DbError};
use app::domain::{ids::ShowId, time::Timestamp};
use sqlx::{MySql, QueryBuilder};

/// Shows that are asked about at once.
const PART: usize = 500;

/// A show that is over, and what the database has still to do for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverShow {
    /// The show.
    pub show: ShowId,
    /// Its orders that wait for their payment or their deadline.
    pub pending_orders: i64,
    /// Rows of the outbox that are about its orders, dead letters included: what Redis has may be what a person looks at.
    pub outbox_rows: i64,
}

impl Db {
    /// Those of some shows that are over: they began, and their sale ended, before a moment; or they are withdrawn, and
    /// nothing was left to do for their orders since before that moment.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn over_shows(
        &self,
        among: &[ShowId],
        before: Timestamp,
    ) -> Result<Vec<OverShow>, DbError> {
        let mut over = Vec::new();
        for part in among.chunks(PART) {
            let mut query = QueryBuilder::<MySql>::new(
                "SELECT s.id, (SELECT COUNT(*) FROM orders o WHERE o.show_id = s.id AND o.status = 0), \
                 COALESCE(b.waiting, 0) FROM shows s LEFT JOIN show_withdrawal w ON w.show_id = s.id \
                 LEFT JOIN (SELECT o.show_id, COUNT(*) AS waiting FROM outbox x \
                 JOIN orders o ON o.order_no = x.order_no GROUP BY o.show_id) b ON b.show_id = s.id \
                 WHERE ((s.status <> 3 AND s.starts_at <= ",
            );
            query.push_bind(before.0).push(" AND s.sale_end <= ");
            query.push_bind(before.0);
            query.push(") OR (s.status = 3 AND w.finished_at <= ");
            query.push_bind(before.0).push(")) AND s.id IN (");
            let mut list = query.separated(", ");
            for show in part {
                list.push_bind(show.0);
            }
            query.push(") ORDER BY s.id");
            let rows: Vec<(u64, i64, i64)> = query
                .build_query_as()
                .persistent(false)
                .fetch_all(self.pool())
                .await?;
            over.extend(
                rows.into_iter()
                    .map(|(id, pending_orders, outbox_rows)| OverShow {
                        show: ShowId(id),
                        pending_orders,
                        outbox_rows,
                    }),
            );
        }
        Ok(over)
    }

    /// Shows that were in Redis at least once and were not over at a moment (as [`Db::over_shows`] says it): Redis may have
    /// them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn shows_once_loaded(&self, before: Timestamp) -> Result<Vec<ShowId>, DbError> {
        let shows: Vec<u64> = sqlx::query_scalar(
            "SELECT s.id FROM shows s LEFT JOIN show_withdrawal w ON w.show_id = s.id \
             WHERE s.redis_epoch > 0 AND ((s.status <> 3 AND (s.starts_at > ? OR s.sale_end > ?)) \
             OR (s.status = 3 AND (w.finished_at IS NULL OR w.finished_at > ?))) ORDER BY s.id",
        )
        .bind(before.0)
        .bind(before.0)
        .bind(before.0)
        .fetch_all(self.pool())
        .await?;
        Ok(shows.into_iter().map(ShowId).collect())
    }

    /// Shows with claims that are not over (as [`Db::over_shows`] says it): Redis must have them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claimed_shows(&self, before: Timestamp) -> Result<Vec<ShowId>, DbError> {
        // A withdrawn show loses its claims with its orders, so one that has some is not over.
        let shows: Vec<u64> = sqlx::query_scalar(
            "SELECT s.id FROM shows s WHERE (s.status = 3 OR s.starts_at > ? OR s.sale_end > ?) \
             AND EXISTS (SELECT 1 FROM seat_claim c WHERE c.show_id = s.id) ORDER BY s.id",
        )
        .bind(before.0)
        .bind(before.0)
        .fetch_all(self.pool())
        .await?;
        Ok(shows.into_iter().map(ShowId).collect())
    }
}
