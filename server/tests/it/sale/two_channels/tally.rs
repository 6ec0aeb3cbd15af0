//! A payment channel that shares nothing with the simulated one: no network, other words, other fields, another form of
//! signature, amounts as decimals.

use app::domain::{
    money::{Currency, Money},
    time::{Millis, Timestamp},
};
use async_trait::async_trait;
use axum::http::{HeaderMap, HeaderName};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Url;
use server::{
    gateway::signature::SignatureError,
    payment_channel::{
        CallbackNotice, CallbackRejected, Channel, ChannelError, Charge, ChargeReport, ChargeState,
        NewCharge, NewRefund, NoticeStatus, NoticeSubject, RefundProgress, RefusalCode,
    },
};
use sha2::Sha256;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

pub const NAME: &str = "tally";
const SIGNATURE: &str = "x-tally-mac";
const SECRET: &[u8] = b"what the tally office and the shop know";
/// How old a notice may be, in milliseconds.
const TOLERANCE: Millis = Millis::seconds(60);

/// An entry of the tally office's book.
#[derive(Debug, Clone)]
pub struct Entry {
    pub state: ChargeState,
    pub amount: Money,
    /// What was given back, by the number of the refund.
    pub refunds: HashMap<String, Money>,
    pub notify_url: String,
}

impl Entry {
    fn refunded(&self) -> Money {
        let minor = self.refunds.values().map(|amount| amount.minor).sum();
        Money::new(minor, self.amount.currency)
    }
}

/// The tally office.
#[derive(Default)]
pub struct Tally {
    book: Mutex<HashMap<String, Entry>>,
}

impl Tally {
    fn book(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.book.lock().expect("nobody panics with the book")
    }

    pub fn entry(&self, out_trade_no: &str) -> Option<Entry> {
        self.book().get(out_trade_no).cloned()
    }

    /// How many payments it knows.
    pub fn entries(&self) -> usize {
        self.book().len()
    }

    /// The customer pays, whatever the entry's state: an office that was told to close may have been paid just before.
    pub fn pay(&self, out_trade_no: &str) {
        let mut book = self.book();
        let entry = book.get_mut(out_trade_no).expect("a known payment");
        entry.state = ChargeState::Succeeded;
    }

    /// It takes another amount than it was asked for.
    pub fn take(&self, out_trade_no: &str, amount: Money) {
        self.pay(out_trade_no);
        let mut book = self.book();
        let entry = book.get_mut(out_trade_no).expect("a known payment");
        entry.amount = amount;
    }
}

/// A notice of the tally office, and the headers that it comes with.
pub fn notice(event: &str, out_trade_no: &str, amount: Money, at: Timestamp) -> Vec<u8> {
    let mut url = Url::parse("tally:notice").expect("an address");
    let fee = format!("{}.{:02}", amount.minor / 100, amount.minor % 100);
    url.query_pairs_mut()
        .append_pair("sn", &uuid::Uuid::new_v4().simple().to_string())
        .append_pair("merchant_ref", out_trade_no)
        .append_pair("tally_ref", &number(out_trade_no))
        .append_pair("event", event)
        .append_pair("fee", &fee)
        .append_pair("ccy", amount.currency.code())
        .append_pair("when", &at.0.to_string());
    url.query().expect("fields").as_bytes().to_vec()
}

/// As [`notice`], about a refund.
pub fn refund_notice(refund_no: &str, of: &str, amount: Money, at: Timestamp) -> Vec<u8> {
    let mut body = notice("returned", of, amount, at);
    body.extend_from_slice(b"&return_ref=");
    body.extend_from_slice(refund_no.as_bytes());
    body
}

pub fn headers(body: &[u8], at: Timestamp) -> HeaderMap {
    let value = format!("{};{}", at.0, hex(&mac(body, at).finalize().into_bytes()));
    let mut headers = HeaderMap::new();
    headers.insert(
        HeaderName::from_static(SIGNATURE),
        value.parse().expect("a header"),
    );
    headers
}

fn mac(body: &[u8], at: Timestamp) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).expect("any length will do");
    mac.update(body);
    mac.update(at.0.to_string().as_bytes());
    mac
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The office's number of a payment.
fn number(out_trade_no: &str) -> String {
    format!("T{out_trade_no}")
}

