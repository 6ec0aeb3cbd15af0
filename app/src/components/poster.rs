//! An event's poster.

use leptos::prelude::*;

/// A poster, three wide to four high. It repeats what stands beside it, so it has no words of its own.
#[component]
pub fn Poster(
    /// Path of the picture, from the site's root.
    src: String,
    /// Whether it is in sight when the page opens, so that the browser should not wait with it.
    #[prop(optional)]
    eager: bool,
) -> impl IntoView {
    let loading = if eager { "eager" } else { "lazy" };
    let priority = eager.then_some("high");
    view! {
        <img class="poster" src=src alt="" width="300" height="400" loading=loading fetchpriority=priority decoding="async" />
    }
}
