//! Redis loses a show under a running sale: orders on their way are waited for, and the sale goes on by itself.

mod running_sale;

use crate::support::{ShowSpec, Stage, eventually, reconcile, run};
use app::{
    domain::{
        hold::Refusal,
        ids::{OrderNo, ShowId},
        order::{CancelReason, OrderStatus},
        seat::SeatState,
        time::Millis,
    },
    error::AppError,
};
use futures::future::join_all;
use server::{
    config::LOCK_LEASE,
    redis::{keys::ShowKey, scripts::LoadReply},
    ticketing::Ticketing,
};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

const REBUILDING: AppError = AppError::Refused {
    refusal: Refusal::Rebuilding,
};

async fn lose(ticketing: &Ticketing, show: ShowId) {
    ticketing.redis().forget_show(show).await.expect("Redis");
}

/// Waits until Kafka has every order of the show that was accepted.
async fn all_sent(stage: &Stage, show: ShowId) {
    let redis = stage.ticketing.redis();
    eventually("Kafka has the orders", || async {
        let later = app::domain::time::Timestamp(i64::MAX);
        let unsent = redis.unsent(show, later, 10).await.expect("Redis");
        unsent.is_empty().then_some(())
    })
    .await;
}

#[test]
fn orders_that_are_in_kafka_are_written_before_a_lost_show_opens_again() {
    run(async {
        let settings = [
            ("SEATFLOW_DRAIN_MAX_MS", "60000"),
            ("SEATFLOW_DISCARD_AFTER_MS", "50000"),
        ];
        let stage = Stage::with(&settings).await;
        let show = stage.show(ShowSpec::default()).await;
        let on_its_way = stage.hold(&stage.user().await, show, &[1, 12]).await;
        let on_its_way = on_its_way.expect("a hold");
        all_sent(&stage, show).await;
        lose(&stage.ticketing, show).await;

        let began = Instant::now();
        let refused = stage.hold(&stage.user().await, show, &[1]).await;
        assert_eq!(refused, Err(REBUILDING));
        let again = stage.hold(&stage.user().await, show, &[2]).await;
        assert_eq!(again, Err(REBUILDING));
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "nobody waits for the draining"
        );
        assert_eq!(
            stage
                .ticketing
                .redis()
                .show_meta(show)
                .await
                .expect("Redis"),
            None,
            "not open while an order is on its way"
        );

        let consumer = stage.consume();
        let reply = stage
            .ticketing
            .load_show_patiently(show)
            .await
            .expect("stores");
        assert_eq!(reply, LoadReply::Loaded);
        assert_eq!(stage.status(on_its_way).await, Some(OrderStatus::Pending));
        assert_eq!(stage.seat(show, 12).await, SeatState::Locked);
        let taken = stage.hold(&stage.user().await, show, &[1]).await;
        assert!(
            matches!(
                taken,
                Err(AppError::Refused {
                    refusal: Refusal::SeatsTaken { .. }
                })
            ),
            "{taken:?}"
        );
        consumer.stop().await;
        assert!(stage.ticketing.verify().await.expect("stores").is_clean());
    });
}

#[test]
fn after_the_bound_the_show_opens_and_the_claim_decides_between_two_buyers() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let loser = stage.user().await;
        let late = stage.hold(&loser, show, &[1]).await.expect("a hold");
        let late_message = stage.message(show, late).await;
        all_sent(&stage, show).await;
        lose(&stage.ticketing, show).await;
        let began = Instant::now();
        stage
            .ticketing
            .load_show_patiently(show)
            .await
            .expect("stores");
        assert!(began.elapsed() >= Duration::from_millis(300), "it waited");
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "it did not wait for ever"
        );
        let rival = stage.pending(&stage.user().await, show, &[1]).await;
        let created = stage.ticketing.create_orders(&[late_message]).await;
        created.expect("stores");
        assert_eq!(stage.status(rival).await, Some(OrderStatus::Pending));
        assert_eq!(stage.status(late).await, Some(OrderStatus::Discarded));
        let told = stage
            .ticketing
            .own_order(&loser, late)
            .await
            .expect("an order");
        assert_eq!(told.status, OrderStatus::Discarded);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked, "the rival's");
        assert!(stage.ticketing.verify().await.expect("stores").is_clean());
    });
}

#[test]
fn a_show_that_redis_never_had_is_opened_without_waiting() {
    run(async {
        let stage = Stage::with(&[("SEATFLOW_DRAIN_MAX_MS", "20000")]).await;
        let first = stage.show(ShowSpec::default()).await;
        stage
            .hold(&stage.user().await, first, &[1])
            .await
            .expect("a hold");
        all_sent(&stage, first).await;
        // An order is in Kafka and nobody consumes it, which is no reason to keep another show closed.
        let second = stage.show(ShowSpec::default()).await;
        stage
            .hold(&stage.user().await, second, &[1])
            .await
            .expect("a hold");
    });
}

#[test]
fn of_two_servers_and_twenty_callers_one_loads_the_show() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        stage.pending(&stage.user().await, show, &[1]).await;
        lose(&stage.ticketing, show).await;
        let epoch = || async {
            let epoch: u32 = sqlx::query_scalar("SELECT redis_epoch FROM shows WHERE id = ?")
                .bind(show.0)
                .fetch_one(stage.ticketing.db().pool())
                .await
                .expect("an epoch");
            epoch
        };
        let before = epoch().await;
        let servers = [stage.ticketing.clone(), stage.another_server().await];
        let loads = (0..20).map(|caller| {
            let server = servers[caller % 2].clone();
            async move { server.load_show_patiently(show).await.expect("stores") }
        });
        join_all(loads).await;
        let snapshot = stage.ticketing.redis().snapshot(show).await.expect("Redis");
        let loaded = snapshot.expect("a loaded show").map.at.epoch;
        assert!(loaded > before, "a new life: {loaded} after {before}");
        assert_eq!(epoch().await, loaded, "no second one was begun");
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
    });
}

