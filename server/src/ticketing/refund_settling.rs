//! What follows a refund: asking the gateway for it, and giving the tickets back once the money is.

use super::{
    Failure, Ticketing,
    rebuild::{standing_tickets, zoned_seats},
};
use crate::{
    fault::{self, Point},
    kafka::messages::{OrderHappened, Refunded},
    mysql::{
        money::{RefundFault, RefundRecord},
        orders::{ItemRecord, OrderRecord},
    },
    payment_channel::{Channel, ChannelError, NewRefund, RefundProgress as AtGateway},
    redis::scripts::{FreeReply, Freed, GiveWhy},
};
use app::domain::{
    ids::OrderNo,
    order::{OrderStatus, RefundProgress},
};

impl Ticketing {
    /// Asks the gateway for a refund that is not back yet.
    pub(super) async fn settle_refund(&self, refund_no: &str) -> Result<(), Failure> {
        let refund = self.inner.db.refund(refund_no).await?;
        let refund = refund.ok_or(Failure::Broken("refund without a row"))?;
        if refund.status == RefundProgress::Succeeded {
            return Ok(());
        }
        self.send_refund(&refund).await?;
        fault::point(Point::RefundAfterRecord);
        Ok(())
    }

    async fn send_refund(&self, refund: &RefundRecord) -> Result<(), Failure> {
        let number = refund.sent_as();
        let request = NewRefund {
            refund_no: number.clone(),
            out_trade_no: refund.out_trade_no.clone(),
            amount: refund.amount,
            notify_url: self.notify_url(&refund.channel),
        };
        let channel = self.channel_that_answers(&refund.channel)?;
        fault::point(Point::RefundBeforeSend);
        let answer = channel.refund(request).await;
        fault::point(Point::RefundAfterSend);
        match answer {
            Ok(progress) => self.take_refund_answer(&number, progress).await,
            Err(error) => {
                if let ChannelError::Refused { code } = error {
                    let reason = format!("{code:?}");
                    self.note_refund_fault(&number, RefundFault::Refused, &reason)
                        .await?;
                }
                Err(error.into())
            }
        }
    }

    /// Records how far the gateway says that a try of a refund has come.
    async fn take_refund_answer(&self, number: &str, progress: AtGateway) -> Result<(), Failure> {
        let now = self.now();
        match progress {
            AtGateway::Succeeded => {
                let follow_up = self.inner.db.refund_succeeded(number, now).await?;
                Box::pin(self.settle_now(follow_up.unwrap_or_default())).await;
                Ok(())
            }
            AtGateway::Processing => Ok(self.inner.db.refund_sent(number, now).await?),
            AtGateway::Failed => {
                let reason = "the gateway could not give the money back";
                self.note_refund_fault(number, RefundFault::Failed, reason)
                    .await?;
                Err(Failure::Broken(reason))
            }
        }
    }

    async fn note_refund_fault(
        &self,
        number: &str,
        fault: RefundFault,
        reason: &str,
    ) -> Result<(), Failure> {
        metrics::counter!("seatflow_refund_faults_total").increment(1);
        let db = &self.inner.db;
        db.refund_not_done(number, fault, reason, self.now())
            .await?;
        fault::point(Point::RefundAfterFault);
        Ok(())
    }

    /// Asks the gateway what became of a refund that it accepted and has not told of since. False when nothing is new.
    ///
    /// # Errors
    /// When the gateway or the database does not answer.
    pub(super) async fn ask_about_refund(&self, refund_no: &str) -> Result<bool, Failure> {
        let Some(refund) = self.inner.db.refund(refund_no).await? else {
            return Ok(false);
        };
        if refund.status != RefundProgress::Sent {
            return Ok(false);
        }
        let number = refund.sent_as();
        let channel = self.channel_that_answers(&refund.channel)?;
        match channel.query_refund(&number).await? {
            Some(AtGateway::Processing) => Ok(false),
            Some(AtGateway::Succeeded) => {
                self.take_refund_answer(&number, AtGateway::Succeeded)
                    .await?;
                Ok(true)
            }
            Some(AtGateway::Failed) => {
                let reason = "the gateway could not give the money back";
                self.note_refund_fault(&number, RefundFault::Failed, reason)
                    .await?;
                Ok(true)
            }
            // It forgot what it had accepted: it is asked for again, under the same number.
            None => {
                let reason = "the gateway does not know the refund";
                self.note_refund_fault(&number, RefundFault::Refused, reason)
                    .await?;
                Ok(true)
            }
        }
    }

    /// Tickets whose money is back: their seats and places are available again, unless the show has begun, and others are told.
    pub(super) async fn settle_tickets_back(&self, order_no: OrderNo) -> Result<(), Failure> {
        let order = self.inner.db.order(order_no).await?;
        let order = order.ok_or(Failure::Broken("refunded order without a row"))?;
        fault::point(Point::TicketsBackBeforeFree);
        self.free_tickets(&order).await?;
        fault::point(Point::TicketsBackAfterFree);
        let is_over = order.status == OrderStatus::Refunded;
        if is_over {
            self.inner.redis.forget_order(order_no).await?;
            fault::point(Point::TicketsBackBeforeEvent);
            self.publish(OrderHappened::Refunded(Refunded {
                order_no,
                show_id: order.show_id,
            }))
            .await?;
            fault::point(Point::TicketsBackAfterEvent);
        }
        Ok(())
    }

    /// Gives tickets back to the sale that are the order's no more. May be repeated: only what is still this order's is
    /// given back.
    pub(super) async fn free_tickets(&self, order: &OrderRecord) -> Result<(), Failure> {
        let order_no = order.order_no;
        let items = self.inner.db.items_of_order(order_no).await?;
        let show = self.inner.db.show(order.show_id).await?;
        let show = show.ok_or(Failure::Broken("order of no show"))?;
        let freed = freed(order, &items);
        // Nobody can come any more to a show that has begun, and its map tells who was expected.
        if self.now() < show.starts_at {
            let mut reply = self.free(order, &freed).await?;
            if reply == FreeReply::Rebuild {
                // A loading that is under way may have read the order while the tickets were its own.
                self.load_show(order.show_id).await?;
                reply = self.free(order, &freed).await?;
            }
            if reply == FreeReply::Rebuild {
                return Err(Failure::Rebuilding);
            }
        }
        fault::point(Point::TicketsBackBeforePlaces);
        self.settle_given(order_no, GiveWhy::Refund).await?;
        Ok(())
    }

    async fn free(&self, order: &OrderRecord, freed: &Freed) -> Result<FreeReply, Failure> {
        let redis = &self.inner.redis;
        Ok(redis
            .free_sold(order.show_id, order.order_no, freed)
            .await?)
    }
}

/// What an order gives back: tickets whose money is back.
fn freed(order: &OrderRecord, items: &[ItemRecord]) -> Freed {
    let (kept, given): (Vec<_>, Vec<_>) = items.iter().cloned().partition(ItemRecord::is_live);
    Freed {
        seats: zoned_seats(&given),
        with_standing: true,
        standing_kept: standing_tickets(&kept),
        limits: order.limit_counters.clone(),
    }
}
