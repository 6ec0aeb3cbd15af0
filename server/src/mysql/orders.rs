//! Orders: reading them, and ending those that are not paid.

mod items;

pub(super) use items::items_in;
pub use items::{ItemAttendee, ItemRecord, ItemRefund};

use super::{Db, DbError, outbox, shows::currency_of};
use crate::mysql::{
    outbox::{OutboxKind, OutboxRow},
    shapes::filled_up,
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, UserId},
    money::Money,
    order::{CancelReason, OrderStatus, PaymentAttempt, RefundProgress},
    payment::PaymentStatus,
    time::Timestamp,
};
use sqlx::{MySql, MySqlConnection, QueryBuilder};
use std::collections::HashMap;

/// An order's row.
#[derive(Debug, Clone)]
pub struct OrderRecord {
    /// Its number.
    pub order_no: OrderNo,
    /// Who placed it.
    pub user_id: UserId,
    /// For which show.
    pub show_id: ShowId,
    /// Where it stands.
    pub status: OrderStatus,
    /// Why it ended, when it was cancelled.
    pub cancel_reason: Option<CancelReason>,
    /// What it costs.
    pub amount: Money,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// When it ends unless it is paid.
    pub expire_at: Timestamp,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When it ended without payment.
    pub closed_at: Option<Timestamp>,
    /// Limit counters it counts for.
    pub limit_counters: Vec<String>,
}

#[derive(sqlx::FromRow)]
struct OrderRow {
    order_no: i64,
    user_id: u64,
    show_id: u64,
    status: u8,
    cancel_reason: Option<String>,
    amount_minor: i64,
    currency: String,
    placed_at: i64,
    expire_at: i64,
    paid_at: Option<i64>,
    closed_at: Option<i64>,
    limit_counters: String,
}

impl TryFrom<OrderRow> for OrderRecord {
    type Error = DbError;
    fn try_from(row: OrderRow) -> Result<Self, DbError> {
        let unreadable = || DbError::Unreadable { what: "orders" };
        Ok(Self {
            order_no: OrderNo::try_from(row.order_no).map_err(|_| unreadable())?,
            user_id: UserId(row.user_id),
            show_id: ShowId(row.show_id),
            status: OrderStatus::from_code(row.status).ok_or_else(unreadable)?,
            cancel_reason: row
                .cancel_reason
                .as_deref()
                .and_then(CancelReason::from_word),
            amount: Money::new(row.amount_minor, currency_of(&row.currency)?),
            placed_at: Timestamp(row.placed_at),
            expire_at: Timestamp(row.expire_at),
            paid_at: row.paid_at.map(Timestamp),
            closed_at: row.closed_at.map(Timestamp),
            limit_counters: row
                .limit_counters
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        })
    }
}

const ORDER: &str = "SELECT order_no, user_id, show_id, status, cancel_reason, amount_minor, currency, placed_at, \
     expire_at, paid_at, closed_at, limit_counters FROM orders";

