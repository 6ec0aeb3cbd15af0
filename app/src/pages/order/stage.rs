//! What an order's page is about, and how soon it asks the server again.

use super::progress::Progress;
use crate::domain::{
    order::{CancelReason, OrderStatus, OrderView, RefundProgress},
    payment::PaymentStatus,
    time::Millis,
};

/// What the page is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The seats are held; the order is on its way.
    Creating,
    /// The customer may pay.
    Awaiting {
        /// Whether the last attempt failed.
        failed: bool,
    },
    /// An attempt to pay was started and its result is not known yet.
    Processing,
    /// Paid.
    Paid,
    /// Paid, and its show was withdrawn: the money goes back.
    Withdrawn {
        /// How far the refund has come.
        refund: RefundProgress,
    },
    /// Ended without payment.
    Cancelled {
        /// Why.
        reason: CancelReason,
        /// How far the refund has come, when money arrived too late.
        refund: Option<RefundProgress>,
        /// Whether an attempt to pay was made, so that money may still arrive.
        attempted: bool,
    },
    /// Paid and given back.
    Refunded,
    /// Never became an order.
    Discarded {
        /// How far the refund has come, when money arrived all the same.
        refund: Option<RefundProgress>,
    },
}

impl Stage {
    /// The stage that an order is in.
    #[must_use]
    pub fn of(order: &OrderView) -> Self {
        Self::at(&Progress::of(order))
    }

    /// The stage of an order that has come so far.
    #[must_use]
    pub fn at(order: &Progress) -> Self {
        let payment = order.payment.as_ref().map(|payment| payment.status);
        let goes_back = order
            .payment
            .as_ref()
            .is_some_and(|payment| payment.refund.is_some());
        match order.status {
            OrderStatus::Creating => Self::Creating,
            // What was paid can't pay the order, because it was another amount.
            OrderStatus::Pending if goes_back => Self::Awaiting { failed: true },
            OrderStatus::Pending => match payment {
                // A success that has not reached the order yet is a result on its way, never a reason to pay again.
                Some(PaymentStatus::Init | PaymentStatus::Paying | PaymentStatus::Success) => {
                    Self::Processing
                }
                Some(PaymentStatus::Failed) => Self::Awaiting { failed: true },
                _ => Self::Awaiting { failed: false },
            },
            OrderStatus::Paid | OrderStatus::Ticketed if order.withdrawn => Self::Withdrawn {
                refund: order
                    .payment
                    .as_ref()
                    .and_then(|payment| payment.refund)
                    .unwrap_or(RefundProgress::Requested),
            },
            OrderStatus::Paid | OrderStatus::Ticketed => Self::Paid,
            OrderStatus::Cancelled => Self::Cancelled {
                reason: order.cancel_reason.unwrap_or(CancelReason::Timeout),
                refund: refund(order),
                attempted: payment.is_some(),
            },
            OrderStatus::Refunded => Self::Refunded,
            OrderStatus::Discarded => Self::Discarded {
                refund: refund(order),
            },
        }
    }

    /// Whether the order waits for payment.
    #[must_use]
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Awaiting { .. } | Self::Processing)
    }

    /// How long to wait before the server is asked again, after `tries` answers that changed nothing; none when nothing
    /// will change by itself. `left` is what remains until the deadline.
    #[must_use]
    pub fn next_poll_ms(self, left: Millis, tries: u32) -> Option<u32> {
        match self {
            Self::Creating => Some(growing(500, tries, 2_000)),
            Self::Processing => Some(growing(1_000, tries, 2_000)),
            Self::Awaiting { .. } if left.0 <= 0 => Some(growing(500, tries, 2_000)),
            Self::Awaiting { .. } => {
                let left_ms = u32::try_from(left.0).unwrap_or(u32::MAX);
                Some(left_ms.saturating_add(150).min(15_000))
            }
            Self::Cancelled {
                refund: Some(refund),
                ..
            }
            | Self::Discarded {
                refund: Some(refund),
            } => (refund != RefundProgress::Succeeded).then(|| growing(3_000, tries, 30_000)),
            Self::Withdrawn { .. } => Some(growing(3_000, tries, 30_000)),
            // A gateway may take the money of an attempt that it was told to close, and say so minutes later.
            Self::Cancelled {
                attempted: true, ..
            } => (tries < LATE_MONEY_TRIES_MAX).then(|| growing(5_000, tries, 60_000)),
            Self::Paid | Self::Cancelled { .. } | Self::Refunded | Self::Discarded { .. } => None,
        }
    }
}

/// As [`Stage::next_poll_ms`], for an order whose tickets are on their way back while its stage stays.
#[must_use]
pub fn refund_poll_ms(tries: u32) -> u32 {
    growing(2_000, tries, 30_000)
}

/// How often a page asks about money that may still arrive for a cancelled order: for about half an hour.
const LATE_MONEY_TRIES_MAX: u32 = 40;

/// Money that was taken for an order that has no seats: it is on its way back from the first moment.
fn refund(order: &Progress) -> Option<RefundProgress> {
    let payment = order.payment.as_ref()?;
    match payment.status {
        PaymentStatus::Success => Some(payment.refund.unwrap_or(RefundProgress::Requested)),
        PaymentStatus::Refunded => Some(RefundProgress::Succeeded),
        _ => None,
    }
}

