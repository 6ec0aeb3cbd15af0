//! The ledger: postings that are never changed, and what disagrees with them.
//!
//! A posting is a row with a column an account, and the database refuses one whose columns do not add up to zero. Debits
//! are positive: what the gateway holds for us is, and what we earned or owe is not.
//!
//! The account `discrepancy` of the table stays at zero. Money of which it is known that it was taken is an order's or is
//! owed to its customer, whatever its amount; of money of which nobody knows for sure nothing is posted, and a row of the
//! table `discrepancy` waits for a person instead.

use super::payments::PaymentRecord;
use crate::mysql::DbError;
use app::domain::{
    ids::OrderNo,
    money::{Currency, Money},
    refund::GivenBack,
    time::Timestamp,
};
use sqlx::MySqlConnection;

/// What one posting moves, in the currency's smallest unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moves {
    /// What the gateway holds for us.
    gateway: i64,
    /// What live tickets were paid with.
    sales: i64,
    /// What was kept of tickets that were given back.
    fees: i64,
    /// What is on its way back to customers.
    owed_to_customers: i64,
}

impl Moves {
    /// An order was paid.
    pub fn sale(amount: Money) -> Self {
        Self {
            gateway: amount.minor,
            sales: -amount.minor,
            ..Self::default()
        }
    }

    /// Money was taken that no order can have.
    pub fn unwanted(amount: Money) -> Self {
        Self {
            gateway: amount.minor,
            owed_to_customers: -amount.minor,
            ..Self::default()
        }
    }

    /// Tickets are given back: their value is no revenue any more, part of it is kept, and the rest is owed.
    pub fn given_back(given: &GivenBack) -> Self {
        Self {
            sales: given.value.minor,
            fees: -given.fee.minor,
            owed_to_customers: -given.back.minor,
            ..Self::default()
        }
    }

    /// What was owed is back with the customer.
    pub fn paid_back(amount: Money) -> Self {
        Self {
            owed_to_customers: amount.minor,
            gateway: -amount.minor,
            ..Self::default()
        }
    }
}

/// Posts under a name that no other posting has, in one currency.
pub(super) async fn post(
    tx: &mut MySqlConnection,
    name: &str,
    moves: Moves,
    currency: Currency,
    order_no: OrderNo,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO ledger_posting (posting, order_no, currency, gateway, sales, fees, owed_to_customers, posted_at) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(name)
    .bind(order_no.as_i64())
    .bind(currency.code())
    .bind(moves.gateway)
    .bind(moves.sales)
    .bind(moves.fees)
    .bind(moves.owed_to_customers)
    .bind(now.0)
    .execute(tx)
    .await?;
    Ok(())
}

/// Notes that something about a payment does not agree. What was put right before and comes again is open again.
pub(super) async fn note_discrepancy(
    tx: &mut MySqlConnection,
    kind: &str,
    payment: &PaymentRecord,
    detail: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    let about = (payment.out_trade_no.as_str(), payment.order_no);
    note_disagreement(tx, kind, about, detail, now).await
}

/// As [`note_discrepancy`], about what has this number.
pub(super) async fn note_disagreement(
    tx: &mut MySqlConnection,
    kind: &str,
    (reference, order_no): (&str, OrderNo),
    detail: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    sqlx::query(
        "INSERT INTO discrepancy (kind, reference, order_no, detail, opened_at) VALUES (?, ?, ?, ?, ?) \
         ON DUPLICATE KEY UPDATE detail = VALUES(detail), resolved_at = NULL",
    )
    .bind(kind)
    .bind(reference)
    .bind(order_no.as_i64())
    .bind(detail)
    .bind(now.0)
    .execute(tx)
    .await?;
    Ok(())
}

/// Notes that what did not agree was put right; false when that was known. One at a time and by its key, because a
/// statement that looked for open ones would lock those of other payments.
pub(super) async fn resolve_discrepancy(
    tx: &mut MySqlConnection,
    kind: &str,
    reference: &str,
    now: Timestamp,
) -> Result<bool, DbError> {
    let done = sqlx::query(
        "UPDATE discrepancy SET resolved_at = ? WHERE kind = ? AND reference = ? AND resolved_at IS NULL",
    )
    .bind(now.0)
    .bind(kind)
    .bind(reference)
    .execute(tx)
    .await?;
    Ok(done.rows_affected() > 0)
}
