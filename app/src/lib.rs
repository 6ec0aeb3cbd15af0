//! SeatFlow as the browser knows it: the rules, the pages, and the functions that pages call on the server.
//!
//! The crate is built twice: for the server (feature `ssr`) and as wasm for the browser (feature `hydrate`). The server writes
//! whole pages; the wasm has nothing but the islands, which are the two pages that change while they are looked at. The crate
//! reaches the outside only through the traits of [`ports`], which the server implements.

#![recursion_limit = "256"]

pub mod api;
pub mod components;
pub mod domain;
pub mod error;
pub mod i18n;
pub mod pages;
#[cfg(feature = "ssr")]
pub mod ports;

#[cfg(feature = "ssr")]
pub use pages::{App, shell};
