//! Payment channels: the ways in which money reaches us. Each speaks its own protocol behind one trait.

mod channels;
pub mod simulated;
mod watched;

pub use channels::Channels;
pub use watched::Watched;

use crate::gateway::signature::SignatureError;
use app::domain::{
    money::Money,
    text::LocalText,
    time::{Millis, Timestamp},
};
use async_trait::async_trait;
use axum::http::HeaderMap;

/// What a channel is asked to collect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCharge {
    /// Our number of the payment; one an attempt, so that a second attempt is a real one.
    pub out_trade_no: String,
    /// How much.
    pub amount: Money,
    /// What for, as the customer reads it at the cashier.
    pub subject: LocalText,
    /// How long it can be paid: the order's remaining time, so that it can't outlive the order.
    pub expires_in: Millis,
    /// Where the channel's notices go.
    pub notify_url: String,
    /// Where the customer goes afterwards.
    pub return_url: String,
}

/// A charge that a channel has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The channel's number.
    pub third_trade_no: String,
    /// Where the customer pays.
    pub cashier_url: String,
}

/// Where a charge stands at the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChargeState {
    /// Waits for the customer.
    Open,
    /// The money was taken.
    Succeeded,
    /// It was not, and won't be.
    Failed,
    /// Ended before it was paid.
    Closed,
}

/// A charge as the channel sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeReport {
    /// The channel's number.
    pub third_trade_no: String,
    /// Where it stands.
    pub state: ChargeState,
    /// How much was asked for.
    pub amount: Money,
    /// How much of it was given back.
    pub refunded: Money,
    /// When the money was taken.
    pub paid_at: Option<Timestamp>,
}

/// What a channel is asked to give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefund {
    /// Our number of the refund; a repeat with the same number gives nothing back twice.
    pub refund_no: String,
    /// Our number of the payment.
    pub out_trade_no: String,
    /// How much: the whole or a part.
    pub amount: Money,
    /// Where the channel's notice goes.
    pub notify_url: String,
}

/// Where a refund stands at the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefundProgress {
    /// Accepted; a notice will tell the end.
    Processing,
    /// The money is back.
    Succeeded,
    /// It is not, and won't be under this number.
    Failed,
}

/// Why a channel did not answer as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The channel said no; nothing was changed there.
    #[error("the channel refused: {code:?}")]
    Refused {
        /// Why.
        code: RefusalCode,
    },
    /// No answer, or one that tells of a fault there: what was asked for may or may not have happened. Repeating it, or
    /// querying, finds out.
    #[error("the channel was not reached or did not finish")]
    Unreachable,
    /// It was not asked: it did not answer the last times, and is left alone for a moment.
    #[error("the channel does not answer and is left alone for a moment")]
    Resting,
    /// An answer that can't be read. What was asked for may have happened.
    #[error("the channel's answer can't be read")]
    Malformed,
}

/// Why a channel said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalCode {
    /// It does not accept our signature: a secret or a clock is wrong.
    Signature,
    /// It does not accept a field's value.
    Request,
    /// It does not know the payment or refund.
    Unknown,
    /// The number is taken by something else.
    ContentDiffers,
    /// The charge is in a state that does not allow it.
    State(ChargeState),
    /// More would be given back than was paid.
    RefundTooLarge,
    /// It does not give the money back for now; the same request may succeed later.
    RefundRefused,
    /// A reason that we don't know.
    Other,
}

/// What a notice is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeSubject {
    /// The payment itself.
    Payment,
    /// A refund of it.
    Refund {
        /// Our number of the refund.
        refund_no: String,
    },
}

/// What a notice says became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoticeStatus {
    /// The money was taken, or is back.
    Succeeded,
    /// It was not.
    Failed,
    /// The payment ended before it was paid.
    Closed,
}

/// A notice whose signature was right. Whether it fits what we know is for the receiver to check: the payment, its channel, the
/// channel's number, the amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackNotice {
    /// Names the notice; repetitions carry the same.
    pub callback_id: String,
    /// What it is about.
    pub subject: NoticeSubject,
    /// Our number of the payment.
    pub out_trade_no: String,
    /// The channel's number of the payment.
    pub third_trade_no: String,
    /// What became of it.
    pub status: NoticeStatus,
    /// How much.
    pub amount: Money,
    /// When it happened; notices may arrive in another order.
    pub occurred_at: Timestamp,
}

/// Why a callback was not accepted as a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallbackRejected {
    /// Not from the channel, or not from now (401).
    #[error("callback rejected")]
    Signature(#[from] SignatureError),
    /// Rightly signed but unreadable or incomplete (400).
    #[error("callback can't be read")]
    Malformed,
}

impl CallbackRejected {
    /// The status that the channel gets as an answer.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Signature(_) => 401,
            Self::Malformed => 400,
        }
    }
}

/// A way to collect money and to give it back. Every call may be repeated safely, whatever became of it before.
#[async_trait]
pub trait Channel: Send + Sync {
    /// The name that payments are recorded with.
    fn name(&self) -> &'static str;

    /// Asks for a charge, or finds the one that the same request asked for before.
    ///
    /// # Errors
    /// See [`ChannelError`].
    async fn create(&self, charge: NewCharge) -> Result<Charge, ChannelError>;

    /// Where a charge stands; nothing when the channel does not know it.
    ///
    /// # Errors
    /// See [`ChannelError`].
    async fn query(&self, out_trade_no: &str) -> Result<Option<ChargeReport>, ChannelError>;

    /// Ends a charge that is open and says where it stands then: [`ChargeState::Succeeded`] when the customer was faster.
    ///
    /// # Errors
    /// See [`ChannelError`].
    async fn close(&self, out_trade_no: &str) -> Result<ChargeState, ChannelError>;

    /// Gives money back, or finds the refund that the same request asked for before.
    ///
    /// # Errors
    /// See [`ChannelError`].
    async fn refund(&self, refund: NewRefund) -> Result<RefundProgress, ChannelError>;

    /// Where a refund stands; nothing when the channel does not know it.
    ///
    /// # Errors
    /// See [`ChannelError`].
    async fn query_refund(&self, refund_no: &str) -> Result<Option<RefundProgress>, ChannelError>;

    /// Checks that a callback is the channel's and reads it. `raw_body` is the body as it came, before any parsing.
    ///
    /// # Errors
    /// See [`CallbackRejected`].
    fn verify(
        &self,
        headers: &HeaderMap,
        raw_body: &[u8],
        now: Timestamp,
    ) -> Result<CallbackNotice, CallbackRejected>;
}
