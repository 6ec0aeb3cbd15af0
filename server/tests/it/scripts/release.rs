//! What was held is given back exactly once.

use super::fixture::{SHOW, Stage, order_no, wish, zoned};
use app::domain::{ids::SeatIndex, seat::SeatState};
use futures::future::join_all;
use server::redis::{
    keys::ShowKey,
    scripts::{ConfirmReply, ReleaseReply},
};

fn released(seats: &[u32]) -> ReleaseReply {
    ReleaseReply::Released {
        seats: seats.iter().copied().map(SeatIndex).collect(),
    }
}

#[tokio::test]
async fn release_gives_each_zone_its_own_seats() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[0, 60, 61, 99])).await;
    assert_eq!(stage.remaining().await, [49, 38, 9]);
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        released(&[0, 60, 61, 99])
    );
    assert_eq!(stage.remaining().await, [50, 40, 10]);
}

#[tokio::test]
async fn release_leaves_nothing_behind_but_the_story() {
    let stage = Stage::open().await;
    let before = stage.dump();
    stage.held(&wish(1, &[4, 55])).await;
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    let mut after = stage.dump();
    after
        .remove(
            &stage
                .redis
                .keys()
                .idempotency(SHOW, wish(1, &[]).user, "key-1"),
        )
        .unwrap();
    after
        .remove(&stage.redis.keys().guard(SHOW, wish(1, &[]).user))
        .unwrap();
    after.remove(&stage.key(ShowKey::Changes)).unwrap();
    let version: u64 = stage.raw(&["GET", &stage.key(ShowKey::Version)]);
    assert_eq!(version, 4);
    let names = |dump: &super::fixture::Dump| dump.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&after), names(&before));
    assert_eq!(stage.remaining().await, [50, 40, 10]);
    assert!(
        stage
            .map()
            .await
            .states()
            .all(|state| state == SeatState::Available)
    );
}

#[tokio::test]
async fn release_twice_gives_back_once() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4])).await;
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        released(&[4])
    );
    let before = stage.dump();
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        ReleaseReply::Nothing
    );
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn twenty_releases_at_once_give_back_once() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4, 5])).await;
    let replies = join_all((0..20).map(|_| stage.redis.release(SHOW, order_no(1)))).await;
    let given: Vec<_> = replies
        .into_iter()
        .map(Result::unwrap)
        .filter(|reply| *reply != ReleaseReply::Nothing)
        .collect();
    assert_eq!(given, [released(&[4, 5])]);
    assert_eq!(stage.remaining().await, [50, 40, 10]);
}

#[tokio::test]
async fn a_seat_given_back_can_be_held_by_another_and_stays_theirs() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4])).await;
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    stage.held(&wish(2, &[4])).await;
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        ReleaseReply::Nothing
    );
    assert_eq!(stage.state(4).await, SeatState::Locked);
}

#[tokio::test]
async fn a_sold_seat_is_not_released() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4, 55])).await;
    let record: String = stage.raw(&["HGET", &stage.key(ShowKey::Holds), &order_no(1).to_string()]);
    let confirmed = stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[4, 55]))
        .await
        .unwrap();
    assert_eq!(confirmed, ConfirmReply::Confirmed { changed: 2 });
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        ReleaseReply::Nothing
    );

    // Even a record that came back by mistake must not free what is paid for.
    let number = order_no(1).to_string();
    let _: () = stage.raw(&["HSET", &stage.key(ShowKey::Holds), &number, &record]);
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        released(&[])
    );
    assert_eq!(stage.state(4).await, SeatState::Sold);
    assert_eq!(stage.remaining().await, [49, 39, 10]);
    assert_eq!(stage.bought(), [("u:1".to_owned(), 2)].into());
    assert_eq!(stage.redis.owners(SHOW).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_seat_of_another_order_is_not_released() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4, 5])).await;
    stage.held(&wish(2, &[6])).await;
    // As if seat 5 had gone over to order 2 after its lock was lost.
    let number = order_no(2).to_string();
    let _: () = stage.raw(&["HSET", &stage.key(ShowKey::Owners), "5", &number]);
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        released(&[4])
    );
    assert_eq!(stage.state(5).await, SeatState::Locked);
    assert_eq!(stage.remaining().await, [48, 40, 10]);
    // One of the two seats was given back, so one is still counted.
    assert_eq!(
        stage.bought(),
        [("u:1".to_owned(), 1), ("u:2".to_owned(), 1)].into()
    );
}

#[tokio::test]
async fn an_unknown_order_has_nothing_to_give_back() {
    let stage = Stage::open().await;
    let before = stage.dump();
    assert_eq!(
        stage.redis.release(SHOW, order_no(9)).await.unwrap(),
        ReleaseReply::Nothing
    );
    assert_eq!(stage.dump(), before);
}
