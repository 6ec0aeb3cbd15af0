//! The database: all SQL of the sale lives here, a module an aggregate.
//!
//! **Architecture Invariant:** no other module names a table. (The simulated payment gateway has tables of its own, which
//! only `gateway` names.) Every change of a state repeats its guard in the statement (`WHERE status = …`) and looks at the
//! number of rows it changed.

pub mod accounts;
pub mod attendees;
pub mod block_list;
pub mod books;
pub mod catalogue;
pub mod creation;
pub mod dead_letters;
pub mod deadlines;
pub mod evidence;
pub mod money;
pub mod orders;
pub mod outbox;
pub mod over_shows;
pub mod repairs;
pub mod sale;
pub mod seeding;
mod shapes;
pub mod show_terms;
pub mod shows;
pub mod standing;
pub mod withdrawals;
pub mod withheld;

use crate::config::StoresConfig;
use futures::future::BoxFuture;
use sqlx::{
    ConnectOptions, Connection, Executor, MySqlConnection, MySqlPool,
    migrate::MigrateDatabase,
    mysql::{MySqlConnectOptions, MySqlDatabaseError, MySqlPoolOptions},
};
use std::time::Duration;

/// Statements that a connection keeps prepared: all there are, in all their shapes. Three servers with 20 connections each
/// stay below the 16,382 that MySQL allows unless told otherwise.
const STATEMENTS_MAX: usize = 256;
/// How often a transaction that lost against another is tried again.
const RETRIES_MAX: u32 = 8;
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// Lost to another transaction: deadlock, lock wait timeout, record changed since it was read.
const LOST_TO_ANOTHER: [u16; 3] = [1213, 1205, 1020];
const DUPLICATE_KEY: u16 = 1062;
/// SQLSTATE classes of refusals that are about the values of a statement: data that don't fit, constraints.
const VALUE_CLASSES: [&str; 2] = ["22", "23"];
/// Refusals of that kind that have a general SQLSTATE: truncated, of another type, against a check.
const VALUE_FAULTS: [u16; 3] = [1265, 1366, 3819];

/// A failure of the database, whose text stays in the log.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// No connection became free in time.
    #[error("no database connection became free in time")]
    Busy,
    /// A unique key refused a row.
    #[error("duplicate key {index}")]
    Duplicate {
        /// The index, without its table's name.
        index: String,
    },
    /// The transaction lost against another and may be tried again.
    #[error("the transaction lost against another")]
    Lost,
    /// A standing zone has fewer places left than its orders need.
    #[error("a standing zone has not enough places left")]
    NoPlaces,
    /// A row that SeatFlow could not have written.
    #[error("unreadable value in {what}")]
    Unreadable {
        /// Where.
        what: &'static str,
    },
    /// Anything else.
    #[error("database failure")]
    Other(#[source] sqlx::Error),
}

impl DbError {
    /// Whether the database was there and refused the values themselves, or has some that can't be read: the same again
    /// would fail again. Everything else (away, busy, full, tables of another version) may pass without a change of them.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Duplicate { .. } | Self::NoPlaces | Self::Unreadable { .. } => true,
            Self::Busy | Self::Lost => false,
            Self::Other(sqlx::Error::Database(refusal)) => {
                let class = refusal
                    .code()
                    .and_then(|code| code.get(..2).map(str::to_owned));
                let number = refusal
                    .try_downcast_ref::<MySqlDatabaseError>()
                    .map(MySqlDatabaseError::number);
                class.is_some_and(|class| VALUE_CLASSES.contains(&class.as_str()))
                    || number.is_some_and(|number| VALUE_FAULTS.contains(&number))
            }
            Self::Other(error) => matches!(
                error,
                sqlx::Error::Encode(_) | sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. }
            ),
        }
    }

    /// The error and its causes in one line, for the person who reads a dead letter.
    #[must_use]
    pub fn story(&self) -> String {
        let mut told = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let more = error.to_string();
            // The driver's errors repeat their source.
            if !told.ends_with(&more) {
                told = format!("{told}: {more}");
            }
            cause = error.source();
        }
        told
    }
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        if matches!(error, sqlx::Error::PoolTimedOut) {
            return Self::Busy;
        }
        let Some(refusal) = error
            .as_database_error()
            .and_then(|e| e.try_downcast_ref::<MySqlDatabaseError>())
        else {
            return Self::Other(error);
        };
        match refusal.number() {
            number if LOST_TO_ANOTHER.contains(&number) => Self::Lost,
            DUPLICATE_KEY => Self::Duplicate {
                index: duplicate_index(refusal.message()),
            },
            _ => Self::Other(error),
        }
    }
}

