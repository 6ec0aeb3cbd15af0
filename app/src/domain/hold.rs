//! Holding seats: what a customer asks for, what is wrong with it, and why a hold is refused.

use super::{
    ids::{AttendeeId, OrderNo, SeatIndex, ShowId, ZoneId},
    tagged::RefusalFields,
    time::Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most seats of one order, whatever the show's own limit.
pub const SEATS_PER_ORDER_MAX: usize = 20;
/// Most characters of an idempotency key.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 64;

/// Which seats a customer wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// These very seats, in any order.
    Seats(Vec<SeatIndex>),
    /// The best seats of a price category that are free, together where possible; of a standing zone so many places.
    Best {
        /// The category.
        zone: ZoneId,
        /// How many.
        quantity: u32,
    },
}

/// A wish to hold seats of a show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldRequest {
    /// The show.
    pub show_id: ShowId,
    /// The seats.
    pub choice: Choice,
    /// Whom the tickets are for, one each, for seats in plan order. Not looked at where the show does not ask for it.
    pub attendees: Vec<AttendeeId>,
    /// Names this one submission, so that sending it again can't place a second order.
    pub idempotency_key: String,
}

/// Seats in ascending order, once it is clear that they make sense for a show of `seat_count` seats.
///
/// # Errors
/// Names the first thing that is wrong: no seats, too many, one twice, or one the plan does not have.
pub fn checked_seats(seats: &[SeatIndex], seat_count: u32) -> Result<Vec<SeatIndex>, Refusal> {
    checked_quantity(u32::try_from(seats.len()).unwrap_or(u32::MAX))?;
    let mut seen = BTreeSet::new();
    for &seat in seats {
        if seat.0 >= seat_count {
            return Err(Refusal::UnknownSeat { seat });
        }
        if !seen.insert(seat) {
            return Err(Refusal::RepeatedSeat { seat });
        }
    }
    Ok(seen.into_iter().collect())
}

/// A number of seats that one order may have.
///
/// # Errors
/// When it is none or too many.
pub fn checked_quantity(quantity: u32) -> Result<u32, Refusal> {
    let limit = u32::try_from(SEATS_PER_ORDER_MAX).unwrap_or(u32::MAX);
    match quantity {
        0 => Err(Refusal::NoSeats),
        quantity if quantity > limit => Err(Refusal::TooManySeats { limit }),
        quantity => Ok(quantity),
    }
}

/// The persons whom so many tickets are for, when each is named once.
///
/// # Errors
/// Too few or too many, or somebody twice.
pub fn checked_attendees(
    attendees: &[AttendeeId],
    tickets: usize,
) -> Result<&[AttendeeId], Refusal> {
    if attendees.len() != tickets {
        return Err(Refusal::AttendeesRequired {
            tickets: u32::try_from(tickets).unwrap_or(u32::MAX),
        });
    }
    let mut seen = BTreeSet::new();
    match attendees.iter().find(|attendee| !seen.insert(**attendee)) {
        Some(&attendee) => Err(Refusal::AttendeeRepeated { attendee }),
        None => Ok(attendees),
    }
}

impl HoldRequest {
    /// Whether the idempotency key can be part of a key name: short, letters, digits and hyphens.
    #[must_use]
    pub fn has_valid_key(&self) -> bool {
        let key = &self.idempotency_key;
        (8..=IDEMPOTENCY_KEY_CHARS_MAX).contains(&key.len())
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    }
}

/// What a purchase limit counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedBy {
    /// The account.
    User,
    /// The phone number.
    Phone,
    /// The device.
    Device,
    /// The named person a ticket is for.
    Attendee,
}

impl LimitedBy {
    /// The first character of the counter's field.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::User => "u",
            Self::Phone => "p",
            Self::Device => "d",
            Self::Attendee => "a",
        }
    }

    /// Reads the first character of a counter's field.
    #[must_use]
    pub fn from_prefix(prefix: &str) -> Option<Self> {
        [Self::User, Self::Phone, Self::Device, Self::Attendee]
            .into_iter()
            .find(|by| by.prefix() == prefix)
    }
}

