//! Notices as the gateway sends them, made by hand.

use super::app::GATEWAY_SECRET;
use app::domain::{money::Money, time::Timestamp};
use axum::http::{HeaderMap, HeaderName};
use server::gateway::{
    signature::{SIGNATURE_HEADER, SigningKeys},
    wire::{Callback, CallbackKind, CallbackStatus},
};

/// A notice about a payment.
#[derive(Debug, Clone)]
pub struct Notice {
    pub callback_id: String,
    pub out_trade_no: String,
    /// The channel's number of the payment.
    pub third_trade_no: String,
    pub status: CallbackStatus,
    pub amount: Money,
}

impl Notice {
    pub fn success(out_trade_no: &str, amount: Money) -> Self {
        Self {
            callback_id: format!("cb_{}", uuid::Uuid::new_v4().simple()),
            out_trade_no: out_trade_no.to_owned(),
            third_trade_no: format!("gw_{out_trade_no}"),
            status: CallbackStatus::Succeeded,
            amount,
        }
    }

    pub fn body(&self, at: Timestamp) -> Vec<u8> {
        let callback = Callback {
            callback_id: self.callback_id.clone(),
            kind: CallbackKind::Payment,
            out_trade_no: self.out_trade_no.clone(),
            third_trade_no: self.third_trade_no.clone(),
            refund_no: None,
            status: self.status,
            amount_minor: self.amount.minor,
            currency: self.amount.currency,
            occurred_at_ms: at.0,
        };
        serde_json::to_vec(&callback).expect("JSON")
    }
}

/// The headers that sign a body at a time.
pub fn headers_for(body: &[u8], at: Timestamp) -> HeaderMap {
    let keys = SigningKeys::new(GATEWAY_SECRET).expect("a long secret");
    let mut headers = HeaderMap::new();
    let value = keys.sign(body, at).parse().expect("a header");
    headers.insert(HeaderName::from_static(SIGNATURE_HEADER), value);
    headers
}
