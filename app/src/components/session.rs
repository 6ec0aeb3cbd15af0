//! Who is signed in.

use crate::{api::accounts::me, components::page_data::WireJson, domain::user::User};
use leptos::prelude::*;

/// The visitor's account, shared by all pages.
#[derive(Clone, Copy)]
pub struct Session {
    /// The account; none when nobody is signed in or the server did not say.
    pub user: Resource<Option<User>, WireJson>,
    /// How often somebody has signed in or out; counting it up reads the account again.
    pub changes: RwSignal<u32>,
}

/// Provides [`Session`] to every page.
pub fn provide_session() {
    let changes = RwSignal::new(0);
    let read = |_| async { me().await.ok().flatten() };
    let user = Resource::new_with_options(move || changes.get(), read, true);
    provide_context(Session { user, changes });
}

/// The visitor's account.
#[must_use]
pub fn use_session() -> Session {
    expect_context()
}
