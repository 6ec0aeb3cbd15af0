//! Pauses between attempts, and attempts that panic.

use futures::FutureExt;
use std::{panic::AssertUnwindSafe, time::Duration};

/// Pauses that double from the first to the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pauses {
    /// The pause after the first failure.
    pub first: Duration,
    /// No pause is longer.
    pub longest: Duration,
}

impl Pauses {
    /// The pause after the given number of failures, counted from 1.
    #[must_use]
    pub fn after(&self, failures: u32) -> Duration {
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
        self.first.saturating_mul(factor).min(self.longest)
    }
}

/// Runs a handler; none when it panicked. A consumer that died of one message would take all the others with it.
pub(super) async fn surviving<T>(attempt: impl Future<Output = T>) -> Option<T> {
    AssertUnwindSafe(attempt).catch_unwind().await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let pauses = Pauses {
            first: Duration::from_millis(50),
            longest: Duration::from_millis(2_000),
        };
        let lengths: Vec<u128> = (1..=8).map(|n| pauses.after(n).as_millis()).collect();
        assert_eq!(lengths, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        assert_eq!(pauses.after(u32::MAX).as_millis(), 2_000);
    }

    #[tokio::test]
    async fn a_panic_in_a_handler_is_an_answer() {
        assert_eq!(surviving(async { 7 }).await, Some(7));
        let panicking = async {
            if true {
                panic!("on purpose")
            }
        };
        assert_eq!(surviving(panicking).await, None);
    }
}
