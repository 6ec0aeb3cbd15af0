//! An order that many give back at once.

use crate::support::{ShowSpec, Stage, run};
use app::domain::{
    order::{CancelReason, OrderStatus},
    seat::SeatState,
};
use futures::future::join_all;
use server::redis::scripts::ReleaseReply;

const AT_ONCE: usize = 32;
const REASONS: [CancelReason; 4] = [
    CancelReason::User,
    CancelReason::Timeout,
    CancelReason::ShowWithdrawn,
    CancelReason::PaymentClosed,
];

#[test]
fn an_order_that_thirty_two_end_at_once_is_given_back_once() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let user = stage.user().await;
        // Seats of two zones, so that a zone could be given the seats of the other.
        let order_no = stage.pending(&user, show, &[8, 9, 10, 11]).await;
        stage.payment(&user, order_no).await;
        let ends = (0..AT_ONCE).map(|caller| {
            let ticketing = stage.ticketing.clone();
            let reason = REASONS[caller % REASONS.len()];
            tokio::spawn(async move { ticketing.end_order(order_no, reason).await })
        });
        let ended = join_all(ends).await.into_iter();
        let ended = ended.map(|end| end.expect("a caller").expect("stores"));
        let winners: Vec<usize> = (0..AT_ONCE)
            .zip(ended)
            .filter(|(_, won)| *won)
            .map(|(caller, _)| caller)
            .collect();
        assert_eq!(winners.len(), 1);
        let order = stage
            .ticketing
            .db()
            .order(order_no)
            .await
            .expect("a database");
        let order = order.expect("the order");
        assert_eq!(order.status, OrderStatus::Cancelled);
        let reason = REASONS[winners[0] % REASONS.len()];
        assert_eq!(order.cancel_reason, Some(reason), "the winner's");
        for seat in 8..12 {
            assert_eq!(stage.seat(show, seat).await, SeatState::Available);
        }
        let left = stage.ticketing.redis().remaining(&[show]).await;
        let mut left = left.expect("Redis").remove(0).expect("a loaded show");
        left.sort_unstable();
        let left: Vec<u32> = left.into_iter().map(|(_, left)| left).collect();
        assert_eq!(left, [10, 30]);
        let closings: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM outbox WHERE kind = 'payment.close'")
                .fetch_one(stage.ticketing.db().pool())
                .await
                .expect("a database");
        assert_eq!(closings, 1, "the gateway is told once");
        // As many seats as before can be bought: the buyer's limit went down by four and not by more.
        stage.pending(&user, show, &[0, 1, 2, 3]).await;
        stage.hold(&user, show, &[4]).await.expect_err("a fifth");
    });
}

#[test]
fn a_release_that_comes_after_the_seats_were_bought_again_leaves_them_to_their_buyer() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let first = stage.pending(&stage.user().await, show, &[3, 4]).await;
        let ended = stage.ticketing.end_order(first, CancelReason::User).await;
        assert!(ended.expect("stores"));
        let second = stage.pending(&stage.user().await, show, &[3, 4]).await;
        let late = (0..AT_ONCE).map(|_| {
            let redis = stage.ticketing.redis().clone();
            tokio::spawn(async move { redis.release(show, first).await })
        });
        for reply in join_all(late).await {
            let reply = reply.expect("a caller").expect("Redis");
            assert!(matches!(reply, ReleaseReply::Nothing), "{reply:?}");
        }
        let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
        assert!(owners.values().all(|owner| *owner == second), "{owners:?}");
        assert_eq!(owners.len(), 2);
    });
}
