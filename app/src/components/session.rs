//! Who is signed in, and the actions that change it.

use crate::{
    api::accounts::{LogIn, LogOut, Register, me},
    components::page_data::WireJson,
    domain::user::User,
};
use leptos::prelude::*;

/// The visitor's account and the ways in and out, shared by all pages.
///
/// The actions live as long as the application: a page that signs somebody in is gone before its action has ended.
#[derive(Clone, Copy)]
pub struct Session {
    /// The account; none when nobody is signed in or the server did not say.
    pub user: Resource<Option<User>, WireJson>,
    /// Signs in.
    pub log_in: ServerAction<LogIn>,
    /// Makes an account and signs in.
    pub register: ServerAction<Register>,
    /// Signs out.
    pub log_out: ServerAction<LogOut>,
}

/// Provides [`Session`] to every page.
pub fn provide_session() {
    let log_in = ServerAction::<LogIn>::new();
    let register = ServerAction::<Register>::new();
    let log_out = ServerAction::<LogOut>::new();
    let changes = move || {
        (
            log_in.version().get(),
            register.version().get(),
            log_out.version().get(),
        )
    };
    let user = Resource::new_with_options(changes, |_| async { me().await.ok().flatten() }, true);
    provide_context(Session {
        user,
        log_in,
        register,
        log_out,
    });
}

/// The visitor's account and the ways in and out.
#[must_use]
pub fn use_session() -> Session {
    expect_context()
}
