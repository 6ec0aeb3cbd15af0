//! The sale itself: holding, ordering, paying, giving up, and letting time pass.

mod bad_input;
mod best;
mod contention;
mod expiry;
mod journey;
mod pages;
mod paying;
mod races;
mod rebuilding;
mod reconciling;
