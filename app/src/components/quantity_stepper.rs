//! How many: a number with steps beside it. The steps need JavaScript, the number does not.

use crate::i18n::{show::ShowText, use_lang};
use leptos::{ev, prelude::*};

/// A number from 1 to a limit, as the field `quantity` of a form.
#[component]
pub fn QuantityStepper(
    /// The form that the field belongs to. The controls may stand within another one.
    #[prop(into)]
    form: String,
    /// What is counted, as a voice reads it.
    #[prop(into)]
    label: String,
    /// The number; it is kept within 1 and the limit.
    quantity: RwSignal<u32>,
    /// The most there may be, at least 1.
    limit: u32,
) -> impl IntoView {
    let text = ShowText::of(use_lang());
    let typed = move |event: ev::Event| {
        if let Ok(wanted) = event_target_value(&event).parse::<u32>() {
            quantity.set(wanted.clamp(1, limit));
        }
    };
    view! {
        <div class="stepper">
            <button
                type="button"
                class="only-script"
                aria-label=text.fewer
                disabled=move || { quantity.get() <= 1 }
                on:click=move |_| quantity.update(|count| *count = count.saturating_sub(1).max(1))
            >
                "−"
            </button>
            <input
                class="num"
                type="number"
                form=form
                name="quantity"
                min="1"
                max=limit.to_string()
                value=quantity.get_untracked().to_string()
                prop:value=move || quantity.get().to_string()
                inputmode="numeric"
                aria-label=label
                on:change=typed
            />
            <button
                type="button"
                class="only-script"
                aria-label=text.more
                disabled=move || { quantity.get() >= limit }
                on:click=move |_| quantity.update(|count| *count = (*count + 1).min(limit))
            >
                "+"
            </button>
        </div>
    }
}
