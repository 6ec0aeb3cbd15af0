//! What is read and noted without a script.

use super::fixture::{NOW, SHOW, Stage, ZONES, order_no, wish};
use app::domain::{ids::ShowId, time::Millis};
use server::redis::scripts::HoldCommand;

#[tokio::test]
async fn an_order_is_unsent_until_it_is_acknowledged() {
    let stage = Stage::open().await;
    let earlier = HoldCommand {
        now: NOW - Millis(5),
        ..wish(2, &[2])
    };
    stage.held(&wish(1, &[1])).await;
    stage.held(&earlier).await;
    let message = |wish: &HoldCommand| (wish.order_no, wish.message.clone());

    let all = stage.redis.unsent(SHOW, NOW + Millis(1), 10).await.unwrap();
    assert_eq!(all, [message(&earlier), message(&wish(1, &[]))]);
    assert_eq!(
        stage.redis.unsent(SHOW, NOW, 10).await.unwrap(),
        [message(&earlier)]
    );
    assert_eq!(
        stage.redis.unsent(SHOW, NOW + Millis(1), 1).await.unwrap(),
        [message(&earlier)]
    );

    stage
        .redis
        .acknowledge_sent(SHOW, order_no(2))
        .await
        .unwrap();
    stage
        .redis
        .acknowledge_sent(SHOW, order_no(2))
        .await
        .unwrap();
    let left = stage.redis.unsent(SHOW, NOW + Millis(1), 10).await.unwrap();
    assert_eq!(left, [message(&wish(1, &[]))]);
    assert!(
        stage
            .redis
            .hold_record(SHOW, order_no(2))
            .await
            .unwrap()
            .is_some()
    );

    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    assert!(
        stage
            .redis
            .unsent(SHOW, NOW + Millis(1), 10)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn remaining_places_are_told_apart_from_a_show_that_is_not_loaded() {
    let stage = Stage::open().await;
    let remaining = stage
        .redis
        .remaining(&[ShowId(1), SHOW, ShowId(2)])
        .await
        .unwrap();
    let loaded = ZONES.into_iter().zip([50, 40, 10]).collect();
    assert_eq!(remaining, [None, Some(loaded), None]);
    assert!(stage.redis.remaining(&[]).await.unwrap().is_empty());
    assert_eq!(stage.redis.show_meta(ShowId(1)).await.unwrap(), None);
}

#[tokio::test]
async fn loaded_shows_are_noted_once() {
    let stage = Stage::empty().await;
    assert!(stage.redis.loaded_shows().await.unwrap().is_empty());
    for show in [ShowId(u64::MAX), SHOW, SHOW] {
        stage.redis.note_loaded(show).await.unwrap();
    }
    assert_eq!(
        stage.redis.loaded_shows().await.unwrap(),
        [SHOW, ShowId(u64::MAX)]
    );
}
