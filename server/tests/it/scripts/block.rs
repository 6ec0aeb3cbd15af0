//! Staff withhold free seats, and offer them again.

use super::fixture::{SHOW, Stage, order_no, wish, zoned};
use app::domain::{
    hold::Refusal,
    ids::{SeatIndex, ZoneId},
    seat::SeatState,
};
use futures::future::join_all;
use server::redis::{
    keys::ShowKey,
    scripts::{BLOCKED_SEATS_MAX, BlockReply, ConfirmReply, HoldReply},
};

/// Seats with their zones.
fn seats(numbers: &[u32]) -> Vec<(SeatIndex, ZoneId)> {
    let held = zoned(numbers).into_iter();
    held.map(|held| (held.seat, held.zone)).collect()
}

fn done(seats: &[u32]) -> BlockReply {
    BlockReply::Done {
        changed: seats.iter().copied().map(SeatIndex).collect(),
    }
}

fn taken(seats: &[u32]) -> BlockReply {
    BlockReply::Taken {
        seats: seats.iter().copied().map(SeatIndex).collect(),
    }
}

#[tokio::test]
async fn withheld_seats_can_not_be_held_and_each_zone_has_fewer_places() {
    let stage = Stage::open().await;
    let some = seats(&[99, 4, 60]);
    let reply = stage.redis.block(SHOW, &some).await.unwrap();
    assert_eq!(reply, done(&[4, 60, 99]));
    assert_eq!(stage.remaining().await, [49, 39, 9]);
    let refused = stage.redis.hold(&wish(1, &[4, 5])).await.unwrap();
    let refusal = Refusal::SeatsTaken {
        seats: vec![SeatIndex(4)],
    };
    assert_eq!(refused, HoldReply::Refused(refusal));
    let version: u64 = stage.raw(&["GET", &stage.key(ShowKey::Version)]);
    assert_eq!(version, 3, "browsers hear of each seat");
}

#[tokio::test]
async fn offered_seats_can_be_held_again() {
    let stage = Stage::open().await;
    let some = seats(&[4, 60]);
    stage.redis.block(SHOW, &some).await.unwrap();
    assert_eq!(
        stage.redis.unblock(SHOW, &some).await.unwrap(),
        done(&[4, 60])
    );
    assert_eq!(stage.remaining().await, [50, 40, 10]);
    stage.held(&wish(1, &[4, 60])).await;
}

#[tokio::test]
async fn a_repeat_changes_nothing() {
    let stage = Stage::open().await;
    let some = seats(&[4, 60]);
    stage.redis.block(SHOW, &some).await.unwrap();
    let before = stage.dump();
    assert_eq!(stage.redis.block(SHOW, &some).await.unwrap(), done(&[]));
    assert_eq!(stage.dump(), before);
    let more = stage.redis.block(SHOW, &seats(&[4, 5])).await.unwrap();
    assert_eq!(more, done(&[5]), "only what was not so before");
    stage.redis.unblock(SHOW, &seats(&[5])).await.unwrap();
    let before = stage.dump();
    let again = stage.redis.unblock(SHOW, &seats(&[5])).await.unwrap();
    assert_eq!(again, done(&[]));
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn locked_and_sold_seats_are_named_and_nothing_changes() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[4])).await;
    stage.held(&wish(2, &[5])).await;
    let sold = stage
        .redis
        .confirm(SHOW, order_no(2), &zoned(&[5]))
        .await
        .unwrap();
    assert_eq!(sold, ConfirmReply::Confirmed { changed: 1 });
    stage.redis.block(SHOW, &seats(&[7])).await.unwrap();
    let before = stage.dump();
    let some = seats(&[3, 4, 5, 6, 7]);
    assert_eq!(
        stage.redis.block(SHOW, &some).await.unwrap(),
        taken(&[4, 5])
    );
    assert_eq!(
        stage.redis.unblock(SHOW, &some).await.unwrap(),
        taken(&[4, 5])
    );
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn of_a_hold_and_a_block_at_once_one_has_the_seat() {
    let stage = Stage::open().await;
    let seat = seats(&[8]);
    let wishes: Vec<_> = (1..=20).map(|number| wish(number, &[8])).collect();
    let holds = join_all(wishes.iter().map(|wish| stage.redis.hold(wish)));
    let blocks = join_all((0..20).map(|_| stage.redis.block(SHOW, &seat)));
    let (holds, blocks) = futures::future::join(holds, blocks).await;
    let held = |reply: &Result<HoldReply, _>| matches!(reply, Ok(HoldReply::Held { .. }));
    let held = holds.iter().filter(|reply| held(reply)).count();
    let blocked = blocks
        .into_iter()
        .filter(|reply| matches!(reply, Ok(reply) if *reply == done(&[8])))
        .count();
    assert_eq!(held + blocked, 1);
    let expected = if held == 1 {
        SeatState::Locked
    } else {
        SeatState::Blocked
    };
    assert_eq!(stage.state(8).await, expected);
    assert_eq!(stage.remaining().await, [49, 40, 10]);
}

#[tokio::test]
async fn wrong_seats_change_nothing() {
    let stage = Stage::open().await;
    let before = stage.dump();
    let unknown = stage.redis.block(SHOW, &seats(&[99, 100])).await.unwrap();
    assert_eq!(
        unknown,
        BlockReply::Unknown {
            seat: SeatIndex(100)
        }
    );
    assert!(stage.redis.block(SHOW, &[]).await.is_err());
    assert!(stage.redis.block(SHOW, &seats(&[4, 4])).await.is_err());
    let many: Vec<u32> = (0..=u32::try_from(BLOCKED_SEATS_MAX).unwrap()).collect();
    assert!(stage.redis.block(SHOW, &seats(&many)).await.is_err());
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn a_show_that_is_not_loaded_is_to_be_loaded_first() {
    let stage = Stage::empty().await;
    let some = seats(&[4]);
    let reply = stage.redis.block(SHOW, &some).await.unwrap();
    assert_eq!(reply, BlockReply::Rebuild);
    let reply = stage.redis.unblock(SHOW, &some).await.unwrap();
    assert_eq!(reply, BlockReply::Rebuild);
    assert!(stage.dump().is_empty());
}
