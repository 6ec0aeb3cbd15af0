//! Withdrawing a show: nothing of it is sold any more, and each of its orders is cancelled, or its money given back.
//!
//! The show's row is changed first, then Redis refuses buyers. An order that was accepted before and is still on its way is
//! written like any other and met here afterwards: the withdrawal stays open until no order is live, nothing is held and
//! nothing can be on its way any more. Whatever is done is done by compare-and-set on the orders themselves, so a server
//! that dies leaves nothing half done, and the next one goes on where the orders are.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    mysql::{
        DbError,
        withdrawals::{Begun, Withdrawal},
    },
};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::CancelReason,
};
use futures::{StreamExt, stream};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often withdrawals are worked on.
const EVERY: Duration = Duration::from_secs(1);
/// Shows worked on in one round.
const SHOWS_MAX: u32 = 100;
/// Orders of one page.
const PAGE: u32 = 100;
/// Pages of one show in one round; then its progress is written down and another show has its turn.
const PAGES_MAX: u32 = 20;
/// Orders ended at the same time.
const AT_ONCE: usize = 8;
/// Name of the lock that makes one server work on withdrawals.
const LEADER_LOCK: &str = "withdraw";

/// Why a show was not withdrawn.
#[derive(Debug, thiserror::Error)]
pub enum WithdrawError {
    /// There is no such show.
    #[error("there is no such show")]
    NoShow,
    /// A store failed. If the show's row was changed before, the work goes on by itself.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<DbError> for WithdrawError {
    fn from(error: DbError) -> Self {
        Self::Failure(error.into())
    }
}

impl Ticketing {
    /// Withdraws a show: buyers are refused at once, and its orders are ended by whichever server leads. Doing it twice
    /// changes nothing.
    ///
    /// # Errors
    /// [`WithdrawError::NoShow`], or when a store fails.
    pub async fn withdraw_show(&self, show: ShowId) -> Result<Withdrawal, WithdrawError> {
        match self.inner.db.begin_withdrawal(show, self.now()).await? {
            Begun::NoShow => return Err(WithdrawError::NoShow),
            Begun::Now => tracing::warn!(show_id = show.0, "show withdrawn"),
            Begun::Before => {}
        }
        fault::point(Point::WithdrawAfterRow);
        self.close_in_redis(show).await?;
        fault::point(Point::WithdrawBeforeCount);
        self.inner.db.count_withdrawal(show).await?;
        let withdrawal = self.inner.db.withdrawal(show).await?;
        withdrawal.ok_or(WithdrawError::NoShow)
    }

    /// Works on withdrawn shows until cancelled, whenever this server is the leader.
    pub async fn run_withdrawals(&self, cancel: CancellationToken) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.work_on_withdrawals().await {
                tracing::warn!(%error, cause = ?error, "withdrawal goes on in the next round");
            }
        }
    }

    /// One round over all withdrawn shows that have something left to do; how many were worked on. None when another
    /// server is at it.
    ///
    /// # Errors
    /// When a store fails; what was done stays done.
    pub async fn work_on_withdrawals(&self) -> Result<Option<usize>, Failure> {
        let shows = self.inner.db.open_withdrawals(SHOWS_MAX).await?;
        if shows.is_empty() {
            return Ok(Some(0));
        }
        let Some(lead) = self.inner.db.try_lead(LEADER_LOCK).await? else {
            return Ok(None);
        };
        let mut outcome = Ok(Some(shows.len()));
        for show in shows {
            if let Err(error) = self.work_on_withdrawal(show).await {
                // Another show's orders must not wait for this one's.
                outcome = Err(error);
            }
        }
        lead.give_up().await;
        outcome
    }

    async fn work_on_withdrawal(&self, show: ShowId) -> Result<(), Failure> {
        self.close_in_redis(show).await?;
        let cancelled = self.cancel_pages(show).await;
        let refunded = self.refund_pages(show).await;
        let live = self.inner.db.count_withdrawal(show).await?;
        if live == 0 && self.nothing_under_way(show).await? {
            fault::point(Point::WithdrawBeforeFinish);
            self.inner.db.finish_withdrawal(show, self.now()).await?;
        }
        cancelled.and(refunded)
    }

    /// Makes Redis refuse buyers, and notes since when.
    async fn close_in_redis(&self, show: ShowId) -> Result<(), Failure> {
        self.follow_terms(show).await?;
        fault::point(Point::WithdrawAfterClose);
        let now = self.now();
        Ok(self.inner.db.note_closed_in_redis(show, now).await?)
    }

    async fn cancel_pages(&self, show: ShowId) -> Result<(), Failure> {
        let (mut after, mut outcome) = (None, Ok(()));
        for _ in 0..PAGES_MAX {
            let page = self.inner.db.pending_of_show(show, after, PAGE).await?;
            let Some(last) = page.last().copied() else {
                break;
            };
            fault::point(Point::WithdrawBeforeCancel);
            let ended = self.each(page, |order_no| async move {
                let reason = CancelReason::ShowWithdrawn;
                self.end_order(order_no, reason).await.map(|_| ())
            });
            outcome = ended.await.and(outcome);
            after = Some(last);
        }
        outcome
    }

    async fn refund_pages(&self, show: ShowId) -> Result<(), Failure> {
        let (mut after, mut outcome) = (None, Ok(()));
        for _ in 0..PAGES_MAX {
            let page = self.inner.db.unrefunded_of_show(show, after, PAGE).await?;
            let Some(last) = page.last().copied() else {
                break;
            };
            fault::point(Point::WithdrawBeforeRefund);
            let asked = self.each(page, |order_no| self.refund_withdrawn(order_no));
            outcome = asked.await.and(outcome);
            after = Some(last);
        }
        outcome
    }

    /// Ends every order of a page; one that can't be ended now does not keep the others waiting.
    async fn each<F: Future<Output = Result<(), Failure>>>(
        &self,
        page: Vec<OrderNo>,
        end: impl Fn(OrderNo) -> F,
    ) -> Result<(), Failure> {
        let outcomes: Vec<_> = stream::iter(page)
            .map(end)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        outcomes.into_iter().collect()
    }

    /// Whether no order of the show can be on its way any more: its last buyer was refused longer ago than an accepted
    /// order may take to be written, and Redis knows of none.
    async fn nothing_under_way(&self, show: ShowId) -> Result<bool, Failure> {
        let withdrawal = self.inner.db.withdrawal(show).await?;
        let closed_at = withdrawal.and_then(|withdrawal| withdrawal.closed_in_redis_at);
        let lease = self.inner.config.limits.lock_lease;
        if closed_at.is_none_or(|at| self.now() < at + lease) {
            return Ok(false);
        }
        Ok(self.inner.redis.orders_under_way(show).await? == 0)
    }
}
