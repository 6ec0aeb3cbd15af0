use super::fixture::Bank;
use app::domain::{
    money::{Currency, Money},
    time::Millis,
};
use server::{
    gateway::{
        switches::{Decision, Outcome, RefundAnswer, RefundSwitch},
        wire::SetRefundSwitch,
    },
    payment_channel::{
        Channel, ChannelError, ChargeState, NewRefund, NoticeStatus, NoticeSubject, RefundProgress,
        RefusalCode,
    },
};

fn refused(code: RefusalCode) -> Result<RefundProgress, ChannelError> {
    Err(ChannelError::Refused { code })
}

async fn refunded_minor(bank: &Bank) -> i64 {
    bank.channel
        .query("P-1")
        .await
        .unwrap()
        .unwrap()
        .refunded
        .minor
}

/// A paid payment whose success has been told.
async fn bank_with_payment() -> Bank {
    let bank = Bank::open().await;
    bank.paid("P-1").await;
    assert_eq!(bank.notices().await.len(), 1);
    bank
}

async fn switch(bank: &Bank, answer: RefundAnswer, times: u32, delay_s: u32) {
    let refunds = RefundSwitch {
        answer,
        times,
        delay_s,
    };
    bank.switch_refunds(SetRefundSwitch {
        out_trade_no: "P-1".to_owned(),
        refunds,
    })
    .await;
}

#[tokio::test]
async fn a_whole_refund_succeeds_and_is_told_with_its_number() {
    let bank = bank_with_payment().await;
    let refund = bank.refund_of("P-1", "R-1", 13_600);
    assert_eq!(
        bank.channel.refund(refund).await,
        Ok(RefundProgress::Succeeded)
    );
    let notices = bank.notices().await;
    assert_eq!(notices.len(), 1);
    assert_eq!(
        notices[0].subject,
        NoticeSubject::Refund {
            refund_no: "R-1".to_owned()
        }
    );
    assert_eq!(notices[0].status, NoticeStatus::Succeeded);
    assert_eq!(notices[0].amount, Money::new(13_600, Currency::Cny));
    assert_eq!(refunded_minor(&bank).await, 13_600);
    let state = bank.channel.query("P-1").await.unwrap().unwrap().state;
    assert_eq!(state, ChargeState::Succeeded);
}

#[tokio::test]
async fn a_repeat_gives_nothing_back_twice_and_another_content_is_refused() {
    let bank = bank_with_payment().await;
    for _ in 0..3 {
        let refund = bank.refund_of("P-1", "R-1", 5_000);
        assert_eq!(
            bank.channel.refund(refund).await,
            Ok(RefundProgress::Succeeded)
        );
    }
    assert_eq!(bank.notices().await.len(), 1);
    assert_eq!(refunded_minor(&bank).await, 5_000);
    let other = bank.refund_of("P-1", "R-1", 5_001);
    assert_eq!(
        bank.channel.refund(other).await,
        refused(RefusalCode::ContentDiffers)
    );
    bank.paid("P-2").await;
    let other = bank.refund_of("P-2", "R-1", 5_000);
    assert_eq!(
        bank.channel.refund(other).await,
        refused(RefusalCode::ContentDiffers)
    );
}

#[tokio::test]
async fn parts_never_exceed_what_was_paid() {
    let bank = bank_with_payment().await;
    for (refund_no, minor) in [("R-1", 6_800), ("R-2", 6_799)] {
        let refund = bank.refund_of("P-1", refund_no, minor);
        assert_eq!(
            bank.channel.refund(refund).await,
            Ok(RefundProgress::Succeeded)
        );
    }
    let too_much = bank.refund_of("P-1", "R-3", 2);
    assert_eq!(
        bank.channel.refund(too_much).await,
        refused(RefusalCode::RefundTooLarge)
    );
    let rest = bank.refund_of("P-1", "R-3", 1);
    assert_eq!(
        bank.channel.refund(rest).await,
        Ok(RefundProgress::Succeeded)
    );
    assert_eq!(refunded_minor(&bank).await, 13_600);
}

#[tokio::test]
async fn parts_asked_for_at_the_same_moment_never_exceed_what_was_paid() {
    let bank = bank_with_payment().await;
    let calls = (0..16).map(|number| {
        bank.channel
            .refund(bank.refund_of("P-1", &format!("R-{number}"), 3_000))
    });
    let answers = futures::future::join_all(calls).await;
    let given = answers
        .iter()
        .filter(|answer| **answer == Ok(RefundProgress::Succeeded))
        .count();
    let too_large = refused(RefusalCode::RefundTooLarge);
    assert_eq!(given, 4);
    assert_eq!(
        answers
            .iter()
            .filter(|answer| **answer == too_large)
            .count(),
        12
    );
    assert_eq!(refunded_minor(&bank).await, 12_000);
}

