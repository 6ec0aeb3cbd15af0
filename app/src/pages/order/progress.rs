//! How far an order has come: what its page needs to know in the browser.

use crate::domain::{
    ids::OrderNo,
    money::Money,
    order::{CancelReason, OrderStatus, OrderView, PaymentAttempt, RefundProgress},
    refund::RefundView,
    time::{Timestamp, VenueTime},
};
use serde::{Deserialize, Serialize};

/// The part of an [`OrderView`] by which its page counts down, asks again and offers to pay. The browser reads it out of the
/// same answer, and leaves the rest to the server, which writes it as HTML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The order's number.
    pub order_no: OrderNo,
    /// Its state.
    pub status: OrderStatus,
    /// Why it ended, when it was cancelled.
    pub cancel_reason: Option<CancelReason>,
    /// What it costs.
    pub total: Money,
    /// When it was placed.
    pub placed: VenueTime,
    /// When its seats go back on sale unless it is paid.
    pub expires: VenueTime,
    /// The server's clock when this was read.
    pub now: Timestamp,
    /// The newest attempt to pay.
    pub payment: Option<PaymentAttempt>,
    /// Whether its show was withdrawn.
    pub withdrawn: bool,
    /// Its refunds.
    pub refunds: Vec<RefundStep>,
}

/// How far a refund has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundStep {
    /// How far.
    pub progress: RefundProgress,
}

impl Progress {
    /// How far an order has come.
    #[must_use]
    pub fn of(order: &OrderView) -> Self {
        let step = |refund: &RefundView| RefundStep {
            progress: refund.progress,
        };
        Self {
            order_no: order.order_no,
            status: order.status,
            cancel_reason: order.cancel_reason,
            total: order.total,
            placed: order.placed.clone(),
            expires: order.expires.clone(),
            now: order.now,
            payment: order.payment.clone(),
            withdrawn: order.withdrawn,
            refunds: order.refunds.iter().map(step).collect(),
        }
    }

    /// Whether another answer says the same, whenever it was given.
    #[must_use]
    pub fn is_as_far_as(&self, other: &Self) -> bool {
        let now = self.now;
        *self
            == Self {
                now,
                ..other.clone()
            }
    }

    /// Whether tickets are on their way back.
    #[must_use]
    pub fn is_refund_under_way(&self) -> bool {
        let is_open = |refund: &RefundStep| refund.progress != RefundProgress::Succeeded;
        self.refunds.iter().any(is_open)
    }
}
