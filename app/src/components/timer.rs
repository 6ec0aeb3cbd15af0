//! A timer and a clock of the browser, which do nothing on the server.

use leptos::prelude::*;

#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
type Running = gloo_timers::callback::Timeout;
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
type Running = ();

/// At most one running timer. It ends with the component that made it.
#[derive(Clone, Copy)]
pub struct Timer(StoredValue<Option<Running>, LocalStorage>);

impl Timer {
    /// A timer that does not run.
    #[must_use]
    pub fn new() -> Self {
        Self(StoredValue::new_local(None))
    }

    /// Calls `then` once, `after_ms` from now, instead of what the timer was to call before.
    pub fn start(self, after_ms: u32, then: impl FnOnce() + 'static) {
        // Setting a disposed timer drops the new one, so nothing fires for a page that is gone.
        let _ = self.0.try_set_value(Some(run(after_ms, then)));
    }

    /// Forgets what the timer was to call.
    pub fn stop(self) {
        let _ = self.0.try_set_value(None);
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
fn run(after_ms: u32, then: impl FnOnce() + 'static) -> Running {
    gloo_timers::callback::Timeout::new(after_ms, then)
}

#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
fn run(_after_ms: u32, _then: impl FnOnce() + 'static) -> Running {}

/// Milliseconds since the page was opened, by a clock that nobody can set.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
#[must_use]
pub fn monotonic_ms() -> i64 {
    let now = window().performance().map(|performance| performance.now()).unwrap_or_default();
    // Whole milliseconds of a page's life stay far below 2^53.
    #[expect(clippy::cast_possible_truncation, reason = "whole milliseconds are wanted")]
    let whole = now as i64;
    whole
}

/// On the server no time passes.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
#[must_use]
pub fn monotonic_ms() -> i64 {
    0
}
