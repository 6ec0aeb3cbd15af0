//! A show that is over leaves Redis whole, or not at all while something in it is open.

use super::fixture::{EPOCH, NOW, SHOW, Stage, ZONES, order_no, show, wish, zoned};
use app::domain::{
    ids::{OrderNo, SeatIndex, UserId},
    seat::SeatState,
    time::Millis,
};
use futures::future::join_all;
use server::redis::{
    keys::ShowKey,
    scripts::{
        ConfirmReply, HoldReply, LoadReply, LoadShow, LoadedSeat, ReleaseReply, ShowMeta,
        UnloadReply,
    },
};
use std::time::{Duration, Instant};

async fn unload(stage: &Stage, epoch: Option<u32>) -> UnloadReply {
    stage.redis.unload(SHOW, epoch).await.unwrap()
}

/// As if every change of places were in the books.
fn book(stage: &Stage) {
    let key = stage.key(ShowKey::Quantities);
    stage.raw::<u64>(&["XTRIM", &key, "MAXLEN", "0"]);
}

/// Order 1 has bought seats 4 and 60, order 2 has given seat 7 back.
async fn sold_out_of_sight() -> Stage {
    let stage = Stage::open().await;
    for (number, seats) in [(1, &[4, 60][..]), (2, &[7][..])] {
        stage.held(&wish(number, seats)).await;
        stage
            .redis
            .acknowledge_sent(SHOW, order_no(number))
            .await
            .unwrap();
    }
    let sold = stage
        .redis
        .confirm(SHOW, order_no(1), &zoned(&[4, 60]))
        .await
        .unwrap();
    assert_eq!(sold, ConfirmReply::Confirmed { changed: 2 });
    stage.redis.release(SHOW, order_no(2)).await.unwrap();
    stage
}

#[tokio::test]
async fn nothing_of_a_show_is_left_but_answers_that_run_out() {
    let stage = sold_out_of_sight().await;
    book(&stage);
    let UnloadReply::Unloaded { keys } = unload(&stage, Some(EPOCH)).await else {
        panic!("nothing is open")
    };
    assert!(keys >= 7, "{keys} keys");
    let left = stage.dump();
    let answers = left
        .iter()
        .filter(|(key, _)| key.contains(":idem:") || key.contains(":guard:"));
    assert_eq!(answers.count(), 4);
    assert_eq!(left.len(), 4, "{:?}", left.keys());
    assert!(left.values().all(|(_, ends)| *ends > 0), "each runs out");
    // A repeat finds its work done, whether or not it has heard of that.
    let gone = UnloadReply::Epoch { epoch: None };
    assert_eq!(unload(&stage, Some(EPOCH)).await, gone);
    let nothing = UnloadReply::Unloaded { keys: 0 };
    assert_eq!(unload(&stage, None).await, nothing);
    assert_eq!(stage.dump(), left);
}

#[tokio::test]
async fn what_is_open_keeps_a_show_and_is_named() {
    let stage = sold_out_of_sight().await;
    stage.held(&wish(3, &[9])).await;
    book(&stage);
    let mut replies = Vec::new();
    let mut look = async || {
        let before = stage.dump();
        replies.push(unload(&stage, Some(EPOCH)).await);
        assert_eq!(stage.dump(), before, "{replies:?}");
    };
    // An order that is held and not sent; then sent; then its record is lost and its seat is still locked.
    look().await;
    let sent = stage.redis.acknowledge_sent(SHOW, order_no(3));
    sent.await.unwrap();
    look().await;
    let holds = stage.key(ShowKey::Holds);
    stage.raw::<u64>(&["HDEL", &holds, &order_no(3).to_string()]);
    look().await;
    // A seat that is free again; of that the books know nothing.
    let map = stage.key(ShowKey::Map);
    stage.raw::<Vec<u64>>(&["BITFIELD", &map, "SET", "u2", "#9", "0"]);
    let log = stage.key(ShowKey::Quantities);
    stage.raw::<String>(&["XADD", &log, "*", "zone", "1"]);
    look().await;
    // An order that is listed as unsent and holds nothing.
    book(&stage);
    let unsent = stage.key(ShowKey::Unsent);
    stage.raw::<u64>(&["ZADD", &unsent, "1", &order_no(4).to_string()]);
    look().await;
    let held = |holding, unsent| UnloadReply::Orders { holding, unsent };
    assert_eq!(
        replies,
        [
            held(1, 1),
            held(1, 0),
            UnloadReply::Locked { count: 1 },
            UnloadReply::Unbooked { changes: 1 },
            held(0, 1),
        ]
    );
    stage.raw::<u64>(&["DEL", &unsent]);
    let last = unload(&stage, Some(EPOCH)).await;
    assert!(matches!(last, UnloadReply::Unloaded { .. }), "{last:?}");
}

