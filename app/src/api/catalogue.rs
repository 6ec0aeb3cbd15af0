//! What is on.

use crate::{
    domain::{
        catalogue::{EventPage, HomePage, ShowPage},
        ids::{EventId, ShowId},
    },
    error::AppError,
};
use leptos::{prelude::*, server_fn::codec::GetUrl};

/// What is on in one city on one day. Without `city` the first city, without `date` (`2026-11-29`) today.
#[server(prefix = "/api", endpoint = "catalogue/home", input = GetUrl)]
pub async fn home(
    #[server(default)] city: Option<String>,
    #[server(default)] date: Option<String>,
) -> Result<HomePage, AppError> {
    use super::request::{answer, ports};
    use crate::domain::catalogue::HomeQuery;
    answer(ports().catalogue.home(HomeQuery { city, date }).await)
}

/// One event with its coming shows.
#[server(prefix = "/api", endpoint = "catalogue/event", input = GetUrl)]
pub async fn event(id: EventId) -> Result<EventPage, AppError> {
    use super::request::{answer, ports};
    answer(ports().catalogue.event(id).await)
}

/// One show: what, when, where, prices and free seats. The map's state is polled at `/shows/{id}/seats`.
#[server(prefix = "/api", endpoint = "catalogue/show", input = GetUrl)]
pub async fn show(id: ShowId) -> Result<ShowPage, AppError> {
    use super::request::{answer, ports};
    answer(ports().catalogue.show(id).await)
}
