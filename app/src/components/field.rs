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
    /// Whether what was typed is there again after an error: never a secret.
    #[prop(optional)]
    kept: bool,
    /// Whether the server refused the value.
    #[prop(into)]
    invalid: Signal<bool>,
    /// Why it did, beside the field; for forms whose errors do not stand above them.
    #[prop(optional, into)]
    fault: Option<Signal<Option<String>>>,
) -> impl IntoView {
    let hint_id = (!hint.is_empty()).then(|| format!("{name}-hint"));
    let fault_id = fault.map(|_| format!("{name}-fault"));
    let described: Vec<String> = hint_id.iter().chain(&fault_id).cloned().collect();
    let described = (!described.is_empty()).then(|| described.join(" "));
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
                aria-describedby=described
                aria-invalid=is_invalid
                data-kept=kept.then_some("")
            />
            {hint_id.map(|id| view! { <p class="small soft" id=id>{hint}</p> })}
            {fault.zip(fault_id).map(|(fault, id)| view! { <p class="field__fault small" id=id role="alert">{fault}</p> })}
        </div>
    }
}
