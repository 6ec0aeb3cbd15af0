//! Overdue orders are found by an index: the sweeper asks for them all the time, among all orders there ever were.

use crate::support::{Stage, run};
use app::domain::{
    ids::{OrderNo, UserId},
    order::OrderStatus,
    time::{Millis, Timestamp},
};
use server::{clock::Clock, mysql::Db};
use sqlx::{MySql, MySqlPool, QueryBuilder, Row, mysql::MySqlRow};
use std::time::Duration;

/// Orders that are pending and not due, and as many that are over and were due long ago.
const OTHERS: u16 = 2_000;
const OVERDUE: u16 = 5;
/// Rows that finding the overdue ones may touch: themselves, the first that is not due, and some that the database reads for
/// itself. A search without the index touches thousands.
const ROWS_READ_MAX: i64 = 200;

/// Orders in a state with one deadline.
async fn insert(pool: &MySqlPool, count: u16, status: OrderStatus, due: Timestamp) {
    let numbers: Vec<OrderNo> = (0..count)
        .map(|number| {
            OrderNo::from_parts(due.0 - i64::from(number), 1, 0, UserId(1)).expect("a number")
        })
        .collect();
    for some in numbers.chunks(500) {
        let mut rows = QueryBuilder::<MySql>::new(
            "INSERT INTO orders (order_no, user_id, show_id, status, amount_minor, currency, channel, \
             limit_counters, placed_at, expire_at) ",
        );
        rows.push_values(some, |mut row, order_no| {
            row.push_bind(order_no.as_i64())
                .push_bind(1)
                .push_bind(1)
                .push_bind(status.code())
                .push_bind(100)
                .push_bind("CNY")
                .push_bind("")
                .push_bind("")
                .push_bind(due.0)
                .push_bind(due.0);
        });
        rows.build().execute(pool).await.expect("orders");
    }
}

/// How many rows the pool's only connection has read so far.
async fn rows_read(db: &Db) -> i64 {
    let counters = sqlx::raw_sql("SHOW SESSION STATUS LIKE 'Handler_read%'");
    let counters = counters.fetch_all(db.pool()).await.expect("counters");
    let count = |row: &MySqlRow| row.get::<String, _>(1).parse::<i64>().expect("a count");
    counters.iter().map(count).sum()
}

/// How many rows each of the two searches reads: the sweeper's and reconciliation's. Both must find the same.
async fn searches(db: &Db, now: Timestamp) -> [i64; 2] {
    let first = rows_read(db).await;
    let before = rows_read(db).await;
    // Reading the counters reads rows as well.
    let own = before - first;
    let swept = db.overdue_orders(now, 1_000).await.expect("orders");
    let between = rows_read(db).await;
    let found = db.overdue_with_show(now, 1_000).await.expect("orders");
    let after = rows_read(db).await;
    assert_eq!(swept.len(), usize::from(OVERDUE));
    let found: Vec<OrderNo> = found.into_iter().map(|(order_no, _)| order_no).collect();
    assert_eq!(swept, found);
    [between - before - own, after - between - own]
}

#[test]
fn overdue_orders_are_found_by_their_index_among_thousands() {
    run(async {
        let stage = Stage::new().await;
        let url = &stage.config().stores.database_url;
        let db = Db::connect_to(url, 1, Duration::from_secs(30))
            .await
            .expect("a database");
        let (pool, now) = (db.pool(), stage.clock.now());
        let (pending, over) = (OrderStatus::Pending, OrderStatus::Cancelled);
        insert(pool, OVERDUE, pending, now - Millis(1)).await;
        insert(pool, OTHERS, pending, now + Millis::minutes(15)).await;
        insert(pool, OTHERS, over, now - Millis::minutes(15)).await;
        sqlx::query("ANALYZE TABLE orders")
            .fetch_all(pool)
            .await
            .expect("statistics");
        searches(&db, now).await; // Whatever the first use of a table reads is read now.
        for read in searches(&db, now).await {
            assert!(read < ROWS_READ_MAX, "{read} rows were read");
        }
        sqlx::query("ALTER TABLE orders DROP INDEX orders_due")
            .execute(pool)
            .await
            .expect("a change");
        for read in searches(&db, now).await {
            assert!(read > i64::from(OTHERS), "only {read} rows without it");
        }
    });
}
