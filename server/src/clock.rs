//! The clock, as a value that can be handed in: tests move it instead of sleeping.

use app::domain::time::{Millis, Timestamp};
use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let elapsed = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The machine's clock moved by an offset that can be changed; or one that stands still until it is moved.
#[derive(Debug, Default)]
pub struct ShiftedClock {
    offset_ms: AtomicI64,
    stopped_at: Option<Timestamp>,
}

impl ShiftedClock {
    /// A clock that stands at the present moment and goes only as far as it is moved: however long a slow machine takes,
    /// no deadline passes by itself.
    #[must_use]
    pub fn stopped() -> Self {
        Self::stopped_at(SystemClock.now())
    }

    /// As [`Self::stopped`], at a moment of one's own.
    #[must_use]
    pub fn stopped_at(moment: Timestamp) -> Self {
        Self {
            offset_ms: AtomicI64::default(),
            stopped_at: Some(moment),
        }
    }

    /// Moves the clock forward, or back by a negative length.
    pub fn advance(&self, by: Millis) {
        self.offset_ms.fetch_add(by.0, Ordering::Relaxed);
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        let at = self.stopped_at.unwrap_or_else(|| SystemClock.now());
        at + Millis(self.offset_ms.load(Ordering::Relaxed))
    }
}
