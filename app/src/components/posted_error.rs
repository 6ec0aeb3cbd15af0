//! Errors of forms, with and without JavaScript.

use crate::error::AppError;
use leptos::{
    prelude::*,
    server_fn::{ServerFn, error::ServerFnUrlError},
};
use leptos_router::hooks::use_query_map;

/// The error that an action ended with, or, without JavaScript, the one that the form's answer put into the address.
///
/// Both sides read the address, so that the server's page and the browser's agree.
#[must_use]
pub fn posted_error<F>(action: ServerAction<F>) -> Signal<Option<AppError>>
where
    F: ServerFn<Error = AppError> + Clone + Send + Sync + 'static,
    F::Output: Clone + Send + Sync + 'static,
{
    let query = use_query_map();
    Signal::derive(move || match action.value().get() {
        Some(result) => result.err(),
        None => query.with(|query| {
            let is_ours = query.get_str("__path") == Some(F::PATH);
            let error = query.get_str("__err").filter(|_| is_ours)?;
            Some(ServerFnUrlError::<AppError>::decode_err(error))
        }),
    })
}
