//! Giving tickets back: until when, what is kept of their price, and what becomes of the money.

use super::{
    ids::OrderNo,
    money::{Currency, Money, MoneyError},
    order::RefundProgress,
    time::{Millis, VenueTime},
};
use serde::{Deserialize, Serialize};

/// Most that a show may keep of a price, in percent: whoever gives a ticket back gets something for it.
pub const FEE_PERCENT_MAX: u8 = 99;
/// Most refunds and events of one order that a page tells of.
pub const TOLD_MAX: usize = 60;

/// Why money goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundReason {
    /// The customer gave tickets back.
    Customer,
    /// Staff gave the money back.
    Staff,
    /// The show was withdrawn.
    ShowWithdrawn,
    /// It was paid for an order that was over.
    LatePayment,
    /// It was paid for an order that was paid already.
    SecondPayment,
    /// It was another amount than was due.
    OtherAmount,
}

impl RefundReason {
    const ALL: [Self; 6] = [
        Self::Customer,
        Self::Staff,
        Self::ShowWithdrawn,
        Self::LatePayment,
        Self::SecondPayment,
        Self::OtherAmount,
    ];

    /// The word that the database keeps.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Staff => "staff",
            Self::ShowWithdrawn => "show_withdrawn",
            Self::LatePayment => "late_payment",
            Self::SecondPayment => "second_payment",
            Self::OtherAmount => "other_amount",
        }
    }

    /// Reads [`RefundReason::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.word() == word)
    }

    /// Whether the money was what an order's tickets were paid with, and not money that nobody asked for.
    #[must_use]
    pub fn is_for_tickets(self) -> bool {
        matches!(self, Self::Customer | Self::Staff | Self::ShowWithdrawn)
    }
}

/// Tickets that are given back, in money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenBack {
    /// What was paid for them.
    pub value: Money,
    /// What is kept of it.
    pub fee: Money,
    /// What goes back: the value less the fee.
    pub back: Money,
}

impl GivenBack {
    /// Tickets of these prices, of each of which a fee of so many percent is kept.
    ///
    /// # Errors
    /// When a price is of another currency or the sum does not fit.
    pub fn of(
        currency: Currency,
        prices: impl IntoIterator<Item = Money>,
        fee_percent: u8,
    ) -> Result<Self, MoneyError> {
        let mut value = Money::new(0, currency);
        let mut fee = Money::new(0, currency);
        for price in prices {
            value = value.checked_add(price)?;
            fee = fee.checked_add(fee_of(price, fee_percent))?;
        }
        let back = value.checked_add(Money::new(-fee.minor, currency))?;
        Ok(Self { value, fee, back })
    }
}

/// What is kept of one ticket's price: so many percent, rounded half up to the currency's smallest unit. More than a
/// hundred percent is a hundred.
#[must_use]
pub fn fee_of(price: Money, percent: u8) -> Money {
    let kept = (i128::from(price.minor) * i128::from(percent.min(100)) + 50).div_euclid(100);
    Money::new(i64::try_from(kept).unwrap_or(price.minor), price.currency)
}

/// On which terms a show takes tickets back from customers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefundPolicy {
    /// How long before the show's start it becomes too late; none when the show takes nothing back.
    pub until: Option<Millis>,
    /// What is kept of each ticket's price, in percent.
    pub fee_percent: u8,
}

impl Default for RefundPolicy {
    /// Until a day before, and nothing is kept.
    fn default() -> Self {
        Self {
            until: Some(Millis::minutes(24 * 60)),
            fee_percent: 0,
        }
    }
}

impl RefundPolicy {
    /// Whether a show may have it: a time that is not after the start, and a fee that leaves something.
    #[must_use]
    pub fn is_sound(self) -> bool {
        self.until.is_none_or(|until| until.0 >= 0) && self.fee_percent <= FEE_PERCENT_MAX
    }
}

/// On which terms a customer may give tickets of an order back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundTerms {
    /// First moment at which it is too late; none when the show takes nothing back.
    pub until: Option<VenueTime>,
    /// What is kept of each ticket's price, in percent.
    pub fee_percent: u8,
}

/// What a customer asks to give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// The order.
    pub order_no: OrderNo,
    /// Which of its tickets.
    pub tickets: TicketChoice,
    /// Names the submission: a repeat leads to the refund that the first one requested.
    pub key: String,
    /// What the customer was told would come back, in the smallest unit. Another amount is refused.
    pub back_minor: Option<i64>,
}

/// Tickets of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketChoice {
    /// Every one that was not given back before.
    All,
    /// Those with these numbers.
    Items(Vec<u32>),
}

/// A refund as the buyer sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundView {
    /// Names it, when one asks staff about it.
    pub refund_no: String,
    /// What goes back.
    pub amount: Money,
    /// What is kept of the tickets' price.
    pub fee: Money,
    /// Why.
    pub reason: RefundReason,
    /// How far it has come.
    pub progress: RefundProgress,
    /// Numbers of the tickets that it is for; none when it gives back money that nobody asked for.
    pub items: Vec<u32>,
    /// When it was requested.
    pub requested: VenueTime,
    /// When the money was back.
    pub succeeded: Option<VenueTime>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yuan(minor: i64) -> Money {
        Money::new(minor, Currency::Cny)
    }

    #[test]
    fn a_fee_is_rounded_half_up_to_the_smallest_unit() {
        for (price, percent, kept) in [
            (4_500, 0, 0),
            (4_500, 10, 450),
            (4_505, 10, 451),
            (4_504, 10, 450),
            (1, 49, 0),
            (1, 50, 1),
            (9_900, 3, 297),
            (0, 50, 0),
            (333, 33, 110),
            (335, 10, 34),
            (4_500, 100, 4_500),
            (4_500, 255, 4_500),
            (i64::MAX, 100, i64::MAX),
        ] {
            assert_eq!(
                fee_of(yuan(price), percent),
                yuan(kept),
                "{price} at {percent} %"
            );
        }
    }

    #[test]
    fn a_fee_is_rounded_for_each_ticket_so_that_parts_add_up_to_the_whole() {
        let prices = [yuan(335), yuan(335), yuan(335)];
        let whole = GivenBack::of(Currency::Cny, prices, 10).unwrap();
        assert_eq!(
            (whole.value, whole.fee, whole.back),
            (yuan(1_005), yuan(102), yuan(903))
        );
        let one = GivenBack::of(Currency::Cny, [yuan(335)], 10).unwrap();
        assert_eq!(3 * one.back.minor, whole.back.minor);
    }

    #[test]
    fn tickets_of_two_currencies_are_not_given_back_together() {
        let prices = [yuan(100), Money::new(100, Currency::Jpy)];
        assert_eq!(
            GivenBack::of(Currency::Cny, prices, 0),
            Err(MoneyError::CurrencyMismatch)
        );
    }

    #[test]
    fn words_come_back_as_they_were() {
        for reason in RefundReason::ALL {
            assert_eq!(RefundReason::from_word(reason.word()), Some(reason));
        }
        assert_eq!(RefundReason::from_word("other"), None);
        assert!(!RefundReason::LatePayment.is_for_tickets());
        assert!(RefundReason::ShowWithdrawn.is_for_tickets());
    }
}
