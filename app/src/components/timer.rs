//! A timer and a clock of the browser, which do nothing on the server.

use leptos::prelude::*;

/// At most one running timer. It ends with the component that made it.
///
/// What it keeps is a count and no handle of the browser's, because the server drops what it has rendered on any thread.
#[derive(Clone, Copy)]
pub struct Timer {
    /// How often the timer was started or stopped; an older start has nothing to say any more.
    starts: StoredValue<u32>,
}

impl Timer {
    /// A timer that does not run.
    #[must_use]
    pub fn new() -> Self {
        Self {
            starts: StoredValue::new(0),
        }
    }

    /// Calls `then` once, `after_ms` from now, instead of what the timer was to call before.
    pub fn start(self, after_ms: u32, then: impl FnOnce() + 'static) {
        self.stop();
        let started = self.starts.try_get_value();
        let then = move || {
            // A timer that is gone belonged to a page that is gone.
            if started.is_some() && self.starts.try_get_value() == started {
                then();
            }
        };
        call_later(after_ms, then);
    }

    /// Forgets what the timer was to call.
    pub fn stop(self) {
        let _ = self
            .starts
            .try_update_value(|starts| *starts = starts.wrapping_add(1));
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
fn call_later(after_ms: u32, then: impl FnOnce() + 'static) {
    gloo_timers::callback::Timeout::new(after_ms, then).forget();
}

#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
fn call_later(_after_ms: u32, _then: impl FnOnce() + 'static) {}

/// Milliseconds since the page was opened, by a clock that nobody can set.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
#[must_use]
pub fn monotonic_ms() -> i64 {
    let now = window()
        .performance()
        .map(|performance| performance.now())
        .unwrap_or_default();
    // Whole milliseconds of a page's life stay far below 2^53.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole milliseconds are wanted"
    )]
    let whole = now as i64;
    whole
}

/// On the server no time passes.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
#[must_use]
pub fn monotonic_ms() -> i64 {
    0
}
