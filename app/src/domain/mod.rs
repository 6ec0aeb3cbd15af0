//! The rules of selling seats: identifiers, money, time, states and their transitions.
//!
//! **Architecture Invariant:** nothing here performs I/O, reads a clock or draws a random number, and nothing here
//! names Leptos, axum, sqlx, Redis or Kafka. Time and randomness come in as arguments.

pub mod attendee;
pub mod best_available;
pub mod catalogue;
pub mod hold;
pub mod ids;
pub mod money;
pub mod order;
pub mod payment;
pub mod plan;
pub mod refund;
pub mod seat;
pub mod show_terms;
pub mod standing;
mod tagged;
pub mod tax;
pub mod text;
pub mod time;
pub mod timeline;
pub mod user;
