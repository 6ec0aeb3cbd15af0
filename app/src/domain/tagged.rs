//! Reading values whose fields depend on a word: refusals, happenings, and whether a show can be bought.
//!
//! serde would write code for each variant, and a place to keep fields until the word has come. Here all fields of all variants
//! are read into one struct, which in the browser's build is a fifth of the size. A test for each sees to it that whatever is
//! written is read.

use super::{
    catalogue::SaleState,
    hold::{LimitedBy, Refusal},
    ids::{AttendeeId, OrderNo, SeatIndex, ZoneId},
    money::Money,
    order::CancelReason,
    refund::RefundReason,
    time::Timestamp,
    timeline::Happening,
};
use serde::Deserialize;

/// Fields of a [`Refusal`].
#[derive(Deserialize)]
pub(super) struct RefusalFields {
    reason: String,
    limit: Option<u32>,
    have: Option<u32>,
    tickets: Option<u32>,
    level: Option<u8>,
    by: Option<LimitedBy>,
    seat: Option<SeatIndex>,
    seats: Option<Vec<SeatIndex>>,
    zone: Option<ZoneId>,
    attendee: Option<AttendeeId>,
    order_no: Option<OrderNo>,
    starts_at: Option<Timestamp>,
}

impl RefusalFields {
    fn read(self) -> Option<Refusal> {
        let (limit, zone, attendee) = (self.limit, self.zone, self.attendee);
        Some(match self.reason.as_str() {
            "no_seats" => Refusal::NoSeats,
            "too_many_seats" => Refusal::TooManySeats { limit: limit? },
            "repeated_seat" => Refusal::RepeatedSeat { seat: self.seat? },
            "unknown_seat" => Refusal::UnknownSeat { seat: self.seat? },
            "not_on_sale" => Refusal::NotOnSale,
            "sale_not_started" => Refusal::SaleNotStarted {
                starts_at: self.starts_at?,
            },
            "sale_ended" => Refusal::SaleEnded,
            "seats_taken" => Refusal::SeatsTaken { seats: self.seats? },
            "unknown_zone" => Refusal::UnknownZone { zone: zone? },
            "zone_sold_out" => Refusal::ZoneSoldOut { zone: zone? },
            "zone_not_priced" => Refusal::ZoneNotPriced { zone: zone? },
            "limit_reached" => Refusal::LimitReached {
                by: self.by?,
                limit: limit?,
                have: self.have?,
                attendee,
            },
            "attendees_required" => Refusal::AttendeesRequired {
                tickets: self.tickets?,
            },
            "unknown_attendee" => Refusal::UnknownAttendee {
                attendee: attendee?,
            },
            "attendee_repeated" => Refusal::AttendeeRepeated {
                attendee: attendee?,
            },
            "level_required" => Refusal::LevelRequired { level: self.level? },
            "already_placed" => Refusal::AlreadyPlaced {
                order_no: self.order_no?,
            },
            "key_used" => Refusal::KeyUsed {
                order_no: self.order_no?,
            },
            "blocked" => Refusal::Blocked,
            "rebuilding" => Refusal::Rebuilding,
            _ => return None,
        })
    }
}

impl TryFrom<RefusalFields> for Refusal {
    type Error = &'static str;

    fn try_from(fields: RefusalFields) -> Result<Self, Self::Error> {
        fields.read().ok_or("not a refusal")
    }
}

/// Fields of a [`Happening`].
#[derive(Deserialize)]
pub(super) struct HappeningFields {
    what: String,
    attempt: Option<u32>,
    amount: Option<Money>,
    fee: Option<Money>,
    tickets: Option<u32>,
    /// A reason of one kind or of another, by what happened.
    reason: Option<String>,
}

