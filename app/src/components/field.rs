//! A labelled field of a form.

use leptos::prelude::*;

/// A text field with its label, and a hint that voices read with it.
#[component]
pub fn Field(
    /// Name in the form, and id in the page.
    name: &'static str,
    /// What is asked for.
    label: &'static str,
    /// Type of the input.
    kind: &'static str,
    /// What browsers and password managers may fill in.
    autocomplete: &'static str,
    /// What the value must look like.
    #[prop(optional, into)]
    hint: String,
    /// Fewest characters, which the browser checks before it sends.
    #[prop(optional)]
    min_chars: Option<usize>,
    /// Whether the server refused the value.
    #[prop(into)]
    invalid: Signal<bool>,
) -> impl IntoView {
    let hint_id = (!hint.is_empty()).then(|| format!("{name}-hint"));
    let is_invalid = move || invalid.get().then_some("true");
    view! {
        <div class="field">
            <label for=name>{label}</label>
            <input
                id=name
                name=name
                type=kind
                autocomplete=autocomplete
                required
                minlength=min_chars.map(|chars| chars.to_string())
                aria-describedby=hint_id.clone()
                aria-invalid=is_invalid
            />
            {hint_id.map(|id| view! { <p class="small soft" id=id>{hint}</p> })}
        </div>
    }
}
