//! What is still under way: work that somebody has accepted and nobody has finished. When all of it is zero, nothing changes
//! any more unless somebody asks for something.

use super::{Failure, Ticketing};
use serde::Serialize;

/// A kind of unfinished work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnderWay {
    /// Names it.
    pub name: &'static str,
    /// How much of it there is.
    pub count: i64,
}

impl Ticketing {
    /// Counts unfinished work in both stores.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn under_way(&self) -> Result<Vec<UnderWay>, Failure> {
        let mut held = 0;
        for show in self.inner.redis.loaded_shows().await? {
            held += self.inner.redis.orders_under_way(show).await?;
        }
        let rows = self.inner.db.unfinished().await?;
        let of = |name, count| UnderWay { name, count };
        Ok(vec![
            of(
                "orders that hold something or are not sent",
                i64::try_from(held).unwrap_or(i64::MAX),
            ),
            of("pending orders", rows.pending_orders),
            of("open payments", rows.open_payments),
            of("unfinished refunds", rows.refunds),
            of("outbox rows", rows.outbox_rows),
        ])
    }
}
