//! Redis loses places of a standing zone while orders for them are on their way: nobody is offered them before those
//! orders have their rows.

use super::floor::{Floor, violations};
use crate::support::{ShowSpec, Stage, eventually, run};
use app::{
    domain::{
        hold::{LimitedBy, Refusal},
        ids::OrderNo,
        order::OrderStatus,
        time::{Millis, Timestamp},
    },
    error::AppError,
};
use server::{
    clock::Clock,
    kafka::messages::{Message, StandingPiece},
    redis::{
        keys::Piece,
        scripts::{HoldCommand, HoldReply},
    },
};

const REBUILDING: AppError = AppError::Refused {
    refusal: Refusal::Rebuilding,
};

/// What Redis loses.
#[derive(Debug, Clone, Copy)]
enum Loss {
    Everything,
    Piece(u16),
}

async fn lose(stage: &Stage, floor: Floor, loss: Loss) {
    let redis = stage.ticketing.redis();
    let (zone, all) = (floor.zone, 0..floor.pieces);
    let pieces = match loss {
        Loss::Everything => {
            redis.forget_show(floor.show).await.expect("Redis");
            all
        }
        Loss::Piece(piece) => piece..piece + 1,
    };
    for piece in pieces {
        redis
            .forget_piece(Piece { zone, piece })
            .await
            .expect("Redis");
    }
}

/// A show with six places in two pieces, and an order for four of them whose message is in Kafka and not read yet.
async fn on_its_way() -> (Stage, Floor, OrderNo) {
    let settings = [
        ("SEATFLOW_DRAIN_MAX_MS", "60000"),
        ("SEATFLOW_DISCARD_AFTER_MS", "50000"),
    ];
    let stage = Stage::with(&settings).await;
    let spec = ShowSpec {
        standing: Some((6, 2)),
        limit: 6,
        ..ShowSpec::default()
    };
    let show = stage.show(spec).await;
    let floor = Floor::of(stage.ticketing.db(), show).await;
    let held = stage
        .hold_places(&stage.user().await, show, floor.zone, 4)
        .await;
    let order_no = held.expect("a hold");
    eventually("Kafka has the order", || async {
        let redis = stage.ticketing.redis();
        let unsent = redis.unsent(show, Timestamp(i64::MAX), 10).await;
        unsent.expect("Redis").is_empty().then_some(())
    })
    .await;
    (stage, floor, order_no)
}

async fn hold(stage: &Stage, floor: Floor, quantity: u32) -> Result<OrderNo, AppError> {
    let user = stage.user().await;
    stage
        .hold_places(&user, floor.show, floor.zone, quantity)
        .await
}

/// The places are nobody's until the order on its way has its row, and then its buyer's.
async fn nobody_else_gets_the_places(loss: Loss) {
    let (stage, floor, order_no) = on_its_way().await;
    lose(&stage, floor, loss).await;
    for quantity in [6, 6, 1] {
        let refused = hold(&stage, floor, quantity).await;
        // A piece that is not lost has places to sell, as long as they are enough.
        if !matches!(loss, Loss::Piece(_)) || quantity == 6 {
            assert_eq!(refused, Err(REBUILDING), "{loss:?}");
        }
    }
    let consumer = stage.consume();
    let loaded = stage.ticketing.load_show_patiently(floor.show).await;
    loaded.expect("stores");
    consumer.stop().await;
    assert_eq!(stage.status(order_no).await, Some(OrderStatus::Pending));
    let too_many = hold(&stage, floor, 3).await;
    assert!(
        matches!(
            too_many,
            Err(AppError::Refused {
                refusal: Refusal::ZoneSoldOut { .. }
            })
        ),
        "{too_many:?}"
    );
    let (locked, sold, left) = floor.counts(stage.ticketing.redis()).await;
    assert_eq!((locked + left, sold), (6, 0));
    assert!(locked >= 4, "{locked} of them the first buyer's");
    assert_eq!(violations(&stage.ticketing).await, []);
}

#[test]
fn places_on_their_way_are_offered_to_nobody_after_redis_is_lost() {
    run(nobody_else_gets_the_places(Loss::Everything));
}

#[test]
fn places_on_their_way_are_offered_to_nobody_after_a_piece_is_lost() {
    run(async {
        // Which piece the order took from first depends on its number.
        nobody_else_gets_the_places(Loss::Piece(0)).await;
        nobody_else_gets_the_places(Loss::Piece(1)).await;
    });
}

/// An order for two places that was accepted by a server which died before it sent the message: the relay has it.
async fn accepted_and_not_sent(stage: &Stage, floor: Floor, like: OrderNo) -> OrderNo {
    let redis = stage.ticketing.redis();
    let (user, now) = (stage.user().await, stage.clock.now());
    let mut message = stage.message(floor.show, like).await;
    message.order_no = OrderNo::from_parts(now.0, 60, 7, user.id).expect("a number");
    message.user_id = user.id;
    message.placed_at = now;
    message.items.truncate(2);
    message.amount_minor = message.items.iter().map(|item| item.price_minor).sum();
    let places = floor.places(redis).await;
    let free = places.iter().position(|places| places.left() >= 2);
    let piece = floor.pieces()[free.expect("two places")];
    message.pieces = vec![StandingPiece {
        zone_id: piece.zone,
        piece: piece.piece,
        quantity: 2,
    }];
    stage.take_places(piece, message.order_no, 2).await;
    let hold = HoldCommand {
        show: floor.show,
        order_no: message.order_no,
        user: user.id,
        level: 0,
        now,
        seats: Vec::new(),
        standing: vec![None; 2],
        limits: vec![(LimitedBy::User, user.id.to_string())],
        idempotency_key: "a-key-of-a-test".to_owned(),
        fingerprint: "two places".to_owned(),
        message: String::from_utf8(message.encode()).expect("text"),
    };
    let reply = redis.hold(&hold).await.expect("Redis");
    assert!(matches!(reply, HoldReply::Held { .. }), "{reply:?}");
    message.order_no
}

#[test]
fn places_of_a_lost_piece_wait_for_an_order_that_kafka_does_not_have_yet() {
    run(async {
        let (stage, floor, order_no) = on_its_way().await;
        let consumer = stage.consume();
        eventually("the order is written", || stage.status(order_no)).await;
        let unsent = accepted_and_not_sent(&stage, floor, order_no).await;
        for piece in floor.pieces() {
            let redis = stage.ticketing.redis();
            redis.forget_piece(piece).await.expect("Redis");
        }
        assert_eq!(hold(&stage, floor, 1).await, Err(REBUILDING));
        stage.clock.advance(Millis::seconds(3));
        assert_eq!(stage.ticketing.relay_once().await.expect("stores"), 1);
        let loaded = stage.ticketing.load_show_patiently(floor.show).await;
        loaded.expect("stores");
        consumer.stop().await;
        assert_eq!(stage.status(unsent).await, Some(OrderStatus::Pending));
        assert_eq!(floor.counts(stage.ticketing.redis()).await, (6, 0, 0));
        assert_eq!(violations(&stage.ticketing).await, []);
    });
}