#[tokio::test]
async fn only_money_that_was_taken_is_given_back() {
    let bank = Bank::open().await;
    bank.charge("P-1").await;
    let refund = || bank.channel.refund(bank.refund_of("P-1", "R-1", 1));
    assert_eq!(
        refund().await,
        refused(RefusalCode::State(ChargeState::Open))
    );
    bank.decide("P-1", Decision::plain(Outcome::Fail)).await;
    assert_eq!(
        refund().await,
        refused(RefusalCode::State(ChargeState::Failed))
    );
    assert_eq!(bank.channel.query_refund("R-1").await, Ok(None));
}

#[tokio::test]
async fn amounts_and_currencies_that_can_not_be_are_refused() {
    let bank = bank_with_payment().await;
    for (minor, currency) in [(0, Currency::Cny), (-1, Currency::Cny), (1, Currency::Jpy)] {
        let amount = Money::new(minor, currency);
        let refund = NewRefund {
            amount,
            ..bank.refund_of("P-1", "R-1", 1)
        };
        assert_eq!(
            bank.channel.refund(refund).await,
            refused(RefusalCode::Request)
        );
    }
    assert_eq!(bank.channel.query_refund("R-1").await, Ok(None));
}

#[tokio::test]
async fn a_refused_refund_leaves_nothing_and_the_same_request_succeeds_later() {
    let bank = bank_with_payment().await;
    switch(&bank, RefundAnswer::Refuse, 2, 0).await;
    let ask = || bank.channel.refund(bank.refund_of("P-1", "R-1", 13_600));
    assert_eq!(ask().await, refused(RefusalCode::RefundRefused));
    assert_eq!(ask().await, refused(RefusalCode::RefundRefused));
    assert_eq!(bank.channel.query_refund("R-1").await, Ok(None));
    assert!(bank.deliver().await.is_empty());
    assert_eq!(ask().await, Ok(RefundProgress::Succeeded));
    assert_eq!(bank.notices().await.len(), 1);
}

#[tokio::test]
async fn a_slow_refund_is_in_progress_until_its_time() {
    let bank = bank_with_payment().await;
    switch(&bank, RefundAnswer::Accept, 0, 60).await;
    let refund = bank.refund_of("P-1", "R-1", 13_600);
    assert_eq!(
        bank.channel.refund(refund).await,
        Ok(RefundProgress::Processing)
    );
    let second = bank.refund_of("P-1", "R-2", 1);
    assert_eq!(
        bank.channel.refund(second).await,
        refused(RefusalCode::RefundTooLarge)
    );
    assert!(bank.deliver().await.is_empty());
    assert_eq!(refunded_minor(&bank).await, 0);
    bank.clock.advance(Millis::seconds(60));
    assert_eq!(
        bank.channel.query_refund("R-1").await,
        Ok(Some(RefundProgress::Succeeded))
    );
    assert_eq!(bank.notices().await.len(), 1);
    assert_eq!(refunded_minor(&bank).await, 13_600);
}

#[tokio::test]
async fn a_refund_that_fails_afterwards_is_told_and_can_be_asked_for_under_another_number() {
    let bank = bank_with_payment().await;
    switch(&bank, RefundAnswer::Fail, 1, 10).await;
    let refund = bank.refund_of("P-1", "R-1", 13_600);
    assert_eq!(
        bank.channel.refund(refund.clone()).await,
        Ok(RefundProgress::Processing)
    );
    bank.clock.advance(Millis::seconds(10));
    let notices = bank.notices().await;
    assert_eq!(notices.len(), 1, "the worker ends what nobody asks about");
    assert_eq!(notices[0].status, NoticeStatus::Failed);
    assert_eq!(
        bank.channel.refund(refund).await,
        Ok(RefundProgress::Failed)
    );
    assert_eq!(refunded_minor(&bank).await, 0);
    let second = NewRefund {
        refund_no: "R-2".to_owned(),
        ..bank.refund_of("P-1", "R-2", 13_600)
    };
    assert_eq!(
        bank.channel.refund(second).await,
        Ok(RefundProgress::Processing)
    );
    bank.clock.advance(Millis::seconds(10));
    assert_eq!(bank.notices().await[0].status, NoticeStatus::Succeeded);
}

#[tokio::test]
async fn the_cashiers_form_sets_what_happens_to_refunds() {
    let bank = Bank::open().await;
    let charge = bank.charge("P-1").await;
    let fields = [
        ("outcome", "succeed"),
        ("refund_answer", "refuse"),
        ("refund_times", "1"),
    ];
    assert_eq!(bank.press(&charge, &fields).await.status(), 303);
    let ask = || bank.channel.refund(bank.refund_of("P-1", "R-1", 13_600));
    assert_eq!(ask().await, refused(RefusalCode::RefundRefused));
    assert_eq!(ask().await, Ok(RefundProgress::Succeeded));
}
