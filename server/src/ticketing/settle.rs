//! Settling: what must happen outside the database after an order was paid or has ended. The outbox sees to it
//! (`outbox.rs`).

use super::{Failure, Ticketing, rebuild::zoned_seats};
use crate::{
    fault::{self, Point},
    kafka::{
        batch::{BatchHandler, HandlerError, Poison, Received},
        messages::{Closed, OrderHappened, Paid},
    },
    mysql::orders::ItemRecord,
    payment_channel::{Channel, ChannelError, ChargeState, RefusalCode},
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

/// How long an event may take to be acknowledged before it is left to the outbox.
pub(crate) const ACK_PATIENCE: Duration = Duration::from_secs(1);

impl Ticketing {
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
        let items = self.inner.db.items_of_order(order_no).await?;
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
            ConfirmReply::Rebuild => return Err(Failure::Rebuilding),
        }
        fault::point(Point::SettlePaidBeforePlaces);
        self.settle_taken(order_no, PlaceState::Sold).await?;
        fault::point(Point::SettlePaidBeforeForgetting);
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

    pub(super) async fn settle_closed(&self, order_no: OrderNo) -> Result<(), Failure> {
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
                return Err(Failure::Rebuilding);
            }
        }
        fault::point(Point::SettleBeforePlaces);
        self.settle_given(order_no, GiveWhy::Release).await?;
        fault::point(Point::SettleBeforeForgetting);
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

    /// Tells others what happened to an order. Whoever waits for it has a gateway, a customer or other orders waiting, and the
    /// outbox tells it again: without Kafka it is soon given up.
    pub(super) async fn publish(&self, happened: OrderHappened) -> Result<(), Failure> {
        let delivery = self.inner.producer.send(&happened, None)?;
        Ok(delivery.within(ACK_PATIENCE).await?)
    }

    /// Ends a payment at its channel. One that the customer was faster to pay is recorded as paid: nobody else may ever
    /// tell of that money.
    pub(super) async fn settle_payment_close(&self, out_trade_no: &str) -> Result<(), Failure> {
        let payment = self.inner.db.payment(out_trade_no).await?;
        let payment = payment.ok_or(Failure::Broken("closing of no payment"))?;
        let channel = self.channel_that_answers(&payment.channel)?;
        let closed = channel.close(out_trade_no).await;
        fault::point(Point::SettleAfterPaymentClose);
        match closed {
            Ok(ChargeState::Succeeded)
            | Err(ChannelError::Refused {
                code: RefusalCode::State(ChargeState::Succeeded),
            }) => {
                // What follows from the answer may include closing another attempt.
                Box::pin(self.ask_gateway(out_trade_no)).await?;
                Ok(())
            }
            Ok(ChargeState::Open) => Err(Failure::Broken("the channel keeps a payment open")),
            // It ended there, or never began. The channel is asked about it a few times more, whatever it says now.
            Ok(ChargeState::Closed | ChargeState::Failed)
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
