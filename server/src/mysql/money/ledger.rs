//! The ledger: double entries that are never changed, and what disagrees with them.

use super::payments::PaymentRecord;
use crate::mysql::DbError;
use app::domain::{ids::OrderNo, money::Money, time::Timestamp};
use sqlx::MySqlConnection;

/// Posts an amount from one account to another: two entries that add up to zero.
pub(super) async fn post(
    tx: &mut MySqlConnection,
    posting: &str,
    (debit, credit): (&str, &str),
    amount: Money,
    order_no: OrderNo,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO ledger_entry (posting, account, amount_minor, currency, order_no, posted_at) \
         VALUES (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?)",
    )
    .bind(posting)
    .bind(debit)
    .bind(amount.minor)
    .bind(amount.currency.code())
    .bind(order_no.as_i64())
    .bind(now.0)
    .bind(posting)
    .bind(credit)
    .bind(-amount.minor)
    .bind(amount.currency.code())
    .bind(order_no.as_i64())
    .bind(now.0)
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn note_discrepancy(
    tx: &mut MySqlConnection,
    kind: &str,
    payment: &PaymentRecord,
    detail: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO discrepancy (kind, reference, order_no, detail, opened_at) VALUES (?, ?, ?, ?, ?) \
         ON DUPLICATE KEY UPDATE detail = VALUES(detail)",
    )
    .bind(kind)
    .bind(&payment.out_trade_no)
    .bind(payment.order_no.as_i64())
    .bind(detail)
    .bind(now.0)
    .execute(tx)
    .await?;
    Ok(())
}
