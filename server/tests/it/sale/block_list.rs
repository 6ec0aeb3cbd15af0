//! Accounts, phones, devices and addresses that may not buy.

use crate::support::{ShowSpec, Stage, run};
use app::{
    domain::{
        hold::{Choice, HoldRequest, Refusal},
        ids::{SeatIndex, ShowId},
        seat::SeatState,
        text::Lang,
        time::Millis,
        user::{Phone, User},
    },
    error::AppError,
    ports::Visitor,
};
use server::{
    mysql::block_list::BlockKind,
    ticketing::block_list::{BlockRefusal, NewBlock},
};
use std::net::IpAddr;

const PHONE: &str = "+86 139 1234 5678";

struct Buyer {
    user: User,
    visitor: Visitor,
}

async fn buyer(stage: &Stage, address: &str) -> Buyer {
    let user = stage.user().await;
    let phone = Phone::parse(PHONE).expect("a phone number");
    let visitor = Visitor {
        user: Some(user.clone()),
        phone: stage.ticketing.phone_hash(&phone),
        device: uuid::Uuid::new_v4().simple().to_string(),
        ip: address.parse::<IpAddr>().expect("an address"),
        lang: Lang::En,
    };
    Buyer { user, visitor }
}

async fn place(stage: &Stage, buyer: &Buyer, show: ShowId, seat: u32) -> Result<(), AppError> {
    let request = HoldRequest {
        show_id: show,
        choice: Choice::Seats(vec![SeatIndex(seat)]),
        attendees: Vec::new(),
        idempotency_key: uuid::Uuid::new_v4().to_string(),
    };
    let placed = stage.ticketing.place(&buyer.visitor, &buyer.user, request);
    placed.await.map(|_| ())
}

async fn block(
    stage: &Stage,
    kind: BlockKind,
    value: &str,
    days: Option<u32>,
) -> Result<String, BlockRefusal> {
    let new = NewBlock {
        kind,
        value,
        reason: "resells tickets",
        days,
        by: "a test",
    };
    Ok(stage.ticketing.add_block(&new).await?.value)
}

#[test]
fn each_kind_of_entry_refuses_its_buyer_and_nothing_is_held() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        for (seat, kind) in (0..).zip(BlockKind::ALL) {
            let one = buyer(&stage, "::ffff:203.0.113.7").await;
            let value = match kind {
                BlockKind::User => one.user.id.to_string(),
                BlockKind::Phone => PHONE.to_owned(),
                BlockKind::Device => one.visitor.device.clone(),
                BlockKind::Ip => "203.0.113.7".to_owned(),
            };
            let kept = block(&stage, kind, &value, None).await.expect("an entry");
            if kind == BlockKind::Phone {
                assert_eq!(kept, one.visitor.phone, "a phone is kept as its keyed hash");
            }
            let refused = place(&stage, &one, show, seat).await;
            assert_eq!(refused, Err(Refusal::Blocked.into()), "{kind:?}");
            let removed = stage.ticketing.remove_block(kind, &value).await;
            assert!(removed.expect("a database"), "{kind:?}");
            place(&stage, &one, show, seat)
                .await
                .expect("may buy again");
            assert_eq!(stage.seat(show, seat).await, SeatState::Locked);
        }
    });
}

#[test]
fn a_refused_buyer_holds_nothing() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let (one, other) = (
            buyer(&stage, "198.51.100.1").await,
            buyer(&stage, "198.51.100.2").await,
        );
        block(&stage, BlockKind::Ip, "198.51.100.1", None)
            .await
            .expect("an entry");
        let refused = place(&stage, &one, show, 1).await;
        assert_eq!(refused, Err(Refusal::Blocked.into()));
        place(&stage, &other, show, 1)
            .await
            .expect("the seat is free");
    });
}

#[test]
fn an_entry_ends_when_its_days_are_over() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let one = buyer(&stage, "198.51.100.1").await;
        let user = one.user.id.to_string();
        block(&stage, BlockKind::User, &user, Some(2))
            .await
            .expect("an entry");
        stage.clock.advance(Millis::minutes(2 * 24 * 60 - 1));
        let refused = place(&stage, &one, show, 1).await;
        assert_eq!(refused, Err(Refusal::Blocked.into()));
        assert_eq!(stage.ticketing.blocks().await.expect("a list").len(), 1);
        stage.clock.advance(Millis::minutes(1));
        place(&stage, &one, show, 1)
            .await
            .expect("the entry is over");
        assert!(stage.ticketing.blocks().await.expect("a list").is_empty());
    });
}

#[test]
fn another_server_follows_within_three_seconds() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let one = buyer(&stage, "198.51.100.1").await;
        place(&stage, &one, show, 1).await.expect("not in the list");
        // Entered elsewhere: this server's copy does not know of it yet.
        let entry = server::mysql::block_list::BlockEntry {
            kind: BlockKind::User,
            value: one.user.id.to_string(),
            reason: "resells tickets".to_owned(),
            until: None,
            created_at: app::domain::time::Timestamp(0),
            created_by: "another server".to_owned(),
        };
        let db = stage.ticketing.db();
        let put = db.put_block(&entry, entry.created_at).await;
        assert!(put.expect("a database"));
        tokio::time::sleep(std::time::Duration::from_millis(3_100)).await;
        let refused = place(&stage, &one, show, 2).await;
        assert_eq!(refused, Err(Refusal::Blocked.into()));
    });
}

#[test]
fn entries_that_make_no_sense_are_refused_in_words() {
    run(async {
        let stage = Stage::new().await;
        for (kind, value, expected) in [
            (
                BlockKind::User,
                "somebody",
                "\"somebody\" is no user: the account's number",
            ),
            (
                BlockKind::Phone,
                "12345",
                "\"12345\" is no phone: the number as it is dialled, 7 to 15 digits",
            ),
            (
                BlockKind::Device,
                "a b",
                "\"a b\" is no device: the name that orders count it by, letters and digits",
            ),
            (
                BlockKind::Ip,
                "203.0.113",
                "\"203.0.113\" is no ip: an IPv4 or IPv6 address",
            ),
        ] {
            let refused = block(&stage, kind, value, None).await.expect_err(value);
            assert_eq!(refused.to_string(), expected);
        }
        let forever = block(&stage, BlockKind::User, "1", Some(0)).await;
        assert!(matches!(forever, Err(BlockRefusal::Days)), "{forever:?}");
        let new = NewBlock {
            kind: BlockKind::User,
            value: "1",
            reason: " ",
            days: None,
            by: "a test",
        };
        let reasonless = stage.ticketing.add_block(&new).await;
        assert!(
            matches!(reasonless, Err(BlockRefusal::Reason)),
            "{reasonless:?}"
        );
        assert!(stage.ticketing.blocks().await.expect("a list").is_empty());
        let removed = stage.ticketing.remove_block(BlockKind::User, "1").await;
        assert!(!removed.expect("a database"), "it was not in the list");
    });
}
