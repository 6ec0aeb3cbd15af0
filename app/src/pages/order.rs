//! One order: what it is, how it stands, and what its buyer can do.

mod actions;
mod live;
#[cfg(feature = "ssr")]
mod page;
pub mod stage;

#[cfg(feature = "ssr")]
pub use page::OrderPage;

use super::mark_hydrated;
use crate::{
    components::{
        countdown::Countdown, error_notice::ErrorNotice, handed::Handed, order_facts::OrderFacts,
        order_timeline::OrderTimeline, posted::Posted, refund_list::RefundList, steps::Steps,
    },
    domain::{order::OrderView, time::Millis},
    i18n::{
        order::{OrderText, heading, story},
        provide_lang,
        shell::page_title,
        use_lang,
    },
};
use actions::{Ended, PayOrCancel};
use leptos::prelude::*;
use live::Live;
use stage::Stage;

/// The order, which is kept fresh while it is looked at.
#[island]
pub fn Order(
    /// The order as it was read, and what the address says of a form of the page.
    handed: Handed<(OrderView, Option<Posted>)>,
) -> impl IntoView {
    let (order, posted) = handed.0;
    provide_lang();
    provide_context(posted);
    let lang = use_lang();
    let number = order.order_no.grouped();
    let refresh = RefreshWithoutScript::of(&order);
    let facts_of = order.clone();
    let live = Live::follow(order);
    let stage = live.stage;
    Effect::new(move |_| document().set_title(&page_title(heading(lang, stage.get()))));
    mark_hydrated();
    let step = Signal::derive(move || match stage.get() {
        Stage::Creating => 0,
        Stage::Paid => 2,
        _ => 1,
    });
    let is_under_way =
        move || matches!(stage.get(), Stage::Creating | Stage::Paid) || stage.get().is_pending();
    // The buttons stay the same ones while the order awaits payment, whatever is heard of its payments: a button made anew
    // would forget that it is on its way to the cashier.
    let beyond = Memo::new(move |_| Some(stage.get()).filter(|stage| !stage.is_pending()));
    let told = move || {
        let words = live
            .order
            .with_untracked(|order| story(lang, stage.get(), order));
        (!words.is_empty()).then(|| view! { <p>{words}</p> })
    };
    view! {
        {refresh}
        <div class="wrap narrow order stack">
            {move || is_under_way().then(|| view! { <Steps current=step /> })}
            <div class="order__head">
                <p class="soft small num">{OrderText::of(lang).order} " " {number}</p>
                // Said aloud whenever the order comes to another stage.
                <div role="status" class="order__story">
                    <h1>{move || heading(lang, stage.get())}</h1>
                    {told}
                </div>
            </div>
            <Deadline live=live />
            <Facts live=live order=facts_of />
            <Refunds live=live />
            <ErrorNotice error=live.trouble />
            {move || match beyond.get() {
                None => view! { <PayOrCancel live=live /> }.into_any(),
                Some(Stage::Creating) => ().into_any(),
                Some(stage) => view! { <Ended live=live stage=stage /> }.into_any(),
            }}
            <Told live=live />
        </div>
    }
}

/// The deadline, while there is one.
#[component]
fn Deadline(live: Live) -> impl IntoView {
    let is_pending = Memo::new(move |_| live.stage.get().is_pending());
    move || {
        is_pending.get().then(|| {
            let (expires, total) = live.order.with_untracked(|order| {
                (order.expires.clone(), order.expires.at - order.placed.at)
            });
            view! { <Countdown expires=expires total_s=total.0 / 1000 left_s=live.left_s /> }
        })
    }
}

/// What was ordered. Of all of it only the time of payment is ever added, and tickets are given back.
#[component]
fn Facts(live: Live, order: OrderView) -> impl IntoView {
    let paid = Memo::new(move |_| live.order.with(|order| order.paid.clone()));
    let items = Memo::new(move |_| live.order.with(|order| order.items.clone()));
    move || {
        let mut order = order.clone();
        order.items = items.get();
        order.paid = paid.get();
        view! { <div class="card padded"><OrderFacts order=order /></div> }
    }
}

/// How far the order's refunds have come.
#[component]
fn Refunds(live: Live) -> impl IntoView {
    let refunds = Memo::new(move |_| live.order.with(|order| order.refunds.clone()));
    let list = move || {
        let items = live.order.with_untracked(|order| order.items.clone());
        view! { <RefundList refunds=refunds.get() items=items /> }
    };
    // Said aloud whenever a refund moves on.
    view! { <div role="status" class="refunds__news">{list}</div> }
}

/// What happened to the order.
#[component]
fn Told(live: Live) -> impl IntoView {
    let entries = Memo::new(move |_| live.order.with(|order| order.timeline.clone()));
    move || view! { <OrderTimeline entries=entries.get() /> }
}

/// How long after its deadline a cancelled order's page is loaded again for money that may still arrive.
const LATE_MONEY_TIME: Millis = Millis::minutes(10);

/// Makes the browser load the page again when it runs no scripts; with scripts it has no effect.
struct RefreshWithoutScript;

impl RefreshWithoutScript {
    /// Soon while the result of something is awaited, after the deadline while the customer may pay, now and then while
    /// money may be on its way, never otherwise.
    fn of(order: &OrderView) -> impl IntoView + use<> {
        let after_s = match Stage::of(order) {
            Stage::Creating => Some(1),
            Stage::Processing => Some(2),
            Stage::Awaiting { .. } => Some((order.expires.at - order.now).0.max(0) / 1000 + 2),
            Stage::Withdrawn { .. } => Some(10),
            Stage::Paid if order.is_refund_under_way() => Some(5),
            // Money of an attempt to pay may still arrive; nobody waits for it longer than this.
            Stage::Cancelled {
                refund: None,
                attempted: true,
                ..
            } if order.now < order.expires.at + LATE_MONEY_TIME => Some(30),
            _ => None,
        };
        // Text of the browser's parser when scripts run, so nothing may be hydrated inside.
        after_s.map(|seconds| {
            let meta = format!(r#"<meta http-equiv="refresh" content="{seconds}">"#);
            view! { <noscript inner_html=meta></noscript> }
        })
    }
}