fn growing(first_ms: u32, tries: u32, most_ms: u32) -> u32 {
    first_ms
        .saturating_add((first_ms / 2).saturating_mul(tries))
        .min(most_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        ids::ShowId,
        money::{Currency, Money},
        order::PaymentAttempt,
        refund::RefundTerms,
        text::LocalText,
        time::{Timestamp, VenueTime},
    };

    fn order(status: OrderStatus, payment: Option<PaymentStatus>) -> OrderView {
        let time = VenueTime {
            at: Timestamp(0),
            offset_min: 480,
            zone: "Asia/Shanghai".to_owned(),
        };
        OrderView {
            order_no: "1045239877100482913".parse().unwrap(),
            status,
            cancel_reason: None,
            show_id: ShowId(1),
            title: LocalText::default(),
            poster: String::new(),
            starts: time.clone(),
            venue: LocalText::default(),
            hall: LocalText::default(),
            city: LocalText::default(),
            items: Vec::new(),
            apart: false,
            total: Money::new(0, Currency::Cny),
            placed: time.clone(),
            expires: time,
            now: Timestamp(0),
            paid: None,
            payment: payment.map(|status| PaymentAttempt {
                status,
                refund: None,
            }),
            withdrawn: false,
            tax: None,
            refund_terms: RefundTerms {
                until: None,
                fee_percent: 0,
            },
            refunds: Vec::new(),
            timeline: Vec::new(),
        }
    }

    #[test]
    fn a_started_payment_is_processed_and_never_offered_anew() {
        for payment in [
            PaymentStatus::Init,
            PaymentStatus::Paying,
            PaymentStatus::Success,
        ] {
            assert_eq!(
                Stage::of(&order(OrderStatus::Pending, Some(payment))),
                Stage::Processing
            );
        }
    }

    #[test]
    fn after_a_failure_the_customer_may_pay_again() {
        let failed = order(OrderStatus::Pending, Some(PaymentStatus::Failed));
        assert_eq!(Stage::of(&failed), Stage::Awaiting { failed: true });
        let closed = order(OrderStatus::Pending, Some(PaymentStatus::Closed));
        assert_eq!(Stage::of(&closed), Stage::Awaiting { failed: false });
    }

    #[test]
    fn an_order_whose_money_goes_back_because_it_was_another_amount_may_be_paid_again() {
        for status in [PaymentStatus::Success, PaymentStatus::Refunded] {
            let mut other = order(OrderStatus::Pending, Some(status));
            let payment = other.payment.as_mut().unwrap();
            payment.refund = Some(RefundProgress::Sent);
            assert_eq!(Stage::of(&other), Stage::Awaiting { failed: true });
        }
    }

    #[test]
    fn money_that_came_too_late_is_on_its_way_back() {
        let late = Stage::of(&order(OrderStatus::Cancelled, Some(PaymentStatus::Success)));
        let refund = Some(RefundProgress::Requested);
        assert_eq!(
            late,
            Stage::Cancelled {
                reason: CancelReason::Timeout,
                refund,
                attempted: true,
            }
        );
        assert!(late.next_poll_ms(Millis(0), 0).is_some());
    }

    #[test]
    fn a_cancelled_order_is_asked_about_slowly_and_not_for_ever_while_money_may_still_arrive() {
        let attempted = Stage::of(&order(OrderStatus::Cancelled, Some(PaymentStatus::Closed)));
        assert_eq!(attempted.next_poll_ms(Millis(0), 0), Some(5_000));
        assert_eq!(attempted.next_poll_ms(Millis(0), 39), Some(60_000));
        assert_eq!(attempted.next_poll_ms(Millis(0), 40), None);
        let never = Stage::of(&order(OrderStatus::Cancelled, None));
        assert_eq!(
            never.next_poll_ms(Millis(0), 0),
            None,
            "nobody tried to pay it"
        );
    }

    #[test]
    fn a_paid_order_of_a_withdrawn_show_is_followed_until_its_money_is_back() {
        let mut withdrawn = order(OrderStatus::Paid, Some(PaymentStatus::Success));
        withdrawn.withdrawn = true;
        let stage = Stage::of(&withdrawn);
        assert_eq!(
            stage,
            Stage::Withdrawn {
                refund: RefundProgress::Requested
            }
        );
        assert_eq!(stage.next_poll_ms(Millis(0), 0), Some(3_000));
        withdrawn.status = OrderStatus::Refunded;
        assert_eq!(Stage::of(&withdrawn), Stage::Refunded);
    }

    #[test]
    fn the_server_is_asked_right_after_the_deadline_and_until_it_decides() {
        let awaiting = Stage::Awaiting { failed: false };
        assert_eq!(awaiting.next_poll_ms(Millis(4_000), 0), Some(4_150));
        assert_eq!(awaiting.next_poll_ms(Millis::minutes(15), 0), Some(15_000));
        assert_eq!(awaiting.next_poll_ms(Millis(-1), 0), Some(500));
        assert_eq!(awaiting.next_poll_ms(Millis(-1), 50), Some(2_000));
    }

    #[test]
    fn a_finished_order_asks_nothing() {
        for status in [
            OrderStatus::Paid,
            OrderStatus::Refunded,
            OrderStatus::Discarded,
        ] {
            assert_eq!(
                Stage::of(&order(status, None)).next_poll_ms(Millis(0), 0),
                None
            );
        }
    }
}
