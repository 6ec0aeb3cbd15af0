//! A show as one small link: when, from what price, and how much is left.

use crate::{
    components::meter::Meter,
    domain::catalogue::{SaleState, ShowSummary},
    i18n::{catalogue, use_lang},
};
use leptos::prelude::*;

/// One show of an event, leading to its seats. A show that can't be bought says why and still leads to its page.
#[component]
pub fn ShowChip(
    /// The show.
    show: ShowSummary,
    /// Whether the hall's name is needed to tell shows apart.
    #[prop(optional)]
    with_hall: bool,
) -> impl IntoView {
    let lang = use_lang();
    let note = catalogue::sale_note(lang, &show.sale, &show.starts);
    let is_full = !matches!(show.sale, SaleState::OnSale | SaleState::NotYet { .. });
    let is_on_sale = note.is_none();
    let ShowSummary {
        id,
        starts,
        hall,
        price_from,
        seats_free,
        seats_total,
        ..
    } = show;
    view! {
        <a class="chip" class:full=is_full href=format!("/shows/{id}")>
            <b>{starts.civil().clock()}</b>
            {with_hall.then(|| view! { <span class="small soft">{hall.get(lang).to_owned()}</span> })}
            <span class="small soft">{note.unwrap_or_else(|| catalogue::price_from(lang, price_from))}</span>
            {is_on_sale.then(|| view! { <Meter free=seats_free total=seats_total /> })}
        </a>
    }
}
