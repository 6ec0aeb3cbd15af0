//! Bounds and waits. Each has its unit at the end of its name's meaning, and a default that fits a small machine.

use super::{Reader, TimeoutSteps};
use app::domain::time::Millis;

/// How long a lock may be without a row unless configured: longer than sending, creating and committing take together.
pub const LOCK_LEASE: Millis = Millis::seconds(60);
/// What a lease is longer than the age at which messages are given up: time for the batch in hand and its transaction.
const LOCK_LEASE_MARGIN: Millis = Millis::seconds(5);

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
    /// How long a show that Redis lost stays closed for orders that are on their way (`SEATFLOW_DRAIN_MAX_MS`, default 5,000:
    /// what is older is given up anyway).
    pub drain_max: Millis,
    /// In how many steps an order's deadline is waited for (`SEATFLOW_TIMEOUT_STEPS_MS`, default one step to the deadline).
    pub timeout_steps: TimeoutSteps,
    /// How often a timeout message is tried before it goes to the dead letters and its order is left to the sweeper
    /// (`SEATFLOW_TIMEOUT_TRIES`, default 10, which outlasts a restart of the database; 1 to 100).
    pub timeout_tries: u32,
    /// How often stores are reconciled (`SEATFLOW_RECONCILE_EVERY_MS`, default 300,000).
    pub reconcile_every: Millis,
    /// How long a lock may be without a row before reconciliation frees it (`SEATFLOW_LOCK_LEASE_MS`, default 60,000; at
    /// least 5,000 more than `discard_after`).
    pub lock_lease: Millis,
    /// How long after a show has begun, and its sale has ended, it is over and leaves Redis; a withdrawn one, after nothing was
    /// left to do for its orders (`SEATFLOW_UNLOAD_AFTER_MS`, default 86,400,000: a day; at most a year).
    pub unload_after: Millis,
    /// Passwords hashed at the same time (`SEATFLOW_PASSWORD_HASHES`, default 2).
    pub password_hashes_max: usize,
    /// Requests served at the same time; more are told to come back (`SEATFLOW_REQUESTS`, default 2,048).
    pub requests_max: usize,
}

impl Limits {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let discard_after = reader.millis("SEATFLOW_DISCARD_AFTER_MS", 5_000);
        Self {
            discard_after,
            lock_lease: reader.lock_lease(discard_after),
            resend_after: reader.millis("SEATFLOW_RESEND_AFTER_MS", 2_000),
            sweep_every: reader.millis("SEATFLOW_SWEEP_EVERY_MS", 5_000),
            outbox_every: reader.millis("SEATFLOW_OUTBOX_EVERY_MS", 500),
            drain_max: reader.millis("SEATFLOW_DRAIN_MAX_MS", 5_000),
            timeout_steps: reader.parsed(
                "SEATFLOW_TIMEOUT_STEPS_MS",
                TimeoutSteps::default(),
                "lengths in milliseconds up to a day, at most 20, separated by commas",
            ),
            timeout_tries: u32::try_from(reader.number("SEATFLOW_TIMEOUT_TRIES", 10, 1..=100))
                .unwrap_or(u32::MAX),
            reconcile_every: reader.millis("SEATFLOW_RECONCILE_EVERY_MS", 300_000),
            unload_after: reader.unload_after(),
            password_hashes_max: reader.count("SEATFLOW_PASSWORD_HASHES", 2, 64),
            requests_max: reader.count("SEATFLOW_REQUESTS", 2_048, 100_000),
        }
    }
}

impl Reader<'_> {
    fn millis(&mut self, name: &str, default: u64) -> Millis {
        Millis(i64::try_from(self.number(name, default, 50..=3_600_000)).unwrap_or(i64::MAX))
    }

    fn unload_after(&mut self) -> Millis {
        let bounds = 50..=31_536_000_000;
        let after = self.number("SEATFLOW_UNLOAD_AFTER_MS", 86_400_000, bounds);
        Millis(i64::try_from(after).unwrap_or(i64::MAX))
    }

    /// A shorter lease would have orders buried that are on their way. That sells nothing twice, but loses them.
    fn lock_lease(&mut self, discard_after: Millis) -> Millis {
        let name = "SEATFLOW_LOCK_LEASE_MS";
        let lease = self.number(name, LOCK_LEASE.0.unsigned_abs(), 50..=86_400_000);
        let lease = Millis(i64::try_from(lease).unwrap_or(i64::MAX));
        let least = Millis(discard_after.0 + LOCK_LEASE_MARGIN.0);
        if lease < least {
            self.faults.push(format!(
                "{name} is shorter than {} ms: SEATFLOW_DISCARD_AFTER_MS and {} ms",
                least.0, LOCK_LEASE_MARGIN.0
            ));
        }
        lease
    }

    fn count(&mut self, name: &str, default: u64, most: u64) -> usize {
        usize::try_from(self.number(name, default, 1..=most)).unwrap_or(usize::MAX)
    }
}
