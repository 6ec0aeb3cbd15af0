//! What happened to an order, put together from its own row and those of its payments and refunds.

use super::venue_clock::venue_time;
use crate::mysql::{
    money::{PaymentHistory, RefundRecord},
    orders::{ItemRecord, OrderRecord},
};
use app::domain::{
    order::{OrderStatus, RefundProgress},
    payment::PaymentStatus,
    refund::{RefundView, TOLD_MAX},
    time::Timestamp,
    timeline::{Happening, TimelineEntry},
};

/// A refund as its buyer sees it.
#[must_use]
pub fn refund_view(refund: &RefundRecord, items: &[ItemRecord], zone: &str) -> RefundView {
    RefundView {
        refund_no: refund.refund_no.clone(),
        amount: refund.amount,
        fee: refund.fee,
        reason: refund.reason,
        progress: refund.status,
        items: items_of(refund, items).map(|item| item.item_no).collect(),
        requested: venue_time(refund.requested_at, zone),
        succeeded: refund.succeeded_at.map(|at| venue_time(at, zone)),
    }
}

fn items_of<'a>(
    refund: &RefundRecord,
    items: &'a [ItemRecord],
) -> impl Iterator<Item = &'a ItemRecord> {
    let id = refund.id;
    items
        .iter()
        .filter(move |item| item.refund.is_some_and(|refund| refund.refund_id == id))
}

/// Everything that happened to an order, oldest first; the newest entries when there are very many.
#[must_use]
pub fn timeline(
    order: &OrderRecord,
    items: &[ItemRecord],
    payments: &[PaymentHistory],
    refunds: &[RefundRecord],
    zone: &str,
) -> Vec<TimelineEntry> {
    let mut told = vec![(order.placed_at, Happening::Placed)];
    for (attempt, payment) in (1..).zip(payments) {
        tell_payment(attempt, payment, &mut told);
    }
    let ended = match order.status {
        OrderStatus::Cancelled => order
            .cancel_reason
            .map(|reason| Happening::Cancelled { reason }),
        OrderStatus::Discarded => Some(Happening::Discarded),
        OrderStatus::Refunded => Some(Happening::Refunded),
        _ => None,
    };
    for refund in refunds {
        tell_refund(refund, items_of(refund, items).count(), &mut told);
    }
    told.extend(order.closed_at.zip(ended));
    // What happened at one moment stays in the order in which it is told here.
    told.sort_by_key(|(at, _)| *at);
    let too_many = told.len().saturating_sub(TOLD_MAX);
    let entry = |(at, what)| TimelineEntry {
        at: venue_time(at, zone),
        what,
    };
    told.into_iter().skip(too_many).map(entry).collect()
}

fn tell_payment(attempt: u32, payment: &PaymentHistory, told: &mut Vec<(Timestamp, Happening)>) {
    told.push((payment.created_at, Happening::PaymentStarted { attempt }));
    let ended_at = payment.updated_at;
    match payment.status {
        PaymentStatus::Init | PaymentStatus::Paying => {}
        PaymentStatus::Failed => told.push((ended_at, Happening::PaymentFailed { attempt })),
        PaymentStatus::Closed => told.push((ended_at, Happening::PaymentClosed { attempt })),
        PaymentStatus::Success | PaymentStatus::Refunded => {
            let amount = payment.amount;
            let what = match payment.unwanted {
                Some(reason) => Happening::UnwantedMoney { amount, reason },
                None => Happening::Paid { amount },
            };
            told.push((payment.paid_at.unwrap_or(ended_at), what));
        }
    }
}

