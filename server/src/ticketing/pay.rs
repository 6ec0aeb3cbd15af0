//! Paying: an attempt is recorded, the gateway collects, and its signed notice decides.

use super::{Failure, Ticketing, failure::OrTell};
use crate::{
    mysql::money::{NoticeResult, PaymentNotice, PaymentRecord, PaymentStart},
    payment_channel::{CallbackNotice, ChannelError, NewCharge, NoticeStatus, NoticeSubject},
};
use app::{
    domain::{
        ids::OrderNo,
        order::RefundProgress,
        payment::{PaymentEvent, PaymentStatus},
        text::LocalText,
        time::Millis,
        user::User,
    },
    error::{AppError, Thing},
};
use axum::http::{HeaderMap, StatusCode};

/// An order that ends sooner than this is not sent to the gateway any more.
const TIME_TO_PAY_MIN: Millis = Millis(1_000);

impl Ticketing {
    /// Starts an attempt to pay one of the user's pending orders, or finds the open one; the cashier's address.
    ///
    /// # Errors
    /// `NotFound` when the order is not theirs, `OrderState` when it can't be paid any more, `Busy` when the gateway does
    /// not answer: the same attempt goes on when it is started again.
    pub async fn start_paying(&self, user: &User, order_no: OrderNo) -> Result<String, AppError> {
        let now = self.now();
        let start = self
            .inner
            .db
            .start_payment(user.id, order_no, now + TIME_TO_PAY_MIN, now)
            .await;
        match start.or_tell("start paying")? {
            PaymentStart::Open(payment) => self.cashier(payment).await,
            PaymentStart::NotPayable => {
                let order = self
                    .inner
                    .db
                    .order(order_no)
                    .await
                    .or_tell("start paying")?;
                let is_theirs = order.is_some_and(|order| order.user_id == user.id);
                Err(
                    if is_theirs || self.creating_order(user, order_no).await?.is_some() {
                        AppError::OrderState
                    } else {
                        AppError::NotFound { what: Thing::Order }
                    },
                )
            }
        }
    }

    async fn cashier(&self, payment: PaymentRecord) -> Result<String, AppError> {
        if let (PaymentStatus::Paying, Some(url)) = (payment.status, &payment.cashier_url) {
            return Ok(url.clone());
        }
        let charge = self.charge_of(&payment).await.or_tell("start paying")?;
        match self.inner.channel.create(charge).await {
            Ok(charge) => {
                let started = self.inner.db.payment_started(
                    &payment,
                    &charge.third_trade_no,
                    &charge.cashier_url,
                    self.now(),
                );
                started.await.or_tell("start paying")?;
                Ok(charge.cashier_url)
            }
            Err(ChannelError::Unreachable) => {
                tracing::warn!(order_no = %payment.order_no, "gateway not reached");
                Err(AppError::Busy {
                    retry_after_ms: 2_000,
                })
            }
            Err(error) => Err(Failure::from(error).into_app_error("start paying")),
        }
    }

    async fn charge_of(&self, payment: &PaymentRecord) -> Result<NewCharge, Failure> {
        let order = self.inner.db.order(payment.order_no).await?;
        let order = order.ok_or(Failure::Broken("payment of no order"))?;
        let facts = self
            .facts(order.show_id)
            .await?
            .ok_or(Failure::Broken("order of no show"))?;
        let title = &facts.event.summary.title;
        Ok(NewCharge {
            out_trade_no: payment.out_trade_no.clone(),
            amount: payment.amount,
            subject: LocalText {
                en: format!("{} · order {}", title.en, payment.order_no.grouped()),
                zh_cn: format!("{} · 订单 {}", title.zh_cn, payment.order_no.grouped()),
            },
            expires_in: payment.expire_at - self.now(),
            notify_url: self.notify_url(),
            return_url: format!(
                "{}/orders/{}",
                self.inner.config.http.public_url, payment.order_no
            ),
        })
    }

    /// Where the gateway's notices go.
    pub(super) fn notify_url(&self) -> String {
        let base = &self.inner.config.http.callback_url;
        format!("{base}/callbacks/payments/{}", self.inner.channel.name())
    }

