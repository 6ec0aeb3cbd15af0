//! Who is asking: account, device, address and language of each request.

use super::{AppState, session::cookie};
use app::{domain::text::Lang, ports::Visitor};
use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Where proxies write whom they speak for, each behind those before it.
const FORWARDED_FOR: &str = "x-forwarded-for";
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
        ip: address(&request, &state.trusted_proxies),
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

/// Where a request comes from: the other end of its connection, or, behind trusted proxies, whom the nearest of them that
/// is not trusted itself was for. What stands to the left of that anybody could have written.
fn address(request: &Request, trusted: &[IpNet]) -> IpAddr {
    let peer = request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip());
    let forwarded = request.headers().get_all(FORWARDED_FOR);
    let forwarded: Vec<&str> = forwarded
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let is_trusted = |address: &IpAddr| {
        let address = address.to_canonical();
        trusted.iter().any(|network| network.contains(&address))
    };
    let mut nearest = peer;
    for hop in forwarded.into_iter().rev() {
        if !is_trusted(&nearest) {
            break;
        }
        let Ok(before) = hop.trim().parse() else {
            break;
        };
        nearest = before;
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn from(peer: &str, forwarded: &[&str]) -> String {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "2001:db8::/32"]
            .map(|network| network.parse().unwrap())
            .into();
        let mut request = Request::new(Body::empty());
        let peer = SocketAddr::new(peer.parse().unwrap(), 40_000);
        request.extensions_mut().insert(ConnectInfo(peer));
        for value in forwarded {
            let value = value.parse().unwrap();
            request.headers_mut().append(FORWARDED_FOR, value);
        }
        address(&request, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed_and_only_as_far_as_they_saw() {
        let cases = [
            ("192.0.2.1", &["198.51.100.7"][..], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("::ffff:10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["198.51.100.7, 10.2.3.4"], "198.51.100.7"),
            ("10.0.0.1", &["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
            ("2001:db8::1", &["2a00:1450::7"], "2a00:1450::7"),
            ("10.0.0.1", &["203.0.113.9, nonsense"], "10.0.0.1"),
        ];
        for (peer, forwarded, expected) in cases {
            assert_eq!(from(peer, forwarded), expected, "{peer} {forwarded:?}");
        }
    }
}
