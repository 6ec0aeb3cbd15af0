//! Money: payments and refunds against orders.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair};
use crate::ticketing::{Failure, Ticketing};
use app::domain::{ids::OrderNo, time::Millis};

/// Payments and refunds looked at in one round.
const ROWS_MAX: u32 = 1_000;
/// How long a gateway may carry a refund out before it is asked what became of it.
const REFUND_PATIENCE: Millis = Millis::minutes(10);

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
        for money in self.inner.db.doubted_payments(before, ROWS_MAX).await? {
            found.push(Finding {
                class: Class::Money,
                show: money.show,
                order_no: Some(money.order_no),
                detail: format!(
                    "a notice about payment {} named another amount or number; the gateway knows the right one",
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
        let long_ago = self.now() - REFUND_PATIENCE;
        for money in self.inner.db.silent_refunds(long_ago, ROWS_MAX).await? {
            found.push(Finding {
                class: Class::Money,
                show: money.show,
                order_no: Some(money.order_no),
                detail: format!(
                    "refund {} was accepted long ago; the gateway knows what became of it",
                    money.reference
                ),
                repair: Repair::AskRefund {
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
