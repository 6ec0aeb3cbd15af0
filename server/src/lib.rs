//! SeatFlow's server: everything that touches the outside.

pub mod cli;
pub mod clock;
pub mod config;
pub mod gateway;
pub mod http;
pub mod kafka;
pub mod mysql;
pub mod payment_channel;
mod ports;
pub mod redis;
mod running;
pub mod ticketing;

pub use running::{BuildError, Running, build, connect, kafka_config, look, serve_on};
