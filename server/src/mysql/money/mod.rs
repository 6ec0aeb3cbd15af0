//! Payments, notices about them, refunds and the ledger.

mod callbacks;
mod discrepancies;
mod history;
mod late_asks;
mod late_money;
mod ledger;
mod notices;
mod payments;
mod proof;
mod refund_ends;
mod refund_notices;
mod refund_number;
mod refund_requests;
mod refundable;
mod refunds;

pub use discrepancies::{Discrepancy, EndRefusal};
pub use history::PaymentHistory;
pub use late_asks::EndedPayment;
pub use notices::{NoticeResult, PaymentNotice, Recorded};
pub use payments::{PaymentRecord, PaymentStart};
pub use proof::{MoneyCounts, MoneyOfCurrency};
pub use refund_notices::{RecordedRefund, RefundNotice};
pub use refund_requests::{NewRefund, RefundAsker, RefundRefusal, RefundRequested};
pub use refunds::{RefundFault, RefundRecord};

pub(super) use late_money::give_back_if_unowned;
pub(super) use payments::close_payments;
