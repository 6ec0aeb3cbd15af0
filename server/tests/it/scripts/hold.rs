//! Seats are held all or nothing, by one order at most.

use super::fixture::{Dump, SHOW, Stage, ZONES, order_no, show, wish, zoned};
use app::domain::{
    catalogue::ShowStatus,
    hold::{LimitedBy, Refusal},
    ids::{SeatIndex, UserId, ZoneId},
    seat::SeatState,
    time::Millis,
};
use futures::future::join_all;
use server::redis::{
    RedisError,
    keys::ShowKey,
    limit_field,
    scripts::{HoldCommand, HoldReply, LoadShow, ReleaseReply, ShowMeta},
};

fn refused(refusal: Refusal) -> HoldReply {
    HoldReply::Refused(refusal)
}

#[tokio::test]
async fn a_hold_locks_its_seats_and_counts_them() {
    let stage = Stage::open().await;
    let reply = stage.redis.hold(&wish(1, &[49, 50, 99])).await.unwrap();
    assert_eq!(reply, HoldReply::Held { version: 3 });

    let locked: Vec<u32> = (0..100)
        .zip(stage.map().await.states())
        .filter(|(_, s)| *s == SeatState::Locked)
        .map(|(i, _)| i)
        .collect();
    assert_eq!(locked, [49, 50, 99]);
    let owners = stage.redis.owners(SHOW).await.unwrap();
    assert_eq!(owners.len(), 3);
    assert!(owners.values().all(|owner| *owner == order_no(1)));
    assert_eq!(stage.remaining().await, [49, 39, 9]);
    assert_eq!(stage.bought(), [("u:1".to_owned(), 3)].into());
    let record = stage
        .redis
        .hold_record(SHOW, order_no(1))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(record.user, UserId(1));
    assert_eq!(record.seats, zoned(&[49, 50, 99]));
    assert_eq!(record.message, wish(1, &[]).message);
}

#[tokio::test]
async fn a_held_seat_cannot_be_held_again() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[10, 11])).await;
    let before = stage.dump();
    let reply = stage.redis.hold(&wish(2, &[9, 10, 11, 12])).await.unwrap();
    assert_eq!(
        reply,
        refused(Refusal::SeatsTaken {
            seats: vec![SeatIndex(10), SeatIndex(11)]
        })
    );
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn fifty_callers_for_one_seat_make_one_order() {
    let stage = Stage::open().await;
    let wishes: Vec<HoldCommand> = (1..=50).map(|number| wish(number, &[33])).collect();
    let replies = join_all(wishes.iter().map(|wish| stage.redis.hold(wish))).await;
    let held = replies
        .iter()
        .filter(|reply| matches!(reply, Ok(HoldReply::Held { .. })))
        .count();
    let taken = refused(Refusal::SeatsTaken {
        seats: vec![SeatIndex(33)],
    });
    let lost = replies
        .iter()
        .filter(|reply| matches!(reply, Ok(reply) if *reply == taken))
        .count();
    assert_eq!((held, lost), (1, 49));
    assert_eq!(stage.redis.owners(SHOW).await.unwrap().len(), 1);
    assert_eq!(stage.remaining().await, [49, 40, 10]);
    let unsent = stage
        .redis
        .unsent(SHOW, wishes[0].now + Millis(1), 100)
        .await
        .unwrap();
    assert_eq!(unsent.len(), 1);
}

#[tokio::test]
async fn two_wishes_for_the_same_seats_in_opposite_order_have_one_winner() {
    let stage = Stage::open().await;
    for round in 0..20_u16 {
        let pair = [u32::from(round) * 2, u32::from(round) * 2 + 1];
        let (one, other) = (
            wish(round * 2 + 1, &pair),
            wish(round * 2 + 2, &[pair[1], pair[0]]),
        );
        let (one, other) = tokio::join!(stage.redis.hold(&one), stage.redis.hold(&other));
        let held = [one.unwrap(), other.unwrap()]
            .iter()
            .filter(|reply| matches!(reply, HoldReply::Held { .. }))
            .count();
        assert_eq!(held, 1);
    }
}

async fn refuses(load: LoadShow, wish: HoldCommand, refusal: Refusal) {
    changes_nothing(load, wish, refused(refusal)).await;
}

