//! Buyers who want the same places.

use crate::support::{ShowSpec, Stage, TestApp, run};
use app::{
    domain::{
        hold::Refusal,
        ids::{OrderNo, SeatIndex, ShowId, ZoneId},
        order::OrderStatus,
    },
    error::AppError,
};
use server::kafka::messages::{Place, Placed};

/// How many times two want the same pair.
const ROUNDS: u32 = 200;
/// Seats of a round's own.
const SEATS_PER_ROUND: u32 = 8;

/// A show with seats for all rounds.
async fn wide_show(stage: &Stage) -> ShowId {
    let spec = ShowSpec {
        seats: ROUNDS * SEATS_PER_ROUND,
        limit: 2,
        ..ShowSpec::default()
    };
    stage.show(spec).await
}

#[test]
fn of_two_who_want_a_pair_in_opposite_order_exactly_one_holds_it_and_the_other_is_told() {
    run(async {
        let stage = Stage::new().await;
        let show = wide_show(&stage).await;
        for round in 0..ROUNDS {
            let first = round * SEATS_PER_ROUND;
            let (one, other) = (stage.user().await, stage.user().await);
            let (pair, reversed) = ([first, first + 1], [first + 1, first]);
            let (a, b) = tokio::join!(
                stage.hold(&one, show, &pair),
                stage.hold(&other, show, &reversed),
            );
            let refused = match (a, b) {
                (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
                both => panic!("neither or both: {both:?}"),
            };
            let AppError::Refused {
                refusal: Refusal::SeatsTaken { mut seats },
            } = refused
            else {
                panic!("not told why: {refused:?}")
            };
            seats.sort_unstable();
            assert_eq!(seats, [SeatIndex(first), SeatIndex(first + 1)]);
        }
    });
}

/// The message of an order that was held for two other seats, as a stale replica of Redis would have let it through for
/// these.
async fn message_for(stage: &Stage, show: ShowId, held: [u32; 2], wanted: [u32; 2]) -> Placed {
    let order_no = stage.hold(&stage.user().await, show, &held).await;
    let mut message = stage.message(show, order_no.expect("a hold")).await;
    for (item, wanted) in message.items.iter_mut().zip(wanted) {
        let Place::Seat { seat, .. } = &mut item.place else {
            panic!("a seat was held")
        };
        *seat = SeatIndex(wanted);
    }
    message
}

#[test]
fn of_two_orders_that_claim_a_pair_in_opposite_order_one_is_written_and_no_deadlock_surfaces() {
    run(async {
        let stage = Stage::new().await;
        let show = wide_show(&stage).await;
        for round in 0..ROUNDS {
            let first = round * SEATS_PER_ROUND;
            let (pair, reversed) = ([first, first + 1], [first + 1, first]);
            let one = message_for(&stage, show, [first + 2, first + 3], pair).await;
            let other = message_for(&stage, show, [first + 4, first + 5], reversed).await;
            let write = |message: Placed| {
                let ticketing = stage.ticketing.clone();
                tokio::spawn(async move { ticketing.create_orders(&[message]).await })
            };
            let numbers = [one.order_no, other.order_no];
            let (a, b) = tokio::join!(write(one), write(other));
            a.expect("a writer").expect("no deadlock surfaces");
            b.expect("a writer").expect("no deadlock surfaces");
            let mut ended = Vec::new();
            for order_no in numbers {
                ended.push(stage.status(order_no).await.expect("a row"));
            }
            ended.sort_unstable_by_key(|status| status.code());
            assert_eq!(ended, [OrderStatus::Pending, OrderStatus::Discarded]);
        }
    });
}

/// The zone of the only seat of a show.
async fn zone_of(app: &TestApp, show: ShowId) -> ZoneId {
    let number = i64::try_from(show.0).expect("a small number");
    let zone = "SELECT CAST(MIN(id) AS SIGNED) FROM show_zone WHERE show_id = ?";
    ZoneId(u64::try_from(app.count(zone, number).await).expect("a zone"))
}

#[test]
fn of_two_buyers_for_the_last_place_one_wins_and_the_other_gets_a_named_refusal() {
    run(async {
        let app = TestApp::shared().await;
        for round in 0..10 {
            let spec = ShowSpec {
                seats: 1,
                front_seats: 1,
                ..ShowSpec::default()
            };
            let show = app.show(spec).await;
            let zone = zone_of(app, show).await;
            let (one, other) = (app.customer().await, app.customer().await);
            let (a, b) = tokio::join!(
                one.place_best(show, zone, 1),
                // Every other time the second one names the seat.
                async {
                    if round % 2 == 0 {
                        other.place_best(show, zone, 1).await
                    } else {
                        other.place(show, &[0]).await
                    }
                },
            );
            let (won, refused): (OrderNo, AppError) = match (a, b) {
                (Ok(won), Err((_, refused))) | (Err((_, refused)), Ok(won)) => (won, refused),
                both => panic!("neither or both: {both:?}"),
            };
            let is_named = matches!(
                refused,
                AppError::Refused {
                    refusal: Refusal::SeatsTaken { .. } | Refusal::ZoneSoldOut { .. }
                }
            );
            assert!(is_named, "{refused:?}");
            let left = app.ticketing().redis().remaining(&[show]).await;
            let left = left.expect("Redis").remove(0).expect("a loaded show");
            assert_eq!(left.iter().map(|(_, left)| left).sum::<u32>(), 0);
            let owners = app.ticketing().redis().owners(show).await.expect("Redis");
            assert_eq!(owners.values().collect::<Vec<_>>(), [&won]);
        }
    });
}
