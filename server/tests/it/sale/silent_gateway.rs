//! A gateway that takes connections and never answers.

use crate::support::{ShowSpec, Stage, run};
use app::domain::{
    ids::OrderNo,
    order::{CancelReason, OrderStatus},
    seat::SeatState,
    time::Millis,
};
use std::time::Duration;
use tokio::{net::TcpListener, time::timeout};

/// Orders that nobody pays.
const ORDERS: u32 = 200;
/// Waiting a second for each of them would take longer than this.
const PATIENCE: Duration = Duration::from_secs(150);

/// A stage whose gateway is silent.
async fn stage() -> Stage {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let mut connections = Vec::new();
        while let Ok((connection, _)) = listener.accept().await {
            connections.push(connection);
        }
    });
    let url = format!("http://{address}/gateway");
    Stage::with(&[("SEATFLOW_GATEWAY_URL", &url)]).await
}

/// Pending orders of a seat each, all of them being paid.
async fn being_paid(stage: &Stage, orders: u32) -> (app::domain::ids::ShowId, Vec<OrderNo>) {
    let spec = ShowSpec {
        seats: orders,
        ..ShowSpec::default()
    };
    let show = stage.show(spec).await;
    let mut numbers = Vec::new();
    for seat in 0..orders {
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[seat]).await;
        stage.payment(&user, order_no).await;
        numbers.push(order_no);
    }
    (show, numbers)
}

#[test]
fn two_hundred_orders_expire_although_the_gateway_never_answers() {
    run(async {
        let stage = stage().await;
        let (show, orders) = being_paid(&stage, ORDERS).await;
        stage.clock.advance(Millis::minutes(16));
        // One after the other: the sweeper lets several wait at the same time.
        let ended = async {
            for order_no in &orders {
                stage.ticketing.expire(*order_no).await.expect("stores");
            }
        };
        timeout(PATIENCE, ended)
            .await
            .expect("orders end without waiting for the gateway each time");
        for (order_no, seat) in orders.into_iter().zip(0..) {
            assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
            assert_eq!(stage.seat(show, seat).await, SeatState::Available);
        }
        let closing: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM outbox WHERE kind = 'payment.close'")
                .fetch_one(stage.ticketing.db().pool())
                .await
                .expect("a database");
        assert_eq!(
            closing,
            i64::from(ORDERS),
            "each payment is still to be closed"
        );
    });
}

#[test]
fn what_the_own_stores_must_do_does_not_wait_behind_a_silent_gateway() {
    run(async {
        let stage = stage().await;
        let (show, orders) = being_paid(&stage, 60).await;
        let db = stage.ticketing.db();
        let now = server::clock::Clock::now(&*stage.clock);
        // A server committed all of it and died: everything is left to the outbox.
        for order_no in &orders {
            db.cancel_order(*order_no, CancelReason::User, now)
                .await
                .expect("a database")
                .expect("pending");
        }
        sqlx::query("UPDATE outbox SET next_at = next_at - 1000 WHERE kind = 'payment.close'")
            .execute(db.pool())
            .await
            .expect("a database");
        stage.clock.advance(Millis::seconds(2));
        let ticketing = stage.ticketing.clone();
        let cancel = tokio_util::sync::CancellationToken::new();
        let outbox = tokio::spawn({
            let cancel = cancel.clone();
            async move { ticketing.run_outbox(cancel).await }
        });
        let freed = async {
            let redis = stage.ticketing.redis();
            while !redis.owners(show).await.expect("Redis").is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let freed = timeout(Duration::from_secs(20), freed).await;
        freed.expect("seats are free although no payment could be closed");
        cancel.cancel();
        outbox.abort();
    });
}
