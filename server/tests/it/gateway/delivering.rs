use super::fixture::{Bank, keys};
use app::domain::time::Millis;
use server::{
    gateway::{Gateway, GatewayConfig},
    payment_channel::{Channel, NewCharge},
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_callback_is_repeated_with_growing_pauses_until_it_is_answered_with_200() {
    let bank = Bank::open().await;
    bank.shop_answers(&[500, 404, 302, 204, 401, 503]);
    bank.paid("P-1").await;
    let mut bodies = Vec::new();
    for pause_s in [0, 1, 2, 5, 15, 60, 300] {
        if pause_s > 0 {
            bank.clock.advance(Millis(pause_s * 1000 - 300));
            assert!(
                bank.deliver().await.is_empty(),
                "nothing before the pause of {pause_s} s is over"
            );
            bank.clock.advance(Millis(300));
        }
        let received = bank.deliver().await;
        assert_eq!(
            received.len(),
            1,
            "after a pause of {pause_s} s; a redirect is not followed"
        );
        bank.read(&received[0]).expect("signed anew each time");
        bodies.push(received[0].body.clone());
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    bank.clock.advance(Millis::minutes(60));
    assert!(bank.deliver().await.is_empty());
    let report = &bank.deliveries("P-1").await[0];
    assert_eq!(
        (report.attempts, report.last_answer.as_deref()),
        (7, Some("200"))
    );
}

#[tokio::test]
async fn after_a_day_a_callback_is_given_up_and_stays_visible() {
    let bank = Bank::open().await;
    bank.shop_answers(&[500; 400]);
    bank.paid("P-1").await;
    let mut attempts = 0;
    for _ in 0..310 {
        attempts += bank.deliver().await.len();
        bank.clock.advance(Millis::minutes(5));
    }
    let report = &bank.deliveries("P-1").await[0];
    assert_eq!(usize::try_from(report.attempts).unwrap(), attempts);
    assert!((280..=295).contains(&attempts), "{attempts}");
    assert!(report.gave_up_at_ms.is_some() && report.next_at_ms.is_none());
    assert_eq!(
        (report.acknowledged_at_ms, report.last_answer.as_deref()),
        (None, Some("500"))
    );
}

#[tokio::test]
async fn a_merchant_that_is_not_there_is_called_again() {
    let bank = Bank::open().await;
    let nobody = "http://127.0.0.1:9/notify".to_owned();
    let charge = NewCharge {
        notify_url: nobody,
        ..bank.charge_for("P-1")
    };
    bank.channel.create(charge).await.unwrap();
    bank.succeed("P-1", |_| ()).await;
    bank.deliver().await;
    let report = &bank.deliveries("P-1").await[0];
    assert_eq!(
        (report.attempts, report.last_answer.as_deref()),
        (1, Some("unreachable"))
    );
    assert!(report.next_at_ms.is_some());
}

/// Waits until it is noted what the merchant answered.
async fn until_noted(bank: &Bank, answer: &str) {
    for _ in 0..600 {
        if bank.deliveries("P-1").await[0].last_answer.as_deref() == Some(answer) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the answer {answer} is not noted");
}

/// Waits until the merchant hears something, and says how much.
async fn heard(bank: &Bank) -> usize {
    for _ in 0..600 {
        let received = bank.received().len();
        if received > 0 {
            return received;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    0
}

#[tokio::test]
async fn the_worker_tells_of_a_payment_at_once_and_repeats_by_itself() {
    let bank = Bank::open().await;
    bank.shop_answers(&[500]);
    let stop = CancellationToken::new();
    let (gateway, stopped) = (bank.gateway.clone(), stop.clone());
    let worker = tokio::spawn(async move { gateway.run_deliveries(stopped).await });
    bank.paid("P-1").await;
    assert_eq!(heard(&bank).await, 1);
    // The pause begins with the answer.
    until_noted(&bank, "500").await;
    bank.clock.advance(Millis::seconds(1));
    assert_eq!(heard(&bank).await, 1, "the repetition a second later");
    stop.cancel();
    worker.await.unwrap();
    assert!(bank.deliveries("P-1").await[0].acknowledged_at_ms.is_some());
}

#[tokio::test]
async fn two_servers_on_one_store_do_not_send_a_callback_twice() {
    let bank = Bank::open().await;
    for payment in 0..40 {
        let number = format!("P-{payment}");
        bank.charge(&number).await;
        bank.succeed(&number, |_| ()).await;
    }
    let config = GatewayConfig {
        keys: keys(),
        public_url: bank.url.clone(),
    };
    let other = Gateway::new(bank.pool.clone(), config, bank.clock.clone()).unwrap();
    let (one, two, three) = tokio::join!(
        bank.gateway.deliver_due(),
        other.deliver_due(),
        other.deliver_due()
    );
    one.and(two).and(three).unwrap();
    let mut names: Vec<_> = bank
        .received()
        .iter()
        .map(|one| bank.read(one).unwrap().callback_id)
        .collect();
    assert_eq!(names.len(), 40);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 40);
}

#[tokio::test]
async fn a_callback_taken_by_a_server_that_died_is_sent_by_another() {
    let bank = Bank::open().await;
    bank.paid("P-1").await;
    // What the row looks like while an attempt is under way.
    sqlx::query("UPDATE gw_delivery SET attempts = 1, next_at = next_at + 30000")
        .execute(&bank.pool)
        .await
        .unwrap();
    assert!(bank.deliver().await.is_empty());
    bank.clock.advance(Millis::seconds(30));
    assert_eq!(bank.notices().await.len(), 1);
}
