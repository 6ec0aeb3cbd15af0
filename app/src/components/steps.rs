//! The way of an order in three steps.

use crate::i18n::{order::OrderText, use_lang};
use leptos::prelude::*;

/// Tickets, payment, confirmation, and which of them the order has come to.
#[component]
pub fn Steps(
    /// The step the order is at, from 0.
    #[prop(into)]
    current: Signal<usize>,
) -> impl IntoView {
    let text = OrderText::of(use_lang());
    let step = |(place, name): (usize, &'static str)| {
        let is_current = move || (current.get() == place).then_some("step");
        view! { <li class:done=move || place < current.get() aria-current=is_current>{name}</li> }
    };
    let names = [text.step_tickets, text.step_pay, text.step_confirmed];
    view! {
        <ol class="steps" aria-label=text.progress>
            {names.into_iter().enumerate().map(step).collect::<Vec<_>>()}
        </ol>
    }
}
