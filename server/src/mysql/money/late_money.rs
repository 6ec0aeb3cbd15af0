//! Money that nobody asked for: it came for an order that was over, or for one that was paid, or it is another amount than
//! was due. All of it goes back.

use super::{
    ledger::note_discrepancy,
    notices::lock_order,
    payments::{PaymentRecord, lock_payment, payment_in},
};
use crate::mysql::{
    DbError,
    outbox::{self, OutboxKind, OutboxRow},
};
use app::domain::{
    order::OrderStatus, payment::PaymentStatus, refund::RefundReason, time::Timestamp,
};
use sqlx::MySqlConnection;

/// Records that a payment's money goes back: refund, discrepancy, and the request to the gateway.
pub(super) async fn give_back(
    tx: &mut MySqlConnection,
    payment: &PaymentRecord,
    order: OrderStatus,
    now: Timestamp,
) -> Result<OutboxRow, DbError> {
    let reason = if payment.taken.is_some() {
        RefundReason::OtherAmount
    } else if order.is_live() {
        RefundReason::SecondPayment
    } else {
        RefundReason::LatePayment
    };
    let taken = payment.captured();
    let refund_no = format!("{}-r1", payment.out_trade_no);
    sqlx::query(
        "INSERT INTO refund (refund_no, payment_id, order_no, amount_minor, currency, reason, status, requested_at) \
         VALUES (?, ?, ?, ?, ?, ?, 1, ?)",
    )
    .bind(&refund_no)
    .bind(payment.id)
    .bind(payment.order_no.as_i64())
    .bind(taken.minor)
    .bind(taken.currency.code())
    .bind(reason.word())
    .bind(now.0)
    .execute(&mut *tx)
    .await?;
    let detail = match payment.taken {
        Some(taken) => format!("{taken} was taken where {} was due", payment.amount),
        None => format!("{taken} was paid for an order that is {order:?}"),
    };
    note_discrepancy(tx, reason.word(), payment, &detail, now).await?;
    outbox::insert(
        tx,
        OutboxKind::RefundSend,
        payment.order_no,
        &refund_no,
        now,
    )
    .await
}

/// Requests the refund of a successful payment if its order is not live and nothing is on its way back.
pub(in crate::mysql) async fn give_back_if_unowned(
    tx: &mut MySqlConnection,
    out_trade_no: &str,
    now: Timestamp,
) -> Result<Option<OutboxRow>, DbError> {
    let Some(known) = payment_in(tx, out_trade_no).await? else {
        return Ok(None);
    };
    let order = lock_order(tx, known.order_no).await?;
    let payment = lock_payment(tx, known.id).await?;
    let refunds: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM refund WHERE payment_id = ?")
        .bind(payment.id)
        .fetch_one(&mut *tx)
        .await?;
    if order.is_live() || payment.status != PaymentStatus::Success || refunds > 0 {
        return Ok(None);
    }
    give_back(tx, &payment, order, now).await.map(Some)
}
