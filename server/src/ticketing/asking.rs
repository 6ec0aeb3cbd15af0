//! Asking the gateway instead of guessing: before an order is closed, when a payment nears its end, and when a payment
//! was never heard of again. What the gateway answers is recorded like a notice.
//!
//! A gateway that does not answer is not asked by everybody: see [`crate::payment_channel::Watched`].

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    mysql::money::PaymentNotice,
    payment_channel::{Channel, ChannelError, ChargeState},
};
use app::domain::{
    ids::OrderNo,
    payment::{PaymentEvent, PaymentStatus},
    time::Millis,
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often payments near their end are asked about.
const EVERY: Duration = Duration::from_secs(5);
/// How long before its end a payment is near it: each is asked about three times.
const NEAR: Millis = Millis::seconds(15);
/// Payments asked about in one round.
const PAYMENTS_MAX: u32 = 200;
/// How long closing an order waits for the gateway. Seats must not stay locked because a gateway is away: a success that
/// slips through is refunded.
const BEFORE_CLOSING_TIMEOUT: Duration = Duration::from_secs(1);

impl Ticketing {
    /// Asks the gateway about a payment and records the answer like a notice. False when nothing was new.
    ///
    /// # Errors
    /// When the gateway or the database does not answer; nothing is recorded then.
    pub(super) async fn ask_gateway(&self, out_trade_no: &str) -> Result<bool, Failure> {
        let Some(payment) = self.inner.db.payment(out_trade_no).await? else {
            return Ok(false);
        };
        let channel = self.channel_that_answers(&payment.channel)?;
        let report = channel.query(out_trade_no).await?;
        let event = match report.as_ref().map(|report| report.state) {
            Some(ChargeState::Open) => return Ok(false),
            Some(ChargeState::Succeeded) => PaymentEvent::Succeeded,
            Some(ChargeState::Failed) => PaymentEvent::Failed,
            Some(ChargeState::Closed) | None => PaymentEvent::Closed,
        };
        let (amount, is_asked_for) = report
            .as_ref()
            .map_or((payment.amount, false), |report| (report.amount, true));
        let notice = PaymentNotice {
            channel: payment.channel.clone(),
            callback_id: format!("query:{out_trade_no}:{event:?}"),
            out_trade_no: out_trade_no.to_owned(),
            happened_at: report.as_ref().and_then(|report| report.paid_at),
            third_trade_no: report.map(|report| report.third_trade_no),
            event,
            amount,
            fail_reason: None,
            raw_body: String::new(),
            is_asked_for,
        };
        fault::point(Point::AskedBeforeRecord);
        let recorded = self.inner.db.record_notice(&notice, self.now()).await?;
        fault::point(Point::AskedAfterRecord);
        let Some(recorded) = recorded else {
            return Ok(false);
        };
        self.settle_now(recorded.follow_up).await;
        Ok(recorded.is_news)
    }

    /// Asks about what an order is being paid with, before the order is closed: money that was taken a moment ago makes it
    /// paid, instead of going back and forth. Never stands in the way of closing. False when a gateway did not answer.
    pub(super) async fn ask_before_closing(&self, order_no: OrderNo) -> bool {
        let mut asking = None;
        let asked = tokio::time::timeout(BEFORE_CLOSING_TIMEOUT, async {
            for payment in self.inner.db.payments_of_order(order_no).await? {
                if payment.status == PaymentStatus::Paying {
                    asking = Some(payment.channel.clone());
                    self.ask_gateway(&payment.out_trade_no).await?;
                }
            }
            Ok::<_, Failure>(())
        });
        match asked.await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(%order_no, %error, "closed without the gateway's word");
                false
            }
            Err(_) => {
                tracing::warn!(%order_no, "closed without waiting for the gateway any longer");
                let silent = asking.and_then(|name| self.inner.channels.named(&name));
                silent.inspect(|channel| channel.note_unanswered());
                false
            }
        }
    }

    /// Asks about payments that near their end, until cancelled.
    pub async fn run_payment_polls(&self, cancel: CancellationToken) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.poll_payments_once().await {
                tracing::warn!(%error, cause = ?error, "payments not asked about");
            }
        }
    }

    /// One round; how many payments the gateway had news of.
    ///
    /// # Errors
    /// When the database does not answer, or the gateway; the next round goes on.
    pub async fn poll_payments_once(&self) -> Result<usize, Failure> {
        let now = self.now();
        let ending = self
            .inner
            .db
            .payments_ending(now, now + NEAR, PAYMENTS_MAX)
            .await?;
        let (mut news, mut outcome) = (0, Ok(()));
        for out_trade_no in ending {
            match self.ask_gateway(&out_trade_no).await {
                Ok(true) => news += 1,
                Ok(false) | Err(Failure::Channel(ChannelError::Resting)) => {}
                // One gateway that is away must not keep the payments of another waiting.
                Err(error) => outcome = Err(error),
            }
        }
        if news > 0 {
            metrics::counter!("seatflow_payments_polled_total").increment(news as u64);
        }
        outcome.map(|()| news)
    }
}
