//! A word on what went wrong, in the page.

use crate::{
    error::AppError,
    i18n::{error_text, use_lang},
};
use leptos::prelude::*;

/// Says what went wrong and what to do. Voices read it as soon as it appears.
#[component]
pub fn ErrorNotice(
    /// What went wrong, if anything did.
    #[prop(into)]
    error: Signal<Option<AppError>>,
) -> impl IntoView {
    let lang = use_lang();
    let notice = move || {
        let text = error.with(|error| error.as_ref().map(|error| error_text(lang, error)));
        text.map(|text| view! { <p class="notice bad">{text}</p> })
    };
    // The region stands before its text comes, because voices follow only regions that they know.
    view! { <div class="errors" role="alert">{notice}</div> }
}
