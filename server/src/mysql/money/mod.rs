//! Payments, notices about them, refunds and the ledger.

mod ledger;
mod notices;
mod payments;
mod refunds;

pub use notices::{NoticeResult, PaymentNotice, Recorded};
pub use payments::{PaymentRecord, PaymentStart};
pub use refunds::RefundRecord;

pub(super) use payments::close_payments;
pub(super) use refunds::give_back_if_unowned;
