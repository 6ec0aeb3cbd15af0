//! Money: payments and refunds against orders.
//!
//! Payments that are over are no findings: nothing is known to be wrong with them. The gateway is asked about them a few
//! times all the same, because it may have taken their money; only news of that counts as a repair.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair, Round};
use crate::{
    fault::{self, Point},
    mysql::{money::EndedPayment, repairs::LooseMoney},
    ticketing::{Failure, Ticketing},
};
use app::domain::{
    ids::OrderNo,
    time::{Millis, Timestamp},
};

/// Payments and refunds looked at in one round.
const ROWS_MAX: u32 = 1_000;
/// Payments that are over and asked about in one round.
const ENDED_MAX: u32 = 500;
/// So many of them at once.
const ASKED_AT_ONCE: usize = 8;
/// How long a gateway may carry a refund out before it is asked what became of it.
const REFUND_PATIENCE: Millis = Millis::minutes(10);

impl Ticketing {
    pub(super) async fn find_money(&self, found: &mut Vec<Finding>) -> Result<(), Failure> {
        let (db, before) = (&self.inner.db, self.now() - FOLLOW_UP_GRACE);
        for money in db.money_without_order(before, ROWS_MAX).await? {
            let what = format!(
                "payment {} was taken and neither sold nor given back",
                money.reference
            );
            let out_trade_no = money.reference.clone();
            found.push(finding(&money, what, Repair::GiveBack { out_trade_no }));
        }
        for money in db.forgotten_payments(before, ROWS_MAX).await? {
            let what = format!(
                "payment {} should have ended; the gateway knows how",
                money.reference
            );
            let out_trade_no = money.reference.clone();
            found.push(finding(&money, what, Repair::Ask { out_trade_no }));
        }
        for money in db.doubted_payments(before, ROWS_MAX).await? {
            let what = format!(
                "a notice about payment {} named another amount or number; the gateway knows the right one",
                money.reference
            );
            let out_trade_no = money.reference.clone();
            found.push(finding(&money, what, Repair::Ask { out_trade_no }));
        }
        self.find_refunds(before, found).await
    }

    async fn find_refunds(
        &self,
        before: Timestamp,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let db = &self.inner.db;
        for money in db.stuck_refunds(before, ROWS_MAX).await? {
            let what = format!("refund {} is not on its way", money.reference);
            let repair = Repair::SendRefund {
                order_no: money.order_no,
                refund_no: money.reference.clone(),
            };
            found.push(finding(&money, what, repair));
        }
        let long_ago = self.now() - REFUND_PATIENCE;
        for money in db.silent_refunds(long_ago, ROWS_MAX).await? {
            let what = format!(
                "refund {} was accepted long ago; the gateway knows what became of it",
                money.reference
            );
            let refund_no = money.reference.clone();
            found.push(finding(&money, what, Repair::AskRefund { refund_no }));
        }
        Ok(())
    }

    /// Payments that are over and that the next round asks the gateway about, by our numbers.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn payments_to_ask(&self) -> Result<Vec<String>, Failure> {
        let ended = self.inner.db.payments_to_ask(self.now(), ENDED_MAX).await?;
        Ok(ended
            .into_iter()
            .map(|payment| payment.out_trade_no)
            .collect())
    }

    /// Asks about payments that are over and due to be asked about. What was new is a repair.
    pub(super) async fn ask_about_ended(&self, round: &mut Round) -> Result<(), Failure> {
        let ended = self.inner.db.payments_to_ask(self.now(), ENDED_MAX).await?;
        for some in ended.chunks(ASKED_AT_ONCE) {
            let asked = some
                .iter()
                .map(|payment| self.ask_gateway(&payment.out_trade_no));
            let answers = futures::future::join_all(asked).await;
            for (payment, answer) in some.iter().zip(answers) {
                fault::point(Point::AskedBeforeNote);
                let db = &self.inner.db;
                db.note_asked(payment, answer.is_ok(), self.now()).await?;
                match answer {
                    Ok(false) => {}
                    Ok(true) => self.note_news(payment, round).await?,
                    Err(error) => {
                        tracing::warn!(order_no = %payment.order_no, %error, "payment not asked about");
                    }
                }
            }
        }
        Ok(())
    }

    async fn note_news(&self, payment: &EndedPayment, round: &mut Round) -> Result<(), Failure> {
        let out_trade_no = payment.out_trade_no.clone();
        let finding = Finding {
            class: Class::Money,
            show: payment.show,
            order_no: Some(payment.order_no),
            detail: format!(
                "payment {out_trade_no} was over here, and the gateway had news of it that never came"
            ),
            repair: Repair::Ask { out_trade_no },
        };
        self.note(&finding).await?;
        round.repaired += 1;
        round.findings.push(finding);
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

fn finding(money: &LooseMoney, detail: String, repair: Repair) -> Finding {
    Finding {
        class: Class::Money,
        show: money.show,
        order_no: Some(money.order_no),
        detail,
        repair,
    }
}
