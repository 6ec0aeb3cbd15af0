//! What travels between a merchant and the gateway, as JSON.
//!
//! Requests refuse unknown fields: a body signed for one purpose can't be sent to another address, since no two of them have
//! the same fields. Answers and callbacks may gain fields.

use super::switches::{Decision, RefundSwitch};
use app::domain::{money::Currency, text::LocalText};
use serde::{Deserialize, Serialize};

/// Largest body that either side reads, in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// `POST /v1/payments`: asks for a payment. Repeating it with the same content gives the same payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreatePayment {
    /// The merchant's number: 1–64 of `A–Z a–z 0–9 _ -`.
    pub out_trade_no: String,
    /// Positive, in the currency's smallest unit.
    pub amount_minor: i64,
    /// ISO 4217.
    pub currency: Currency,
    /// What is paid for, for the customer to read.
    pub subject: Subject,
    /// How long it can be paid from now, in milliseconds. A repeat does not extend it.
    pub expires_in_ms: i64,
    /// Where callbacks go.
    pub notify_url: String,
    /// Where the customer goes afterwards.
    pub return_url: String,
}

/// What is paid for: one text, or one in each language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Subject {
    /// The same whatever the language.
    Plain(String),
    /// By language.
    Local(LocalText),
}

impl From<Subject> for LocalText {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Plain(text) => Self {
                en: text.clone(),
                zh_cn: text,
            },
            Subject::Local(text) => text,
        }
    }
}

/// Where a payment stands at the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentState {
    /// Waits for the customer.
    Open,
    /// The money was taken.
    Succeeded,
    /// The money was not taken, and this payment will not be tried again.
    Failed,
    /// Ended by the merchant or by time before it was paid.
    Closed,
}

impl PaymentState {
    /// The word for it, on the wire and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Closed => "closed",
        }
    }

    /// Reads [`PaymentState::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Open, Self::Succeeded, Self::Failed, Self::Closed]
            .into_iter()
            .find(|state| state.word() == word)
    }
}

/// Answer to [`CreatePayment`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The gateway's number.
    pub third_trade_no: String,
    /// Where the customer pays.
    pub cashier_url: String,
    /// Where the payment stands; not `open` only when a repeat came late.
    pub status: PaymentState,
    /// Until when it can be paid, in ms since the epoch.
    pub expires_at_ms: i64,
}

/// A payment as the gateway sees it: the answer to queries and to closing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentReport {
    /// The gateway's number.
    pub third_trade_no: String,
    /// The merchant's number.
    pub out_trade_no: String,
    /// In the currency's smallest unit.
    pub amount_minor: i64,
    /// ISO 4217.
    pub currency: Currency,
    /// Where it stands.
    pub status: PaymentState,
    /// Until when it can be paid, in ms since the epoch.
    pub expires_at_ms: i64,
    /// When the money was taken, in ms since the epoch.
    pub paid_at_ms: Option<i64>,
    /// What has been given back, in the currency's smallest unit.
    pub refunded_minor: i64,
}

/// `POST /v1/payments/{out_trade_no}/close`. The number is repeated so that the signature covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosePayment {
    /// The merchant's number.
    pub out_trade_no: String,
}

/// `POST /v1/payments/{out_trade_no}/outcome`: what the cashier's buttons do, for tests and for load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecidePayment {
    /// The merchant's number.
    pub out_trade_no: String,
    /// The customer's choice and the switches.
    pub decision: Decision,
}

/// `POST /v1/payments/{out_trade_no}/refund-switch`: what happens to the next refunds of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetRefundSwitch {
    /// The merchant's number.
    pub out_trade_no: String,
    /// The switch.
    pub refunds: RefundSwitch,
}

/// `POST /v1/refunds`: gives money back. Repeating it with the same content gives the same refund.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateRefund {
    /// The merchant's number of the refund: 1–64 of `A–Z a–z 0–9 _ -`.
    pub refund_no: String,
    /// The merchant's number of the payment.
    pub out_trade_no: String,
    /// Positive; all refunds of a payment together never exceed what was paid.
    pub amount_minor: i64,
    /// The payment's currency, ISO 4217.
    pub currency: Currency,
    /// Where the callback goes.
    pub notify_url: String,
}

