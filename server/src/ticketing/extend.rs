//! Giving a pending order more time. The row alone is changed, because the row alone decides when an order is over.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    kafka::messages::Timeout,
};
use app::domain::{
    ids::OrderNo,
    time::{Millis, Timestamp},
};
use std::time::Duration;

/// The most by which staff can move an order's deadline at once.
pub const EXTENSION_MAX: Millis = Millis::minutes(60);
/// The longest an order can await payment, however often its deadline is moved.
pub const AWAIT_PAYMENT_MAX: Millis = Millis::minutes(24 * 60);

/// How long a message may take to be acknowledged before nobody waits for it any more.
const ACK_PATIENCE: Duration = Duration::from_secs(2);

/// Why a deadline was not moved.
#[derive(Debug, thiserror::Error)]
pub enum ExtendRefusal {
    /// The order's deadline can't be moved by so much.
    #[error("a deadline is moved by 1 to {most} minutes at once", most = EXTENSION_MAX.0 / 60_000)]
    Length,
    /// The order does not await payment any more, or would wait for too long.
    #[error(
        "order {0} does not await payment, or would await it for more than {hours} hours",
        hours = AWAIT_PAYMENT_MAX.0 / 3_600_000
    )]
    NotExtendable(OrderNo),
    /// The database failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Ticketing {
    /// Gives a pending order more time. The new deadline.
    ///
    /// The order's first message comes too early now and is armed again; the new one is for an order whose first message
    /// was lost.
    ///
    /// # Errors
    /// [`ExtendRefusal::Length`], [`ExtendRefusal::NotExtendable`], or a failure of the database.
    pub async fn extend_order(
        &self,
        order_no: OrderNo,
        by: Millis,
    ) -> Result<Timestamp, ExtendRefusal> {
        if !(Millis::minutes(1)..=EXTENSION_MAX).contains(&by) {
            return Err(ExtendRefusal::Length);
        }
        let db = &self.inner.db;
        let moved = db
            .extend_deadline(order_no, by, AWAIT_PAYMENT_MAX, self.now())
            .await;
        let moved = moved.map_err(Failure::from)?;
        let (show_id, due_at) = moved.ok_or(ExtendRefusal::NotExtendable(order_no))?;
        tracing::info!(%order_no, minutes = by.0 / 60_000, "deadline moved");
        fault::point(Point::ExtendAfterRow);
        let timeout = Timeout {
            order_no,
            show_id,
            due_at,
        };
        self.wake_at(&timeout).await;
        Ok(due_at)
    }

    /// Sends a timeout message and waits a moment until Kafka has it: a command ends after this, and what it still had to
    /// send would end with it. Without the message the sweeper finds the order.
    async fn wake_at(&self, timeout: &Timeout) {
        let order_no = timeout.order_no;
        let sent = match self.inner.producer.send(timeout, None) {
            Ok(delivery) => delivery.within(ACK_PATIENCE).await,
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            tracing::warn!(%order_no, %error, "perhaps no timeout message, the sweeper will find the order");
        }
    }
}
