//! The page's head: the brand, the ways through the site, and the language.

use crate::{
    components::session::use_session,
    i18n::{self, shell::ShellText, use_lang},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;

/// The head of every page. On a phone the links fold into a menu that opens without JavaScript.
#[component]
pub fn Header() -> impl IntoView {
    let lang = use_lang();
    let text = ShellText::of(lang);
    let menu = NodeRef::<leptos::html::Details>::new();
    let location = use_location();
    Effect::new(move |_| {
        location.pathname.track();
        if let Some(menu) = menu.get_untracked() {
            menu.set_open(false);
        }
    });
    view! {
        <header class="top">
            <a class="brand" href="/">
                <Mark />
                "SeatFlow"
            </a>
            <details class="menu" node_ref=menu>
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
    let current = move || is_within(path, &pathname.read()).then_some("page");
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
    let session = use_session();
    view! {
        <Transition fallback=move || view! { <NavLink path="/account" label=text.account /> }>
            {move || Suspend::new(async move {
                match session.user.await {
                    Some(_) => view! { <NavLink path="/account" label=text.account /> }.into_any(),
                    None => view! { <NavLink path="/login" label=text.sign_in /> }.into_any(),
                }
            })}
        </Transition>
    }
}

/// Leads to the same page in the other language.
#[component]
fn LanguageLink() -> impl IntoView {
    let lang = use_lang();
    let other = i18n::shell::other(lang);
    let location = use_location();
    let href = move || {
        let mut here = location.pathname.get();
        let query = location.search.get();
        if !query.is_empty() {
            here.push('?');
            here.push_str(query.trim_start_matches('?'));
        }
        format!("/language?to={}&next={}", other.tag(), encode(&here))
    };
    // The server sets a cookie and leads back, so the router must leave this link alone.
    view! {
        <a href=href rel="external" lang=other.tag() hreflang=other.tag()>
            {ShellText::of(lang).other_language}
        </a>
    }
}

/// A path as the value of a query's field: everything that could end the value is percent-encoded.
pub(crate) fn encode(path: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(path.len() + 16);
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_as_the_value_of_a_querys_field() {
        assert_eq!(
            encode("/shows/7?seats=1.2&x=%"),
            "/shows/7%3Fseats%3D1.2%26x%3D%25"
        );
        assert_eq!(encode("/订"), "/%E8%AE%A2");
    }

    #[test]
    fn events_and_shows_belong_to_the_first_link() {
        assert!(
            is_within("/", "/") && is_within("/", "/shows/3") && is_within("/orders", "/orders/1")
        );
        assert!(!is_within("/", "/orders") && !is_within("/orders", "/ordersx"));
    }
}
