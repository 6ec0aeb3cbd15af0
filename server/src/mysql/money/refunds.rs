//! Refunds: money on its way back.

use super::{
    ledger::{note_discrepancy, post},
    notices::lock_order,
    payments::{PaymentRecord, lock_payment, payment_in},
};
use crate::mysql::{
    Db, DbError,
    outbox::{self, OutboxKind, OutboxRow},
    shows::currency_of,
};
use app::domain::{
    ids::OrderNo,
    money::Money,
    order::{OrderStatus, RefundProgress},
    payment::PaymentStatus,
    time::Timestamp,
};
use sqlx::MySqlConnection;

/// A refund's row.
#[derive(Debug, Clone)]
pub struct RefundRecord {
    /// Our number for it.
    pub refund_no: String,
    /// The number of the payment it gives back.
    pub out_trade_no: String,
    /// The order that was paid.
    pub order_no: OrderNo,
    /// What is given back.
    pub amount: Money,
    /// How far it has come.
    pub status: RefundProgress,
}

impl Db {
    /// A refund with the number of its payment.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund(&self, refund_no: &str) -> Result<Option<RefundRecord>, DbError> {
        let row: Option<(String, String, i64, i64, String, u8)> = sqlx::query_as(
            "SELECT r.refund_no, p.out_trade_no, r.order_no, r.amount_minor, r.currency, r.status \
             FROM refund r JOIN payment p ON p.id = r.payment_id WHERE r.refund_no = ?",
        )
        .bind(refund_no)
        .fetch_optional(self.pool())
        .await?;
        row.map(
            |(refund_no, out_trade_no, order_no, minor, currency, status)| {
                let unreadable = || DbError::Unreadable { what: "refund" };
                Ok(RefundRecord {
                    refund_no,
                    out_trade_no,
                    order_no: OrderNo::try_from(order_no).map_err(|_| unreadable())?,
                    amount: Money::new(minor, currency_of(&currency)?),
                    status: RefundProgress::from_code(status).ok_or_else(unreadable)?,
                })
            },
        )
        .transpose()
    }

    /// Notes that the gateway accepted a refund, or refused it. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_moved(&self, refund_no: &str, to: RefundProgress) -> Result<(), DbError> {
        sqlx::query("UPDATE refund SET status = ? WHERE refund_no = ? AND status <> 3")
            .bind(to.code())
            .bind(refund_no)
            .execute(self.pool())
            .await?;
        Ok(())
    }

    /// Notes that the money is back: refund, ledger and payment in one transaction, and the discrepancy is put right.
    /// Repeating it changes nothing. False when there is no such refund.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_succeeded(&self, refund_no: &str, now: Timestamp) -> Result<bool, DbError> {
        let Some(refund) = self.refund(refund_no).await? else {
            return Ok(false);
        };
        self.transact((refund, now), |(refund, now), tx| {
            Box::pin(async move {
                let won = sqlx::query(
                    "UPDATE refund SET status = 3, succeeded_at = ? WHERE refund_no = ? AND status <> 3",
                )
                .bind(now.0)
                .bind(&refund.refund_no)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?
                .rows_affected();
                if won == 0 {
                    return Ok(());
                }
                let posting = format!("refund:{}", refund.refund_no);
                let accounts = ("owed_to_customers", "gateway");
                post(tx, &posting, accounts, refund.amount, refund.order_no, *now).await?;
                sqlx::query(
                    "UPDATE payment SET status = 6, update_time = ? WHERE out_trade_no = ? AND status = 3 AND \
                     amount_minor <= (SELECT SUM(r.amount_minor) FROM refund r \
                     WHERE r.payment_id = payment.id AND r.status = 3)",
                )
                .bind(now.0)
                .bind(&refund.out_trade_no)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                sqlx::query(
                    "UPDATE discrepancy SET resolved_at = ? WHERE reference = ? AND resolved_at IS NULL \
                     AND kind IN ('late_payment', 'second_payment')",
                )
                .bind(now.0)
                .bind(&refund.out_trade_no)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                Ok::<_, DbError>(())
            })
        })
        .await?;
        Ok(true)
    }
}

/// Records that a payment's money goes back: refund, discrepancy, and the request to the gateway.
pub(super) async fn give_back(
    tx: &mut MySqlConnection,
    payment: &PaymentRecord,
    order: OrderStatus,
    now: Timestamp,
) -> Result<OutboxRow, DbError> {
    let reason = if order.is_live() {
        "second_payment"
    } else {
        "late_payment"
    };
    let refund_no = format!("{}-r1", payment.out_trade_no);
    sqlx::query(
        "INSERT INTO refund (refund_no, payment_id, order_no, amount_minor, currency, reason, status, requested_at) \
         VALUES (?, ?, ?, ?, ?, ?, 1, ?)",
    )
    .bind(&refund_no)
    .bind(payment.id)
    .bind(payment.order_no.as_i64())
    .bind(payment.amount.minor)
    .bind(payment.amount.currency.code())
    .bind(reason)
    .bind(now.0)
    .execute(&mut *tx)
    .await?;
    let detail = format!("{} was paid for an order that is {order:?}", payment.amount);
    note_discrepancy(tx, reason, payment, &detail, now).await?;
    outbox::insert(
        tx,
        OutboxKind::RefundSend,
        payment.order_no,
        &refund_no,
        now,
    )
    .await
}

/// Requests the refund of a successful payment if its order is not live and nothing is on its way back.
pub(in crate::mysql) async fn give_back_if_unowned(
    tx: &mut MySqlConnection,
    out_trade_no: &str,
    now: Timestamp,
) -> Result<Option<OutboxRow>, DbError> {
    let Some(known) = payment_in(tx, out_trade_no).await? else {
        return Ok(None);
    };
    let order = lock_order(tx, known.order_no).await?;
    let payment = lock_payment(tx, known.id).await?;
    let refunds: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM refund WHERE payment_id = ?")
        .bind(payment.id)
        .fetch_one(&mut *tx)
        .await?;
    if order.is_live() || payment.status != PaymentStatus::Success || refunds > 0 {
        return Ok(None);
    }
    give_back(tx, &payment, order, now).await.map(Some)
}
