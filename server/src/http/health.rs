//! Whether the server lives, and whether it can serve.

use super::AppState;
use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, routing::get};
use serde::Serialize;

/// Routes of health.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/health/live", get(|| async { "ok" }))
        .route("/health/ready", get(ready))
}

#[derive(Serialize)]
struct Readiness {
    database: bool,
    redis: bool,
}

async fn ready(State(state): State<AppState>) -> impl IntoResponse {
    let (database, redis) =
        tokio::join!(state.ticketing.db().ping(), state.ticketing.redis().ping());
    let readiness = Readiness {
        database: database.is_ok(),
        redis: redis.is_ok(),
    };
    let all = readiness.database && readiness.redis;
    let status = if all {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(readiness))
}
