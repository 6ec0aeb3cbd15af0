//! Payments and refunds as the gateway keeps them.

use super::{
    error::GatewayError,
    switches::{CallbackSwitches, RefundAnswer, RefundSwitch},
    wire::{CreatePayment, CreateRefund, PaymentReport, PaymentState, RefundReport, RefundState},
};
use app::domain::{
    money::Money,
    text::LocalText,
    time::{Millis, Timestamp},
};

/// Longest time a payment can be open.
pub const LIFETIME_MAX: Millis = Millis::minutes(7 * 24 * 60);
/// Longest number of a merchant, in characters.
pub const NUMBER_CHARS_MAX: usize = 64;
/// Longest subject in one language, in characters.
pub const SUBJECT_CHARS_MAX: usize = 250;
/// Longest address, in bytes.
pub const URL_BYTES_MAX: usize = 512;
/// Largest amount, in the currency's smallest unit: sums of a hundred thousand such refunds still fit.
pub const AMOUNT_MINOR_MAX: i64 = 10_000_000_000_000;

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The gateway's number; it can't be guessed, since it opens the cashier.
    pub third_trade_no: String,
    /// The merchant's number.
    pub out_trade_no: String,
    /// What is to be paid.
    pub amount: Money,
    /// What is paid for.
    pub subject: LocalText,
    /// Where callbacks go.
    pub notify_url: String,
    /// Where the customer goes afterwards.
    pub return_url: String,
    /// Where it stands.
    pub state: PaymentState,
    /// Until when it can be paid.
    pub expires_at: Timestamp,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When the money was taken.
    pub paid_at: Option<Timestamp>,
    /// A success that is still to come.
    pub late: Option<LateSuccess>,
    /// Until when the cashier page claims that the payment failed.
    pub page_fails_until: Option<Timestamp>,
    /// What happens to its next refunds.
    pub refunds: RefundSwitch,
}

/// A success that was decided at the cashier and has not happened yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateSuccess {
    /// How its callbacks will be sent.
    pub switches: CallbackSwitches,
    /// When it happens; without a time it waits for the payment to be closed.
    pub at: Option<Timestamp>,
}

impl Payment {
    /// A new payment under the given number.
    ///
    /// # Errors
    /// Names the first field whose value is not acceptable.
    pub fn open(
        third_trade_no: String,
        request: CreatePayment,
        now: Timestamp,
    ) -> Result<Self, GatewayError> {
        check_number("out_trade_no", &request.out_trade_no)?;
        check_amount(request.amount_minor)?;
        check_url("notify_url", &request.notify_url)?;
        check_url("return_url", &request.return_url)?;
        let lifetime = Millis(request.expires_in_ms);
        if lifetime <= Millis(0) || lifetime > LIFETIME_MAX {
            return Err(GatewayError::Malformed {
                field: "expires_in_ms",
            });
        }
        let subject = LocalText::from(request.subject);
        for text in [&subject.en, &subject.zh_cn] {
            if text.trim().is_empty() || text.chars().count() > SUBJECT_CHARS_MAX {
                return Err(GatewayError::Malformed { field: "subject" });
            }
        }
        Ok(Self {
            third_trade_no,
            out_trade_no: request.out_trade_no,
            amount: Money::new(request.amount_minor, request.currency),
            subject,
            notify_url: request.notify_url,
            return_url: request.return_url,
            state: PaymentState::Open,
            expires_at: now + lifetime,
            created_at: now,
            paid_at: None,
            late: None,
            page_fails_until: None,
            refunds: RefundSwitch::default(),
        })
    }

    /// Whether `other` was asked for with the same content. The time it can be paid is left out: a merchant that repeats its
    /// request has less of it left by then.
    #[must_use]
    pub fn has_content_of(&self, other: &Self) -> bool {
        self.out_trade_no == other.out_trade_no
            && self.amount == other.amount
            && self.subject == other.subject
            && self.notify_url == other.notify_url
            && self.return_url == other.return_url
    }

    /// Whether its time is over although nobody has closed it yet.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.state == PaymentState::Open && self.expires_at <= now
    }

    /// The payment for the merchant to read.
    #[must_use]
    pub fn report(&self, refunded_minor: i64) -> PaymentReport {
        PaymentReport {
            third_trade_no: self.third_trade_no.clone(),
            out_trade_no: self.out_trade_no.clone(),
            amount_minor: self.amount.minor,
            currency: self.amount.currency,
            status: self.state,
            expires_at_ms: self.expires_at.0,
            paid_at_ms: self.paid_at.map(|at| at.0),
            refunded_minor,
        }
    }
}

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// The merchant's number of the refund.
    pub refund_no: String,
    /// The gateway's number of the payment.
    pub third_trade_no: String,
    /// The merchant's number of the payment.
    pub out_trade_no: String,
    /// What is given back.
    pub amount: Money,
    /// Where the callback goes.
    pub notify_url: String,
    /// Where it stands.
    pub state: RefundState,
    /// What it becomes at `due_at`.
    pub outcome: RefundState,
    /// When it succeeds or fails.
    pub due_at: Timestamp,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it succeeded or failed.
    pub settled_at: Option<Timestamp>,
}

