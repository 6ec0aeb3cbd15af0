//! What was ordered, as a list of facts.

use crate::{
    components::venue_time::VenueTimeText,
    domain::order::{OrderItem, OrderView},
    i18n::{
        Lang,
        order::{self, OrderText},
        refund, seats, show, use_lang,
    },
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
    let tickets = tickets(lang, &order.items);
    let tax = order.tax.map(|included| refund::tax(lang, &included));
    view! {
        <dl class="facts">
            <dt>{text.show}</dt>
            <dd><a href=format!("/shows/{}", order.show_id)>{order.title.get(lang).to_owned()}</a></dd>
            <dt>{text.when}</dt>
            <dd><VenueTimeText time=order.starts /></dd>
            <dt>{text.place}</dt>
            <dd>{place}</dd>
            <dt>{text.tickets}</dt>
            <dd>
                {tickets}
                {order.apart.then(|| view! { <p class="soft small">{text.apart}</p> })}
            </dd>
            <dt>{text.total}</dt>
            <dd>
                <b>{order.total.to_string()}</b> " " <span class="soft small">{text.all_included}</span>
                {tax.map(|tax| view! { <p class="soft small num">{tax}</p> })}
            </dd>
            <dt>{text.placed}</dt>
            <dd><VenueTimeText time=order.placed with_year=true /></dd>
            {order.paid.map(|paid| view! {
                <dt>{text.paid_at}</dt>
                <dd><VenueTimeText time=paid with_year=true /></dd>
            })}
        </dl>
    }
}

/// The tickets: those of one row and price category together, or each by itself where each has something of its own.
fn tickets(lang: Lang, items: &[OrderItem]) -> Vec<AnyView> {
    let has_own = |item: &OrderItem| item.attendee.is_some() || item.refund.is_some();
    if items.iter().any(has_own) {
        return items.iter().map(|item| ticket(lang, item)).collect();
    }
    let row = |(places, zone): (String, &str)| {
        let zone = zone.to_owned();
        view! { <p>{places} <span class="soft">" · " {zone}</span></p> }.into_any()
    };
    seats::rows(lang, items).into_iter().map(row).collect()
}

/// One ticket: struck through, with a word on it, once it is given back.
fn ticket(lang: Lang, item: &OrderItem) -> AnyView {
    let place = seats::ticket(lang, item);
    let zone = item.zone.get(lang).to_owned();
    let person = item
        .attendee
        .as_deref()
        .map(|name| order::for_whom(lang, name));
    let person = person.map(|name| view! { <span class="facts__for">{name}</span> });
    let words = view! { <span>{place} <span class="soft">" · " {zone}</span></span> };
    match item.refund {
        None => view! { <p>{words} {person}</p> }.into_any(),
        Some(progress) => {
            let state = refund::ticket_word(lang, progress);
            view! { <p><s>{words} {person}</s> " " <span class="tag">{state}</span></p> }.into_any()
        }
    }
}
