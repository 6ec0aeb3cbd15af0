//! Producer and consumers on a real broker. Every test has topics of its own under a random prefix.

mod batches;
mod broker;
mod delays;
mod given_up;
mod producer;
