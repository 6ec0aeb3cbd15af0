//! The frame around every page, and which page is at which address.

use super::{account, event, give_back, home, login, not_found, order, orders, register, show};
use crate::{
    components::{footer::Footer, header::Header},
    i18n::{
        provide_lang,
        shell::{ShellText, page_title},
        use_lang,
    },
};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{FlatRoutes, Route, Router},
    path,
};

/// The whole application: the frame around every page, and the page that the address names.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    provide_lang();
    let text = ShellText::of(use_lang());
    view! {
        <Title formatter=|title: String| page_title(&title) />
        <Router>
            <a class="skip" href="#main">{text.skip}</a>
            <Header />
            <Main />
            <Footer />
        </Router>
    }
}

/// The page itself. Every page is sent whole, so that it can be read and used without JavaScript.
#[component]
fn Main() -> impl IntoView {
    view! {
        <main id="main" tabindex="-1">
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

/// Whether the page at a path has an island, so that the browser needs the program.
pub fn has_island(path: &str) -> bool {
    let mut parts = path.trim_matches('/').split('/');
    let part = parts.next();
    matches!(part, Some("shows" | "orders")) && parts.next().is_some() && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_show_and_an_order_need_the_program() {
        for path in ["/shows/7", "/orders/1045239877100482913", "/shows/7/"] {
            assert!(has_island(path), "{path}");
        }
        for path in [
            "/",
            "/orders",
            "/shows",
            "/events/7",
            "/orders/1/give-back",
            "/login",
        ] {
            assert!(!has_island(path), "{path}");
        }
    }
}
