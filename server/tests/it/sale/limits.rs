//! Purchase limits: by account, phone, device and attendee, whatever happens at the same moment.

mod counted_again;

use crate::support::{Answer, Customer, ShowSpec, TestApp, eventually, run};
use app::{
    domain::{
        hold::{LimitedBy, Refusal},
        ids::{AttendeeId, OrderNo, ShowId},
        order::OrderStatus,
    },
    error::AppError,
};
use reqwest::StatusCode;
use server::{
    redis::snapshot::ShowSnapshot,
    ticketing::{Ticketing, reconcile::Class},
};
use std::sync::Arc;
use tokio::sync::Barrier;

const BUYERS: u32 = 200;

async fn snapshot(ticketing: &Ticketing, show: ShowId) -> ShowSnapshot {
    let found = ticketing.redis().snapshot(show).await.expect("Redis");
    found.expect("a loaded show")
}

/// What the counters of one kind say, added up.
async fn counted(ticketing: &Ticketing, show: ShowId, by: LimitedBy) -> u32 {
    let prefix = format!("{}:", by.prefix());
    let bought = snapshot(ticketing, show).await.counters.bought;
    let of_kind = bought.iter().filter(|(name, _)| name.starts_with(&prefix));
    of_kind.map(|(_, tickets)| tickets).sum()
}

/// Whether a show's counters are what its seats and orders say.
async fn counters_agree(ticketing: &Ticketing, show: ShowId) -> bool {
    let findings = ticketing.find_all().await.expect("stores");
    findings
        .iter()
        .all(|finding| finding.show != show || finding.class != Class::Counter)
}

async fn show_of_two_each(app: &TestApp) -> ShowId {
    app.show(ShowSpec {
        limit: 2,
        ..ShowSpec::default()
    })
    .await
}

fn reached(by: LimitedBy, attendee: Option<AttendeeId>) -> (StatusCode, AppError) {
    let refusal = Refusal::LimitReached {
        by,
        limit: 2,
        have: 2,
        attendee,
    };
    (StatusCode::CONFLICT, refusal.into())
}

#[test]
fn each_kind_of_limit_refuses_by_its_name_and_changes_nothing() {
    run(async {
        let app = TestApp::shared().await;
        let show = show_of_two_each(app).await;
        let first = app.customer().await;
        first.place(show, &[0, 1]).await.expect("an order");
        let before = snapshot(app.ticketing(), show).await;
        let others = [
            (LimitedBy::User, first.on_another_device(app)),
            (
                LimitedBy::Phone,
                app.customer().await.with_the_phone_of(app, &first),
            ),
            (
                LimitedBy::Device,
                app.customer().await.on_the_device_of(app, &first),
            ),
        ];
        for (by, other) in others {
            let answer = other.place(show, &[5]).await;
            assert_eq!(answer.expect_err("refused"), reached(by, None), "{by:?}");
        }
        let after = snapshot(app.ticketing(), show).await;
        assert_eq!(after.counters, before.counters);
        assert_eq!(after.map, before.map);
        app.customer()
            .await
            .place(show, &[5])
            .await
            .expect("somebody else");
    });
}

#[test]
fn an_attendee_is_limited_over_all_accounts_and_named_by_the_own_entry_only() {
    run(async {
        let app = TestApp::shared().await;
        let show = app
            .show(ShowSpec {
                limit: 2,
                attendees_required: true,
                ..ShowSpec::default()
            })
            .await;
        for seat in [1, 2] {
            let buyer = app.customer().await;
            let ann = buyer
                .add_person("Ann Example", "E3000001")
                .await
                .expect("an entry");
            buyer
                .place_for(show, &[seat], &[ann])
                .await
                .expect("an order");
        }
        let third = app.customer().await;
        let bob = third
            .add_person("Bob Example", "E3000002")
            .await
            .expect("an entry");
        let ann = third
            .add_person("A. Example", "e3000001")
            .await
            .expect("an entry");
        let before = snapshot(app.ticketing(), show).await;
        let answer = third.place_for(show, &[7, 8], &[bob, ann]).await;
        let (status, error) = answer.expect_err("refused");
        assert_eq!(
            (status, error.clone()),
            reached(LimitedBy::Attendee, Some(ann))
        );
        let wire = serde_json::to_string(&error).expect("JSON");
        assert!(
            !wire.contains("E3000001") && !wire.contains("Example"),
            "{wire}"
        );
        let after = snapshot(app.ticketing(), show).await;
        assert_eq!((after.counters, after.map), (before.counters, before.map));
        third.place_for(show, &[7], &[bob]).await.expect("an order");
    });
}

/// Lets two hundred buyers ask at the same moment, each for a seat of their own; the orders that were accepted.
async fn rush(
    show: ShowId,
    buyers: Vec<(Customer, Option<AttendeeId>)>,
    by: LimitedBy,
) -> Vec<(Customer, OrderNo)> {
    let barrier = Arc::new(Barrier::new(buyers.len()));
    let mut asking = Vec::new();
    for ((buyer, person), seat) in buyers.into_iter().zip(0..) {
        let barrier = Arc::clone(&barrier);
        asking.push(tokio::spawn(async move {
            barrier.wait().await;
            let answer = insist(&buyer, show, seat, person).await;
            (buyer, answer)
        }));
    }
    let mut orders = Vec::new();
    for asked in asking {
        match asked.await.expect("a buyer") {
            (buyer, Ok(order_no)) => orders.push((buyer, order_no)),
            (
                _,
                Err((
                    _,
                    AppError::Refused {
                        refusal: Refusal::LimitReached { by: named, .. },
                    },
                )),
            ) => {
                assert_eq!(named, by);
            }
            (_, Err(other)) => panic!("neither an order nor the limit: {other:?}"),
        }
    }
    orders
}

