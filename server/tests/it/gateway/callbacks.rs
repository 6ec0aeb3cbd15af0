use super::fixture::Bank;
use app::domain::time::{Millis, Timestamp};
use server::{
    clock::Clock,
    gateway::{
        signature::SignatureError,
        switches::{Decision, Outcome},
    },
    payment_channel::{CallbackRejected, Channel, ChargeState, NoticeStatus, NoticeSubject},
};

#[tokio::test]
async fn a_success_is_told_once_and_acknowledged() {
    let bank = Bank::open().await;
    let before = bank.clock.now();
    let charge = bank.paid("P-1").await;
    let notices = bank.notices().await;
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].status, NoticeStatus::Succeeded);
    assert_eq!(notices[0].subject, NoticeSubject::Payment);
    assert_eq!(notices[0].third_trade_no, charge.third_trade_no);
    assert_eq!(notices[0].amount, bank.charge_for("P-1").amount);
    assert!((before..=bank.clock.now()).contains(&notices[0].occurred_at));
    bank.clock.advance(Millis::minutes(60));
    assert!(bank.deliver().await.is_empty());
    assert!(bank.deliveries("P-1").await[0].acknowledged_at_ms.is_some());
    let report = bank.channel.query("P-1").await.unwrap().unwrap();
    assert_eq!(
        (report.state, report.paid_at),
        (ChargeState::Succeeded, Some(notices[0].occurred_at))
    );
}

#[tokio::test]
async fn a_failure_is_told_and_the_payment_can_not_be_paid_any_more() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    assert_eq!(
        bank.decide("P-1", Decision::plain(Outcome::Fail))
            .await
            .status(),
        200
    );
    assert_eq!(bank.notices().await[0].status, NoticeStatus::Failed);
    assert_eq!(
        bank.decide("P-1", Decision::plain(Outcome::Succeed))
            .await
            .status(),
        409
    );
    let report = bank.channel.query("P-1").await.unwrap().unwrap();
    assert_eq!((report.state, report.paid_at), (ChargeState::Failed, None));
}

#[tokio::test]
async fn an_expired_payment_is_closed_and_told_of_once() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.clock.advance(Millis::minutes(15));
    assert_eq!(
        bank.channel.query("P-1").await.unwrap().unwrap().state,
        ChargeState::Closed
    );
    let notices = bank.notices().await;
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].status, NoticeStatus::Closed);
    bank.charge("P-2").await;
    bank.clock.advance(Millis::minutes(15));
    assert_eq!(
        bank.notices().await.len(),
        1,
        "the worker closes what nobody looks at"
    );
    assert!(bank.notices().await.is_empty());
}

#[tokio::test]
async fn a_decision_is_recorded_once_however_often_the_button_is_pressed() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    let calls = (0..8).map(|_| bank.decide("P-1", Decision::plain(Outcome::Succeed)));
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer.status(), 200);
    }
    assert_eq!(
        bank.decide("P-1", Decision::plain(Outcome::Fail))
            .await
            .status(),
        409
    );
    assert_eq!(bank.notices().await.len(), 1);
}

#[tokio::test]
async fn a_delay_holds_the_notice_back_but_not_the_money() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.succeed("P-1", |decision| decision.delay_s = 30).await;
    assert!(bank.deliver().await.is_empty());
    assert_eq!(
        bank.channel.query("P-1").await.unwrap().unwrap().state,
        ChargeState::Succeeded
    );
    bank.clock.advance(Millis::seconds(30));
    assert_eq!(bank.notices().await.len(), 1);
}

#[tokio::test]
async fn duplicates_carry_one_name_and_come_whatever_is_answered() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.succeed("P-1", |decision| decision.copies = 100).await;
    let notices = bank.notices().await;
    assert_eq!(notices.len(), 100);
    assert!(notices.iter().all(|notice| *notice == notices[0]));
    bank.clock.advance(Millis::minutes(60));
    assert!(bank.deliver().await.is_empty());
}

#[tokio::test]
async fn out_of_order_a_declined_try_is_told_of_after_the_success() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.succeed("P-1", |decision| decision.reorder = true)
        .await;
    let first = bank.notices().await;
    bank.clock.advance(Millis::seconds(2));
    let second = bank.notices().await;
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(first[0].status, NoticeStatus::Succeeded);
    assert_eq!(second[0].status, NoticeStatus::Failed);
    assert!(second[0].occurred_at < first[0].occurred_at);
    assert_ne!(second[0].callback_id, first[0].callback_id);
}

/// Pays with a switch for two faulty attempts, refuses those, and hands over what was made of the three attempts.
async fn three_attempts(switch: impl FnOnce(&mut Decision)) -> Vec<Result<i64, CallbackRejected>> {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.succeed("P-1", |decision| {
        decision.faulty_attempts = 2;
        switch(decision);
    })
    .await;
    bank.shop_answers(&[401, 401]);
    let mut attempts = Vec::new();
    for pause in [0, 1, 2, 600] {
        bank.clock.advance(Millis::seconds(pause));
        let received = bank.deliver().await;
        attempts.extend(
            received
                .iter()
                .map(|one| bank.read(one).map(|notice| notice.amount.minor)),
        );
    }
    attempts
}

#[tokio::test]
async fn a_wrong_signature_is_repeated_rightly_when_the_switch_says_so() {
    let wrong = Err(CallbackRejected::Signature(SignatureError::Mismatch));
    let attempts = three_attempts(|decision| decision.wrong_signature = true).await;
    assert_eq!(attempts, [wrong, wrong, Ok(13_600)]);
}

#[tokio::test]
async fn a_stale_timestamp_is_repeated_rightly_when_the_switch_says_so() {
    let stale = Err(CallbackRejected::Signature(SignatureError::Stale));
    let attempts = three_attempts(|decision| decision.stale_timestamp = true).await;
    assert_eq!(attempts, [stale, stale, Ok(13_600)]);
}

#[tokio::test]
async fn a_wrong_amount_is_rightly_signed() {
    let attempts = three_attempts(|decision| decision.wrong_amount = true).await;
    assert_eq!(attempts, [Ok(13_601), Ok(13_601), Ok(13_600)]);
}

#[tokio::test]
async fn switches_out_of_range_change_nothing() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    let decision = Decision {
        copies: 101,
        ..Decision::plain(Outcome::Succeed)
    };
    assert_eq!(bank.decide("P-1", decision).await.status(), 400);
    assert_eq!(
        bank.channel.query("P-1").await.unwrap().unwrap().state,
        ChargeState::Open
    );
    assert!(bank.deliver().await.is_empty());
}

#[tokio::test]
async fn the_time_of_a_callback_is_the_time_of_its_attempt() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    bank.succeed("P-1", |decision| decision.delay_s = 600).await;
    bank.clock.advance(Millis::seconds(600));
    let received = bank.deliver().await;
    let notice = bank
        .read(&received[0])
        .expect("signed now, although it happened ten minutes ago");
    assert!(Timestamp(notice.occurred_at.0) <= received[0].at - Millis::seconds(600));
}
