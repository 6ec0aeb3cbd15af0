//! Forms that change something: posted by the browser when no scripts run, and without leaving the page when they do.
//!
//! Leptos' `ActionForm` does the same for one server function a type, which reads the form into the function's arguments
//! and writes them out again; here the form's fields go out as they are, and one piece of code serves every form.

use crate::error::AppError;
use leptos::{ev::SubmitEvent, prelude::*, server_fn::error::ServerFnUrlError};
use leptos_router::hooks::use_query_map;

/// A form's way to the server and what came of it.
#[derive(Clone, Copy)]
pub struct Post {
    path: &'static str,
    /// Whether an answer is awaited.
    pub pending: RwSignal<bool>,
    /// Why the last submission was not carried out.
    pub error: RwSignal<Option<AppError>>,
    /// The JSON that the last submission was answered with.
    pub answer: RwSignal<Option<String>>,
    #[cfg_attr(
        not(all(feature = "hydrate", not(feature = "ssr"))),
        expect(dead_code, reason = "only browsers send")
    )]
    counts: Option<RwSignal<u32>>,
}

impl Post {
    /// A way to the server function at `path`. Without scripts its error comes back in the page's address, which both
    /// sides read, so that the server's page and the browser's agree.
    #[must_use]
    pub fn to(path: &'static str) -> Self {
        let error = use_query_map().with_untracked(|query| {
            let is_ours = query.get_str("__path") == Some(path);
            let error = query.get_str("__err").filter(|_| is_ours)?;
            Some(ServerFnUrlError::<AppError>::decode_err(error))
        });
        Self {
            path,
            pending: RwSignal::new(false),
            error: RwSignal::new(error),
            answer: RwSignal::new(None),
            counts: None,
        }
    }

    /// Counts what succeeds, for somebody who lives longer than the form.
    #[must_use]
    pub fn counted_by(self, successes: RwSignal<u32>) -> Self {
        Self {
            counts: Some(successes),
            ..self
        }
    }

    fn submit(self, event: &SubmitEvent) {
        if event.default_prevented() {
            return;
        }
        event.prevent_default();
        // The button is locked too, but a fast second click comes before the page shows it.
        if !self.pending.get_untracked() {
            self.pending.set(true);
            self.send(event);
        }
    }

    #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
    fn take(self, answer: Result<String, AppError>) {
        if let (Ok(_), Some(successes)) = (&answer, self.counts) {
            successes.try_update(|count| *count += 1);
        }
        // The page may be gone by now, and its signals with it.
        self.pending.try_set(false);
        match answer {
            Ok(text) => {
                self.error.try_set(None);
                self.answer.try_set(Some(text));
            }
            Err(error) => {
                self.error.try_set(Some(error));
            }
        }
    }

    #[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
    fn send(self, _event: &SubmitEvent) {}

    #[cfg(all(feature = "hydrate", not(feature = "ssr")))]
    fn send(self, event: &SubmitEvent) {
        let form = event.target();
        leptos::task::spawn_local(async move {
            let answer = match form {
                Some(form) => browser::post(self.path, &form).await,
                None => Err(AppError::Offline),
            };
            self.take(answer);
        });
    }
}

/// Fetching, where there is a browser.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
mod browser {
    use super::{AppError, window};
    use leptos::server_fn::{
        error::FromServerFnError,
        redirect::{REDIRECT_HEADER, call_redirect_hook},
    };
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{EventTarget, FormData, Headers, RequestInit, Response, UrlSearchParams};

    /// Posts a form's fields; gives the answer's JSON, and follows where it leads.
    pub async fn post(path: &str, form: &EventTarget) -> Result<String, AppError> {
        let response = fetch(path, form).await.map_err(|_| AppError::Offline)?;
        let body = match response.text() {
            Ok(text) => JsFuture::from(text)
                .await
                .ok()
                .and_then(|text| text.as_string()),
            Err(_) => None,
        };
        let body = body.ok_or(AppError::Offline)?;
        let headers = response.headers();
        if let (Ok(Some(_)), Ok(Some(place))) =
            (headers.get(REDIRECT_HEADER), headers.get("Location"))
        {
            call_redirect_hook(&place);
        }
        if response.ok() {
            Ok(body)
        } else {
            Err(AppError::de(body.into()))
        }
    }

    async fn fetch(path: &str, form: &EventTarget) -> Result<Response, JsValue> {
        let fields = FormData::new_with_form(form.unchecked_ref())?;
        let headers = Headers::new()?;
        headers.set("Accept", "application/json")?;
        let init = RequestInit::new();
        init.set_method("POST");
        init.set_headers(&headers);
        let fields = UrlSearchParams::new_with_str_sequence_sequence(&fields)?;
        init.set_body(fields.as_ref());
        JsFuture::from(window().fetch_with_str_and_init(path, &init))
            .await
            .map(Into::into)
    }
}

/// A form whose fields are posted to a server function.
#[component]
pub fn PostForm(
    /// The way to the server.
    post: Post,
    /// The form's fields and button.
    children: Children,
) -> impl IntoView {
    view! {
        <form method="post" action=post.path on:submit=move |event| post.submit(&event)>
            {children()}
        </form>
    }
}
