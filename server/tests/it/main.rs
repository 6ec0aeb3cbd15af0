//! The integration tests: one binary, on real services named by `DATABASE_URL`, `REDIS_URL` and `KAFKA_BROKERS`. Those of a
//! Redis Cluster start one of their own, with the program `redis-server`.
//!
//! A missing service fails the tests; nothing is skipped.

mod gateway;
mod kafka;
mod model;
mod redis_cluster;
mod sale;
mod scripts;
mod standing;
mod support;