impl Refund {
    /// A refund of `payment` as its switch wants it; [`RefundAnswer::Refuse`] is the caller's to heed.
    ///
    /// # Errors
    /// Names the first field whose value is not acceptable.
    pub fn begin(
        request: CreateRefund,
        payment: &Payment,
        now: Timestamp,
    ) -> Result<Self, GatewayError> {
        check_number("refund_no", &request.refund_no)?;
        check_amount(request.amount_minor)?;
        check_url("notify_url", &request.notify_url)?;
        if request.currency != payment.amount.currency {
            return Err(GatewayError::Malformed { field: "currency" });
        }
        let fails = payment.refunds.answer == RefundAnswer::Fail && payment.refunds.times > 0;
        Ok(Self {
            refund_no: request.refund_no,
            third_trade_no: payment.third_trade_no.clone(),
            out_trade_no: payment.out_trade_no.clone(),
            amount: Money::new(request.amount_minor, request.currency),
            notify_url: request.notify_url,
            state: RefundState::Processing,
            outcome: if fails {
                RefundState::Failed
            } else {
                RefundState::Succeeded
            },
            due_at: now + Millis::seconds(i64::from(payment.refunds.delay_s)),
            created_at: now,
            settled_at: None,
        })
    }

    /// Whether it is what `request` asks for.
    #[must_use]
    pub fn has_content_of(&self, request: &CreateRefund) -> bool {
        self.refund_no == request.refund_no
            && self.out_trade_no == request.out_trade_no
            && self.amount == Money::new(request.amount_minor, request.currency)
            && self.notify_url == request.notify_url
    }

    /// The refund for the merchant to read.
    #[must_use]
    pub fn report(&self) -> RefundReport {
        RefundReport {
            refund_no: self.refund_no.clone(),
            out_trade_no: self.out_trade_no.clone(),
            third_trade_no: self.third_trade_no.clone(),
            amount_minor: self.amount.minor,
            currency: self.amount.currency,
            status: self.state,
            settled_at_ms: self.settled_at.map(|at| at.0),
        }
    }
}

/// Accepts numbers that stand in a path as they are.
fn check_number(field: &'static str, number: &str) -> Result<(), GatewayError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=NUMBER_CHARS_MAX).contains(&number.len()) && number.bytes().all(plain) {
        Ok(())
    } else {
        Err(GatewayError::Malformed { field })
    }
}

fn check_amount(minor: i64) -> Result<(), GatewayError> {
    if (1..=AMOUNT_MINOR_MAX).contains(&minor) {
        Ok(())
    } else {
        Err(GatewayError::Malformed {
            field: "amount_minor",
        })
    }
}

/// Accepts absolute web addresses: a `javascript:` address would run in the link back to the merchant.
fn check_url(field: &'static str, text: &str) -> Result<(), GatewayError> {
    let malformed = GatewayError::Malformed { field };
    if text.len() > URL_BYTES_MAX {
        return Err(malformed);
    }
    match reqwest::Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
        _ => Err(malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::wire::Subject;
    use app::domain::money::Currency;

    fn request() -> CreatePayment {
        CreatePayment {
            out_trade_no: "P-1".to_owned(),
            amount_minor: 13_600,
            currency: Currency::Cny,
            subject: Subject::Plain("Two seats".to_owned()),
            expires_in_ms: 900_000,
            notify_url: "http://127.0.0.1:1/notify".to_owned(),
            return_url: "https://shop.example/orders/1".to_owned(),
        }
    }

    fn field_at_fault(change: impl FnOnce(&mut CreatePayment)) -> Option<&'static str> {
        let mut request = request();
        change(&mut request);
        match Payment::open("gw_1".to_owned(), request, Timestamp(0)) {
            Err(GatewayError::Malformed { field }) => Some(field),
            _ => None,
        }
    }

    #[test]
    fn each_field_with_a_bad_value_is_named() {
        assert_eq!(field_at_fault(|_| ()), None);
        for number in ["", "a/b", "a b", "é", &"x".repeat(65)] {
            assert_eq!(
                field_at_fault(|it| it.out_trade_no = number.to_owned()),
                Some("out_trade_no")
            );
        }
        for minor in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(
                field_at_fault(|it| it.amount_minor = minor),
                Some("amount_minor")
            );
        }
        for length in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(
                field_at_fault(|it| it.expires_in_ms = length),
                Some("expires_in_ms")
            );
        }
        for url in [
            "",
            "/orders/1",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "http://",
        ] {
            assert_eq!(
                field_at_fault(|it| it.notify_url = url.to_owned()),
                Some("notify_url")
            );
            assert_eq!(
                field_at_fault(|it| it.return_url = url.to_owned()),
                Some("return_url")
            );
        }
        let blank = Subject::Plain(" ".to_owned());
        assert_eq!(field_at_fault(|it| it.subject = blank), Some("subject"));
    }

    #[test]
    fn a_repeat_with_less_time_left_is_the_same_request() {
        let first = Payment::open("gw_1".to_owned(), request(), Timestamp(0)).unwrap();
        let repeat = CreatePayment {
            expires_in_ms: 1_000,
            ..request()
        };
        let repeat = Payment::open("gw_2".to_owned(), repeat, Timestamp(899_000)).unwrap();
        assert!(first.has_content_of(&repeat));
        let dearer = CreatePayment {
            amount_minor: 13_601,
            ..request()
        };
        let dearer = Payment::open("gw_3".to_owned(), dearer, Timestamp(0)).unwrap();
        assert!(!first.has_content_of(&dearer));
    }
}
