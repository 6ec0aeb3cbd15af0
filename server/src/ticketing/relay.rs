//! The relay: sends again what was accepted but never acknowledged by Kafka.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    kafka::messages::{Message, Placed},
};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const EVERY: Duration = Duration::from_secs(1);
/// Orders sent again for one show in one round.
const ORDERS_MAX: usize = 200;

impl Ticketing {
    /// Sends unacknowledged orders again, until cancelled.
    pub async fn run_relay(&self, cancel: CancellationToken) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.relay_once().await {
                tracing::warn!(%error, cause = ?error, "relay round failed");
            }
        }
    }

    /// One round over all loaded shows; the number of orders sent again. What this server has sent and Kafka's client still
    /// tries to deliver is left to it. A show whose orders can't be read keeps no other waiting.
    ///
    /// # Errors
    /// When Redis fails; the next round goes on.
    pub async fn relay_once(&self) -> Result<usize, Failure> {
        let before = self.now() - self.inner.config.limits.resend_after;
        let (mut sent, mut outcome) = (0, Ok(()));
        let loaded = self.inner.redis.loaded_shows().await?;
        let count = u32::try_from(loaded.len()).unwrap_or(u32::MAX);
        metrics::gauge!("seatflow_shows_loaded").set(f64::from(count));
        for show in loaded {
            let unsent = match self.inner.redis.unsent(show, before, ORDERS_MAX).await {
                Ok(unsent) => unsent,
                Err(error) => {
                    outcome = Err(error);
                    continue;
                }
            };
            for (order_no, message) in unsent {
                if self.inner.sending.has(order_no) {
                    continue;
                }
                let Ok(message) = Placed::decode(message.as_bytes()) else {
                    tracing::error!(%order_no, show_id = show.0, "unreadable message of an accepted order");
                    continue;
                };
                fault::point(Point::RelayBeforeSend);
                self.send(&message);
                fault::point(Point::RelayAfterSend);
                sent += 1;
            }
        }
        if sent > 0 {
            metrics::counter!("seatflow_orders_resent_total").increment(sent as u64);
            tracing::info!(orders = sent, "sent again");
        }
        outcome?;
        Ok(sent)
    }
}
