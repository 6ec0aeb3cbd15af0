//! A time at a venue, always with its zone.

use crate::{
    domain::time::VenueTime,
    i18n::{time, use_lang, zone::zone_name},
};
use leptos::prelude::*;

/// Date and time of day on the venue's clock, and the zone's name.
#[component]
pub fn VenueTimeText(
    /// The time.
    time: VenueTime,
    /// Whether the year is said too.
    #[prop(optional)]
    with_year: bool,
) -> impl IntoView {
    let lang = use_lang();
    let text = if with_year {
        time::full_date_time(lang, &time)
    } else {
        time::date_time(lang, &time)
    };
    view! {
        <time class="num" datetime=time::machine(&time)>{text}</time>
        " "
        <span class="zone soft small">{zone_name(lang, &time)}</span>
    }
}
