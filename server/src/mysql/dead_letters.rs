//! What was given up: rows of the outbox that failed too often, and the dead letters of Kafka that were sent back.

use super::{Db, DbError};
use crate::kafka::dead_letters_read::LetterPlace;
use app::domain::{
    ids::{OrderNo, ShowId},
    time::Timestamp,
};
use std::collections::HashMap;

/// Repairs that one call lists.
const REPAIRS_MAX: u32 = 1_000;

/// A row of the outbox that failed too often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadRow {
    /// Its number.
    pub id: u64,
    /// What was to be done, as the outbox names it.
    pub kind: String,
    /// For which order.
    pub order_no: OrderNo,
    /// A payment's or refund's number, where the kind needs one.
    pub payload: String,
    /// How often it failed.
    pub attempts: u32,
    /// How it failed last.
    pub last_error: String,
    /// When it was given up.
    pub dead_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: u64,
    kind: String,
    order_no: i64,
    payload: String,
    attempts: u32,
    last_error: Option<String>,
    dead_at: i64,
}

impl Db {
    /// Rows of the outbox that were given up, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn dead_outbox(&self, most: u32) -> Result<Vec<DeadRow>, DbError> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT id, kind, order_no, payload, attempts, last_error, dead_at FROM outbox \
             WHERE dead_at IS NOT NULL ORDER BY dead_at, id LIMIT ?",
        )
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter()
            .map(|row| {
                let order_no = OrderNo::try_from(row.order_no);
                Ok(DeadRow {
                    id: row.id,
                    kind: row.kind,
                    order_no: order_no.map_err(|_| DbError::Unreadable { what: "outbox" })?,
                    payload: row.payload,
                    attempts: row.attempts,
                    last_error: row.last_error.unwrap_or_default(),
                    dead_at: Timestamp(row.dead_at),
                })
            })
            .collect()
    }

    /// Makes rows that were given up due again, the oldest first; how many. What they ask for may be done twice, which
    /// every effect bears.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn revive_outbox(&self, most: u32, now: Timestamp) -> Result<u64, DbError> {
        let done = sqlx::query(
            "UPDATE outbox SET dead_at = NULL, attempts = 0, next_at = ? WHERE dead_at IS NOT NULL \
             ORDER BY dead_at, id LIMIT ?",
        )
        .bind(now.0)
        .bind(most)
        .execute(self.pool())
        .await?;
        Ok(done.rows_affected())
    }

    /// When letters of a dead-letter topic were sent back, by where they lie; the last hundred thousand.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn retried_letters(
        &self,
        topic: &str,
    ) -> Result<HashMap<LetterPlace, Timestamp>, DbError> {
        let rows: Vec<(i32, i64, i64)> = sqlx::query_as(
            "SELECT letter_partition, letter_offset, retried_at FROM dead_letter_retry WHERE topic = ? \
             ORDER BY retried_at DESC LIMIT 100000",
        )
        .bind(topic)
        .fetch_all(self.pool())
        .await?;
        Ok(rows
            .into_iter()
            .map(|(partition, offset, at)| {
                let topic = topic.to_owned();
                let place = LetterPlace {
                    topic,
                    partition,
                    offset,
                };
                (place, Timestamp(at))
            })
            .collect())
    }

    /// Notes that a dead letter was sent back.
    ///
    /// # Errors
    /// When the database fails; it may then be sent back again, which its handler bears.
    pub async fn note_retried(&self, place: &LetterPlace, now: Timestamp) -> Result<(), DbError> {
        sqlx::query(
            "INSERT INTO dead_letter_retry (topic, letter_partition, letter_offset, retried_at) VALUES (?, ?, ?, ?) \
             ON DUPLICATE KEY UPDATE retried_at = VALUES(retried_at)",
        )
        .bind(&place.topic)
        .bind(place.partition)
        .bind(place.offset)
        .bind(now.0)
        .execute(self.pool())
        .await?;
        Ok(())
    }
}

/// Something that was put right, or an order that was given up on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairNote {
    /// Of which class.
    pub class: String,
    /// In which show.
    pub show: ShowId,
    /// With which order, where it was one order's.
    pub order_no: Option<OrderNo>,
    /// What was wrong, for a person.
    pub detail: String,
    /// When.
    pub noted_at: Timestamp,
}

impl Db {
    /// The newest repairs, oldest of them first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn repairs(&self, most: u32) -> Result<Vec<RepairNote>, DbError> {
        let mut rows: Vec<(String, u64, Option<i64>, String, i64)> = sqlx::query_as(
            "SELECT class, show_id, order_no, detail, noted_at FROM reconciliation_entry \
             ORDER BY noted_at DESC, id DESC LIMIT ?",
        )
        .bind(most.min(REPAIRS_MAX))
        .fetch_all(self.pool())
        .await?;
        rows.reverse();
        rows.into_iter()
            .map(|(class, show, order_no, detail, noted_at)| {
                let unreadable = DbError::Unreadable {
                    what: "reconciliation_entry",
                };
                Ok(RepairNote {
                    class,
                    show: ShowId(show),
                    order_no: order_no
                        .map(OrderNo::try_from)
                        .transpose()
                        .map_err(|_| unreadable)?,
                    detail,
                    noted_at: Timestamp(noted_at),
                })
            })
            .collect()
    }
}
