//! The way in: routes, who is asking, and what every answer carries.

mod context;
mod guard;
pub mod health;
pub mod metrics;
mod pages;
mod payments;
mod seats;
pub mod session;
mod visitor;

use crate::{gateway::Gateway, ticketing::Ticketing};
use app::ports::Ports;
use axum::{Router, extract::FromRef, middleware};
use ipnet::IpNet;
use leptos::prelude::LeptosOptions;
use std::sync::Arc;
use tower_http::{
    catch_panic::CatchPanicLayer, compression::CompressionLayer, limit::RequestBodyLimitLayer,
};

/// Most bytes of a request's body.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// What handlers share.
#[derive(Clone)]
pub struct AppState {
    /// The use cases.
    pub ticketing: Ticketing,
    /// The same, as pages and server functions see them.
    pub ports: Ports,
    /// How pages are rendered.
    pub leptos: LeptosOptions,
    /// Proxies whose word on a visitor's address is taken.
    pub trusted_proxies: Arc<[IpNet]>,
    /// Requests that may be served at the same time.
    pub places: Arc<tokio::sync::Semaphore>,
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(state: &AppState) -> Self {
        state.leptos.clone()
    }
}

/// Every route of the server; the gateway's too, unless it runs apart.
pub fn router(state: AppState, gateway: Option<&Gateway>) -> Router {
    let product = pages::router(&state)
        .merge(seats::router())
        .layer(middleware::from_fn_with_state(
            state.clone(),
            visitor::identify,
        ))
        .layer(middleware::from_fn(guard::refuse_cross_site_posts));
    let bank = match gateway {
        Some(gateway) => Router::new().nest("/gateway", gateway.router()),
        None => Router::new(),
    };
    Router::new()
        .merge(product)
        .merge(pages::files(&state))
        .merge(payments::router())
        .merge(health::router())
        .with_state(state.clone())
        .merge(bank)
        .layer(RequestBodyLimitLayer::new(BODY_BYTES_MAX))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn(guard::security_headers))
        .layer(middleware::from_fn_with_state(state, guard::bounded))
        .layer(CatchPanicLayer::new())
}
