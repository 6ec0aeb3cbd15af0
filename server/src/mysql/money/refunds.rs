//! Refunds on their way: reading them, and what becomes of them at the gateway.

use super::{notices::lock_order, refund_ends::end_refund, refund_number::SentAs};
use crate::mysql::{
    Db, DbError,
    outbox::{self, OutboxKind, OutboxRow},
    shows::currency_of,
};
use app::domain::{
    ids::OrderNo,
    money::Money,
    order::RefundProgress,
    refund::{RefundReason, TOLD_MAX},
    time::{Millis, Timestamp},
};
use sqlx::MySqlConnection;

/// Longest pause before a refund that the gateway failed is tried under another number.
const PAUSE_MAX: Millis = Millis::minutes(10);

/// A refund's row.
#[derive(Debug, Clone)]
pub struct RefundRecord {
    /// Its id.
    pub id: u64,
    /// Our number for it.
    pub refund_no: String,
    /// The number of the payment it gives back.
    pub out_trade_no: String,
    /// Name of the channel that the payment came through.
    pub channel: String,
    /// The order that was paid.
    pub order_no: OrderNo,
    /// What is given back.
    pub amount: Money,
    /// What is kept of the tickets' price.
    pub fee: Money,
    /// How far it has come.
    pub status: RefundProgress,
    /// Why it was made.
    pub reason: RefundReason,
    /// Which try at the gateway it is at, 1 for the first; see [`RefundRecord::sent_as`].
    pub attempt: u32,
    /// When it was requested.
    pub requested_at: Timestamp,
    /// When the gateway accepted it first.
    pub sent_at: Option<Timestamp>,
    /// When the gateway refused or failed it last.
    pub failed_at: Option<Timestamp>,
    /// Why the gateway refused or failed it last, in its words or ours.
    pub fail_reason: Option<String>,
    /// When the money was back.
    pub succeeded_at: Option<Timestamp>,
}

impl RefundRecord {
    /// The number under which the gateway knows the try that it is at.
    #[must_use]
    pub fn sent_as(&self) -> String {
        SentAs {
            refund_no: &self.refund_no,
            attempt: self.attempt,
        }
        .to_string()
    }
}

#[derive(sqlx::FromRow)]
struct RefundRow {
    id: u64,
    refund_no: String,
    out_trade_no: String,
    channel: String,
    order_no: i64,
    amount_minor: i64,
    fee_minor: i64,
    currency: String,
    status: u8,
    reason: String,
    attempt: u32,
    requested_at: i64,
    sent_at: Option<i64>,
    failed_at: Option<i64>,
    fail_reason: Option<String>,
    succeeded_at: Option<i64>,
}

impl TryFrom<RefundRow> for RefundRecord {
    type Error = DbError;
    fn try_from(row: RefundRow) -> Result<Self, DbError> {
        let unreadable = || DbError::Unreadable { what: "refund" };
        let currency = currency_of(&row.currency)?;
        Ok(Self {
            id: row.id,
            refund_no: row.refund_no,
            out_trade_no: row.out_trade_no,
            channel: row.channel,
            order_no: OrderNo::try_from(row.order_no).map_err(|_| unreadable())?,
            amount: Money::new(row.amount_minor, currency),
            fee: Money::new(row.fee_minor, currency),
            status: RefundProgress::from_code(row.status).ok_or_else(unreadable)?,
            reason: RefundReason::from_word(&row.reason).ok_or_else(unreadable)?,
            attempt: row.attempt,
            requested_at: Timestamp(row.requested_at),
            sent_at: row.sent_at.map(Timestamp),
            failed_at: row.failed_at.map(Timestamp),
            fail_reason: row.fail_reason,
            succeeded_at: row.succeeded_at.map(Timestamp),
        })
    }
}

const REFUND: &str = "SELECT r.id, r.refund_no, p.out_trade_no, p.channel, r.order_no, r.amount_minor, r.fee_minor, \
     r.currency, r.status, r.reason, r.attempt, r.requested_at, r.sent_at, r.failed_at, r.fail_reason, r.succeeded_at \
     FROM refund r JOIN payment p ON p.id = r.payment_id";

/// How the gateway did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundFault {
    /// It said no and keeps nothing; the same number may be sent again.
    Refused,
    /// It had said yes, and the money is not back and won't be under this number.
    Failed,
}

