//! The money is back: what that changes, in one transaction.

use super::{
    ledger::{Moves, post, resolve_discrepancy},
    refunds::RefundRecord,
};
use crate::mysql::{
    DbError,
    outbox::{self, OutboxKind, OutboxRow},
    standing::return_some,
};
use app::domain::{ids::ZoneId, time::Timestamp};
use sqlx::MySqlConnection;
use std::collections::BTreeMap;

/// Seats of the tickets that a refund is for.
const ITS_SEATS: &str = "(SELECT i.seat FROM refund_item ri JOIN order_item i ON i.order_no = ri.order_no \
     AND i.item_no = ri.item_no WHERE ri.refund_id = ? AND i.seat IS NOT NULL)";

/// Moves refund, ledger and payment, puts the discrepancy right that it is about, and takes its tickets off the order; an
/// order without a ticket left is refunded. The order is locked. What must happen outside, once the commit is seen;
/// nothing when the money was known to be back.
pub(super) async fn end_refund(
    tx: &mut MySqlConnection,
    refund: &RefundRecord,
    now: Timestamp,
) -> Result<Vec<OutboxRow>, DbError> {
    let won = sqlx::query(
        "UPDATE refund SET status = 3, succeeded_at = ? WHERE refund_no = ? AND status <> 3",
    )
    .bind(now.0)
    .bind(&refund.refund_no)
    .execute(&mut *tx)
    .await?
    .rows_affected();
    if won == 0 {
        return Ok(Vec::new());
    }
    let posting = format!("refund:{}", refund.refund_no);
    let (moves, currency) = (Moves::paid_back(refund.amount), refund.amount.currency);
    post(tx, &posting, moves, currency, refund.order_no, now).await?;
    sqlx::query(
        "UPDATE payment SET status = 6, update_time = ? WHERE out_trade_no = ? AND status = 3 AND \
         COALESCE(taken_minor, amount_minor) <= (SELECT SUM(r.amount_minor) FROM refund r \
         WHERE r.payment_id = payment.id AND r.status = 3)",
    )
    .bind(now.0)
    .bind(&refund.out_trade_no)
    .execute(&mut *tx)
    .await?;
    for (kind, reference) in [
        ("late_payment", &refund.out_trade_no),
        ("second_payment", &refund.out_trade_no),
        ("other_amount", &refund.out_trade_no),
        ("wrong_refund_amount", &refund.refund_no),
    ] {
        resolve_discrepancy(tx, kind, reference, now).await?;
    }
    if !refund.reason.is_for_tickets() {
        return Ok(Vec::new());
    }
    take_tickets(tx, refund, now).await?;
    end_order_without_tickets(tx, refund, now).await?;
    let row = outbox::insert(
        tx,
        OutboxKind::TicketsBack,
        refund.order_no,
        &refund.refund_no,
        now,
    )
    .await?;
    Ok(vec![row])
}

/// Takes a refund's tickets off its order: their claims, and, while the show has not begun, the copy of their sold seats and
/// their standing places, because those go back on sale.
async fn take_tickets(
    tx: &mut MySqlConnection,
    refund: &RefundRecord,
    now: Timestamp,
) -> Result<(), DbError> {
    let order_no = refund.order_no;
    let claims = format!("DELETE FROM seat_claim WHERE order_no = ? AND seat IN {ITS_SEATS}");
    sqlx::query(sqlx::AssertSqlSafe(claims))
        .bind(order_no.as_i64())
        .bind(refund.id)
        .execute(&mut *tx)
        .await?;
    let (show_id, starts_at): (u64, i64) = sqlx::query_as(
        "SELECT s.id, s.starts_at FROM orders o JOIN shows s ON s.id = o.show_id WHERE o.order_no = ?",
    )
    .bind(order_no.as_i64())
    .fetch_one(&mut *tx)
    .await?;
    // Nobody can come any more to a show that has begun, and its counts tell who was expected.
    if now >= Timestamp(starts_at) {
        return Ok(());
    }
    let sold = format!(
        "DELETE FROM show_seat WHERE show_id = ? AND order_no = ? AND state = 2 AND seat IN {ITS_SEATS}"
    );
    sqlx::query(sqlx::AssertSqlSafe(sold))
        .bind(show_id)
        .bind(order_no.as_i64())
        .bind(refund.id)
        .execute(&mut *tx)
        .await?;
    let standing: Vec<(u64,)> = sqlx::query_as(
        "SELECT i.zone_id FROM refund_item ri JOIN order_item i ON i.order_no = ri.order_no \
         AND i.item_no = ri.item_no WHERE ri.refund_id = ? AND i.seat IS NULL",
    )
    .bind(refund.id)
    .fetch_all(&mut *tx)
    .await?;
    let mut by_zone: BTreeMap<ZoneId, u32> = BTreeMap::new();
    for (zone,) in standing {
        *by_zone.entry(ZoneId(zone)).or_default() += 1;
    }
    // Last, because everybody who sells in a zone waits for its stock.
    for (zone, quantity) in by_zone {
        return_some(tx, order_no, zone, quantity).await?;
    }
    Ok(())
}

async fn end_order_without_tickets(
    tx: &mut MySqlConnection,
    refund: &RefundRecord,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "UPDATE orders SET status = 3, closed_at = ? WHERE order_no = ? AND status IN (1, 4) AND NOT EXISTS \
         (SELECT 1 FROM order_item i LEFT JOIN refund_item ri ON ri.order_no = i.order_no AND ri.item_no = i.item_no \
         LEFT JOIN refund r ON r.id = ri.refund_id AND r.status = 3 WHERE i.order_no = ? AND r.id IS NULL)",
    )
    .bind(now.0)
    .bind(refund.order_no.as_i64())
    .bind(refund.order_no.as_i64())
    .execute(tx)
    .await?;
    Ok(())
}
