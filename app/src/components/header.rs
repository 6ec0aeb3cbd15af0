//! The page's head: the brand, the ways through the site, and the language.

use crate::{
    api::request::reader,
    components::address::in_language,
    i18n::{self, shell::ShellText, use_lang},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;

/// The head of every page. On a phone the links fold into a menu that opens without JavaScript.
#[component]
pub fn Header() -> impl IntoView {
    let lang = use_lang();
    let text = ShellText::of(lang);
    view! {
        <header class="top">
            <a class="brand" href="/">
                <Mark />
                "SeatFlow"
            </a>
            <details class="menu">
                <summary>{text.menu}</summary>
            </details>
            <nav aria-label=text.main_nav>
                <NavLink path="/" label=text.shows />
                <NavLink path="/orders" label=text.orders />
                <AccountLink />
                <LanguageLink />
            </nav>
        </header>
    }
}

/// The sign of the house: a seat that is yours.
#[component]
fn Mark() -> impl IntoView {
    view! {
        <svg class="brand__mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
            <path class="brand__seat" d="M3 8a5 5 0 0 1 5-5h8a5 5 0 0 1 5 5v10a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3z" />
            <path class="brand__tick" d="M7 12.5l3.5 3.5L17 8.5" />
        </svg>
    }
}

/// A link that says when its page is the one that is shown.
#[component]
fn NavLink(
    /// Where it leads; `/` also stands for events and shows.
    path: &'static str,
    /// What it says.
    label: &'static str,
) -> impl IntoView {
    let pathname = use_location().pathname;
    let current = is_within(path, &pathname.get_untracked()).then_some("page");
    view! { <a href=path aria-current=current>{label}</a> }
}

/// Whether a page belongs to the part of the site that a link of the head leads to.
fn is_within(part: &str, path: &str) -> bool {
    match part {
        "/" => path == "/" || path.starts_with("/events/") || path.starts_with("/shows/"),
        _ => path
            .strip_prefix(part)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

/// Leads to the account, or to signing in and back to this page.
#[component]
fn AccountLink() -> impl IntoView {
    let text = ShellText::of(use_lang());
    let (path, label) = match reader() {
        Some(_) => ("/account", text.account),
        None => ("/login", text.sign_in),
    };
    view! { <NavLink path label /> }
}

/// Leads to the same page in the other language.
#[component]
fn LanguageLink() -> impl IntoView {
    let lang = use_lang();
    let other = i18n::shell::other(lang);
    let location = use_location();
    let mut here = location.pathname.get_untracked();
    let query = location.search.get_untracked();
    if !query.is_empty() {
        here.push('?');
        here.push_str(query.trim_start_matches('?'));
    }
    view! {
        <a href=in_language(other.tag(), &here) lang=other.tag() hreflang=other.tag()>
            {ShellText::of(lang).other_language}
        </a>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_shows_belong_to_the_first_link() {
        assert!(
            is_within("/", "/") && is_within("/", "/shows/3") && is_within("/orders", "/orders/1")
        );
        assert!(!is_within("/", "/orders") && !is_within("/orders", "/ordersx"));
    }
}
