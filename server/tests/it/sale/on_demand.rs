//! What staff ask of the stores: what reconciliation would do, and reading a show again without losing an order.

use crate::support::{ShowSpec, Stage, eventually, run};
use app::domain::{order::OrderStatus, seat::SeatState, time::Millis};
use server::{
    cli::reconcile,
    clock::Clock,
    config::LOCK_LEASE,
    redis::keys::ShowKey,
    ticketing::rebuild::{RebuildError, Unsent},
};

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let lost = stage.hold(&user, show, &[1, 2]).await.expect("a hold");
        let overdue = stage.pending(&user, show, &[12]).await;
        stage.clock.advance(Millis::minutes(16));
        let plan = reconcile::plan(&stage.ticketing).await.expect("stores");
        let line = |word: &str| {
            let line = plan.lines().find(|line| line.starts_with(word));
            line.unwrap_or_else(|| panic!("no {word} in {plan}"))
        };
        let bury = format!("; would write order {lost} as discarded, then free seat(s) 1, 2");
        assert!(line("orphan_lock").ends_with(&bury), "{plan}");
        let cancel = format!("; would cancel order {overdue}");
        assert!(line("overdue_order").ends_with(&cancel), "{plan}");
        assert!(
            plan.ends_with("2 finding(s); nothing was touched."),
            "{plan}"
        );
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        assert_eq!(stage.status(lost).await, None);
        assert_eq!(stage.status(overdue).await, Some(OrderStatus::Pending));

        let done = reconcile::reconcile(&stage.ticketing).await;
        let done = done.expect("stores").expect("nobody else leads");
        assert!(done.ends_with("2 finding(s), 2 repaired."), "{done}");
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
    });
}

#[test]
fn a_dry_run_names_the_payments_that_the_gateway_would_be_asked_about() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.pending(&user, show, &[1]).await;
        let payment = stage.payment(&user, order_no).await;
        let ended = stage
            .ticketing
            .end_order(order_no, app::domain::order::CancelReason::User);
        assert!(ended.await.expect("stores"));
        stage.clock.advance(Millis::minutes(2));
        let plan = reconcile::plan(&stage.ticketing).await.expect("stores");
        let ask = format!(
            "would ask the gateway about payment {}",
            payment.out_trade_no
        );
        assert!(plan.contains(&ask), "{plan}");
    });
}

#[test]
fn a_show_is_not_read_again_while_accepted_orders_would_be_lost() {
    run(async {
        let stage = Stage::with(&[("SEATFLOW_RESEND_AFTER_MS", "100")]).await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[1]).await.expect("a hold");
        // As after the death of the server that accepted it: Kafka has not acknowledged it.
        let placed_ms = (stage.clock.now().0).to_string();
        let number = order_no.to_string();
        let unsent = ["ZADD", &placed_ms, &number];
        let acknowledged = || {
            eventually("Kafka has acknowledged it", || async {
                let soon = stage.clock.now() + Millis(1);
                let under_way = stage.ticketing.redis().unsent(show, soon, 9);
                under_way.await.expect("Redis").is_empty().then_some(())
            })
        };
        acknowledged().await;
        stage.meddle(show, ShowKey::Unsent, &unsent).await;
        stage.clock.advance(Millis(LOCK_LEASE.0));
        let refused = stage.ticketing.rebuild_show(show, Unsent::Await).await;
        assert!(
            matches!(refused, Err(RebuildError::Unsent(1))),
            "{refused:?}"
        );
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked, "untouched");

        assert_eq!(stage.ticketing.relay_once().await.expect("Redis"), 1);
        acknowledged().await;
        let again = stage.ticketing.rebuild_show(show, Unsent::Await).await;
        again.expect("Kafka has it, and a consumer will write it");
        stage.meddle(show, ShowKey::Unsent, &unsent).await;
        let lost = stage.ticketing.rebuild_show(show, Unsent::Lose).await;
        lost.expect("staff have said so");
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
    });
}
