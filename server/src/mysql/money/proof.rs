//! The proof that no money is missing: what was captured, less what was given back, is owed or was kept, is what live
//! tickets are worth, for every order, every show, and in all.

use crate::mysql::{Db, DbError};
use serde::Serialize;

/// Every order's money by currency and where it is, in the currency's smallest unit: what payments, refunds and tickets
/// say, and what the ledger says. One statement reads all of it at one moment.
const MONEY: &str = "WITH part AS ( \
     SELECT order_no, COALESCE(taken_currency, currency) AS currency, \
     COALESCE(taken_minor, amount_minor) AS captured, 0 AS given_back, 0 AS owed, 0 AS kept, 0 AS tickets, \
     0 AS l_gateway, 0 AS l_sales, 0 AS l_fees, 0 AS l_owed, 0 AS l_other FROM payment WHERE status IN (3, 6) \
     UNION ALL SELECT order_no, currency, 0, CASE WHEN status = 3 THEN amount_minor ELSE 0 END, \
     CASE WHEN status <> 3 THEN amount_minor ELSE 0 END, fee_minor, 0, 0, 0, 0, 0, 0 FROM refund \
     UNION ALL SELECT i.order_no, o.currency, 0, 0, 0, 0, i.price_minor, 0, 0, 0, 0, 0 FROM order_item i \
     JOIN orders o ON o.order_no = i.order_no AND o.status IN (1, 4) \
     LEFT JOIN refund_item ri ON ri.order_no = i.order_no AND ri.item_no = i.item_no WHERE ri.order_no IS NULL \
     UNION ALL SELECT order_no, currency, 0, 0, 0, 0, 0, gateway, -sales, -fees, -owed_to_customers, discrepancy \
     FROM ledger_posting), \
     money AS (SELECT order_no, currency, SUM(captured) AS captured, SUM(given_back) AS given_back, SUM(owed) AS owed, \
     SUM(kept) AS kept, SUM(tickets) AS tickets, SUM(l_gateway) AS l_gateway, SUM(l_sales) AS l_sales, \
     SUM(l_fees) AS l_fees, SUM(l_owed) AS l_owed, SUM(l_other) AS l_other FROM part \
     GROUP BY order_no, currency) ";

/// What the proof counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MoneyCounts {
    /// Orders that money or tickets are about.
    pub orders: i64,
    /// Orders whose money is not what their live tickets are worth.
    pub wrong_orders: i64,
    /// Orders of which the ledger says something else than payments, refunds and tickets.
    pub wrong_ledgers: i64,
    /// Shows of such orders.
    pub shows: i64,
    /// Shows whose money is not what their live tickets are worth.
    pub wrong_shows: i64,
}

/// All money of one currency, in its smallest unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct MoneyOfCurrency {
    /// ISO 4217 code.
    pub currency: String,
    /// What gateways took.
    pub captured: i64,
    /// What they gave back.
    pub given_back: i64,
    /// What is on its way back.
    pub owed: i64,
    /// What was kept of tickets that were given back.
    pub kept: i64,
    /// What live tickets are worth.
    pub tickets: i64,
}

impl MoneyOfCurrency {
    /// What is captured and neither back, owed, kept nor worth a ticket: zero when all is well.
    #[must_use]
    pub fn missing(&self) -> i64 {
        self.captured - self.given_back - self.owed - self.kept - self.tickets
    }
}

impl Db {
    /// Counts orders and shows whose money is not what it should be.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn money_counts(&self) -> Result<MoneyCounts, DbError> {
        let by_order = format!(
            "{MONEY} SELECT COUNT(DISTINCT order_no), \
             COUNT(DISTINCT CASE WHEN captured - given_back - owed - kept <> tickets THEN order_no END), \
             COUNT(DISTINCT CASE WHEN l_gateway <> captured - given_back OR l_owed <> owed OR l_fees <> kept \
             OR l_sales <> tickets OR l_other <> 0 THEN order_no END) FROM money"
        );
        let (orders, wrong_orders, wrong_ledgers) = sqlx::query_as(sqlx::AssertSqlSafe(by_order))
            .fetch_one(self.pool())
            .await?;
        let by_show = format!(
            "{MONEY} SELECT COUNT(DISTINCT show_id), COUNT(DISTINCT CASE WHEN missing <> 0 THEN show_id END) FROM \
             (SELECT o.show_id, m.currency, SUM(m.captured - m.given_back - m.owed - m.kept - m.tickets) AS missing FROM money m \
             JOIN orders o ON o.order_no = m.order_no GROUP BY o.show_id, m.currency) by_show"
        );
        let (shows, wrong_shows) = sqlx::query_as(sqlx::AssertSqlSafe(by_show))
            .fetch_one(self.pool())
            .await?;
        Ok(MoneyCounts {
            orders,
            wrong_orders,
            wrong_ledgers,
            shows,
            wrong_shows,
        })
    }

    /// All money, by currency.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn money_in_all(&self) -> Result<Vec<MoneyOfCurrency>, DbError> {
        let by_currency = format!(
            "{MONEY} SELECT m.currency AS currency, CAST(SUM(m.captured) AS SIGNED) AS captured, \
             CAST(SUM(m.given_back) AS SIGNED) AS given_back, CAST(SUM(m.owed) AS SIGNED) AS owed, \
             CAST(SUM(m.kept) AS SIGNED) AS kept, CAST(SUM(m.tickets) AS SIGNED) AS tickets FROM money m \
             GROUP BY m.currency ORDER BY m.currency"
        );
        Ok(sqlx::query_as(sqlx::AssertSqlSafe(by_currency))
            .fetch_all(self.pool())
            .await?)
    }
}
