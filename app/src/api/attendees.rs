//! The people a customer buys for.

use crate::{
    domain::{attendee::Attendee, ids::AttendeeId},
    error::AppError,
};
use leptos::{prelude::*, server_fn::codec::GetUrl};

/// The customer's list of people, oldest entry first, at most twenty.
#[server(prefix = "/api", endpoint = "attendees/list", input = GetUrl)]
pub async fn attendees() -> Result<Vec<Attendee>, AppError> {
    use super::request::{answer, ports, signed_in};
    let user = answer(signed_in())?;
    answer(ports().attendees.list(&user).await)
}

/// Puts a person into the customer's list and leads to `next`. Of the document only a keyed hash and the last characters
/// are kept.
#[server(prefix = "/api", endpoint = "attendees/add")]
pub async fn add_attendee(
    name: String,
    document_kind: String,
    document_number: String,
    #[server(default)] next: Option<String>,
) -> Result<Attendee, AppError> {
    use super::request::{answer, ports, safe_path, signed_in};
    let user = answer(signed_in())?;
    let adding = ports().attendees;
    let added = adding.add(&user, &name, &document_kind, &document_number);
    let added = answer(added.await)?;
    if let Some(next) = next.as_deref().filter(|next| !next.is_empty()) {
        leptos_axum::redirect(safe_path(Some(next)));
    }
    Ok(added)
}

/// Takes a person off the customer's list; orders that name them stay as they are.
#[server(prefix = "/api", endpoint = "attendees/remove")]
pub async fn remove_attendee(id: AttendeeId) -> Result<(), AppError> {
    use super::request::{answer, ports, signed_in};
    let user = answer(signed_in())?;
    answer(ports().attendees.remove(&user, id).await)
}
