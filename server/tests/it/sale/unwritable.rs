//! An order that the database refuses for good is given up by itself: the others of its batch, and those behind it, are
//! written.

use crate::support::{ShowSpec, Stage, eventually, run};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    order::OrderStatus,
    seat::SeatState,
    time::Millis,
    user::User,
};
use server::{
    kafka::{
        Topic,
        messages::{Message, Placed},
    },
    ticketing::dead_letters::Letter,
};

/// A seat of row "10", whose name is too long for the column as [`narrowed`] leaves it.
const IN_ROW_TEN: u32 = 185;

/// A show with ten rows and a standing zone, in a database that takes neither row names of two characters nor three
/// places of a piece: what a plan, a build or a change of the tables may bring about, and nobody thought of.
async fn narrowed(stage: &Stage) -> (ShowId, ZoneId) {
    let spec = ShowSpec {
        seats: 200,
        standing: Some((12, 1)),
        ..ShowSpec::default()
    };
    let show = stage.show(spec).await;
    let pool = stage.ticketing.db().pool();
    for change in [
        "ALTER TABLE order_item MODIFY COLUMN seat_row VARCHAR(1) NOT NULL",
        "ALTER TABLE order_piece ADD CONSTRAINT order_piece_few CHECK (quantity < 3)",
    ] {
        sqlx::query(change).execute(pool).await.expect("a change");
    }
    let zone: u64 = sqlx::query_scalar("SELECT id FROM show_zone WHERE category = 'Floor'")
        .fetch_one(pool)
        .await
        .expect("a standing zone");
    (show, ZoneId(zone))
}

/// Orders that can't be written among some that can: the former's numbers with their buyers, and the latter's.
async fn mixed(stage: &Stage, show: ShowId, zone: ZoneId) -> (Vec<(User, OrderNo)>, Vec<OrderNo>) {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for seat in [1, 2, IN_ROW_TEN, 3, 4] {
        let user = stage.user().await;
        let order_no = stage.hold(&user, show, &[seat]).await.expect("a hold");
        match seat {
            IN_ROW_TEN => bad.push((user, order_no)),
            _ => good.push(order_no),
        }
    }
    for quantity in [2, 3] {
        let user = stage.user().await;
        let held = stage.hold_places(&user, show, zone, quantity).await;
        match quantity {
            3 => bad.push((user, held.expect("a hold"))),
            _ => good.push(held.expect("a hold")),
        }
    }
    (bad, good)
}

async fn places_left(stage: &Stage, show: ShowId) -> u32 {
    // The counts are kept for a moment.
    tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    let left = stage.ticketing.standing_left(show).await.expect("Redis");
    left[0].1
}

/// What must be true once everybody has been heard.
async fn is_settled(stage: &Stage, show: ShowId, bad: &[(User, OrderNo)], good: &[OrderNo]) {
    for order_no in good {
        assert_eq!(stage.status(*order_no).await, Some(OrderStatus::Pending));
    }
    for (user, order_no) in bad {
        assert_eq!(stage.status(*order_no).await, Some(OrderStatus::Discarded));
        let told = stage.ticketing.own_order(user, *order_no).await;
        assert_eq!(told.expect("an order").status, OrderStatus::Discarded);
    }
    assert_eq!(stage.seat(show, IN_ROW_TEN).await, SeatState::Available);
    assert_eq!(stage.seat(show, 1).await, SeatState::Locked);
    assert_eq!(
        places_left(stage, show).await,
        10,
        "two are of a good order"
    );
    let evidence = stage.ticketing.verify().await.expect("stores");
    assert!(evidence.is_clean(), "{}", evidence.table());
}

