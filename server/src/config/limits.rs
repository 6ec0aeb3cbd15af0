//! Bounds and waits. Each has its unit at the end of its name's meaning, and a default that fits a small machine.

use super::Reader;
use app::domain::time::Millis;

/// Bounds and waits of the sale.
#[derive(Debug, Clone)]
pub struct Limits {
    /// An order whose message is older than this when it is read is given up (`SEATFLOW_DISCARD_AFTER_MS`, default 5,000).
    pub discard_after: Millis,
    /// An accepted order that Kafka has not acknowledged for this long is sent again (`SEATFLOW_RESEND_AFTER_MS`, default 2,000).
    pub resend_after: Millis,
    /// How often overdue orders are looked for (`SEATFLOW_SWEEP_EVERY_MS`, default 5,000).
    pub sweep_every: Millis,
    /// How often due outbox rows are looked for (`SEATFLOW_OUTBOX_EVERY_MS`, default 500).
    pub outbox_every: Millis,
    /// How often stores are reconciled (`SEATFLOW_RECONCILE_EVERY_MS`, default 300,000).
    pub reconcile_every: Millis,
    /// Passwords hashed at the same time (`SEATFLOW_PASSWORD_HASHES`, default 2).
    pub password_hashes_max: usize,
    /// Requests served at the same time; more are told to come back (`SEATFLOW_REQUESTS`, default 2,048).
    pub requests_max: usize,
}

impl Limits {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            discard_after: reader.millis("SEATFLOW_DISCARD_AFTER_MS", 5_000),
            resend_after: reader.millis("SEATFLOW_RESEND_AFTER_MS", 2_000),
            sweep_every: reader.millis("SEATFLOW_SWEEP_EVERY_MS", 5_000),
            outbox_every: reader.millis("SEATFLOW_OUTBOX_EVERY_MS", 500),
            reconcile_every: reader.millis("SEATFLOW_RECONCILE_EVERY_MS", 300_000),
            password_hashes_max: reader.count("SEATFLOW_PASSWORD_HASHES", 2, 64),
            requests_max: reader.count("SEATFLOW_REQUESTS", 2_048, 100_000),
        }
    }
}

impl Reader<'_> {
    fn millis(&mut self, name: &str, default: u64) -> Millis {
        Millis(i64::try_from(self.number(name, default, 50..=3_600_000)).unwrap_or(i64::MAX))
    }

    fn count(&mut self, name: &str, default: u64, most: u64) -> usize {
        usize::try_from(self.number(name, default, 1..=most)).unwrap_or(usize::MAX)
    }
}
