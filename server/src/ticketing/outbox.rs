//! Working on the outbox: what a committed change still has to do outside the database.
//!
//! The server that committed tries at once; what fails, or what a crash left over, is taken from the outbox until it is
//! done. Each kind of row has rounds of its own, so that a gateway that does not answer holds up nothing but what is
//! meant for it.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    mysql::outbox::{OutboxFault, OutboxKind, OutboxRow},
};
use futures::StreamExt;
use std::{collections::HashMap, time::Duration};
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

/// How often what waits is counted, for the figures.
const COUNT_EVERY: Duration = Duration::from_secs(5);

/// The rounds that are under way, a kind at most once.
#[derive(Default)]
struct Rounds {
    tasks: JoinSet<()>,
    kinds: HashMap<Id, OutboxKind>,
}

impl Rounds {
    fn is_under_way(&self, kind: OutboxKind) -> bool {
        self.kinds.values().any(|other| *other == kind)
    }

    /// Waits until one has ended; for ever while there is none.
    async fn ended(&mut self) {
        let id = match self.tasks.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => {
                tracing::error!(%error, "a round over the outbox broke");
                error.id()
            }
            None => std::future::pending().await,
        };
        self.kinds.remove(&id);
    }
}

impl Ticketing {
    /// Tries rows that this server has just committed. A failure leaves the row to the outbox.
    pub async fn settle_now(&self, rows: Vec<OutboxRow>) {
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                fault::point(Point::SettleBetweenRows);
            }
            self.settle_row(row).await;
        }
    }

    /// Works on due rows of the outbox, until cancelled.
    pub async fn run_outbox(&self, cancel: CancellationToken) {
        let every = u64::try_from(self.inner.config.limits.outbox_every.0).unwrap_or(500);
        let mut ticks = tokio::time::interval(Duration::from_millis(every));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut counts = tokio::time::interval(COUNT_EVERY);
        counts.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut rounds = Rounds::default();
        loop {
            let outcome = tokio::select! {
                () = cancel.cancelled() => break,
                () = rounds.ended() => Ok(()),
                _ = ticks.tick() => self.begin_rounds(&mut rounds, &cancel).await,
                _ = counts.tick() => self.count_what_waits().await,
            };
            if let Err(error) = outcome {
                tracing::warn!(%error, cause = ?error, "outbox not read");
            }
        }
        while rounds.tasks.join_next().await.is_some() {}
    }

    /// Begins a round for each kind that has due rows and none under way.
    async fn begin_rounds(
        &self,
        rounds: &mut Rounds,
        cancel: &CancellationToken,
    ) -> Result<(), Failure> {
        for kind in self.inner.db.outbox_due(self.now()).await? {
            if rounds.is_under_way(kind) {
                continue;
            }
            let (ticketing, cancel) = (self.clone(), cancel.clone());
            let round = rounds.tasks.spawn(async move {
                if let Err(error) = ticketing.settle_kind(kind, &cancel).await {
                    tracing::warn!(kind = kind.word(), %error, cause = ?error, "outbox round failed");
                }
            });
            rounds.kinds.insert(round.id(), kind);
        }
        Ok(())
    }

    /// One round over every kind; the number of rows worked on.
    ///
    /// # Errors
    /// When the database fails; the next round goes on.
    pub async fn settle_due(&self) -> Result<usize, Failure> {
        let never = CancellationToken::new();
        let rounds = OutboxKind::ALL.map(|kind| self.settle_kind(kind, &never));
        let counts = futures::future::try_join_all(rounds).await?;
        Ok(counts.into_iter().sum())
    }

    /// One round over the due rows of a kind. What is not begun when the server stops is another one's after its lease.
    async fn settle_kind(
        &self,
        kind: OutboxKind,
        cancel: &CancellationToken,
    ) -> Result<usize, Failure> {
        let rows = self.inner.db.take_outbox(kind, self.now()).await?;
        let count = rows.len();
        futures::stream::iter(rows)
            .for_each_concurrent(OutboxKind::AT_ONCE, |row| async move {
                if !cancel.is_cancelled() {
                    fault::point(Point::SettleAfterTaking);
                    self.settle_row(&row).await;
                }
            })
            .await;
        Ok(count)
    }

    async fn settle_row(&self, row: &OutboxRow) {
        let outcome = match self.settle(row).await {
            Ok(()) => self
                .inner
                .db
                .finish_outbox(row.id)
                .await
                .map_err(Failure::from),
            Err(error) => Err(error),
        };
        let Err(error) = outcome else { return };
        tracing::warn!(order_no = %row.order_no, kind = row.kind.word(), attempts = row.attempts + 1, %error, cause = ?error, "not settled yet");
        let fault = if error.passes() {
            OutboxFault::Passing
        } else {
            OutboxFault::Lasting
        };
        let (db, text) = (&self.inner.db, error.to_string());
        match db.postpone_outbox(row, fault, &text, self.now()).await {
            Ok(true) => {
                metrics::counter!("seatflow_outbox_dead_letters_total", "kind" => row.kind.word())
                    .increment(1);
                tracing::error!(order_no = %row.order_no, kind = row.kind.word(), "given up: a person must look");
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "failure not noted, the row's lease will end"),
        }
    }

    async fn settle(&self, row: &OutboxRow) -> Result<(), Failure> {
        match row.kind {
            OutboxKind::OrderPaid => self.settle_paid(row.order_no).await,
            OutboxKind::OrderClosed => self.settle_closed(row.order_no).await,
            OutboxKind::PaymentClose => self.settle_payment_close(&row.payload).await,
            OutboxKind::RefundSend => self.settle_refund(&row.payload).await,
            OutboxKind::TicketsBack => self.settle_tickets_back(row.order_no).await,
        }
    }

    /// Figures of what waits: rows, money that is owed to customers, and what does not agree.
    async fn count_what_waits(&self) -> Result<(), Failure> {
        let (db, now) = (&self.inner.db, self.now());
        let waiting = db.outbox_waiting().await?;
        metrics::gauge!("seatflow_outbox_rows").set(waiting as f64);
        let age_s = |since: Option<app::domain::time::Timestamp>| {
            since.map_or(0.0, |since| (now - since).0.max(0) as f64 / 1_000.0)
        };
        let oldest = age_s(db.oldest_outbox_row().await?);
        metrics::gauge!("seatflow_outbox_oldest_seconds").set(oldest);
        let owed = age_s(db.oldest_refund().await?);
        metrics::gauge!("seatflow_refund_oldest_seconds").set(owed);
        let open = db.open_discrepancies().await?;
        metrics::gauge!("seatflow_discrepancies_open").set(open as f64);
        Ok(())
    }
}
