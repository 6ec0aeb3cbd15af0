//! Names of submissions: a form that is sent twice carries one name, so that the server does once what it says.

/// Names one submission.
#[cfg(feature = "ssr")]
#[must_use]
pub fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Names one submission. It must differ from the same person's other submissions, no more.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
#[must_use]
pub fn new_key() -> String {
    let random = || js_sys::Math::random().to_bits() & 0xffff_ffff_ffff;
    format!("{:x}-{:x}", random(), random())
}

/// Names one submission; nobody submits anything in a build without a browser or a server.
#[cfg(not(any(feature = "ssr", feature = "hydrate")))]
#[must_use]
pub fn new_key() -> String {
    String::new()
}
