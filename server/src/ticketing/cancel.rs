//! Cancelling: the one way by which an unpaid order ends, whoever asks.

use super::{Failure, Ticketing, failure::OrTell};
use crate::{
    fault::{self, Point},
    mysql::outbox::OutboxKind,
};
use app::{
    domain::{
        ids::OrderNo,
        order::{CancelReason, OrderStatus},
        user::User,
    },
    error::{AppError, Thing},
};

/// Why staff could not end an order.
#[derive(Debug, thiserror::Error)]
pub enum CancelRefusal {
    /// There is no such order, or it is still on its way.
    #[error("there is no order {0}")]
    NoOrder(OrderNo),
    /// It is paid, or it ended already.
    #[error("order {order_no} is {status:?}: only an order that awaits payment can be cancelled")]
    State {
        /// The order.
        order_no: OrderNo,
        /// What it is.
        status: OrderStatus,
    },
    /// A store failed; nothing is decided then.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl Ticketing {
    /// A customer gives up an order of their own.
    ///
    /// # Errors
    /// `NotFound` when it is not theirs, `OrderState` when it is paid or on its way; giving up a cancelled order is no error.
    pub async fn cancel_own(&self, user: &User, order_no: OrderNo) -> Result<(), AppError> {
        let order = self
            .inner
            .db
            .order(order_no)
            .await
            .or_tell("cancel order")?;
        let Some(order) = order.filter(|order| order.user_id == user.id) else {
            let creating = self.creating_order(user, order_no).await?.is_some();
            return Err(if creating {
                AppError::OrderState
            } else {
                AppError::NotFound { what: Thing::Order }
            });
        };
        if self
            .end_order(order_no, CancelReason::User)
            .await
            .or_tell("cancel order")?
        {
            fault::point(Point::CancelBeforeAnswer);
            return Ok(());
        }
        let now = self
            .inner
            .db
            .order(order.order_no)
            .await
            .or_tell("cancel order")?;
        match now.map(|order| order.status) {
            Some(OrderStatus::Cancelled) => Ok(()),
            _ => Err(AppError::OrderState),
        }
    }

    /// Staff end an order that awaits payment.
    ///
    /// # Errors
    /// [`CancelRefusal`]; nothing has changed then.
    pub async fn cancel_by_staff(&self, order_no: OrderNo) -> Result<(), CancelRefusal> {
        if self.end_order(order_no, CancelReason::Staff).await? {
            return Ok(());
        }
        let order = self.inner.db.order(order_no).await.map_err(Failure::from)?;
        let status = order.ok_or(CancelRefusal::NoOrder(order_no))?.status;
        Err(CancelRefusal::State { order_no, status })
    }

    /// Ends a pending order: the gateway is asked whether it was paid this moment, one transaction decides, then seats and
    /// gateway follow, now or from the outbox. A gateway that does not answer is left to the outbox: seats must not wait for
    /// it. True when this call ended it.
    ///
    /// # Errors
    /// When the database fails; nothing is decided then.
    pub async fn end_order(
        &self,
        order_no: OrderNo,
        reason: CancelReason,
    ) -> Result<bool, Failure> {
        let answers = self.ask_before_closing(order_no).await;
        fault::point(Point::CancelBeforeCommit);
        let Some(mut follow_up) = self
            .inner
            .db
            .cancel_order(order_no, reason, self.now())
            .await?
        else {
            return Ok(false);
        };
        fault::point(Point::CancelAfterCommit);
        metrics::counter!("seatflow_orders_cancelled_total", "reason" => reason.word())
            .increment(1);
        tracing::info!(%order_no, reason = reason.word(), "order cancelled");
        if !answers {
            follow_up.retain(|row| row.kind != OutboxKind::PaymentClose);
        }
        self.settle_now(follow_up).await;
        Ok(true)
    }
}
