//! Redis emptied under a running sale: everything comes back from the database.

use crate::support::{ShowSpec, Stage, run};
use app::{
    domain::{hold::Refusal, ids::SeatIndex, order::CancelReason, seat::SeatState},
    error::AppError,
};

#[test]
fn a_show_that_redis_lost_is_loaded_with_its_sold_and_held_seats() {
    run(async {
        let stage = Stage::new().await;
        let show = stage
            .show(ShowSpec {
                limit: 2,
                ..ShowSpec::default()
            })
            .await;
        let (holder, payer, other) = (stage.user().await, stage.user().await, stage.user().await);
        let held = stage.pending(&holder, show, &[1, 2]).await;
        let sold = stage.pending(&payer, show, &[30]).await;
        let payment = stage.payment(&payer, sold).await;
        pay(&stage, &payment).await;
        stage
            .ticketing
            .redis()
            .forget_show(show)
            .await
            .expect("Redis");
        // Nobody consumes on this stage, so the show opens when the wait for consumers is over.
        stage
            .ticketing
            .load_show_patiently(show)
            .await
            .expect("stores");

        let refused = stage
            .hold(&other, show, &[2, 3])
            .await
            .expect_err("a held seat");
        let taken = Refusal::SeatsTaken {
            seats: vec![SeatIndex(2)],
        };
        assert_eq!(refused, AppError::from(taken));
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        assert_eq!(stage.seat(show, 30).await, SeatState::Sold);
        assert_eq!(stage.seat(show, 3).await, SeatState::Available);
        let limit = stage
            .hold(&holder, show, &[5])
            .await
            .expect_err("the limit is remembered");
        assert!(
            matches!(
                limit,
                AppError::Refused {
                    refusal: Refusal::LimitReached { have: 2, .. }
                }
            ),
            "{limit:?}"
        );
        // The hold can still be given back, zone by zone.
        assert!(
            stage
                .ticketing
                .end_order(held, CancelReason::User)
                .await
                .expect("stores")
        );
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        let remaining = stage
            .ticketing
            .redis()
            .remaining(&[show])
            .await
            .expect("Redis")
            .remove(0);
        let total: u32 = remaining
            .expect("a loaded show")
            .iter()
            .map(|(_, count)| count)
            .sum();
        assert_eq!(total, 39, "all but the sold seat");
        assert!(stage.ticketing.verify().await.expect("stores").is_clean());
    });
}

pub(super) async fn pay(stage: &Stage, payment: &server::mysql::money::PaymentRecord) {
    use crate::support::{Notice, headers_for};
    use axum::http::StatusCode;
    use server::clock::Clock;
    let now = stage.clock.now();
    let body = Notice::success(&payment.out_trade_no, payment.amount).body(now);
    let answer = stage
        .ticketing
        .take_callback("simulated", &headers_for(&body, now), &body)
        .await;
    assert_eq!(answer, StatusCode::OK);
}
