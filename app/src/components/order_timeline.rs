//! What happened to an order, as a list of moments.

use crate::{
    components::venue_time::VenueTimeText,
    domain::timeline::TimelineEntry,
    i18n::{order::OrderText, timeline::happening, use_lang},
};
use leptos::prelude::*;

/// Everything that happened, oldest first, each with the venue's time.
#[component]
pub fn OrderTimeline(
    /// The entries.
    entries: Vec<TimelineEntry>,
) -> impl IntoView {
    let lang = use_lang();
    let entry = |entry: TimelineEntry| {
        view! {
            <li>
                <span>{happening(lang, &entry.what)}</span>
                <span class="small"><VenueTimeText time=entry.at with_year=true /></span>
            </li>
        }
    };
    let is_told = !entries.is_empty();
    is_told.then(|| {
        view! {
            <section class="timeline" aria-labelledby="timeline">
                <h2 id="timeline">{OrderText::of(lang).what_happened}</h2>
                <ol>{entries.into_iter().map(entry).collect::<Vec<_>>()}</ol>
            </section>
        }
    })
}
