//! The HTML document around the application, which only the server renders.

use super::site::has_island;
use crate::{App, i18n};
use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::{HashedStylesheet, MetaTags};

/// What the browser does for forms that it posts by itself; small enough to come with the page.
const PLAIN_FORMS: &str = include_str!("plain_forms.js");

/// The HTML document. Scripts carry the nonce of the content security policy when the server makes one.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    // What resources have read stays on the server: islands are handed what they need.
    if let Some(shared) = Owner::current_shared_context() {
        shared.set_is_hydrating(false);
    }
    let program = is_with_island().then(|| {
        let options = options.clone();
        view! { <HydrationScripts options islands=true /> }
    });
    view! {
        <!DOCTYPE html>
        <html lang=i18n::page_lang().tag()>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
                <meta name="color-scheme" content="light dark" />
                <meta name="theme-color" content="#faf9f6" media="(prefers-color-scheme: light)" />
                <meta name="theme-color" content="#121316" media="(prefers-color-scheme: dark)" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <HashedStylesheet options=options />
                {program}
                <script nonce=use_nonce()>{PLAIN_FORMS}</script>
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// Whether the page that is asked for has an island.
fn is_with_island() -> bool {
    use_context::<http::request::Parts>().is_some_and(|asked| has_island(asked.uri.path()))
}