/// The index that a message such as `Duplicate entry '1' for key 'orders.PRIMARY'` names; MariaDB leaves the table out.
fn duplicate_index(message: &str) -> String {
    let quoted = message.rsplit('\'').nth(1).unwrap_or_default();
    quoted.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Whether a transaction's failure only means that another one won.
pub trait Retryable {
    /// True when the same transaction may be tried again.
    fn is_lost(&self) -> bool;
}

impl Retryable for DbError {
    fn is_lost(&self) -> bool {
        matches!(self, Self::Lost)
    }
}

/// The pool of connections.
#[derive(Debug, Clone)]
pub struct Db {
    pool: MySqlPool,
}

impl Db {
    /// Connects. Every connection works in READ COMMITTED and UTC.
    ///
    /// # Errors
    /// When the database can't be reached.
    pub async fn connect(stores: &StoresConfig) -> Result<Self, DbError> {
        let StoresConfig {
            database_url,
            database_connections_max,
            wait_max,
            ..
        } = stores;
        Self::connect_to(database_url, *database_connections_max, *wait_max).await
    }

    /// Connects to one database with at most so many connections, in the same way. Whoever waits longer than `wait_max` for
    /// one of them is told to come back.
    ///
    /// # Errors
    /// When the database can't be reached.
    pub async fn connect_to(
        url: &str,
        connections_max: u32,
        wait_max: Duration,
    ) -> Result<Self, DbError> {
        let pool = MySqlPoolOptions::new()
            .max_connections(connections_max)
            .acquire_timeout(wait_max)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    connection
                        .execute(
                            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; \
                             SET SESSION time_zone = '+00:00'; \
                             SET SESSION innodb_lock_wait_timeout = 5",
                        )
                        .await?;
                    Ok(())
                })
            })
            .connect_with(
                url.parse::<MySqlConnectOptions>()?
                    .statement_cache_capacity(STATEMENTS_MAX),
            )
            .await?;
        Ok(Self { pool })
    }

    /// Makes the database of an address if its server does not have it.
    ///
    /// # Errors
    /// When the server can't be reached or the user may not make databases.
    pub async fn ensure_database(url: &str) -> Result<(), DbError> {
        if !sqlx::MySql::database_exists(url).await? {
            sqlx::MySql::create_database(url).await?;
        }
        Ok(())
    }

    /// The pool, for modules of this folder and for the gateway's own store.
    #[must_use]
    pub fn pool(&self) -> &MySqlPool {
        &self.pool
    }

    /// Brings the tables up to date.
    ///
    /// # Errors
    /// When a migration fails or one that ran before was changed since.
    pub async fn migrate(&self) -> Result<(), sqlx::migrate::MigrateError> {
        // Making tables takes its time; that is no slow query, and its text would fill the log.
        let quiet = (*self.pool.connect_options())
            .clone()
            .disable_statement_logging();
        let mut connection = MySqlConnection::connect_with(&quiet).await?;
        sqlx::migrate!("../migrations").run(&mut connection).await
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), DbError> {
        self.pool.acquire().await?.ping().await?;
        Ok(())
    }

    /// Runs `work` in one transaction; when it loses against another it runs again, up to a bound.
    ///
    /// What `work` needs comes to it as `given`, because a closure that must work for any borrow of the connection can't
    /// itself capture borrows.
    ///
    /// # Errors
    /// What `work` answers; nothing is kept then.
    pub async fn transact<C, T, E, F>(&self, given: C, work: F) -> Result<T, E>
    where
        C: Send + Sync,
        F: for<'c> Fn(&'c C, &'c mut MySqlConnection) -> BoxFuture<'c, Result<T, E>> + Send + Sync,
        E: From<DbError> + Retryable + Send,
        T: Send,
    {
        let mut tries = 0;
        loop {
            let outcome = self.attempt(&given, &work).await;
            match outcome {
                Err(error) if error.is_lost() && tries < RETRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(RETRY_PAUSE * tries).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn attempt<C, T, E, F>(&self, given: &C, work: &F) -> Result<T, E>
    where
        C: Send + Sync,
        F: for<'c> Fn(&'c C, &'c mut MySqlConnection) -> BoxFuture<'c, Result<T, E>> + Send + Sync,
        E: From<DbError> + Send,
        T: Send,
    {
        let mut transaction = self.pool.begin().await.map_err(DbError::from)?;
        match work(given, &mut transaction).await {
            Ok(value) => {
                transaction.commit().await.map_err(DbError::from)?;
                Ok(value)
            }
            Err(error) => {
                // The connection may be what failed; then there is nothing to take back, and the error says so.
                let _ = transaction.rollback().await;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::duplicate_index;

    #[test]
    fn the_index_of_a_duplicate_is_read_from_either_database() {
        assert_eq!(
            duplicate_index("Duplicate entry '5' for key 'orders.PRIMARY'"),
            "PRIMARY"
        );
        assert_eq!(
            duplicate_index("Duplicate entry 'a'b' for key 'payment_open_order'"),
            "payment_open_order"
        );
        assert_eq!(duplicate_index("something else"), "");
    }
}
