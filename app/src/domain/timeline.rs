//! What happened to an order, in the order in which it happened.

use super::{
    money::Money, order::CancelReason, refund::RefundReason, tagged::HappeningFields,
    time::VenueTime,
};
use serde::{Deserialize, Serialize};

/// Something that happened, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEntry {
    /// When.
    pub at: VenueTime,
    /// What.
    pub what: Happening,
}

/// Something that happened to an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", try_from = "HappeningFields")]
pub enum Happening {
    /// Its seats were held.
    Placed,
    /// An attempt to pay was begun.
    PaymentStarted {
        /// 1 for the first.
        attempt: u32,
    },
    /// An attempt to pay was declined.
    PaymentFailed {
        /// 1 for the first.
        attempt: u32,
    },
    /// An attempt to pay ended before it was paid.
    PaymentClosed {
        /// 1 for the first.
        attempt: u32,
    },
    /// It was paid.
    Paid {
        /// With how much.
        amount: Money,
    },
    /// Money arrived that the order could not have: it was over, or paid before.
    UnwantedMoney {
        /// How much.
        amount: Money,
        /// Which of the two.
        reason: RefundReason,
    },
    /// It ended without payment.
    Cancelled {
        /// Why.
        reason: CancelReason,
    },
    /// It never became an order.
    Discarded,
    /// A refund was requested.
    RefundRequested {
        /// What is to go back.
        amount: Money,
        /// What is kept.
        fee: Money,
        /// For how many tickets; 0 for money that nobody asked for.
        tickets: u32,
        /// Why.
        reason: RefundReason,
    },
    /// The gateway accepted a refund.
    RefundSent {
        /// What is to go back.
        amount: Money,
    },
    /// The gateway did not carry a refund out, and it is tried again. Only the last time is told.
    RefundRefused {
        /// What is to go back.
        amount: Money,
    },
    /// The money of a refund is back.
    RefundSucceeded {
        /// What went back.
        amount: Money,
    },
    /// The money of all tickets was given back: the order is over.
    Refunded,
}