impl HappeningFields {
    fn read(self) -> Option<Happening> {
        let (attempt, amount) = (self.attempt, self.amount);
        let reason = self.reason.as_deref();
        Some(match self.what.as_str() {
            "placed" => Happening::Placed,
            "payment_started" => Happening::PaymentStarted { attempt: attempt? },
            "payment_failed" => Happening::PaymentFailed { attempt: attempt? },
            "payment_closed" => Happening::PaymentClosed { attempt: attempt? },
            "paid" => Happening::Paid { amount: amount? },
            "unwanted_money" => Happening::UnwantedMoney {
                amount: amount?,
                reason: word::<RefundReason>(reason?)?,
            },
            "cancelled" => Happening::Cancelled {
                reason: word::<CancelReason>(reason?)?,
            },
            "discarded" => Happening::Discarded,
            "refund_requested" => Happening::RefundRequested {
                amount: amount?,
                fee: self.fee?,
                tickets: self.tickets?,
                reason: word::<RefundReason>(reason?)?,
            },
            "refund_sent" => Happening::RefundSent { amount: amount? },
            "refund_refused" => Happening::RefundRefused { amount: amount? },
            "refund_succeeded" => Happening::RefundSucceeded { amount: amount? },
            "refunded" => Happening::Refunded,
            _ => return None,
        })
    }
}

impl TryFrom<HappeningFields> for Happening {
    type Error = &'static str;

    fn try_from(fields: HappeningFields) -> Result<Self, Self::Error> {
        fields.read().ok_or("nothing that happens to an order")
    }
}

