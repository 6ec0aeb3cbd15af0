//! Identifiers. Each is a type of its own, so that a show can't be passed where a zone is meant.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr};

/// A text that is not the identifier it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {what}")]
pub struct InvalidId {
    /// The identifier that was expected.
    pub what: &'static str,
}

macro_rules! numeric_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                text.parse().map($name).map_err(|_| InvalidId { what: $what })
            }
        }
    };
}

numeric_id!(
    /// A customer's or staff member's account.
    UserId,
    "user id"
);
numeric_id!(
    /// A film or a concert.
    EventId,
    "event id"
);
numeric_id!(
    /// A place with halls.
    VenueId,
    "venue id"
);
numeric_id!(
    /// A room with a seating plan.
    HallId,
    "hall id"
);
numeric_id!(
    /// One dated session of an event in a hall.
    ShowId,
    "show id"
);
numeric_id!(
    /// A price category of a show.
    ZoneId,
    "zone id"
);

numeric_id!(
    /// An entry of a customer's list of attendees.
    AttendeeId,
    "attendee id"
);

/// A seat's place in its plan's list of seats; the bit pair of the show's map and the claim's key use the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatIndex(pub u32);

impl fmt::Display for SeatIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Milliseconds between the Unix epoch and 2016-01-01T00:00:00Z, from which order numbers count.
///
/// Chosen so that every number made since 2024 has 19 digits and none made before 2085 exceeds a signed 64-bit integer.
const ORDER_EPOCH_MS: i64 = 1_451_606_400_000;
const GENE_BITS: u32 = 6;
const SEQUENCE_BITS: u32 = 10;
const NODE_BITS: u32 = 6;

/// An order's number: 19 decimal digits, ordered by time, carrying the shard gene of its user.
///
/// From the top: 41 bits of milliseconds since [`ORDER_EPOCH_MS`], 6 bits of the server that made it, 10 bits of a sequence
/// within the millisecond, 6 bits of the user's id. The last part lets orders be split by user later and be found by
/// number without a routing table. It crosses JSON as a string, because JavaScript's numbers would round it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderNo(i64);

impl OrderNo {
    /// How many servers can make numbers at the same time.
    pub const NODES: u16 = 1 << NODE_BITS;
    /// How many numbers one server can make within one millisecond.
    pub const PER_MS: u16 = 1 << SEQUENCE_BITS;
    /// How many shards the gene can tell apart.
    pub const SHARDS: u64 = 1 << GENE_BITS;

    const MIN: i64 = 1_000_000_000_000_000_000;

    /// Puts a number together from its parts.
    ///
    /// # Errors
    /// When the time lies outside 2024–2085, or when `node` or `sequence` is out of range.
    pub fn from_parts(
        at_ms: i64,
        node: u16,
        sequence: u16,
        user: UserId,
    ) -> Result<Self, InvalidId> {
        let invalid = InvalidId {
            what: "order number",
        };
        let elapsed = at_ms - ORDER_EPOCH_MS;
        if !(0..1 << 41).contains(&elapsed) || node >= Self::NODES || sequence >= Self::PER_MS {
            return Err(invalid);
        }
        let gene = i64::try_from(user.0 % Self::SHARDS).map_err(|_| invalid.clone())?;
        let number = (elapsed << (NODE_BITS + SEQUENCE_BITS + GENE_BITS))
            | (i64::from(node) << (SEQUENCE_BITS + GENE_BITS))
            | (i64::from(sequence) << GENE_BITS)
            | gene;
        Self::try_from(number)
    }

    /// The number as the database keeps it.
    #[must_use]
    pub fn as_i64(self) -> i64 {
        self.0
    }

    /// When the number was made, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn made_at_ms(self) -> i64 {
        (self.0 >> (NODE_BITS + SEQUENCE_BITS + GENE_BITS)) + ORDER_EPOCH_MS
    }

    /// The shard of the user who placed the order.
    #[must_use]
    pub fn gene(self) -> u64 {
        self.0.unsigned_abs() % Self::SHARDS
    }

    /// The number in groups of four, as people read it: `1045 2398 7710 0482 913`.
    #[must_use]
    pub fn grouped(self) -> String {
        let digits = self.to_string();
        let mut text = String::with_capacity(digits.len() + 4);
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && place % 4 == 0 {
                text.push(' ');
            }
            text.push(digit);
        }
        text
    }
}

impl TryFrom<i64> for OrderNo {
    type Error = InvalidId;
    fn try_from(number: i64) -> Result<Self, InvalidId> {
        if number < Self::MIN {
            return Err(InvalidId {
                what: "order number",
            });
        }
        Ok(Self(number))
    }
}

impl fmt::Display for OrderNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for OrderNo {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = InvalidId {
            what: "order number",
        };
        if text.len() != 19 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid);
        }
        text.parse::<i64>().map_err(|_| invalid)?.try_into()
    }
}

impl Serialize for OrderNo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OrderNo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOVEMBER_2026_MS: i64 = 1_795_990_000_000;

    #[test]
    fn an_order_number_has_nineteen_digits_and_gives_its_parts_back() {
        let number = OrderNo::from_parts(NOVEMBER_2026_MS, 63, 1023, UserId(1_000_003)).unwrap();
        assert_eq!(number.to_string().len(), 19);
        assert_eq!(number.made_at_ms(), NOVEMBER_2026_MS);
        assert_eq!(number.gene(), 1_000_003 % 64);
        let far = OrderNo::from_parts(3_600_000_000_000, 0, 0, UserId(1)).unwrap();
        assert_eq!(far.to_string().len(), 19);
    }

    #[test]
    fn a_later_order_has_a_greater_number_whoever_places_it() {
        let first = OrderNo::from_parts(NOVEMBER_2026_MS, 63, 1023, UserId(63)).unwrap();
        let second = OrderNo::from_parts(NOVEMBER_2026_MS + 1, 0, 0, UserId(64)).unwrap();
        assert!(first < second);
    }

    #[test]
    fn parts_out_of_range_are_refused() {
        assert!(OrderNo::from_parts(NOVEMBER_2026_MS, 64, 0, UserId(1)).is_err());
        assert!(OrderNo::from_parts(NOVEMBER_2026_MS, 0, 1024, UserId(1)).is_err());
        assert!(OrderNo::from_parts(0, 0, 0, UserId(1)).is_err());
        assert!(OrderNo::from_parts(5_000_000_000_000, 0, 0, UserId(1)).is_err());
    }

    #[test]
    fn an_order_number_crosses_json_as_a_string() {
        let number = OrderNo::from_parts(NOVEMBER_2026_MS, 1, 2, UserId(3)).unwrap();
        let json = serde_json::to_string(&number).unwrap();
        assert_eq!(json, format!("\"{number}\""));
        assert_eq!(serde_json::from_str::<OrderNo>(&json).unwrap(), number);
    }

    #[test]
    fn texts_that_are_no_order_numbers_are_refused() {
        for text in [
            "",
            "12",
            "-444444444444444444",
            "0000000000000000001",
            "99999999999999999999",
            "1x00000000000000000",
        ] {
            assert!(text.parse::<OrderNo>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_order_number_is_read_in_groups_of_four() {
        let number: OrderNo = "1045239877100482913".parse().unwrap();
        assert_eq!(number.grouped(), "1045 2398 7710 0482 913");
    }
}
