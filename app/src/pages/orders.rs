//! The customer's orders.

use crate::{
    api::orders::orders,
    components::{
        page_data::{by_query, loaded},
        poster::Poster,
        venue_time::VenueTimeText,
    },
    domain::{
        ids::OrderNo,
        order::{OrderPage, OrderStatus, OrderView},
    },
    i18n::{
        order::{OrderText, pay_until, status_word},
        seats, use_lang,
    },
};
use leptos::prelude::*;
use leptos_meta::Title;

/// The customer's orders, newest first, a page at a time.
#[component]
pub fn OrdersPage() -> impl IntoView {
    let page = by_query(["before", ""], |[before, _]| {
        Box::pin(orders(
            before.and_then(|before| before.parse::<OrderNo>().ok()),
        ))
    });
    view! {
        <Title text=OrderText::of(use_lang()).orders />
        {loaded(page, |page| view! { <Orders page=page /> }.into_any())}
    }
}

#[component]
fn Orders(page: OrderPage) -> impl IntoView {
    let text = OrderText::of(use_lang());
    let is_empty = page.orders.is_empty();
    view! {
        <div class="wrap narrow orders stack">
            <h1>{text.orders}</h1>
            {is_empty.then(|| view! {
                <div class="empty">
                    <h2>{text.none_yet}</h2>
                    <p class="soft">{text.none_yet_hint}</p>
                    <p class="actions"><a class="btn primary" href="/">{text.see_shows}</a></p>
                </div>
            })}
            <ul class="stack">
                {page.orders.into_iter().map(|order| view! { <OrderCard order=order /> }).collect::<Vec<_>>()}
            </ul>
            {page.next_before.map(|before| view! {
                <p><a class="btn quiet" href=format!("/orders?before={before}")>{text.older}</a></p>
            })}
        </div>
    }
}

/// One order of the list; all of it leads to the order.
#[component]
fn OrderCard(order: OrderView) -> impl IntoView {
    let lang = use_lang();
    let status = status_word(lang, &order);
    let is_pending = order.status == OrderStatus::Pending;
    let is_paid = matches!(order.status, OrderStatus::Paid | OrderStatus::Ticketed);
    let seats: Vec<String> = seats::rows(lang, &order.items)
        .into_iter()
        .map(|(seats, _)| seats)
        .collect();
    let deadline = is_pending.then(|| pay_until(lang, &order.expires));
    view! {
        <li class="card order-card">
            <Poster src=order.poster />
            <div class="order-card__words">
                <h2><a href=format!("/orders/{}", order.order_no)>{order.title.get(lang).to_owned()}</a></h2>
                <p><VenueTimeText time=order.starts with_year=true /></p>
                <p class="soft">{seats.join("; ")}</p>
                <p class="order-card__state">
                    <span class="tag" class:mine=is_pending class:ok=is_paid>{status}</span>
                    <b class="num">{order.total.to_string()}</b>
                </p>
                {deadline.map(|deadline| view! { <p class="small num">{deadline}</p> })}
            </div>
        </li>
    }
}
