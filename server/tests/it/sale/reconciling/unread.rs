//! A show that can't be read, or is all wrong, keeps no other waiting.

use super::is_clean;
use crate::{
    standing::floor::{Floor, pending, staged},
    support::{ShowSpec, Stage, reconcile, run},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    seat::SeatState,
    time::Millis,
};
use server::{
    cli,
    clock::Clock,
    redis::{keys::ShowKey, scripts::GiveWhy},
    ticketing::reconcile::{Class, Finding, Round},
};

/// A show with an order for two standing places, and seats whose owners can't be read; then another one with an order for a
/// seat that Redis lost.
async fn scene() -> (Stage, Floor, OrderNo, ShowId) {
    let (stage, floor) = staged(6, 2).await;
    let standing = pending(&stage, &stage.user().await, floor, 2).await;
    stage
        .meddle(floor.show, ShowKey::Owners, &["HSET", "3", "nobody"])
        .await;
    let show = stage.show(ShowSpec::default()).await;
    assert!(show > floor.show, "it is looked at later");
    let order_no = stage.pending(&stage.user().await, show, &[1]).await;
    let released = stage.ticketing.redis().release(show, order_no).await;
    released.expect("Redis");
    (stage, floor, standing, show)
}

fn unread(round: &Round) -> Vec<ShowId> {
    round.unread.iter().map(|unread| unread.show).collect()
}

#[test]
fn another_show_is_put_right_while_one_can_not_be_read() {
    run(async {
        let (stage, floor, _, show) = scene().await;
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        let plan = cli::reconcile::plan(&stage.ticketing).await.expect("plan");
        assert!(plan.contains("can't be read"), "{plan}");
        let found = stage.ticketing.find_all().await;
        found.expect_err("whoever asks whether all is well is told");
        let round = reconcile(&stage.ticketing).await;
        assert_eq!(unread(&round), [floor.show]);
        assert_eq!(round.repaired, 1, "{:?}", round.findings);
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        stage
            .meddle(floor.show, ShowKey::Owners, &["HDEL", "3"])
            .await;
        is_clean(&stage).await;
    });
}

#[test]
fn standing_places_are_compared_though_the_seats_of_their_show_can_not_be_read() {
    run(async {
        let (stage, floor, standing, _) = scene().await;
        let redis = stage.ticketing.redis();
        for piece in floor.pieces() {
            let lost = redis.give_standing(piece, standing, 0, GiveWhy::Repair);
            lost.await.expect("Redis");
        }
        assert_eq!(floor.counts(redis).await, (0, 0, 6));
        let round = reconcile(&stage.ticketing).await;
        assert_eq!(unread(&round), [floor.show]);
        assert_eq!(floor.counts(redis).await, (2, 0, 4));
    });
}

/// Lists tickets without seats of so many orders that were never written, in a show of its own.
async fn all_wrong(stage: &Stage, orders: u16) -> ShowId {
    let show = stage.show(ShowSpec::default()).await;
    let loaded = stage.ticketing.load_show_patiently(show).await;
    loaded.expect("a show");
    let user = stage.user().await;
    let long_ago = stage.clock.now() - Millis::minutes(5);
    let number = |order: u16| {
        let (at, sequence) = (long_ago.0 + i64::from(order / 1_000), order % 1_000);
        let number = OrderNo::from_parts(at, 60, sequence, user.id);
        number.expect("a number").to_string()
    };
    let numbers: Vec<String> = (0..orders).map(number).collect();
    let mut command = vec!["HSET"];
    for number in &numbers {
        command.extend([number.as_str(), r#"[""]"#]);
    }
    stage.meddle(show, ShowKey::Standing, &command).await;
    show
}

#[test]
fn shows_that_are_all_wrong_leave_room_for_those_after_them() {
    run(async {
        let stage = Stage::new().await;
        let mut shows = Vec::new();
        for orders in [1_010, 1_010, 1_010, 1_010, 1_010, 30] {
            shows.push(all_wrong(&stage, orders).await);
        }
        let found = stage.ticketing.find_all().await.expect("stores");
        let of_show = |show: ShowId| {
            let is_its = |finding: &&Finding| finding.show == show;
            found.iter().filter(is_its).count()
        };
        let counts: Vec<usize> = shows.into_iter().map(of_show).collect();
        assert_eq!(counts, [1_000, 1_000, 1_000, 1_000, 1_000, 20]);
        let is_orphan = |finding: &Finding| finding.class == Class::OrphanLock;
        assert!(found.iter().all(is_orphan));
    });
}