#[test]
fn a_loading_reads_orders_and_claims_of_one_moment() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let stop = CancellationToken::new();
        let (user, ticketing, stopped) =
            (stage.user().await, stage.ticketing.clone(), stop.clone());
        let order_no = stage.hold(&user, show, &[1, 2, 3]).await.expect("a hold");
        let message = stage.message(show, order_no).await;
        let changing = tokio::spawn(async move {
            let mut number = order_no.as_i64();
            while !stopped.is_cancelled() {
                number += 1;
                let mut message = message.clone();
                message.order_no = OrderNo::try_from(number).expect("a number");
                ticketing
                    .create_orders(&[message.clone()])
                    .await
                    .expect("stores");
                let ended = ticketing.end_order(message.order_no, CancelReason::User);
                ended.await.expect("stores");
                message.placed_at = message.placed_at + Millis(1);
            }
        });
        for _ in 0..200 {
            let sale = stage.ticketing.db().sale_of_show(show).await;
            let sale = sale.expect("a database").expect("a show");
            let live: BTreeSet<OrderNo> = sale.orders.iter().map(|order| order.order_no).collect();
            let claimed: BTreeSet<OrderNo> = sale
                .taken
                .iter()
                .filter_map(|taken| taken.order_no)
                .collect();
            assert_eq!(live, claimed, "of one moment");
            for order_no in live {
                assert_eq!(sale.items[&order_no].len(), 3);
            }
        }
        stop.cancel();
        changing.await.expect("changes");
    });
}

#[test]
fn an_accepted_order_that_was_lost_with_redis_is_told_to_its_buyer_in_time() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let lost = stage.hold(&user, show, &[1]).await.expect("a hold");
        let kept = stage.hold(&user, show, &[2]).await.expect("a hold");
        let status = |order_no| {
            let (ticketing, user) = (stage.ticketing.clone(), user.clone());
            async move {
                ticketing
                    .own_order(&user, order_no)
                    .await
                    .expect("an order")
                    .status
            }
        };
        lose(&stage.ticketing, show).await;
        assert_eq!(
            status(lost).await,
            OrderStatus::Creating,
            "it may be in Kafka"
        );
        let message = {
            // What was written to Kafka becomes an order although its hold is gone.
            let json = stage
                .ticketing
                .redis()
                .cached_order(kept)
                .await
                .expect("Redis");
            use server::kafka::messages::{Message, Placed};
            Placed::decode(json.expect("a message").as_bytes()).expect("a message")
        };
        stage
            .ticketing
            .create_orders(&[message])
            .await
            .expect("stores");
        stage.clock.advance(Millis(LOCK_LEASE.0 + 4_000));
        assert_eq!(status(lost).await, OrderStatus::Creating);
        stage.clock.advance(Millis::seconds(2));
        assert_eq!(status(lost).await, OrderStatus::Discarded);
        assert_eq!(status(kept).await, OrderStatus::Pending);
        assert_eq!(stage.status(lost).await, None, "reading writes nothing");
    });
}

#[test]
fn an_order_that_still_holds_its_seats_is_not_given_up_by_looking_at_it() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[1]).await.expect("a hold");
        stage.clock.advance(Millis::minutes(5));
        let order = stage
            .ticketing
            .own_order(&user, order_no)
            .await
            .expect("an order");
        assert_eq!(
            order.status,
            OrderStatus::Creating,
            "reconciliation gives it up"
        );
    });
}

#[test]
fn a_seat_that_a_stale_replica_offers_again_is_not_sold_twice() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let owner = stage.pending(&stage.user().await, show, &[3]).await;
        // A replica takes over that has not heard of the hold.
        let key = |key| stage.ticketing.redis().keys().show(show, key);
        let client = redis::Client::open(std::env::var("REDIS_URL").expect("REDIS_URL"));
        let mut connection = client
            .expect("an address")
            .get_multiplexed_async_connection()
            .await
            .expect("Redis");
        let mut behind = redis::pipe();
        behind
            .cmd("BITFIELD")
            .arg(key(ShowKey::Map))
            .arg(&["SET", "u2", "#3", "0"])
            .ignore();
        behind.hdel(key(ShowKey::Owners), "3").ignore();
        behind.hdel(key(ShowKey::Holds), owner.to_string()).ignore();
        behind
            .query_async::<()>(&mut connection)
            .await
            .expect("Redis");

        let second = stage.user().await;
        let rival = stage.pending(&second, show, &[3]).await;
        assert_eq!(stage.status(owner).await, Some(OrderStatus::Pending));
        assert_eq!(stage.status(rival).await, Some(OrderStatus::Discarded));
        let told = stage
            .ticketing
            .own_order(&second, rival)
            .await
            .expect("an order");
        assert_eq!(told.status, OrderStatus::Discarded);
        for _ in 0..3 {
            reconcile(&stage.ticketing).await;
        }
        assert_eq!(
            stage.seat(show, 3).await,
            SeatState::Locked,
            "the owner's again"
        );
        let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
        assert_eq!(owners.get(&app::domain::ids::SeatIndex(3)), Some(&owner));
        assert!(stage.ticketing.verify().await.expect("stores").is_clean());
    });
}
