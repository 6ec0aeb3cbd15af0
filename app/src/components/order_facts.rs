//! What was ordered, as a list of facts.

use crate::{
    components::venue_time::VenueTimeText,
    domain::order::OrderView,
    i18n::{order::OrderText, seats, show, use_lang},
};
use leptos::prelude::*;

/// Show, time, place, seats and total of an order, and when it was placed and paid.
#[component]
pub fn OrderFacts(
    /// The order.
    order: OrderView,
) -> impl IntoView {
    let lang = use_lang();
    let text = OrderText::of(lang);
    let (hall, venue, city) = (&order.hall, &order.venue, &order.city);
    let place = show::where_it_is(lang, &[hall.get(lang), venue.get(lang), city.get(lang)]);
    let row = |(seats, zone): (String, &str)| {
        let zone = zone.to_owned();
        view! { <p>{seats} <span class="soft">" · " {zone}</span></p> }
    };
    let rows: Vec<_> = seats::rows(lang, &order.items)
        .into_iter()
        .map(row)
        .collect();
    view! {
        <dl class="facts">
            <dt>{text.show}</dt>
            <dd><a href=format!("/shows/{}", order.show_id)>{order.title.get(lang).to_owned()}</a></dd>
            <dt>{text.when}</dt>
            <dd><VenueTimeText time=order.starts /></dd>
            <dt>{text.place}</dt>
            <dd>{place}</dd>
            <dt>{text.seats}</dt>
            <dd>{rows}</dd>
            <dt>{text.total}</dt>
            <dd><b>{order.total.to_string()}</b> " " <span class="soft small">{text.all_included}</span></dd>
            <dt>{text.placed}</dt>
            <dd><VenueTimeText time=order.placed with_year=true /></dd>
            {order.paid.map(|paid| view! {
                <dt>{text.paid_at}</dt>
                <dd><VenueTimeText time=paid with_year=true /></dd>
            })}
        </dl>
    }
}
