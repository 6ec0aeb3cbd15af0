//! A piece of a standing zone that loses its entries and keeps its counts.

use super::floor::{pending, staged, violations};
use crate::support::{all_repaired, run};
use server::{redis::keys::PieceKey, ticketing::reconcile::Class};

#[test]
fn entries_that_were_lost_are_written_and_counted_once_in_one_round() {
    run(async {
        // Counted twice they would be more than the piece has.
        let (stage, floor) = staged(6, 1).await;
        let user = stage.user().await;
        pending(&stage, &user, floor, 4).await;
        let redis = stage.ticketing.redis();
        let key = redis.keys().piece(floor.pieces()[0], PieceKey::Taken);
        let url = std::env::var("REDIS_URL").expect("REDIS_URL");
        let client = redis::Client::open(url).expect("an address");
        let mut connection = client.get_connection().expect("Redis");
        let lost = redis::cmd("DEL").arg(&key).exec(&mut connection);
        lost.expect("a command");
        assert_eq!(
            all_repaired(&stage.ticketing).await,
            [Class::SeatLost, Class::Counter]
        );
        assert_eq!(floor.counts(redis).await, (4, 0, 2));
        assert_eq!(all_repaired(&stage.ticketing).await, []);
        assert_eq!(violations(&stage.ticketing).await, []);
        pending(&stage, &stage.user().await, floor, 2).await;
    });
}
