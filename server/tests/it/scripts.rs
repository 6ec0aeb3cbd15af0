//! The Redis scripts and commands on a real Redis, named by `REDIS_URL`.

mod block;
mod commands;
mod confirm;
mod connection;
mod fixture;
mod hold;
mod leases;
mod load;
mod order_cache;
mod properties;
mod release;
mod seats;
mod set_terms;
mod tickets;
mod unload;
