//! Money: payments and refunds against orders.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair};
use crate::{
    mysql::money::PaymentNotice,
    payment_channel::ChargeState,
    ticketing::{Failure, Ticketing},
};
use app::domain::{ids::OrderNo, payment::PaymentEvent};

/// Payments and refunds looked at in one round.
const ROWS_MAX: u32 = 1_000;

impl Ticketing {
    pub(super) async fn find_money(&self, found: &mut Vec<Finding>) -> Result<(), Failure> {
        let before = self.now() - FOLLOW_UP_GRACE;
        for money in self.inner.db.money_without_order(before, ROWS_MAX).await? {
            found.push(Finding {
                class: Class::Money,
                show: money.show,
                order_no: Some(money.order_no),
                detail: format!(
                    "payment {} was taken and neither sold nor given back",
                    money.reference
                ),
                repair: Repair::GiveBack {
                    out_trade_no: money.reference,
                },
            });
        }
        for money in self.inner.db.forgotten_payments(before, ROWS_MAX).await? {
            found.push(Finding {
                class: Class::Money,
                show: money.show,
                order_no: Some(money.order_no),
                detail: format!(
                    "payment {} should have ended; the gateway knows how",
                    money.reference
                ),
                repair: Repair::Ask {
                    out_trade_no: money.reference,
                },
            });
        }
        for money in self.inner.db.stuck_refunds(before, ROWS_MAX).await? {
            found.push(Finding {
                class: Class::Money,
                show: money.show,
                order_no: Some(money.order_no),
                detail: format!("refund {} is not on its way", money.reference),
                repair: Repair::SendRefund {
                    order_no: money.order_no,
                    refund_no: money.reference,
                },
            });
        }
        Ok(())
    }

    /// Requests the refund that a successful payment of an order that is not live should have.
    pub(super) async fn give_money_back(&self, out_trade_no: &str) -> Result<bool, Failure> {
        let Some(row) = self
            .inner
            .db
            .give_back_unowned(out_trade_no, self.now())
            .await?
        else {
            return Ok(false);
        };
        self.settle_now(vec![row]).await;
        Ok(true)
    }

    /// Asks the gateway about a payment that was never heard of again, and records the answer like a notice.
    pub(super) async fn ask_gateway(&self, out_trade_no: &str) -> Result<bool, Failure> {
        let Some(payment) = self.inner.db.payment(out_trade_no).await? else {
            return Ok(false);
        };
        let report = self.inner.channel.query(out_trade_no).await?;
        let event = match report.as_ref().map(|report| report.state) {
            Some(ChargeState::Open) => return Ok(false),
            Some(ChargeState::Succeeded) => PaymentEvent::Succeeded,
            Some(ChargeState::Failed) => PaymentEvent::Failed,
            Some(ChargeState::Closed) | None => PaymentEvent::Closed,
        };
        let notice = PaymentNotice {
            callback_id: format!("query:{out_trade_no}:{event:?}"),
            out_trade_no: out_trade_no.to_owned(),
            event,
            amount: report.map_or(payment.amount, |report| report.amount),
            fail_reason: None,
            raw_body: String::new(),
        };
        let recorded = self.inner.db.record_notice(&notice, self.now()).await?;
        self.settle_now(
            recorded
                .map(|recorded| recorded.follow_up)
                .unwrap_or_default(),
        )
        .await;
        Ok(true)
    }

    /// Puts a refund that nobody is sending any more back into the outbox.
    pub(super) async fn send_refund_again(
        &self,
        order_no: OrderNo,
        refund_no: &str,
    ) -> Result<bool, Failure> {
        let row = self
            .inner
            .db
            .send_refund_again(order_no, refund_no, self.now())
            .await?;
        self.settle_now(vec![row]).await;
        Ok(true)
    }
}
