//! `gw_refund`.

use super::{is_duplicate, known};
use crate::gateway::{payment::Refund, wire::RefundState};
use app::domain::{money::Money, time::Timestamp};
use sqlx::{MySqlConnection, MySqlExecutor, MySqlPool};

macro_rules! select_refund {
    ($rest:literal) => {
        concat!(
            "SELECT refund_no, third_trade_no, out_trade_no, amount_minor, currency, notify_url, status, outcome, due_at, ",
            "created_at, settled_at FROM gw_refund ",
            $rest
        )
    };
}

#[derive(sqlx::FromRow)]
struct RefundRow {
    refund_no: String,
    third_trade_no: String,
    out_trade_no: String,
    amount_minor: i64,
    currency: String,
    notify_url: String,
    status: String,
    outcome: String,
    due_at: i64,
    created_at: i64,
    settled_at: Option<i64>,
}

impl RefundRow {
    fn into_refund(self) -> Result<Refund, sqlx::Error> {
        Ok(Refund {
            refund_no: self.refund_no,
            third_trade_no: self.third_trade_no,
            out_trade_no: self.out_trade_no,
            amount: Money::new(
                self.amount_minor,
                known("currency", self.currency.parse().ok())?,
            ),
            notify_url: self.notify_url,
            state: known("status", RefundState::from_word(&self.status))?,
            outcome: known("outcome", RefundState::from_word(&self.outcome))?,
            due_at: Timestamp(self.due_at),
            created_at: Timestamp(self.created_at),
            settled_at: self.settled_at.map(Timestamp),
        })
    }
}

/// Inserts a refund, in the transaction that locked its payment; `false` when its number is taken.
pub async fn insert(
    transaction: &mut MySqlConnection,
    refund: &Refund,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query(
        "INSERT INTO gw_refund (refund_no, third_trade_no, out_trade_no, amount_minor, currency, notify_url, status, outcome, \
         due_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&refund.refund_no)
    .bind(&refund.third_trade_no)
    .bind(&refund.out_trade_no)
    .bind(refund.amount.minor)
    .bind(refund.amount.currency.code())
    .bind(&refund.notify_url)
    .bind(refund.state.word())
    .bind(refund.outcome.word())
    .bind(refund.due_at.0)
    .bind(refund.created_at.0)
    .execute(transaction)
    .await;
    match inserted {
        Ok(_) => Ok(true),
        Err(error) if is_duplicate(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads a refund.
pub async fn find(
    executor: impl MySqlExecutor<'_>,
    refund_no: &str,
) -> Result<Option<Refund>, sqlx::Error> {
    sqlx::query_as::<_, RefundRow>(select_refund!("WHERE refund_no = ?"))
        .bind(refund_no)
        .fetch_optional(executor)
        .await?
        .map(RefundRow::into_refund)
        .transpose()
}

/// Reads a refund and keeps everybody else from changing it until the transaction ends.
pub async fn lock(
    transaction: &mut MySqlConnection,
    refund_no: &str,
) -> Result<Option<Refund>, sqlx::Error> {
    sqlx::query_as::<_, RefundRow>(select_refund!("WHERE refund_no = ? FOR UPDATE"))
        .bind(refund_no)
        .fetch_optional(transaction)
        .await?
        .map(RefundRow::into_refund)
        .transpose()
}

/// Ends a refund that is in progress; `false` when it has ended before.
pub async fn settle(
    transaction: &mut MySqlConnection,
    refund_no: &str,
    outcome: RefundState,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let updated = sqlx::query(
        "UPDATE gw_refund SET status = ?, settled_at = ? WHERE refund_no = ? AND status = 'processing'",
    )
    .bind(outcome.word())
    .bind(now.0)
    .bind(refund_no)
    .execute(transaction)
    .await?;
    Ok(updated.rows_affected() == 1)
}

/// What is given back of a payment or on its way, in the smallest unit. Exact only while the payment is locked.
pub async fn committed_minor(
    transaction: &mut MySqlConnection,
    third_trade_no: &str,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT CAST(COALESCE(SUM(amount_minor), 0) AS SIGNED) FROM gw_refund \
         WHERE third_trade_no = ? AND status <> 'failed'",
    )
    .bind(third_trade_no)
    .fetch_one(transaction)
    .await
}

/// What has been given back of a payment, in the smallest unit.
pub async fn succeeded_minor(pool: &MySqlPool, third_trade_no: &str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT CAST(COALESCE(SUM(amount_minor), 0) AS SIGNED) FROM gw_refund \
         WHERE third_trade_no = ? AND status = 'succeeded'",
    )
    .bind(third_trade_no)
    .fetch_one(pool)
    .await
}

/// Numbers of at most `limit` refunds in progress whose end is due.
pub async fn due(pool: &MySqlPool, now: Timestamp, limit: u32) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT refund_no FROM gw_refund WHERE status = 'processing' AND due_at <= ? ORDER BY due_at LIMIT ?",
    )
    .bind(now.0)
    .bind(limit)
    .fetch_all(pool)
    .await
}
