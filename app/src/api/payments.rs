//! Paying.

use crate::{domain::ids::OrderNo, error::AppError};
use leptos::prelude::*;

/// Starts an attempt to pay, or finds the open one; leads to the gateway's cashier and answers with its address.
#[server(prefix = "/api", endpoint = "payments/start")]
pub async fn start(order_no: OrderNo) -> Result<String, AppError> {
    use super::request::{answer, is_plain_form, ports, signed_in, visitor};
    let user = answer(signed_in())?;
    let cashier = answer(ports().paying.start(&user, order_no).await)?;
    // The cashier speaks the language that was chosen here, whatever the browser's is.
    let lang = visitor().lang.tag();
    let separator = if cashier.contains('?') { '&' } else { '?' };
    let cashier = format!("{cashier}{separator}lang={lang}");
    if is_plain_form() {
        leptos_axum::redirect(&cashier);
    }
    Ok(cashier)
}
