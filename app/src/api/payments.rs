//! Paying.

use crate::{domain::ids::OrderNo, error::AppError};
use leptos::prelude::*;

/// Starts an attempt to pay, or finds the open one; leads to the gateway's cashier and answers with its address.
#[server(prefix = "/api", endpoint = "payments/start")]
pub async fn start(order_no: OrderNo) -> Result<String, AppError> {
    use super::request::{answer, is_plain_form, ports, signed_in};
    let user = answer(signed_in())?;
    let cashier = answer(ports().paying.start(&user, order_no).await)?;
    if is_plain_form() {
        leptos_axum::redirect(&cashier);
    }
    Ok(cashier)
}
