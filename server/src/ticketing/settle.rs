//! Settling: what a committed change still has to do outside the database.
//!
//! The server that committed tries at once; what fails, or what a crash left over, is taken from the outbox until it is
//! done or has failed so often that a person must look.

use super::{Failure, Ticketing, rebuild::zoned_seats};
use crate::{
    fault::{self, Point},
    kafka::{
        batch::{BatchHandler, HandlerError, Poison, Received},
        messages::{Closed, OrderHappened, Paid},
    },
    mysql::{
        orders::ItemRecord,
        outbox::{OutboxKind, OutboxRow},
    },
    payment_channel::{ChannelError, RefusalCode},
    redis::{
        scripts::{ConfirmReply, GiveWhy, ReleaseReply},
        standing::PlaceState,
    },
};
use app::domain::{
    ids::OrderNo,
    order::{CancelReason, OrderStatus},
};
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Rows taken in one round.
const ROWS_MAX: u32 = 100;
/// How often the rows that wait are counted, for the figures.
const COUNT_EVERY: Duration = Duration::from_secs(5);

impl Ticketing {
    /// Tries rows that this server has just committed. A failure leaves the row to the outbox.
    pub async fn settle_now(&self, rows: Vec<OutboxRow>) {
        for row in rows {
            self.settle_row(&row).await;
        }
    }

