//! Standing zones: places without seats.
//!
//! A zone's places are counted, and the count is split in pieces that lie in different slots of a cluster, so that a rush
//! for one zone is spread. An order takes its places first (`take.rs`) and is held afterwards, which checks limits, the
//! sale window and repeats. What is taken for an order that is then refused goes back.
//!
//! **Architecture Invariant:** an unknown result is never taken as "did not run". Places of an order whose hold may have
//! run stay taken; reconciliation gives them back after the lease of a lock, by the tombstone.
//!
//! **Architecture Invariant:** the stock in the database keeps the capacity. Redis decides who is quick enough; what
//! both say differently is put right in Redis.

pub mod capacity;
pub mod evidence;
pub mod left;
pub(super) mod pieces;
mod take;