    /// Takes a notice from the gateway; the status it is answered with. 200 once it is recorded, whatever it led to.
    pub async fn take_callback(&self, headers: &HeaderMap, raw_body: &[u8]) -> StatusCode {
        let (status, word) = match self.inner.channel.verify(headers, raw_body, self.now()) {
            Err(rejected) => {
                tracing::warn!(reason = ?rejected, "callback rejected");
                let status = StatusCode::from_u16(rejected.status());
                (status.unwrap_or(StatusCode::BAD_REQUEST), "rejected")
            }
            Ok(notice) => match self.record_callback(&notice, raw_body).await {
                Ok(Some(word)) => (StatusCode::OK, word),
                Ok(None) => (StatusCode::NOT_FOUND, "unknown"),
                Err(error) => {
                    // Not recorded: the gateway repeats it.
                    tracing::error!(out_trade_no = notice.out_trade_no, %error, cause = ?error, "callback not recorded");
                    (StatusCode::SERVICE_UNAVAILABLE, "failed")
                }
            },
        };
        metrics::counter!("seatflow_callbacks_total", "result" => word).increment(1);
        status
    }

    async fn record_callback(
        &self,
        notice: &CallbackNotice,
        raw_body: &[u8],
    ) -> Result<Option<&'static str>, Failure> {
        match &notice.subject {
            NoticeSubject::Payment => self.record_payment_notice(notice, raw_body).await,
            NoticeSubject::Refund { refund_no } => {
                self.record_refund_notice(refund_no, notice.status).await
            }
        }
    }

    async fn record_payment_notice(
        &self,
        notice: &CallbackNotice,
        raw_body: &[u8],
    ) -> Result<Option<&'static str>, Failure> {
        let event = match notice.status {
            NoticeStatus::Succeeded => PaymentEvent::Succeeded,
            NoticeStatus::Failed => PaymentEvent::Failed,
            NoticeStatus::Closed => PaymentEvent::Closed,
        };
        let declined = event == PaymentEvent::Failed;
        let notice = PaymentNotice {
            callback_id: notice.callback_id.clone(),
            out_trade_no: notice.out_trade_no.clone(),
            event,
            amount: notice.amount,
            fail_reason: declined.then(|| "declined at the cashier".to_owned()),
            raw_body: String::from_utf8_lossy(raw_body).into_owned(),
        };
        let Some(recorded) = self.inner.db.record_notice(&notice, self.now()).await? else {
            return Ok(None);
        };
        tracing::info!(order_no = %recorded.order_no, result = recorded.result.word(), "payment notice");
        self.settle_now(recorded.follow_up).await;
        if recorded.result == NoticeResult::Repeated && event == PaymentEvent::Succeeded {
            self.repair_paid(recorded.order_no).await?;
        }
        Ok(Some(recorded.result.word()))
    }

    /// A repeated success does again whatever the first one may have left undone.
    async fn repair_paid(&self, order_no: OrderNo) -> Result<(), Failure> {
        use app::domain::order::OrderStatus;
        let order = self.inner.db.order(order_no).await?;
        match order.map(|order| order.status) {
            Some(OrderStatus::Paid | OrderStatus::Ticketed) => self.settle_paid(order_no).await,
            _ => Ok(()),
        }
    }

    async fn record_refund_notice(
        &self,
        refund_no: &str,
        status: NoticeStatus,
    ) -> Result<Option<&'static str>, Failure> {
        let known = match status {
            NoticeStatus::Succeeded => {
                self.inner
                    .db
                    .refund_succeeded(refund_no, self.now())
                    .await?
            }
            NoticeStatus::Failed | NoticeStatus::Closed => {
                self.inner
                    .db
                    .refund_moved(refund_no, RefundProgress::Failed)
                    .await?;
                self.inner.db.refund(refund_no).await?.is_some()
            }
        };
        Ok(known.then_some("refund"))
    }
}

impl Ticketing {
    /// The name of the gateway, as it stands in the address of its notices.
    #[must_use]
    pub fn channel_name(&self) -> &'static str {
        self.inner.channel.name()
    }
}