/// Asks until the answer is not "busy".
async fn insist(
    buyer: &Customer,
    show: ShowId,
    seat: u32,
    person: Option<AttendeeId>,
) -> Answer<OrderNo> {
    let people: Vec<AttendeeId> = person.into_iter().collect();
    eventually("the server has time", || async {
        match buyer.place_for(show, &[seat], &people).await {
            Err((_, AppError::Busy { .. })) => None,
            answer => Some(answer),
        }
    })
    .await
}

/// After a rush: as many orders as the limit allows, as many seats, and counters that say so; and once they are given up,
/// nothing is counted.
async fn limit_held(app: &TestApp, show: ShowId, orders: Vec<(Customer, OrderNo)>, by: LimitedBy) {
    assert_eq!(orders.len(), 4, "by {by:?}");
    assert_eq!(app.seat_counts(show).await[1], 4);
    assert_eq!(counted(app.ticketing(), show, by).await, 4);
    for (buyer, order_no) in &orders {
        buyer.until(*order_no, OrderStatus::Pending).await;
    }
    assert!(counters_agree(app.ticketing(), show).await);
    for (buyer, order_no) in &orders {
        buyer.cancel(*order_no).await.expect("given up");
    }
    eventually("all is given back", || async {
        (counted(app.ticketing(), show, by).await == 0).then_some(())
    })
    .await;
    assert_eq!(
        snapshot(app.ticketing(), show).await.counters.bought.len(),
        0
    );
}

async fn rush_show(app: &TestApp, attendees_required: bool) -> ShowId {
    app.show(ShowSpec {
        seats: BUYERS,
        attendees_required,
        ..ShowSpec::default()
    })
    .await
}

#[test]
fn two_hundred_parallel_buys_by_one_phone_never_exceed_the_limit() {
    run(async {
        let app = TestApp::shared().await;
        let show = rush_show(app, false).await;
        let first = app.customer().await;
        let mut buyers = Vec::new();
        for _ in 0..BUYERS {
            buyers.push((app.customer().await.with_the_phone_of(app, &first), None));
        }
        let orders = rush(show, buyers, LimitedBy::Phone).await;
        limit_held(app, show, orders, LimitedBy::Phone).await;
    });
}

#[test]
fn two_hundred_parallel_buys_from_one_device_never_exceed_the_limit() {
    run(async {
        let app = TestApp::shared().await;
        let show = rush_show(app, false).await;
        let first = app.customer().await;
        let mut buyers = Vec::new();
        for _ in 0..BUYERS {
            buyers.push((app.customer().await.on_the_device_of(app, &first), None));
        }
        let orders = rush(show, buyers, LimitedBy::Device).await;
        limit_held(app, show, orders, LimitedBy::Device).await;
    });
}

#[test]
fn two_hundred_parallel_buys_for_one_attendee_never_exceed_the_limit() {
    run(async {
        let app = TestApp::shared().await;
        let show = rush_show(app, true).await;
        let mut buyers = Vec::new();
        for _ in 0..BUYERS {
            let buyer = app.customer().await;
            let person = buyer.add_person("Ann Example", "E4000001").await;
            buyers.push((buyer, Some(person.expect("an entry"))));
        }
        let orders = rush(show, buyers, LimitedBy::Attendee).await;
        limit_held(app, show, orders, LimitedBy::Attendee).await;
    });
}

#[test]
fn an_order_over_two_zones_gives_each_zone_back_its_own_count() {
    run(async {
        let app = TestApp::shared().await;
        let show = app.show(ShowSpec::default()).await;
        let left = || async {
            let zones = app
                .ticketing()
                .redis()
                .remaining(&[show])
                .await
                .expect("Redis");
            let zones = zones.into_iter().next().flatten().expect("a loaded show");
            zones.into_iter().map(|(_, left)| left).collect::<Vec<_>>()
        };
        let customer = app.customer().await;
        let order_no = customer.pending(show, &[9, 10, 11]).await;
        assert_eq!(left().await, [9, 28]);
        customer.cancel(order_no).await.expect("given up");
        eventually("the seats are back", || async {
            (left().await == [10, 30]).then_some(())
        })
        .await;
    });
}

#[test]
fn what_a_buyer_gives_up_can_be_bought_for_the_same_person_again() {
    run(async {
        let app = TestApp::shared().await;
        let show = app
            .show(ShowSpec {
                limit: 1,
                attendees_required: true,
                ..ShowSpec::default()
            })
            .await;
        let (first, second) = (app.customer().await, app.customer().await);
        let ann = first
            .add_person("Ann Example", "E5000001")
            .await
            .expect("an entry");
        let same = second
            .add_person("Ann Example", "E5000001")
            .await
            .expect("an entry");
        let order_no = first.place_for(show, &[1], &[ann]).await.expect("an order");
        first.until(order_no, OrderStatus::Pending).await;
        second
            .place_for(show, &[2], &[same])
            .await
            .expect_err("too many");
        first.cancel(order_no).await.expect("given up");
        eventually("the person can be named again", || async {
            second.place_for(show, &[2], &[same]).await.ok()
        })
        .await;
    });
}
