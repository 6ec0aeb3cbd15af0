//! The subcommands of `seatflow` that are not `serve`.

pub mod plan;
pub mod seed;
