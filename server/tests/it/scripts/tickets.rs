//! Tickets are counted by everybody whom they are for, and tickets without a seat as well.

use super::fixture::{NOW, SHOW, Stage, order_no, show, wish, zoned};
use app::domain::{hold::LimitedBy, ids::UserId};
use server::redis::{
    HeldSeat, HoldRecord, attendee_field,
    keys::ShowKey,
    scripts::{
        ConfirmReply, Counters, Freed, HoldCommand, HoldReply, LoadShow, ReleaseReply,
        RestoreReply, SetCountersReply,
    },
};
use std::collections::BTreeMap;

fn for_whom(seats: &[u32], attendees: &[&str]) -> Vec<HeldSeat> {
    let named = zoned(seats).into_iter().zip(attendees);
    let held = named.map(|(held, name)| HeldSeat {
        attendee: Some(attendee_field(name)),
        ..held
    });
    held.collect()
}

fn named(number: u16, seats: &[u32], attendees: &[&str]) -> HoldCommand {
    HoldCommand {
        seats: for_whom(seats, attendees),
        ..wish(number, seats)
    }
}

fn standing(number: u16, tickets: &[Option<&str>]) -> HoldCommand {
    HoldCommand {
        standing: tickets
            .iter()
            .map(|attendee| attendee.map(attendee_field))
            .collect(),
        ..wish(number, &[])
    }
}

fn counted(counters: &[(&str, u32)]) -> BTreeMap<String, u32> {
    let pairs = counters
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    pairs.collect()
}

#[tokio::test]
async fn each_attendee_is_counted_by_the_own_tickets_and_each_buyer_by_all() {
    let stage = Stage::open().await;
    stage
        .held(&named(1, &[4, 55, 6], &["ann", "bob", "ann"]))
        .await;
    let after = counted(&[("u:1", 3), ("a:ann", 2), ("a:bob", 1)]);
    assert_eq!(stage.bought(), after);
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    assert_eq!(stage.bought(), BTreeMap::new());
}

#[tokio::test]
async fn an_attendee_with_too_many_tickets_is_named_whoever_buys_and_nothing_changes() {
    let mut load = show();
    load.meta.limit = 2;
    let stage = Stage::with(load).await;
    stage.held(&named(1, &[1, 2], &["ann", "bob"])).await;
    stage.held(&named(2, &[3], &["ann"])).await;
    let before = stage.dump();
    let reply = stage
        .redis
        .hold(&named(3, &[5, 6], &["cid", "ann"]))
        .await
        .unwrap();
    let reached = HoldReply::LimitReached {
        counter: "a:ann".to_owned(),
        limit: 2,
        have: 2,
    };
    assert_eq!(reply, reached);
    assert_eq!(stage.dump(), before);
    // Two tickets for one person in one order count as two.
    let reply = stage
        .redis
        .hold(&named(4, &[7, 8], &["bob", "bob"]))
        .await
        .unwrap();
    assert!(
        matches!(reply, HoldReply::LimitReached { have: 1, .. }),
        "{reply:?}"
    );
}

#[tokio::test]
async fn an_order_over_two_zones_gives_each_zone_back_its_own_count_and_each_attendee_the_own_ticket()
 {
    let stage = Stage::open().await;
    stage
        .held(&named(1, &[1, 2, 60], &["ann", "bob", "cid"]))
        .await;
    stage.held(&named(2, &[3], &["ann"])).await;
    assert_eq!(stage.remaining().await, [47, 39, 10]);
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    assert_eq!(stage.remaining().await, [49, 40, 10]);
    assert_eq!(stage.bought(), counted(&[("u:2", 1), ("a:ann", 1)]));
}

#[tokio::test]
async fn a_ticket_without_a_seat_is_counted_and_touches_no_seat() {
    let stage = Stage::open().await;
    let map = stage.map().await;
    stage.held(&standing(1, &[None, Some("ann")])).await;
    assert_eq!(stage.map().await, map);
    assert_eq!(stage.remaining().await, [50, 40, 10]);
    assert_eq!(stage.bought(), counted(&[("u:1", 2), ("a:ann", 1)]));
    let repeat = stage.redis.hold(&standing(1, &[None, Some("ann")])).await;
    assert_eq!(repeat.unwrap(), HoldReply::Repeated(order_no(1)));

    let reply = stage.redis.release(SHOW, order_no(1)).await.unwrap();
    assert_eq!(reply, ReleaseReply::Released { seats: Vec::new() });
    assert_eq!(stage.bought(), BTreeMap::new());
    let again = stage.redis.release(SHOW, order_no(1)).await.unwrap();
    assert_eq!(again, ReleaseReply::Nothing);
    let listed: u32 = stage.raw(&["HLEN", &stage.key(ShowKey::Standing)]);
    assert_eq!(listed, 0);
}