fn refused(code: RefusalCode) -> ChannelError {
    ChannelError::Refused { code }
}

#[async_trait]
impl Channel for Tally {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn create(&self, charge: NewCharge) -> Result<Charge, ChannelError> {
        let mut book = self.book();
        let entry = book.entry(charge.out_trade_no.clone());
        entry.or_insert(Entry {
            state: ChargeState::Open,
            amount: charge.amount,
            refunds: HashMap::new(),
            notify_url: charge.notify_url,
        });
        Ok(Charge {
            third_trade_no: number(&charge.out_trade_no),
            cashier_url: format!("https://tally.example/desk/{}", charge.out_trade_no),
        })
    }

    async fn query(&self, out_trade_no: &str) -> Result<Option<ChargeReport>, ChannelError> {
        Ok(self.entry(out_trade_no).map(|entry| ChargeReport {
            third_trade_no: number(out_trade_no),
            state: entry.state,
            amount: entry.amount,
            refunded: entry.refunded(),
            paid_at: None,
        }))
    }

    async fn close(&self, out_trade_no: &str) -> Result<ChargeState, ChannelError> {
        let mut book = self.book();
        let entry = book.get_mut(out_trade_no);
        let entry = entry.ok_or(refused(RefusalCode::Unknown))?;
        if entry.state == ChargeState::Open {
            entry.state = ChargeState::Closed;
        }
        Ok(entry.state)
    }

    async fn refund(&self, refund: NewRefund) -> Result<RefundProgress, ChannelError> {
        let mut book = self.book();
        let entry = book.get_mut(&refund.out_trade_no);
        let entry = entry.ok_or(refused(RefusalCode::Unknown))?;
        if entry.state != ChargeState::Succeeded {
            return Err(refused(RefusalCode::State(entry.state)));
        }
        entry.refunds.insert(refund.refund_no, refund.amount);
        assert!(entry.refunded().minor <= entry.amount.minor);
        Ok(RefundProgress::Processing)
    }

    async fn query_refund(&self, refund_no: &str) -> Result<Option<RefundProgress>, ChannelError> {
        let book = self.book();
        let known = book
            .values()
            .any(|entry| entry.refunds.contains_key(refund_no));
        Ok(known.then_some(RefundProgress::Processing))
    }

    fn verify(
        &self,
        headers: &HeaderMap,
        raw_body: &[u8],
        now: Timestamp,
    ) -> Result<CallbackNotice, CallbackRejected> {
        let given = headers.get(SIGNATURE).ok_or(SignatureError::Missing)?;
        let given = given.to_str().map_err(|_| SignatureError::Unreadable)?;
        let (at, given) = given.split_once(';').ok_or(SignatureError::Unreadable)?;
        let at = Timestamp(at.parse().map_err(|_| SignatureError::Unreadable)?);
        if hex(&mac(raw_body, at).finalize().into_bytes()) != given {
            return Err(SignatureError::Mismatch.into());
        }
        if now - at > TOLERANCE {
            return Err(SignatureError::Stale.into());
        }
        read(raw_body).ok_or(CallbackRejected::Malformed)
    }
}

fn read(body: &[u8]) -> Option<CallbackNotice> {
    let mut url = Url::parse("tally:notice").ok()?;
    url.set_query(std::str::from_utf8(body).ok());
    let fields: HashMap<String, String> = url.query_pairs().into_owned().collect();
    let field = |name: &str| fields.get(name).cloned();
    let minor = field("fee")?.replace('.', "").parse().ok()?;
    let currency: Currency = fields.get("ccy")?.parse().ok()?;
    let (subject, status) = match (field("event")?.as_str(), field("return_ref")) {
        ("paid", None) => (NoticeSubject::Payment, NoticeStatus::Succeeded),
        ("declined", None) => (NoticeSubject::Payment, NoticeStatus::Failed),
        ("returned", Some(refund_no)) => {
            (NoticeSubject::Refund { refund_no }, NoticeStatus::Succeeded)
        }
        _ => return None,
    };
    Some(CallbackNotice {
        callback_id: field("sn")?,
        subject,
        out_trade_no: field("merchant_ref")?,
        third_trade_no: field("tally_ref")?,
        status,
        amount: Money::new(minor, currency),
        occurred_at: Timestamp(field("when")?.parse().ok()?),
    })
}
