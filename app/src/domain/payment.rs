//! Payments: one attempt to pay an order each, and the only moves between their states.

use serde::{Deserialize, Serialize};

/// Where a payment stands. The numbers are those of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentStatus {
    /// Recorded here, not yet known to the gateway (1).
    Init,
    /// The gateway waits for the customer (2).
    Paying,
    /// The money was taken (3).
    Success,
    /// The customer or the gateway refused (4).
    Failed,
    /// Ended before it was paid (5).
    Closed,
    /// The money was given back whole (6).
    Refunded,
}

/// What can happen to a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentEvent {
    /// The gateway knows it.
    Started,
    /// The gateway took the money.
    Succeeded,
    /// The gateway did not take the money.
    Failed,
    /// It ended before it was paid.
    Closed,
    /// The money was given back whole.
    Refunded,
}

/// A move that the payment's state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payment that is {from:?} cannot be {attempted:?}")]
pub struct InvalidPaymentTransition {
    /// The state the payment is in.
    pub from: PaymentStatus,
    /// What was to happen to it.
    pub attempted: PaymentEvent,
}

impl PaymentStatus {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Init,
        Self::Paying,
        Self::Success,
        Self::Failed,
        Self::Closed,
        Self::Refunded,
    ];

    /// The number in the database.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Init => 1,
            Self::Paying => 2,
            Self::Success => 3,
            Self::Failed => 4,
            Self::Closed => 5,
            Self::Refunded => 6,
        }
    }

    /// Reads [`PaymentStatus::code`].
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.code() == code)
    }

    /// Whether the customer could still pay it; an order has at most one such payment.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Init | Self::Paying)
    }

    /// The state that `event` leads to; a repeat that finds its target reached changes nothing.
    ///
    /// A gateway's word about money overrides ours: a success may follow `failed` or `closed`, because the money was
    /// taken whatever we had concluded, and must then be kept track of and given back.
    ///
    /// # Errors
    /// When the event can't happen to a payment in this state.
    pub fn apply(self, event: PaymentEvent) -> Result<Self, InvalidPaymentTransition> {
        match (self, event) {
            (Self::Init | Self::Paying, PaymentEvent::Started) => Ok(Self::Paying),
            (
                Self::Init | Self::Paying | Self::Failed | Self::Closed | Self::Success,
                PaymentEvent::Succeeded,
            ) => Ok(Self::Success),
            (Self::Init | Self::Paying | Self::Failed, PaymentEvent::Failed) => Ok(Self::Failed),
            (Self::Init | Self::Paying | Self::Closed, PaymentEvent::Closed) => Ok(Self::Closed),
            (Self::Success | Self::Refunded, PaymentEvent::Refunded) => Ok(Self::Refunded),
            _ => Err(InvalidPaymentTransition {
                from: self,
                attempted: event,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_answers_every_event_as_the_table_says() {
        use PaymentStatus as S;
        let events = [
            PaymentEvent::Started,
            PaymentEvent::Succeeded,
            PaymentEvent::Failed,
            PaymentEvent::Closed,
            PaymentEvent::Refunded,
        ];
        let table = [
            (
                S::Init,
                [
                    Some(S::Paying),
                    Some(S::Success),
                    Some(S::Failed),
                    Some(S::Closed),
                    None,
                ],
            ),
            (
                S::Paying,
                [
                    Some(S::Paying),
                    Some(S::Success),
                    Some(S::Failed),
                    Some(S::Closed),
                    None,
                ],
            ),
            (
                S::Success,
                [None, Some(S::Success), None, None, Some(S::Refunded)],
            ),
            (
                S::Failed,
                [None, Some(S::Success), Some(S::Failed), None, None],
            ),
            (
                S::Closed,
                [None, Some(S::Success), None, Some(S::Closed), None],
            ),
            (S::Refunded, [None, None, None, None, Some(S::Refunded)]),
        ];
        assert_eq!(table.len(), PaymentStatus::ALL.len());
        for (from, row) in table {
            for (event, expected) in events.into_iter().zip(row) {
                assert_eq!(from.apply(event).ok(), expected, "{from:?} on {event:?}");
            }
        }
    }

    #[test]
    fn codes_come_back_as_they_were() {
        for status in PaymentStatus::ALL {
            assert_eq!(PaymentStatus::from_code(status.code()), Some(status));
        }
        assert_eq!(PaymentStatus::from_code(0), None);
    }
}
