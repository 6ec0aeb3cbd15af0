//! Pages, and the addresses they are at.
//!
//! Every page is written by the server. Two of them have an island, a part that the browser takes over because it changes
//! while it is looked at: [`show`] and [`order`]. The browser's build has the islands and nothing of the other pages.

#[cfg(feature = "ssr")]
mod account;
#[cfg(feature = "ssr")]
mod event;
#[cfg(feature = "ssr")]
mod give_back;
#[cfg(feature = "ssr")]
mod home;
#[cfg(feature = "ssr")]
mod login;
#[cfg(feature = "ssr")]
mod not_found;
pub(crate) mod order;
#[cfg(feature = "ssr")]
mod orders;
#[cfg(feature = "ssr")]
mod register;
#[cfg(feature = "ssr")]
mod shell;
pub mod show;
#[cfg(feature = "ssr")]
mod site;

#[cfg(feature = "ssr")]
pub use {shell::shell, site::App};

/// Sets `html[data-hydrated]` once an island does what its buttons say; browser tests wait for it.
fn mark_hydrated() {
    leptos::prelude::Effect::new(|_| {
        if let Some(root) = leptos::prelude::document().document_element() {
            // Fails only for an invalid attribute name, and this one is valid.
            let _ = root.set_attribute("data-hydrated", "");
        }
    });
}
