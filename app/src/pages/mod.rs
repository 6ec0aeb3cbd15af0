//! Pages.
use leptos::prelude::*;

/// The whole application.
#[component]
pub fn App() -> impl IntoView {
    view! { <p>"SeatFlow"</p> }
}

/// The HTML document.
#[cfg(feature = "ssr")]
pub fn shell(options: LeptosOptions) -> impl IntoView {
    let _ = options;
    view! { <App /> }
}