async fn changes_nothing(load: LoadShow, wish: HoldCommand, reply: HoldReply) {
    let stage = Stage::with(load).await;
    let before = stage.dump();
    assert_eq!(stage.redis.hold(&wish).await.unwrap(), reply);
    assert_eq!(stage.dump(), before);
}

fn show_with(change: impl FnOnce(&mut ShowMeta)) -> LoadShow {
    let mut load = show();
    change(&mut load.meta);
    load
}

#[tokio::test]
async fn a_show_that_is_not_offered_is_refused_and_nothing_changes() {
    for status in [ShowStatus::Draft, ShowStatus::Withdrawn] {
        refuses(
            show_with(|meta| meta.status = status),
            wish(1, &[1]),
            Refusal::NotOnSale,
        )
        .await;
    }
    let late = wish(1, &[1]).now + Millis(1);
    let early = show_with(|meta| meta.sale_start = late);
    refuses(
        early,
        wish(1, &[1]),
        Refusal::SaleNotStarted { starts_at: late },
    )
    .await;
    let over = show_with(|meta| meta.sale_end = wish(1, &[1]).now);
    refuses(over, wish(1, &[1]), Refusal::SaleEnded).await;
    refuses(
        show_with(|meta| meta.level = 3),
        wish(1, &[1]),
        Refusal::LevelRequired { level: 3 },
    )
    .await;
}

#[tokio::test]
async fn a_sale_begins_at_its_very_start() {
    let stage = Stage::with(show_with(|meta| meta.sale_start = wish(1, &[1]).now)).await;
    stage.held(&wish(1, &[1])).await;
}

#[tokio::test]
async fn a_show_marked_as_sold_out_sells_what_was_given_back() {
    let stage = Stage::with(show_with(|meta| meta.status = ShowStatus::SoldOut)).await;
    stage.held(&wish(1, &[1])).await;
}

#[tokio::test]
async fn seats_that_are_not_to_be_had_are_refused_and_nothing_changes() {
    refuses(
        show(),
        wish(1, &[1, 100]),
        Refusal::UnknownSeat {
            seat: SeatIndex(100),
        },
    )
    .await;
    let mut full = show();
    full.zones[1].1 = 1;
    refuses(
        full,
        wish(1, &[1, 50, 51]),
        Refusal::ZoneSoldOut { zone: ZONES[1] },
    )
    .await;
    let unknown = HoldCommand {
        seats: vec![(SeatIndex(1), ZoneId(77)).into()],
        ..wish(1, &[])
    };
    refuses(show(), unknown, Refusal::ZoneSoldOut { zone: ZoneId(77) }).await;
}

#[tokio::test]
async fn each_limit_counts_by_its_own_key_and_a_refusal_changes_nothing() {
    let kinds = [
        LimitedBy::User,
        LimitedBy::Phone,
        LimitedBy::Device,
        LimitedBy::Attendee,
    ];
    for by in kinds {
        let mut load = show();
        load.bought = vec![(format!("{}:same", by.prefix()), 3)];
        let limits = kinds.map(|kind| (kind, "same".to_owned())).to_vec();
        let two = HoldCommand {
            limits,
            ..wish(1, &[1, 2])
        };
        changes_nothing(
            load,
            two,
            HoldReply::LimitReached {
                counter: limit_field(by, "same"),
                limit: 4,
                have: 3,
            },
        )
        .await;
    }
}

#[tokio::test]
async fn a_buyer_reaches_the_limit_over_several_orders_but_not_beyond_it() {
    let stage = Stage::open().await;
    let device = |number, seats: &[u32]| HoldCommand {
        limits: vec![(LimitedBy::Device, "one".to_owned())],
        ..wish(number, seats)
    };
    stage.held(&device(1, &[1, 2])).await;
    stage.held(&device(2, &[3, 4])).await;
    let reply = stage.redis.hold(&device(3, &[5])).await.unwrap();
    let reached = HoldReply::LimitReached {
        counter: "d:one".to_owned(),
        limit: 4,
        have: 4,
    };
    assert_eq!(reply, reached);
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    stage.held(&device(4, &[5, 6])).await;
}

