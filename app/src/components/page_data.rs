//! What a page shows: read before the page is sent.

use crate::{components::problem::Problem, error::AppError};
use leptos::prelude::*;
use leptos_router::{
    hooks::{use_params_map, use_query_map},
    params::ParamsMap,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{future::Future, pin::Pin};

/// What a page shows, or why it can't be shown.
pub type PageData<T> = Resource<Result<T, AppError>>;

/// Values of a page's address; those that are missing are none.
pub type Values = [Option<String>; 2];

/// What is being read.
pub type Reading<T> = Pin<Box<dyn Future<Output = Result<T, AppError>> + Send>>;

/// Reads what a page shows, by one value of its path (`/orders/:order_no`).
pub fn by_param<T>(name: &'static str, read: fn(Option<String>) -> Reading<T>) -> PageData<T>
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let params = use_params_map();
    read_page(params.into(), [name, ""], move |[value, _]| read(value))
}

/// Reads what a page shows, by up to two values of its query (`?city=london&date=2026-11-29`).
pub fn by_query<T>(names: [&'static str; 2], read: fn(Values) -> Reading<T>) -> PageData<T>
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    read_page(use_query_map().into(), names, read)
}

fn read_page<T>(
    map: Signal<ParamsMap>,
    names: [&'static str; 2],
    read: impl Fn(Values) -> Reading<T> + Send + Sync + 'static,
) -> PageData<T>
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let values = move || map.with(|map| names.map(|name| map.get(name)));
    Resource::new_blocking(values, read)
}

/// A page with its data, or why it can't be shown.
pub fn loaded<T>(data: PageData<T>, page: fn(T) -> AnyView) -> AnyView
where
    T: Clone + Send + Sync + 'static,
{
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match data.await {
                    Ok(data) => page(data),
                    Err(error) => view! { <Problem error=error /> }.into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}
