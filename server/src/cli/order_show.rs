//! `seatflow order show`: an order's tickets and refunds, for staff.

use super::order::utc;
use crate::{
    mysql::{money::RefundRecord, orders::ItemRecord},
    ticketing::Ticketing,
};
use anyhow::Context;
use app::domain::{ids::OrderNo, money::Money, order::RefundProgress};

/// What to print about an order.
pub(super) async fn show(ticketing: &Ticketing, order_no: OrderNo) -> anyhow::Result<String> {
    let db = ticketing.db();
    let order = db.order(order_no).await?;
    let order = order.with_context(|| format!("there is no order {order_no}"))?;
    let items = db.items_of(&[order_no]).await?.remove(&order_no);
    let mut lines = vec![format!(
        "Order {order_no} of show {}: {:?}, {}, placed {}.",
        order.show_id,
        order.status,
        order.amount,
        utc(order.placed_at)
    )];
    let items = items.unwrap_or_default();
    let currency = order.amount.currency;
    lines.extend(items.iter().map(|item| {
        let price = Money::new(item.price_minor, currency);
        format!(
            "  ticket {:<4} {} {price}{}",
            item.item_no,
            place(item),
            state(item)
        )
    }));
    for refund in db.refunds_of_order(order_no).await? {
        lines.push(refund_line(&refund));
    }
    Ok(lines.join("\n"))
}

fn place(item: &ItemRecord) -> String {
    match &item.seat {
        Some((_, label)) => {
            let parts = [&label.section, &label.row, &label.number];
            let parts: Vec<&str> = parts
                .into_iter()
                .map(String::as_str)
                .filter(|part| !part.is_empty())
                .collect();
            parts.join("/")
        }
        None => "standing".to_owned(),
    }
}

fn state(item: &ItemRecord) -> &'static str {
    match item.refund.map(|refund| refund.progress) {
        None => "",
        Some(RefundProgress::Succeeded) => ", given back",
        Some(_) => ", is being given back",
    }
}

/// A refund in a line.
pub(super) fn refund_line(refund: &RefundRecord) -> String {
    let kept = match refund.fee.minor {
        0 => String::new(),
        _ => format!(", {} kept", refund.fee),
    };
    let progress = match refund.status {
        RefundProgress::Requested => "is requested".to_owned(),
        RefundProgress::Sent => "is on its way".to_owned(),
        RefundProgress::Succeeded => "is back".to_owned(),
        RefundProgress::Failed => format!(
            "was not carried out yet ({}) and is tried again",
            refund
                .fail_reason
                .as_deref()
                .unwrap_or("for no reason given")
        ),
    };
    format!(
        "Refund {} ({}): {} {progress}{kept}.",
        refund.refund_no,
        refund.reason.word(),
        refund.amount
    )
}
