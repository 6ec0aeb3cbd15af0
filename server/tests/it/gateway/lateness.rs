use super::fixture::Bank;
use app::domain::time::Millis;
use server::payment_channel::{Channel, ChargeState, NoticeStatus};

async fn state(bank: &Bank, out_trade_no: &str) -> ChargeState {
    bank.channel
        .query(out_trade_no)
        .await
        .unwrap()
        .unwrap()
        .state
}

#[tokio::test]
async fn the_page_says_failed_and_the_success_arrives_seconds_later() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let answer = bank
        .press(&charge, &[("outcome", "fail"), ("failed_page", "on")])
        .await;
    assert_eq!(answer.status(), 303);
    let location = answer.headers()["location"].to_str().unwrap();
    assert!(
        location.starts_with(&format!("./{}", charge.third_trade_no)),
        "{location}"
    );
    let page = bank
        .http
        .get(&charge.cashier_url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(page.contains("Payment failed") && page.contains("Back to the shop"));
    assert!(
        !page.contains(r#"value="succeed""#),
        "nobody is led into paying twice"
    );
    assert!(
        bank.deliver().await.is_empty(),
        "and no failure is told to the merchant"
    );
    assert_eq!(state(&bank, "P-1").await, ChargeState::Open);
    bank.clock.advance(Millis::seconds(5));
    let notices = bank.notices().await;
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].status, NoticeStatus::Succeeded);
    let page = bank
        .http
        .get(&charge.cashier_url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(page.contains("<h1 class=\"stamp succeeded\">Paid"));
}

#[tokio::test]
async fn a_success_under_way_is_not_stopped_by_closing() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let fields = [
        ("outcome", "succeed"),
        ("failed_page", "on"),
        ("delay_s", "20"),
    ];
    bank.press(&charge, &fields).await;
    assert_eq!(bank.channel.close("P-1").await, Ok(ChargeState::Closed));
    assert_eq!(state(&bank, "P-1").await, ChargeState::Closed);
    bank.clock.advance(Millis::seconds(20));
    assert_eq!(bank.notices().await[0].status, NoticeStatus::Succeeded);
    assert_eq!(state(&bank, "P-1").await, ChargeState::Succeeded);
}

#[tokio::test]
async fn a_success_after_close_waits_for_the_closing() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let fields = [
        ("outcome", "succeed"),
        ("after_close", "on"),
        ("delay_s", "3"),
    ];
    assert_eq!(bank.press(&charge, &fields).await.status(), 303);
    bank.clock.advance(Millis::minutes(5));
    assert!(bank.deliver().await.is_empty());
    assert_eq!(bank.channel.close("P-1").await, Ok(ChargeState::Closed));
    assert!(bank.deliver().await.is_empty());
    bank.clock.advance(Millis::seconds(3));
    let notices = bank.notices().await;
    assert_eq!(
        (notices.len(), notices[0].status),
        (1, NoticeStatus::Succeeded)
    );
    assert!(bank.notices().await.is_empty());
}

#[tokio::test]
async fn a_success_after_close_comes_after_expiry_too() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.succeed("P-1", |decision| decision.after_close = true)
        .await;
    bank.clock.advance(Millis::minutes(15));
    let told: Vec<_> = bank
        .notices()
        .await
        .iter()
        .map(|notice| notice.status)
        .collect();
    assert_eq!(told.len(), 2);
    assert!(told.contains(&NoticeStatus::Closed) && told.contains(&NoticeStatus::Succeeded));
    assert_eq!(state(&bank, "P-1").await, ChargeState::Succeeded);
}

#[tokio::test]
async fn a_closed_or_expired_payment_is_paid_only_with_the_switch() {
    let bank = Bank::open().await;
    let closed = bank.charge("P-1").await;
    bank.channel.close("P-1").await.unwrap();
    let expired = bank.charge("P-2").await;
    bank.clock.advance(Millis::minutes(15));
    for charge in [&closed, &expired] {
        for outcome in ["succeed", "fail"] {
            assert_eq!(
                bank.press(charge, &[("outcome", outcome)]).await.status(),
                409
            );
        }
    }
    assert!(
        bank.notices()
            .await
            .iter()
            .all(|notice| notice.status == NoticeStatus::Closed)
    );
    for charge in [&closed, &expired] {
        let answer = bank
            .press(charge, &[("outcome", "succeed"), ("after_close", "on")])
            .await;
        assert_eq!(answer.status(), 303);
    }
    let notices = bank.notices().await;
    assert_eq!(notices.len(), 2);
    assert!(
        notices
            .iter()
            .all(|notice| notice.status == NoticeStatus::Succeeded)
    );
}