fn tell_refund(refund: &RefundRecord, tickets: usize, told: &mut Vec<(Timestamp, Happening)>) {
    let amount = refund.amount;
    let requested = Happening::RefundRequested {
        amount,
        fee: refund.fee,
        tickets: u32::try_from(tickets).unwrap_or(u32::MAX),
        reason: refund.reason,
    };
    told.push((refund.requested_at, requested));
    let sent = refund.sent_at;
    told.extend(sent.map(|at| (at, Happening::RefundSent { amount })));
    let refused = refund.failed_at;
    told.extend(refused.map(|at| (at, Happening::RefundRefused { amount })));
    let done = refund
        .succeeded_at
        .filter(|_| refund.status == RefundProgress::Succeeded);
    told.extend(done.map(|at| (at, Happening::RefundSucceeded { amount })));
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::domain::{
        ids::{OrderNo, ShowId, UserId},
        money::{Currency, Money},
        order::CancelReason,
        refund::RefundReason,
    };

    const ZONE: &str = "Europe/London";

    fn order(status: OrderStatus, closed_at: Option<i64>) -> OrderRecord {
        OrderRecord {
            order_no: "1045239877100482913".parse::<OrderNo>().unwrap(),
            user_id: UserId(1),
            show_id: ShowId(1),
            status,
            cancel_reason: (status == OrderStatus::Cancelled).then_some(CancelReason::Timeout),
            amount: pounds(9_000),
            placed_at: Timestamp(10),
            expire_at: Timestamp(1_000),
            paid_at: None,
            closed_at: closed_at.map(Timestamp),
            limit_counters: Vec::new(),
        }
    }

    fn pounds(minor: i64) -> Money {
        Money::new(minor, Currency::Gbp)
    }

    fn payment(status: PaymentStatus, created: i64, updated: i64) -> PaymentHistory {
        let is_paid = matches!(status, PaymentStatus::Success | PaymentStatus::Refunded);
        PaymentHistory {
            status,
            amount: pounds(9_000),
            created_at: Timestamp(created),
            updated_at: Timestamp(updated),
            paid_at: is_paid.then_some(Timestamp(updated)),
            unwanted: None,
        }
    }

    fn refund(status: RefundProgress, requested: i64) -> RefundRecord {
        RefundRecord {
            id: 7,
            refund_no: "1045239877100482913-2-r1".to_owned(),
            out_trade_no: "1045239877100482913-2".to_owned(),
            channel: "simulated".to_owned(),
            order_no: "1045239877100482913".parse().unwrap(),
            amount: pounds(4_050),
            fee: pounds(450),
            status,
            reason: RefundReason::Customer,
            attempt: 1,
            requested_at: Timestamp(requested),
            sent_at: None,
            failed_at: Some(Timestamp(requested + 1)),
            fail_reason: None,
            succeeded_at: (status == RefundProgress::Succeeded).then_some(Timestamp(requested + 5)),
        }
    }

    fn told(entries: &[TimelineEntry]) -> Vec<(i64, &Happening)> {
        let told = entries.iter().map(|entry| (entry.at.at.0, &entry.what));
        told.collect()
    }

    #[test]
    fn a_declined_attempt_a_payment_and_a_refund_are_told_in_their_order() {
        let payments = [
            payment(PaymentStatus::Failed, 20, 30),
            payment(PaymentStatus::Success, 40, 50),
        ];
        let order = order(OrderStatus::Paid, None);
        let refunds = [refund(RefundProgress::Succeeded, 60)];
        let entries = timeline(&order, &[], &payments, &refunds, ZONE);
        let amount = pounds(4_050);
        assert_eq!(
            told(&entries),
            [
                (10, &Happening::Placed),
                (20, &Happening::PaymentStarted { attempt: 1 }),
                (30, &Happening::PaymentFailed { attempt: 1 }),
                (40, &Happening::PaymentStarted { attempt: 2 }),
                (
                    50,
                    &Happening::Paid {
                        amount: pounds(9_000)
                    }
                ),
                (
                    60,
                    &Happening::RefundRequested {
                        amount,
                        fee: pounds(450),
                        tickets: 0,
                        reason: RefundReason::Customer
                    }
                ),
                (61, &Happening::RefundRefused { amount }),
                (65, &Happening::RefundSucceeded { amount }),
            ]
        );
        assert_eq!(
            entries[0].at.zone, ZONE,
            "a time is never told without its zone"
        );
    }

    #[test]
    fn money_that_came_too_late_is_told_after_the_end_of_its_order() {
        let mut late = payment(PaymentStatus::Success, 20, 300);
        late.unwanted = Some(RefundReason::LatePayment);
        let order = order(OrderStatus::Cancelled, Some(200));
        let entries = timeline(&order, &[], &[late], &[], ZONE);
        let reason = RefundReason::LatePayment;
        assert_eq!(
            told(&entries)[2..],
            [
                (
                    200,
                    &Happening::Cancelled {
                        reason: CancelReason::Timeout
                    }
                ),
                (
                    300,
                    &Happening::UnwantedMoney {
                        amount: pounds(9_000),
                        reason
                    }
                ),
            ]
        );
    }

    #[test]
    fn of_very_many_entries_the_newest_are_told() {
        let payments: Vec<_> = (0..100)
            .map(|n| payment(PaymentStatus::Failed, 20 + 2 * n, 21 + 2 * n))
            .collect();
        let entries = timeline(
            &order(OrderStatus::Pending, None),
            &[],
            &payments,
            &[],
            ZONE,
        );
        assert_eq!(entries.len(), TOLD_MAX);
        assert_eq!(entries.last().map(|entry| entry.at.at.0), Some(219));
    }
}
