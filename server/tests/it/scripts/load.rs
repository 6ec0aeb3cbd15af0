//! A show's keys come from the database.

use super::fixture::{EPOCH, NOW, SHOW, Stage, ZONES, order_no, show, wish, zoned};
use app::domain::{ids::SeatIndex, seat::SeatState};
use server::redis::{
    HoldRecord,
    scripts::{ConfirmReply, LoadReply, LoadShow, LoadedSeat, ReleaseReply, ShowMeta},
};

/// Seat 4 held by order 1, seat 55 sold to order 2, seat 99 withheld.
fn used_show() -> LoadShow {
    let seat = |seat, state, order_no| LoadedSeat {
        seat: SeatIndex(seat),
        state,
        order_no,
    };
    let record = HoldRecord {
        user: wish(1, &[]).user,
        created: NOW,
        seats: zoned(&[4]),
        standing: Vec::new(),
        limits: vec!["u:1".to_owned()],
        message: "{}".to_owned(),
    };
    LoadShow {
        seats: vec![
            seat(4, SeatState::Locked, Some(order_no(1))),
            seat(55, SeatState::Sold, Some(order_no(2))),
            seat(99, SeatState::Blocked, None),
        ],
        zones: ZONES.into_iter().zip([49, 39, 9]).collect(),
        bought: vec![("u:1".to_owned(), 1), ("u:2".to_owned(), 1)],
        holds: vec![(order_no(1), record)],
        ..show()
    }
}

#[tokio::test]
async fn what_is_loaded_is_what_the_scripts_find() {
    let stage = Stage::with(used_show()).await;
    assert_eq!(
        stage.redis.show_meta(SHOW).await.unwrap(),
        Some(used_show().meta)
    );
    let map = stage.map().await;
    assert_eq!((map.at.epoch, map.at.version, map.seats), (EPOCH, 0, 100));
    let states = [4, 55, 99, 0].map(|seat| map.state(SeatIndex(seat)));
    assert_eq!(
        states,
        [
            SeatState::Locked,
            SeatState::Sold,
            SeatState::Blocked,
            SeatState::Available
        ]
    );
    let owners = stage.redis.owners(SHOW).await.unwrap();
    assert_eq!(
        owners,
        [(SeatIndex(4), order_no(1)), (SeatIndex(55), order_no(2))].into()
    );
    assert_eq!(stage.remaining().await, [49, 39, 9]);
    assert_eq!(
        stage.bought(),
        [("u:1".to_owned(), 1), ("u:2".to_owned(), 1)].into()
    );

    let reply = stage.redis.release(SHOW, order_no(1)).await.unwrap();
    assert_eq!(
        reply,
        ReleaseReply::Released {
            seats: vec![SeatIndex(4)]
        }
    );
    let reply = stage
        .redis
        .confirm(SHOW, order_no(2), &zoned(&[55]))
        .await
        .unwrap();
    assert_eq!(reply, ConfirmReply::Confirmed { changed: 0 });
}

#[tokio::test]
async fn a_loaded_show_is_not_loaded_again() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[7])).await;
    let before = stage.dump();
    let later = LoadShow {
        meta: ShowMeta {
            epoch: EPOCH + 1,
            ..show().meta
        },
        ..used_show()
    };
    let present = LoadReply::AlreadyPresent { epoch: EPOCH };
    for replaces in [None, Some(EPOCH + 1), Some(0)] {
        let load = LoadShow {
            replaces,
            ..later.clone()
        };
        assert_eq!(stage.redis.load(&load).await.unwrap(), present);
    }
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn a_show_whose_epoch_is_named_is_replaced_whole() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[7])).await;
    stage.held(&wish(2, &[8])).await;
    let meta = ShowMeta {
        epoch: EPOCH + 1,
        ..show().meta
    };
    let load = LoadShow {
        meta,
        replaces: Some(EPOCH),
        ..show()
    };
    assert_eq!(stage.redis.load(&load).await.unwrap(), LoadReply::Loaded);
    let map = stage.map().await;
    assert_eq!((map.at.epoch, map.at.version), (EPOCH + 1, 0));
    assert!(map.states().all(|state| state == SeatState::Available));
    assert!(stage.redis.owners(SHOW).await.unwrap().is_empty());
    assert!(stage.bought().is_empty());
    assert_eq!(
        stage.redis.hold_record(SHOW, order_no(1)).await.unwrap(),
        None
    );
    // A second caller that saw the old epoch comes too late.
    let again = stage.redis.load(&load).await.unwrap();
    assert_eq!(again, LoadReply::AlreadyPresent { epoch: EPOCH + 1 });
}

#[tokio::test]
async fn of_many_loaders_at_once_one_loads() {
    let stage = Stage::empty().await;
    let loads: Vec<LoadShow> = (0..20)
        .map(|n| LoadShow {
            meta: ShowMeta {
                epoch: EPOCH + n,
                ..show().meta
            },
            ..show()
        })
        .collect();
    let replies = futures::future::join_all(loads.iter().map(|load| stage.redis.load(load))).await;
    let loaded = replies
        .into_iter()
        .filter(|reply| matches!(reply, Ok(LoadReply::Loaded)));
    assert_eq!(loaded.count(), 1);
}

#[tokio::test]
async fn sixty_thousand_seats_load_in_one_step() {
    let seats = (0..60_000)
        .map(|seat| LoadedSeat {
            seat: SeatIndex(seat),
            state: if seat % 2 == 0 {
                SeatState::Sold
            } else {
                SeatState::Locked
            },
            order_no: Some(order_no(u16::try_from(seat % 1000).unwrap())),
        })
        .collect();
    let bought = (0..30_000).map(|user| (format!("u:{user}"), 2)).collect();
    let meta = ShowMeta {
        seats: 60_000,
        ..show().meta
    };
    let stage = Stage::with(LoadShow {
        meta,
        seats,
        bought,
        ..show()
    })
    .await;
    let owners = stage.redis.owners(SHOW).await.unwrap();
    assert_eq!(owners.len(), 60_000);
    assert_eq!(owners[&SeatIndex(59_999)], order_no(999));
    assert_eq!(stage.bought().len(), 30_000);
    let map = stage.map().await;
    assert_eq!(map.bits.len(), 15_000);
    assert_eq!(
        map.states()
            .filter(|state| *state == SeatState::Sold)
            .count(),
        30_000
    );
}
