//! Giving tickets of a paid order back: the one way, for customers, staff and withdrawn shows.
//!
//! One transaction decides and requests; the gateway is asked after it, again and again until the money is back. Until then
//! the tickets stay the order's, so a refund that fails takes nothing from anybody.

use super::{Failure, Ticketing, failure::OrTell, order_timeline::refund_view};
use crate::{
    fault::{self, Point},
    mysql::{
        DbError,
        money::{NewRefund, RefundAsker, RefundRecord, RefundRefusal, RefundRequested},
    },
};
use app::{
    domain::{
        ids::{OrderNo, ShowId},
        refund::{FEE_PERCENT_MAX, RefundPolicy, RefundRequest, RefundView, TicketChoice},
        user::User,
    },
    error::{AppError, Field, Thing},
};

/// Longest text that staff give as a reason, in characters.
pub const NOTE_CHARS_MAX: usize = 500;
/// Most tickets that one request may name.
const ITEMS_MAX: usize = 100;

/// Why staff's refund was not requested.
#[derive(Debug, thiserror::Error)]
pub enum StaffRefundError {
    /// The order or its tickets do not allow it.
    #[error(transparent)]
    Refused(#[from] RefundRefusal),
    /// There is no reason, or a very long one.
    #[error("a reason of 1 to {NOTE_CHARS_MAX} characters is needed")]
    Note,
    /// Nothing would be left to give back.
    #[error("a fee is {FEE_PERCENT_MAX} % at most")]
    Fee,
    /// A store failed; nothing was requested.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<DbError> for StaffRefundError {
    fn from(error: DbError) -> Self {
        Self::Failure(error.into())
    }
}

/// Why a show's terms were not changed.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A time after the start, or a fee that leaves nothing.
    #[error("a show takes tickets back before it begins, and keeps {FEE_PERCENT_MAX} % at most")]
    Unsound,
    /// There is no such show.
    #[error("there is no such show")]
    NoShow,
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl Ticketing {
    /// A customer gives tickets of an own order back, on the show's terms.
    ///
    /// # Errors
    /// `NotFound` when the order is not theirs, `Invalid` when no ticket is named or one that the order does not have,
    /// `RefundClosed` when it is too late, `OrderState` when the order is not paid, a ticket was given back before, or
    /// another amount would come back than the customer was told.
    pub async fn refund_own(
        &self,
        user: &User,
        request: RefundRequest,
    ) -> Result<RefundView, AppError> {
        check(&request)?;
        let new = NewRefund {
            order_no: request.order_no,
            tickets: request.tickets,
            asker: RefundAsker::Customer {
                user: user.id,
                key: request.key,
                back_minor: request.back_minor,
            },
        };
        let requested = self.request_refund(&new).await.or_tell("request refund")?;
        let refund = requested.map_err(told)?;
        self.refund_view(refund).await.or_tell("request refund")
    }

    /// Staff give tickets of a paid order back, whenever they want, and say why.
    ///
    /// # Errors
    /// [`StaffRefundError`]; nothing was requested then.
    pub async fn refund_by_staff(
        &self,
        order_no: OrderNo,
        tickets: TicketChoice,
        note: &str,
        fee_percent: u8,
    ) -> Result<RefundRecord, StaffRefundError> {
        let note = note.trim();
        if note.is_empty() || note.chars().count() > NOTE_CHARS_MAX {
            return Err(StaffRefundError::Note);
        }
        if fee_percent > FEE_PERCENT_MAX {
            return Err(StaffRefundError::Fee);
        }
        let new = NewRefund {
            order_no,
            tickets,
            asker: RefundAsker::Staff {
                note: note.to_owned(),
                fee_percent,
            },
        };
        Ok(self.request_refund(&new).await??)
    }

    /// Gives back what is left of a paid order of a withdrawn show.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn refund_withdrawn(&self, order_no: OrderNo) -> Result<(), Failure> {
        let new = NewRefund {
            order_no,
            tickets: TicketChoice::All,
            asker: RefundAsker::Withdrawal,
        };
        match self.request_refund(&new).await? {
            // Somebody else was faster: the order is over, or its tickets are on their way back.
            Ok(_) | Err(RefundRefusal::NotPaid | RefundRefusal::NothingLeft) => Ok(()),
            Err(refusal) => {
                tracing::error!(%order_no, %refusal, "money of a withdrawn show can't be given back");
                Ok(())
            }
        }
    }

