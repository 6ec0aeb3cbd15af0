//! The channel to the simulated gateway, over HTTP.

use super::{
    CallbackNotice, CallbackRejected, Channel, ChannelError, Charge, ChargeReport, ChargeState,
    NewCharge, NewRefund, NoticeStatus, NoticeSubject, RefundProgress, RefusalCode,
};
use crate::{
    clock::Clock,
    gateway::{
        signature::{SIGNATURE_HEADER, SigningKeys},
        wire::{
            BODY_BYTES_MAX, Callback, CallbackKind, CallbackStatus, ClosePayment, CreatePayment,
            CreateRefund, Created, ErrorBody, ErrorCode, PaymentReport, PaymentState, RefundReport,
            RefundState, Subject,
        },
    },
};
use app::domain::{money::Money, time::Timestamp};
use async_trait::async_trait;
use axum::http::{HeaderMap, Method};
use reqwest::{StatusCode, Url, header::CONTENT_TYPE};
use serde::{Serialize, de::DeserializeOwned};
use std::{sync::Arc, time::Duration};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a call may take in all.
const CALL_TIMEOUT: Duration = Duration::from_secs(3);

/// The channel could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ChannelSetupError {
    /// The gateway's address is not an absolute web address.
    #[error("the gateway's address is not an http(s) address")]
    Address,
    /// The HTTP client could not be set up.
    #[error("the channel's HTTP client could not be set up")]
    Client(#[from] reqwest::Error),
}

/// The simulated gateway, as a merchant sees it.
pub struct SimulatedChannel {
    name: &'static str,
    /// Without a slash at the end.
    gateway_url: String,
    keys: SigningKeys,
    clock: Arc<dyn Clock>,
    http: reqwest::Client,
}

impl SimulatedChannel {
    /// The name its payments are recorded with.
    pub const NAME: &'static str = "simulated";

