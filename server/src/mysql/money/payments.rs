//! Payments: one attempt to pay an order each.

use super::late_asks::first_ask;
use crate::mysql::{
    Db, DbError,
    outbox::{self, OutboxKind, OutboxRow},
    shows::currency_of,
};
use app::domain::{
    ids::{OrderNo, UserId},
    money::Money,
    order::OrderStatus,
    payment::PaymentStatus,
    time::Timestamp,
};
use sqlx::MySqlConnection;

/// A payment's row.
#[derive(Debug, Clone)]
pub struct PaymentRecord {
    /// Its id.
    pub id: u64,
    /// Our number for it, which the gateway knows.
    pub out_trade_no: String,
    /// The gateway's number for it.
    pub third_trade_no: Option<String>,
    /// The order it pays.
    pub order_no: OrderNo,
    /// Who pays.
    pub user_id: UserId,
    /// Name of the channel.
    pub channel: String,
    /// What is to be paid, as it was when the order was placed.
    pub amount: Money,
    /// What the gateway took, where that is another amount.
    pub taken: Option<Money>,
    /// Where it stands.
    pub status: PaymentStatus,
    /// The gateway's page.
    pub cashier_url: Option<String>,
    /// When it ends by itself.
    pub expire_at: Timestamp,
    /// When it was begun.
    pub created_at: Timestamp,
}

impl PaymentRecord {
    /// What the gateway took or would take.
    #[must_use]
    pub fn captured(&self) -> Money {
        self.taken.unwrap_or(self.amount)
    }
}

#[derive(sqlx::FromRow)]
struct PaymentRow {
    id: u64,
    out_trade_no: String,
    third_trade_no: Option<String>,
    order_no: i64,
    user_id: u64,
    channel: String,
    amount_minor: i64,
    currency: String,
    taken_minor: Option<i64>,
    taken_currency: Option<String>,
    status: u8,
    cashier_url: Option<String>,
    expire_at: i64,
    create_time: i64,
}

impl TryFrom<PaymentRow> for PaymentRecord {
    type Error = DbError;
    fn try_from(row: PaymentRow) -> Result<Self, DbError> {
        let unreadable = || DbError::Unreadable { what: "payment" };
        let taken = match (row.taken_minor, row.taken_currency) {
            (Some(minor), Some(currency)) => Some(Money::new(minor, currency_of(&currency)?)),
            _ => None,
        };
        Ok(Self {
            id: row.id,
            out_trade_no: row.out_trade_no,
            third_trade_no: row.third_trade_no,
            order_no: OrderNo::try_from(row.order_no).map_err(|_| unreadable())?,
            user_id: UserId(row.user_id),
            channel: row.channel,
            amount: Money::new(row.amount_minor, currency_of(&row.currency)?),
            taken,
            status: PaymentStatus::from_code(row.status).ok_or_else(unreadable)?,
            cashier_url: row.cashier_url,
            expire_at: Timestamp(row.expire_at),
            created_at: Timestamp(row.create_time),
        })
    }
}

const PAYMENT: &str = "SELECT id, out_trade_no, third_trade_no, order_no, user_id, channel, amount_minor, currency, \
     taken_minor, taken_currency, status, cashier_url, expire_at, create_time FROM payment";

/// A start of paying that can go on.
#[derive(Debug, Clone)]
pub enum PaymentStart {
    /// The order can't be paid any more, or is not the user's.
    NotPayable,
    /// This is the open payment, new or found.
    Open(PaymentRecord),
}

