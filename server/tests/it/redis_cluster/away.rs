//! A master that is away.

use super::{a_show_for_each, application, masters::Masters, until_counts};
use crate::support::{eventually, run};
use app::domain::{
    ids::{OrderNo, ShowId, UserId},
    order::OrderStatus,
};
use futures::future::join_all;
use redis::cmd;
use server::redis::{Redis, RedisError, keys::ShowKey};
use std::time::Duration;

const PREFIX: &str = "away";

/// A show whose keys lie at a master.
async fn show_at(masters: &Masters, redis: &Redis, master: usize) -> ShowId {
    for show in 1.. {
        let key = redis.keys().show(ShowId(show), ShowKey::Meta);
        if masters.master_of(&key).await == master {
            return ShowId(show);
        }
    }
    unreachable!("a master without slots")
}

#[test]
fn a_master_that_is_away_takes_only_its_own_shows_with_it_until_it_is_back() {
    run(async {
        let mut masters = Masters::start().await;
        let redis = masters.redis(PREFIX).await;
        let (lost, kept) = (
            show_at(&masters, &redis, 0).await,
            show_at(&masters, &redis, 2).await,
        );
        assert_eq!(redis.show_meta(lost).await.expect("Redis"), None);
        masters.kill(0);
        let error = redis.show_meta(lost).await.expect_err("it is away");
        // A connection that is refused proves nothing: the client may have tried before.
        assert!(matches!(error, RedisError::TimedOut(_)), "{error:?}");
        assert_eq!(redis.show_meta(kept).await.expect("Redis"), None);
        let many = redis.remaining(&[kept, lost]).await;
        let error = many.expect_err("a part of an answer is none");
        assert!(error.may_have_run(), "for others it has");
        // The first of the addresses is that of the master which is away.
        let anew = masters.redis(PREFIX).await;
        assert_eq!(anew.show_meta(kept).await.expect("Redis"), None);
        masters.start_again(0).await;
        for redis in [redis, anew] {
            eventually("the master is used again", || async {
                redis.show_meta(lost).await.ok()
            })
            .await;
        }
    });
}

#[test]
fn orders_are_dropped_at_the_masters_that_are_there() {
    run(async {
        let mut masters = Masters::start().await;
        let redis = masters.redis(PREFIX).await;
        let number = |number| {
            OrderNo::from_parts(1_795_990_000_000, 1, number, UserId(1)).expect("a number")
        };
        let orders: Vec<OrderNo> = (0..12).map(number).collect();
        let mut there = Vec::new();
        for order_no in &orders {
            redis.cache_order(*order_no, "{}").await.expect("Redis");
            if masters.master_of(&redis.keys().order(*order_no)).await != 0 {
                there.push(*order_no);
            }
        }
        assert!(!there.is_empty() && there.len() < orders.len());
        masters.kill(0);
        let error = redis.forget_orders(&orders).await;
        assert!(error.expect_err("not all are dropped").may_have_run());
        for order_no in there {
            let cached = redis.cached_order(order_no).await.expect("Redis");
            assert_eq!(cached, None, "{order_no}");
        }
    });
}

#[test]
fn orders_of_other_shows_go_on_while_a_master_is_away() {
    run(async {
        let mut masters = Masters::start().await;
        let app = application(&masters).await;
        let shows = a_show_for_each(&masters, &app).await;
        for show in &shows {
            app.customer().await.pending(*show, &[0]).await;
        }
        masters.kill(0);
        // What is known of an order on its way lies at any master, the lost one included.
        let orders = (1..=12_u32).map(|seat| {
            let (app, show) = (&app, shows[1 + usize::from(seat % 2 == 0)]);
            async move {
                let customer = app.customer().await;
                let order_no = customer.place(show, &[seat]).await.expect("an order");
                customer.until(order_no, OrderStatus::Pending).await;
                customer.pay(order_no).await;
                customer.until(order_no, OrderStatus::Paid).await;
            }
        });
        join_all(orders).await;
        for show in &shows[1..] {
            until_counts(&app, *show, [33, 1, 6, 0]).await;
        }
        let refused = app.customer().await.place(shows[0], &[1]).await;
        refused.expect_err("its master is away");
        masters.start_again(0).await;
        let customer = app.customer().await;
        let order_no = eventually("its show is loaded again", || async {
            customer.place(shows[0], &[1]).await.ok()
        })
        .await;
        customer.until(order_no, OrderStatus::Pending).await;
        app.running.stop().await;
    });
}

#[test]
fn a_replica_that_takes_over_goes_on_with_the_sale() {
    run(async {
        let mut masters = Masters::start().await;
        let app = application(&masters).await;
        let shows = a_show_for_each(&masters, &app).await;
        let (show, others) = (shows[0], &shows[1..]);
        let replica = masters.add_replica(0).await;
        app.customer().await.pending(show, &[1, 2]).await;
        let before = app.map(show).await.at;
        masters.fail_over(0, replica).await;
        let customer = app.customer().await;
        // The replica has none of the scripts.
        let order_no = eventually("the replica is found", || async {
            customer.place(show, &[3]).await.ok()
        })
        .await;
        customer.until(order_no, OrderStatus::Pending).await;
        until_counts(&app, show, [37, 3, 0, 0]).await;
        let at = app.map(show).await.at;
        assert_eq!((at.epoch, at.version), (before.epoch, before.version + 1));
        for other in others {
            app.customer().await.pending(*other, &[1]).await;
        }
        app.running.stop().await;
    });
}

#[test]
fn what_a_master_was_told_before_it_died_may_have_run() {
    run(async {
        let mut masters = Masters::start().await;
        let redis = masters.redis(PREFIX).await;
        let master = masters.master_of(&redis.keys().loaded_shows()).await;
        redis.ping().await.expect("a connection");
        masters.silence(master, Duration::from_secs(20)).await;
        let dying = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            masters.kill(master);
        };
        let (told, ()) = tokio::join!(redis.note_loaded(ShowId(7)), dying);
        let error = told.expect_err("no answer");
        assert!(matches!(error, RedisError::TimedOut(_)), "{error:?}");
        assert!(error.may_have_run());
    });
}

#[test]
fn what_a_silent_master_was_told_may_have_run_and_is_not_told_it_again() {
    run(async {
        let masters = Masters::start().await;
        let patience = Duration::from_secs(1);
        let redis = masters.patient_redis(PREFIX, patience).await;
        let master = masters.master_of(&redis.keys().loaded_shows()).await;
        redis.ping().await.expect("a connection");
        masters.silence(master, Duration::from_secs(5)).await;
        let error = redis.note_loaded(ShowId(7)).await.expect_err("no answer");
        assert!(matches!(error, RedisError::TimedOut(_)), "{error:?}");
        assert!(error.may_have_run());
        // It has heard it all the same.
        eventually("the master speaks again", || async {
            let listed = redis.loaded_shows().await.ok()?;
            (listed == [ShowId(7)]).then_some(())
        })
        .await;
        let stats: String = masters.ask(master, cmd("INFO").arg("commandstats")).await;
        assert!(stats.contains("cmdstat_sadd:calls=1,"), "{stats}");
    });
}
