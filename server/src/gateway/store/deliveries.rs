//! `gw_delivery`: callbacks on their way, and how they fared.

use super::known;
use crate::gateway::{
    switches::CallbackSwitches,
    wire::{Callback, DeliveryReport},
};
use app::domain::time::Timestamp;
use sqlx::{MySqlConnection, MySqlPool};

/// A callback that is due to be sent.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Delivery {
    /// The row.
    pub id: i64,
    /// The callback's name.
    pub callback_id: String,
    /// Where it goes.
    pub url: String,
    /// The body without faults.
    pub body: String,
    /// Whether faulty attempts have a signature that does not match.
    pub wrong_signature: bool,
    /// Whether faulty attempts are signed with an old time.
    pub stale_timestamp: bool,
    /// Whether faulty attempts name another amount.
    pub wrong_amount: bool,
    /// How many attempts are faulty.
    pub faulty_attempts: u32,
    /// How often it was sent before.
    pub attempts: u32,
    /// When it was due, in ms since the epoch.
    pub next_at: i64,
    /// When it was due for the first time, in ms since the epoch.
    pub first_due_at: i64,
}

/// Queues `callback` to be sent from `due` on, as often as the switches say.
pub async fn enqueue(
    transaction: &mut MySqlConnection,
    callback: &Callback,
    url: &str,
    switches: &CallbackSwitches,
    due: Timestamp,
) -> Result<(), sqlx::Error> {
    let body =
        serde_json::to_string(callback).map_err(|error| sqlx::Error::Encode(error.into()))?;
    for copy_no in 0..switches.copies {
        sqlx::query(
            "INSERT INTO gw_delivery (callback_id, copy_no, third_trade_no, url, body, wrong_signature, stale_timestamp, \
             wrong_amount, faulty_attempts, attempts, next_at, first_due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
        )
        .bind(&callback.callback_id)
        .bind(copy_no)
        .bind(&callback.third_trade_no)
        .bind(url)
        .bind(&body)
        .bind(switches.wrong_signature)
        .bind(switches.stale_timestamp)
        .bind(switches.wrong_amount)
        .bind(switches.faulty_attempts)
        .bind(due.0)
        .bind(due.0)
        .execute(&mut *transaction)
        .await?;
    }
    Ok(())
}

/// At most `limit` callbacks that are due, the longest waiting first.
pub async fn due(
    pool: &MySqlPool,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<Delivery>, sqlx::Error> {
    sqlx::query_as(
        "SELECT id, callback_id, url, body, wrong_signature, stale_timestamp, wrong_amount, faulty_attempts, attempts, next_at, \
         first_due_at FROM gw_delivery WHERE next_at <= ? ORDER BY next_at, id LIMIT ?",
    )
    .bind(now.0)
    .bind(limit)
    .fetch_all(pool)
    .await
}

/// Takes a due callback for one attempt; `false` when another server has taken it.
///
/// Until `lease_end` nobody else takes it; when this server dies before it reports, the callback is due again by then.
pub async fn claim(
    pool: &MySqlPool,
    delivery: &Delivery,
    lease_end: Timestamp,
) -> Result<bool, sqlx::Error> {
    let updated = sqlx::query(
        "UPDATE gw_delivery SET attempts = attempts + 1, next_at = ? WHERE id = ? AND attempts = ? AND next_at = ?",
    )
    .bind(lease_end.0)
    .bind(delivery.id)
    .bind(delivery.attempts)
    .bind(delivery.next_at)
    .execute(pool)
    .await?;
    Ok(updated.rows_affected() == 1)
}

/// What an attempt led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The merchant has it.
    Acknowledged,
    /// It is sent again.
    At(Timestamp),
    /// It is not sent any more.
    GaveUp,
}

/// Notes how an attempt went.
pub async fn record(
    pool: &MySqlPool,
    id: i64,
    answer: &str,
    next: Next,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    let next_at = match next {
        Next::At(at) => Some(at.0),
        Next::Acknowledged | Next::GaveUp => None,
    };
    sqlx::query(
        "UPDATE gw_delivery SET last_answer = ?, next_at = ?, acknowledged_at = ?, gave_up_at = ? \
         WHERE id = ? AND acknowledged_at IS NULL",
    )
    .bind(answer)
    .bind(next_at)
    .bind((next == Next::Acknowledged).then_some(now.0))
    .bind((next == Next::GaveUp).then_some(now.0))
    .bind(id)
    .execute(pool)
    .await?;
    Ok(())
}

/// When the next thing of any kind is due: a callback, a payment's end, a late success, a refund's end.
pub async fn next_due(pool: &MySqlPool) -> Result<Option<Timestamp>, sqlx::Error> {
    let earliest: Option<i64> = sqlx::query_scalar(
        "SELECT MIN(due) FROM (\
         SELECT MIN(next_at) AS due FROM gw_delivery WHERE next_at IS NOT NULL \
         UNION ALL SELECT MIN(expires_at) FROM gw_payment WHERE status = 'open' \
         UNION ALL SELECT MIN(late_at) FROM gw_payment WHERE late_at IS NOT NULL \
         UNION ALL SELECT MIN(due_at) FROM gw_refund WHERE status = 'processing') AS work",
    )
    .fetch_one(pool)
    .await?;
    Ok(earliest.map(Timestamp))
}

#[derive(sqlx::FromRow)]
struct ReportRow {
    callback_id: String,
    copy_no: u32,
    body: String,
    attempts: u32,
    last_answer: Option<String>,
    next_at: Option<i64>,
    acknowledged_at: Option<i64>,
    gave_up_at: Option<i64>,
}

/// How the first `limit` callbacks of a payment fare, oldest first.
pub async fn of_payment(
    pool: &MySqlPool,
    third_trade_no: &str,
    limit: u32,
) -> Result<Vec<DeliveryReport>, sqlx::Error> {
    let rows: Vec<ReportRow> = sqlx::query_as(
        "SELECT callback_id, copy_no, body, attempts, last_answer, next_at, acknowledged_at, gave_up_at FROM gw_delivery \
         WHERE third_trade_no = ? ORDER BY id LIMIT ?",
    )
    .bind(third_trade_no)
    .bind(limit)
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(DeliveryReport {
                callback: known("body", serde_json::from_str(&row.body).ok())?,
                callback_id: row.callback_id,
                copy_no: row.copy_no,
                attempts: row.attempts,
                last_answer: row.last_answer,
                next_at_ms: row.next_at,
                acknowledged_at_ms: row.acknowledged_at,
                gave_up_at_ms: row.gave_up_at,
            })
        })
        .collect()
}
