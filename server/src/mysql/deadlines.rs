//! Deadlines of orders that await payment, when staff move them.

use super::{Db, DbError};
use app::domain::{
    ids::{OrderNo, ShowId},
    time::{Millis, Timestamp},
};

impl Db {
    /// Moves a pending order's deadline, if it has not passed and the new one is not too far from the order's beginning. The
    /// new deadline; none when nothing was moved.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn extend_deadline(
        &self,
        order_no: OrderNo,
        by: Millis,
        total_max: Millis,
        now: Timestamp,
    ) -> Result<Option<(ShowId, Timestamp)>, DbError> {
        self.transact(
            (order_no, by, total_max, now),
            |&(order_no, by, total_max, now), tx| {
                Box::pin(async move {
                    let moved = sqlx::query(
                        "UPDATE orders SET expire_at = expire_at + ? WHERE order_no = ? AND status = 0 \
                         AND expire_at > ? AND expire_at + ? <= placed_at + ?",
                    )
                    .bind(by.0)
                    .bind(order_no.as_i64())
                    .bind(now.0)
                    .bind(by.0)
                    .bind(total_max.0)
                    .execute(&mut *tx)
                    .await
                    .map_err(DbError::from)?
                    .rows_affected();
                    if moved == 0 {
                        return Ok(None);
                    }
                    let (show, at): (u64, i64) =
                        sqlx::query_as("SELECT show_id, expire_at FROM orders WHERE order_no = ?")
                            .bind(order_no.as_i64())
                            .fetch_one(&mut *tx)
                            .await
                            .map_err(DbError::from)?;
                    Ok::<_, DbError>(Some((ShowId(show), Timestamp(at))))
                })
            },
        )
        .await
    }
}
