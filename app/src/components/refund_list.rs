//! Refunds of an order, and how far each has come.

use crate::{
    components::venue_time::VenueTimeText,
    domain::{
        order::{OrderItem, RefundProgress},
        refund::RefundView,
    },
    i18n::{
        refund::{RefundText, progress_word, reason_words},
        seats, use_lang,
    },
};
use leptos::prelude::*;

/// Refunds with their tickets, amounts and progress.
#[component]
pub fn RefundList(
    /// The refunds.
    refunds: Vec<RefundView>,
    /// The order's tickets, for their names.
    items: Vec<OrderItem>,
) -> impl IntoView {
    let lang = use_lang();
    let text = RefundText::of(lang);
    let refund = |refund: RefundView| {
        let places: Vec<String> = items
            .iter()
            .filter(|item| refund.items.contains(&item.item_no))
            .map(|item| seats::ticket(lang, item))
            .collect();
        let why = reason_words(lang, refund.reason);
        let why = (!why.is_empty()).then(|| view! { <p class="soft small">{why}</p> });
        let kept = (refund.fee.minor > 0).then(|| {
            let kept = format!("{} {}", text.kept_short, refund.fee);
            view! { <span class="soft small num">" · " {kept}</span> }
        });
        let is_back = refund.progress == RefundProgress::Succeeded;
        let is_late = refund.progress == RefundProgress::Failed;
        view! {
            <li class="refund" class:ok=is_back class:warn=is_late>
                <p><b class="num">{refund.amount.to_string()}</b> {kept} " · " {progress_word(lang, refund.progress)}</p>
                {(!places.is_empty()).then(|| view! { <p>{places.join("; ")}</p> })}
                {why}
                <p class="small"><VenueTimeText time=refund.succeeded.unwrap_or(refund.requested) with_year=true /></p>
                <p class="soft small num">{text.number} " " {refund.refund_no}</p>
            </li>
        }
    };
    let is_any = !refunds.is_empty();
    is_any.then(|| {
        view! {
            <section class="refunds" aria-labelledby="refunds">
                <h2 id="refunds">{text.refunds}</h2>
                <ul>{refunds.into_iter().map(refund).collect::<Vec<_>>()}</ul>
            </section>
        }
    })
}
