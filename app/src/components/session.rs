//! Who is signed in.

use crate::{api::accounts::me, domain::user::User};
use leptos::prelude::*;

/// The visitor's account, shared by all parts of a page.
#[derive(Clone, Copy)]
pub struct Session {
    /// The account; none when nobody is signed in or the server did not say.
    pub user: Resource<Option<User>>,
}

/// Provides [`Session`] to every page.
pub fn provide_session() {
    let read = |()| async { me().await.ok().flatten() };
    let user = Resource::new_blocking(|| (), read);
    provide_context(Session { user });
}

/// The visitor's account.
#[must_use]
pub fn use_session() -> Session {
    expect_context()
}
