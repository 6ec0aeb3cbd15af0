//! One submission, sent again: the same choice finds its order, another choice is refused by name.

use crate::support::{ShowSpec, Stage, run};
use app::{
    domain::{
        hold::{Choice, Refusal},
        ids::{SeatIndex, ShowId, ZoneId},
        seat::SeatState,
    },
    error::AppError,
};

const KEY: &str = "one-submission";

fn seats(numbers: &[u32]) -> Choice {
    Choice::Seats(numbers.iter().copied().map(SeatIndex).collect())
}

async fn zone(stage: &Stage, show: ShowId, category: &str) -> ZoneId {
    let zone: u64 =
        sqlx::query_scalar("SELECT id FROM show_zone WHERE show_id = ? AND category = ?")
            .bind(show.0)
            .bind(category)
            .fetch_one(stage.ticketing.db().pool())
            .await
            .expect("a zone");
    ZoneId(zone)
}

/// A show with seats and a standing zone.
async fn scene() -> (Stage, ShowId) {
    let stage = Stage::new().await;
    let spec = ShowSpec {
        standing: Some((10, 2)),
        ..ShowSpec::default()
    };
    let show = stage.show(spec).await;
    (stage, show)
}

#[test]
fn a_key_that_was_used_for_another_choice_is_refused_and_nothing_is_held() {
    run(async {
        let (stage, show) = scene().await;
        let (back, floor) = (
            zone(&stage, show, "Back").await,
            zone(&stage, show, "Floor").await,
        );
        let user = stage.user().await;
        let first = stage.submit(&user, show, seats(&[20, 21]), KEY).await;
        let order_no = first.expect("an order");
        let again = stage.submit(&user, show, seats(&[21, 20]), KEY).await;
        assert_eq!(again, Ok(order_no), "the same choice finds its order");
        let refused = Err(AppError::Refused {
            refusal: Refusal::KeyUsed { order_no },
        });
        for choice in [
            seats(&[20]),
            seats(&[30, 31]),
            Choice::Best {
                zone: back,
                quantity: 2,
            },
            Choice::Best {
                zone: floor,
                quantity: 2,
            },
        ] {
            let other = stage.submit(&user, show, choice.clone(), KEY).await;
            assert_eq!(other, refused, "{choice:?}");
        }
        assert_eq!(stage.seat(show, 30).await, SeatState::Available);
        let left = stage.ticketing.standing_left(show).await.expect("Redis");
        assert_eq!(left[..], [(floor, 10)]);
    });
}

#[test]
fn a_repeat_for_the_best_seats_finds_its_order_when_it_took_the_last_ones() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            seats: 22,
            front_seats: 20,
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let zone = zone(&stage, show, "Back").await;
        let user = stage.user().await;
        let best = || Choice::Best { zone, quantity: 2 };
        let order_no = stage.submit(&user, show, best(), KEY).await;
        let order_no = order_no.expect("an order");
        assert_eq!(stage.submit(&user, show, best(), KEY).await, Ok(order_no));
        let fewer = Choice::Best { zone, quantity: 1 };
        let other = stage.submit(&user, show, fewer, KEY).await;
        let refusal = Refusal::KeyUsed { order_no };
        assert_eq!(other, Err(AppError::Refused { refusal }));
    });
}

#[test]
fn a_zone_without_a_price_is_refused_by_name() {
    run(async {
        let (stage, show) = scene().await;
        sqlx::query(
            "UPDATE show_zone SET price_minor = 0 WHERE show_id = ? AND category <> 'Back'",
        )
        .bind(show.0)
        .execute(stage.ticketing.db().pool())
        .await
        .expect("zones that cost nothing");
        let (front, back, floor) = (
            zone(&stage, show, "Front").await,
            zone(&stage, show, "Back").await,
            zone(&stage, show, "Floor").await,
        );
        let refused = |zone| {
            Err(AppError::Refused {
                refusal: Refusal::ZoneNotPriced { zone },
            })
        };
        let user = stage.user().await;
        // One ticket that costs nothing among others is one whose money can't be given back.
        let held = stage.hold(&user, show, &[1, 20]).await;
        assert_eq!(held, refused(front));
        for zone in [front, floor] {
            let held = stage.hold_places(&user, show, zone, 2).await;
            assert_eq!(held, refused(zone));
        }
        let left = stage.ticketing.standing_left(show).await.expect("Redis");
        assert_eq!(left[..], [(floor, 10)], "no place was taken");
        stage
            .hold_places(&user, show, back, 2)
            .await
            .expect("what has a price is sold");
    });
}
