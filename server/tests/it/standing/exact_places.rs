//! An order has as many places as tickets, or nothing at all.

use super::floor::{Floor, staged, violations};
use crate::support::{Stage, reconcile, run};
use app::domain::{
    ids::{OrderNo, SeatIndex},
    order::OrderStatus,
    time::Millis,
    user::User,
};
use server::{
    kafka::messages::Placed,
    redis::keys::{Piece, PieceKey},
};

/// The number of the next order on this stage, whose clock stands still: it follows that of an order for a seat.
async fn next_number(stage: &Stage, floor: Floor, user: &User) -> OrderNo {
    let before = stage.hold(&stage.user().await, floor.show, &[1]).await;
    let before = u64::try_from(before.expect("a hold").as_i64()).expect("a number");
    let next = (before / OrderNo::SHARDS + 1) * OrderNo::SHARDS + user.id.0 % OrderNo::SHARDS;
    OrderNo::try_from(i64::try_from(next).expect("a number")).expect("a number")
}

/// Writes what an order has of a piece behind the application's back.
fn write_entry(stage: &Stage, piece: Piece, order_no: OrderNo, entry: &str) {
    let url = std::env::var("REDIS_URL").expect("REDIS_URL");
    let client = redis::Client::open(url).expect("an address");
    let mut connection = client.get_connection().expect("Redis");
    let key = stage.ticketing.redis().keys().piece(piece, PieceKey::Taken);
    redis::cmd("HSET")
        .arg(key)
        .arg(order_no.to_string())
        .arg(entry)
        .exec(&mut connection)
        .expect("an entry");
}

fn places_of(message: &Placed) -> u32 {
    message.pieces.iter().map(|piece| piece.quantity).sum()
}

#[test]
fn places_that_a_round_before_left_with_an_order_are_not_taken_for_all_it_wants() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let user = stage.user().await;
        let order_no = next_number(&stage, floor, &user).await;
        // Neither piece has four places, so the order was collecting them.
        stage.take_places(floor.pieces()[1], order_no, 1).await;
        let held = stage.hold_places(&user, floor.show, floor.zone, 4).await;
        assert_eq!(held.expect("six places are left"), order_no);
        let message = stage.message(floor.show, order_no).await;
        assert_eq!((message.items.len(), places_of(&message)), (4, 4));
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (4, 0, 2));
        let written = stage.ticketing.create_orders(&[message]).await;
        assert_eq!(written.expect("stores"), []);
        assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 4);
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}

#[test]
fn an_order_whose_places_do_not_go_back_is_not_held() {
    run(async {
        let (stage, floor) = staged(6, 2).await;
        let user = stage.user().await;
        let order_no = next_number(&stage, floor, &user).await;
        // A place that is taken, and an entry of which the script that gives it back can make nothing.
        stage.take_places(floor.pieces()[1], order_no, 1).await;
        write_entry(&stage, floor.pieces()[1], order_no, "1");
        let held = stage.hold_places(&user, floor.show, floor.zone, 4).await;
        held.expect_err("it would have a place more, or fewer, than tickets");
        let redis = stage.ticketing.redis();
        let holding = redis.holding_orders(floor.show).await.expect("Redis");
        assert!(!holding.contains(&order_no));
        assert_eq!(floor.counts(redis).await, (1, 0, 5), "nothing is added");
        // Once it can be read again its lease ends as that of any order that was never held.
        let entry = format!("1|locked|{}", order_no.made_at_ms());
        write_entry(&stage, floor.pieces()[1], order_no, &entry);
        stage.clock.advance(Millis::seconds(61));
        reconcile(&stage.ticketing).await;
        assert_eq!(floor.counts(redis).await, (0, 0, 6));
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
    });
}

/// Holds three places, and writes the order from a message that says something else; its number.
async fn written_otherwise(stage: &Stage, floor: Floor, change: fn(&mut Placed)) -> OrderNo {
    let user = stage.user().await;
    let held = stage.hold_places(&user, floor.show, floor.zone, 3).await;
    let order_no = held.expect("a hold");
    let mut message = stage.message(floor.show, order_no).await;
    change(&mut message);
    // Another order in the same batch has nothing to do with it.
    let good = stage.hold(&stage.user().await, floor.show, &[5]).await;
    let good = good.expect("a hold");
    let batch = [message, stage.message(floor.show, good).await];
    let given_up = stage.ticketing.create_orders(&batch).await;
    assert_eq!(given_up.expect("stores"), []);
    assert_eq!(stage.status(good).await, Some(OrderStatus::Pending));
    order_no
}

async fn is_discarded(change: fn(&mut Placed)) {
    let (stage, floor) = staged(6, 2).await;
    let order_no = written_otherwise(&stage, floor, change).await;
    assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
    let notes = stage.ticketing.db().repairs(10).await.expect("notes");
    let why = |note: &&server::mysql::dead_letters::RepairNote| note.order_no == Some(order_no);
    let note = notes.iter().find(why).expect("a note");
    assert_eq!(note.class, "unequal_places");
    assert_eq!(floor.counts(stage.ticketing.redis()).await, (0, 0, 6));
    assert_eq!(floor.stock(stage.ticketing.db()).await.taken, 0);
    assert_eq!(violations(&stage.ticketing).await, []);
}

#[test]
fn an_order_with_fewer_places_than_tickets_is_discarded() {
    run(is_discarded(|message| message.pieces[0].quantity = 2));
}

#[test]
fn an_order_with_more_places_than_tickets_is_discarded() {
    run(is_discarded(|message| message.items.truncate(2)));
}

#[test]
fn a_seat_is_no_ticket_for_a_standing_place() {
    run(is_discarded(|message| {
        let seat = server::kafka::messages::Place::Seat {
            seat: SeatIndex(9),
            label: app::domain::order::SeatLabel {
                section: "A".to_owned(),
                row: "1".to_owned(),
                number: "9".to_owned(),
            },
        };
        message.items[0].place = seat;
    }));
}
