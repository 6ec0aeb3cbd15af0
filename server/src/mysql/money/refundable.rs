//! What of an order may be given back, by whom, and for how much.

use super::refund_requests::{RefundAsker, RefundRefusal};
use crate::mysql::DbError;
use app::domain::{
    catalogue::ShowStatus,
    ids::OrderNo,
    money::{Currency, Money},
    order::OrderStatus,
    refund::{GivenBack, TicketChoice},
    time::{Millis, Timestamp},
};
use sqlx::MySqlConnection;

/// The order's row, locked.
#[derive(sqlx::FromRow)]
pub(super) struct LockedOrder {
    pub user_id: u64,
    status: u8,
    pub currency: String,
    starts_at: i64,
    show_status: u8,
    refund_until_ms: Option<i64>,
    refund_fee_percent: u8,
}

/// A ticket of the order, and whether it was given back.
#[derive(sqlx::FromRow)]
pub(super) struct Ticket {
    pub item_no: u32,
    pub price_minor: i64,
    refund_id: Option<u64>,
}

/// Locks an order and reads on which terms its show takes tickets back; none when there is no such order.
pub(super) async fn lock(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<Option<LockedOrder>, DbError> {
    // The order's row alone is locked: the show's is everybody's.
    let exists: Option<i64> =
        sqlx::query_scalar("SELECT order_no FROM orders WHERE order_no = ? FOR UPDATE")
            .bind(order_no.as_i64())
            .fetch_optional(&mut *tx)
            .await?;
    if exists.is_none() {
        return Ok(None);
    }
    let order = sqlx::query_as(
        "SELECT o.user_id, o.status, o.currency, s.starts_at, s.status AS show_status, s.refund_until_ms, \
         s.refund_fee_percent FROM orders o JOIN shows s ON s.id = o.show_id WHERE o.order_no = ?",
    )
    .bind(order_no.as_i64())
    .fetch_optional(tx)
    .await?;
    Ok(order)
}

/// What is kept of a price, in percent, when these tickets may be given back at all.
pub(super) fn terms(
    order: &LockedOrder,
    asker: &RefundAsker,
    now: Timestamp,
) -> Result<u8, RefundRefusal> {
    if !matches!(
        OrderStatus::from_code(order.status),
        Some(OrderStatus::Paid | OrderStatus::Ticketed)
    ) {
        return Err(RefundRefusal::NotPaid);
    }
    match asker {
        RefundAsker::Staff { fee_percent, .. } => Ok(*fee_percent),
        RefundAsker::Withdrawal => Ok(0),
        // All of it goes back by itself, and nothing is kept.
        RefundAsker::Customer { .. } if order.show_status == ShowStatus::Withdrawn.code() => {
            Err(RefundRefusal::NotPaid)
        }
        RefundAsker::Customer { .. } => {
            let until = order
                .refund_until_ms
                .map(|before| Timestamp(order.starts_at) - Millis(before));
            if until.is_none_or(|until| now >= until) {
                return Err(RefundRefusal::Closed);
            }
            Ok(order.refund_fee_percent)
        }
    }
}

/// Every ticket of an order.
pub(super) async fn tickets(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<Vec<Ticket>, DbError> {
    Ok(sqlx::query_as(
        "SELECT i.item_no, i.price_minor, r.refund_id FROM order_item i \
         LEFT JOIN refund_item r ON r.order_no = i.order_no AND r.item_no = i.item_no \
         WHERE i.order_no = ? ORDER BY i.item_no",
    )
    .bind(order_no.as_i64())
    .fetch_all(tx)
    .await?)
}

/// The tickets that are meant, if all of them can be given back.
pub(super) fn chosen(
    all: Vec<Ticket>,
    choice: &TicketChoice,
) -> Result<Vec<Ticket>, RefundRefusal> {
    let chosen: Vec<Ticket> = match choice {
        TicketChoice::All => all
            .into_iter()
            .filter(|ticket| ticket.refund_id.is_none())
            .collect(),
        TicketChoice::Items(numbers) => {
            let is_known = |number: &u32| all.iter().any(|ticket| ticket.item_no == *number);
            if !numbers.iter().all(is_known) {
                return Err(RefundRefusal::UnknownItem);
            }
            all.into_iter()
                .filter(|ticket| numbers.contains(&ticket.item_no))
                .collect()
        }
    };
    if chosen.iter().any(|ticket| ticket.refund_id.is_some()) {
        return Err(RefundRefusal::GivenBackBefore);
    }
    if chosen.is_empty() {
        return Err(RefundRefusal::NothingLeft);
    }
    Ok(chosen)
}

/// What they are in money, if that is what the asker was told.
pub(super) fn value(
    currency: Currency,
    tickets: &[Ticket],
    fee_percent: u8,
    asker: &RefundAsker,
) -> Result<GivenBack, RefundRefusal> {
    let prices = tickets
        .iter()
        .map(|ticket| Money::new(ticket.price_minor, currency));
    let given =
        GivenBack::of(currency, prices, fee_percent).map_err(|_| RefundRefusal::NothingBack)?;
    if given.back.minor <= 0 {
        return Err(RefundRefusal::NothingBack);
    }
    match asker {
        RefundAsker::Customer {
            back_minor: Some(told),
            ..
        } if *told != given.back.minor => Err(RefundRefusal::OtherAmount),
        _ => Ok(given),
    }
}
