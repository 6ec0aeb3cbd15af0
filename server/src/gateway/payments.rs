//! Payments: asking for one, looking it up, closing it, and the customer's decision.

use super::{
    Gateway,
    error::GatewayError,
    payment::{LateSuccess, Payment},
    store::{
        deliveries,
        payments::{self, PaymentKey},
        refunds,
    },
    switches::{CallbackSwitches, Decision, Outcome, Timing},
    wire::{
        Callback, CallbackKind, CallbackStatus, CreatePayment, ErrorCode, PaymentReport,
        PaymentState,
    },
};
use app::domain::time::{Millis, Timestamp};
use sqlx::MySqlConnection;
use uuid::Uuid;

/// How much earlier the declined try happened that is told of afterwards, with the switch "reorder".
const EARLIER_TRY: Millis = Millis::seconds(1);
/// How much later its notice is sent.
const REORDERED_PAUSE: Millis = Millis(1500);

/// What a decision at the cashier led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decided {
    /// The customer goes back to the merchant.
    Return,
    /// The page says that the payment failed.
    FailedPage,
}

impl Gateway {
    /// Opens a payment, or finds the one that the same request opened before.
    pub(super) async fn create_payment(
        &self,
        request: CreatePayment,
    ) -> Result<Payment, GatewayError> {
        let third_trade_no = format!("gw_{}", Uuid::new_v4().simple());
        let payment = Payment::open(third_trade_no, request, self.now())?;
        if payments::insert(self.pool(), &payment).await? {
            tracing::info!(
                out_trade_no = payment.out_trade_no,
                "gateway payment opened"
            );
            return Ok(payment);
        }
        let existing = self
            .find_payment(PaymentKey::OutTradeNo(&payment.out_trade_no))
            .await?;
        if existing.has_content_of(&payment) {
            Ok(existing)
        } else {
            Err(GatewayError::Refused(ErrorCode::ContentDiffers))
        }
    }

    /// The payment as it stands now; one whose time is over is closed by being looked at.
    pub(super) async fn find_payment(&self, key: PaymentKey<'_>) -> Result<Payment, GatewayError> {
        let unknown = GatewayError::Refused(ErrorCode::UnknownPayment);
        let payment = payments::find(self.pool(), key).await?.ok_or(unknown)?;
        if !payment.is_overdue(self.now()) {
            return Ok(payment);
        }
        let mut transaction = self.pool().begin().await?;
        let payment = self
            .lock_current(&mut transaction, &payment.third_trade_no)
            .await?;
        transaction.commit().await?;
        Ok(payment)
    }

    /// The payment for the merchant to read.
    pub(super) async fn report_payment(
        &self,
        key: PaymentKey<'_>,
    ) -> Result<PaymentReport, GatewayError> {
        let payment = self.find_payment(key).await?;
        let refunded = refunds::succeeded_minor(self.pool(), &payment.third_trade_no).await?;
        Ok(payment.report(refunded))
    }

    /// Closes an open payment; one that is closed stays so.
    pub(super) async fn close_payment(
        &self,
        out_trade_no: &str,
    ) -> Result<PaymentReport, GatewayError> {
        let found = self
            .find_payment(PaymentKey::OutTradeNo(out_trade_no))
            .await?;
        let mut transaction = self.pool().begin().await?;
        let mut payment = self
            .lock_current(&mut transaction, &found.third_trade_no)
            .await?;
        match payment.state {
            PaymentState::Open => self.end(&mut transaction, &mut payment).await?,
            PaymentState::Closed => {}
            state @ (PaymentState::Succeeded | PaymentState::Failed) => {
                return Err(GatewayError::State(state));
            }
        }
        transaction.commit().await?;
        self.nudge();
        Ok(payment.report(0))
    }

    /// Records what the customer did. A repeat of what is recorded already changes nothing.
    pub(super) async fn decide(
        &self,
        third_trade_no: &str,
        decision: &Decision,
    ) -> Result<Decided, GatewayError> {
        decision.check()?;
        let mut transaction = self.pool().begin().await?;
        let mut payment = self.lock_current(&mut transaction, third_trade_no).await?;
        if let Some(decided) = decided_before(&payment, decision)? {
            transaction.commit().await?;
            return Ok(decided);
        }
        let decided = self
            .carry_out(&mut transaction, &mut payment, decision)
            .await?;
        payments::set_refund_switch(&mut transaction, third_trade_no, decision.refunds()).await?;
        transaction.commit().await?;
        tracing::info!(third_trade_no, outcome = ?decision.outcome, "gateway payment decided");
        self.nudge();
        Ok(decided)
    }

    /// Does what the customer decided to a payment that nothing was decided about yet.
    async fn carry_out(
        &self,
        transaction: &mut MySqlConnection,
        payment: &mut Payment,
        decision: &Decision,
    ) -> Result<Decided, GatewayError> {
        let switches = decision.callbacks();
        match (decision.timing(), decision.outcome) {
            (Timing::Now, Outcome::Succeed) => {
                self.capture(transaction, payment, &switches).await?
            }
            (Timing::Now, Outcome::Fail) => self.decline(transaction, payment, &switches).await?,
            (Timing::AfterClose, _) if payment.state == PaymentState::Closed => {
                self.capture(transaction, payment, &switches).await?;
            }
            (Timing::AfterClose, _) => {
                payment.late = Some(LateSuccess { switches, at: None });
                self.advance(transaction, PaymentState::Open, payment)
                    .await?;
            }
            (Timing::FailedPageFirst(delay), _) => {
                let at = self.now() + delay;
                payment.late = Some(LateSuccess {
                    switches,
                    at: Some(at),
                });
                payment.page_fails_until = Some(at);
                self.advance(transaction, PaymentState::Open, payment)
                    .await?;
                return Ok(Decided::FailedPage);
            }
        }
        Ok(Decided::Return)
    }

