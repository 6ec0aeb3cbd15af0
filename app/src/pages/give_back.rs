//! Giving tickets of an order back: which ones, then once more what comes back for them. Both steps are pages of their own
//! address, so that they work without JavaScript.

use crate::{
    api::orders::{Refund, order},
    components::{
        error_notice::ErrorNotice,
        page_data::{by_param, loaded},
        post::{Post, PostForm},
        submission_key::new_key,
        venue_time::VenueTimeText,
    },
    domain::{
        ids::OrderNo,
        order::{OrderItem, OrderView},
        refund::GivenBack,
    },
    error::{AppError, Thing},
    i18n::{
        Lang,
        refund::{RefundText, for_one, terms, why_not, yes},
        seats, use_lang,
    },
};
use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

/// The page on which tickets of one of the customer's own orders are given back.
#[component]
pub fn GiveBackPage() -> impl IntoView {
    let page = by_param("order_no", |order_no| {
        Box::pin(async move {
            match order_no.and_then(|order_no| order_no.parse::<OrderNo>().ok()) {
                Some(order_no) => order(order_no).await,
                None => Err(AppError::NotFound { what: Thing::Order }),
            }
        })
    });
    loaded(page, |order| view! { <GiveBack order=order /> }.into_any())
}

#[component]
fn GiveBack(order: OrderView) -> impl IntoView {
    let lang = use_lang();
    let text = RefundText::of(lang);
    let query = use_query_map();
    let starts = order.starts.clone();
    let title = order.title.get(lang).to_owned();
    let to_order = format!("/orders/{}", order.order_no);
    let step = move || {
        if let Some(why) = why_not(lang, &order) {
            let order = format!("/orders/{}", order.order_no);
            return view! {
                <p>{why}</p>
                <p class="actions"><a class="btn primary" href=order>{text.to_order}</a></p>
            }
            .into_any();
        }
        let (chosen, is_asked) = query.with(|query| {
            let items = query.get_all("items").unwrap_or_default();
            (items, query.get_str("chosen").is_some())
        });
        let chosen = chosen_of(&order, &chosen);
        if chosen.is_empty() {
            view! { <Choose order=order.clone() is_missing=is_asked /> }.into_any()
        } else {
            view! { <Confirm order=order.clone() chosen=chosen /> }.into_any()
        }
    };
    view! {
        <Title text=text.give_back />
        <div class="wrap narrow give-back stack">
            <div class="order__head">
                <p class="soft small"><a href=to_order>{title}</a> " · " <VenueTimeText time=starts with_year=true /></p>
                <h1>{text.give_back}</h1>
            </div>
            {step}
        </div>
    }
}

/// The tickets that an address names, as far as they can be given back.
fn chosen_of(order: &OrderView, numbers: &[String]) -> Vec<OrderItem> {
    let is_named = |item: &&&OrderItem| {
        numbers
            .iter()
            .any(|number| *number == item.item_no.to_string())
    };
    let items = order.returnable();
    items
        .iter()
        .filter(is_named)
        .map(|item| (*item).clone())
        .collect()
}

/// What comes back for some tickets, on the terms of their order.
fn value(order: &OrderView, items: &[OrderItem]) -> Option<GivenBack> {
    let prices = items.iter().map(|item| item.price);
    GivenBack::of(order.total.currency, prices, order.refund_terms.fee_percent).ok()
}

/// First step: which tickets.
#[component]
fn Choose(order: OrderView, is_missing: bool) -> impl IntoView {
    let lang = use_lang();
    let text = RefundText::of(lang);
    let items = order.returnable();
    let is_only = items.len() == 1;
    let ticket = |item: &&OrderItem| {
        let given = value(&order, std::slice::from_ref(item));
        let back = given.map(|given| for_one(lang, &given));
        let id = format!("ticket-{}", item.item_no);
        view! {
            <li class="give-back__ticket">
                <input type="checkbox" id=id.clone() name="items" value=item.item_no.to_string() checked=is_only />
                <label for=id>
                    <span><b>{seats::ticket(lang, item)}</b> <span class="soft">" · " {item.zone.get(lang).to_owned()}</span></span>
                    <span class="small num">{back}</span>
                </label>
            </li>
        }
    };
    let tickets: Vec<_> = items.iter().map(ticket).collect();
    let action = format!("/orders/{}/give-back", order.order_no);
    let to_order = format!("/orders/{}", order.order_no);
    view! {
        <p>{terms(lang, &order.refund_terms)}</p>
        <form method="get" action=action class="card padded give-back__form">
            <input type="hidden" name="chosen" value="yes" />
            <fieldset>
                <legend>{text.which}</legend>
                <ul>{tickets}</ul>
            </fieldset>
            {is_missing.then(|| view! { <p class="notice bad" role="alert">{text.choose_one}</p> })}
            <p class="actions">
                <button class="btn primary">{text.go_on}</button>
                <a class="btn quiet" href=to_order>{text.keep}</a>
            </p>
        </form>
    }
}

/// Second step: what comes back, and whether that is wanted.
#[component]
fn Confirm(order: OrderView, chosen: Vec<OrderItem>) -> impl IntoView {
    let lang = use_lang();
    let text = RefundText::of(lang);
    let post = Post::to(Refund::PATH);
    let given = value(&order, &chosen);
    let count = chosen.len();
    let fields: Vec<_> = chosen
        .iter()
        .map(|item| view! { <input type="hidden" name="items[]" value=item.item_no.to_string() /> })
        .collect();
    let back = given.map(|given| given.back.minor.to_string());
    let to_order = format!("/orders/{}", order.order_no);
    let change = format!("/orders/{}/give-back", order.order_no);
    let key = new_key();
    view! {
        <div class="card padded give-back__form">
            <h2>{text.sure}</h2>
            {sums(lang, &chosen, given)}
            <p>{text.where_to} " " {text.seats_go}</p>
            <PostForm post=post>
                <input type="hidden" name="order_no" value=order.order_no.to_string() />
                <input type="hidden" name="idempotency_key" value=key />
                <input type="hidden" name="back_minor" value=back />
                {fields}
                <button class="btn primary">{yes(lang, count)}</button>
                <ErrorNotice error=post.error />
            </PostForm>
            <p class="actions">
                <a class="btn quiet" href=change>{text.change}</a>
                <a class="btn quiet" href=to_order>{text.keep}</a>
            </p>
        </div>
    }
}

/// The tickets, and what was paid, is kept and comes back.
fn sums(lang: Lang, chosen: &[OrderItem], given: Option<GivenBack>) -> impl IntoView + use<> {
    let text = RefundText::of(lang);
    let places: Vec<_> = seats::rows(lang, chosen)
        .into_iter()
        .map(|(places, zone)| {
            let zone = zone.to_owned();
            view! { <p>{places} <span class="soft">" · " {zone}</span></p> }
        })
        .collect();
    let fee = given.filter(|given| given.fee.minor > 0).map(|given| {
        view! { <dt>{text.kept}</dt><dd class="num">{given.fee.to_string()}</dd> }
    });
    let amounts = given.map(|given| {
        view! {
            <dt>{text.paid_for}</dt>
            <dd class="num">{given.value.to_string()}</dd>
            {fee}
            <dt>{text.comes_back}</dt>
            <dd class="num"><b>{given.back.to_string()}</b></dd>
        }
    });
    view! {
        <div class="give-back__places">{places}</div>
        <dl class="facts">{amounts}</dl>
    }
}
