//! What an order's page is about, and how soon it asks the server again.

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
    /// Ended without payment.
    Cancelled {
        /// Why.
        reason: CancelReason,
        /// How far the refund has come, when money arrived too late.
        refund: Option<RefundProgress>,
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
    /// The stage that an order, as the server last gave it, is in.
    #[must_use]
    pub fn of(order: &OrderView) -> Self {
        let payment = order.payment.as_ref().map(|payment| payment.status);
        match order.status {
            OrderStatus::Creating => Self::Creating,
            OrderStatus::Pending => match payment {
                // A success that has not reached the order yet is a result on its way, never a reason to pay again.
                Some(PaymentStatus::Init | PaymentStatus::Paying | PaymentStatus::Success) => {
                    Self::Processing
                }
                Some(PaymentStatus::Failed) => Self::Awaiting { failed: true },
                _ => Self::Awaiting { failed: false },
            },
            OrderStatus::Paid | OrderStatus::Ticketed => Self::Paid,
            OrderStatus::Cancelled => Self::Cancelled {
                reason: order.cancel_reason.unwrap_or(CancelReason::Timeout),
                refund: refund(order),
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
            Self::Paid | Self::Cancelled { .. } | Self::Refunded | Self::Discarded { .. } => None,
        }
    }
}

/// Money that was taken for an order that has no seats: it is on its way back from the first moment.
fn refund(order: &OrderView) -> Option<RefundProgress> {
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
            total: Money::new(0, Currency::Cny),
            placed: time.clone(),
            expires: time,
            now: Timestamp(0),
            paid: None,
            payment: payment.map(|status| PaymentAttempt {
                status,
                refund: None,
            }),
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
    fn money_that_came_too_late_is_on_its_way_back() {
        let late = Stage::of(&order(OrderStatus::Cancelled, Some(PaymentStatus::Success)));
        let refund = Some(RefundProgress::Requested);
        assert_eq!(
            late,
            Stage::Cancelled {
                reason: CancelReason::Timeout,
                refund
            }
        );
        assert!(late.next_poll_ms(Millis(0), 0).is_some());
        let unpaid = Stage::of(&order(OrderStatus::Cancelled, Some(PaymentStatus::Closed)));
        assert_eq!(unpaid.next_poll_ms(Millis(0), 0), None);
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
