//! One order: what it is, how it stands, and what its buyer can do.

mod actions;
mod live;
#[cfg(feature = "ssr")]
mod page;
pub mod parts;
pub mod progress;
pub mod stage;

#[cfg(feature = "ssr")]
pub use page::OrderPage;

use super::mark_hydrated;
use crate::{
    components::{countdown::Countdown, error_notice::ErrorNotice, handed::Handed, posted::Posted},
    i18n::{order::OrderText, provide_lang, use_lang},
};
use actions::PayOrCancel;
use leptos::prelude::*;
use live::Live;
use parts::{NAMES, Parts};
use progress::Progress;

/// The order, which is kept fresh while it is looked at. The browser counts down, asks, and sends the forms; what is said of the
/// order is the server's, and comes with its page.
#[island]
pub fn Order(
    /// How far the order has come, and what the address says of a form of the page.
    handed: Handed<(Progress, Option<Posted>)>,
    /// What the server says of it.
    parts: Parts,
) -> impl IntoView {
    let (progress, posted) = handed.0;
    provide_lang();
    provide_context(posted);
    let number = progress.order_no.grouped();
    let live = Live::follow(progress);
    mark_hydrated();
    let [steps, story, facts, refunds, next, told] = parts.html;
    // The buttons stay the same ones while the order awaits payment, whatever is heard of its payments: a button made anew
    // would forget that it is on its way to the cashier.
    let is_pending = Memo::new(move |_| live.stage.get().is_pending());
    view! {
        <div class="wrap narrow order stack">
            <div class="part" data-part=NAMES[0] inner_html=steps></div>
            <div class="order__head">
                <p class="soft small num">{OrderText::of(use_lang()).order} " " {number}</p>
                // Said aloud whenever the order comes to another stage.
                <div role="status" class="order__story" data-part=NAMES[1] inner_html=story></div>
            </div>
            <Deadline live=live is_pending=is_pending />
            <div class="card padded" data-part=NAMES[2] inner_html=facts></div>
            // Said aloud whenever a refund moves on.
            <div role="status" class="refunds__news" data-part=NAMES[3] inner_html=refunds></div>
            <ErrorNotice error=live.trouble />
            {move || is_pending.get().then(|| view! { <PayOrCancel live=live /> })}
            <div class="part" data-part=NAMES[4] inner_html=next></div>
            <div class="part" data-part=NAMES[5] inner_html=told></div>
        </div>
    }
}

/// The deadline, while there is one.
#[component]
fn Deadline(live: Live, is_pending: Memo<bool>) -> impl IntoView {
    move || {
        is_pending.get().then(|| {
            let (expires, total) = live.order.with_untracked(|order| {
                (order.expires.clone(), order.expires.at - order.placed.at)
            });
            view! { <Countdown expires=expires total_s=total.0 / 1000 left_s=live.left_s /> }
        })
    }
}
