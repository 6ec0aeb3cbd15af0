//! The cashier: the page at the bank where the customer pays, or pretends to fail. It works without a script.

mod html;
mod page;
mod words;

use super::{
    Gateway,
    error::GatewayError,
    payment::Payment,
    payments::Decided,
    store::{deliveries, payments::PaymentKey},
    switches::Decision,
    wire::{BODY_BYTES_MAX, ErrorCode},
};
use app::domain::text::Lang;
use axum::{
    Form, Router,
    extract::{DefaultBodyLimit, Path, Query, State, rejection::FormRejection},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use serde::Deserialize;

/// Most notices that the page of a payment lists.
const DELIVERIES_SHOWN_MAX: u32 = 20;

/// The cashier's routes.
pub(super) fn router(gateway: Gateway) -> Router {
    Router::new()
        .route("/cashier/{third_trade_no}", get(show).post(decide))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(gateway)
}

#[derive(Deserialize)]
struct Asked {
    lang: Option<String>,
}

impl Asked {
    /// The language that the address asks for, else the browser's, else English.
    fn lang(&self, headers: &HeaderMap) -> Lang {
        self.lang
            .as_deref()
            .and_then(Lang::from_tag)
            .unwrap_or_else(|| {
                headers
                    .get(header::ACCEPT_LANGUAGE)
                    .and_then(|value| value.to_str().ok())
                    .and_then(Lang::from_accept_language)
                    .unwrap_or_default()
            })
    }
}

async fn show(
    State(gateway): State<Gateway>,
    Path(third_trade_no): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let lang = asked.lang(&headers);
    match gateway
        .find_payment(PaymentKey::ThirdTradeNo(&third_trade_no))
        .await
    {
        Ok(payment) => payment_page(&gateway, &payment, lang, StatusCode::OK).await,
        Err(error) => fault_page(&error, lang),
    }
}

async fn decide(
    State(gateway): State<Gateway>,
    Path(third_trade_no): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    form: Result<Form<Decision>, FormRejection>,
) -> Response {
    let lang = asked.lang(&headers);
    let payment = match gateway
        .find_payment(PaymentKey::ThirdTradeNo(&third_trade_no))
        .await
    {
        Ok(payment) => payment,
        Err(error) => return fault_page(&error, lang),
    };
    let Ok(Form(decision)) = form else {
        return fault_page(&GatewayError::Malformed { field: "form" }, lang);
    };
    match gateway.decide(&third_trade_no, &decision).await {
        Ok(Decided::Return) => Redirect::to(&payment.return_url).into_response(),
        Ok(Decided::FailedPage) => {
            // Relative, so that it stays on the host that the browser knows.
            Redirect::to(&format!("./{third_trade_no}?lang={}", lang.tag())).into_response()
        }
        Err(GatewayError::State(_)) => {
            match gateway
                .find_payment(PaymentKey::ThirdTradeNo(&third_trade_no))
                .await
            {
                Ok(payment) => payment_page(&gateway, &payment, lang, StatusCode::CONFLICT).await,
                Err(error) => fault_page(&error, lang),
            }
        }
        Err(error) => fault_page(&error, lang),
    }
}

async fn payment_page(
    gateway: &Gateway,
    payment: &Payment,
    lang: Lang,
    status: StatusCode,
) -> Response {
    let third_trade_no = &payment.third_trade_no;
    let listed = deliveries::of_payment(gateway.pool(), third_trade_no, DELIVERIES_SHOWN_MAX).await;
    match listed {
        Ok(listed) => {
            let page = page::payment_page(payment, &listed, lang, gateway.now());
            html_answer(status, page, Some(&payment.return_url))
        }
        Err(error) => fault_page(&error.into(), lang),
    }
}

fn fault_page(error: &GatewayError, lang: Lang) -> Response {
    let (status, page) = match error {
        GatewayError::Refused(ErrorCode::UnknownPayment) => (
            StatusCode::NOT_FOUND,
            page::plain_page(lang, |words| &words.unknown),
        ),
        GatewayError::Malformed { .. } => (
            StatusCode::BAD_REQUEST,
            page::plain_page(lang, |words| &words.malformed),
        ),
        GatewayError::Refused(_) | GatewayError::State(_) | GatewayError::Store(_) => {
            tracing::error!(error = ?error, "the gateway's cashier failed");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                page::plain_page(lang, |words| &words.broken),
            )
        }
    };
    html_answer(status, page, None)
}

/// A page with the headers that keep it from loading, embedding or remembering anything.
fn html_answer(status: StatusCode, page: String, return_url: Option<&str>) -> Response {
    // Chromium applies form-action to the redirect that follows the form's post, so the merchant has to be named.
    let target = return_url
        .and_then(|url| reqwest::Url::parse(url).ok())
        .map(|url| url.origin());
    let target = target.map_or_else(String::new, |origin| {
        format!(" {}", origin.ascii_serialization())
    });
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'{target}; base-uri 'none'; frame-ancestors 'none'"
    );
    let policy = HeaderValue::from_str(&policy)
        .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    let headers: [(HeaderName, HeaderValue); 6] = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::VARY, HeaderValue::from_static("Accept-Language")),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("same-origin"),
        ),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
    ];
    (status, headers, page).into_response()
}
