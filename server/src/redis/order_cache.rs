//! Orders as their buyers last saw them, so that polling does not reach the database.

use super::{Redis, RedisError, scripts::CacheReply};
use app::domain::{ids::OrderNo, order::OrderStatus, time::Millis};

/// How long a view is kept after it was last written.
pub const ORDER_CACHE_TTL: Millis = Millis::minutes(60);

impl Redis {
    /// Keeps an order's view. One of an earlier stage than the view that is there is dropped, so that a reader that
    /// fills the cache late can't undo what a writer put there meanwhile.
    ///
    /// # Errors
    /// As any command.
    pub async fn cache_order(
        &self,
        order_no: OrderNo,
        status: OrderStatus,
        json: &str,
    ) -> Result<CacheReply, RedisError> {
        self.keep_view(order_no, status, json, ORDER_CACHE_TTL)
            .await
    }

    /// An order's view as it was given to [`Redis::cache_order`].
    ///
    /// # Errors
    /// As any command.
    pub async fn cached_order(&self, order_no: OrderNo) -> Result<Option<String>, RedisError> {
        let kept: Option<String> = self
            .query(::redis::cmd("GET").arg(self.keys().order(order_no)))
            .await?;
        // The first character is the stage.
        Ok(kept.and_then(|kept| kept.get(1..).map(str::to_owned)))
    }

    /// Drops an order's view, so that the next reader asks the database.
    ///
    /// # Errors
    /// As any command.
    pub async fn forget_order(&self, order_no: OrderNo) -> Result<(), RedisError> {
        self.query(::redis::cmd("DEL").arg(self.keys().order(order_no)))
            .await
    }
}
