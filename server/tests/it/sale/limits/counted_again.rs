//! The counters of purchase limits are counted again from the orders: by reconciliation, and when Redis lost a show.

use super::{counted, counters_agree, snapshot};
use crate::support::{ShowSpec, Stage, all_repaired, run};
use app::domain::{hold::LimitedBy, ids::ShowId, order::CancelReason};
use server::{redis::keys::ShowKey, ticketing::reconcile::Class};

/// A show with an order for two people, one of whom has another pending order of another account.
async fn named_orders(stage: &Stage) -> ShowId {
    let show = stage
        .show(ShowSpec {
            attendees_required: true,
            ..ShowSpec::default()
        })
        .await;
    for (seats, people) in [
        (&[1, 2][..], &["E6000001", "E6000002"][..]),
        (&[3], &["E6000001"]),
    ] {
        let user = stage.user().await;
        let mut ids = Vec::new();
        for passport in people {
            let added = stage
                .ticketing
                .add_attendee(&user, "Ann Example", "passport", passport);
            ids.push(added.await.expect("an entry").id);
        }
        let order_no = stage
            .hold_for(&user, show, seats, ids)
            .await
            .expect("a hold");
        let message = stage.message(show, order_no).await;
        stage
            .ticketing
            .create_orders(&[message])
            .await
            .expect("an order");
    }
    show
}

async fn by_kind(stage: &Stage, show: ShowId) -> [u32; 4] {
    let kinds = [
        LimitedBy::User,
        LimitedBy::Phone,
        LimitedBy::Device,
        LimitedBy::Attendee,
    ];
    let mut counts = [0; 4];
    for (count, by) in counts.iter_mut().zip(kinds) {
        *count = counted(&stage.ticketing, show, by).await;
    }
    counts
}

#[test]
fn reconciliation_counts_phones_and_attendees_anew() {
    run(async {
        let stage = Stage::new().await;
        let show = named_orders(&stage).await;
        let right = snapshot(&stage.ticketing, show).await.counters;
        assert_eq!(by_kind(&stage, show).await, [3; 4]);
        assert!(counters_agree(&stage.ticketing, show).await);
        let url = std::env::var("REDIS_URL").expect("REDIS_URL");
        let mut redis = redis::Client::open(url)
            .expect("an address")
            .get_connection()
            .expect("Redis");
        let key = stage.ticketing.redis().keys().show(show, ShowKey::Bought);
        for name in right.bought.keys().filter(|name| !name.starts_with("u:")) {
            redis::cmd("HINCRBY")
                .arg(&key)
                .arg(name)
                .arg(1)
                .exec(&mut redis)
                .expect("a command");
        }
        assert_eq!(all_repaired(&stage.ticketing).await, [Class::Counter]);
        assert_eq!(snapshot(&stage.ticketing, show).await.counters, right);
    });
}

#[test]
fn a_show_that_redis_lost_comes_back_with_the_counters_of_phones_and_attendees() {
    run(async {
        let stage = Stage::new().await;
        let show = named_orders(&stage).await;
        let right = snapshot(&stage.ticketing, show).await;
        let (ticketing, redis) = (&stage.ticketing, stage.ticketing.redis());
        redis.forget_show(show).await.expect("Redis");
        // Nobody consumes on this stage, so the show opens when the wait for consumers is over.
        ticketing.load_show_patiently(show).await.expect("stores");
        let loaded = snapshot(&stage.ticketing, show).await;
        assert_eq!(loaded.counters, right.counters);
        // What is given back lowers the same counters.
        for order_no in loaded.holds.keys() {
            let ended = stage
                .ticketing
                .end_order(*order_no, CancelReason::User)
                .await;
            assert!(ended.expect("stores"));
        }
        assert_eq!(by_kind(&stage, show).await, [0; 4]);
    });
}
