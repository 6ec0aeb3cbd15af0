//! A paid order gets its seats.

use super::fixture::{SHOW, Stage, order_no, show, wish, zoned};
use app::domain::{ids::SeatIndex, seat::SeatState};
use server::redis::{
    HeldSeat,
    keys::ShowKey,
    scripts::{ConfirmReply, LoadShow, LoadedSeat},
};

#[tokio::test]
async fn a_confirmed_seat_is_sold_to_its_order_and_no_longer_held() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4, 55])).await;
    let reply = stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[55, 4]))
        .await
        .unwrap();
    assert_eq!(reply, ConfirmReply::Confirmed { changed: 2 });
    let map = stage.map().await;
    assert_eq!(map.state(SeatIndex(4)), SeatState::Sold);
    assert_eq!(map.state(SeatIndex(55)), SeatState::Sold);
    assert_eq!(map.at.version, 4);
    assert_eq!(
        stage.redis.owners(SHOW).await.unwrap()[&SeatIndex(4)],
        order_no(1)
    );
    assert_eq!(
        stage.redis.hold_record(SHOW, order_no(1)).await.unwrap(),
        None
    );
    let unsent: u32 = stage.raw(&["ZCARD", &stage.key(ShowKey::Unsent)]);
    assert_eq!(unsent, 0);
    assert_eq!(stage.remaining().await, [49, 39, 10]);
}

#[tokio::test]
async fn confirm_twice_changes_once() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4])).await;
    stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[4]))
        .await
        .unwrap();
    let before = stage.dump();
    let reply = stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[4]))
        .await
        .unwrap();
    assert_eq!(reply, ConfirmReply::Confirmed { changed: 0 });
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn confirm_takes_a_lost_lock() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4, 55])).await;
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    let reply = stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[4, 55]))
        .await
        .unwrap();
    assert_eq!(reply, ConfirmReply::Confirmed { changed: 2 });
    assert_eq!(stage.state(55).await, SeatState::Sold);
    assert_eq!(
        stage.redis.owners(SHOW).await.unwrap()[&SeatIndex(55)],
        order_no(1)
    );
    assert_eq!(stage.remaining().await, [49, 39, 10]);
}

#[tokio::test]
async fn confirm_sells_even_where_a_zone_counts_no_places_left() {
    let mut load = show();
    load.zones[0].1 = 0;
    let stage = Stage::with(load).await;
    stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[4]))
        .await
        .unwrap();
    assert_eq!(stage.state(4).await, SeatState::Sold);
    let stored: i64 = stage.raw(&["HGET", &stage.key(ShowKey::Zones), "1"]);
    assert_eq!(stored, -1);
    assert_eq!(stage.remaining().await[0], 0);
}

#[tokio::test]
async fn a_conflict_names_its_seats_and_changes_nothing() {
    let blocked = LoadedSeat {
        seat: SeatIndex(9),
        state: SeatState::Blocked,
        order_no: None,
    };
    let stage = Stage::with(LoadShow {
        seats: vec![blocked],
        ..show()
    })
    .await;
    stage.held(&wish(1, &[4])).await;
    stage.held(&wish(2, &[5])).await;
    stage.held(&wish(3, &[6])).await;
    stage
        .redis
        .confirm(SHOW, order_no(3), &zoned(&[6]))
        .await
        .unwrap();
    let before = stage.dump();
    let claimed = [HeldSeat::from((SeatIndex(100), zoned(&[99])[0].zone))];
    let claimed = [zoned(&[4, 5, 6, 9, 10]), claimed.to_vec()].concat();
    let reply = stage
        .redis
        .confirm(SHOW, order_no(1), &claimed)
        .await
        .unwrap();
    let seats = [5, 6, 9, 100].map(SeatIndex).to_vec();
    assert_eq!(reply, ConfirmReply::Conflict { seats });
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn without_its_meta_a_show_is_not_confirmed_and_nothing_changes() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4])).await;
    let _: () = stage.raw(&["DEL", &stage.key(ShowKey::Meta)]);
    let before = stage.dump();
    let reply = stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[4]))
        .await
        .unwrap();
    assert_eq!(reply, ConfirmReply::Rebuild);
    assert_eq!(stage.dump(), before);
}
