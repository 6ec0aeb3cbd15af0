//! The page's foot.

use crate::i18n::{shell::ShellText, use_lang};
use leptos::prelude::*;

/// One line about the house.
#[component]
pub fn Footer() -> impl IntoView {
    view! {
        <footer class="foot">
            <p>{ShellText::of(use_lang()).footer}</p>
        </footer>
    }
}