/// Reads a value that is written as one word.
fn word<'a, T: Deserialize<'a>>(word: &'a str) -> Option<T> {
    use serde::de::{IntoDeserializer, value::Error};
    let word: serde::de::value::StrDeserializer<'a, Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

/// Fields of a [`SaleState`].
#[derive(Deserialize)]
pub(super) struct SaleFields {
    state: String,
    opens_at: Option<Timestamp>,
}

impl TryFrom<SaleFields> for SaleState {
    type Error = &'static str;

    fn try_from(fields: SaleFields) -> Result<Self, Self::Error> {
        Ok(match (fields.state.as_str(), fields.opens_at) {
            ("on_sale", _) => Self::OnSale,
            ("not_yet", Some(opens_at)) => Self::NotYet { opens_at },
            ("ended", _) => Self::Ended,
            ("sold_out", _) => Self::SoldOut,
            ("withdrawn", _) => Self::Withdrawn,
            _ => return Err("not a state of a sale"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Currency;
    use serde::{Serialize, de::DeserializeOwned};
    use std::fmt::Debug;

    /// Follows `next` from one variant to the next. Each `next` names every variant, so that a new one does not compile until
    /// it is in the row.
    fn all_are_read<T>(first: T, next: fn(&T) -> Option<T>)
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let mut here = Some(first);
        while let Some(value) = here {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
            here = next(&value);
        }
    }

    #[test]
    fn every_refusal_that_is_written_is_read() {
        all_are_read(Refusal::NoSeats, |refusal| {
            Some(match refusal {
                Refusal::NoSeats => Refusal::TooManySeats { limit: 20 },
                Refusal::TooManySeats { .. } => Refusal::RepeatedSeat { seat: SeatIndex(4) },
                Refusal::RepeatedSeat { .. } => Refusal::UnknownSeat { seat: SeatIndex(4) },
                Refusal::UnknownSeat { .. } => Refusal::NotOnSale,
                Refusal::NotOnSale => Refusal::SaleNotStarted {
                    starts_at: Timestamp(7),
                },
                Refusal::SaleNotStarted { .. } => Refusal::SaleEnded,
                Refusal::SaleEnded => Refusal::SeatsTaken {
                    seats: vec![SeatIndex(4), SeatIndex(9)],
                },
                Refusal::SeatsTaken { .. } => Refusal::UnknownZone { zone: ZoneId(5) },
                Refusal::UnknownZone { .. } => Refusal::ZoneSoldOut { zone: ZoneId(5) },
                Refusal::ZoneSoldOut { .. } => Refusal::ZoneNotPriced { zone: ZoneId(5) },
                Refusal::ZoneNotPriced { .. } => limit_reached(None),
                Refusal::LimitReached { attendee: None, .. } => limit_reached(Some(AttendeeId(6))),
                Refusal::LimitReached { .. } => Refusal::AttendeesRequired { tickets: 2 },
                Refusal::AttendeesRequired { .. } => Refusal::UnknownAttendee {
                    attendee: AttendeeId(6),
                },
                Refusal::UnknownAttendee { .. } => Refusal::AttendeeRepeated {
                    attendee: AttendeeId(6),
                },
                Refusal::AttendeeRepeated { .. } => Refusal::LevelRequired { level: 3 },
                Refusal::LevelRequired { .. } => Refusal::AlreadyPlaced { order_no: number() },
                Refusal::AlreadyPlaced { .. } => Refusal::KeyUsed { order_no: number() },
                Refusal::KeyUsed { .. } => Refusal::Blocked,
                Refusal::Blocked => Refusal::Rebuilding,
                Refusal::Rebuilding => return None,
            })
        });
    }

    fn number() -> OrderNo {
        "1045239877100482913".parse().unwrap()
    }

    fn limit_reached(attendee: Option<AttendeeId>) -> Refusal {
        Refusal::LimitReached {
            by: LimitedBy::Phone,
            limit: 4,
            have: 3,
            attendee,
        }
    }

    #[test]
    fn everything_that_happens_to_an_order_is_read_as_it_is_written() {
        fn amount() -> Money {
            Money::new(3_200, Currency::Cny)
        }
        all_are_read(Happening::Placed, |happening| {
            Some(match happening {
                Happening::Placed => Happening::PaymentStarted { attempt: 1 },
                Happening::PaymentStarted { .. } => Happening::PaymentFailed { attempt: 1 },
                Happening::PaymentFailed { .. } => Happening::PaymentClosed { attempt: 2 },
                Happening::PaymentClosed { .. } => Happening::Paid { amount: amount() },
                Happening::Paid { .. } => Happening::UnwantedMoney {
                    amount: amount(),
                    reason: RefundReason::ShowWithdrawn,
                },
                Happening::UnwantedMoney { .. } => Happening::Cancelled {
                    reason: CancelReason::Timeout,
                },
                Happening::Cancelled { .. } => Happening::Discarded,
                Happening::Discarded => Happening::RefundRequested {
                    amount: amount(),
                    fee: Money::new(0, Currency::Cny),
                    tickets: 2,
                    reason: RefundReason::ShowWithdrawn,
                },
                Happening::RefundRequested { .. } => Happening::RefundSent { amount: amount() },
                Happening::RefundSent { .. } => Happening::RefundRefused { amount: amount() },
                Happening::RefundRefused { .. } => Happening::RefundSucceeded { amount: amount() },
                Happening::RefundSucceeded { .. } => Happening::Refunded,
                Happening::Refunded => return None,
            })
        });
    }

    #[test]
    fn every_state_of_a_sale_is_read_as_it_is_written() {
        all_are_read(SaleState::OnSale, |state| {
            Some(match state {
                SaleState::OnSale => SaleState::NotYet {
                    opens_at: Timestamp(7),
                },
                SaleState::NotYet { .. } => SaleState::Ended,
                SaleState::Ended => SaleState::SoldOut,
                SaleState::SoldOut => SaleState::Withdrawn,
                SaleState::Withdrawn => return None,
            })
        });
    }

    #[test]
    fn a_word_that_nobody_knows_and_a_missing_field_are_refused() {
        for text in [
            r#"{"reason":"full_moon"}"#,
            r#"{"reason":"seats_taken"}"#,
            "{}",
        ] {
            assert!(serde_json::from_str::<Refusal>(text).is_err(), "{text}");
        }
        let text = r#"{"what":"cancelled","reason":"full_moon"}"#;
        assert!(serde_json::from_str::<Happening>(text).is_err());
        assert!(serde_json::from_str::<SaleState>(r#"{"state":"not_yet"}"#).is_err());
    }
}