#[tokio::test]
async fn tickets_with_and_without_a_seat_reach_the_limit_together() {
    let stage = Stage::open().await;
    let mixed = HoldCommand {
        standing: vec![None, None],
        ..wish(1, &[1, 2, 3])
    };
    let before = stage.dump();
    let reply = stage.redis.hold(&mixed).await.unwrap();
    assert!(
        matches!(
            reply,
            HoldReply::LimitReached {
                limit: 4,
                have: 0,
                ..
            }
        ),
        "{reply:?}"
    );
    assert_eq!(stage.dump(), before);
    let four = HoldCommand {
        seats: zoned(&[1, 2]),
        ..mixed
    };
    stage.held(&four).await;
    assert_eq!(stage.bought(), counted(&[("u:1", 4)]));
}

#[tokio::test]
async fn a_sold_ticket_without_a_seat_stays_counted_until_it_is_given_back_once() {
    let stage = Stage::open().await;
    let mixed = HoldCommand {
        standing: vec![Some(attendee_field("ann"))],
        ..named(1, &[1], &["bob"])
    };
    stage.held(&mixed).await;
    let confirmed = stage.redis.confirm(SHOW, order_no(1), &zoned(&[1])).await;
    assert_eq!(confirmed.unwrap(), ConfirmReply::Confirmed { changed: 1 });
    let sold = counted(&[("u:1", 2), ("a:ann", 1), ("a:bob", 1)]);
    assert_eq!(stage.bought(), sold);

    let freed = |seats: &[HeldSeat], with_standing| Freed {
        seats: seats.to_vec(),
        with_standing,
        standing_kept: Vec::new(),
        limits: vec!["u:1".to_owned()],
    };
    let seat_only = freed(&for_whom(&[1], &["bob"]), false);
    stage
        .redis
        .free_sold(SHOW, order_no(1), &seat_only)
        .await
        .unwrap();
    assert_eq!(stage.bought(), counted(&[("u:1", 1), ("a:ann", 1)]));
    let rest = freed(&[], true);
    stage
        .redis
        .free_sold(SHOW, order_no(1), &rest)
        .await
        .unwrap();
    assert_eq!(stage.bought(), BTreeMap::new());
    let before = stage.dump();
    stage
        .redis
        .free_sold(SHOW, order_no(1), &rest)
        .await
        .unwrap();
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn of_tickets_without_a_seat_the_order_keeps_those_that_are_named() {
    let stage = Stage::open().await;
    let bob = Some(attendee_field("bob"));
    let tickets = [None, Some("ann"), None, Some("bob")];
    stage.held(&standing(1, &tickets)).await;
    stage.redis.confirm(SHOW, order_no(1), &[]).await.unwrap();
    let freed = |kept: &[Option<String>]| Freed {
        seats: Vec::new(),
        with_standing: true,
        standing_kept: kept.to_vec(),
        limits: vec!["u:1".to_owned()],
    };
    let two = freed(&[None, bob.clone()]);
    let before = stage.redis.snapshot(SHOW).await.unwrap().unwrap().at();
    stage
        .redis
        .free_sold(SHOW, order_no(1), &two)
        .await
        .unwrap();
    assert_eq!(stage.bought(), counted(&[("u:1", 2), ("a:bob", 1)]));
    let now = stage.redis.snapshot(SHOW).await.unwrap().unwrap();
    assert_eq!(now.standing[&order_no(1)], [None, bob.clone()]);
    assert_eq!(now.at().standing_version, before.standing_version + 1);

    let dump = stage.dump();
    stage
        .redis
        .free_sold(SHOW, order_no(1), &two)
        .await
        .unwrap();
    assert_eq!(stage.dump(), dump, "a repeat gives nothing back twice");
    stage
        .redis
        .free_sold(SHOW, order_no(1), &freed(&[bob]))
        .await
        .unwrap();
    assert_eq!(stage.bought(), counted(&[("u:1", 1), ("a:bob", 1)]));
    stage
        .redis
        .free_sold(SHOW, order_no(1), &freed(&[]))
        .await
        .unwrap();
    assert_eq!(stage.bought(), BTreeMap::new());
}

#[tokio::test]
async fn an_order_without_seats_is_confirmed_by_ending_its_hold() {
    let stage = Stage::open().await;
    stage.held(&standing(1, &[None])).await;
    let reply = stage.redis.confirm(SHOW, order_no(1), &[]).await.unwrap();
    assert_eq!(reply, ConfirmReply::Confirmed { changed: 0 });
    let record = stage.redis.hold_record(SHOW, order_no(1)).await.unwrap();
    assert_eq!(record, None);
    assert_eq!(stage.bought(), counted(&[("u:1", 1)]));
}

#[tokio::test]
async fn what_redis_lost_of_tickets_is_counted_again_once() {
    let stage = Stage::open().await;
    let record = HoldRecord {
        user: UserId(1),
        created: NOW,
        seats: for_whom(&[4], &["ann"]),
        standing: vec![None, Some(attendee_field("ann"))],
        limits: vec!["u:1".to_owned()],
        message: String::new(),
    };
    let reply = stage
        .redis
        .restore(SHOW, order_no(1), &record)
        .await
        .unwrap();
    assert_eq!(reply, RestoreReply::Restored { changed: 3 });
    let all = counted(&[("u:1", 3), ("a:ann", 2)]);
    assert_eq!(stage.bought(), all);
    let before = stage.dump();
    let reply = stage
        .redis
        .restore(SHOW, order_no(1), &record)
        .await
        .unwrap();
    assert_eq!(reply, RestoreReply::Restored { changed: 0 });
    assert_eq!(stage.dump(), before);
    stage.redis.release(SHOW, order_no(1)).await.unwrap();
    assert_eq!(stage.bought(), BTreeMap::new());
}

#[tokio::test]
async fn loaded_tickets_without_a_seat_are_given_back_like_held_ones() {
    let load = LoadShow {
        bought: vec![("u:1".to_owned(), 2), ("a:ann".to_owned(), 1)],
        standing: vec![(order_no(1), vec![None, Some(attendee_field("ann"))])],
        ..show()
    };
    let stage = Stage::with(load).await;
    let snapshot = stage.redis.snapshot(SHOW).await.unwrap().unwrap();
    assert_eq!(snapshot.standing[&order_no(1)].len(), 2);
    assert_eq!(snapshot.at().standing_version, 0);
    let all = Freed {
        with_standing: true,
        limits: vec!["u:1".to_owned()],
        ..Freed::default()
    };
    stage
        .redis
        .free_sold(SHOW, order_no(1), &all)
        .await
        .unwrap();
    assert_eq!(stage.bought(), BTreeMap::new());
}

#[tokio::test]
async fn a_count_is_void_once_a_ticket_without_a_seat_has_changed() {
    let stage = Stage::open().await;
    let at = stage.redis.snapshot(SHOW).await.unwrap().unwrap().at();
    stage.held(&standing(1, &[None])).await;
    let before = stage.dump();
    let nothing = Counters::default();
    let reply = stage.redis.set_counters(SHOW, at, &nothing).await.unwrap();
    assert_eq!(reply, SetCountersReply::Moved);
    assert_eq!(stage.dump(), before);
    let now = stage.redis.snapshot(SHOW).await.unwrap().unwrap().at();
    let reply = stage.redis.set_counters(SHOW, now, &nothing).await.unwrap();
    assert_eq!(reply, SetCountersReply::Set);
    assert_eq!(stage.bought(), BTreeMap::new());
}

#[tokio::test]
async fn many_buyers_of_one_attendee_at_once_never_exceed_the_limit() {
    let mut load = show();
    load.meta.limit = 2;
    let stage = Stage::with(load).await;
    let wishes: Vec<HoldCommand> = (0..50_u16)
        .map(|number| HoldCommand {
            limits: vec![(LimitedBy::User, number.to_string())],
            ..named(number, &[u32::from(number)], &["ann"])
        })
        .collect();
    let replies = futures::future::join_all(wishes.iter().map(|wish| stage.redis.hold(wish))).await;
    let held = replies
        .iter()
        .filter(|reply| matches!(reply, Ok(HoldReply::Held { .. })));
    assert_eq!(held.count(), 2);
    assert_eq!(stage.bought()["a:ann"], 2);
}
