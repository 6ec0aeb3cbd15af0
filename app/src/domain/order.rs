//! Orders: their states, the only moves between them, and what a customer sees of one.

use super::{
    ids::{OrderNo, SeatIndex, ShowId},
    money::Money,
    payment::PaymentStatus,
    refund::{RefundTerms, RefundView},
    tax::IncludedTax,
    text::LocalText,
    time::{Timestamp, VenueTime},
    timeline::TimelineEntry,
};
use serde::{Deserialize, Serialize};

/// Where an order stands. The numbers are those of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    /// Seats are held and the order is on its way to the database; it has no row yet.
    Creating,
    /// Written and waiting for payment until its deadline (0).
    Pending,
    /// Paid (1).
    Paid,
    /// Ended without payment (2).
    Cancelled,
    /// Paid and given back whole (3).
    Refunded,
    /// Paid, and its tickets are issued (4).
    Ticketed,
    /// Never became an order: its message was stale or a seat was not to be had (5).
    Discarded,
}

impl OrderStatus {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Creating,
        Self::Pending,
        Self::Paid,
        Self::Cancelled,
        Self::Refunded,
        Self::Ticketed,
        Self::Discarded,
    ];

    /// The number in the database; an order that is being created has no row.
    #[must_use]
    pub fn code(self) -> Option<u8> {
        match self {
            Self::Creating => None,
            Self::Pending => Some(0),
            Self::Paid => Some(1),
            Self::Cancelled => Some(2),
            Self::Refunded => Some(3),
            Self::Ticketed => Some(4),
            Self::Discarded => Some(5),
        }
    }

    /// Reads [`OrderStatus::code`].
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|status| status.code() == Some(code))
    }

    /// Whether the order's seats belong to it.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(
            self,
            Self::Creating | Self::Pending | Self::Paid | Self::Ticketed
        )
    }

    /// The state that `event` leads to.
    ///
    /// # Errors
    /// When the event can't happen to an order in this state.
    pub fn apply(self, event: OrderEvent) -> Result<Self, InvalidTransition> {
        match (self, event) {
            (Self::Creating, OrderEvent::Written) => Ok(Self::Pending),
            (Self::Creating, OrderEvent::Discarded) => Ok(Self::Discarded),
            (Self::Pending, OrderEvent::Paid) => Ok(Self::Paid),
            (Self::Pending, OrderEvent::Cancelled(_)) => Ok(Self::Cancelled),
            (Self::Paid, OrderEvent::TicketsIssued) => Ok(Self::Ticketed),
            (Self::Paid | Self::Ticketed, OrderEvent::RefundedWhole) => Ok(Self::Refunded),
            _ => Err(InvalidTransition {
                from: self,
                attempted: event,
            }),
        }
    }
}

/// What can happen to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderEvent {
    /// Its row, items and claims were committed.
    Written,
    /// Its message was stale, or a seat was claimed by another order.
    Discarded,
    /// A payment succeeded in time.
    Paid,
    /// It ended without payment.
    Cancelled(CancelReason),
    /// Its tickets were issued.
    TicketsIssued,
    /// All its money was given back.
    RefundedWhole,
}

/// A move that the order's state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an order that is {from:?} cannot be {attempted:?}")]
pub struct InvalidTransition {
    /// The state the order is in.
    pub from: OrderStatus,
    /// What was to happen to it.
    pub attempted: OrderEvent,
}

/// Why an order ended without payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// The customer gave it up.
    User,
    /// Its deadline passed.
    Timeout,
    /// Its show was withdrawn.
    ShowWithdrawn,
    /// Its payment was closed by the gateway.
    PaymentClosed,
    /// Staff ended it.
    Staff,
}

impl CancelReason {
    /// The word that the database keeps.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Timeout => "timeout",
            Self::ShowWithdrawn => "show_withdrawn",
            Self::PaymentClosed => "payment_closed",
            Self::Staff => "staff",
        }
    }

    /// Reads [`CancelReason::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::User,
            Self::Timeout,
            Self::ShowWithdrawn,
            Self::PaymentClosed,
            Self::Staff,
        ]
        .into_iter()
        .find(|reason| reason.word() == word)
    }
}

/// A seat as people name it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeatLabel {
    /// Part of the hall; empty where the hall has only one.
    pub section: String,
    /// Row; empty where rows have no names.
    pub row: String,
    /// Number within the row.
    pub number: String,
}

/// One ticket of an order, as its buyer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderItem {
    /// Its number within the order.
    pub item_no: u32,
    /// Its seat; none for a standing place.
    pub seat: Option<SeatIndex>,
    /// What the seat is called.
    pub label: Option<SeatLabel>,
    /// Name of its price category.
    pub zone: LocalText,
    /// What it costs, fees and tax included.
    pub price: Money,
    /// Name of the person it is for, where the show wants to know.
    pub attendee: Option<String>,
    /// How far giving it back has come; none while nobody gives it back.
    pub refund: Option<RefundProgress>,
}

/// The newest attempt to pay an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentAttempt {
    /// Where it stands.
    pub status: PaymentStatus,
    /// Whether its money is on its way back.
    pub refund: Option<RefundProgress>,
}

/// How far a refund has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundProgress {
    /// Recorded, not yet sent to the gateway (1).
    Requested,
    /// The gateway has accepted it (2).
    Sent,
    /// The money is back (3).
    Succeeded,
    /// The gateway refused; it is tried again and staff see it (4).
    Failed,
}

