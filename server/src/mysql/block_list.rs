//! Who may not buy: accounts, phones, devices and addresses, each for a time or for good.

use super::{Db, DbError};
use app::domain::time::Timestamp;

/// Most entries; every server keeps a copy of all of them.
pub const ENTRIES_MAX: i64 = 10_000;

/// What an entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// An account, by its number.
    User,
    /// A phone, by its keyed hash.
    Phone,
    /// A device, by the name in its cookie.
    Device,
    /// A network address.
    Ip,
}

impl BlockKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::User, Self::Phone, Self::Device, Self::Ip];

    /// The word that the database and commands use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Phone => "phone",
            Self::Device => "device",
            Self::Ip => "ip",
        }
    }

    /// Reads [`BlockKind::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Somebody who may not buy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockEntry {
    /// What is named.
    pub kind: BlockKind,
    /// Its value; a phone's is a keyed hash.
    pub value: String,
    /// Why, for staff.
    pub reason: String,
    /// The first moment at which the entry no longer holds; none for good.
    pub until: Option<Timestamp>,
    /// Since when.
    pub created_at: Timestamp,
    /// Who entered it.
    pub created_by: String,
}

#[derive(sqlx::FromRow)]
struct Row {
    kind: String,
    value: String,
    reason: String,
    until_ms: Option<i64>,
    created_at: i64,
    created_by: String,
}

impl TryFrom<Row> for BlockEntry {
    type Error = DbError;
    fn try_from(row: Row) -> Result<Self, DbError> {
        let kind = BlockKind::from_word(&row.kind).ok_or(DbError::Unreadable {
            what: "block_entry",
        })?;
        Ok(Self {
            kind,
            value: row.value,
            reason: row.reason,
            until: row.until_ms.map(Timestamp),
            created_at: Timestamp(row.created_at),
            created_by: row.created_by,
        })
    }
}

impl Db {
    /// Enters somebody, or replaces an entry. False when there are too many entries that still hold.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn put_block(&self, entry: &BlockEntry, now: Timestamp) -> Result<bool, DbError> {
        self.transact((entry, now), |&(entry, now), tx| {
            Box::pin(async move {
                sqlx::query("DELETE FROM block_entry WHERE until_ms <= ?")
                    .bind(now.0)
                    .execute(&mut *tx)
                    .await
                    .map_err(DbError::from)?;
                let others: i64 = sqlx::query_scalar(
                    "SELECT COUNT(*) FROM block_entry WHERE NOT (kind = ? AND value = ?)",
                )
                .bind(entry.kind.word())
                .bind(&entry.value)
                .fetch_one(&mut *tx)
                .await
                .map_err(DbError::from)?;
                if others >= ENTRIES_MAX {
                    return Ok(false);
                }
                sqlx::query(
                    "INSERT INTO block_entry (kind, value, reason, until_ms, created_at, created_by) \
                     VALUES (?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE reason = VALUES(reason), \
                     until_ms = VALUES(until_ms), created_at = VALUES(created_at), created_by = VALUES(created_by)",
                )
                .bind(entry.kind.word())
                .bind(&entry.value)
                .bind(&entry.reason)
                .bind(entry.until.map(|at| at.0))
                .bind(entry.created_at.0)
                .bind(&entry.created_by)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                Ok::<_, DbError>(true)
            })
        })
        .await
    }

    /// Removes an entry. False when there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_block(&self, kind: BlockKind, value: &str) -> Result<bool, DbError> {
        let done = sqlx::query("DELETE FROM block_entry WHERE kind = ? AND value = ?")
            .bind(kind.word())
            .bind(value)
            .execute(self.pool())
            .await?;
        Ok(done.rows_affected() > 0)
    }

    /// The entries that hold, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn blocks(&self, now: Timestamp) -> Result<Vec<BlockEntry>, DbError> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT kind, value, reason, until_ms, created_at, created_by FROM block_entry \
             WHERE until_ms IS NULL OR until_ms > ? ORDER BY created_at DESC, kind, value LIMIT ?",
        )
        .bind(now.0)
        .bind(ENTRIES_MAX)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter().map(BlockEntry::try_from).collect()
    }
}
