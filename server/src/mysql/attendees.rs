//! The people a customer buys for. Entries are never deleted, because orders name them: one that is taken off the list
//! keeps its row.

use super::{Db, DbError};
use app::domain::{
    attendee::{Attendee, DocumentKind},
    ids::{AttendeeId, UserId},
    time::Timestamp,
};
use sqlx::{MySql, QueryBuilder};

/// An entry with what tells people apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttendeeRecord {
    /// The entry, as its owner sees it.
    pub attendee: Attendee,
    /// Keyed hash of the document.
    pub identity: String,
}

/// An entry to be made.
#[derive(Debug, Clone)]
pub struct NewAttendee<'a> {
    /// Whose list it joins.
    pub user: UserId,
    /// The person's name.
    pub name: &'a str,
    /// What kind of document they are known by.
    pub document_kind: DocumentKind,
    /// The document's last characters.
    pub document_tail: &'a str,
    /// Keyed hash of the document.
    pub identity: &'a str,
}

/// What became of a new entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It stands in the list.
    Added(AttendeeId),
    /// The list has this document already.
    Known,
    /// The list is full.
    Full,
}

#[derive(sqlx::FromRow)]
struct AttendeeRow {
    id: u64,
    name: String,
    document_kind: String,
    document_tail: String,
    identity: String,
}

impl TryFrom<AttendeeRow> for AttendeeRecord {
    type Error = DbError;
    fn try_from(row: AttendeeRow) -> Result<Self, DbError> {
        let kind = DocumentKind::from_word(&row.document_kind);
        Ok(Self {
            attendee: Attendee {
                id: AttendeeId(row.id),
                name: row.name,
                document_kind: kind.ok_or(DbError::Unreadable {
                    what: "attendee.document_kind",
                })?,
                document_tail: row.document_tail,
            },
            identity: row.identity,
        })
    }
}

const LISTED: &str = "SELECT id, name, document_kind, document_tail, identity FROM attendee \
     WHERE user_id = ? AND listed_identity IS NOT NULL";

impl Db {
    /// A customer's list, oldest entry first, at most `most` of it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn attendees_of(
        &self,
        user: UserId,
        most: u32,
    ) -> Result<Vec<AttendeeRecord>, DbError> {
        let rows: Vec<AttendeeRow> =
            sqlx::query_as(sqlx::AssertSqlSafe(format!("{LISTED} ORDER BY id LIMIT ?")))
                .bind(user.0)
                .bind(most)
                .fetch_all(self.pool())
                .await?;
        rows.into_iter().map(AttendeeRecord::try_from).collect()
    }

    /// Entries of a customer's list by their ids, in any order; those that are not in it are left out.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn attendees_by_id(
        &self,
        user: UserId,
        ids: &[AttendeeId],
    ) -> Result<Vec<AttendeeRecord>, DbError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = QueryBuilder::<MySql>::new(
            "SELECT id, name, document_kind, document_tail, identity FROM attendee \
             WHERE listed_identity IS NOT NULL AND user_id = ",
        );
        query.push_bind(user.0).push(" AND id IN (");
        let mut list = query.separated(", ");
        for id in ids {
            list.push_bind(id.0);
        }
        query.push(")");
        let rows: Vec<AttendeeRow> = query
            .build_query_as()
            .persistent(false)
            .fetch_all(self.pool())
            .await?;
        rows.into_iter().map(AttendeeRecord::try_from).collect()
    }

    /// Puts a person into a list of at most `most` entries.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn insert_attendee(
        &self,
        new: &NewAttendee<'_>,
        most: u32,
        now: Timestamp,
    ) -> Result<Added, DbError> {
        self.transact((new, most, now), |&(new, most, now), tx| {
            Box::pin(async move {
                // The account's row makes two additions to one list wait for each other.
                sqlx::query("SELECT id FROM account WHERE id = ? FOR UPDATE")
                    .bind(new.user.0)
                    .execute(&mut *tx)
                    .await
                    .map_err(DbError::from)?;
                let listed: Vec<String> = sqlx::query_scalar(
                    "SELECT listed_identity FROM attendee WHERE user_id = ? AND listed_identity IS NOT NULL",
                )
                .bind(new.user.0)
                .fetch_all(&mut *tx)
                .await
                .map_err(DbError::from)?;
                if listed.iter().any(|identity| identity == new.identity) {
                    return Ok(Added::Known);
                }
                if listed.len() >= usize::try_from(most).unwrap_or(usize::MAX) {
                    return Ok(Added::Full);
                }
                let done = sqlx::query(
                    "INSERT INTO attendee (user_id, name, document_kind, document_tail, identity, listed_identity, \
                     created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                )
                .bind(new.user.0)
                .bind(new.name)
                .bind(new.document_kind.word())
                .bind(new.document_tail)
                .bind(new.identity)
                .bind(new.identity)
                .bind(now.0)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                Ok::<_, DbError>(Added::Added(AttendeeId(done.last_insert_id())))
            })
        })
        .await
    }

    /// Takes an entry off a customer's list. False when the list has no such entry.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_attendee(
        &self,
        user: UserId,
        id: AttendeeId,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let removed = sqlx::query(
            "UPDATE attendee SET deleted_at = ?, listed_identity = NULL WHERE id = ? AND user_id = ? AND deleted_at IS NULL",
        )
        .bind(now.0)
        .bind(id.0)
        .bind(user.0)
        .execute(self.pool())
        .await?;
        Ok(removed.rows_affected() == 1)
    }
}
