//! The notices themselves, as they came: what a gateway said, and what it led to.

use crate::mysql::DbError;
use app::domain::time::Timestamp;
use sqlx::MySqlConnection;

/// Characters of a notice that are kept: as many as the column holds, whatever they are.
const BODY_CHARS_MAX: usize = 16_000;

/// As much of a notice as is kept.
pub(super) fn kept_body(raw_body: &str) -> String {
    raw_body.chars().take(BODY_CHARS_MAX).collect()
}

/// A notice, and what became of it.
pub(super) struct Told<'a> {
    /// Who says it.
    pub channel: &'a str,
    /// What the channel calls the notice; repetitions carry the same.
    pub callback_id: &'a str,
    /// Our number of the payment.
    pub out_trade_no: &'a str,
    /// The notice as it came.
    pub raw_body: &'a str,
    /// What became of it.
    pub result: &'a str,
    /// Whether it moved something. A notice may come with faults first and right afterwards, under one name: what is kept
    /// is the one that moved the money.
    pub has_moved: bool,
}

/// Keeps a notice, or counts that it came again.
pub(super) async fn note_callback(
    tx: &mut MySqlConnection,
    told: &Told<'_>,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO payment_callback (channel, callback_id, out_trade_no, raw_body, result, received_at) \
         VALUES (?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE repeats = repeats + 1, \
         out_trade_no = CASE WHEN ? THEN VALUES(out_trade_no) ELSE out_trade_no END, \
         raw_body = CASE WHEN ? THEN VALUES(raw_body) ELSE raw_body END, \
         result = CASE WHEN ? THEN VALUES(result) ELSE result END",
    )
    .bind(told.channel)
    .bind(told.callback_id)
    .bind(told.out_trade_no)
    .bind(kept_body(told.raw_body))
    .bind(told.result)
    .bind(now.0)
    .bind(told.has_moved)
    .bind(told.has_moved)
    .bind(told.has_moved)
    .execute(tx)
    .await?;
    Ok(())
}
