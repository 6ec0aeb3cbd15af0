//! What a hold leaves behind, so that it can be undone exactly.

use super::RedisError;
use app::domain::{
    hold::LimitedBy,
    ids::{SeatIndex, UserId, ZoneId},
    time::Timestamp,
};
use serde::{Deserialize, Serialize};

/// The field by which a show counts a buyer's tickets: kind and value, for example `u:5`.
#[must_use]
pub fn limit_field(by: LimitedBy, value: &str) -> String {
    format!("{}:{value}", by.prefix())
}

/// The field by which a show counts the tickets of one attendee, whichever account buys them.
#[must_use]
pub fn attendee_field(identity: &str) -> String {
    limit_field(LimitedBy::Attendee, identity)
}

/// A seat of an order, and what its ticket counts for besides the order's own counters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldSeat {
    /// The seat.
    pub seat: SeatIndex,
    /// The zone it was taken from.
    pub zone: ZoneId,
    /// The counter of the person whom the ticket is for: see [`attendee_field`].
    pub attendee: Option<String>,
}

impl From<(SeatIndex, ZoneId)> for HeldSeat {
    fn from((seat, zone): (SeatIndex, ZoneId)) -> Self {
        Self {
            seat,
            zone,
            attendee: None,
        }
    }
}

/// The reverse of a hold, as `holds` keeps it for each order and as `release` reads it.
///
/// Ids are texts in its JSON, because Lua's numbers would round large ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldRecord {
    /// Who holds.
    #[serde(with = "id_as_text")]
    pub user: UserId,
    /// When the hold was made.
    #[serde(rename = "created_ms")]
    pub created: Timestamp,
    /// The seats.
    #[serde(with = "held_seats")]
    pub seats: Vec<HeldSeat>,
    /// One entry for each ticket without a seat: its attendee's counter.
    #[serde(default, with = "counters")]
    pub standing: Vec<Option<String>>,
    /// The counters that went up by the number of tickets: see [`limit_field`].
    pub limits: Vec<String>,
    /// The message that makes the order, as JSON.
    pub message: String,
}

impl HoldRecord {
    pub(super) fn to_json(&self) -> String {
        // Texts, numbers and lists can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn from_json(json: &str) -> Result<Self, RedisError> {
        serde_json::from_str(json).map_err(|error| RedisError::UnexpectedReply {
            command: "holds",
            found: format!("a record that can't be read: {error}"),
        })
    }
}

mod id_as_text {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use std::{fmt::Display, str::FromStr};

    pub fn serialize<T: Display, S: Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// A counter's text for Lua, which reads none as an empty text.
pub(super) fn counter_text(counter: Option<&String>) -> &str {
    counter.map_or("", String::as_str)
}

/// Reads [`counter_text`].
pub(super) fn counter_of(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

mod counters {
    use super::{counter_of, counter_text};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(
        counters: &[Option<String>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            counters
                .iter()
                .map(|counter| counter_text(counter.as_ref())),
        )
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Option<String>>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        Ok(texts.into_iter().map(counter_of).collect())
    }
}

mod held_seats {
    use super::{HeldSeat, SeatIndex, counter_of, counter_text};
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// A seat as a record has it. Those written before there were attendees have two values.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Entry {
        Seat(u32, String, String),
        WithoutAttendee(u32, String),
    }

    pub fn serialize<S: Serializer>(seats: &[HeldSeat], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(seats.iter().map(|held| {
            let attendee = counter_text(held.attendee.as_ref());
            (held.seat.0, held.zone.to_string(), attendee)
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<HeldSeat>, D::Error> {
        Vec::<Entry>::deserialize(deserializer)?
            .into_iter()
            .map(|entry| {
                let (seat, zone, attendee) = match entry {
                    Entry::Seat(seat, zone, attendee) => (seat, zone, counter_of(attendee)),
                    Entry::WithoutAttendee(seat, zone) => (seat, zone, None),
                };
                Ok(HeldSeat {
                    seat: SeatIndex(seat),
                    zone: zone.parse().map_err(de::Error::custom)?,
                    attendee,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_written_with_its_ids_as_texts() {
        let record = HoldRecord {
            user: UserId(u64::MAX),
            created: Timestamp(1_795_990_000_000),
            seats: vec![HeldSeat {
                attendee: Some(attendee_field("7c1e")),
                ..(SeatIndex(4), ZoneId(9_007_199_254_740_993)).into()
            }],
            standing: vec![None, Some(attendee_field("7c1e"))],
            limits: vec![limit_field(LimitedBy::User, "5")],
            message: r#"{"a":"\"b\""}"#.to_owned(),
        };
        let json = serde_json::to_string(&record).unwrap();
        assert!(json.contains(r#""user":"18446744073709551615""#), "{json}");
        assert!(
            json.contains(r#""seats":[[4,"9007199254740993","a:7c1e"]]"#),
            "{json}"
        );
        assert!(json.contains(r#""standing":["","a:7c1e"]"#), "{json}");
        assert_eq!(serde_json::from_str::<HoldRecord>(&json).unwrap(), record);
    }

    #[test]
    fn a_record_from_before_there_were_attendees_is_still_read() {
        let json = r#"{"user":"5","created_ms":1,"seats":[[4,"7"]],"limits":["u:5"],"message":""}"#;
        let record: HoldRecord = serde_json::from_str(json).unwrap();
        assert_eq!(record.seats, [(SeatIndex(4), ZoneId(7)).into()]);
        assert!(record.standing.is_empty());
    }
}
