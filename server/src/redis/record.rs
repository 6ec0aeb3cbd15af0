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
    /// The seats with the zones they were taken from.
    #[serde(with = "zoned_seats")]
    pub seats: Vec<(SeatIndex, ZoneId)>,
    /// The counters that went up by the number of seats: see [`limit_field`].
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

mod zoned_seats {
    use super::{SeatIndex, ZoneId};
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(
        seats: &[(SeatIndex, ZoneId)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(seats.iter().map(|(seat, zone)| (seat.0, zone.to_string())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(SeatIndex, ZoneId)>, D::Error> {
        Vec::<(u32, String)>::deserialize(deserializer)?
            .into_iter()
            .map(|(seat, zone)| Ok((SeatIndex(seat), zone.parse().map_err(de::Error::custom)?)))
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
            seats: vec![(SeatIndex(4), ZoneId(9_007_199_254_740_993))],
            limits: vec![limit_field(LimitedBy::User, "5")],
            message: r#"{"a":"\"b\""}"#.to_owned(),
        };
        let json = serde_json::to_string(&record).unwrap();
        assert!(json.contains(r#""user":"18446744073709551615""#), "{json}");
        assert!(
            json.contains(r#""seats":[[4,"9007199254740993"]]"#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<HoldRecord>(&json).unwrap(), record);
    }
}
