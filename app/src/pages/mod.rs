//! Pages, and the addresses they are at.

mod account;
mod event;
mod give_back;
mod home;
mod login;
mod not_found;
pub(crate) mod order;
mod orders;
mod register;
#[cfg(feature = "ssr")]
mod shell;
pub mod show;

#[cfg(feature = "ssr")]
pub use shell::shell;

use crate::{
    components::{footer::Footer, header::Header, session::provide_session},
    i18n::{provide_lang, shell::ShellText, use_lang},
};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{FlatRoutes, Route, Router},
    hooks::use_location,
    path,
};

/// The whole application: the frame around every page, and the page that the address names.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    provide_lang();
    provide_session();
    let text = ShellText::of(use_lang());
    view! {
        <Title formatter=|title: String| {
            if title.is_empty() { "SeatFlow".to_owned() } else { title + " · SeatFlow" }
        } />
        <Router>
            <a class="skip" href="#main" rel="external">{text.skip}</a>
            <Header />
            <Main />
            <Footer />
        </Router>
    }
}

/// The page itself. Every page is sent whole, so that it can be read and used without JavaScript.
#[component]
fn Main() -> impl IntoView {
    let main = NodeRef::<leptos::html::Main>::new();
    let pathname = use_location().pathname;
    Effect::new(move |visited: Option<String>| {
        let path = pathname.get();
        let moved = visited.is_some_and(|earlier| earlier != path);
        // After a page change without a page load the reader's keyboard and voice start at the new page's top.
        if moved && let Some(main) = main.get_untracked() {
            let _ = main.focus();
        }
        path
    });
    view! {
        <main id="main" tabindex="-1" node_ref=main>
            <FlatRoutes fallback=not_found::NotFoundPage>
                <Route path=path!("/") view=home::HomePage ssr=SsrMode::Async />
                <Route path=path!("/events/:id") view=event::EventPage ssr=SsrMode::Async />
                <Route path=path!("/shows/:id") view=show::ShowPage ssr=SsrMode::Async />
                <Route path=path!("/orders") view=orders::OrdersPage ssr=SsrMode::Async />
                <Route path=path!("/orders/:order_no") view=order::OrderPage ssr=SsrMode::Async />
                <Route path=path!("/orders/:order_no/give-back") view=give_back::GiveBackPage ssr=SsrMode::Async />
                <Route path=path!("/login") view=login::LoginPage ssr=SsrMode::Async />
                <Route path=path!("/register") view=register::RegisterPage ssr=SsrMode::Async />
                <Route path=path!("/account") view=account::AccountPage ssr=SsrMode::Async />
            </FlatRoutes>
        </main>
    }
}
