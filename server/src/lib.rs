//! SeatFlow's server: everything that touches the outside.

pub mod cli;
pub mod clock;
pub mod config;
pub mod fault;
pub mod gateway;
mod gateway_process;
pub mod http;
pub mod kafka;
pub mod mysql;
pub mod payment_channel;
mod ports;
pub mod redis;
mod running;
pub mod ticketing;

pub use gateway_process::{GatewayProcessError, RunningGateway};
pub use running::{
    BuildError, Running, build, channels, connect, connect_through, kafka_config, look, serve_on,
    serve_through,
};
