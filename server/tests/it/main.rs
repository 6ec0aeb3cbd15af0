//! The integration tests: one binary, on real services named by `DATABASE_URL`, `REDIS_URL` and `KAFKA_BROKERS`.
//!
//! A missing service fails the tests; nothing is skipped.

mod gateway;
mod kafka;
mod model;
mod sale;
mod scripts;
mod standing;
mod support;
