//! What reconciliation reads and writes: leadership, tombstones, notes, and money that stands alone.

use super::{
    Db, DbError,
    creation::note_repair,
    money,
    outbox::{self, OutboxKind, OutboxRow},
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, UserId},
    time::Timestamp,
};
use sqlx::{MySql, MySqlConnection, QueryBuilder, pool::PoolConnection};
use std::collections::HashSet;

/// Proof that this server alone does something, for as long as it is kept.
pub struct Lead {
    /// None once it was given up.
    connection: Option<PoolConnection<MySql>>,
    name: String,
}

impl Drop for Lead {
    fn drop(&mut self) {
        // Back in the pool the connection would keep the lock for as long as the server runs.
        if let Some(connection) = &mut self.connection {
            connection.close_on_drop();
        }
    }
}

impl Lead {
    /// Lets another server lead. Dropping it instead closes the connection, which has the same effect.
    pub async fn give_up(mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let released = sqlx::query("DO RELEASE_LOCK(?)")
            .bind(&self.name)
            .execute(&mut **connection)
            .await;
        match released {
            Ok(_) => drop(self.connection.take()),
            Err(error) => tracing::warn!(%error, "lead not given up, closing its connection"),
        }
    }
}

/// Money that needs looking at.
#[derive(Debug, Clone)]
pub struct LooseMoney {
    /// The payment's or refund's number.
    pub reference: String,
    /// The order.
    pub order_no: OrderNo,
    /// The order's show.
    pub show: ShowId,
}

fn loose(rows: Vec<(String, i64, u64)>) -> Result<Vec<LooseMoney>, DbError> {
    rows.into_iter()
        .map(|(reference, order_no, show)| {
            let order_no =
                OrderNo::try_from(order_no).map_err(|_| DbError::Unreadable { what: "payment" })?;
            Ok(LooseMoney {
                reference,
                order_no,
                show: ShowId(show),
            })
        })
        .collect()
}

