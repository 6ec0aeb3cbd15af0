//! Redis loses which tickets without a seat it counts: their buyers' limits hold again after a round.

use super::{A_WHILE, is_clean, reconcile};
use crate::{
    sale::refunds::{pay, wish},
    standing::floor::{Floor, pending},
    support::{ShowSpec, Stage, run},
};
use app::domain::{ids::OrderNo, user::User};
use server::{
    clock::Clock,
    redis::{keys::ShowKey, snapshot::ShowSnapshot},
    ticketing::reconcile::Class,
};

/// Two buyers with as many standing tickets as a buyer may have: an order that awaits its payment, and a paid one.
struct Scene {
    stage: Stage,
    floor: Floor,
    waiting: (User, OrderNo),
    paid: (User, OrderNo),
    /// What Redis has of the show.
    right: ShowSnapshot,
}

impl Scene {
    async fn new() -> Self {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            standing: Some((20, 3)),
            limit: 2,
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let floor = Floor::of(stage.ticketing.db(), show).await;
        let loaded = stage.ticketing.load_show_patiently(show).await;
        loaded.expect("a show");
        let (first, second) = (stage.user().await, stage.user().await);
        let waiting = pending(&stage, &first, floor, 2).await;
        let paid = pending(&stage, &second, floor, 2).await;
        pay(&stage, &second, paid).await;
        stage.clock.advance(A_WHILE);
        let right = snapshot(&stage, floor).await;
        Self {
            stage,
            floor,
            waiting: (first, waiting),
            paid: (second, paid),
            right,
        }
    }

    async fn lose(&self, key: ShowKey, command: &[&str]) {
        self.stage.meddle(self.floor.show, key, command).await;
    }

    /// Redis counts what it counted before, for whom it did, and holds what it held.
    async fn is_right_again(&self) {
        let now = snapshot(&self.stage, self.floor).await;
        assert_eq!(now.counters, self.right.counters);
        assert_eq!(now.standing, self.right.standing);
        let holding: Vec<_> = now.holds.keys().collect();
        assert_eq!(holding, [&self.waiting.1], "a paid order holds nothing");
        is_clean(&self.stage).await;
        for user in [&self.waiting.0, &self.paid.0] {
            let floor = self.floor;
            let third = self.stage.hold_places(user, floor.show, floor.zone, 1);
            third.await.expect_err("the limit");
        }
    }
}

async fn snapshot(stage: &Stage, floor: Floor) -> ShowSnapshot {
    let snapshot = stage.ticketing.redis().snapshot(floor.show).await;
    snapshot.expect("Redis").expect("a loaded show")
}

#[test]
fn what_a_replica_had_not_heard_of_is_counted_again_in_one_round() {
    run(async {
        let scene = Scene::new().await;
        let waiting = scene.waiting.1.to_string();
        let paid = scene.paid.1.to_string();
        scene
            .lose(ShowKey::Standing, &["HDEL", &waiting, &paid])
            .await;
        scene.lose(ShowKey::Holds, &["HDEL", &waiting]).await;
        scene.lose(ShowKey::Bought, &["DEL"]).await;
        let found = scene.stage.ticketing.find_all().await.expect("stores");
        let told: Vec<String> = found.iter().map(|finding| finding.remedy()).collect();
        assert_eq!(
            told,
            [
                format!("lock and count the tickets of order {waiting} again"),
                format!("count the standing tickets of order {paid} again"),
            ]
        );
        assert_eq!(
            reconcile(&scene.stage).await,
            [Class::SeatLost, Class::SeatLost]
        );
        scene.is_right_again().await;
    });
}

#[test]
fn the_list_alone_is_written_again_and_then_counted() {
    run(async {
        let scene = Scene::new().await;
        scene.lose(ShowKey::Standing, &["DEL"]).await;
        assert_eq!(
            reconcile(&scene.stage).await,
            [Class::SeatLost, Class::SeatLost]
        );
        assert_eq!(reconcile(&scene.stage).await, [Class::Counter]);
        scene.is_right_again().await;
    });
}

#[test]
fn a_paid_order_that_is_held_again_holds_nothing_after_a_round() {
    run(async {
        let scene = Scene::new().await;
        let order_no = scene.paid.1.to_string();
        let json = format!(
            r#"{{"user":"{}","created_ms":1,"seats":[],"standing":["",""],"limits":[],"message":""}}"#,
            scene.paid.0.id
        );
        scene
            .lose(ShowKey::Holds, &["HSET", &order_no, &json])
            .await;
        let found = reconcile(&scene.stage).await;
        assert_eq!(found, [Class::PaidNotSold]);
        scene.is_right_again().await;
    });
}

#[test]
fn only_tickets_whose_money_is_not_back_are_counted_again() {
    run(async {
        let scene = Scene::new().await;
        let (stage, (user, order_no)) = (&scene.stage, &scene.paid);
        let refund = stage.ticketing.refund_own(user, wish(*order_no, &[0]));
        let number = refund.await.expect("a refund").refund_no;
        let db = stage.ticketing.db();
        let rows = db.refund_succeeded(&number, stage.clock.now()).await;
        let rows = rows.expect("a database").expect("a refund");
        stage.ticketing.settle_now(rows).await;
        let right = snapshot(stage, scene.floor).await;
        let (field, order_no) = (format!("u:{}", user.id), order_no.to_string());
        assert_eq!(right.counters.bought[&field], 1);
        stage.clock.advance(A_WHILE);

        scene.lose(ShowKey::Standing, &["HDEL", &order_no]).await;
        scene.lose(ShowKey::Bought, &["HDEL", &field]).await;
        let found = reconcile(stage).await;
        assert!(found.contains(&Class::SeatLost), "{found:?}");
        let now = snapshot(stage, scene.floor).await;
        assert_eq!(now.standing, right.standing);
        assert_eq!(now.counters.bought[&field], 1);

        // A replica that had not heard that one was given back.
        let both = r#"["",""]"#;
        scene
            .lose(ShowKey::Standing, &["HSET", &order_no, both])
            .await;
        scene.lose(ShowKey::Bought, &["HSET", &field, "2"]).await;
        reconcile(stage).await;
        let now = snapshot(stage, scene.floor).await;
        assert_eq!(now.standing, right.standing);
        assert_eq!(now.counters.bought[&field], 1);
    });
}
