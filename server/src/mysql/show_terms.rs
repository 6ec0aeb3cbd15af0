//! On which terms shows are sold: reading them, changing them, and numbering the lives of their keys in Redis.

use super::{Db, DbError};
use app::domain::{catalogue::ShowStatus, ids::ShowId, show_terms::ShowTerms, time::Timestamp};
use sqlx::MySqlConnection;

/// A show's terms and which change made them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermsRecord {
    /// The terms.
    pub terms: ShowTerms,
    /// How often they were changed; a change names the one that it has seen.
    pub version: u32,
    /// When they were changed last; the beginning of time for those the show was made with.
    pub changed_at: Timestamp,
}

#[derive(sqlx::FromRow)]
struct TermsRow {
    status: u8,
    sale_start: i64,
    sale_end: i64,
    limit_per_buyer: u32,
    level_required: u8,
    terms_version: u32,
    terms_changed_at: i64,
}

impl Db {
    /// A show's terms; none when there is no such show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn show_terms(&self, show: ShowId) -> Result<Option<TermsRecord>, DbError> {
        let mut connection = self.pool().acquire().await?;
        terms_in(&mut connection, show).await
    }

    /// Changes a show's terms, if they are still those of the version that was seen. False when they are not.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn change_terms(
        &self,
        show: ShowId,
        seen: &TermsRecord,
        to: &ShowTerms,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let mut connection = self.pool().acquire().await?;
        write_terms(&mut connection, show, seen, to, now).await
    }

    /// The number of the last life that a show's keys had in Redis; 0 when they never had one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn last_epoch(&self, show: ShowId) -> Result<u32, DbError> {
        let epoch: Option<u32> = sqlx::query_scalar("SELECT redis_epoch FROM shows WHERE id = ?")
            .bind(show.0)
            .fetch_optional(self.pool())
            .await?;
        Ok(epoch.unwrap_or(0))
    }

    /// The number of a new life of a show's keys: greater than every one before it, and at least `at_least`.
    ///
    /// # Errors
    /// When the database fails or there is no such show.
    pub async fn next_epoch(&self, show: ShowId, at_least: u32) -> Result<u32, DbError> {
        self.transact((show, at_least), |&(show, at_least), tx| {
            Box::pin(async move {
                sqlx::query(
                    "UPDATE shows SET redis_epoch = GREATEST(redis_epoch + 1, ?) WHERE id = ?",
                )
                .bind(at_least)
                .bind(show.0)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                let epoch: Option<u32> =
                    sqlx::query_scalar("SELECT redis_epoch FROM shows WHERE id = ?")
                        .bind(show.0)
                        .fetch_optional(&mut *tx)
                        .await
                        .map_err(DbError::from)?;
                epoch.ok_or(DbError::Unreadable { what: "shows" })
            })
        })
        .await
    }
}

pub(super) async fn terms_in(
    connection: &mut MySqlConnection,
    show: ShowId,
) -> Result<Option<TermsRecord>, DbError> {
    let row: Option<TermsRow> = sqlx::query_as(
        "SELECT status, sale_start, sale_end, limit_per_buyer, level_required, terms_version, terms_changed_at \
         FROM shows WHERE id = ?",
    )
    .bind(show.0)
    .fetch_optional(connection)
    .await?;
    row.map(|row| {
        let status = ShowStatus::from_code(row.status).ok_or(DbError::Unreadable {
            what: "shows.status",
        })?;
        Ok(TermsRecord {
            terms: ShowTerms {
                status,
                sale_start: Timestamp(row.sale_start),
                sale_end: Timestamp(row.sale_end),
                limit: row.limit_per_buyer,
                level: row.level_required,
            },
            version: row.terms_version,
            changed_at: Timestamp(row.terms_changed_at),
        })
    })
    .transpose()
}

pub(super) async fn write_terms(
    connection: &mut MySqlConnection,
    show: ShowId,
    seen: &TermsRecord,
    to: &ShowTerms,
    now: Timestamp,
) -> Result<bool, DbError> {
    let changed = sqlx::query(
        "UPDATE shows SET status = ?, sale_start = ?, sale_end = ?, limit_per_buyer = ?, level_required = ?, \
         terms_version = terms_version + 1, terms_changed_at = ? \
         WHERE id = ? AND terms_version = ? AND status = ?",
    )
    .bind(to.status.code())
    .bind(to.sale_start.0)
    .bind(to.sale_end.0)
    .bind(to.limit)
    .bind(to.level)
    .bind(now.0)
    .bind(show.0)
    .bind(seen.version)
    .bind(seen.terms.status.code())
    .execute(connection)
    .await?
    .rows_affected();
    Ok(changed == 1)
}
