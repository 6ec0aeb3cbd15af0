//! Asking the server from the browser.
//!
//! Server functions can be called there too, but what Leptos writes for it reads and writes arguments in several encodings;
//! islands ask for little, so this is a tenth of the size.

use crate::{domain::ids::OrderNo, error::AppError, pages::order::progress::Progress};

/// How far one of the customer's own orders has come, and the whole answer without the time at which it was given.
///
/// # Errors
/// What the server says, or that it can't be reached.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub async fn order(order_no: OrderNo) -> Result<(Progress, String), AppError> {
    use leptos::server_fn::ServerFn;
    let path = crate::api::orders::Order::PATH;
    let answer = fetch(&format!("{path}?order_no={order_no}"), None).await?;
    let progress: Progress = read(&answer.text)?;
    let now = format!("\"now\":{}", progress.now.0);
    Ok((progress, answer.text.replace(&now, "")))
}

/// The page that is shown, as the server would write it now: its HTML.
///
/// # Errors
/// What the server says, or that it can't be reached.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub async fn this_page() -> Result<String, AppError> {
    Ok(fetch(&super::address::path(), None).await?.text)
}

/// The server asks nobody.
///
/// # Errors
/// Always.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
pub async fn order(_order_no: OrderNo) -> Result<(Progress, String), AppError> {
    Err(AppError::Offline)
}

/// The server asks nobody.
///
/// # Errors
/// Always.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
pub async fn this_page() -> Result<String, AppError> {
    Err(AppError::Offline)
}

/// Reads an answer. One that can't be read is of another version of the program, and loading the page anew helps.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, AppError> {
    serde_json::from_str(text).map_err(|_| AppError::Internal {
        reference: String::new(),
    })
}

#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub use browser::fetch;

/// Fetching, where there is a browser.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
mod browser {
    use super::{AppError, read};
    use leptos::prelude::window;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{Headers, RequestInit, Response};

    /// A good answer.
    pub struct Answer {
        /// Its body.
        pub text: String,
        /// Its headers.
        pub headers: Headers,
    }

    /// Asks a server function, by a post when there is a body.
    ///
    /// # Errors
    /// What the server says, or that it can't be reached.
    pub async fn fetch(path: &str, body: Option<&JsValue>) -> Result<Answer, AppError> {
        let (response, text) = exchange(path, body).await.map_err(|_| AppError::Offline)?;
        let text = text.as_string().ok_or(AppError::Offline)?;
        if response.ok() {
            let headers = response.headers();
            return Ok(Answer { text, headers });
        }
        Err(read::<AppError>(&text).unwrap_or_else(|unreadable| unreadable))
    }

    async fn exchange(path: &str, body: Option<&JsValue>) -> Result<(Response, JsValue), JsValue> {
        let init = RequestInit::new();
        let headers = Headers::new()?;
        headers.set("Accept", "application/json")?;
        init.set_headers(&headers);
        if let Some(body) = body {
            init.set_method("POST");
            init.set_body(body);
        }
        let response = JsFuture::from(window().fetch_with_str_and_init(path, &init)).await?;
        let response: Response = response.unchecked_into();
        let text = JsFuture::from(response.text()?).await?;
        Ok((response, text))
    }
}
