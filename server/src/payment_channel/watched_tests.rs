//! A channel is left alone while it is silent, and what it says has bounds.

use super::*;
use app::domain::money::{Currency, Money};
use std::sync::atomic::{AtomicBool, Ordering};

/// A channel that can fall silent, and whose numbers have a length.
#[derive(Default)]
struct Moody {
    is_silent: AtomicBool,
    number: String,
    taken_minor: i64,
}

impl Moody {
    fn answer<T>(&self, answer: T) -> Result<T, ChannelError> {
        if self.is_silent.load(Ordering::Relaxed) {
            Err(ChannelError::Unreachable)
        } else {
            Ok(answer)
        }
    }
}

#[async_trait]
impl Channel for Moody {
    fn name(&self) -> &'static str {
        "moody"
    }

    async fn create(&self, _: NewCharge) -> Result<Charge, ChannelError> {
        self.answer(Charge {
            third_trade_no: self.number.clone(),
            cashier_url: "https://moody.example/".to_owned(),
        })
    }

    async fn query(&self, _: &str) -> Result<Option<ChargeReport>, ChannelError> {
        self.answer(Some(ChargeReport {
            third_trade_no: self.number.clone(),
            state: ChargeState::Succeeded,
            amount: Money::new(self.taken_minor, Currency::Cny),
            refunded: Money::new(0, Currency::Cny),
            paid_at: None,
        }))
    }

    async fn close(&self, _: &str) -> Result<ChargeState, ChannelError> {
        self.answer(ChargeState::Closed)
    }

    async fn refund(&self, _: NewRefund) -> Result<RefundProgress, ChannelError> {
        self.answer(RefundProgress::Processing)
    }

    async fn query_refund(&self, _: &str) -> Result<Option<RefundProgress>, ChannelError> {
        self.answer(None)
    }

    fn verify(
        &self,
        _: &HeaderMap,
        raw_body: &[u8],
        now: Timestamp,
    ) -> Result<CallbackNotice, CallbackRejected> {
        let text = String::from_utf8_lossy(raw_body).into_owned();
        Ok(CallbackNotice {
            callback_id: text,
            subject: NoticeSubject::Payment,
            out_trade_no: "1".to_owned(),
            third_trade_no: "2".to_owned(),
            status: crate::payment_channel::NoticeStatus::Succeeded,
            amount: Money::new(1, Currency::Cny),
            occurred_at: now,
        })
    }
}

#[tokio::test]
async fn a_silent_channel_is_asked_by_one_caller_in_a_while_until_it_answers() {
    let moody = Arc::new(Moody {
        number: "M1".to_owned(),
        taken_minor: 1,
        ..Moody::default()
    });
    let watched = Watched::new(Arc::clone(&moody) as Arc<dyn Channel>);
    moody.is_silent.store(true, Ordering::Relaxed);
    for _ in 0..FAILURES_MAX {
        assert!(watched.may_ask());
        assert!(watched.close("1").await.is_err());
    }
    assert!(!watched.may_ask(), "it is left alone");
    let rested = Instant::now() + REST;
    assert!(watched.may_ask_at(rested), "one may try");
    assert!(!watched.may_ask_at(rested), "and no other");
    assert!(watched.close("1").await.is_err());
    assert!(!watched.may_ask(), "it is silent still");
    moody.is_silent.store(false, Ordering::Relaxed);
    assert!(watched.may_ask_at(rested + REST));
    assert!(watched.close("1").await.is_ok());
    assert!(watched.may_ask() && watched.may_ask(), "open for all again");
}

#[tokio::test]
async fn answers_that_nobody_could_keep_count_as_unreadable() {
    let long = "n".repeat(NUMBER_CHARS_MAX + 1);
    for (number, taken_minor, is_kept) in [
        ("M1", 1, true),
        ("", 1, false),
        (long.as_str(), 1, false),
        ("M1", 0, false),
        ("M1", -5, false),
    ] {
        let watched = Watched::new(Arc::new(Moody {
            number: number.to_owned(),
            taken_minor,
            ..Moody::default()
        }));
        assert_eq!(watched.query("1").await.is_ok(), is_kept, "{number}");
    }
    let watched = Watched::new(Arc::new(Moody::default()));
    let verified = |id: &str| watched.verify(&HeaderMap::new(), id.as_bytes(), Timestamp(0));
    assert!(verified(&long[1..]).is_ok());
    assert_eq!(verified(&long), Err(CallbackRejected::Malformed));
}