/// Why seats are not held. Nothing has changed when one of these is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case", try_from = "RefusalFields")]
pub enum Refusal {
    /// No seat was named.
    NoSeats,
    /// More seats than one order may have.
    TooManySeats {
        /// The most it may have.
        limit: u32,
    },
    /// A seat was named twice.
    RepeatedSeat {
        /// The seat.
        seat: SeatIndex,
    },
    /// The show's hall has no such seat.
    UnknownSeat {
        /// The seat.
        seat: SeatIndex,
    },
    /// The show is not offered: a draft, or withdrawn.
    NotOnSale,
    /// The sale has not begun.
    SaleNotStarted {
        /// When it begins.
        starts_at: Timestamp,
    },
    /// The sale is over.
    SaleEnded,
    /// Seats are held, sold or withheld.
    SeatsTaken {
        /// Those seats; the others of the request are still free.
        seats: Vec<SeatIndex>,
    },
    /// The show has no such price category.
    UnknownZone {
        /// The category.
        zone: ZoneId,
    },
    /// A price category has not enough places left.
    ZoneSoldOut {
        /// The category.
        zone: ZoneId,
    },
    /// A price category costs nothing, and an order that costs nothing can't be paid.
    ZoneNotPriced {
        /// The category.
        zone: ZoneId,
    },
    /// More tickets than one buyer may have for this show.
    LimitReached {
        /// What is counted.
        by: LimitedBy,
        /// The most there may be.
        limit: u32,
        /// How many are held or bought already.
        have: u32,
        /// Whose tickets they are, when attendees are counted: an entry of the buyer's own list.
        #[serde(skip_serializing_if = "Option::is_none")]
        attendee: Option<AttendeeId>,
    },
    /// Each ticket of this show is for a person who is named.
    AttendeesRequired {
        /// How many persons must be named.
        tickets: u32,
    },
    /// The buyer's list has no such person.
    UnknownAttendee {
        /// The entry that was named.
        attendee: AttendeeId,
    },
    /// A person was named for two tickets of one order; nobody takes two seats.
    AttendeeRepeated {
        /// The entry that was named twice.
        attendee: AttendeeId,
    },
    /// A presale for customers of a higher level.
    LevelRequired {
        /// The level.
        level: u8,
    },
    /// The same wish was just accepted.
    AlreadyPlaced {
        /// Its order.
        order_no: OrderNo,
    },
    /// The submission's name belongs to another choice, which was accepted; this one was not.
    KeyUsed {
        /// The order of that other choice.
        order_no: OrderNo,
    },
    /// The account, phone, device or address is on the block list; which of them is not said.
    Blocked,
    /// The show's seats are being read back from the database; try again in a moment.
    Rebuilding,
}

impl Refusal {
    /// The word for counters and logs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoSeats => "no_seats",
            Self::TooManySeats { .. } => "too_many_seats",
            Self::RepeatedSeat { .. } => "repeated_seat",
            Self::UnknownSeat { .. } => "unknown_seat",
            Self::NotOnSale => "not_on_sale",
            Self::SaleNotStarted { .. } => "sale_not_started",
            Self::SaleEnded => "sale_ended",
            Self::SeatsTaken { .. } => "seats_taken",
            Self::UnknownZone { .. } => "unknown_zone",
            Self::ZoneSoldOut { .. } => "zone_sold_out",
            Self::ZoneNotPriced { .. } => "zone_not_priced",
            Self::LimitReached { .. } => "limit_reached",
            Self::AttendeesRequired { .. } => "attendees_required",
            Self::UnknownAttendee { .. } => "unknown_attendee",
            Self::AttendeeRepeated { .. } => "attendee_repeated",
            Self::LevelRequired { .. } => "level_required",
            Self::AlreadyPlaced { .. } => "already_placed",
            Self::KeyUsed { .. } => "key_used",
            Self::Blocked => "blocked",
            Self::Rebuilding => "rebuilding",
        }
    }
}

/// An accepted wish: the seats are held, the order is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// The order's number.
    pub order_no: OrderNo,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(seats: &[u32]) -> Result<Vec<SeatIndex>, Refusal> {
        let seats: Vec<SeatIndex> = seats.iter().copied().map(SeatIndex).collect();
        checked_seats(&seats, 10)
    }

    #[test]
    fn seats_are_put_in_plan_order() {
        assert_eq!(
            checked(&[9, 2, 5]),
            Ok(vec![SeatIndex(2), SeatIndex(5), SeatIndex(9)])
        );
    }

    #[test]
    fn wishes_that_make_no_sense_are_refused_by_name() {
        assert_eq!(checked(&[]), Err(Refusal::NoSeats));
        let many: Vec<u32> = (0..21).collect();
        assert_eq!(checked(&many), Err(Refusal::TooManySeats { limit: 20 }));
        assert_eq!(
            checked(&[3, 1, 3]),
            Err(Refusal::RepeatedSeat { seat: SeatIndex(3) })
        );
        assert_eq!(
            checked(&[1, 10]),
            Err(Refusal::UnknownSeat {
                seat: SeatIndex(10)
            })
        );
        assert_eq!(checked_quantity(0), Err(Refusal::NoSeats));
        assert_eq!(checked_quantity(20), Ok(20));
        assert_eq!(
            checked_quantity(21),
            Err(Refusal::TooManySeats { limit: 20 })
        );
    }

    #[test]
    fn each_ticket_is_for_another_person() {
        let check = |ids: &[u64], tickets| {
            let ids: Vec<AttendeeId> = ids.iter().copied().map(AttendeeId).collect();
            checked_attendees(&ids, tickets).map(<[AttendeeId]>::len)
        };
        assert_eq!(check(&[7, 3], 2), Ok(2));
        assert_eq!(
            check(&[7, 3, 7], 3),
            Err(Refusal::AttendeeRepeated {
                attendee: AttendeeId(7)
            })
        );
        for ids in [&[][..], &[7], &[1, 2, 3]] {
            assert_eq!(
                check(ids, 2),
                Err(Refusal::AttendeesRequired { tickets: 2 }),
                "{ids:?}"
            );
        }
    }

    #[test]
    fn an_idempotency_key_must_be_short_and_plain() {
        let request = |key: &str| HoldRequest {
            show_id: ShowId(1),
            choice: Choice::Best {
                zone: ZoneId(1),
                quantity: 2,
            },
            attendees: Vec::new(),
            idempotency_key: key.to_owned(),
        };
        assert!(request("0b4b6b2e-9d3c").has_valid_key());
        for key in ["", "short", "with space1", "{s:1}:holds", &"x".repeat(65)] {
            assert!(!request(key).has_valid_key(), "{key}");
        }
    }
}
