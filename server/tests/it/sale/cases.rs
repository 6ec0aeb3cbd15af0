//! Faults that real ticketing systems had, each as the outcome that is right. Those that belong to one mechanism are
//! tested beside it (`paying`, `expiry`, `contention`, `races`); here are those that cut across.

mod callbacks;
mod crashes;
mod deadlines;
mod errors;
mod late_money;
mod stories;