impl Db {
    /// Finds the open payment of a pending order, or records a new one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn start_payment(
        &self,
        user: UserId,
        order_no: OrderNo,
        latest_start: Timestamp,
        now: Timestamp,
    ) -> Result<PaymentStart, DbError> {
        self.transact((user, order_no, latest_start, now), |&(user, order_no, latest, now), tx| {
            Box::pin(async move {
                let order: Option<(u64, u8, i64, String, String, i64)> = sqlx::query_as(
                    "SELECT user_id, status, amount_minor, currency, channel, expire_at FROM orders \
                     WHERE order_no = ? FOR UPDATE",
                )
                .bind(order_no.as_i64())
                .fetch_optional(&mut *tx)
                .await
                .map_err(DbError::from)?;
                let Some((owner, status, amount_minor, currency, channel, expire_at)) = order else {
                    return Ok(PaymentStart::NotPayable);
                };
                let pending = OrderStatus::from_code(status) == Some(OrderStatus::Pending);
                if UserId(owner) != user || !pending || Timestamp(expire_at) <= latest {
                    return Ok(PaymentStart::NotPayable);
                }
                let attempts = payments_of(tx, order_no).await?;
                if let Some(open) = attempts.iter().find(|payment| payment.status.is_open()) {
                    if open.expire_at > latest {
                        return Ok(PaymentStart::Open(open.clone()));
                    }
                    // The order was given more time after this attempt began, and the gateway's charge is over.
                    close_payments(tx, order_no, now).await?;
                }
                let out_trade_no = format!("{order_no}-{}", attempts.len() + 1);
                sqlx::query(
                    "INSERT INTO payment (out_trade_no, order_no, user_id, channel, amount_minor, currency, status, \
                     expire_at, create_time, update_time) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?)",
                )
                .bind(&out_trade_no)
                .bind(order_no.as_i64())
                .bind(user.0)
                .bind(channel)
                .bind(amount_minor)
                .bind(currency)
                .bind(expire_at)
                .bind(now.0)
                .bind(now.0)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?;
                let new = payment_in(tx, &out_trade_no).await?;
                new.map(PaymentStart::Open).ok_or(DbError::Unreadable { what: "payment" })
            })
        })
        .await
    }

    /// Notes that the gateway knows a payment: `init` → `paying`. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payment_started(
        &self,
        payment: &PaymentRecord,
        third_trade_no: &str,
        cashier_url: &str,
        now: Timestamp,
    ) -> Result<(), DbError> {
        sqlx::query(
            "UPDATE payment SET status = 2, third_trade_no = ?, cashier_url = ?, update_time = ? \
             WHERE id = ? AND status = 1",
        )
        .bind(third_trade_no)
        .bind(cashier_url)
        .bind(now.0)
        .bind(payment.id)
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// A payment by our number for it.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payment(&self, out_trade_no: &str) -> Result<Option<PaymentRecord>, DbError> {
        let mut connection = self.pool().acquire().await?;
        payment_in(&mut connection, out_trade_no).await
    }

    /// Numbers of payments at the gateway that end after `now` and before `end`, the next to end first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payments_ending(
        &self,
        now: Timestamp,
        end: Timestamp,
        most: u32,
    ) -> Result<Vec<String>, DbError> {
        let numbers = sqlx::query_scalar(
            "SELECT out_trade_no FROM payment WHERE status = 2 AND expire_at > ? AND expire_at <= ? \
             ORDER BY expire_at LIMIT ?",
        )
        .bind(now.0)
        .bind(end.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        Ok(numbers)
    }

    /// An order's payments, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payments_of_order(
        &self,
        order_no: OrderNo,
    ) -> Result<Vec<PaymentRecord>, DbError> {
        let mut connection = self.pool().acquire().await?;
        payments_of(&mut connection, order_no).await
    }
}

/// Closes an order's open payments and notes that the gateway must be told.
pub(in crate::mysql) async fn close_payments(
    tx: &mut MySqlConnection,
    order_no: OrderNo,
    now: Timestamp,
) -> Result<Vec<OutboxRow>, DbError> {
    // The states are compared here: a database that looked for them by their index would lock payments of other orders.
    let payments: Vec<(u64, String, u8)> = sqlx::query_as(
        "SELECT id, out_trade_no, status FROM payment WHERE order_no = ? FOR UPDATE",
    )
    .bind(order_no.as_i64())
    .fetch_all(&mut *tx)
    .await?;
    let is_open = |status| PaymentStatus::from_code(status).is_some_and(PaymentStatus::is_open);
    let mut follow_up = Vec::new();
    for (id, out_trade_no, status) in payments {
        if !is_open(status) {
            continue;
        }
        sqlx::query(
            "UPDATE payment SET status = 5, ask_at = ?, update_time = ? WHERE id = ? AND status IN (1, 2)",
        )
        .bind(first_ask(now).0)
        .bind(now.0)
        .bind(id)
        .execute(&mut *tx)
        .await?;
        follow_up.push(
            outbox::insert(tx, OutboxKind::PaymentClose, order_no, &out_trade_no, now).await?,
        );
    }
    Ok(follow_up)
}

pub(super) async fn payment_in(
    connection: &mut MySqlConnection,
    out_trade_no: &str,
) -> Result<Option<PaymentRecord>, DbError> {
    let row: Option<PaymentRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "{PAYMENT} WHERE out_trade_no = ?"
    )))
    .bind(out_trade_no)
    .fetch_optional(connection)
    .await?;
    row.map(PaymentRecord::try_from).transpose()
}

pub(super) async fn payments_of(
    connection: &mut MySqlConnection,
    order_no: OrderNo,
) -> Result<Vec<PaymentRecord>, DbError> {
    let rows: Vec<PaymentRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "{PAYMENT} WHERE order_no = ? ORDER BY id"
    )))
    .bind(order_no.as_i64())
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(PaymentRecord::try_from).collect()
}

pub(super) async fn lock_payment(
    tx: &mut MySqlConnection,
    id: u64,
) -> Result<PaymentRecord, DbError> {
    let row: PaymentRow = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "{PAYMENT} WHERE id = ? FOR UPDATE"
    )))
    .bind(id)
    .fetch_one(tx)
    .await?;
    row.try_into()
}
