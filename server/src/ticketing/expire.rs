//! Letting time pass: an order that is not paid by its deadline is cancelled. A message wakes, the row decides; the sweeper
//! finds the orders whose message was lost.

use super::{Failure, Ticketing, side_by_side::side_by_side};
use crate::{
    fault::{self, Point},
    kafka::{
        batch::Received,
        delay::{DelayHandler, FireResult},
        messages::Timeout,
    },
    mysql::DbError,
};
use app::domain::{
    ids::OrderNo,
    order::{CancelReason, OrderStatus},
    time::Millis,
};
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the sweeper leaves an overdue order to its message.
const SWEEP_GRACE: Millis = Millis(2_000);
/// Orders swept in one round.
const SWEEP_MAX: u32 = 500;
/// Orders swept at the same time: what one of them waits for, a gateway or Kafka, holds up no other.
const SWEEP_AT_ONCE: usize = 16;

#[async_trait]
impl DelayHandler for Ticketing {
    async fn fire(&self, due: &Received<Timeout>) -> FireResult {
        match self.expire(due.message.order_no).await {
            Ok(Expiry::NotYet { due_at }) => {
                metrics::counter!("seatflow_timeouts_rearmed_total").increment(1);
                FireResult::Again(due_at)
            }
            Ok(Expiry::Cancelled { .. } | Expiry::Finished) => FireResult::Done,
            Err(error) => FireResult::Retry(error.into()),
        }
    }
}

/// What an order's deadline led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// The deadline is still ahead.
    NotYet {
        /// When to look again: at the end of the next step, or at the deadline.
        due_at: app::domain::time::Timestamp,
    },
    /// This call cancelled the order.
    Cancelled {
        /// How long after the deadline.
        lateness: Millis,
    },
    /// The order was finished already, or was never written.
    Finished,
}

impl Ticketing {
    /// Cancels an order if it is pending and due.
    ///
    /// # Errors
    /// When a store fails; nothing is decided then.
    pub async fn expire(&self, order_no: OrderNo) -> Result<Expiry, Failure> {
        let Some(order) = self.inner.db.order(order_no).await? else {
            return Ok(Expiry::Finished);
        };
        if order.status != OrderStatus::Pending {
            return Ok(Expiry::Finished);
        }
        let now = self.now();
        if now < order.expire_at {
            let steps = &self.inner.config.limits.timeout_steps;
            return Ok(Expiry::NotYet {
                due_at: steps.next_look(order.placed_at, order.expire_at, now),
            });
        }
        fault::point(Point::ExpireBeforeCancel);
        if !self.end_order(order_no, CancelReason::Timeout).await? {
            return Ok(Expiry::Finished);
        }
        // Whatever woke the order, a message, the sweeper or reconciliation: this is how late it is over, and its seats are free
        // unless a store was away.
        let lateness = self.now() - order.expire_at;
        metrics::histogram!("seatflow_timeout_lateness_ms").record(lateness.0 as f64);
        fault::point(Point::ExpireAfterCancel);
        Ok(Expiry::Cancelled { lateness })
    }

    /// Cancels overdue orders that no message woke, until cancelled.
    pub async fn run_sweeper(&self, cancel: CancellationToken) {
        let every = u64::try_from(self.inner.config.limits.sweep_every.0).unwrap_or(5_000);
        let mut ticks = tokio::time::interval(Duration::from_millis(every));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.sweep_once().await {
                tracing::warn!(%error, cause = ?error, "sweep failed");
            }
        }
    }

    /// One round of the sweeper; the number of orders it cancelled. One that can't be cancelled now keeps no other waiting:
    /// it is counted and named in the log, and is first again in the next round.
    ///
    /// # Errors
    /// When the database is away; the next round goes on.
    pub async fn sweep_once(&self) -> Result<u32, Failure> {
        let before = self.now() - SWEEP_GRACE;
        let (mut cancelled, mut failed) = (0, 0_u32);
        let overdue = self.inner.db.overdue_orders(before, SWEEP_MAX).await?;
        let work = overdue.into_iter().map(|order_no| self.sweep(order_no));
        for swept in side_by_side(work.collect(), SWEEP_AT_ONCE).await? {
            match swept {
                Swept::Cancelled => cancelled += 1,
                Swept::NothingToDo => {}
                Swept::Failed => failed += 1,
            }
        }
        if failed > 0 {
            metrics::counter!("seatflow_sweep_failures_total").increment(failed.into());
            tracing::error!(orders = failed, "overdue orders could not be cancelled");
        }
        if cancelled > 0 {
            metrics::counter!("seatflow_orders_swept_total").increment(cancelled.into());
            tracing::info!(orders = cancelled, "swept overdue orders");
        }
        Ok(cancelled)
    }

    /// Ends one overdue order. An error only when all others would wait in vain as well: there is no connection to be had.
    async fn sweep(&self, order_no: OrderNo) -> Result<Swept, Failure> {
        fault::point(Point::SweepBeforeCancel);
        match self.expire(order_no).await {
            Ok(Expiry::Cancelled { .. }) => Ok(Swept::Cancelled),
            Ok(Expiry::NotYet { .. } | Expiry::Finished) => Ok(Swept::NothingToDo),
            Err(error @ Failure::Db(DbError::Busy)) => Err(error),
            Err(error) => {
                tracing::error!(%order_no, %error, cause = ?error, "overdue order not cancelled");
                Ok(Swept::Failed)
            }
        }
    }
}

/// What the sweeper made of one order.
enum Swept {
    Cancelled,
    NothingToDo,
    Failed,
}
