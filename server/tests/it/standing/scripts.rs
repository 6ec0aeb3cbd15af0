//! What each script does to a piece of a standing zone, and what it leaves alone.

use super::fixture::{EPOCH, NOW, PIECE, PieceStage, load, order_no, take};
use futures::future::join_all;
use server::redis::{
    RedisError,
    keys::PieceKey,
    scripts::{
        GiveStandingReply, GiveWhy, LoadReply, LoadStanding, SellStanding, SellStandingReply,
        SetCapacityReply, TakeStanding, TakeStandingReply,
    },
    standing::{PlaceState, TakenPlaces},
};

fn sell(order: u16, quantity: u32, state: PlaceState) -> SellStanding {
    SellStanding {
        piece: PIECE,
        order_no: order_no(order),
        now: NOW,
        quantity,
        state,
    }
}

fn taken(quantity: u32, state: PlaceState) -> TakenPlaces {
    TakenPlaces {
        quantity,
        state,
        created: NOW,
    }
}

#[tokio::test]
async fn places_are_taken_whole_or_not_at_all_unless_less_is_worth_it() {
    let stage = PieceStage::open(5).await;
    let got = stage.take(1, 3, 3).await;
    assert_eq!(
        got,
        TakeStandingReply::Taken {
            quantity: 3,
            left: 2
        }
    );
    let before = stage.dump();
    assert_eq!(
        stage.take(2, 3, 3).await,
        TakeStandingReply::Short { left: 2 }
    );
    assert_eq!(stage.dump(), before, "a refusal changes nothing");
    let got = stage.take(2, 3, 1).await;
    assert_eq!(
        got,
        TakeStandingReply::Taken {
            quantity: 2,
            left: 0
        }
    );
    assert_eq!(
        stage.take(3, 1, 1).await,
        TakeStandingReply::Short { left: 0 }
    );
    assert_eq!(stage.counts().await, (5, 0, 0));
}

