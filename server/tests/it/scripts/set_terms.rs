//! A loaded show's terms change, and nothing else of it.

use super::fixture::{EPOCH, NOW, SHOW, Stage, show, wish};
use app::domain::{catalogue::ShowStatus, hold::Refusal, show_terms::ShowTerms, time::Millis};
use futures::future::join_all;
use server::redis::{
    keys::ShowKey,
    scripts::{HoldReply, SetTermsReply},
};

fn terms() -> ShowTerms {
    let meta = show().meta;
    ShowTerms {
        status: meta.status,
        sale_start: meta.sale_start,
        sale_end: meta.sale_end,
        limit: meta.limit,
        level: meta.level,
    }
}

async fn refusal(stage: &Stage, number: u16, seats: &[u32]) -> Refusal {
    match stage.redis.hold(&wish(number, seats)).await.unwrap() {
        HoldReply::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn buyers_are_refused_by_the_new_terms_at_once() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[0, 1])).await;
    let set = |terms: ShowTerms| {
        let redis = stage.redis.clone();
        async move { redis.set_terms(SHOW, &terms).await.unwrap() }
    };
    let kept = SetTermsReply::Set { epoch: EPOCH };
    let withdrawn = ShowTerms {
        status: ShowStatus::Withdrawn,
        ..terms()
    };
    assert_eq!(set(withdrawn).await, kept);
    assert_eq!(refusal(&stage, 2, &[5]).await, Refusal::NotOnSale);
    let later = ShowTerms {
        sale_start: NOW + Millis::seconds(1),
        ..terms()
    };
    set(later).await;
    assert_eq!(
        refusal(&stage, 2, &[5]).await,
        Refusal::SaleNotStarted {
            starts_at: later.sale_start
        }
    );
    set(ShowTerms {
        sale_end: NOW,
        ..terms()
    })
    .await;
    assert_eq!(refusal(&stage, 2, &[5]).await, Refusal::SaleEnded);
    set(ShowTerms {
        level: 3,
        ..terms()
    })
    .await;
    assert_eq!(
        refusal(&stage, 2, &[5]).await,
        Refusal::LevelRequired { level: 3 }
    );
    set(terms()).await;
    stage.held(&wish(2, &[5])).await;
}

#[tokio::test]
async fn nothing_but_the_terms_changes() {
    let stage = Stage::open().await;
    stage.held(&wish(1, &[0, 60])).await;
    let mut before = stage.dump();
    let new = ShowTerms {
        limit: 1,
        level: 2,
        ..terms()
    };
    stage.redis.set_terms(SHOW, &new).await.unwrap();
    let mut after = stage.dump();
    let meta = stage.key(ShowKey::Meta);
    assert_ne!(before.remove(&meta), after.remove(&meta));
    assert_eq!(before, after);
    let found = stage.redis.snapshot(SHOW).await.unwrap().unwrap();
    assert_eq!(found.terms, new);
    assert_eq!((found.map.at.epoch, found.map.at.version), (EPOCH, 2));
    // A repeat writes the same.
    let before = stage.dump();
    stage.redis.set_terms(SHOW, &new).await.unwrap();
    assert_eq!(stage.dump(), before);
}

#[tokio::test]
async fn a_show_that_is_not_loaded_stays_so() {
    let stage = Stage::open().await;
    stage.redis.forget_show(SHOW).await.unwrap();
    assert_eq!(
        stage.redis.set_terms(SHOW, &terms()).await.unwrap(),
        SetTermsReply::Rebuild
    );
    assert_eq!(stage.redis.show_meta(SHOW).await.unwrap(), None);
}

#[tokio::test]
async fn of_a_withdrawal_among_many_buyers_each_is_held_before_or_refused_after() {
    let stage = Stage::open().await;
    let withdrawn = ShowTerms {
        status: ShowStatus::Withdrawn,
        ..terms()
    };
    let holds = join_all((1..40_u16).map(|number| {
        let redis = stage.redis.clone();
        async move {
            let seat = u32::from(number);
            redis.hold(&wish(number, &[seat])).await.unwrap()
        }
    }));
    let (replies, set) = tokio::join!(holds, stage.redis.set_terms(SHOW, &withdrawn));
    assert_eq!(set.unwrap(), SetTermsReply::Set { epoch: EPOCH });
    let held = replies
        .iter()
        .filter(|reply| matches!(reply, HoldReply::Held { .. }))
        .count();
    let refused = replies
        .iter()
        .filter(|reply| **reply == HoldReply::Refused(Refusal::NotOnSale))
        .count();
    assert_eq!(held + refused, 39);
    let counts: u64 = stage.raw(&["HLEN", &stage.key(ShowKey::Holds)]);
    assert_eq!(counts, held as u64);
    assert_eq!(refusal(&stage, 99, &[99]).await, Refusal::NotOnSale);
}

#[tokio::test]
async fn wrong_arguments_change_nothing() {
    let stage = Stage::open().await;
    let before = stage.dump();
    let script = redis::Script::new(include_str!("../../../../lua/set_terms.lua"));
    let client = redis::Client::open(super::fixture::url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    for arguments in [&["1", "2", "3", "4"][..], &["1", "2", "soon", "4", "0"]] {
        let mut call = script.key(stage.key(ShowKey::Meta));
        for argument in arguments {
            call.arg(*argument);
        }
        let answer: Result<(), _> = call.invoke(&mut connection);
        assert!(answer.is_err(), "{arguments:?}");
    }
    assert_eq!(stage.dump(), before);
}
