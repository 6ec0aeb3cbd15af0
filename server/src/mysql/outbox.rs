//! What must still happen outside the database after a commit.

use super::{Db, DbError};
use app::domain::{
    ids::OrderNo,
    time::{Millis, Timestamp},
};
use sqlx::MySqlConnection;

/// How long the committing server itself has to do what a row asks for, before others may.
const OWN_CHANCE: Millis = Millis(1_500);
/// How long a row that is being worked on stays hidden from others: longer than a round over a gateway that does not
/// answer.
const LEASE: Millis = Millis(20_000);
/// Failures after which a row may be a dead letter.
pub const ATTEMPTS_MAX: u32 = 12;
/// Longest pause between two tries at what the own stores must do.
const PAUSE_MAX: Millis = Millis(60_000);
/// Longest pause between two tries at a gateway.
const GATEWAY_PAUSE_MAX: Millis = Millis::minutes(15);

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
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::OrderPaid,
        Self::OrderClosed,
        Self::PaymentClose,
        Self::RefundSend,
        Self::TicketsBack,
    ];

    /// Whether a gateway has to do it, and not the own stores.
    fn is_for_a_gateway(self) -> bool {
        matches!(self, Self::PaymentClose | Self::RefundSend)
    }

    /// Rows of a kind that one server works on at the same time.
    pub const AT_ONCE: usize = 8;

    /// Rows taken in one round. A gateway that does not answer takes three seconds for each, Kafka a second, and all must be
    /// done within the lease.
    fn rows_max(self) -> u32 {
        if self.is_for_a_gateway() { 40 } else { 100 }
    }

    /// Whether failing long enough makes a dead letter of it. What is owed to a customer, and a payment that could still be
    /// paid, are tried for as long as it takes.
    #[must_use]
    pub fn may_be_given_up(self) -> bool {
        !self.is_for_a_gateway()
    }

    fn pause(self, attempts: u32) -> Millis {
        let most = if self.is_for_a_gateway() {
            GATEWAY_PAUSE_MAX
        } else {
            PAUSE_MAX
        };
        Millis((250_i64 << attempts.min(20)).min(most.0))
    }

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
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Why a try failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutboxFault {
    /// Something was busy or away: the same will succeed once it is back, however long that takes.
    Passing,
    /// It will fail again until somebody does something.
    Lasting,
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
    next_at: i64,
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
    /// Kinds that have due rows.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn outbox_due(&self, now: Timestamp) -> Result<Vec<OutboxKind>, DbError> {
        let words: Vec<String> = sqlx::query_scalar(
            "SELECT DISTINCT kind FROM outbox WHERE dead_at IS NULL AND next_at <= ?",
        )
        .bind(now.0)
        .fetch_all(self.pool())
        .await?;
        // A kind that this version does not know is left to a server that does.
        let kinds = words.iter().filter_map(|word| OutboxKind::from_word(word));
        Ok(kinds.collect())
    }

    /// Takes due rows of a kind for this server alone, for the length of a lease.
    ///
    /// They are read without locks and taken one by one, each if nobody took it since: a scan that locks what it passes
    /// also locks rows of other kinds for a moment, and whoever skips locked rows would leave those to a later round.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn take_outbox(
        &self,
        kind: OutboxKind,
        now: Timestamp,
    ) -> Result<Vec<OutboxRow>, DbError> {
        let rows = self
            .transact((kind, now), |&(kind, now), connection| {
                Box::pin(async move {
                    let due: Vec<Row> = sqlx::query_as(
                        "SELECT id, kind, order_no, payload, attempts, next_at FROM outbox \
                         WHERE dead_at IS NULL AND kind = ? AND next_at <= ? ORDER BY next_at LIMIT ?",
                    )
                    .bind(kind.word())
                    .bind(now.0)
                    .bind(kind.rows_max())
                    .fetch_all(&mut *connection)
                    .await
                    .map_err(DbError::from)?;
                    let mut taken = Vec::with_capacity(due.len());
                    for row in due {
                        let done = sqlx::query(
                            "UPDATE outbox SET next_at = ? WHERE id = ? AND next_at = ?",
                        )
                        .bind((now + LEASE).0)
                        .bind(row.id)
                        .bind(row.next_at)
                        .execute(&mut *connection)
                        .await
                        .map_err(DbError::from)?;
                        if done.rows_affected() == 1 {
                            taken.push(row);
                        }
                    }
                    Ok::<_, DbError>(taken)
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

    /// Since when the row waits that has waited longest.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn oldest_outbox_row(&self) -> Result<Option<Timestamp>, DbError> {
        let oldest: Option<i64> =
            sqlx::query_scalar("SELECT MIN(created_at) FROM outbox WHERE dead_at IS NULL")
                .fetch_one(self.pool())
                .await?;
        Ok(oldest.map(Timestamp))
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

    /// Notes a failure; the row comes due again after a growing pause, or becomes a dead letter: when it has failed often, the
    /// last fault is one that lasts, and its kind may be given up at all. True when it did.
    ///
    /// # Errors
    /// When the database fails; the lease then ends by itself.
    pub async fn postpone_outbox(
        &self,
        row: &OutboxRow,
        fault: OutboxFault,
        error: &str,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let attempts = row.attempts + 1;
        let dead =
            attempts >= ATTEMPTS_MAX && fault == OutboxFault::Lasting && row.kind.may_be_given_up();
        let pause = row.kind.pause(attempts);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticketing::settle::ACK_PATIENCE;

    #[test]
    fn pauses_grow_to_a_minute_at_home_and_to_a_quarter_of_an_hour_at_a_gateway() {
        for kind in OutboxKind::ALL {
            let pauses: Vec<i64> = (1..40).map(|attempts| kind.pause(attempts).0).collect();
            assert!(pauses.is_sorted(), "{kind:?}");
            assert_eq!(pauses[0], 500, "{kind:?}");
            let most = if kind.may_be_given_up() { 60 } else { 900 };
            assert_eq!(pauses.last(), Some(&(most * 1_000)), "{kind:?}");
        }
    }

    #[test]
    fn a_round_over_what_does_not_answer_ends_within_the_lease() {
        let kafka = Millis(i64::try_from(ACK_PATIENCE.as_millis()).expect("a second"));
        for kind in OutboxKind::ALL {
            let each = if kind.is_for_a_gateway() {
                Millis::seconds(3)
            } else {
                kafka
            };
            let at_once = u32::try_from(OutboxKind::AT_ONCE).expect("a few");
            let round = i64::from(kind.rows_max().div_ceil(at_once)) * each.0;
            assert!(round < LEASE.0, "{kind:?}: {round} ms");
        }
    }

    #[test]
    fn what_is_owed_or_could_still_be_paid_is_never_given_up() {
        let kept: Vec<_> = OutboxKind::ALL
            .into_iter()
            .filter(|kind| !kind.may_be_given_up())
            .collect();
        assert_eq!(kept, [OutboxKind::PaymentClose, OutboxKind::RefundSend]);
    }

    #[test]
    fn words_come_back_as_they_were() {
        for kind in OutboxKind::ALL {
            assert_eq!(OutboxKind::from_word(kind.word()), Some(kind));
        }
        assert_eq!(OutboxKind::from_word("other"), None);
    }
}
