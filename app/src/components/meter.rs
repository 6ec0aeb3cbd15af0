//! How much of something is left, as a bar and in words.

use crate::i18n::{catalogue, use_lang};
use leptos::prelude::*;

/// Below this share of free seats, in percent, the bar changes its colour.
const LOW_PERCENT: u32 = 20;

/// A bar of free seats. The words are for those who don't see it.
#[component]
pub fn Meter(
    /// Seats that are free.
    free: u32,
    /// Seats in all.
    total: u32,
) -> impl IntoView {
    let percent = u64::from(free) * 100 / u64::from(total.max(1));
    let low = percent < u64::from(LOW_PERCENT);
    view! {
        <span class="meter" aria-hidden="true">
            <i class:low=low style:width=format!("{percent}%")></i>
        </span>
        <span class="sr-only">{catalogue::seats_free(use_lang(), free, total)}</span>
    }
}
