//! The subcommands of `seatflow` that are not `serve`.

pub mod accounts;
pub mod block;
mod catalogue;
pub mod dead_letters;
pub mod discrepancies;
pub mod order;
mod order_show;
pub mod plan;
pub mod reconcile;
pub mod seed;
pub mod show;
pub mod show_life;
mod show_refunds;
pub mod staff;
