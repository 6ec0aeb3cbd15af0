//! The list of loaded shows lies elsewhere in Redis than the shows, and may be lost alone.

use super::is_clean;
use crate::{
    standing::floor::{Floor, staged},
    support::{ShowSpec, Stage, all_repaired, choose_at, reconcile, run},
};
use app::domain::{
    hold::Choice,
    ids::{OrderNo, ShowId},
    time::Millis,
};
use server::{
    cli,
    ticketing::{Ticketing, reconcile::Class, unload::OverShow},
};

/// For two seconds an order is left to the server that took it.
const RESEND_AFTER: Millis = Millis(2_001);

/// Holds two standing places by a server that reaches every store but Kafka, and dies.
async fn held_and_not_sent(stage: &Stage, floor: Floor) -> OrderNo {
    let server = stage.server_without_kafka().await;
    let choice = Choice::Best {
        zone: floor.zone,
        quantity: 2,
    };
    let held = choose_at(&server, &stage.user().await, floor.show, choice).await;
    held.expect("it is accepted all the same")
}

async fn lose_from_list(ticketing: &Ticketing, show: ShowId) {
    let redis = ticketing.redis();
    redis.note_unloaded(show).await.expect("Redis");
}

async fn relay(stage: &Stage) -> usize {
    stage.ticketing.relay_once().await.expect("Redis")
}

#[test]
fn a_show_that_the_list_lost_is_listed_again_and_its_orders_are_sent() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        held_and_not_sent(&stage, floor).await;
        lose_from_list(&stage.ticketing, floor.show).await;
        stage.clock.advance(RESEND_AFTER);
        assert_eq!(relay(&stage).await, 0, "nobody comes by it");
        let plan = cli::reconcile::plan(&stage.ticketing).await.expect("plan");
        let show = floor.show;
        assert!(plan.contains("is loaded and not listed"), "{plan}");
        assert!(plan.contains(&format!("would put show {show} on the list")));
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(!evidence.is_clean());
        assert_eq!(all_repaired(&stage.ticketing).await, [Class::SeatLost]);
        assert_eq!(relay(&stage).await, 1);
        is_clean(&stage).await;
    });
}

#[test]
fn what_is_wrong_in_a_show_that_is_not_listed_is_found_in_the_same_round() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let order_no = held_and_not_sent(&stage, floor).await;
        lose_from_list(&stage.ticketing, floor.show).await;
        stage.clock.advance(Millis::seconds(61));
        let round = reconcile(&stage.ticketing).await;
        let of_order = |finding: &&server::ticketing::reconcile::Finding| {
            finding.order_no == Some(order_no) && finding.class == Class::OrphanLock
        };
        assert!(round.findings.iter().any(|finding| of_order(&finding)));
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (0, 0, 6));
    });
}

#[test]
fn a_show_that_redis_does_not_have_is_not_missed_on_the_list() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let redis = stage.ticketing.redis();
        redis.forget_show(floor.show).await.expect("Redis");
        lose_from_list(&stage.ticketing, floor.show).await;
        assert_eq!(stage.ticketing.find_all().await.expect("stores").len(), 0);
        assert_eq!(redis.loaded_shows().await.expect("Redis"), []);
    });
}

#[test]
fn a_show_that_is_over_leaves_redis_even_when_the_list_lost_it() {
    run(async {
        let stage = Stage::with(&[("SEATFLOW_UNLOAD_AFTER_MS", "3600000")]).await;
        let spec = ShowSpec {
            sale_ends_in: Millis::minutes(10),
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let loaded = stage.ticketing.load_show_patiently(show).await;
        loaded.expect("a show");
        lose_from_list(&stage.ticketing, show).await;
        stage.clock.advance(Millis::minutes(80));
        stage.ticketing.keep_books().await.expect("stores");
        let first = reconcile(&stage.ticketing).await;
        assert_eq!(first.repaired, 1, "{:?}", first.findings);
        // What was logged of its places while nobody came by it goes into the books first.
        stage.ticketing.keep_books().await.expect("stores");
        let second = reconcile(&stage.ticketing).await;
        assert_eq!(second.over, [OverShow { show, stays: None }]);
        let meta = stage.ticketing.redis().show_meta(show).await;
        assert!(meta.expect("Redis").is_none());
    });
}