    /// Works on due rows of the outbox, until cancelled.
    pub async fn run_outbox(&self, cancel: CancellationToken) {
        let every = u64::try_from(self.inner.config.limits.outbox_every.0).unwrap_or(500);
        let mut ticks = tokio::time::interval(Duration::from_millis(every));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut counts = tokio::time::interval(COUNT_EVERY);
        counts.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let outcome = tokio::select! {
                () = cancel.cancelled() => return,
                _ = ticks.tick() => self.settle_due().await.map(|_| ()),
                _ = counts.tick() => self.count_outbox().await,
            };
            if let Err(error) = outcome {
                tracing::warn!(%error, cause = ?error, "outbox round failed");
            }
        }
    }

    async fn count_outbox(&self) -> Result<(), Failure> {
        let waiting = self.inner.db.outbox_waiting().await?;
        metrics::gauge!("seatflow_outbox_rows").set(waiting as f64);
        Ok(())
    }

    /// One round over the outbox; the number of rows worked on.
    ///
    /// # Errors
    /// When the database fails; the next round goes on.
    pub async fn settle_due(&self) -> Result<usize, Failure> {
        let rows = self.inner.db.take_outbox(self.now(), ROWS_MAX).await?;
        let count = rows.len();
        for row in rows {
            fault::point(Point::SettleAfterTaking);
            self.settle_row(&row).await;
        }
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
        match self
            .inner
            .db
            .postpone_outbox(row, &error.to_string(), self.now())
            .await
        {
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

    /// Seats of a paid order: locked → sold. Also the repair when a notice comes again.
    ///
    /// # Errors
    /// When a store fails, or when a seat is another order's in Redis.
    pub async fn settle_paid(&self, order_no: OrderNo) -> Result<(), Failure> {
        let order = self
            .inner
            .db
            .order(order_no)
            .await?
            .ok_or(Failure::Broken("paid order without a row"))?;
        // What follows a commit has no order of its own: the money may be back before the seats were marked as sold.
        if order.status == OrderStatus::Refunded {
            return Ok(());
        }
        let items = self
            .inner
            .db
            .items_of(&[order_no])
            .await?
            .remove(&order_no)
            .unwrap_or_default();
        // What was given back may be somebody else's by now.
        let live: Vec<ItemRecord> = items.into_iter().filter(ItemRecord::is_live).collect();
        let seats = zoned_seats(&live);
        fault::point(Point::SettlePaidBeforeConfirm);
        let mut reply = self
            .inner
            .redis
            .confirm(order.show_id, order_no, &seats)
            .await?;
        if reply == ConfirmReply::Rebuild {
            self.load_show(order.show_id).await?;
            reply = self
                .inner
                .redis
                .confirm(order.show_id, order_no, &seats)
                .await?;
        }
        match reply {
            ConfirmReply::Confirmed { .. } => {}
            ConfirmReply::Conflict { seats } => {
                tracing::error!(%order_no, seats = ?seats, "seats of a paid order are another's in Redis");
                return Err(Failure::Broken(
                    "seats of a paid order are another's in Redis",
                ));
            }
            ConfirmReply::Rebuild => return Err(Failure::Broken("the show is lost again")),
        }
        self.settle_taken(order_no, PlaceState::Sold).await?;
        self.inner.redis.forget_order(order_no).await?;
        fault::point(Point::SettlePaidAfterConfirm);
        self.publish(OrderHappened::Paid(Paid {
            order_no,
            show_id: order.show_id,
        }))
        .await?;
        fault::point(Point::SettlePaidAfterEvent);
        Ok(())
    }

    async fn settle_closed(&self, order_no: OrderNo) -> Result<(), Failure> {
        let order = self
            .inner
            .db
            .order(order_no)
            .await?
            .ok_or(Failure::Broken("closed order without a row"))?;
        let redis = &self.inner.redis;
        if redis.release(order.show_id, order_no).await? == ReleaseReply::Rebuild {
            // A loading that is under way may have read the order while it was pending.
            self.load_show(order.show_id).await?;
            if redis.release(order.show_id, order_no).await? == ReleaseReply::Rebuild {
                return Err(Failure::Broken("the show is lost again"));
            }
        }
        self.settle_given(order_no, GiveWhy::Release).await?;
        self.inner.redis.forget_order(order_no).await?;
        fault::point(Point::SettleAfterRelease);
        let reason = order.cancel_reason.unwrap_or(CancelReason::Timeout);
        self.publish(OrderHappened::Closed(Closed {
            order_no,
            show_id: order.show_id,
            reason,
        }))
        .await?;
        fault::point(Point::SettleAfterClosedEvent);
        Ok(())
    }

    pub(super) async fn publish(&self, happened: OrderHappened) -> Result<(), Failure> {
        let delivery = self.inner.producer.send(&happened, None)?;
        Ok(delivery.await?)
    }

    async fn settle_payment_close(&self, out_trade_no: &str) -> Result<(), Failure> {
        let payment = self.inner.db.payment(out_trade_no).await?;
        let payment = payment.ok_or(Failure::Broken("closing of no payment"))?;
        let closed = self.channel(&payment.channel)?.close(out_trade_no).await;
        fault::point(Point::SettleAfterPaymentClose);
        match closed {
            // A payment that ended there, or never began: its notice, if any, says how.
            Ok(_)
            | Err(ChannelError::Refused {
                code: RefusalCode::Unknown | RefusalCode::State(_),
            }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Consumer of `order.events`: keeps the database's copy of sold seats.
#[derive(Clone)]
pub struct OrderEvents(pub Ticketing);

#[async_trait]
impl BatchHandler for OrderEvents {
    type Message = OrderHappened;

    async fn handle(&self, batch: &[Received<OrderHappened>]) -> Result<(), HandlerError> {
        let mut poisoned = Vec::new();
        for (index, received) in batch.iter().enumerate() {
            let OrderHappened::Paid(paid) = &received.message else {
                continue;
            };
            fault::point(Point::SoldBeforeCopy);
            let copied = self
                .0
                .inner
                .db
                .mark_seats_sold(paid.order_no, self.0.now())
                .await;
            match copied {
                Ok(()) => {}
                // The same again would fail again, and others wait behind it.
                Err(error) if error.is_refusal() => {
                    let reason = error.story();
                    poisoned.push(Poison { index, reason });
                }
                Err(error) => return Err(HandlerError::Retry(error.into())),
            }
            fault::point(Point::SoldAfterCopy);
        }
        if poisoned.is_empty() {
            return Ok(());
        }
        Err(HandlerError::Poison(poisoned))
    }
}