    /// Locks a payment and brings it up to date: one whose time is over is closed here and its notice queued.
    pub(super) async fn lock_current(
        &self,
        transaction: &mut MySqlConnection,
        third_trade_no: &str,
    ) -> Result<Payment, GatewayError> {
        let unknown = GatewayError::Refused(ErrorCode::UnknownPayment);
        let mut payment = payments::lock(transaction, third_trade_no)
            .await?
            .ok_or(unknown)?;
        if payment.is_overdue(self.now()) {
            self.end(transaction, &mut payment).await?;
            let notice = self.notice(&payment, CallbackStatus::Closed, self.now());
            let switches = CallbackSwitches::default();
            deliveries::enqueue(
                transaction,
                &notice,
                &payment.notify_url,
                &switches,
                self.now(),
            )
            .await?;
        }
        Ok(payment)
    }

    /// Takes the money, now, and queues the notices of it.
    pub(super) async fn capture(
        &self,
        transaction: &mut MySqlConnection,
        payment: &mut Payment,
        switches: &CallbackSwitches,
    ) -> Result<(), GatewayError> {
        let now = self.now();
        let from = payment.state;
        payment.state = PaymentState::Succeeded;
        payment.paid_at = Some(now);
        payment.late = None;
        self.advance(transaction, from, payment).await?;
        let due = now + switches.delay();
        let success = self.notice(payment, CallbackStatus::Succeeded, now);
        deliveries::enqueue(transaction, &success, &payment.notify_url, switches, due).await?;
        if switches.reorder {
            let earlier = self.notice(payment, CallbackStatus::Failed, now - EARLIER_TRY);
            let after = due + REORDERED_PAUSE;
            deliveries::enqueue(transaction, &earlier, &payment.notify_url, switches, after)
                .await?;
        }
        Ok(())
    }

    /// Refuses the customer's money and queues the notice of it.
    async fn decline(
        &self,
        transaction: &mut MySqlConnection,
        payment: &mut Payment,
        switches: &CallbackSwitches,
    ) -> Result<(), GatewayError> {
        let now = self.now();
        payment.state = PaymentState::Failed;
        self.advance(transaction, PaymentState::Open, payment)
            .await?;
        let notice = self.notice(payment, CallbackStatus::Failed, now);
        let due = now + switches.delay();
        deliveries::enqueue(transaction, &notice, &payment.notify_url, switches, due).await?;
        Ok(())
    }

    /// Closes an open payment; a success that waited for this starts its delay.
    async fn end(
        &self,
        transaction: &mut MySqlConnection,
        payment: &mut Payment,
    ) -> Result<(), GatewayError> {
        let now = self.now();
        payment.state = PaymentState::Closed;
        if let Some(late) = &mut payment.late {
            late.at.get_or_insert(now + late.switches.delay());
        }
        self.advance(transaction, PaymentState::Open, payment).await
    }

    /// Writes a change of a payment that this transaction has locked.
    async fn advance(
        &self,
        transaction: &mut MySqlConnection,
        from: PaymentState,
        payment: &Payment,
    ) -> Result<(), GatewayError> {
        if payments::advance(transaction, from, payment).await? {
            Ok(())
        } else {
            // The row is locked, so only a change that went around the lock gets here; nothing is committed then.
            Err(GatewayError::State(from))
        }
    }

    fn notice(
        &self,
        payment: &Payment,
        status: CallbackStatus,
        occurred_at: Timestamp,
    ) -> Callback {
        Callback {
            callback_id: new_callback_id(),
            kind: CallbackKind::Payment,
            out_trade_no: payment.out_trade_no.clone(),
            third_trade_no: payment.third_trade_no.clone(),
            refund_no: None,
            status,
            amount_minor: payment.amount.minor,
            currency: payment.amount.currency,
            occurred_at_ms: occurred_at.0,
        }
    }

    /// Where the customer pays.
    pub(super) fn cashier_url(&self, payment: &Payment) -> String {
        format!(
            "{}/cashier/{}",
            self.inner.config.public_url, payment.third_trade_no
        )
    }
}

/// A name for a new notice.
pub(super) fn new_callback_id() -> String {
    format!("cb_{}", Uuid::new_v4().simple())
}

/// Where the customer goes who presses the same button again (the page slept, or the finger was nervous), or nothing when
/// the payment can still be decided about.
fn decided_before(payment: &Payment, decision: &Decision) -> Result<Option<Decided>, GatewayError> {
    if payment.late.is_some() {
        let page_fails = payment.page_fails_until.is_some();
        return Ok(Some(if page_fails {
            Decided::FailedPage
        } else {
            Decided::Return
        }));
    }
    match (payment.state, decision.outcome) {
        (PaymentState::Open, _) => Ok(None),
        (PaymentState::Closed, _) if decision.timing() == Timing::AfterClose => Ok(None),
        (PaymentState::Succeeded, Outcome::Succeed) | (PaymentState::Failed, Outcome::Fail) => {
            Ok(Some(Decided::Return))
        }
        (state, _) => Err(GatewayError::State(state)),
    }
}
