//! A channel under watch: what it answers is bounded before anybody keeps it, and one that does not answer is left alone
//! for a while.
//!
//! Asking a silent channel costs its caller seconds. After [`FAILURES_MAX`] failures in a row [`Watched::may_ask`] says no,
//! but lets one caller through every [`REST`]: its answer opens the channel again for all.

use super::{
    CallbackNotice, CallbackRejected, Channel, ChannelError, Charge, ChargeReport, ChargeState,
    NewCharge, NewRefund, NoticeSubject, RefundProgress,
};
use app::domain::time::Timestamp;
use async_trait::async_trait;
use axum::http::HeaderMap;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Failures in a row after which a channel counts as silent.
const FAILURES_MAX: u32 = 5;
/// How long a silent channel is left alone between two tries.
const REST: Duration = Duration::from_secs(5);
/// Longest number or name that a channel may use, in characters, as the tables have it.
const NUMBER_CHARS_MAX: usize = 64;
/// Longest address of a cashier, in characters.
const ADDRESS_CHARS_MAX: usize = 500;

#[derive(Debug, Default)]
struct Health {
    failures: u32,
    /// While it is silent: when the next caller may try.
    next_try: Option<Instant>,
}

/// A channel, and how it has answered lately.
pub struct Watched {
    channel: Arc<dyn Channel>,
    health: Mutex<Health>,
}

impl Watched {
    /// Watches a channel.
    #[must_use]
    pub fn new(channel: Arc<dyn Channel>) -> Self {
        Self {
            channel,
            health: Mutex::default(),
        }
    }

    /// Whether it is worth asking now. While the channel is silent one caller in a while hears yes, and must ask.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.may_ask_at(Instant::now())
    }

    fn may_ask_at(&self, now: Instant) -> bool {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(next_try) = health.next_try else {
            return true;
        };
        if now < next_try {
            metrics::counter!("seatflow_channel_not_asked_total", "channel" => self.name())
                .increment(1);
            return false;
        }
        health.next_try = Some(now + REST);
        true
    }

    /// Notes that a caller gave up waiting for an answer.
    pub fn note_unanswered(&self) {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        health.failures = health.failures.saturating_add(1);
        if health.failures < FAILURES_MAX {
            return;
        }
        if health.next_try.is_none() {
            tracing::warn!(channel = self.name(), "the channel does not answer");
            metrics::gauge!("seatflow_channel_silent", "channel" => self.name()).set(1.0);
        }
        health.next_try = Some(Instant::now() + REST);
    }

    fn note_answered(&self) {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        if health.next_try.is_some() {
            tracing::info!(channel = self.name(), "the channel answers again");
            metrics::gauge!("seatflow_channel_silent", "channel" => self.name()).set(0.0);
        }
        *health = Health::default();
    }

    fn heard<T>(&self, answer: Result<T, ChannelError>) -> Result<T, ChannelError> {
        match answer {
            Err(ChannelError::Unreachable) => self.note_unanswered(),
            _ => self.note_answered(),
        }
        answer
    }
}

fn fits(text: &str, chars_max: usize) -> bool {
    !text.is_empty() && text.chars().count() <= chars_max
}

fn kept<T>(value: T, fits: bool) -> Result<T, ChannelError> {
    if fits {
        Ok(value)
    } else {
        Err(ChannelError::Malformed)
    }
}

/// Whether a notice's numbers fit where they are kept.
fn is_kept(notice: &CallbackNotice) -> bool {
    let refund_no = match &notice.subject {
        NoticeSubject::Payment => None,
        NoticeSubject::Refund { refund_no } => Some(refund_no),
    };
    let numbers = [
        &notice.callback_id,
        &notice.out_trade_no,
        &notice.third_trade_no,
    ];
    let mut numbers = numbers.into_iter().chain(refund_no);
    numbers.all(|number| fits(number, NUMBER_CHARS_MAX))
}

#[async_trait]
impl Channel for Watched {
    fn name(&self) -> &'static str {
        self.channel.name()
    }

    async fn create(&self, charge: NewCharge) -> Result<Charge, ChannelError> {
        let charge = self.heard(self.channel.create(charge).await)?;
        let is_kept = fits(&charge.third_trade_no, NUMBER_CHARS_MAX)
            && fits(&charge.cashier_url, ADDRESS_CHARS_MAX);
        kept(charge, is_kept)
    }

    async fn query(&self, out_trade_no: &str) -> Result<Option<ChargeReport>, ChannelError> {
        let report = self.heard(self.channel.query(out_trade_no).await)?;
        // Nobody can have paid nothing, and less than nothing could not be given back.
        let is_kept = report.as_ref().is_none_or(|report| {
            fits(&report.third_trade_no, NUMBER_CHARS_MAX)
                && (report.state != ChargeState::Succeeded || report.amount.minor > 0)
        });
        kept(report, is_kept)
    }

    async fn close(&self, out_trade_no: &str) -> Result<ChargeState, ChannelError> {
        self.heard(self.channel.close(out_trade_no).await)
    }

    async fn refund(&self, refund: NewRefund) -> Result<RefundProgress, ChannelError> {
        self.heard(self.channel.refund(refund).await)
    }

    async fn query_refund(&self, refund_no: &str) -> Result<Option<RefundProgress>, ChannelError> {
        self.heard(self.channel.query_refund(refund_no).await)
    }

    fn verify(
        &self,
        headers: &HeaderMap,
        raw_body: &[u8],
        now: Timestamp,
    ) -> Result<CallbackNotice, CallbackRejected> {
        let notice = self.channel.verify(headers, raw_body, now)?;
        if is_kept(&notice) {
            Ok(notice)
        } else {
            Err(CallbackRejected::Malformed)
        }
    }
}

#[cfg(test)]
#[path = "watched_tests.rs"]
mod tests;
