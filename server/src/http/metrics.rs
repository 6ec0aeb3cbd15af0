//! Figures for Prometheus, on an address of their own.

use crate::config::Secret;
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;
use subtle::ConstantTimeEq;

/// Upper bounds of the buckets of every duration, in milliseconds.
const DURATION_BUCKETS_MS: [f64; 12] = [
    1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 5_000.0, 30_000.0,
];

#[derive(Clone)]
struct Figures {
    handle: PrometheusHandle,
    token: Option<Secret>,
}

/// The recorder of the process; installed once, however many applications run in it.
fn handle() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let builder = PrometheusBuilder::new()
                .set_buckets_for_metric(Matcher::Suffix("_ms".to_owned()), &DURATION_BUCKETS_MS)
                .unwrap_or_else(|_| PrometheusBuilder::new());
            let recorder = builder.build_recorder();
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("another recorder of metrics is installed; /metrics will be empty");
            }
            handle
        })
        .clone()
}

/// `GET /metrics`, for readers who send the token where there is one.
pub fn router(token: Option<Secret>) -> Router {
    Router::new()
        .route("/metrics", get(read))
        .with_state(Figures {
            handle: handle(),
            token,
        })
}

async fn read(State(figures): State<Figures>, headers: HeaderMap) -> Response {
    if !is_allowed(figures.token.as_ref(), &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    figures.handle.run_upkeep();
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4")],
        figures.handle.render(),
    )
        .into_response()
}

fn is_allowed(token: Option<&Secret>, headers: &HeaderMap) -> bool {
    let Some(token) = token else { return true };
    let sent = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
        .unwrap_or_default();
    sent.as_bytes().ct_eq(token.bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_opens_the_figures() {
        let token = Secret::new("0123456789abcdef0123456789abcdef");
        let mut headers = HeaderMap::new();
        assert!(is_allowed(None, &headers));
        assert!(!is_allowed(Some(&token), &headers));
        headers.insert(header::AUTHORIZATION, "Bearer wrong".parse().unwrap());
        assert!(!is_allowed(Some(&token), &headers));
        let right = format!("Bearer {}", token.expose());
        headers.insert(header::AUTHORIZATION, right.parse().unwrap());
        assert!(is_allowed(Some(&token), &headers));
    }
}