impl Db {
    /// A refund by our number for it, or by one that the gateway knows a try of it under.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund(&self, number: &str) -> Result<Option<RefundRecord>, DbError> {
        let mut connection = self.pool().acquire().await?;
        refund_in(&mut connection, SentAs::read(number).refund_no).await
    }

    /// Since when the customer waits who has waited longest for money back; none when nobody does.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn oldest_refund(&self) -> Result<Option<Timestamp>, DbError> {
        let oldest: Option<i64> =
            sqlx::query_scalar("SELECT MIN(requested_at) FROM refund WHERE status IN (1, 2, 4)")
                .fetch_one(self.pool())
                .await?;
        Ok(oldest.map(Timestamp))
    }

    /// An order's refunds, oldest first; the newest ones when there are very many.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refunds_of_order(&self, order_no: OrderNo) -> Result<Vec<RefundRecord>, DbError> {
        let rows: Vec<RefundRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "{REFUND} WHERE r.order_no = ? ORDER BY r.id DESC LIMIT {TOLD_MAX}"
        )))
        .bind(order_no.as_i64())
        .fetch_all(self.pool())
        .await?;
        rows.into_iter().rev().map(RefundRecord::try_from).collect()
    }

    /// Notes that the gateway accepted a try of a refund. Repeating it changes nothing, and so does an answer that was
    /// overtaken by the end of that try.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_sent(&self, number: &str, now: Timestamp) -> Result<(), DbError> {
        let sent = SentAs::read(number);
        sqlx::query(
            "UPDATE refund SET status = 2, sent_at = COALESCE(sent_at, ?) \
             WHERE refund_no = ? AND attempt = ? AND status IN (1, 4)",
        )
        .bind(now.0)
        .bind(sent.refund_no)
        .bind(sent.attempt)
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// Notes that the gateway did not carry a try of a refund out; the refund stays owed. Whoever is sending it goes on
    /// from the outbox.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_not_done(
        &self,
        number: &str,
        fault: RefundFault,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let mut connection = self.pool().acquire().await?;
        not_done(&mut connection, SentAs::read(number), fault, reason, now).await?;
        Ok(())
    }

    /// Notes that the money is back: see [`end_refund`]. What must happen outside, once the commit is seen; none when there
    /// is no such refund. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_succeeded(
        &self,
        number: &str,
        now: Timestamp,
    ) -> Result<Option<Vec<OutboxRow>>, DbError> {
        let Some(refund) = self.refund(number).await? else {
            return Ok(None);
        };
        self.transact((refund, now), |(refund, now), tx| {
            Box::pin(async move {
                // Order first, then payment: the order every other transaction takes them in.
                lock_order(tx, refund.order_no).await?;
                end_refund(tx, refund, *now).await
            })
        })
        .await
        .map(Some)
    }
}

/// Moves a refund that was not carried out to `failed`. False when that was known, or when it is not so any more.
pub(super) async fn not_done(
    connection: &mut MySqlConnection,
    sent: SentAs<'_>,
    fault: RefundFault,
    reason: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    let next = sent.attempt + u32::from(fault == RefundFault::Failed);
    let reason: String = reason.chars().take(200).collect();
    let moved = sqlx::query(
        "UPDATE refund SET status = 4, attempt = ?, failed_at = ?, fail_reason = ? \
         WHERE refund_no = ? AND attempt = ? AND status <> 3",
    )
    .bind(next)
    .bind(now.0)
    .bind(reason)
    .bind(sent.refund_no)
    .bind(sent.attempt)
    .execute(connection)
    .await?;
    Ok(moved.rows_affected() > 0)
}

/// Notes that a refund is to be sent again after a pause that grows with its tries.
pub(super) async fn send_again(
    tx: &mut MySqlConnection,
    refund: &RefundRecord,
    now: Timestamp,
) -> Result<OutboxRow, DbError> {
    let pause = Millis((1_000_i64 << refund.attempt.min(20)).min(PAUSE_MAX.0));
    outbox::insert_later(
        tx,
        OutboxKind::RefundSend,
        refund.order_no,
        &refund.refund_no,
        now,
        pause,
    )
    .await
}

pub(super) async fn refund_in(
    connection: &mut MySqlConnection,
    refund_no: &str,
) -> Result<Option<RefundRecord>, DbError> {
    let row: Option<RefundRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "{REFUND} WHERE r.refund_no = ?"
    )))
    .bind(refund_no)
    .fetch_optional(connection)
    .await?;
    row.map(RefundRecord::try_from).transpose()
}
