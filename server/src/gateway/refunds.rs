//! Refunds: whole or in part, never more than was paid.

use super::{
    Gateway,
    error::GatewayError,
    payment::{Payment, Refund},
    payments::new_callback_id,
    store::{
        deliveries,
        payments::{self, PaymentKey},
        refunds,
    },
    switches::{CallbackSwitches, RefundAnswer, RefundSwitch},
    wire::{
        Callback, CallbackKind, CallbackStatus, CreateRefund, ErrorCode, PaymentState, RefundState,
    },
};
use sqlx::MySqlConnection;

impl Gateway {
    /// Gives money back, or finds the refund that the same request asked for before.
    pub(super) async fn create_refund(
        &self,
        request: CreateRefund,
    ) -> Result<Refund, GatewayError> {
        let found = self
            .find_payment(PaymentKey::OutTradeNo(&request.out_trade_no))
            .await?;
        let mut transaction = self.pool().begin().await?;
        let payment = self
            .lock_current(&mut transaction, &found.third_trade_no)
            .await?;
        if let Some(existing) = refunds::find(&mut *transaction, &request.refund_no).await? {
            return if existing.has_content_of(&request) {
                Ok(existing)
            } else {
                Err(GatewayError::Refused(ErrorCode::ContentDiffers))
            };
        }
        let mut refund = Refund::begin(request, &payment, self.now())?;
        self.check_refundable(&mut transaction, &payment, &refund)
            .await?;
        let refused = payment.refunds.times > 0 && payment.refunds.answer == RefundAnswer::Refuse;
        count_down(&mut transaction, &payment).await?;
        if refused {
            transaction.commit().await?;
            return Err(GatewayError::Refused(ErrorCode::RefundRefused));
        }
        if !refunds::insert(&mut transaction, &refund).await? {
            // Another payment took the number since it was looked up.
            return Err(GatewayError::Refused(ErrorCode::ContentDiffers));
        }
        if refund.due_at <= self.now() {
            self.settle(&mut transaction, &mut refund).await?;
        }
        transaction.commit().await?;
        tracing::info!(refund_no = refund.refund_no, state = ?refund.state, "gateway refund begun");
        self.nudge();
        Ok(refund)
    }

    /// The refund as it stands now; one whose end is due ends by being looked at.
    pub(super) async fn find_refund(&self, refund_no: &str) -> Result<Refund, GatewayError> {
        let unknown = GatewayError::Refused(ErrorCode::UnknownRefund);
        let refund = refunds::find(self.pool(), refund_no)
            .await?
            .ok_or(unknown)?;
        if refund.state != RefundState::Processing || refund.due_at > self.now() {
            return Ok(refund);
        }
        self.settle_due(refund_no).await
    }

    /// Ends a refund that is due; one that has ended stays as it is.
    pub(super) async fn settle_due(&self, refund_no: &str) -> Result<Refund, GatewayError> {
        let mut transaction = self.pool().begin().await?;
        let unknown = GatewayError::Refused(ErrorCode::UnknownRefund);
        let mut refund = refunds::lock(&mut transaction, refund_no)
            .await?
            .ok_or(unknown)?;
        if refund.state == RefundState::Processing && refund.due_at <= self.now() {
            self.settle(&mut transaction, &mut refund).await?;
        }
        transaction.commit().await?;
        self.nudge();
        Ok(refund)
    }

    /// Sets what happens to the next refunds of a payment.
    pub(super) async fn set_refund_switch(
        &self,
        out_trade_no: &str,
        switch: RefundSwitch,
    ) -> Result<(), GatewayError> {
        switch.check()?;
        let payment = self
            .find_payment(PaymentKey::OutTradeNo(out_trade_no))
            .await?;
        let mut connection = self.pool().acquire().await?;
        payments::set_refund_switch(&mut connection, &payment.third_trade_no, switch).await?;
        Ok(())
    }

    async fn check_refundable(
        &self,
        transaction: &mut MySqlConnection,
        payment: &Payment,
        refund: &Refund,
    ) -> Result<(), GatewayError> {
        if payment.state != PaymentState::Succeeded {
            return Err(GatewayError::State(payment.state));
        }
        let committed = refunds::committed_minor(transaction, &payment.third_trade_no).await?;
        if committed.saturating_add(refund.amount.minor) > payment.amount.minor {
            return Err(GatewayError::Refused(ErrorCode::RefundTooLarge));
        }
        Ok(())
    }

    async fn settle(
        &self,
        transaction: &mut MySqlConnection,
        refund: &mut Refund,
    ) -> Result<(), GatewayError> {
        let now = self.now();
        if !refunds::settle(transaction, &refund.refund_no, refund.outcome, now).await? {
            return Ok(());
        }
        refund.state = refund.outcome;
        refund.settled_at = Some(now);
        let notice = Callback {
            callback_id: new_callback_id(),
            kind: CallbackKind::Refund,
            out_trade_no: refund.out_trade_no.clone(),
            third_trade_no: refund.third_trade_no.clone(),
            refund_no: Some(refund.refund_no.clone()),
            status: match refund.outcome {
                RefundState::Succeeded => CallbackStatus::Succeeded,
                RefundState::Failed | RefundState::Processing => CallbackStatus::Failed,
            },
            amount_minor: refund.amount.minor,
            currency: refund.amount.currency,
            occurred_at_ms: now.0,
        };
        let switches = CallbackSwitches::default();
        deliveries::enqueue(transaction, &notice, &refund.notify_url, &switches, now).await?;
        Ok(())
    }
}

/// One refund fewer that the payment's switch applies to.
async fn count_down(
    transaction: &mut MySqlConnection,
    payment: &Payment,
) -> Result<(), GatewayError> {
    if payment.refunds.times > 0 && payment.refunds.answer != RefundAnswer::Accept {
        let left = RefundSwitch {
            times: payment.refunds.times - 1,
            ..payment.refunds
        };
        payments::set_refund_switch(transaction, &payment.third_trade_no, left).await?;
    }
    Ok(())
}