    /// On which terms a show takes tickets back; none when there is no such show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn refund_policy(&self, show: ShowId) -> Result<Option<RefundPolicy>, Failure> {
        Ok(self.inner.db.show(show).await?.map(|show| show.refund))
    }

    /// Changes on which terms a show takes tickets back, from now on and for orders that were placed before, too.
    ///
    /// # Errors
    /// When the terms are not sound, there is no such show, or the database fails; nothing is changed then.
    pub async fn set_refund_policy(
        &self,
        show: ShowId,
        policy: RefundPolicy,
    ) -> Result<(), PolicyError> {
        if !policy.is_sound() {
            return Err(PolicyError::Unsound);
        }
        if !self.inner.db.set_refund_policy(show, policy).await? {
            return Err(PolicyError::NoShow);
        }
        tracing::info!(
            show_id = show.0,
            until_ms = policy.until.map(|until| until.0),
            fee_percent = policy.fee_percent,
            "refund terms changed"
        );
        Ok(())
    }

    async fn request_refund(
        &self,
        new: &NewRefund,
    ) -> Result<Result<RefundRecord, RefundRefusal>, Failure> {
        fault::point(Point::RefundBeforeRequest);
        match self.inner.db.request_refund(new, self.now()).await? {
            RefundRequested::Now { refund, row } => {
                let reason = refund.reason.word();
                metrics::counter!("seatflow_refunds_requested_total", "reason" => reason)
                    .increment(1);
                tracing::info!(order_no = %refund.order_no, refund_no = refund.refund_no, reason, "refund requested");
                self.settle_now(vec![row]).await;
                fault::point(Point::RefundBeforeAnswer);
                // It may be back by now.
                let now = self.inner.db.refund(&refund.refund_no).await?;
                Ok(Ok(now.unwrap_or(refund)))
            }
            RefundRequested::Before(refund) => Ok(Ok(refund)),
            RefundRequested::Refused(refusal) => Ok(Err(refusal)),
        }
    }

    async fn refund_view(&self, refund: RefundRecord) -> Result<RefundView, Failure> {
        let order = self.inner.db.order(refund.order_no).await?;
        let order = order.ok_or(Failure::Broken("refund of no order"))?;
        let facts = self.facts(order.show_id).await?;
        let facts = facts.ok_or(Failure::Broken("order of no show"))?;
        let items = self.inner.db.items_of_order(refund.order_no).await?;
        Ok(refund_view(&refund, &items, &facts.place.time_zone))
    }
}

fn check(request: &RefundRequest) -> Result<(), AppError> {
    let key = &request.key;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !(8..=64).contains(&key.len()) || !key.chars().all(is_plain) {
        return Err(AppError::Invalid {
            field: Field::IdempotencyKey,
        });
    }
    match &request.tickets {
        TicketChoice::All => Ok(()),
        TicketChoice::Items(items) if (1..=ITEMS_MAX).contains(&items.len()) => Ok(()),
        TicketChoice::Items(_) => Err(AppError::Invalid {
            field: Field::Tickets,
        }),
    }
}

/// What the customer hears.
fn told(refusal: RefundRefusal) -> AppError {
    match refusal {
        RefundRefusal::NoOrder => AppError::NotFound { what: Thing::Order },
        RefundRefusal::Closed => AppError::RefundClosed,
        RefundRefusal::UnknownItem => AppError::Invalid {
            field: Field::Tickets,
        },
        RefundRefusal::NotPaid
        | RefundRefusal::GivenBackBefore
        | RefundRefusal::NothingLeft
        | RefundRefusal::NothingBack
        | RefundRefusal::OtherAmount => AppError::OrderState,
    }
}
