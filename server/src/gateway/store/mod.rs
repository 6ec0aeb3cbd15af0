//! The gateway's tables. All its SQL lives here; no table of the ticketing system is named.

pub mod deliveries;
pub mod payments;
pub mod refunds;

use sqlx::error::BoxDynError;

/// A word in the store that this version does not know.
#[derive(Debug, thiserror::Error)]
#[error("unreadable {column} in the gateway's store")]
struct Unreadable {
    column: &'static str,
}

/// Reads a stored word, or reports the column that holds it.
fn known<T>(column: &'static str, value: Option<T>) -> Result<T, sqlx::Error> {
    value.ok_or_else(|| sqlx::Error::Decode(BoxDynError::from(Unreadable { column })))
}

/// Whether an insert met a row that has the same unique value.
fn is_duplicate(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}
