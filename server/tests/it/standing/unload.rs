//! A piece of a standing zone leaves Redis whole, or not at all while something in it is open.

use super::fixture::{EPOCH, NOW, PIECE, PieceStage, load, order_no};
use server::redis::{
    keys::PieceKey,
    scripts::{
        GiveStandingReply, GiveWhy, LoadReply, SellStanding, TakeStandingReply, UnloadReply,
    },
    standing::{PlaceState, TakenPlaces},
};

async fn unload(stage: &PieceStage, epoch: Option<u32>) -> UnloadReply {
    stage.redis.unload_standing(PIECE, epoch).await.unwrap()
}

fn book(stage: &PieceStage) {
    let key = stage.redis.keys().piece(PIECE, PieceKey::Quantities);
    stage.raw::<u64>(&["XTRIM", &key, "MAXLEN", "0"]);
}

#[tokio::test]
async fn locked_places_and_changes_without_a_book_keep_a_piece() {
    let stage = PieceStage::open(9).await;
    stage.take(1, 3, 3).await;
    book(&stage);
    let before = stage.dump();
    let locked = UnloadReply::Locked { count: 3 };
    assert_eq!(unload(&stage, Some(EPOCH)).await, locked);
    let epoch = UnloadReply::Epoch { epoch: Some(EPOCH) };
    for seen in [None, Some(EPOCH + 1)] {
        assert_eq!(unload(&stage, seen).await, epoch);
    }
    assert_eq!(stage.dump(), before);
    let sell = SellStanding {
        piece: PIECE,
        order_no: order_no(1),
        now: NOW,
        quantity: 3,
        state: PlaceState::Sold,
    };
    stage.redis.sell_standing(&sell).await.unwrap();
    stage.take(2, 1, 1).await;
    stage.give(2, 0).await;
    let before = stage.dump();
    let unbooked = unload(&stage, Some(EPOCH)).await;
    assert!(
        matches!(unbooked, UnloadReply::Unbooked { changes } if changes >= 2),
        "{unbooked:?}"
    );
    assert_eq!(stage.dump(), before);
    book(&stage);
    let gone = unload(&stage, Some(EPOCH)).await;
    assert_eq!(gone, UnloadReply::Unloaded { keys: 3 });
    assert!(stage.dump().is_empty());
}

#[tokio::test]
async fn a_piece_that_left_is_asked_for_again_and_comes_back_as_it_was() {
    let stage = PieceStage::open(9).await;
    let sold = TakenPlaces {
        quantity: 4,
        state: PlaceState::Sold,
        created: NOW,
    };
    book(&stage);
    unload(&stage, Some(EPOCH)).await;
    assert_eq!(stage.take(2, 1, 1).await, TakeStandingReply::Rebuild);
    let given = stage
        .redis
        .give_standing(PIECE, order_no(1), 0, GiveWhy::Refund);
    assert_eq!(given.await.unwrap(), GiveStandingReply::Rebuild);
    let gone = UnloadReply::Epoch { epoch: None };
    assert_eq!(unload(&stage, Some(EPOCH)).await, gone);
    assert_eq!(
        unload(&stage, None).await,
        UnloadReply::Unloaded { keys: 0 }
    );
    assert!(stage.dump().is_empty(), "asking has made nothing");
    let reply = stage.redis.load_standing(&load(9, &[(1, sold)])).await;
    assert_eq!(reply.unwrap(), LoadReply::Loaded);
    assert_eq!(stage.counts().await, (0, 4, 5));
}
