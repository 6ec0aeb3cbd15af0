//! Forms that change something: posted by the browser when no scripts run, and without leaving the page where an island has
//! taken them over.
//!
//! Leptos' `ActionForm` does the same for one server function a type, which reads the form into the function's arguments
//! and writes them out again; here the form's fields go out as they are, and one piece of code serves every form.

use super::posted::Posted;
use crate::error::AppError;
use leptos::{ev::SubmitEvent, prelude::*};

/// A form's way to the server and what came of it.
#[derive(Clone, Copy)]
pub struct Post {
    path: &'static str,
    /// Whether an answer is awaited, or the page that it leads to.
    pub pending: RwSignal<bool>,
    /// Why the last submission was not carried out.
    pub error: RwSignal<Option<AppError>>,
    /// The JSON that the last submission was answered with.
    pub answer: RwSignal<Option<String>>,
}

impl Post {
    /// A way to the server function at `path`. Without scripts its error comes back in the page's address, which both
    /// sides know, so that the server's page and the browser's agree.
    #[must_use]
    pub fn to(path: &'static str) -> Self {
        Self {
            path,
            pending: RwSignal::new(false),
            error: RwSignal::new(Posted::to(path)),
            answer: RwSignal::new(None),
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
            match answer {
                Ok(posted) => {
                    // The button stays locked until the next page has come.
                    self.pending.try_set(posted.is_leaving);
                    self.error.try_set(None);
                    self.answer.try_set(Some(posted.text));
                }
                Err(error) => {
                    self.pending.try_set(false);
                    self.error.try_set(Some(error));
                }
            }
        });
    }
}

/// Posting, where there is a browser.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
mod browser {
    use crate::{
        components::{address, wire},
        error::AppError,
    };
    use leptos::server_fn::redirect::REDIRECT_HEADER;
    use wasm_bindgen::{JsCast, JsValue};
    use web_sys::{EventTarget, FormData, UrlSearchParams};

    pub struct Answer {
        /// The answer's JSON.
        pub text: String,
        /// Whether it leads to another page.
        pub is_leaving: bool,
    }

    /// Posts a form's fields, and follows where the answer leads.
    pub async fn post(path: &str, form: &EventTarget) -> Result<Answer, AppError> {
        let fields = fields(form).map_err(|_| AppError::Offline)?;
        let answer = wire::fetch(path, Some(&fields)).await?;
        let header = |name: &str| answer.headers.get(name).ok().flatten();
        let next = header(REDIRECT_HEADER).and_then(|_| header("Location"));
        // An order that was given up leads to its own page, which an island keeps fresh without loading it again.
        let next = next.filter(|next| *next != address::path());
        let is_leaving = next.is_some_and(|next| address::go_to(&next));
        let text = answer.text;
        Ok(Answer { text, is_leaving })
    }

    fn fields(form: &EventTarget) -> Result<JsValue, JsValue> {
        let fields = FormData::new_with_form(form.unchecked_ref())?;
        UrlSearchParams::new_with_str_sequence_sequence(&fields).map(Into::into)
    }
}

/// A form whose fields are posted to a server function.
#[component]
pub fn PostForm(
    /// The way to the server.
    post: Post,
    /// Its id, for controls that stand elsewhere.
    #[prop(optional, into)]
    id: Option<String>,
    /// Its class.
    #[prop(optional)]
    class: Option<&'static str>,
    /// What browsers may fill in; their own choice when it is not said.
    #[prop(optional)]
    autocomplete: Option<&'static str>,
    /// The form's fields and button.
    children: Children,
) -> impl IntoView {
    view! {
        <form
            method="post"
            action=post.path
            id=id
            class=class
            autocomplete=autocomplete
            on:submit=move |event| post.submit(&event)
        >
            {children()}
        </form>
    }
}
