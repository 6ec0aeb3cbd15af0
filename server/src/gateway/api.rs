//! The merchant's side of the gateway: JSON under `/v1`, every request signed.

use super::{
    Gateway,
    answer::refusal,
    error::GatewayError,
    signature::SIGNATURE_HEADER,
    store::{deliveries, payments::PaymentKey},
    wire::{
        BODY_BYTES_MAX, ClosePayment, CreatePayment, CreateRefund, Created, DecidePayment,
        DeliveryReport, ErrorCode, PaymentReport, RefundReport, SetRefundSwitch,
    },
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, FromRequest, OriginalUri, Path, Request, State},
    http::{Method, StatusCode},
    response::Response,
    routing::{get, post},
};
use serde::de::DeserializeOwned;

/// Most deliveries that are listed at once: one payment with every switch at its end.
const DELIVERIES_MAX: u32 = 500;

/// The API's routes.
pub(super) fn router(gateway: Gateway) -> Router {
    Router::new()
        .route("/v1/payments", post(create_payment))
        .route("/v1/payments/{out_trade_no}", get(query_payment))
        .route("/v1/payments/{out_trade_no}/close", post(close_payment))
        .route("/v1/payments/{out_trade_no}/outcome", post(decide_payment))
        .route(
            "/v1/payments/{out_trade_no}/refund-switch",
            post(set_refund_switch),
        )
        .route(
            "/v1/payments/{out_trade_no}/deliveries",
            get(list_deliveries),
        )
        .route("/v1/refunds", post(create_refund))
        .route("/v1/refunds/{refund_no}", get(query_refund))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(gateway)
}

/// A request whose signature was right, with its raw body.
struct Signed(Bytes);

impl Signed {
    /// Reads the body as JSON.
    fn json<T: DeserializeOwned>(&self) -> Result<T, GatewayError> {
        serde_json::from_slice(&self.0).map_err(|_| GatewayError::Malformed { field: "body" })
    }
}

impl FromRequest<Gateway> for Signed {
    type Rejection = Response;

    async fn from_request(request: Request, gateway: &Gateway) -> Result<Self, Response> {
        let signature = request
            .headers()
            .get(SIGNATURE_HEADER)
            .map(|value| value.to_str().unwrap_or_default().to_owned());
        let signed_line = signed_line(&request);
        let body = Bytes::from_request(request, gateway)
            .await
            .map_err(|rejection| {
                refusal(match rejection.status() {
                    StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::TooLarge,
                    _ => ErrorCode::Malformed,
                })
            })?;
        let payload = signed_line.as_deref().map_or(body.as_ref(), str::as_bytes);
        match gateway
            .inner
            .config
            .keys
            .verify(signature.as_deref(), payload, gateway.now())
        {
            Ok(()) => Ok(Self(body)),
            Err(error) => {
                tracing::warn!(reason = %error, "gateway request with a bad signature");
                Err(refusal(ErrorCode::BadSignature))
            }
        }
    }
}

/// What a request without a body signs instead: its method and its path as the client wrote it, whatever the router is
/// nested in.
fn signed_line(request: &Request) -> Option<String> {
    if request.method() != Method::GET {
        return None;
    }
    let uri = request
        .extensions()
        .get::<OriginalUri>()
        .map_or(request.uri(), |original| &original.0);
    Some(format!("GET {}", uri.path_and_query()?))
}

async fn create_payment(
    State(gateway): State<Gateway>,
    signed: Signed,
) -> Result<Json<Created>, GatewayError> {
    let request: CreatePayment = signed.json()?;
    let payment = gateway.create_payment(request).await?;
    Ok(Json(Created {
        cashier_url: gateway.cashier_url(&payment),
        third_trade_no: payment.third_trade_no,
        status: payment.state,
        expires_at_ms: payment.expires_at.0,
    }))
}

async fn query_payment(
    State(gateway): State<Gateway>,
    Path(out_trade_no): Path<String>,
    _: Signed,
) -> Result<Json<PaymentReport>, GatewayError> {
    gateway
        .report_payment(PaymentKey::OutTradeNo(&out_trade_no))
        .await
        .map(Json)
}

async fn close_payment(
    State(gateway): State<Gateway>,
    Path(out_trade_no): Path<String>,
    signed: Signed,
) -> Result<Json<PaymentReport>, GatewayError> {
    let request: ClosePayment = signed.json()?;
    same_number(&out_trade_no, &request.out_trade_no)?;
    gateway.close_payment(&out_trade_no).await.map(Json)
}

async fn decide_payment(
    State(gateway): State<Gateway>,
    Path(out_trade_no): Path<String>,
    signed: Signed,
) -> Result<Json<PaymentReport>, GatewayError> {
    let request: DecidePayment = signed.json()?;
    same_number(&out_trade_no, &request.out_trade_no)?;
    let key = PaymentKey::OutTradeNo(&out_trade_no);
    let payment = gateway.find_payment(key).await?;
    gateway
        .decide(&payment.third_trade_no, &request.decision)
        .await?;
    gateway.report_payment(key).await.map(Json)
}

async fn set_refund_switch(
    State(gateway): State<Gateway>,
    Path(out_trade_no): Path<String>,
    signed: Signed,
) -> Result<StatusCode, GatewayError> {
    let request: SetRefundSwitch = signed.json()?;
    same_number(&out_trade_no, &request.out_trade_no)?;
    gateway
        .set_refund_switch(&out_trade_no, request.refunds)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_deliveries(
    State(gateway): State<Gateway>,
    Path(out_trade_no): Path<String>,
    _: Signed,
) -> Result<Json<Vec<DeliveryReport>>, GatewayError> {
    let payment = gateway
        .find_payment(PaymentKey::OutTradeNo(&out_trade_no))
        .await?;
    let list =
        deliveries::of_payment(gateway.pool(), &payment.third_trade_no, DELIVERIES_MAX).await?;
    Ok(Json(list))
}

async fn create_refund(
    State(gateway): State<Gateway>,
    signed: Signed,
) -> Result<Json<RefundReport>, GatewayError> {
    let request: CreateRefund = signed.json()?;
    Ok(Json(gateway.create_refund(request).await?.report()))
}

async fn query_refund(
    State(gateway): State<Gateway>,
    Path(refund_no): Path<String>,
    _: Signed,
) -> Result<Json<RefundReport>, GatewayError> {
    Ok(Json(gateway.find_refund(&refund_no).await?.report()))
}

/// Refuses a body that was signed for another payment than the one in the path.
fn same_number(in_path: &str, in_body: &str) -> Result<(), GatewayError> {
    if in_path == in_body {
        Ok(())
    } else {
        Err(GatewayError::Malformed {
            field: "out_trade_no",
        })
    }
}
