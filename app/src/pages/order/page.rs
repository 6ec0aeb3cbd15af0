//! The page around the island, and what the server says of an order in it.

use super::{Order, parts::Parts, progress::Progress, stage::Stage};
use crate::{
    api::orders::order,
    components::{
        handed::Handed,
        order_facts::OrderFacts,
        order_timeline::OrderTimeline,
        page_data::{by_param, loaded},
        posted::Posted,
        refund_list::RefundList,
        steps::Steps,
    },
    domain::{
        ids::OrderNo,
        order::{CancelReason, OrderView},
        time::Millis,
    },
    error::{AppError, Thing},
    i18n::{
        order::{OrderText, heading, story},
        refund::{RefundText, terms, why_not},
        use_lang,
    },
};
use leptos::prelude::*;
use leptos_meta::Title;

/// One of the customer's own orders.
#[component]
pub fn OrderPage() -> impl IntoView {
    let page = by_param("order_no", |order_no| {
        Box::pin(async move {
            match order_no.and_then(|order_no| order_no.parse::<OrderNo>().ok()) {
                Some(order_no) => order(order_no).await,
                None => Err(AppError::NotFound { what: Thing::Order }),
            }
        })
    });
    loaded(page, shown)
}

fn shown(order: OrderView) -> AnyView {
    let stage = Stage::of(&order);
    let html = [
        steps(stage).to_html(),
        told_story(&order, stage).to_html(),
        view! { <OrderFacts order=order.clone() /> }.to_html(),
        view! { <RefundList refunds=order.refunds.clone() items=order.items.clone() /> }.to_html(),
        next(&order, stage).to_html(),
        view! { <OrderTimeline entries=order.timeline.clone() /> }.to_html(),
    ];
    let parts = Parts { html };
    let handed = Handed((Progress::of(&order), Posted::of_page()));
    view! {
        <Title text=heading(use_lang(), stage) />
        {RefreshWithoutScript::of(&order)}
        <Order handed parts />
    }
    .into_any()
}

/// How far the purchase is, while it is under way.
fn steps(stage: Stage) -> impl IntoView {
    let step = match stage {
        Stage::Creating => Some(0),
        Stage::Paid => Some(2),
        stage if stage.is_pending() => Some(1),
        _ => None,
    };
    step.map(|step| view! { <Steps current=Signal::stored(step) /> })
}

/// What the stage is, and what it means.
fn told_story(order: &OrderView, stage: Stage) -> impl IntoView + use<> {
    let lang = use_lang();
    let words = story(lang, stage, order);
    view! {
        <h1>{heading(lang, stage)}</h1>
        {(!words.is_empty()).then(|| view! { <p>{words}</p> })}
    }
}

/// Until when tickets can be given back, and the way to it; or why none can be.
fn give_back(order: &OrderView) -> AnyView {
    let lang = use_lang();
    if let Some(why) = why_not(lang, order) {
        return view! { <p class="soft">{why}</p> }.into_any();
    }
    let words = terms(lang, &order.refund_terms);
    let way = format!("/orders/{}/give-back", order.order_no);
    view! {
        <div class="give-back__offer">
            <p>{words}</p>
            <a class="btn quiet" href=way>{RefundText::of(lang).give_back}</a>
        </div>
    }
    .into_any()
}

/// Ways on from an order that has come to its end. Where money is on its way back none of them leads to paying again.
fn next(order: &OrderView, stage: Stage) -> AnyView {
    if stage == Stage::Creating || stage.is_pending() {
        return ().into_any();
    }
    let text = OrderText::of(use_lang());
    let show = format!("/shows/{}", order.show_id);
    let again = match stage {
        Stage::Cancelled {
            refund: Some(_), ..
        }
        | Stage::Discarded { refund: Some(_) } => None,
        Stage::Cancelled {
            reason: CancelReason::ShowWithdrawn,
            ..
        }
        | Stage::Withdrawn { .. }
        | Stage::Refunded => Some(("/".to_owned(), text.see_shows)),
        Stage::Paid => Some((show, text.to_show)),
        _ => Some((show, text.choose_again)),
    };
    let give_back = (stage == Stage::Paid).then(|| give_back(order));
    view! {
        {give_back}
        <p class="actions">
            {again.map(|(path, words)| view! { <a class="btn primary" href=path>{words}</a> })}
            <a class="btn quiet" href="/orders">{text.all_orders}</a>
        </p>
    }
    .into_any()
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