impl Db {
    /// Becomes the only server that does the named thing, if none is at it. The database forgets it with the connection.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn try_lead(&self, what: &str) -> Result<Option<Lead>, DbError> {
        let mut connection = self.pool().acquire().await?;
        // A lock's name is the server's, not the database's, and has 64 characters at most.
        let database: String = sqlx::query_scalar("SELECT DATABASE()")
            .fetch_one(&mut *connection)
            .await?;
        let name: String = format!("{what}.{database}").chars().take(64).collect();
        let won: Option<i64> = sqlx::query_scalar("SELECT GET_LOCK(?, 0)")
            .bind(&name)
            .fetch_one(&mut *connection)
            .await?;
        Ok((won == Some(1)).then_some(Lead {
            connection: Some(connection),
            name,
        }))
    }

    /// Notes a repair.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn note(
        &self,
        class: &str,
        show: ShowId,
        order_no: Option<OrderNo>,
        detail: &str,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let mut connection = self.pool().acquire().await?;
        note_repair(&mut connection, class, show, order_no, detail, now).await
    }

    /// Takes an order's number for good, so that a late message can't become an order. False when it has a row.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn insert_tombstone(
        &self,
        order_no: OrderNo,
        show: ShowId,
        user: Option<UserId>,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let inserted = sqlx::query(
            "INSERT INTO orders (order_no, user_id, show_id, status, amount_minor, currency, channel, \
             limit_counters, placed_at, expire_at, closed_at) \
             VALUES (?, ?, ?, 5, 0, (SELECT MIN(currency) FROM show_zone WHERE show_id = ?), '', '', ?, ?, ?)",
        )
        .bind(order_no.as_i64())
        .bind(user.map_or(0, |user| user.0))
        .bind(show.0)
        .bind(show.0)
        .bind(order_no.made_at_ms())
        .bind(order_no.made_at_ms())
        .bind(now.0)
        .execute(self.pool())
        .await
        .map_err(DbError::from);
        match inserted {
            Ok(_) => Ok(true),
            Err(DbError::Duplicate { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Pending orders past their deadline, with their shows.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn overdue_with_show(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<(OrderNo, ShowId)>, DbError> {
        let rows: Vec<(i64, u64)> = sqlx::query_as(
            "SELECT order_no, show_id FROM orders WHERE status = 0 AND expire_at <= ? ORDER BY expire_at LIMIT ?",
        )
        .bind(before.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        rows.into_iter()
            .map(|(order_no, show)| {
                let order_no = OrderNo::try_from(order_no)
                    .map_err(|_| DbError::Unreadable { what: "orders" })?;
                Ok((order_no, ShowId(show)))
            })
            .collect()
    }

    /// Successful payments whose money is neither an order's revenue nor on its way back.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn money_without_order(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<LooseMoney>, DbError> {
        let rows = sqlx::query_as(
            "SELECT p.out_trade_no, p.order_no, o.show_id FROM payment p JOIN orders o ON o.order_no = p.order_no \
             WHERE p.status = 3 AND p.update_time <= ? AND o.status IN (2, 5) \
             AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.payment_id = p.id) LIMIT ?",
        )
        .bind(before.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        loose(rows)
    }

    /// Payments that should have ended and of which nothing was heard.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forgotten_payments(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<LooseMoney>, DbError> {
        let rows = sqlx::query_as(
            "SELECT p.out_trade_no, p.order_no, o.show_id FROM payment p JOIN orders o ON o.order_no = p.order_no \
             WHERE p.status = 2 AND p.expire_at <= ? LIMIT ?",
        )
        .bind(before.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        loose(rows)
    }

    /// Payments of which a notice said another amount or another of the channel's numbers, and which the gateway was not
    /// asked about since.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn doubted_payments(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<LooseMoney>, DbError> {
        let rows = sqlx::query_as(
            "SELECT p.out_trade_no, p.order_no, o.show_id FROM discrepancy d \
             JOIN payment p ON p.out_trade_no = d.reference JOIN orders o ON o.order_no = p.order_no \
             WHERE d.resolved_at IS NULL AND d.kind IN ('wrong_amount', 'wrong_number') AND d.opened_at <= ? LIMIT ?",
        )
        .bind(before.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        loose(rows)
    }

    /// Refunds that are requested or failed and that no living row of the outbox is about.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stuck_refunds(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<LooseMoney>, DbError> {
        let rows = sqlx::query_as(
            "SELECT r.refund_no, r.order_no, o.show_id FROM refund r JOIN orders o ON o.order_no = r.order_no \
             WHERE r.status IN (1, 4) AND r.requested_at <= ? \
             AND NOT EXISTS (SELECT 1 FROM outbox x WHERE x.payload = r.refund_no AND x.kind = 'refund.send' \
             AND x.dead_at IS NULL) LIMIT ?",
        )
        .bind(before.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        loose(rows)
    }

    /// Refunds that the gateway accepted before a moment and has told nothing of since.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn silent_refunds(
        &self,
        before: Timestamp,
        most: u32,
    ) -> Result<Vec<LooseMoney>, DbError> {
        let rows = sqlx::query_as(
            "SELECT r.refund_no, r.order_no, o.show_id FROM refund r JOIN orders o ON o.order_no = r.order_no \
             WHERE r.status = 2 AND r.sent_at <= ? LIMIT ?",
        )
        .bind(before.0)
        .bind(most)
        .fetch_all(self.pool())
        .await?;
        loose(rows)
    }

    /// Some orders' tickets whose money was back before a moment, with their seats; none for standing places.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn tickets_given_back(
        &self,
        orders: &[OrderNo],
        before: Timestamp,
    ) -> Result<HashSet<(OrderNo, Option<SeatIndex>)>, DbError> {
        let mut query = QueryBuilder::<MySql>::new(
            "SELECT i.order_no, i.seat FROM refund_item ri JOIN refund r ON r.id = ri.refund_id AND r.status = 3 \
             JOIN order_item i ON i.order_no = ri.order_no AND i.item_no = ri.item_no \
             WHERE r.succeeded_at <= ",
        );
        query.push_bind(before.0).push(" AND ri.order_no IN (");
        let mut list = query.separated(", ");
        for order_no in orders {
            list.push_bind(order_no.as_i64());
        }
        query.push(")");
        let rows: Vec<(i64, Option<u32>)> = query
            .build_query_as()
            .persistent(false)
            .fetch_all(self.pool())
            .await?;
        rows.into_iter()
            .map(|(order_no, seat)| {
                let order_no = OrderNo::try_from(order_no).map_err(|_| DbError::Unreadable {
                    what: "refund_item",
                })?;
                Ok((order_no, seat.map(SeatIndex)))
            })
            .collect()
    }

    /// Requests the refund of a successful payment whose order is not live. None when it is not so, or is on its way.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn give_back_unowned(
        &self,
        out_trade_no: &str,
        now: Timestamp,
    ) -> Result<Option<OutboxRow>, DbError> {
        self.transact((out_trade_no, now), |&(out_trade_no, now), tx| {
            Box::pin(money::give_back_if_unowned(tx, out_trade_no, now))
        })
        .await
    }

    /// Puts a refund back into the outbox.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn send_refund_again(
        &self,
        order_no: OrderNo,
        refund_no: &str,
        now: Timestamp,
    ) -> Result<OutboxRow, DbError> {
        let mut connection: PoolConnection<MySql> = self.pool().acquire().await?;
        let connection: &mut MySqlConnection = &mut connection;
        outbox::insert(connection, OutboxKind::RefundSend, order_no, refund_no, now).await
    }
}
