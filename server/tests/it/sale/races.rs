//! Things that happen at the same instant: one of them wins everywhere, and the others change nothing.
//!
//! Payment, customer and deadline race 200 times by default; the environment variable `SEATFLOW_RACE_ROUNDS` asks for
//! another number.

mod payment;
mod reversal;
mod seats;
