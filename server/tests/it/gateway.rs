//! The simulated gateway over HTTP, on a real store named by `DATABASE_URL`, as its channel and its customers see it.

mod api;
mod callbacks;
mod cashier;
mod delivering;
mod fixture;
mod lateness;
mod refunds;
