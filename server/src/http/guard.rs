//! What every request passes and every answer carries.

use super::AppState;
use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::time::Duration;

/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a request waits for a place.
const PLACE_WAIT_MAX: Duration = Duration::from_secs(1);

/// Serves at most as many requests at once as there are places, each for a bounded time; others are told to come back.
pub async fn bounded(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let place = tokio::time::timeout(PLACE_WAIT_MAX, state.places.acquire()).await;
    let Ok(Ok(_place)) = place else { return busy() };
    tokio::time::timeout(REQUEST_TIMEOUT, next.run(request))
        .await
        .unwrap_or_else(|_| busy())
}

fn busy() -> Response {
    (
        StatusCode::SERVICE_UNAVAILABLE,
        [(header::RETRY_AFTER, "1")],
        "busy, please try again",
    )
        .into_response()
}

/// Refuses posts that another site made a browser send.
///
/// Browsers say where a request comes from in `Sec-Fetch-Site`, older ones in `Origin`; programs send neither.
pub async fn refuse_cross_site_posts(request: Request, next: Next) -> Response {
    let reads = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if reads || is_same_site(&request) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "this form belongs to another site").into_response()
}

fn is_same_site(request: &Request) -> bool {
    let text = |name: HeaderName| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return matches!(site, "same-origin" | "none");
    }
    match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin
            .split_once("://")
            .is_some_and(|(_, origin)| origin == host),
        (Some(_), None) => false,
    }
}

/// Headers that keep pages from being framed, sniffed or leaking their addresses.
pub async fn security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=(), payment=()",
        ),
    ] {
        headers
            .entry(HeaderName::from_static(name))
            .or_insert_with(|| HeaderValue::from_static(value));
    }
    response
}
