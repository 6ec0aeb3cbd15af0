//! The HTML document around the application, which only the server renders.

use crate::{App, i18n};
use leptos::prelude::*;
use leptos_meta::{HashedStylesheet, MetaTags};

/// The HTML document. Scripts carry the nonce of the content security policy when the server makes one.
pub fn shell(options: LeptosOptions) -> impl IntoView {
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
                <HashedStylesheet options=options.clone() />
                <HydrationScripts options=options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}
