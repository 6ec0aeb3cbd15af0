//! Paying: an attempt is recorded, the gateway collects, and its signed notice decides.

use super::{Failure, Ticketing, failure::OrTell};
use crate::{
    fault::{self, Point},
    mysql::money::{NoticeResult, PaymentNotice, PaymentRecord, PaymentStart, RefundNotice},
    payment_channel::{
        CallbackNotice, Channel, ChannelError, NewCharge, NoticeStatus, NoticeSubject, Watched,
    },
};
use app::{
    domain::{
        ids::OrderNo,
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
    /// `NotFound` when the order is not theirs, `OrderState` when it can't be paid any more, `NoPaymentService` when the
    /// gateway does not answer: the same attempt goes on when it is started again.
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
        fault::point(Point::PayAfterPayment);
        let channel = self.channel(&payment.channel).or_tell("start paying")?;
        match channel.create(charge).await {
            Ok(charge) => {
                fault::point(Point::PayAfterCharge);
                let started = self.inner.db.payment_started(
                    &payment,
                    &charge.third_trade_no,
                    &charge.cashier_url,
                    self.now(),
                );
                started.await.or_tell("start paying")?;
                fault::point(Point::PayBeforeAnswer);
                Ok(charge.cashier_url)
            }
            Err(ChannelError::Unreachable) => {
                tracing::warn!(order_no = %payment.order_no, "gateway not reached");
                Err(AppError::NoPaymentService)
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
            notify_url: self.notify_url(&payment.channel),
            return_url: format!(
                "{}/orders/{}",
                self.inner.config.http.public_url, payment.order_no
            ),
        })
    }

    /// Where a channel's notices go.
    pub(super) fn notify_url(&self, channel: &str) -> String {
        let base = &self.inner.config.http.callback_url;
        format!("{base}/callbacks/payments/{channel}")
    }

    /// The channel that a payment or a refund names.
    pub(super) fn channel(&self, name: &str) -> Result<&Watched, Failure> {
        self.inner.channels.named(name).ok_or(Failure::Broken(
            "payment through a channel that is not in use",
        ))
    }

    /// The same for whoever can do it later: a channel that has not answered for a while is left alone.
    pub(super) fn channel_that_answers(&self, name: &str) -> Result<&Watched, Failure> {
        let channel = self.channel(name)?;
        if channel.may_ask() {
            Ok(channel)
        } else {
            Err(ChannelError::Resting.into())
        }
    }

    /// Takes a notice that was sent to a channel's address; the status it is answered with. 200 once it is recorded,
    /// whatever it led to; 404 when there is no such channel, or no such payment through it.
    pub async fn take_callback(
        &self,
        channel: &str,
        headers: &HeaderMap,
        raw_body: &[u8],
    ) -> StatusCode {
        let Some(channel) = self.inner.channels.named(channel) else {
            return StatusCode::NOT_FOUND;
        };
        let (status, word) = match channel.verify(headers, raw_body, self.now()) {
            Err(rejected) => {
                tracing::warn!(reason = ?rejected, "callback rejected");
                let status = StatusCode::from_u16(rejected.status());
                (status.unwrap_or(StatusCode::BAD_REQUEST), "rejected")
            }
            Ok(notice) => match self
                .record_callback(channel.name(), &notice, raw_body)
                .await
            {
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
        channel: &str,
        notice: &CallbackNotice,
        raw_body: &[u8],
    ) -> Result<Option<&'static str>, Failure> {
        match &notice.subject {
            NoticeSubject::Payment => self.record_payment_notice(channel, notice, raw_body).await,
            NoticeSubject::Refund { refund_no } => {
                self.record_refund_notice(channel, notice, refund_no, raw_body)
                    .await
            }
        }
    }

    async fn record_payment_notice(
        &self,
        channel: &str,
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
            channel: channel.to_owned(),
            callback_id: notice.callback_id.clone(),
            out_trade_no: notice.out_trade_no.clone(),
            third_trade_no: Some(notice.third_trade_no.clone()),
            event,
            amount: notice.amount,
            happened_at: Some(notice.occurred_at),
            fail_reason: declined.then(|| "declined at the cashier".to_owned()),
            raw_body: String::from_utf8_lossy(raw_body).into_owned(),
            is_asked_for: false,
        };
        fault::point(Point::CallbackBeforeCommit);
        let Some(recorded) = self.inner.db.record_notice(&notice, self.now()).await? else {
            return Ok(None);
        };
        fault::point(Point::CallbackAfterCommit);
        tracing::info!(order_no = %recorded.order_no, result = recorded.result.word(), "payment notice");
        self.settle_now(recorded.follow_up).await;
        if recorded.result == NoticeResult::Repeated && event == PaymentEvent::Succeeded {
            self.repair_paid(recorded.order_no).await?;
        }
        fault::point(Point::CallbackBeforeAnswer);
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
        channel: &str,
        notice: &CallbackNotice,
        refund_no: &str,
        raw_body: &[u8],
    ) -> Result<Option<&'static str>, Failure> {
        let notice = RefundNotice {
            channel: channel.to_owned(),
            callback_id: notice.callback_id.clone(),
            number: refund_no.to_owned(),
            out_trade_no: notice.out_trade_no.clone(),
            is_back: notice.status == NoticeStatus::Succeeded,
            amount: notice.amount,
            raw_body: String::from_utf8_lossy(raw_body).into_owned(),
        };
        fault::point(Point::RefundNoticeBeforeCommit);
        let recorded = self.inner.db.record_refund_notice(&notice, self.now());
        let Some(recorded) = recorded.await? else {
            return Ok(None);
        };
        tracing::info!(
            number = refund_no,
            result = recorded.result,
            "refund notice"
        );
        self.settle_now(recorded.follow_up).await;
        fault::point(Point::RefundNoticeBeforeAnswer);
        Ok(Some(recorded.result))
    }
}
