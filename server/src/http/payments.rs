//! Where payment gateways send their notices.

use super::AppState;
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    routing::post,
};

/// Routes of notices.
pub fn router() -> Router<AppState> {
    Router::new().route("/callbacks/payments/{channel}", post(notice))
}

/// A notice: 200 once it is recorded, 401 for a bad signature or time, 400 unreadable, 404 unknown payment or channel.
async fn notice(
    State(state): State<AppState>,
    Path(channel): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let ticketing = &state.ticketing;
    ticketing.take_callback(&channel, &headers, &body).await
}
