//! Who is asking: account, device, address and language of each request.

use super::{AppState, session::cookie};
use app::{domain::text::Lang, ports::Visitor};
use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Name of the cookie with the chosen language.
pub const LANG_COOKIE: &str = "lang";

/// Puts a [`Visitor`] into each request, and names devices that have no name.
pub async fn identify(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let sessions = state.ticketing.sessions();
    let (device, new_device) = match sessions.device(request.headers()) {
        Some(device) => (device, None),
        None => {
            let (name, set_cookie) = sessions.name_device();
            (name, Some(set_cookie))
        }
    };
    let (user, phone) = sessions
        .signed_in(request.headers())
        .map_or((None, String::new()), |session| {
            (Some(session.user), session.phone_hash)
        });
    let visitor = Visitor {
        user,
        device,
        phone,
        ip: address(&request),
        lang: language(request.headers()),
    };
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    if let Some(cookie) = new_device.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// The chosen language, else the browser's, else English.
pub fn language(headers: &HeaderMap) -> Lang {
    cookie(headers, LANG_COOKIE)
        .and_then(Lang::from_tag)
        .or_else(|| {
            let accepted = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
            Lang::from_accept_language(accepted)
        })
        .unwrap_or_default()
}

fn address(request: &Request) -> IpAddr {
    request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip())
}
