//! What was given up is listed with its reason, and can be tried again.

use crate::support::{ShowSpec, Stage, TestApp, eventually, run};
use app::domain::{
    order::{CancelReason, OrderStatus},
    seat::SeatState,
    time::Millis,
};
use async_trait::async_trait;
use server::{
    clock::Clock,
    kafka::{
        Subscription, Topic,
        batch::{BatchHandler, BatchLimits, HandlerError, Received, run_batches},
        messages::Placed,
    },
    kafka_config,
    mysql::outbox::{ATTEMPTS_MAX, OutboxFault},
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio_util::sync::CancellationToken;

/// Counts the orders it is handed.
struct Counting(AtomicUsize);

#[async_trait]
impl BatchHandler for Counting {
    type Message = Placed;

    async fn handle(&self, batch: &[Received<Placed>]) -> Result<(), HandlerError> {
        self.0.fetch_add(batch.len(), Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_row_that_was_given_up_is_listed_and_done_after_a_retry() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let order_no = stage.pending(&buyer, show, &[1]).await;
        let db = stage.ticketing.db();
        // The order ends, and this server dies before it gives the seat back; then giving it back fails too often.
        let ended = db.cancel_order(order_no, CancelReason::User, stage.clock.now());
        let rows = ended.await.expect("a database").expect("pending");
        let mut row = rows[0].clone();
        for attempt in 0..ATTEMPTS_MAX {
            row.attempts = attempt;
            let failed =
                db.postpone_outbox(&row, OutboxFault::Lasting, "a fault", stage.clock.now());
            failed.await.expect("a database");
        }
        stage.clock.advance(Millis::minutes(10));
        stage.ticketing.settle_due().await.expect("stores");
        assert_eq!(stage.seat(show, 1).await, SeatState::Locked, "given up");

        let dead = stage.ticketing.dead_rows().await.expect("a database");
        assert_eq!(dead.len(), 1);
        assert_eq!(dead[0].order_no, order_no);
        assert_eq!(dead[0].kind, "order.closed");
        assert_eq!(dead[0].last_error, "a fault");
        assert_eq!(dead[0].attempts, ATTEMPTS_MAX);

        assert_eq!(stage.ticketing.retry_dead_rows(10).await.expect("rows"), 1);
        assert!(stage.ticketing.dead_rows().await.expect("rows").is_empty());
        stage.ticketing.settle_due().await.expect("stores");
        assert_eq!(stage.seat(show, 1).await, SeatState::Available);
        assert_eq!(stage.status(order_no).await, Some(OrderStatus::Cancelled));
        let again = stage.ticketing.retry_dead_rows(10).await;
        assert_eq!(again.expect("a database"), 0);
    });
}

#[test]
fn a_message_that_was_given_up_is_listed_and_goes_back_once() {
    run(async {
        let stage = Stage::new().await;
        let show = stage.show(ShowSpec::default()).await;
        let buyer = stage.user().await;
        let order_no = stage.hold(&buyer, show, &[1]).await.expect("a hold");
        let config = kafka_config(stage.ticketing.config());
        let ticketing = &stage.ticketing;
        let none = ticketing.letters(Topic::OrderCreate, 10).await;
        assert_eq!(none.expect("Kafka"), []);

        // Something that is no order arrives in the topic, and nobody can read it.
        let producer = server::kafka::Producer::new(&config).expect("a producer");
        let sent = producer.enqueue(Topic::OrderCreate, "a key", b"no order", None);
        sent.expect("taken").await.expect("acknowledged");
        let counting = Arc::new(Counting(AtomicUsize::new(0)));
        let cancel = CancellationToken::new();
        let subscription = Subscription {
            config,
            producer,
            group: "create".to_owned(),
        };
        let limits = BatchLimits::default();
        let consumer = run_batches(subscription, limits, Arc::clone(&counting), cancel.clone());
        let consumer = tokio::spawn(consumer);
        let letters = eventually("the message is a dead letter", || async {
            let letters = ticketing.letters(Topic::OrderCreate, 10).await;
            letters.ok().filter(|letters| !letters.is_empty())
        })
        .await;
        assert_eq!(letters.len(), 1);
        let letter = &letters[0];
        assert_eq!(letter.retried_at, None);
        assert_eq!(letter.letter.payload, b"no order");
        assert_eq!(letter.letter.key, b"a key");
        assert_eq!(letter.letter.group, "create");
        assert!(!letter.letter.reason.is_empty());
        assert!(
            letter.letter.source.contains("order.create/"),
            "{}",
            letter.letter.source
        );

        // Sent back it is given up again, as a letter of its own; the first one is marked and stays.
        let sent = ticketing.retry_letters(Topic::OrderCreate, 10).await;
        assert_eq!(sent.expect("Kafka"), 1);
        let letters = eventually("it is given up again", || async {
            let letters = ticketing.letters(Topic::OrderCreate, 10).await;
            letters.ok().filter(|letters| letters.len() == 2)
        })
        .await;
        assert!(letters[0].retried_at.is_some(), "the first one is marked");
        assert_eq!(letters[1].retried_at, None);
        assert_eq!(letters[1].letter.payload, b"no order");
        // It lies in another partition, which may be read later.
        eventually("the good order arrived", || async {
            (counting.0.load(Ordering::Relaxed) > 0).then_some(())
        })
        .await;
        // Nothing else was sent twice: the one good order arrived once.
        assert_eq!(counting.0.load(Ordering::Relaxed), 1, "{order_no}");
        cancel.cancel();
        consumer.await.expect("no panic").expect("set up");
    });
}

#[test]
fn letters_are_sent_back_oldest_first_however_many_lie_there() {
    const LETTERS: u64 = 505;
    run(async {
        let stage = Stage::new().await;
        let config = kafka_config(stage.ticketing.config());
        let producer = server::kafka::Producer::new(&config).expect("a producer");
        for number in 0..LETTERS {
            let payload = format!("no order, {number}");
            let sent = producer.enqueue(Topic::OrderCreate, "a key", payload.as_bytes(), None);
            sent.expect("taken").await.expect("acknowledged");
        }
        let consuming = stage.consume();
        let newest = |letters: &[server::ticketing::dead_letters::Letter]| {
            let payload = letters.last().map(|letter| letter.letter.payload.clone());
            String::from_utf8(payload.unwrap_or_default()).expect("text")
        };
        eventually("all are dead letters", || async {
            let letters = stage.ticketing.letters(Topic::OrderCreate, 1).await;
            let last = newest(&letters.ok()?);
            (last == format!("no order, {}", LETTERS - 1)).then_some(())
        })
        .await;
        // What is sent back stays in its topic.
        consuming.stop().await;

        let ticketing = &stage.ticketing;
        let retry = |most| ticketing.retry_letters(Topic::OrderCreate, most);
        assert_eq!(retry(0).await.expect("Kafka"), 0);
        assert_eq!(retry(u32::MAX).await.expect("Kafka"), 500, "at once");
        let last = ticketing.letters(Topic::OrderCreate, 5).await;
        let last = last.expect("Kafka");
        assert!(
            last.iter().all(|letter| letter.retried_at.is_none()),
            "the oldest first"
        );
        assert_eq!(retry(u32::MAX).await.expect("Kafka"), LETTERS - 500);
        assert_eq!(retry(u32::MAX).await.expect("Kafka"), 0);
    });
}

#[test]
fn a_timeout_message_that_fails_as_often_as_it_may_is_a_dead_letter_and_ends_its_order_when_sent_back()
 {
    run(async {
        let app = TestApp::start(&[
            ("SEATFLOW_TIMEOUT_TRIES", "2"),
            // Neither the sweeper nor reconciliation helps.
            ("SEATFLOW_SWEEP_EVERY_MS", "3600000"),
            ("SEATFLOW_RECONCILE_EVERY_MS", "3600000"),
            ("SEATFLOW_DISCARD_AFTER_MS", "50000"),
        ])
        .await;
        let pool = app.db().pool();
        let refusal = "ALTER TABLE orders ADD CONSTRAINT nothing_runs_out \
                       CHECK (cancel_reason IS NULL OR cancel_reason <> 'timeout')";
        sqlx::query(refusal).execute(pool).await.expect("a change");
        let hold_for = Millis::seconds(3);
        let spec = ShowSpec {
            hold_for,
            ..ShowSpec::default()
        };
        let show = app.show(spec).await;
        let customer = app.customer().await;
        let order_no = customer.place(show, &[1]).await.expect("an order");
        let letters = || async {
            let letters = app
                .ticketing()
                .letters(Topic::OrderTimeout, 10)
                .await
                .ok()?;
            (!letters.is_empty()).then_some(letters)
        };
        let found = eventually("a dead letter", letters).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].letter.key, order_no.to_string().into_bytes());
        let reason = &found[0].letter.reason;
        assert!(reason.starts_with("failed 2 times"), "{reason}");
        assert_eq!(customer.status(order_no).await, OrderStatus::Pending);
        assert_eq!(app.seat(show, 1).await, SeatState::Locked);

        let mended = "ALTER TABLE orders DROP CONSTRAINT nothing_runs_out";
        sqlx::query(mended).execute(pool).await.expect("a change");
        let retried = app.ticketing().retry_letters(Topic::OrderTimeout, 10).await;
        assert_eq!(retried.expect("Kafka"), 1);
        customer.until(order_no, OrderStatus::Cancelled).await;
        eventually("a free seat", || async {
            (app.seat(show, 1).await == SeatState::Available).then_some(())
        })
        .await;
        let after = letters().await.expect("the letter");
        assert_eq!(after.len(), 1, "it came to a good end");
        assert!(after[0].retried_at.is_some());
        app.running.stop().await;
    });
}