impl RefundProgress {
    /// The number in the database.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Requested => 1,
            Self::Sent => 2,
            Self::Succeeded => 3,
            Self::Failed => 4,
        }
    }

    /// Reads [`RefundProgress::code`].
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Requested, Self::Sent, Self::Succeeded, Self::Failed]
            .into_iter()
            .find(|progress| progress.code() == code)
    }
}

/// An order as its buyer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderView {
    /// Its number.
    pub order_no: OrderNo,
    /// Where it stands.
    pub status: OrderStatus,
    /// Why it ended, when it was cancelled.
    pub cancel_reason: Option<CancelReason>,
    /// What is shown.
    pub show_id: ShowId,
    /// Title of the film or concert.
    pub title: LocalText,
    /// Path of its poster, from the site's root.
    pub poster: String,
    /// When the show begins.
    pub starts: VenueTime,
    /// The venue's name.
    pub venue: LocalText,
    /// The hall's name.
    pub hall: LocalText,
    /// The venue's city.
    pub city: LocalText,
    /// Its tickets: those with a seat in plan order, then those without one.
    pub items: Vec<OrderItem>,
    /// Whether some of its seats are not beside the others.
    #[serde(default)]
    pub apart: bool,
    /// What it costs, fees and tax included.
    pub total: Money,
    /// The tax within the total; none where nothing is taxed.
    pub tax: Option<IncludedTax>,
    /// When it was placed.
    pub placed: VenueTime,
    /// When its seats go back on sale unless it is paid.
    pub expires: VenueTime,
    /// The server's clock when this was read, for the countdown.
    pub now: Timestamp,
    /// When it was paid.
    pub paid: Option<VenueTime>,
    /// The newest attempt to pay.
    pub payment: Option<PaymentAttempt>,
    /// Whether its show was withdrawn.
    pub withdrawn: bool,
    /// On which terms its tickets may be given back.
    pub refund_terms: RefundTerms,
    /// Its refunds, oldest first; only where one order is read by itself.
    pub refunds: Vec<RefundView>,
    /// What happened to it, oldest first; only where one order is read by itself.
    pub timeline: Vec<TimelineEntry>,
}

impl OrderView {
    /// Tickets that its buyer may give back now.
    #[must_use]
    pub fn returnable(&self) -> Vec<&OrderItem> {
        let is_paid = matches!(self.status, OrderStatus::Paid | OrderStatus::Ticketed);
        let until = self.refund_terms.until.as_ref();
        if !is_paid || self.withdrawn || until.is_none_or(|until| self.now >= until.at) {
            return Vec::new();
        }
        let items = self.items.iter();
        items.filter(|item| item.refund.is_none()).collect()
    }

    /// Whether money of it is on its way back.
    #[must_use]
    pub fn is_refund_under_way(&self) -> bool {
        self.refunds
            .iter()
            .any(|refund| refund.progress != RefundProgress::Succeeded)
    }
}

/// A page of a customer's orders, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPage {
    /// The orders.
    pub orders: Vec<OrderView>,
    /// Orders placed before this one come on the next page; none when this is the last.
    pub next_before: Option<OrderNo>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [OrderEvent; 6] = [
        OrderEvent::Written,
        OrderEvent::Discarded,
        OrderEvent::Paid,
        OrderEvent::Cancelled(CancelReason::Timeout),
        OrderEvent::TicketsIssued,
        OrderEvent::RefundedWhole,
    ];

    #[test]
    fn every_state_answers_every_event_as_the_table_says() {
        use OrderStatus as S;
        let refused = None;
        // Columns in the order of EVENTS.
        let table = [
            (
                S::Creating,
                [
                    Some(S::Pending),
                    Some(S::Discarded),
                    refused,
                    refused,
                    refused,
                    refused,
                ],
            ),
            (
                S::Pending,
                [
                    refused,
                    refused,
                    Some(S::Paid),
                    Some(S::Cancelled),
                    refused,
                    refused,
                ],
            ),
            (
                S::Paid,
                [
                    refused,
                    refused,
                    refused,
                    refused,
                    Some(S::Ticketed),
                    Some(S::Refunded),
                ],
            ),
            (S::Cancelled, [refused; 6]),
            (S::Refunded, [refused; 6]),
            (
                S::Ticketed,
                [
                    refused,
                    refused,
                    refused,
                    refused,
                    refused,
                    Some(S::Refunded),
                ],
            ),
            (S::Discarded, [refused; 6]),
        ];
        assert_eq!(table.len(), OrderStatus::ALL.len());
        for (from, row) in table {
            for (event, expected) in EVENTS.into_iter().zip(row) {
                let reached = from.apply(event);
                match expected {
                    Some(to) => assert_eq!(reached, Ok(to), "{from:?} on {event:?}"),
                    None => assert_eq!(
                        reached,
                        Err(InvalidTransition {
                            from,
                            attempted: event
                        })
                    ),
                }
            }
        }
    }

    #[test]
    fn codes_and_words_come_back_as_they_were() {
        for status in OrderStatus::ALL {
            if let Some(code) = status.code() {
                assert_eq!(OrderStatus::from_code(code), Some(status));
            }
        }
        assert_eq!(OrderStatus::from_code(6), None);
        assert_eq!(
            CancelReason::from_word("show_withdrawn"),
            Some(CancelReason::ShowWithdrawn)
        );
        assert_eq!(CancelReason::from_word("other"), None);
    }
}