    /// A channel to the gateway whose router is at `gateway_url`, for example `http://127.0.0.1:3000/gateway`.
    ///
    /// # Errors
    /// When the address is not absolute or the client can't be set up.
    pub fn new(
        gateway_url: &str,
        keys: SigningKeys,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ChannelSetupError> {
        Self::named(Self::NAME, gateway_url, keys, clock)
    }

    /// The same under another name: a second gateway beside the first.
    ///
    /// # Errors
    /// When the address is not absolute or the client can't be set up.
    pub fn named(
        name: &'static str,
        gateway_url: &str,
        keys: SigningKeys,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ChannelSetupError> {
        let url = Url::parse(gateway_url).map_err(|_| ChannelSetupError::Address)?;
        if !matches!(url.scheme(), "http" | "https") || url.query().is_some() {
            return Err(ChannelSetupError::Address);
        }
        // A redirect would hand our signature to somebody else.
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(CALL_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        let gateway_url = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self {
            name,
            gateway_url,
            keys,
            clock,
            http,
        })
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        request: &impl Serialize,
    ) -> Result<T, Answered> {
        let body = serde_json::to_vec(request).map_err(|_| ChannelError::Malformed)?;
        self.call(Method::POST, path, body).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Answered> {
        self.call(Method::GET, path, Vec::new()).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<T, Answered> {
        let url = Url::parse(&format!("{}{path}", self.gateway_url)).map_err(|_| {
            ChannelError::Refused {
                code: RefusalCode::Request,
            }
        })?;
        let signature = if method == Method::GET {
            let line = format!("GET {}", url.path());
            self.keys.sign(line.as_bytes(), self.clock.now())
        } else {
            self.keys.sign(&body, self.clock.now())
        };
        let response = self
            .http
            .request(method, url)
            .header(CONTENT_TYPE, "application/json")
            .header(SIGNATURE_HEADER, signature)
            .body(body)
            .send()
            .await
            .map_err(|_| ChannelError::Unreachable)?;
        let status = response.status();
        let body = read_bounded(response).await?;
        if status == StatusCode::OK {
            return serde_json::from_slice(&body).map_err(|_| ChannelError::Malformed.into());
        }
        Err(refused(status, &body))
    }
}

/// A call that was not carried out: the refusal's code as the gateway wrote it, or something else that went wrong.
enum Answered {
    Refused(ErrorBody),
    Failed(ChannelError),
}

impl From<ChannelError> for Answered {
    fn from(error: ChannelError) -> Self {
        Self::Failed(error)
    }
}

impl From<Answered> for ChannelError {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::Failed(error) => error,
            Answered::Refused(body) => Self::Refused {
                code: refusal_code(&body),
            },
        }
    }
}

fn refused(status: StatusCode, body: &[u8]) -> Answered {
    if status.is_server_error() {
        return ChannelError::Unreachable.into();
    }
    serde_json::from_slice(body).map_or_else(|_| ChannelError::Malformed.into(), Answered::Refused)
}

fn refusal_code(body: &ErrorBody) -> RefusalCode {
    match (body.code, body.status) {
        (ErrorCode::BadSignature, _) => RefusalCode::Signature,
        (ErrorCode::Malformed | ErrorCode::TooLarge, _) => RefusalCode::Request,
        (ErrorCode::UnknownPayment | ErrorCode::UnknownRefund, _) => RefusalCode::Unknown,
        (ErrorCode::ContentDiffers, _) => RefusalCode::ContentDiffers,
        (ErrorCode::PaymentState, Some(state)) => RefusalCode::State(charge_state(state)),
        (ErrorCode::RefundTooLarge, _) => RefusalCode::RefundTooLarge,
        (ErrorCode::RefundRefused, _) => RefusalCode::RefundRefused,
        (ErrorCode::PaymentState | ErrorCode::Internal | ErrorCode::Unknown, _) => {
            RefusalCode::Other
        }
    }
}

/// Reads a body that a faulty or foreign server can't make arbitrarily long.
async fn read_bounded(mut response: reqwest::Response) -> Result<Vec<u8>, ChannelError> {
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|_| ChannelError::Unreachable)?
    {
        if body.len() + chunk.len() > BODY_BYTES_MAX {
            return Err(ChannelError::Malformed);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn charge_state(state: PaymentState) -> ChargeState {
    match state {
        PaymentState::Open => ChargeState::Open,
        PaymentState::Succeeded => ChargeState::Succeeded,
        PaymentState::Failed => ChargeState::Failed,
        PaymentState::Closed => ChargeState::Closed,
    }
}

fn progress(report: &RefundReport) -> RefundProgress {
    match report.status {
        RefundState::Processing => RefundProgress::Processing,
        RefundState::Succeeded => RefundProgress::Succeeded,
        RefundState::Failed => RefundProgress::Failed,
    }
}

/// Turns "there is no such thing" into nothing.
fn known<T>(answer: Result<T, Answered>) -> Result<Option<T>, ChannelError> {
    match answer.map_err(ChannelError::from) {
        Ok(report) => Ok(Some(report)),
        Err(ChannelError::Refused {
            code: RefusalCode::Unknown,
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A number as part of a path. The gateway accepts none with other characters, so nothing needs to be escaped.
fn in_path(number: &str) -> Result<&str, ChannelError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !number.is_empty() && number.bytes().all(plain) {
        Ok(number)
    } else {
        Err(ChannelError::Refused {
            code: RefusalCode::Request,
        })
    }
}

#[async_trait]
impl Channel for SimulatedChannel {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn create(&self, charge: NewCharge) -> Result<Charge, ChannelError> {
        let request = CreatePayment {
            out_trade_no: charge.out_trade_no,
            amount_minor: charge.amount.minor,
            currency: charge.amount.currency,
            subject: Subject::Local(charge.subject),
            expires_in_ms: charge.expires_in.0,
            notify_url: charge.notify_url,
            return_url: charge.return_url,
        };
        let created: Created = self.post("/v1/payments", &request).await?;
        Ok(Charge {
            third_trade_no: created.third_trade_no,
            cashier_url: created.cashier_url,
        })
    }

    async fn query(&self, out_trade_no: &str) -> Result<Option<ChargeReport>, ChannelError> {
        let path = format!("/v1/payments/{}", in_path(out_trade_no)?);
        let report: Option<PaymentReport> = known(self.get(&path).await)?;
        Ok(report.map(|report| ChargeReport {
            state: charge_state(report.status),
            amount: Money::new(report.amount_minor, report.currency),
            refunded: Money::new(report.refunded_minor, report.currency),
            paid_at: report.paid_at_ms.map(Timestamp),
            third_trade_no: report.third_trade_no,
        }))
    }

    async fn close(&self, out_trade_no: &str) -> Result<ChargeState, ChannelError> {
        let path = format!("/v1/payments/{}/close", in_path(out_trade_no)?);
        let request = ClosePayment {
            out_trade_no: out_trade_no.to_owned(),
        };
        let closed: Result<PaymentReport, Answered> = self.post(&path, &request).await;
        match closed.map_err(ChannelError::from) {
            Ok(report) => Ok(charge_state(report.status)),
            Err(ChannelError::Refused {
                code: RefusalCode::State(state),
            }) => Ok(state),
            Err(error) => Err(error),
        }
    }

    async fn refund(&self, refund: NewRefund) -> Result<RefundProgress, ChannelError> {
        let request = CreateRefund {
            refund_no: refund.refund_no,
            out_trade_no: refund.out_trade_no,
            amount_minor: refund.amount.minor,
            currency: refund.amount.currency,
            notify_url: refund.notify_url,
        };
        let report: RefundReport = self.post("/v1/refunds", &request).await?;
        Ok(progress(&report))
    }

    async fn query_refund(&self, refund_no: &str) -> Result<Option<RefundProgress>, ChannelError> {
        let path = format!("/v1/refunds/{}", in_path(refund_no)?);
        let report: Option<RefundReport> = known(self.get(&path).await)?;
        Ok(report.as_ref().map(progress))
    }

    fn verify(
        &self,
        headers: &HeaderMap,
        raw_body: &[u8],
        now: Timestamp,
    ) -> Result<CallbackNotice, CallbackRejected> {
        let signature = headers
            .get(SIGNATURE_HEADER)
            .map(|value| value.to_str().unwrap_or_default());
        self.keys.verify(signature, raw_body, now)?;
        let callback: Callback =
            serde_json::from_slice(raw_body).map_err(|_| CallbackRejected::Malformed)?;
        notice(callback).ok_or(CallbackRejected::Malformed)
    }
}

/// Reads a callback; nothing when a required field is empty or does not fit its kind.
fn notice(callback: Callback) -> Option<CallbackNotice> {
    let numbers = [
        &callback.callback_id,
        &callback.out_trade_no,
        &callback.third_trade_no,
    ];
    if numbers.iter().any(|number| number.is_empty()) {
        return None;
    }
    let subject = match (callback.kind, callback.refund_no) {
        (CallbackKind::Payment, None) => NoticeSubject::Payment,
        (CallbackKind::Refund, Some(refund_no)) if !refund_no.is_empty() => {
            NoticeSubject::Refund { refund_no }
        }
        (CallbackKind::Payment | CallbackKind::Refund, _) => return None,
    };
    Some(CallbackNotice {
        callback_id: callback.callback_id,
        subject,
        out_trade_no: callback.out_trade_no,
        third_trade_no: callback.third_trade_no,
        status: match callback.status {
            CallbackStatus::Succeeded => NoticeStatus::Succeeded,
            CallbackStatus::Failed => NoticeStatus::Failed,
            CallbackStatus::Closed => NoticeStatus::Closed,
        },
        amount: Money::new(callback.amount_minor, callback.currency),
        occurred_at: Timestamp(callback.occurred_at_ms),
    })
}

#[cfg(test)]
#[path = "simulated_tests.rs"]
mod tests;
