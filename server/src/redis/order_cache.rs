//! Orders on their way to the database, so that their buyers, who ask again and again, do not reach it meanwhile.

use super::{Redis, RedisError};
use ::redis::{cmd, pipe};
use app::domain::{ids::OrderNo, time::Millis};

/// How long an order is kept that nobody writes.
pub const ORDER_CACHE_TTL: Millis = Millis::minutes(60);

impl Redis {
    /// Keeps an accepted order, as JSON, until it has its row.
    ///
    /// # Errors
    /// As any command.
    pub async fn cache_order(&self, order_no: OrderNo, json: &str) -> Result<(), RedisError> {
        let mut set = cmd("SET");
        set.arg(self.keys().order(order_no)).arg(json);
        set.arg("PX").arg(ORDER_CACHE_TTL.0);
        self.query(&set).await
    }

    /// An order as it was given to [`Redis::cache_order`].
    ///
    /// # Errors
    /// As any command.
    pub async fn cached_order(&self, order_no: OrderNo) -> Result<Option<String>, RedisError> {
        self.query(cmd("GET").arg(self.keys().order(order_no)))
            .await
    }

    /// Drops an order, so that whoever asks reads its row.
    ///
    /// # Errors
    /// As any command.
    pub async fn forget_order(&self, order_no: OrderNo) -> Result<(), RedisError> {
        self.forget_orders(&[order_no]).await
    }

    /// Drops several orders at once, as [`Redis::forget_order`] does.
    ///
    /// # Errors
    /// As any command; some may be dropped then.
    pub async fn forget_orders(&self, orders: &[OrderNo]) -> Result<(), RedisError> {
        if orders.is_empty() {
            return Ok(());
        }
        let mut drops = pipe();
        for order_no in orders {
            drops.del(self.keys().order(*order_no)).ignore();
        }
        self.query_all(&drops).await
    }
}
