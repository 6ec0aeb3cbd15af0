//! Deadlines that move, are forgotten, or are lost with the message that was to remember them.

use crate::support::{ShowSpec, Stage, TestApp, eventually, run};
use app::{
    domain::{
        hold::Refusal,
        order::{CancelReason, OrderStatus},
        payment::PaymentStatus,
        seat::SeatState,
        time::Millis,
    },
    error::AppError,
};
use server::kafka::{
    batch::Received,
    delay::{DelayHandler, FireResult},
    messages::Timeout,
};

#[test]
fn nothing_that_fails_moves_the_deadline_of_an_order() {
    run(async {
        let app = TestApp::shared().await;
        let spec = ShowSpec {
            limit: 2,
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let (customer, other) = (app.customer().await, app.customer().await);
        let theirs = other.pending(show, &[9]).await;
        let order_no = customer.pending(show, &[1, 2]).await;
        let before = customer.order(order_no).await.expect("the order").expires;
        let refused = [
            customer.place(show, &[3]).await,
            customer.place(show, &[9]).await,
            customer.place(show, &[1, 2]).await,
            customer.place(show, &[]).await,
        ];
        for refusal in refused {
            let (_, error) = refusal.expect_err("a wish that is refused");
            assert!(matches!(error, AppError::Refused { .. }), "{error:?}");
        }
        customer.cancel(theirs).await.expect_err("not theirs");
        let cashier = customer.start_paying(order_no).await.expect("a cashier");
        customer.at_cashier(&cashier, "fail").await;
        eventually("the attempt failed", || async {
            let attempt = customer.order(order_no).await.ok()?.payment?;
            (attempt.status == PaymentStatus::Failed).then_some(())
        })
        .await;
        let after = customer.order(order_no).await.expect("the order");
        assert_eq!(after.expires, before, "what the customer sees");
        let written = "SELECT expire_at FROM orders WHERE order_no = ?";
        let written = app.count(written, order_no.as_i64()).await;
        assert_eq!(written, before.at.0, "and what decides");
    });
}

#[test]
fn a_timeout_whose_cancelling_fails_is_repeated_until_it_succeeds() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let order_no = stage.pending(&stage.user().await, show, &[7]).await;
        stage.clock.advance(Millis::minutes(15));
        let due = Received {
            message: Timeout {
                order_no,
                show_id: show,
                due_at: server::clock::Clock::now(stage.clock.as_ref()),
            },
            key: order_no.to_string(),
            sent_at: None,
            trace: None,
        };
        let rename = |sql: &'static str| {
            let db = stage.ticketing.db();
            async move {
                let renamed = sqlx::query(sql).execute(db.pool()).await;
                renamed.expect("another name");
            }
        };
        rename("RENAME TABLE seat_claim TO not_there").await;
        for _ in 0..3 {
            let fired = stage.ticketing.fire(&due).await;
            assert!(matches!(fired, FireResult::Retry(_)), "{fired:?}");
        }
        rename("RENAME TABLE not_there TO seat_claim").await;
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
        assert_eq!(stage.seat(show, 7).await, SeatState::Locked);
        for _ in 0..2 {
            let fired = stage.ticketing.fire(&due).await;
            assert!(matches!(fired, FireResult::Done), "{fired:?}");
        }
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        assert_eq!(stage.seat(show, 7).await, SeatState::Available);
    });
}

#[test]
fn an_order_over_two_zones_that_runs_out_of_time_gives_each_zone_its_own_places() {
    run(async {
        let stage = Stage::new().await;
        let spec = ShowSpec {
            seats: 40,
            front_seats: 10,
            ..ShowSpec::default()
        };
        let show = stage.show(spec).await;
        let left = || async {
            let left = stage.ticketing.redis().remaining(&[show]).await;
            let mut left = left.expect("Redis").remove(0).expect("a loaded show");
            left.sort_unstable();
            let places = left.into_iter().map(|(_, places)| places);
            places.collect::<Vec<_>>()
        };
        let order_no = stage
            .pending(&stage.user().await, show, &[8, 9, 10, 11])
            .await;
        assert_eq!(left().await, [8, 28]);
        stage.clock.advance(Millis::minutes(15));
        for _ in 0..2 {
            stage.ticketing.expire(order_no).await.expect("stores");
        }
        assert_eq!(left().await, [10, 30]);
    });
}

#[test]
fn no_customer_can_hold_what_another_holds_since_a_seat_has_one_owner_whoever_asks() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let mut users = Vec::new();
        for _ in 0..20 {
            users.push(stage.user().await);
        }
        let wishes = users.iter().map(|user| stage.hold(user, show, &[5]));
        let answers = futures::future::join_all(wishes).await;
        let held: Vec<_> = answers
            .iter()
            .filter_map(|answer| answer.as_ref().ok())
            .collect();
        assert_eq!(held.len(), 1);
        for refusal in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            let taken = Refusal::SeatsTaken {
                seats: vec![app::domain::ids::SeatIndex(5)],
            };
            assert_eq!(*refusal, taken.into());
        }
        let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
        assert_eq!(owners.values().collect::<Vec<_>>(), held);
        let ended = stage
            .ticketing
            .end_order(*held[0], CancelReason::User)
            .await;
        assert!(!ended.expect("stores"), "it has no row that could be ended");
    });
}
