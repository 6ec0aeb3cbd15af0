//! What pages and server functions find in their context.

use app::ports::{Ports, Visitor};
use axum::http::{HeaderValue, header, request::Parts};
use leptos::prelude::{provide_context, use_context};
use leptos_axum::ResponseOptions;

/// Provides the ports and the visitor, and gives the answer its content security policy.
pub fn provide(ports: &Ports) {
    provide_context(ports.clone());
    let visitor =
        use_context::<Parts>().and_then(|parts| parts.extensions.get::<Visitor>().cloned());
    if let Some(visitor) = visitor {
        provide_context(visitor);
    }
    if let Some(response) = use_context::<ResponseOptions>() {
        if let Ok(policy) = HeaderValue::from_str(&content_security_policy()) {
            response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
        }
        // Pages differ by visitor; only files with hashed names may be kept.
        response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Scripts only with this answer's nonce (and wasm), everything else from this site; seats are placed by style attributes.
fn content_security_policy() -> String {
    let nonce =
        leptos::nonce::use_nonce().map_or_else(String::new, |nonce| format!(" 'nonce-{nonce}'"));
    format!(
        "default-src 'self'; script-src 'self'{nonce} 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
}
