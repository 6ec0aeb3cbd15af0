//! Placing, reading and giving up orders.

use crate::{
    domain::{
        hold::Placed,
        ids::{AttendeeId, OrderNo, SeatIndex, ShowId, ZoneId},
        order::{OrderPage, OrderView},
        refund::RefundView,
    },
    error::AppError,
};
use leptos::{prelude::*, server_fn::codec::GetUrl};
use serde::{Deserialize, Serialize};

/// A customer's own seats of a show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MySeats {
    /// Seats that the customer's orders hold or own.
    pub seats: Vec<SeatIndex>,
    /// Standing places that they hold or own.
    pub standing: u32,
    /// An order of this show that awaits payment.
    pub pending: Option<OrderNo>,
}

/// Holds the seats and places an order; leads to the order's page. All seats or none.
///
/// `seats` are the numbers of the seats in the show's plan; without them the best free seats of `zone` are chosen,
/// `quantity` of them, together where possible. Where the show asks for it, `attendees` are entries of the customer's list,
/// one for each ticket. A repeated `idempotency_key` answers with the order it
/// placed before. Errors: `refused` with the reason, `unauthenticated`, `invalid`, `not_found`, `busy`.
#[server(prefix = "/api", endpoint = "orders/place")]
pub async fn place(
    show_id: ShowId,
    #[server(default)] seats: Vec<SeatIndex>,
    #[server(default)] zone: Option<ZoneId>,
    #[server(default)] quantity: Option<u32>,
    #[server(default)] attendees: Vec<AttendeeId>,
    idempotency_key: String,
) -> Result<Placed, AppError> {
    use super::request::{answer, ports, visitor};
    use crate::domain::hold::{Choice, HoldRequest};
    let visitor = visitor();
    let (chosen, named) = (seats.clone(), attendees.clone());
    let result = match &visitor.user {
        None => Err(AppError::Unauthenticated),
        Some(user) => {
            let choice = match (zone, quantity) {
                (Some(zone), Some(quantity)) if seats.is_empty() => Choice::Best { zone, quantity },
                _ => Choice::Seats(seats),
            };
            let request = HoldRequest {
                show_id,
                choice,
                attendees,
                idempotency_key,
            };
            ports().ordering.place(&visitor, user, request).await
        }
    };
    match &result {
        Ok(placed) => leptos_axum::redirect(&format!("/orders/{}", placed.order_no)),
        Err(error) => keep_choice(show_id, &chosen, &named, error),
    }
    answer(result)
}

/// Leads a customer who could not place an order to where what was chosen is still chosen.
#[cfg(feature = "ssr")]
fn keep_choice(show_id: ShowId, seats: &[SeatIndex], named: &[AttendeeId], error: &AppError) {
    use super::request::is_plain_form;
    use leptos::server_fn::{ServerFn, error::ServerFnUrlError};

    let seats: Vec<String> = seats.iter().take(100).map(ToString::to_string).collect();
    let named: Vec<String> = named.iter().take(100).map(ToString::to_string).collect();
    let mut show = format!("/shows/{show_id}?seats={}", seats.join("."));
    if !named.is_empty() {
        show.push_str(&format!("&for={}", named.join(".")));
    }
    if *error == AppError::Unauthenticated {
        let next = show
            .replace('?', "%3F")
            .replace('=', "%3D")
            .replace('&', "%26");
        leptos_axum::redirect(&format!("/login?next={next}"));
    } else if is_plain_form() {
        let error = ServerFnUrlError::new(Place::PATH, error.clone());
        // The base only makes the path a whole address; it is taken off again.
        const BASE: &str = "http://localhost";
        if let Ok(address) = error.to_url(&format!("{BASE}{show}")) {
            let address = address.as_str();
            leptos_axum::redirect(address.strip_prefix(BASE).unwrap_or(address));
        }
    }
}

/// One of the customer's own orders.
#[server(prefix = "/api", endpoint = "orders/order", input = GetUrl)]
pub async fn order(order_no: OrderNo) -> Result<OrderView, AppError> {
    use super::request::{answer, ports, signed_in};
    let user = answer(signed_in())?;
    answer(ports().ordering.order(&user, order_no).await)
}

/// The customer's orders, newest first, a page at a time; `before` is the number the last page ended with.
#[server(prefix = "/api", endpoint = "orders/list", input = GetUrl)]
pub async fn orders(#[server(default)] before: Option<OrderNo>) -> Result<OrderPage, AppError> {
    use super::request::{answer, ports, signed_in};
    let user = answer(signed_in())?;
    answer(ports().ordering.orders(&user, before).await)
}

/// Gives up an order that is not paid; its seats go back on sale.
#[server(prefix = "/api", endpoint = "orders/cancel")]
pub async fn cancel(order_no: OrderNo) -> Result<(), AppError> {
    use super::request::{answer, ports, signed_in};
    let user = answer(signed_in())?;
    let result = ports().ordering.cancel(&user, order_no).await;
    leptos_axum::redirect(&format!("/orders/{order_no}"));
    answer(result)
}

/// Gives tickets of a paid order back, on the show's terms; leads to the order's page.
///
/// `items` are the tickets' numbers; `whole` gives back every ticket that is left instead. A repeated `idempotency_key`
/// answers with the refund that it requested before. `back_minor` is what the customer was told would come back: when it
/// is another amount by now, nothing is requested. Errors: `unauthenticated`, `not_found`, `invalid`, `refund_closed`,
/// `order_state`, `busy`.
#[server(prefix = "/api", endpoint = "orders/refund")]
pub async fn refund(
    order_no: OrderNo,
    #[server(default)] items: Vec<u32>,
    #[server(default)] whole: bool,
    #[server(default)] back_minor: Option<i64>,
    idempotency_key: String,
) -> Result<RefundView, AppError> {
    use super::request::{answer, ports, signed_in};
    use crate::domain::refund::{RefundRequest, TicketChoice};
    let user = answer(signed_in())?;
    let request = RefundRequest {
        order_no,
        tickets: if whole {
            TicketChoice::All
        } else {
            TicketChoice::Items(items)
        },
        key: idempotency_key,
        back_minor,
    };
    let result = ports().refunding.give_back(&user, request).await;
    // What was refused is told where it was asked for.
    if result.is_ok() {
        leptos_axum::redirect(&format!("/orders/{order_no}"));
    }
    answer(result)
}

/// The customer's own seats of a show; nobody's seats when nobody is signed in.
#[server(prefix = "/api", endpoint = "orders/mine", input = GetUrl)]
pub async fn mine(show_id: ShowId) -> Result<MySeats, AppError> {
    use super::request::{answer, ports, visitor};
    match visitor().user {
        None => Ok(MySeats::default()),
        Some(user) => answer(ports().ordering.mine(&user, show_id).await),
    }
}