#[test]
fn orders_that_cannot_be_written_leave_the_rest_of_their_batch_alone_and_hold_nothing() {
    run(async {
        let stage = Stage::new().await;
        let (show, zone) = narrowed(&stage).await;
        let (bad, good) = mixed(&stage, show, zone).await;
        let mut batch = Vec::new();
        for order_no in bad.iter().map(|(_, order_no)| order_no).chain(&good) {
            batch.push(stage.message(show, *order_no).await);
        }
        let given_up = stage.ticketing.create_orders(&batch).await.expect("stores");
        let numbers: Vec<OrderNo> = given_up.iter().map(|given_up| given_up.order_no).collect();
        assert_eq!(numbers, [bad[0].1, bad[1].1]);
        assert!(given_up[0].reason.contains("seat_row"), "{given_up:?}");
        assert!(
            given_up[1].reason.contains("order_piece_few"),
            "{given_up:?}"
        );
        is_settled(&stage, show, &bad, &good).await;
        let notes: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM reconciliation_entry WHERE class = 'unwritable'",
        )
        .fetch_one(stage.ticketing.db().pool())
        .await
        .expect("notes");
        assert_eq!(notes, 2);

        // A crash before the commit: all of it comes again, and the dead letters may not have been written.
        let again = stage.ticketing.create_orders(&batch).await.expect("stores");
        assert_eq!(again.len(), 2, "{again:?}");
        is_settled(&stage, show, &bad, &good).await;
    });
}

#[test]
fn the_message_of_an_unwritable_order_is_a_dead_letter_and_trying_it_again_is_harmless() {
    run(async {
        let stage = Stage::with(&[("SEATFLOW_DISCARD_AFTER_MS", "50000")]).await;
        let (show, zone) = narrowed(&stage).await;
        let (bad, mut good) = mixed(&stage, show, zone).await;
        let letters = |count: usize| {
            let ticketing = &stage.ticketing;
            async move {
                eventually("dead letters", || async {
                    let letters = ticketing.letters(Topic::OrderCreate, 10).await;
                    let letters: Vec<Letter> = letters.ok()?;
                    (letters.len() >= count).then_some(letters)
                })
                .await
            }
        };
        let consumer = stage.consume();
        let found = letters(2).await;
        let of: Vec<OrderNo> = found
            .iter()
            .map(|letter| {
                Placed::decode(&letter.letter.payload)
                    .expect("an order")
                    .order_no
            })
            .collect();
        for (_, order_no) in &bad {
            assert!(of.contains(order_no), "{of:?}");
        }
        assert!(found[0].letter.reason.contains("database failure"));

        // What comes behind them is written.
        let user = stage.user().await;
        let behind = stage.hold(&user, show, &[7]).await.expect("a hold");
        good.push(behind);
        for order_no in &good {
            eventually("a good order is written", || async {
                stage.status(*order_no).await
            })
            .await;
        }
        is_settled(&stage, show, &bad, &good).await;

        // The tables take such a row by now, and its seat is somebody else's: what comes again changes nothing.
        sqlx::query("ALTER TABLE order_item MODIFY COLUMN seat_row VARCHAR(40) NOT NULL")
            .execute(stage.ticketing.db().pool())
            .await
            .expect("a change");
        let other = stage.user().await;
        let next = stage.hold(&other, show, &[IN_ROW_TEN]).await.expect("free");
        let retried = stage.ticketing.retry_letters(Topic::OrderCreate, 10).await;
        assert_eq!(retried.expect("Kafka"), 2);
        letters(4).await;
        eventually("the next buyer's order", || stage.status(next)).await;
        consumer.stop().await;
        assert_eq!(stage.status(next).await, Some(OrderStatus::Pending));
        for (_, order_no) in &bad {
            assert_eq!(stage.status(*order_no).await, Some(OrderStatus::Discarded));
        }
        let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
        assert_eq!(owners.get(&SeatIndex(IN_ROW_TEN)), Some(&next));
        let evidence = stage.ticketing.verify().await.expect("stores");
        assert!(evidence.is_clean(), "{}", evidence.table());
    });
}

#[test]
fn an_unwritable_order_that_came_too_late_is_discarded_all_the_same() {
    run(async {
        let stage = Stage::new().await;
        let (show, _) = narrowed(&stage).await;
        let user = stage.user().await;
        let held = stage.hold(&user, show, &[IN_ROW_TEN]).await;
        let order_no = held.expect("a hold");
        let message = stage.message(show, order_no).await;
        stage.clock.advance(Millis::seconds(6));
        let given_up = stage.ticketing.create_orders(&[message]).await;
        assert_eq!(given_up.expect("stores").len(), 1);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Discarded));
        let owners = stage.ticketing.redis().owners(show).await.expect("Redis");
        assert!(!owners.contains_key(&SeatIndex(IN_ROW_TEN)));
    });
}
