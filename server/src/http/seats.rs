//! The seat map's own addresses: a compact body for polls, and the drawn map for pages that were not loaded whole.

use super::AppState;
use crate::ticketing::Failure;
use app::{
    components::seat_map::render,
    domain::{
        ids::{ShowId, ZoneId},
        seat::MapVersion,
        standing::STANDING_HEADER,
    },
    error::AppError,
    ports::Visitor,
};
use axum::{
    Extension, Router,
    extract::{Path, Query, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;

/// Routes of the seat map.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/shows/{id}/seats", get(poll))
        .route("/shows/{id}/map", get(drawn))
}

#[derive(Deserialize)]
struct Since {
    since: Option<String>,
}

/// What changed since a version; the body is described at [`app::domain::seat::MapUpdate::encode`], what standing zones
/// have left is in a header of its own.
async fn poll(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<Since>,
) -> Response {
    let Ok(id) = id.parse::<ShowId>() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let since = query.since.as_deref().and_then(MapVersion::from_query);
    let answer = async {
        let update = state.ticketing.seat_map(id, since).await?;
        let standing = state.ticketing.standing_left(id).await?;
        Ok::<_, Failure>(update.map(|update| (update, standing)))
    };
    match answer.await {
        Ok(Some((update, standing))) => {
            let mut response = (
                [
                    (header::CONTENT_TYPE, "application/octet-stream"),
                    (header::CACHE_CONTROL, "no-store"),
                ],
                update.encode(),
            )
                .into_response();
            if let Some(left) = standing_header(&standing) {
                response.headers_mut().insert(STANDING_HEADER, left);
            }
            response
        }
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(failure) => told(&failure.into_app_error("poll seat map")),
    }
}

/// What standing zones have left, as [`STANDING_HEADER`] says it; none when the show has no such zone.
fn standing_header(left: &[(ZoneId, u32)]) -> Option<HeaderValue> {
    if left.is_empty() {
        return None;
    }
    let pairs: Vec<String> = left
        .iter()
        .map(|(zone, left)| format!("{zone}:{left}"))
        .collect();
    HeaderValue::from_str(&pairs.join(",")).ok()
}

/// The seats as HTML, for a page that the browser put together itself.
async fn drawn(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let Ok(id) = id.parse::<ShowId>() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let drawn = async {
        let show = state.ports.catalogue.show(id).await?;
        let map = state.ports.catalogue.show_map(id).await?;
        let own = render::Own::default();
        Ok::<_, AppError>(render::seats_html(&map, &show, visitor.lang, &own))
    };
    match drawn.await {
        Ok(html) => (
            [
                (header::CONTENT_TYPE, "text/html; charset=utf-8"),
                (header::CACHE_CONTROL, "no-store"),
            ],
            html,
        )
            .into_response(),
        Err(error) => told(&error),
    }
}

fn told(error: &AppError) -> Response {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::RETRY_AFTER, "1")]).into_response()
}
