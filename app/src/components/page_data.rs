//! What a page shows: read before the page is sent, and handed to the browser with it.
//!
//! Every page reads through here, and everything here that can be one type for all pages is: each further type of a
//! resource, its source or its future costs the browser's bundle several kilobytes.

use crate::{
    components::{loading::Loading, problem::Problem},
    error::AppError,
};
use leptos::{
    prelude::*,
    server::codee::{Decoder, Encoder},
};
use leptos_router::{
    hooks::{use_params_map, use_query_map},
    params::ParamsMap,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{future::Future, pin::Pin};

/// JSON, read in the same way as the answers of server functions, so that the code for it is there once.
pub struct WireJson;

impl<T: Serialize> Encoder<T> for WireJson {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Self::Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for WireJson {
    type Error = serde_json::Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Self::Error> {
        serde_json::from_slice(text.as_bytes())
    }
}

/// What a page shows, or why it can't be shown.
pub type PageData<T> = Resource<Result<T, AppError>, WireJson>;

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
    Resource::new_with_options(values, read, true)
}

/// A page whose data is on its way: its shape, then the page, or why it can't be shown.
pub fn loaded<T>(data: PageData<T>, page: fn(T) -> AnyView) -> AnyView
where
    T: Clone + Send + Sync + 'static,
{
    view! {
        <Transition fallback=Loading>
            {move || Suspend::new(async move {
                match data.await {
                    Ok(data) => page(data),
                    Err(error) => view! { <Problem error=error /> }.into_any(),
                }
            })}
        </Transition>
    }
    .into_any()
}
