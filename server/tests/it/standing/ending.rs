//! Places of orders that end, and capacities that change meanwhile.

use super::floor::{Floor, pending, staged, violations};
use crate::support::{ShowSpec, TestApp, eventually, run};
use app::{
    domain::{
        hold::Refusal,
        order::{CancelReason, OrderStatus},
        time::Millis,
    },
    error::AppError,
};
use futures::future::join_all;
use server::{
    redis::keys::PieceKey,
    ticketing::{Ticketing, standing::capacity::CapacityError},
};
use std::collections::BTreeMap;

/// How often the logs of the zone's pieces say that something was given back.
async fn given_back(ticketing: &Ticketing, floor: Floor) -> usize {
    let mut given = 0;
    for piece in floor.pieces() {
        let key = ticketing.redis().keys().piece(piece, PieceKey::Quantities);
        let changes = ticketing.redis().quantity_changes(&key, 100).await;
        let changes = changes.expect("a log");
        given += changes
            .iter()
            .filter(|change| change.why == "release")
            .count();
    }
    given
}

#[test]
fn an_order_that_expires_gives_its_places_back_once() {
    run(async {
        let (stage, floor) = staged(10, 2).await;
        let user = stage.user().await;
        let order_no = pending(&stage, &user, floor, 2).await;
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 2);
        stage.clock.advance(Millis::minutes(16));
        assert_eq!(stage.ticketing.sweep_once().await.expect("stores"), 1);
        stage.ticketing.expire(order_no).await.expect("stores");
        stage.ticketing.settle_due().await.expect("stores");
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (0, 0, 10));
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 0);
        assert_eq!(given_back(&stage.ticketing, floor).await, 1);
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn twenty_who_end_an_order_at_once_give_its_places_back_once() {
    run(async {
        let (stage, floor) = staged(10, 2).await;
        let user = stage.user().await;
        let order_no = pending(&stage, &user, floor, 2).await;
        let other = pending(&stage, &stage.user().await, floor, 3).await;
        let ends = (0..20).map(|_| stage.ticketing.end_order(order_no, CancelReason::User));
        let won = join_all(ends).await;
        let won = won.into_iter().filter(|won| matches!(won, Ok(true)));
        assert_eq!(won.count(), 1);
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (3, 0, 7));
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 3);
        assert_eq!(given_back(&stage.ticketing, floor).await, 1);
        assert_eq!(stage.status(other).await, Some(OrderStatus::Pending));
    });
}

#[test]
fn an_order_for_which_the_stock_has_no_places_is_discarded_and_the_others_are_written() {
    run(async {
        let (stage, floor) = staged(10, 2).await;
        let mut messages = Vec::new();
        for quantity in [2, 4, 1] {
            let user = stage.user().await;
            let held = stage
                .hold_places(&user, floor.show, floor.zone, quantity)
                .await;
            messages.push(stage.message(floor.show, held.expect("a hold")).await);
        }
        // As if Redis had sold more than there is.
        sqlx::query("UPDATE standing_stock SET capacity = 3 WHERE zone_id = ?")
            .bind(floor.zone.0)
            .execute(stage.ticketing.db().pool())
            .await
            .expect("a smaller stock");
        stage
            .ticketing
            .create_orders(&messages)
            .await
            .expect("stores");
        let mut statuses = Vec::new();
        for message in &messages {
            statuses.push(stage.status(message.order_no).await);
        }
        let (pending, discarded) = (OrderStatus::Pending, OrderStatus::Discarded);
        assert_eq!(statuses, [Some(pending), Some(discarded), Some(pending)]);
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 3);
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (3, 0, 7));
        // Delivered again, nothing more happens.
        stage
            .ticketing
            .create_orders(&messages)
            .await
            .expect("stores");
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 3);
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (3, 0, 7));
    });
}

#[test]
fn a_capacity_below_what_is_held_and_sold_is_refused_with_the_numbers() {
    run(async {
        let app = TestApp::shared().await;
        let spec = ShowSpec {
            standing: Some((20, 4)),
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let floor = Floor::of(app.db(), show).await;
        let (buyer, holder) = (app.customer().await, app.customer().await);
        let place = |customer: crate::support::Customer, quantity| async move {
            let order_no = customer.place_best(floor.show, floor.zone, quantity).await;
            let order_no = order_no.expect("an order");
            customer.until(order_no, OrderStatus::Pending).await;
            order_no
        };
        let paid = place(buyer.clone(), 2).await;
        buyer.pay(paid).await;
        place(holder, 3).await;
        let redis = app.ticketing().redis();
        eventually("two places are sold", || async {
            (floor.counts(redis).await == (3, 2, 15)).then_some(())
        })
        .await;
        let refused = app.ticketing().set_standing_capacity(floor.zone, 4).await;
        let refused = refused.expect_err("five are taken");
        assert!(
            matches!(refused, CapacityError::Below { held: 3, sold: 2 }),
            "{refused:?}"
        );
        assert_eq!(
            refused.to_string(),
            "2 places are sold and 3 are held: the zone can't have fewer than 5"
        );
        assert_eq!(floor.counts(redis).await, (3, 2, 15), "nothing has changed");
        assert_eq!(floor.stock(app.db()).await.capacity, 20);
        let set = app.ticketing().set_standing_capacity(floor.zone, 5).await;
        set.expect("exactly what is taken");
        let (_, error) = app
            .customer()
            .await
            .place_best(floor.show, floor.zone, 1)
            .await
            .expect_err("nothing is left");
        assert_eq!(
            error,
            AppError::from(Refusal::ZoneSoldOut { zone: floor.zone })
        );
        let set = app.ticketing().set_standing_capacity(floor.zone, 9).await;
        set.expect("more places");
        place(app.customer().await, 4).await;
        assert_eq!(floor.counts(redis).await, (7, 2, 0));
        assert_eq!(floor.stock(app.db()).await.capacity, 9);
        let totals: u32 = floor
            .places(redis)
            .await
            .iter()
            .map(|places| places.total)
            .sum();
        assert_eq!(totals, 9);
    });
}

#[test]
fn a_capacity_can_change_while_the_zone_is_sold_without_selling_too_much() {
    run(async {
        let (stage, floor) = staged(60, 3).await;
        let mut users = Vec::new();
        for _ in 0..40 {
            users.push(stage.user().await);
        }
        let buying = join_all(
            users
                .iter()
                .map(|user| stage.hold_places(user, floor.show, floor.zone, 1)),
        );
        let changing = async {
            let mut outcomes = BTreeMap::new();
            for capacity in [30, 20, 45, 25, 40, 35] {
                let outcome = stage
                    .ticketing
                    .set_standing_capacity(floor.zone, capacity)
                    .await;
                outcomes.insert(capacity, outcome.is_ok());
            }
            outcomes
        };
        let (answers, outcomes) = tokio::join!(buying, changing);
        let held = u32::try_from(answers.iter().filter(|answer| answer.is_ok()).count()).unwrap();
        let capacity = floor.stock(stage.ticketing.db()).await.capacity;
        assert!(held <= capacity, "{held} held of {capacity}: {outcomes:?}");
        let redis = stage.ticketing.redis();
        let totals: u32 = floor
            .places(redis)
            .await
            .iter()
            .map(|places| places.total)
            .sum();
        assert_eq!(totals, capacity, "the pieces add up");
        assert_eq!(floor.counts(redis).await, (held, 0, capacity - held));
    });
}
