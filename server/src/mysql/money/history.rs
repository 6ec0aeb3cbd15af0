//! What became of an order's payments, for whoever wants to know what happened.

use crate::mysql::{Db, DbError, shows::currency_of};
use app::domain::{
    ids::OrderNo,
    money::Money,
    payment::PaymentStatus,
    refund::{RefundReason, TOLD_MAX},
    time::Timestamp,
};

/// One attempt to pay an order.
#[derive(Debug, Clone)]
pub struct PaymentHistory {
    /// Where it stands.
    pub status: PaymentStatus,
    /// How much it is about, or was taken where that is another amount.
    pub amount: Money,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it moved last.
    pub updated_at: Timestamp,
    /// When the money was taken.
    pub paid_at: Option<Timestamp>,
    /// Why the order could not have the money, when it could not.
    pub unwanted: Option<RefundReason>,
}

#[derive(sqlx::FromRow)]
struct Row {
    status: u8,
    amount_minor: i64,
    currency: String,
    create_time: i64,
    update_time: i64,
    pay_time: Option<i64>,
    unwanted: Option<String>,
}

impl Db {
    /// An order's attempts to pay, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payment_history(&self, order_no: OrderNo) -> Result<Vec<PaymentHistory>, DbError> {
        let rows: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT p.status, COALESCE(p.taken_minor, p.amount_minor) AS amount_minor, \
             COALESCE(p.taken_currency, p.currency) AS currency, p.create_time, p.update_time, p.pay_time, \
             (SELECT MIN(r.reason) FROM refund r WHERE r.payment_id = p.id AND r.reason IN (?, ?, ?)) AS unwanted \
             FROM payment p WHERE p.order_no = ? ORDER BY p.id LIMIT {TOLD_MAX}"
        )))
        .bind(RefundReason::LatePayment.word())
        .bind(RefundReason::SecondPayment.word())
        .bind(RefundReason::OtherAmount.word())
        .bind(order_no.as_i64())
        .fetch_all(self.pool())
        .await?;
        rows.into_iter()
            .map(|row| {
                let unreadable = DbError::Unreadable { what: "payment" };
                Ok(PaymentHistory {
                    status: PaymentStatus::from_code(row.status).ok_or(unreadable)?,
                    amount: Money::new(row.amount_minor, currency_of(&row.currency)?),
                    created_at: Timestamp(row.create_time),
                    updated_at: Timestamp(row.update_time),
                    paid_at: row.pay_time.map(Timestamp),
                    unwanted: row.unwanted.as_deref().and_then(RefundReason::from_word),
                })
            })
            .collect()
    }
}