async fn repeats(stage: &Stage, wish: &HoldCommand, before: &Dump) {
    assert_eq!(
        stage.redis.hold(wish).await.unwrap(),
        HoldReply::Repeated(order_no(1))
    );
    assert_eq!(&stage.dump(), before);
}

#[tokio::test]
async fn an_idempotency_key_leads_to_its_first_order_for_good() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[1])).await;
    // What was found for the wish may be other seats by now.
    let again = HoldCommand {
        order_no: order_no(2),
        fingerprint: wish(1, &[1]).fingerprint,
        ..wish(1, &[5])
    };
    repeats(&stage, &again, &stage.dump()).await;
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    repeats(&stage, &again, &stage.dump()).await;
    let another_user = HoldCommand {
        idempotency_key: "key-1".to_owned(),
        ..wish(3, &[1])
    };
    stage.held(&another_user).await;
}

#[tokio::test]
async fn an_idempotency_key_is_refused_for_another_choice() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[1])).await;
    let before = stage.dump();
    let other = HoldCommand {
        order_no: order_no(2),
        ..wish(1, &[5])
    };
    let refusal = Refusal::KeyUsed {
        order_no: order_no(1),
    };
    let reply = stage.redis.hold(&other).await.unwrap();
    assert_eq!(reply, HoldReply::Refused(refusal));
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn an_idempotency_key_that_an_older_version_wrote_leads_to_its_order() {
    let stage = Stage::open().await;
    let key = stage.redis.keys().idempotency(SHOW, UserId(1), "key-1");
    let _: () = stage.raw(&["SET", &key, &order_no(1).to_string()]);
    repeats(&stage, &wish(1, &[5]), &stage.dump()).await;
}

#[tokio::test]
async fn the_same_hold_sent_again_answers_its_own_order() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[1])).await;
    repeats(&stage, &wish(1, &[1]), &stage.dump()).await;
    let without_key = HoldCommand {
        idempotency_key: "another-key".to_owned(),
        fingerprint: "another".to_owned(),
        ..wish(1, &[1])
    };
    repeats(&stage, &without_key, &stage.dump()).await;
}

#[tokio::test]
async fn a_double_click_leads_to_the_order_of_the_first_click() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[1])).await;
    let click = HoldCommand {
        order_no: order_no(2),
        idempotency_key: "second-click".to_owned(),
        ..wish(1, &[1])
    };
    repeats(&stage, &click, &stage.dump()).await;
    let ttl: i64 = stage.raw(&["PTTL", &stage.redis.keys().guard(SHOW, UserId(1))]);
    assert!((1..=30_000).contains(&ttl), "{ttl}");

    let released = ReleaseReply::Released {
        seats: vec![SeatIndex(1)],
    };
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        released
    );
    stage.held(&click).await;
}

#[tokio::test]
async fn another_choice_of_the_same_buyer_is_no_double_click() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[1])).await;
    let other = HoldCommand {
        order_no: order_no(2),
        idempotency_key: "other".to_owned(),
        ..wish(1, &[2])
    };
    stage.held(&other).await;
}

#[tokio::test]
async fn wrong_arguments_are_refused_and_nothing_changes() {
    let stage = Stage::open().await;
    let before = stage.dump();
    for seats in [&[][..], &[3, 3]] {
        let error = stage.redis.hold(&wish(1, seats)).await.unwrap_err();
        assert!(
            matches!(error, RedisError::Protocol(_)),
            "{seats:?}: {error:?}"
        );
    }
    let twice = stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[3, 3]))
        .await;
    assert!(matches!(twice, Err(RedisError::Protocol(_))), "{twice:?}");
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn without_its_meta_a_show_cannot_be_held_and_nothing_changes() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[1])).await;
    let _: () = stage.raw(&["DEL", &stage.key(ShowKey::Meta)]);
    let before = stage.dump();
    assert_eq!(
        stage.redis.hold(&wish(2, &[2])).await.unwrap(),
        HoldReply::Rebuild
    );
    assert_eq!(
        stage.redis.release(SHOW, order_no(1)).await.unwrap(),
        ReleaseReply::Rebuild
    );
    assert_eq!(stage.dump(), before);
}
