//! Readers of the map follow its changes.

use super::fixture::{EPOCH, SHOW, Stage, order_no, wish, zoned};
use app::domain::{
    ids::SeatIndex,
    seat::{MapUpdate, MapVersion, SeatChange, SeatState},
};
use server::redis::{
    keys::ShowKey,
    scripts::{CHANGES_MAX, HoldCommand, SeatsReply},
};

fn at(version: u64) -> MapVersion {
    MapVersion {
        epoch: EPOCH,
        version,
    }
}

async fn update(stage: &Stage, since: MapVersion) -> MapUpdate {
    match stage.redis.seats(SHOW, Some(since)).await.unwrap() {
        SeatsReply::Update(update) => update,
        SeatsReply::Rebuild => panic!("the show is not loaded"),
    }
}

#[tokio::test]
async fn a_reader_gets_what_changed_since_its_version_oldest_first() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[3, 4])).await;
    stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[3, 4]))
        .await
        .unwrap();
    stage.held(&wish(2, &[99])).await;
    stage.redis.release(SHOW, order_no(2)).await.unwrap();
    let change = |seat, state| SeatChange {
        seat: SeatIndex(seat),
        state,
    };
    let all = [
        change(3, SeatState::Locked),
        change(4, SeatState::Locked),
        change(3, SeatState::Sold),
        change(4, SeatState::Sold),
        change(99, SeatState::Locked),
        change(99, SeatState::Available),
    ];
    for since in 0..=6_u64 {
        let changes = all[usize::try_from(since).unwrap()..].to_vec();
        let expected = MapUpdate::Changes { at: at(6), changes };
        assert_eq!(update(&stage, at(since)).await, expected);
    }
}

#[tokio::test]
async fn a_reader_of_another_life_or_from_the_future_gets_the_whole_map() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[3])).await;
    let whole = MapUpdate::Whole(stage.map().await);
    for since in [
        at(2),
        MapVersion {
            epoch: EPOCH - 1,
            version: 1,
        },
        MapVersion::default(),
    ] {
        assert_eq!(update(&stage, since).await, whole);
    }
}

#[tokio::test]
async fn a_reader_far_behind_gets_the_whole_map() {
    let stage = Stage::open().await;
    let seats: Vec<u32> = (0..20).collect();
    let rounds = u16::try_from(CHANGES_MAX / 40 + 1).unwrap();
    for number in 0..rounds {
        let wish = HoldCommand {
            limits: Vec::new(),
            ..wish(number, &seats)
        };
        stage.held(&wish).await;
        stage.redis.release(SHOW, order_no(number)).await.unwrap();
    }
    let kept = || stage.raw::<usize>(&["LLEN", &stage.key(ShowKey::Changes)]);
    assert_eq!(kept(), CHANGES_MAX);
    stage
        .held(&HoldCommand {
            limits: Vec::new(),
            ..wish(rounds, &seats)
        })
        .await;
    assert_eq!(kept(), CHANGES_MAX);
    stage
        .redis
        .confirm(SHOW, order_no(rounds), &zoned(&seats))
        .await
        .unwrap();
    assert_eq!(kept(), CHANGES_MAX);

    let newest = u64::from(rounds + 1) * 40;
    let oldest_kept = newest - u64::try_from(CHANGES_MAX).unwrap();
    let MapUpdate::Changes { changes, .. } = update(&stage, at(oldest_kept)).await else {
        panic!("the log reaches back to {oldest_kept}");
    };
    assert_eq!(changes.len(), CHANGES_MAX);
    assert_eq!(
        update(&stage, at(oldest_kept - 1)).await,
        MapUpdate::Whole(stage.map().await)
    );
}

#[tokio::test]
async fn a_show_that_is_not_loaded_has_no_map() {
    let stage = Stage::empty().await;
    assert_eq!(
        stage.redis.seats(SHOW, None).await.unwrap(),
        SeatsReply::Rebuild
    );
    assert!(stage.dump().is_empty());
}