impl Db {
    /// An order by its number.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn order(&self, order_no: OrderNo) -> Result<Option<OrderRecord>, DbError> {
        let row: Option<OrderRow> =
            sqlx::query_as(sqlx::AssertSqlSafe(format!("{ORDER} WHERE order_no = ?")))
                .bind(order_no.as_i64())
                .fetch_optional(self.pool())
                .await?;
        row.map(OrderRecord::try_from).transpose()
    }

    /// Orders by their numbers; those without a row are left out.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn orders_by_number(
        &self,
        numbers: &[OrderNo],
    ) -> Result<HashMap<OrderNo, OrderRecord>, DbError> {
        const PART: usize = 1_000;
        let mut found = HashMap::with_capacity(numbers.len());
        for part in numbers.chunks(PART) {
            let mut query = QueryBuilder::<MySql>::new(ORDER);
            query.push(" WHERE order_no IN (");
            push_numbers(&mut query, part);
            query.push(")");
            let rows: Vec<OrderRow> = query.build_query_as().fetch_all(self.pool()).await?;
            for row in rows {
                let order = OrderRecord::try_from(row)?;
                found.insert(order.order_no, order);
            }
        }
        Ok(found)
    }

    /// A user's orders with numbers below `before`, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn orders_of(
        &self,
        user: UserId,
        before: Option<OrderNo>,
        most: u32,
    ) -> Result<Vec<OrderRecord>, DbError> {
        let rows: Vec<OrderRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "{ORDER} WHERE user_id = ? AND order_no < ? ORDER BY order_no DESC LIMIT ?"
        )))
        .bind(user.0)
        .bind(before.map_or(i64::MAX, OrderNo::as_i64))
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter().map(OrderRecord::try_from).collect()
    }

    /// The tickets of an order, in its own order; none when there is no such order.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn items_of_order(&self, order_no: OrderNo) -> Result<Vec<ItemRecord>, DbError> {
        let items = self.items_of(&[order_no]).await?.remove(&order_no);
        Ok(items.unwrap_or_default())
    }

    /// The tickets of some orders, in the orders' own order.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn items_of(
        &self,
        orders: &[OrderNo],
    ) -> Result<HashMap<OrderNo, Vec<ItemRecord>>, DbError> {
        if orders.is_empty() {
            return Ok(HashMap::new());
        }
        let mut connection = self.pool().acquire().await?;
        items_in(&mut connection, orders).await
    }

    /// The newest attempt to pay each of some orders, with the refund of it that is farthest from its end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn attempts_of(
        &self,
        orders: &[OrderNo],
    ) -> Result<HashMap<OrderNo, PaymentAttempt>, DbError> {
        let mut found = HashMap::new();
        if orders.is_empty() {
            return Ok(found);
        }
        let mut query = QueryBuilder::<MySql>::new(
            "SELECT p.order_no, p.status, (SELECT r.status FROM refund r WHERE r.payment_id = p.id \
             ORDER BY FIELD(r.status, 4, 1, 2, 3) LIMIT 1) FROM payment p WHERE p.order_no IN (",
        );
        push_numbers(&mut query, orders);
        // A payment that took money says more than a newer one that did not, unless it took the wrong amount, and the one
        // that the order was paid with more than a second one.
        query.push(
            ") ORDER BY p.order_no, p.status IN (3, 6) AND p.taken_minor IS NULL, NOT EXISTS (SELECT 1 FROM refund s \
             WHERE s.payment_id = p.id AND s.reason = 'second_payment'), p.id",
        );
        let rows: Vec<(i64, u8, Option<u8>)> =
            query.build_query_as().fetch_all(self.pool()).await?;
        for (order_no, status, refund) in rows {
            let unreadable = || DbError::Unreadable { what: "payment" };
            let order_no = OrderNo::try_from(order_no).map_err(|_| unreadable())?;
            let status = PaymentStatus::from_code(status).ok_or_else(unreadable)?;
            let refund = refund.and_then(RefundProgress::from_code);
            found.insert(order_no, PaymentAttempt { status, refund });
        }
        Ok(found)
    }

    /// Numbers, seats and states of a user's live orders of a show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn live_seats_of(
        &self,
        user: UserId,
        show: ShowId,
    ) -> Result<Vec<(OrderNo, OrderStatus, SeatIndex)>, DbError> {
        let rows: Vec<(i64, u8, u32)> = sqlx::query_as(
            "SELECT o.order_no, o.status, c.seat FROM orders o JOIN seat_claim c ON c.order_no = o.order_no \
             WHERE o.user_id = ? AND o.show_id = ? AND o.status IN (0, 1, 4) ORDER BY o.order_no, c.seat LIMIT 1000",
        )
        .bind(user.0)
        .bind(show.0)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter()
            .map(|(order_no, status, seat)| {
                let unreadable = || DbError::Unreadable { what: "orders" };
                Ok((
                    OrderNo::try_from(order_no).map_err(|_| unreadable())?,
                    OrderStatus::from_code(status).ok_or_else(unreadable)?,
                    SeatIndex(seat),
                ))
            })
            .collect()
    }

    /// Pending orders whose deadline passed before `before`, oldest deadline first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn overdue_orders(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<OrderNo>, DbError> {
        let numbers: Vec<i64> = sqlx::query_scalar(
            "SELECT order_no FROM orders WHERE status = 0 AND expire_at <= ? ORDER BY expire_at LIMIT ?",
        )
        .bind(before.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        Ok(numbers
            .into_iter()
            .filter_map(|number| OrderNo::try_from(number).ok())
            .collect())
    }

    /// Ends a pending order: state, claims and open payments in one transaction. None when the order was not pending
    /// (or, for a timeout, not due); otherwise what must happen outside, once the caller has seen the commit.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn cancel_order(
        &self,
        order_no: OrderNo,
        reason: CancelReason,
        now: Timestamp,
    ) -> Result<Option<Vec<OutboxRow>>, DbError> {
        // A timeout may only end an order whose deadline has passed, whatever woke it.
        let due_by = if reason == CancelReason::Timeout {
            now
        } else {
            Timestamp(i64::MAX)
        };
        self.transact(
            (order_no, reason, now, due_by),
            |&(order_no, reason, now, due_by), tx| {
                Box::pin(async move {
                    let won = sqlx::query(
                        "UPDATE orders SET status = 2, cancel_reason = ?, closed_at = ? \
                     WHERE order_no = ? AND status = 0 AND expire_at <= ?",
                    )
                    .bind(reason.word())
                    .bind(now.0)
                    .bind(order_no.as_i64())
                    .bind(due_by.0)
                    .execute(&mut *tx)
                    .await
                    .map_err(DbError::from)?
                    .rows_affected();
                    if won == 0 {
                        return Ok(None);
                    }
                    sqlx::query("DELETE FROM seat_claim WHERE order_no = ?")
                        .bind(order_no.as_i64())
                        .execute(&mut *tx)
                        .await
                        .map_err(DbError::from)?;
                    let mut follow_up =
                        vec![outbox::insert(tx, OutboxKind::OrderClosed, order_no, "", now).await?];
                    follow_up.extend(super::money::close_payments(tx, order_no, now).await?);
                    super::standing::return_places(tx, order_no).await?;
                    Ok::<_, DbError>(Some(follow_up))
                })
            },
        )
        .await
    }
}

/// A show's orders that own their seats.
pub(super) async fn live_orders_in(
    connection: &mut MySqlConnection,
    show: ShowId,
) -> Result<Vec<OrderRecord>, DbError> {
    let rows: Vec<OrderRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "{ORDER} WHERE show_id = ? AND status IN (0, 1, 4)"
    )))
    .bind(show.0)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(OrderRecord::try_from).collect()
}

fn push_numbers(query: &mut QueryBuilder<MySql>, orders: &[OrderNo]) {
    let mut list = query.separated(", ");
    for order_no in filled_up(orders) {
        list.push_bind(order_no.as_i64());
    }
}