/// Where a refund stands at the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundState {
    /// Accepted; the outcome comes by callback.
    Processing,
    /// The money is back.
    Succeeded,
    /// The money is not back and won't be under this number.
    Failed,
}

impl RefundState {
    /// The word for it, on the wire and in the store.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// Reads [`RefundState::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Processing, Self::Succeeded, Self::Failed]
            .into_iter()
            .find(|state| state.word() == word)
    }
}

/// A refund as the gateway sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundReport {
    /// The merchant's number of the refund.
    pub refund_no: String,
    /// The merchant's number of the payment.
    pub out_trade_no: String,
    /// The gateway's number of the payment.
    pub third_trade_no: String,
    /// In the currency's smallest unit.
    pub amount_minor: i64,
    /// ISO 4217.
    pub currency: Currency,
    /// Where it stands.
    pub status: RefundState,
    /// When it succeeded or failed, in ms since the epoch.
    pub settled_at_ms: Option<i64>,
}

/// What a callback is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackKind {
    /// A payment.
    Payment,
    /// A refund; `refund_no` is set.
    Refund,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackStatus {
    /// The money was taken, or is back.
    Succeeded,
    /// It was not.
    Failed,
    /// The payment's time ran out before it was paid.
    Closed,
}

/// A callback's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// Names this notice; every repetition and duplicate carries the same.
    pub callback_id: String,
    /// What it is about.
    pub kind: CallbackKind,
    /// The merchant's number of the payment.
    pub out_trade_no: String,
    /// The gateway's number of the payment.
    pub third_trade_no: String,
    /// The merchant's number of the refund.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund_no: Option<String>,
    /// What became of it.
    pub status: CallbackStatus,
    /// In the currency's smallest unit.
    pub amount_minor: i64,
    /// ISO 4217.
    pub currency: Currency,
    /// When it happened, in ms since the epoch; notices may arrive in another order.
    pub occurred_at_ms: i64,
}

/// How a callback fares, for people who wonder why nothing arrived: an entry of
/// `GET /v1/payments/{out_trade_no}/deliveries`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryReport {
    /// The callback's name.
    pub callback_id: String,
    /// 0 for the callback itself, 1 and up for deliberate duplicates.
    pub copy_no: u32,
    /// What it says.
    pub callback: Callback,
    /// How often it was sent.
    pub attempts: u32,
    /// What the last attempt met: an HTTP status, or `timeout`, `unreachable`.
    pub last_answer: Option<String>,
    /// When it will be sent next, in ms since the epoch.
    pub next_at_ms: Option<i64>,
    /// When the merchant acknowledged it, in ms since the epoch.
    pub acknowledged_at_ms: Option<i64>,
    /// When the gateway stopped trying, in ms since the epoch.
    pub gave_up_at_ms: Option<i64>,
}

/// Why the gateway refused a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The signature or its time is wrong (401).
    BadSignature,
    /// The request can't be read or a field's value is not acceptable (400).
    Malformed,
    /// There is no such payment (404).
    UnknownPayment,
    /// There is no such refund (404).
    UnknownRefund,
    /// The number is taken by a request with other content (409).
    ContentDiffers,
    /// The payment's state does not allow this; `status` says which it is (409).
    PaymentState,
    /// More would be given back than was paid (409).
    RefundTooLarge,
    /// The bank refuses this refund for now; the same request may succeed later (422).
    RefundRefused,
    /// The body is too large (413).
    TooLarge,
    /// Something failed inside; what the request asked for may or may not have happened (500).
    Internal,
    /// A code that this version does not know.
    #[serde(other)]
    Unknown,
}

/// Body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// The reason.
    pub code: ErrorCode,
    /// The reason for people, with the field where there is one.
    pub message: String,
    /// Where the payment stands, with [`ErrorCode::PaymentState`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PaymentState>,
}
