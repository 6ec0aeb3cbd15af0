//! What a crash has left behind is free soon after its lease, without a whole round of reconciliation.

use crate::support::{ShowSpec, Stage, TestApp, eventually, run};
use app::domain::{
    ids::{OrderNo, ShowId, ZoneId},
    order::OrderStatus,
    seat::SeatState,
    time::Millis,
    user::User,
};
use server::{clock::Clock, config::LOCK_LEASE, redis::keys::Piece};

async fn floor(stage: &Stage) -> ZoneId {
    let zone: u64 = sqlx::query_scalar("SELECT id FROM show_zone WHERE category = 'Floor'")
        .fetch_one(stage.ticketing.db().pool())
        .await
        .expect("a standing zone");
    ZoneId(zone)
}

async fn freed(stage: &Stage) -> usize {
    let freed = stage.ticketing.free_after_leases().await;
    freed.expect("stores").expect("nobody else leads")
}

/// Takes places as a server does that dies before it holds the order.
async fn taken_and_left(stage: &Stage, show: ShowId, user: &User, zone: ZoneId) -> OrderNo {
    // Some other order's number, which nobody uses: this one holds nothing.
    let order_no = stage.hold(user, show, &[30]).await.expect("a hold");
    let redis = stage.ticketing.redis();
    redis.release(show, order_no).await.expect("Redis");
    redis.forget_order(order_no).await.expect("Redis");
    let piece = Piece { zone, piece: 0 };
    stage.take_places(piece, order_no, 3).await;
    order_no
}

async fn until_places_left(stage: &Stage, show: ShowId, places: u32) {
    // The counts are kept for a moment.
    eventually(&format!("{places} places are left"), || async {
        let left = stage.ticketing.standing_left(show).await.expect("Redis");
        (left[0].1 == places).then_some(())
    })
    .await;
}

#[test]
fn seats_and_places_without_a_row_are_free_once_their_lease_is_over_and_not_before() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            limit: 10,
            standing: Some((20, 2)),
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let zone = floor(&stage).await;
        let (user, buyer) = (stage.user().await, stage.user().await);
        let seated = stage.hold(&user, show, &[1, 2]).await.expect("a hold");
        let standing = stage.hold_places(&user, show, zone, 4).await;
        let standing = standing.expect("a hold");
        let left = taken_and_left(&stage, show, &buyer, zone).await;
        let written = stage.pending(&buyer, show, &[9]).await;
        stage.clock.advance(Millis(LOCK_LEASE.0 - 2_000));
        assert_eq!(freed(&stage).await, 0);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        until_places_left(&stage, show, 20 - 4 - 3).await;

        stage.clock.advance(Millis::seconds(3));
        // Two holds, two pieces at most for the places that were held, and one for those that were not.
        assert!((4..=5).contains(&freed(&stage).await));
        for order_no in [seated, standing, left] {
            let status = stage.status(order_no).await;
            assert_eq!(status, Some(OrderStatus::Discarded), "behind a tombstone");
        }
        for seat in [1, 2] {
            assert_eq!(stage.seat(show, seat).await, SeatState::Available);
        }
        until_places_left(&stage, show, 20).await;
        assert_eq!(stage.status(written).await, Some(OrderStatus::Pending));
        assert_eq!(stage.seat(show, 9).await, SeatState::Locked, "it has a row");
        assert_eq!(freed(&stage).await, 0, "a second look finds nothing");
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn a_buyer_whose_order_was_buried_by_a_server_that_died_may_buy_again_at_once() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            limit: 2,
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[1, 2]).await.expect("a hold");
        stage.clock.advance(Millis(LOCK_LEASE.0 + 1_000));
        // The last thing that the other server did.
        let db = stage.ticketing.db();
        let buried = db.insert_tombstone(order_no, show, Some(user.id), stage.clock.now());
        assert!(buried.await.expect("a database"));
        assert_eq!(freed(&stage).await, 0, "whoever wrote it may be at it");
        stage.clock.advance(Millis::seconds(11));
        assert_eq!(freed(&stage).await, 1);
        let again = stage.hold(&user, show, &[5, 6]).await;
        again.expect("the seats that were freed do not count for the buyer");
        let round = stage.ticketing.reconcile().await.expect("stores");
        let round = round.expect("nobody else leads");
        assert!(round.findings.is_empty(), "{:?}", round.findings);
    });
}

#[test]
fn a_server_looks_at_leases_by_itself_however_rare_its_whole_rounds_are() {
    run(async {
        // Whole rounds: one at the start, and the next in an hour.
        let app = TestApp::start(&[("SEATFLOW_RECONCILE_EVERY_MS", "3600000")]).await;
        let show = app.show(ShowSpec::default()).await;
        let order_no = app.customer().await.pending(show, &[1]).await;
        let ticketing = app.ticketing();
        // As if its row had never been written.
        let pool = ticketing.db().pool();
        for table in ["seat_claim", "order_item", "orders"] {
            let sql = format!("DELETE FROM {table} WHERE order_no = ?");
            let gone = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(order_no.as_i64());
            gone.execute(pool).await.expect("a database");
        }
        app.clock.advance(Millis(LOCK_LEASE.0 + 1_000));
        eventually("the seat is free", || async {
            (app.seat_counts(show).await == [40, 0, 0, 0]).then_some(())
        })
        .await;
        app.running.stop().await;
    });
}