#[tokio::test]
async fn a_show_of_another_epoch_than_the_caller_has_seen_stays() {
    let stage = Stage::open().await;
    book(&stage);
    let before = stage.dump();
    let now = UnloadReply::Epoch { epoch: Some(EPOCH) };
    for seen in [None, Some(0), Some(EPOCH - 1), Some(EPOCH + 1)] {
        assert_eq!(unload(&stage, seen).await, now, "{seen:?}");
    }
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn what_a_loss_has_left_goes_once_the_books_have_it() {
    let stage = sold_out_of_sight().await;
    stage.redis.forget_show(SHOW).await.unwrap();
    let unbooked = unload(&stage, None).await;
    assert!(
        matches!(unbooked, UnloadReply::Unbooked { changes } if changes > 0),
        "{unbooked:?}"
    );
    book(&stage);
    // The zones' places and the empty log.
    let gone = unload(&stage, None).await;
    assert_eq!(gone, UnloadReply::Unloaded { keys: 2 });
    assert_eq!(stage.dump().len(), 4, "the answers");
}

#[tokio::test]
async fn every_script_asks_for_the_show_afterwards_and_a_new_life_begins() {
    let stage = sold_out_of_sight().await;
    book(&stage);
    unload(&stage, Some(EPOCH)).await;
    let redis = &stage.redis;
    let held = redis.hold(&wish(5, &[1])).await.unwrap();
    assert_eq!(held, HoldReply::Rebuild);
    let released = redis.release(SHOW, order_no(2)).await.unwrap();
    assert_eq!(released, ReleaseReply::Rebuild);
    let confirmed = redis.confirm(SHOW, order_no(1), &zoned(&[4, 60])).await;
    assert_eq!(confirmed.unwrap(), ConfirmReply::Rebuild);
    assert_eq!(stage.dump().len(), 4, "asking has made nothing");
    let again = LoadShow {
        meta: ShowMeta {
            epoch: EPOCH + 1,
            ..show().meta
        },
        ..show()
    };
    assert_eq!(redis.load(&again).await.unwrap(), LoadReply::Loaded);
    // The books begin a new chain: nobody knows here what the zones had left.
    let log: Vec<(String, std::collections::BTreeMap<String, String>)> =
        stage.raw(&["XRANGE", &stage.key(ShowKey::Quantities), "-", "+"]);
    assert_eq!(log.len(), ZONES.len());
    assert!(log.iter().all(|(_, entry)| entry["before"].is_empty()));
    let old = UnloadReply::Epoch {
        epoch: Some(EPOCH + 1),
    };
    assert_eq!(unload(&stage, Some(EPOCH)).await, old);
    // The double click that is remembered does not lead to an order that holds nothing any more.
    let later = server::redis::scripts::HoldCommand {
        now: NOW + Millis(1),
        idempotency_key: "another".to_owned(),
        ..wish(2, &[7])
    };
    stage.held(&later).await;
}

#[tokio::test]
async fn of_many_who_unload_at_once_one_does() {
    let stage = sold_out_of_sight().await;
    book(&stage);
    let replies = join_all((0..20).map(|_| unload(&stage, Some(EPOCH)))).await;
    let done = |reply: &&UnloadReply| matches!(reply, UnloadReply::Unloaded { .. });
    assert_eq!(replies.iter().filter(done).count(), 1);
    let gone = UnloadReply::Epoch { epoch: None };
    assert_eq!(replies.iter().filter(|reply| **reply == gone).count(), 19);
}

/// How long a large hall may take to leave.
const A_MOMENT: Duration = Duration::from_millis(500);
/// How often it is tried whether it leaves as fast.
const TRIES_MAX: u32 = 5;

/// A hall as large as maps can be, all but its last seats sold.
fn large() -> LoadShow {
    const SEATS: u32 = 60_000;
    let sold = |seat| LoadedSeat {
        seat: SeatIndex(seat),
        state: SeatState::Sold,
        order_no: OrderNo::from_parts(NOW.0 + i64::from(seat / 20), 1, 0, UserId(1)).ok(),
    };
    LoadShow {
        meta: ShowMeta {
            seats: SEATS,
            ..show().meta
        },
        seats: (0..SEATS - 2).map(sold).collect(),
        zones: vec![(ZONES[0], 2)],
        ..show()
    }
}

#[tokio::test]
async fn sixty_thousand_seats_are_looked_through_and_leave_in_a_moment() {
    let stage = Stage::with(large()).await;
    book(&stage);
    let map = stage.key(ShowKey::Map);
    stage.raw::<Vec<u64>>(&["BITFIELD", &map, "SET", "u2", "#59999", "1"]);
    stage.raw::<Vec<u64>>(&["BITFIELD", &map, "SET", "u2", "#0", "1"]);
    let locked = UnloadReply::Locked { count: 2 };
    assert_eq!(unload(&stage, Some(EPOCH)).await, locked);
    stage.raw::<Vec<u64>>(&["BITFIELD", &map, "SET", "u2", "#59999", "0"]);
    stage.raw::<Vec<u64>>(&["BITFIELD", &map, "SET", "u2", "#0", "2"]);
    // A few milliseconds on an idle machine. A busy one lets it wait now and then, and not each time.
    let mut times = Vec::new();
    for _ in 0..TRIES_MAX {
        let began = Instant::now();
        let reply = unload(&stage, Some(EPOCH)).await;
        times.push(began.elapsed());
        assert!(matches!(reply, UnloadReply::Unloaded { .. }), "{reply:?}");
        assert_eq!(stage.dump().len(), 0);
        if times.iter().any(|took| *took < A_MOMENT) {
            return;
        }
        let again = stage.redis.load(&large()).await;
        assert_eq!(again.unwrap(), LoadReply::Loaded);
        book(&stage);
    }
    panic!("never in a moment: {times:?}");
}

#[tokio::test]
async fn wrong_arguments_change_nothing() {
    let stage = Stage::open().await;
    book(&stage);
    let before = stage.dump();
    let script = redis::Script::new(include_str!("../../../../lua/unload.lua"));
    let client = redis::Client::open(super::fixture::url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let keys: Vec<String> = ShowKey::ALL.map(|key| stage.key(key)).into();
    let calls: [(&[String], &[&str]); 3] = [
        (&keys, &[]),
        (&keys, &["1", "2"]),
        (&keys[..10], &["1795990000"]),
    ];
    for (keys, arguments) in calls {
        let mut call = script.prepare_invoke();
        call.key(keys).arg(arguments);
        let answer: Result<(), _> = call.invoke(&mut connection);
        assert!(answer.is_err(), "{arguments:?}");
    }
    assert_eq!(stage.dump(), before);
}
