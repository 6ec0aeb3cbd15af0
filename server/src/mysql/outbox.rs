//! What must still happen outside the database after a commit.

use super::{Db, DbError};
use app::domain::{
    ids::OrderNo,
    time::{Millis, Timestamp},
};
use sqlx::MySqlConnection;

/// How long the committing server itself has to do what a row asks for, before others may.
const OWN_CHANCE: Millis = Millis(1_500);
/// How long a row that is being worked on stays hidden from others.
const LEASE: Millis = Millis(20_000);
/// Failures after which a row is a dead letter.
pub const ATTEMPTS_MAX: u32 = 12;
/// Longest pause between two tries.
const PAUSE_MAX: Millis = Millis(60_000);

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutboxKind {
    /// Mark the order's seats as sold, and tell others.
    OrderPaid,
    /// Give the order's seats back, and tell others.
    OrderClosed,
    /// Close a payment at the gateway; the payload is its number.
    PaymentClose,
    /// Ask the gateway for a refund; the payload is its number.
    RefundSend,
    /// Give tickets of a paid order back whose money is back, and tell others; the payload is the refund's number.
    TicketsBack,
}

impl OutboxKind {
    /// The word that the database keeps.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OrderPaid => "order.paid",
            Self::OrderClosed => "order.closed",
            Self::PaymentClose => "payment.close",
            Self::RefundSend => "refund.send",
            Self::TicketsBack => "tickets.back",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [
            Self::OrderPaid,
            Self::OrderClosed,
            Self::PaymentClose,
            Self::RefundSend,
            Self::TicketsBack,
        ]
        .into_iter()
        .find(|kind| kind.word() == word)
    }
}

/// A row of the outbox.
#[derive(Debug, Clone)]
pub struct OutboxRow {
    /// Its number.
    pub id: u64,
    /// What is to be done.
    pub kind: OutboxKind,
    /// For which order.
    pub order_no: OrderNo,
    /// A payment's or refund's number, where the kind needs one.
    pub payload: String,
    /// Tries that failed so far.
    pub attempts: u32,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: u64,
    kind: String,
    order_no: i64,
    payload: String,
    attempts: u32,
}

impl TryFrom<Row> for OutboxRow {
    type Error = DbError;
    fn try_from(row: Row) -> Result<Self, DbError> {
        let unreadable = DbError::Unreadable { what: "outbox" };
        let Some(kind) = OutboxKind::from_word(&row.kind) else {
            return Err(unreadable);
        };
        let order_no = OrderNo::try_from(row.order_no).map_err(|_| unreadable)?;
        Ok(Self {
            id: row.id,
            kind,
            order_no,
            payload: row.payload,
            attempts: row.attempts,
        })
    }
}

/// Notes within a transaction what must happen after it.
///
/// # Errors
/// When the database fails.
pub async fn insert(
    connection: &mut MySqlConnection,
    kind: OutboxKind,
    order_no: OrderNo,
    payload: &str,
    now: Timestamp,
) -> Result<OutboxRow, DbError> {
    insert_later(connection, kind, order_no, payload, now, OWN_CHANCE).await
}

/// As [`insert`], for something that is to happen after a pause.
///
/// # Errors
/// When the database fails.
pub async fn insert_later(
    connection: &mut MySqlConnection,
    kind: OutboxKind,
    order_no: OrderNo,
    payload: &str,
    now: Timestamp,
    pause: Millis,
) -> Result<OutboxRow, DbError> {
    let done = sqlx::query(
        "INSERT INTO outbox (kind, order_no, payload, next_at, created_at) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(kind.word())
    .bind(order_no.as_i64())
    .bind(payload)
    .bind((now + pause).0)
    .bind(now.0)
    .execute(connection)
    .await?;
    let payload = payload.to_owned();
    Ok(OutboxRow {
        id: done.last_insert_id(),
        kind,
        order_no,
        payload,
        attempts: 0,
    })
}

impl Db {
    /// Takes due rows for this server alone, for the length of a lease.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn take_outbox(&self, now: Timestamp, most: u32) -> Result<Vec<OutboxRow>, DbError> {
        let rows = self
            .transact((now, most), |&(now, most), connection| {
                Box::pin(async move {
                    let rows: Vec<Row> = sqlx::query_as(
                        "SELECT id, kind, order_no, payload, attempts FROM outbox \
                         WHERE dead_at IS NULL AND next_at <= ? ORDER BY next_at LIMIT ? FOR UPDATE SKIP LOCKED",
                    )
                    .bind(now.0)
                    .bind(most)
                    .fetch_all(&mut *connection)
                    .await
                    .map_err(DbError::from)?;
                    for row in &rows {
                        sqlx::query("UPDATE outbox SET next_at = ? WHERE id = ?")
                            .bind((now + LEASE).0)
                            .bind(row.id)
                            .execute(&mut *connection)
                            .await
                            .map_err(DbError::from)?;
                    }
                    Ok::<_, DbError>(rows)
                })
            })
            .await?;
        rows.into_iter().map(OutboxRow::try_from).collect()
    }

    /// How many rows wait to be done; dead letters don't.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn outbox_waiting(&self) -> Result<i64, DbError> {
        let waiting = sqlx::query_scalar("SELECT COUNT(*) FROM outbox WHERE dead_at IS NULL");
        Ok(waiting.fetch_one(self.pool()).await?)
    }

    /// Removes a row whose work is done.
    ///
    /// # Errors
    /// When the database fails; the work will then be done again, which is harmless.
    pub async fn finish_outbox(&self, id: u64) -> Result<(), DbError> {
        sqlx::query("DELETE FROM outbox WHERE id = ?")
            .bind(id)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// Notes a failure; the row comes due again after a growing pause, or becomes a dead letter. True when it did.
    ///
    /// # Errors
    /// When the database fails; the lease then ends by itself.
    pub async fn postpone_outbox(
        &self,
        row: &OutboxRow,
        error: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let attempts = row.attempts + 1;
        let dead = attempts >= ATTEMPTS_MAX;
        let pause = Millis((250_i64 << attempts.min(20)).min(PAUSE_MAX.0));
        let error: String = error.chars().take(500).collect();
        sqlx::query(
            "UPDATE outbox SET attempts = ?, next_at = ?, last_error = ?, dead_at = ? WHERE id = ?",
        )
        .bind(attempts)
        .bind((now + pause).0)
        .bind(error)
        .bind(dead.then_some(now.0))
        .bind(row.id)
        .execute(self.pool())
        .await?;
        Ok(dead)
    }
}
