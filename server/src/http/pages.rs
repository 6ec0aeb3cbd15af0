//! Pages, server functions, the language switch, and the browser's files.

use super::{AppState, context, visitor::LANG_COOKIE};
use app::{App, domain::text::Lang, shell};
use axum::{
    Router,
    extract::{Query, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use leptos_axum::{LeptosRoutes, generate_route_list};
use serde::Deserialize;
use tower_http::services::ServeDir;

/// How long a chosen language is kept, in seconds.
const LANG_LASTS_S: u32 = 400 * 24 * 3600;

/// Routes of pages and server functions.
pub fn router(state: &AppState) -> Router<AppState> {
    let routes = generate_route_list(App);
    let ports = state.ports.clone();
    let options = state.leptos.clone();
    Router::new()
        .leptos_routes_with_context(
            state,
            routes,
            move || context::provide(&ports),
            move || shell(options.clone()),
        )
        .route("/language", get(switch_language))
        .fallback(not_found)
}

/// The browser's files. Those under `/pkg` carry a hash of their content in their name and never change.
///
/// They are everybody's: no cookie may come with them, because shared caches keep them.
pub fn files(state: &AppState) -> Router<AppState> {
    let root = state.leptos.site_root.to_string();
    let serve = |folder: &str| {
        ServeDir::new(format!("{root}/{folder}"))
            .precompressed_br()
            .precompressed_gzip()
    };
    let kept = |value: &'static str| {
        middleware::from_fn(move |request: Request, next: Next| async move {
            let mut response = next.run(request).await;
            if response.status().is_success() {
                response
                    .headers_mut()
                    .insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
            }
            response
        })
    };
    let pkg = Router::new()
        .nest_service("/pkg", serve("pkg"))
        .layer(kept("public, max-age=31536000, immutable"));
    let rest = Router::new()
        .nest_service("/posters", serve("posters"))
        .route_service(
            "/favicon.svg",
            tower_http::services::ServeFile::new(format!("{root}/favicon.svg")),
        )
        .layer(kept("public, max-age=3600"));
    pkg.merge(rest)
}

/// Any other address: the application's own page for what is not there.
async fn not_found(State(state): State<AppState>, request: Request) -> Response {
    let ports = state.ports.clone();
    let options = state.leptos.clone();
    let render = leptos_axum::render_app_async_with_context(
        move || context::provide(&ports),
        move || shell(options.clone()),
    );
    let mut response = render(request).await;
    if response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

#[derive(Deserialize)]
struct LanguageChoice {
    to: String,
    next: Option<String>,
}

async fn switch_language(Query(choice): Query<LanguageChoice>) -> Response {
    let Some(lang) = Lang::from_tag(&choice.to) else {
        return (StatusCode::BAD_REQUEST, "unknown language").into_response();
    };
    let next = app::api::safe_path(choice.next.as_deref());
    let cookie = format!(
        "{LANG_COOKIE}={}; Path=/; SameSite=Lax; Max-Age={LANG_LASTS_S}",
        lang.tag()
    );
    ([(header::SET_COOKIE, cookie)], Redirect::to(next)).into_response()
}
