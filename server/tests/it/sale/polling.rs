//! A buyer who waits for the own order asks again and again: Redis answers until there is a row.

use crate::support::{ShowSpec, Stage, run};
use app::domain::{
    ids::OrderNo,
    order::{CancelReason, OrderStatus},
    time::Millis,
    user::User,
};

async fn told(stage: &Stage, user: &User, order_no: OrderNo) -> OrderStatus {
    let order = stage.ticketing.own_order(user, order_no).await;
    order.expect("an order").status
}

/// Has Redis say again that an order is on its way, as a server does that dies between writing the row and dropping this.
async fn cached_again(stage: &Stage, order_no: OrderNo, json: &str) {
    let redis = stage.ticketing.redis();
    redis.cache_order(order_no, json).await.expect("Redis");
}

#[test]
fn an_order_is_on_its_way_until_it_has_its_row_and_no_longer() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[1]).await.expect("a hold");
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Creating);
        let message = stage.message(show, order_no).await;
        let created = stage.ticketing.create_orders(&[message]).await;
        created.expect("stores");
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Pending);
        let ended = stage.ticketing.end_order(order_no, CancelReason::User);
        assert!(ended.await.expect("stores"));
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Cancelled);
    });
}

#[test]
fn redis_is_asked_before_the_database_and_believed_for_two_seconds() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let (user, other) = (stage.user().await, stage.user().await);
        let order_no = stage.hold(&user, show, &[1]).await.expect("a hold");
        let redis = stage.ticketing.redis();
        let json = redis.cached_order(order_no).await.expect("Redis");
        let json = json.expect("an accepted order is cached");
        let message = stage.message(show, order_no).await;
        let created = stage.ticketing.create_orders(&[message]).await;
        created.expect("stores");
        assert_eq!(
            redis.cached_order(order_no).await.expect("Redis"),
            None,
            "whoever writes the row drops it"
        );
        cached_again(&stage, order_no, &json).await;
        assert_eq!(
            told(&stage, &user, order_no).await,
            OrderStatus::Creating,
            "the database was not asked"
        );
        let stranger = stage.ticketing.own_order(&other, order_no).await;
        assert!(stranger.is_err(), "it is nobody else's");
        stage.clock.advance(Millis::seconds(2));
        assert_eq!(told(&stage, &user, order_no).await, OrderStatus::Pending);
    });
}
