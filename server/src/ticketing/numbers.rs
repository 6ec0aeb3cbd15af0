//! Order numbers: never the same twice, never going back.

use crate::{clock::Clock, redis::nodes::NodeLease};
use app::domain::ids::{OrderNo, UserId};
use std::sync::{Arc, Mutex, PoisonError};

/// Makes order numbers for one server.
pub struct OrderNumbers {
    lease: Arc<NodeLease>,
    clock: Arc<dyn Clock>,
    last: Mutex<Last>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Last {
    ms: i64,
    sequence: u16,
}

impl Last {
    /// The next pair: a later millisecond starts at zero, a full one borrows the next, a clock that went back is ignored.
    fn next(self, now_ms: i64) -> Self {
        if now_ms > self.ms {
            return Self {
                ms: now_ms,
                sequence: 0,
            };
        }
        if self.sequence + 1 < OrderNo::PER_MS {
            return Self {
                ms: self.ms,
                sequence: self.sequence + 1,
            };
        }
        Self {
            ms: self.ms + 1,
            sequence: 0,
        }
    }
}

impl OrderNumbers {
    /// Numbers that carry the leased node.
    #[must_use]
    pub fn new(lease: Arc<NodeLease>, clock: Arc<dyn Clock>) -> Self {
        Self {
            lease,
            clock,
            last: Mutex::new(Last::default()),
        }
    }

    /// The next number for an order of `user`; none while this server has no node of its own.
    pub fn next(&self, user: UserId) -> Option<OrderNo> {
        let node = self.lease.node_at(tokio::time::Instant::now())?;
        let now_ms = self.clock.now().0;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = last.next(now_ms);
        OrderNo::from_parts(last.ms, node, last.sequence, user).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Last;
    use std::collections::HashSet;

    #[test]
    fn numbers_differ_and_grow_whatever_the_clock_does() {
        let mut last = Last::default();
        let mut seen = HashSet::new();
        let mut previous = (0, 0);
        for step in 0..5_000_i64 {
            // Stands still, jumps forward, and once goes back.
            let now = 1_000 + step / 3_000 - if step == 3_500 { 900 } else { 0 };
            last = last.next(now);
            let pair = (last.ms, last.sequence);
            assert!(pair > previous && seen.insert(pair), "{pair:?}");
            previous = pair;
        }
    }
}
