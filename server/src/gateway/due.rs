//! What happens by itself when its time comes: payments end, withheld successes happen, slow refunds finish.

use super::{
    Gateway,
    error::GatewayError,
    store::{payments, refunds},
    switches::CallbackSwitches,
};

/// How many of a kind are done in one go, so that callbacks are not kept waiting.
const BATCH_MAX: u32 = 100;

impl Gateway {
    /// Does what is due now. One thing that can't be done does not keep the others waiting.
    ///
    /// # Errors
    /// The last failure, after everything was tried.
    pub(super) async fn do_what_is_due(&self) -> Result<(), GatewayError> {
        let mut outcome = Ok(());
        for third_trade_no in payments::overdue(self.pool(), self.now(), BATCH_MAX).await? {
            outcome = self.close_overdue(&third_trade_no).await.and(outcome);
        }
        for third_trade_no in payments::late_due(self.pool(), self.now(), BATCH_MAX).await? {
            outcome = self.capture_late(&third_trade_no).await.and(outcome);
        }
        for refund_no in refunds::due(self.pool(), self.now(), BATCH_MAX).await? {
            outcome = self.settle_due(&refund_no).await.map(|_| ()).and(outcome);
        }
        outcome
    }

    async fn close_overdue(&self, third_trade_no: &str) -> Result<(), GatewayError> {
        let mut transaction = self.pool().begin().await?;
        self.lock_current(&mut transaction, third_trade_no).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Lets a withheld success happen, whether the payment is still open or was closed meanwhile.
    async fn capture_late(&self, third_trade_no: &str) -> Result<(), GatewayError> {
        let now = self.now();
        let mut transaction = self.pool().begin().await?;
        let mut payment = self.lock_current(&mut transaction, third_trade_no).await?;
        let is_due = |at| at <= now;
        if let Some(late) = payment.late.take_if(|late| late.at.is_some_and(is_due)) {
            // The delay has been waited for before the money was taken.
            let switches = CallbackSwitches {
                delay_s: 0,
                ..late.switches
            };
            self.capture(&mut transaction, &mut payment, &switches)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}
