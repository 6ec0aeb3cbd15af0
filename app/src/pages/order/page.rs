//! The page around the island: which order, and what it is called.

use super::{Order, Stage};
use crate::{
    api::orders::order,
    components::{
        handed::Handed,
        page_data::{by_param, loaded},
        posted::Posted,
    },
    domain::{ids::OrderNo, order::OrderView},
    error::{AppError, Thing},
    i18n::{order::heading, use_lang},
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
    let title = heading(use_lang(), Stage::of(&order));
    let handed = Handed((order, Posted::of_page()));
    view! {
        <Title text=title />
        <Order handed />
    }
    .into_any()
}
