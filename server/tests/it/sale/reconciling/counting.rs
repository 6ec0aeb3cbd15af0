//! Counters are counted again while the show is sold: what changes between the look and the repair, and what the database
//! knows before Redis does.

use super::{A_WHILE, is_clean, reconcile};
use crate::{
    sale::refunds::{paid, wish},
    support::{ShowSpec, Stage, run},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    seat::SeatState,
    time::Millis,
    user::User,
};
use server::{
    clock::Clock,
    redis::{keys::ShowKey, scripts::Counters},
    ticketing::reconcile::Class,
};

async fn counters(stage: &Stage, show: ShowId) -> Counters {
    let snapshot = stage.ticketing.redis().snapshot(show).await.expect("Redis");
    snapshot.expect("a loaded show").counters
}

/// The money of some tickets is back, and the server dies before it tells Redis.
async fn back_and_not_told(stage: &Stage, user: &User, order_no: OrderNo, items: &[u32]) {
    let refund = stage
        .ticketing
        .refund_own(user, wish(order_no, items))
        .await;
    let number = refund.expect("a refund").refund_no;
    let db = stage.ticketing.db();
    let rows = db.refund_succeeded(&number, stage.clock.now()).await;
    rows.expect("a database").expect("a refund");
}

#[test]
fn tickets_that_redis_has_yet_to_give_back_are_still_counted() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        let (whole, _) = paid(&stage, &user, show, &[5, 6]).await;
        let (partly, _) = paid(&stage, &user, show, &[8, 9]).await;
        let field = format!("u:{}", user.id);
        let before = counters(&stage, show).await;
        assert_eq!(before.bought[&field], 4);
        back_and_not_told(&stage, &user, whole, &[0, 1]).await;
        back_and_not_told(&stage, &user, partly, &[0]).await;
        assert_eq!(reconcile(&stage).await, [], "the outbox has its turn first");
        assert_eq!(counters(&stage, show).await, before);
        // A counter that is wrong meanwhile is set to what giving back will lower.
        stage.meddle(show, ShowKey::Bought, &["HDEL", &field]).await;
        assert_eq!(reconcile(&stage).await, [Class::Counter]);
        assert_eq!(counters(&stage, show).await, before);
        stage.clock.advance(A_WHILE);
        stage.ticketing.settle_due().await.expect("stores");
        assert_eq!(counters(&stage, show).await.bought[&field], 1);
        assert_eq!(stage.seat(show, 8).await, SeatState::Available);
        is_clean(&stage).await;
    });
}

#[test]
fn counters_of_a_show_that_changes_during_the_round_are_right_after_it() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        stage.pending(&stage.user().await, show, &[1]).await;
        stage.clock.advance(Millis::minutes(16));
        let user = stage.user().await;
        stage.pending(&user, show, &[2, 3]).await;
        let right = counters(&stage, show).await;
        let (zone, _) = right.zones.iter().next().expect("a zone");
        let field = format!("u:{}", user.id);
        stage.meddle(show, ShowKey::Bought, &["HDEL", &field]).await;
        stage
            .meddle(show, ShowKey::Zones, &["HINCRBY", &zone.to_string(), "-3"])
            .await;
        // The round cancels the first order after it has counted, and that changes the seats it counted.
        assert_eq!(
            reconcile(&stage).await,
            [Class::OverdueOrder, Class::Counter]
        );
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        assert_eq!(counters(&stage, show).await.bought[&field], 2);
        stage.clock.advance(A_WHILE);
        is_clean(&stage).await;
    });
}
