//! An order is held and written after reconciliation has read Redis, and before it reads the claims.

use super::late_rows::is_under_way;
use crate::support::{ShowSpec, Stage, run};
use app::domain::ids::{OrderNo, ShowId};

/// How the claims of a show are read, once Redis was.
const CLAIMS: &str = "SELECT c.seat, c.order_no";

/// The row and the claim of an order for one seat, without its ticket: the table of those is locked.
async fn written_without_ticket(
    stage: &Stage,
    show: ShowId,
    (order_no, seat): (OrderNo, u32),
    like: OrderNo,
) {
    let pool = stage.ticketing.db().pool();
    sqlx::query(
        "INSERT INTO orders (order_no, user_id, show_id, status, amount_minor, currency, channel, limit_counters, \
         placed_at, expire_at) SELECT ?, user_id, show_id, status, amount_minor, currency, channel, limit_counters, \
         placed_at, expire_at FROM orders WHERE order_no = ?",
    )
    .bind(order_no.as_i64())
    .bind(like.as_i64())
    .execute(pool)
    .await
    .expect("a row");
    sqlx::query("INSERT INTO seat_claim (show_id, seat, order_no) VALUES (?, ?, ?)")
        .bind(show.0)
        .bind(seat)
        .bind(order_no.as_i64())
        .execute(pool)
        .await
        .expect("a claim");
}

#[test]
fn an_order_that_is_placed_between_the_two_readings_is_not_lost() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let earlier = stage.pending(&user, show, &[1]).await;
        let pool = stage.ticketing.db().pool();
        let mut held_up = pool.acquire().await.expect("a connection");
        sqlx::raw_sql("LOCK TABLES order_item WRITE")
            .execute(&mut *held_up)
            .await
            .expect("a lock");
        let placed = async {
            is_under_way(&stage, CLAIMS).await;
            let order_no = stage.hold(&user, show, &[2]).await.expect("a hold");
            written_without_ticket(&stage, show, (order_no, 2), earlier).await;
            sqlx::raw_sql("UNLOCK TABLES")
                .execute(&mut *held_up)
                .await
                .expect("the lock is let go");
        };
        let (found, ()) = tokio::join!(stage.ticketing.find_all(), placed);
        let found: Vec<String> = found
            .expect("stores")
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, [""; 0]);
    });
}
