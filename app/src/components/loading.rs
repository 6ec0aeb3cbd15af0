//! What stands in the place of a page that is on its way.

use crate::i18n::{shell::ShellText, use_lang};
use leptos::prelude::*;

/// The shape of a page; after 400 ms a word, after 5 s a way out. Styles keep the time, so nothing runs for it.
#[component]
pub fn Loading() -> impl IntoView {
    let text = ShellText::of(use_lang());
    view! {
        <div class="wrap loading">
            <p class="skeleton loading__title" aria-hidden="true"></p>
            <p class="skeleton loading__line" aria-hidden="true"></p>
            <p class="skeleton loading__block" aria-hidden="true"></p>
            <p class="loading__word soft" role="status">{text.loading}</p>
            <p class="loading__out">
                {text.loading_long} " " <a href="" rel="external">{text.reload}</a>
            </p>
        </div>
    }
}
