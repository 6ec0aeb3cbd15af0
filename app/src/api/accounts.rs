//! Registering, signing in and out.

use crate::{domain::user::User, error::AppError};
use leptos::{prelude::*, server_fn::codec::GetUrl};

/// Who is signed in.
#[server(prefix = "/api", endpoint = "accounts/me", input = GetUrl)]
pub async fn me() -> Result<Option<User>, AppError> {
    Ok(super::request::visitor().user)
}

/// Makes a customer's account, signs in, and leads to `next`.
#[server(prefix = "/api", endpoint = "accounts/register")]
pub async fn register(
    phone: String,
    password: String,
    #[server(default)] next: Option<String>,
) -> Result<(), AppError> {
    use super::request::{answer, ports};
    let change = answer(ports().accounts.register(&phone, &password).await)?;
    enter(&change.set_cookie, next.as_deref());
    Ok(())
}

/// Signs in and leads to `next`.
#[server(prefix = "/api", endpoint = "accounts/login")]
pub async fn log_in(
    phone: String,
    password: String,
    #[server(default)] next: Option<String>,
) -> Result<(), AppError> {
    use super::request::{answer, ports, visitor};
    let change = answer(ports().accounts.log_in(&visitor(), &phone, &password).await)?;
    enter(&change.set_cookie, next.as_deref());
    Ok(())
}

/// Signs out and leads home.
#[server(prefix = "/api", endpoint = "accounts/logout")]
pub async fn log_out() -> Result<(), AppError> {
    let change = super::request::ports().accounts.log_out();
    enter(&change.set_cookie, None);
    Ok(())
}

#[cfg(feature = "ssr")]
fn enter(set_cookie: &str, next: Option<&str>) {
    use super::request::{safe_path, set_header};
    set_header(http::header::SET_COOKIE, set_cookie);
    leptos_axum::redirect(safe_path(next));
}