#[tokio::test]
async fn taking_twice_takes_once() {
    let stage = PieceStage::open(5).await;
    stage.take(1, 2, 2).await;
    let before = stage.dump();
    assert_eq!(
        stage.take(1, 2, 2).await,
        TakeStandingReply::Repeated { quantity: 2 }
    );
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn a_hundred_at_once_take_exactly_what_there_is() {
    let stage = PieceStage::open(40).await;
    let replies = join_all((0..100).map(|order| stage.take(order, 1, 1))).await;
    let got = replies
        .iter()
        .filter(|reply| matches!(reply, TakeStandingReply::Taken { .. }))
        .count();
    assert_eq!(got, 40);
    assert_eq!(stage.counts().await, (40, 0, 0));
    assert_eq!(stage.taken().await.len(), 40);
}

#[tokio::test]
async fn twenty_reversals_at_once_give_back_once() {
    let stage = PieceStage::open(10).await;
    stage.take(1, 3, 3).await;
    stage.take(2, 2, 2).await;
    let replies = join_all((0..20).map(|_| stage.give(1, 0))).await;
    let given = GiveStandingReply::Given { quantity: 3 };
    assert_eq!(replies.iter().filter(|reply| **reply == given).count(), 1);
    let nothing = |reply: &&GiveStandingReply| **reply == GiveStandingReply::Nothing;
    assert_eq!(replies.iter().filter(nothing).count(), 19);
    assert_eq!(
        stage.counts().await,
        (2, 0, 8),
        "the other order keeps its own"
    );
}

#[tokio::test]
async fn an_order_gives_back_down_to_what_it_keeps_and_no_further() {
    let stage = PieceStage::open(10).await;
    stage.take(1, 4, 4).await;
    assert_eq!(
        stage.give(1, 1).await,
        GiveStandingReply::Given { quantity: 3 }
    );
    assert_eq!(stage.give(1, 1).await, GiveStandingReply::Nothing);
    assert_eq!(stage.give(1, 5).await, GiveStandingReply::Nothing);
    assert_eq!(
        stage.taken().await[&order_no(1)],
        taken(1, PlaceState::Locked)
    );
    assert_eq!(
        stage.give(2, 0).await,
        GiveStandingReply::Nothing,
        "nobody's"
    );
    assert_eq!(stage.counts().await, (1, 0, 9));
}

#[tokio::test]
async fn sold_places_count_as_sold_and_go_back_from_there() {
    let stage = PieceStage::open(10).await;
    stage.take(1, 4, 4).await;
    let sold = sell(1, 4, PlaceState::Sold);
    let reply = stage.redis.sell_standing(&sold).await.unwrap();
    assert_eq!(reply, SellStandingReply::Written { change: 0 });
    assert_eq!(stage.counts().await, (0, 4, 6));
    let before = stage.dump();
    let again = stage.redis.sell_standing(&sold).await.unwrap();
    assert_eq!(again, SellStandingReply::AsIs);
    let back = sell(1, 4, PlaceState::Locked);
    let locked = stage.redis.sell_standing(&back).await.unwrap();
    assert_eq!(
        locked,
        SellStandingReply::AsIs,
        "nothing sold is locked again"
    );
    assert_eq!(stage.dump(), before);
    assert_eq!(
        stage.give(1, 0).await,
        GiveStandingReply::Given { quantity: 4 }
    );
    assert_eq!(stage.counts().await, (0, 0, 10));
}

#[tokio::test]
async fn what_the_database_has_given_is_written_even_beyond_the_total() {
    let stage = PieceStage::open(3).await;
    stage.take(1, 2, 2).await;
    let lost = sell(2, 2, PlaceState::Locked);
    let reply = stage.redis.sell_standing(&lost).await.unwrap();
    assert_eq!(reply, SellStandingReply::Written { change: 2 });
    assert_eq!(stage.counts().await, (4, 0, 0));
    assert_eq!(
        stage.take(3, 1, 1).await,
        TakeStandingReply::Short { left: 0 }
    );
    stage.give(1, 0).await;
    assert_eq!(stage.counts().await, (2, 0, 1));
}

#[tokio::test]
async fn a_piece_in_use_is_not_loaded_again_and_a_lost_one_comes_back_with_its_orders() {
    let stage = PieceStage::open(10).await;
    stage.take(1, 4, 4).await;
    let before = stage.dump();
    let reply = stage.redis.load_standing(&load(99, &[])).await.unwrap();
    assert_eq!(reply, LoadReply::AlreadyPresent { epoch: EPOCH });
    assert_eq!(stage.dump(), before);
    stage.redis.forget_piece(PIECE).await.unwrap();
    assert_eq!(stage.redis.places(&[PIECE]).await.unwrap(), [None]);
    let orders = [
        (1, taken(4, PlaceState::Locked)),
        (2, taken(3, PlaceState::Sold)),
    ];
    let reply = stage.redis.load_standing(&load(10, &orders)).await.unwrap();
    assert_eq!(reply, LoadReply::Loaded);
    assert_eq!(stage.counts().await, (4, 3, 3));
    let over = LoadStanding {
        epoch: EPOCH + 1,
        replaces: Some(EPOCH),
        ..load(20, &[])
    };
    assert_eq!(
        stage.redis.load_standing(&over).await.unwrap(),
        LoadReply::Loaded
    );
    assert_eq!(stage.counts().await, (0, 0, 20));
}

#[tokio::test]
async fn a_piece_with_thousands_of_orders_is_loaded_whole() {
    let stage = PieceStage::empty().await;
    let orders: Vec<(u16, TakenPlaces)> = (0..1_000)
        .map(|order| (order, taken(2, PlaceState::Sold)))
        .collect();
    let mut big = load(12_000, &orders);
    // Order numbers of later milliseconds.
    let later = (1..5).flat_map(|ms| {
        (0..1_000).map(move |order| {
            let number = app::domain::ids::OrderNo::from_parts(
                NOW.0 + ms,
                1,
                order,
                app::domain::ids::UserId(5),
            );
            (number.unwrap(), taken(2, PlaceState::Locked))
        })
    });
    big.taken.extend(later);
    assert_eq!(
        stage.redis.load_standing(&big).await.unwrap(),
        LoadReply::Loaded
    );
    assert_eq!(stage.counts().await, (8_000, 2_000, 2_000));
    assert_eq!(stage.taken().await.len(), 5_000);
}

#[tokio::test]
async fn a_capacity_below_what_is_taken_is_refused_with_the_numbers() {
    let stage = PieceStage::open(10).await;
    stage.take(1, 4, 4).await;
    stage.take(2, 3, 3).await;
    let sold = sell(2, 3, PlaceState::Sold);
    stage.redis.sell_standing(&sold).await.unwrap();
    let before = stage.dump();
    let reply = stage.redis.set_standing_capacity(PIECE, 6).await.unwrap();
    assert_eq!(reply, SetCapacityReply::Below { locked: 4, sold: 3 });
    assert_eq!(stage.dump(), before);
    let reply = stage.redis.set_standing_capacity(PIECE, 7).await.unwrap();
    assert_eq!(reply, SetCapacityReply::Set);
    assert_eq!(stage.counts().await, (4, 3, 0));
}

#[tokio::test]
async fn setting_the_capacity_counts_what_is_taken_anew() {
    let stage = PieceStage::open(10).await;
    stage.take(1, 4, 4).await;
    let places = stage.redis.keys().piece(PIECE, PieceKey::Places);
    let _: i64 = stage.raw(&["HINCRBY", &places, "locked", "3"]);
    let reply = stage.redis.set_standing_capacity(PIECE, 10).await.unwrap();
    assert_eq!(reply, SetCapacityReply::Set);
    assert_eq!(stage.counts().await, (4, 0, 6));
}

#[tokio::test]
async fn a_missing_piece_answers_rebuild_to_everything_and_stays_missing() {
    let stage = PieceStage::empty().await;
    assert_eq!(stage.take(1, 1, 1).await, TakeStandingReply::Rebuild);
    assert_eq!(stage.give(1, 0).await, GiveStandingReply::Rebuild);
    let sold = sell(1, 1, PlaceState::Sold);
    let reply = stage.redis.sell_standing(&sold).await.unwrap();
    assert_eq!(reply, SellStandingReply::Rebuild);
    let reply = stage.redis.set_standing_capacity(PIECE, 5).await.unwrap();
    assert_eq!(reply, SetCapacityReply::Rebuild);
    assert!(stage.redis.piece_snapshot(PIECE).await.unwrap().is_none());
    assert!(stage.dump().is_empty());
}

#[tokio::test]
async fn wrong_arguments_change_nothing() {
    let stage = PieceStage::open(5).await;
    stage.take(1, 2, 2).await;
    let before = stage.dump();
    for (quantity, least) in [(0, 0), (2, 0), (2, 3)] {
        let wrong: TakeStanding = take(2, quantity, least);
        let reply = stage.redis.take_standing(&wrong).await;
        assert!(matches!(reply, Err(RedisError::Protocol(_))), "{reply:?}");
    }
    let reply = stage
        .redis
        .sell_standing(&sell(1, 0, PlaceState::Sold))
        .await;
    assert!(matches!(reply, Err(RedisError::Protocol(_))), "{reply:?}");
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn every_change_of_what_is_left_is_logged_and_nothing_else() {
    let stage = PieceStage::open(10).await;
    stage.take(1, 4, 4).await;
    stage.take(1, 4, 4).await;
    stage.take(2, 9, 9).await;
    stage
        .redis
        .sell_standing(&sell(1, 4, PlaceState::Sold))
        .await
        .unwrap();
    stage
        .redis
        .sell_standing(&sell(3, 1, PlaceState::Locked))
        .await
        .unwrap();
    stage
        .redis
        .give_standing(PIECE, order_no(1), 1, GiveWhy::Refund)
        .await
        .unwrap();
    stage.redis.set_standing_capacity(PIECE, 12).await.unwrap();
    stage.redis.set_standing_capacity(PIECE, 12).await.unwrap();
    let said: Vec<(String, i64, String)> = stage.log();
    let said: Vec<(&str, i64, &str)> = said
        .iter()
        .map(|(before, after, why)| (before.as_str(), *after, why.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            ("", 10, "load"),
            ("10", 6, "hold"),
            ("6", 5, "repair"),
            ("5", 8, "refund"),
            ("8", 10, "capacity"),
        ]
    );
}
