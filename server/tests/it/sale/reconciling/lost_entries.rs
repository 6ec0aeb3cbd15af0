//! A piece of a standing zone that loses its entries and keeps its counts.

use crate::{
    sale::refunds::pay,
    standing::floor::{Floor, pending, staged, violations},
    support::{Stage, all_repaired, run},
};
use server::{redis::keys::PieceKey, ticketing::reconcile::Class};

fn lose_entries(stage: &Stage, floor: Floor) {
    let keys = stage.ticketing.redis().keys();
    let url = std::env::var("REDIS_URL").expect("REDIS_URL");
    let client = redis::Client::open(url).expect("an address");
    let mut connection = client.get_connection().expect("Redis");
    for piece in floor.pieces() {
        let lost = redis::cmd("DEL")
            .arg(keys.piece(piece, PieceKey::Taken))
            .query::<u32>(&mut connection);
        assert_eq!(lost, Ok(1));
    }
}

#[test]
fn entries_that_were_lost_are_written_and_counted_once_in_one_round() {
    run(async {
        // Counted twice they would be more than the piece has.
        let (stage, floor) = staged(6, 1).await;
        let user = stage.user().await;
        pending(&stage, &user, floor, 4).await;
        lose_entries(&stage, floor);
        assert_eq!(
            all_repaired(&stage.ticketing).await,
            [Class::SeatLost, Class::Counter]
        );
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (4, 0, 2));
        assert_eq!(all_repaired(&stage.ticketing).await, []);
        assert_eq!(violations(&stage.ticketing).await, []);
        pending(&stage, &stage.user().await, floor, 2).await;
    });
}

#[test]
fn places_whose_entries_were_lost_are_not_sold_again_while_an_order_is_on_its_way() {
    run(async {
        let (stage, floor) = staged(10, 1).await;
        let redis = stage.ticketing.redis();
        pending(&stage, &stage.user().await, floor, 2).await;
        let buyer = stage.user().await;
        let paid = pending(&stage, &buyer, floor, 2).await;
        pay(&stage, &buyer, paid).await;
        let other = stage.user().await;
        let held = stage.hold_places(&other, floor.show, floor.zone, 2);
        let held = held.await.expect("a hold");
        assert_eq!(floor.counts(redis).await, (4, 2, 4));
        lose_entries(&stage, floor);
        // The order that has no row can't be written again, so its places can't be told from free ones.
        assert_eq!(
            all_repaired(&stage.ticketing).await,
            [Class::SeatLost, Class::PaidNotSold]
        );
        let (_, _, left) = floor.counts(redis).await;
        assert!(left <= 4, "{left} places are offered, and 4 are free");

        let message = stage.message(floor.show, held).await;
        let created = stage.ticketing.create_orders(&[message]).await;
        created.expect("stores");
        assert_eq!(
            all_repaired(&stage.ticketing).await,
            [Class::SeatLost, Class::Counter]
        );
        assert_eq!(floor.counts(redis).await, (4, 2, 4));
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}
