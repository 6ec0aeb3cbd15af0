//! A discarded order whose places Redis can't give back: a person hears of it, and nobody is sold the same seat.

use crate::support::{ShowSpec, Stage, all_repaired, run};
use app::domain::{order::OrderStatus, seat::SeatState, time::Millis};
use server::{redis::keys::ShowKey, ticketing::reconcile::Class};

#[test]
fn an_order_whose_places_cannot_be_given_back_is_a_dead_letter_until_they_can() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let (user, other) = (stage.user().await, stage.user().await);
        let stuck = stage.hold(&user, show, &[1]).await.expect("a hold");
        let behind = stage.hold(&other, show, &[2]).await.expect("a hold");
        let mut batch = vec![stage.message(show, stuck).await];
        batch.push(stage.message(show, behind).await);
        let number = stuck.to_string();
        let unreadable = ["HSET", &number, "no record of a hold"];
        stage.meddle(show, ShowKey::Holds, &unreadable).await;
        // Both are stale by now.
        stage.clock.advance(Millis::seconds(6));
        let given_up = stage.ticketing.create_orders(&batch).await.expect("stores");
        let numbers: Vec<_> = given_up.iter().map(|given_up| given_up.order_no).collect();
        assert_eq!(numbers, [stuck], "the one behind it is given back");
        assert!(
            given_up[0].reason.contains("not given back"),
            "{given_up:?}"
        );
        for order_no in [stuck, behind] {
            let status = stage.status(order_no).await;
            assert_eq!(status, Some(OrderStatus::Discarded));
        }
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
        assert_eq!(stage.seat(show, 2).await, SeatState::Available);

        stage.clock.advance(Millis::seconds(11));
        let found = all_repaired(&stage.ticketing).await;
        assert_eq!(found, [Class::OrphanLock], "by the seat's owner");
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        let again = stage.ticketing.create_orders(&batch).await;
        assert_eq!(again.expect("stores"), [], "sent back, it ends well");
        assert_eq!(all_repaired(&stage.ticketing).await, []);
    });
}
