//! The quantity log: every change of what a zone has left, written by the script that made the change, in the same step.
//!
//! A log is a stream. It is Redis that names its entries, by its own time and a number within the millisecond; nobody
//! decides anything by that time.

use super::{Redis, RedisError};
use ::redis::{cmd, pipe};
use app::domain::ids::{OrderNo, ZoneId};
use std::{collections::HashMap, str::FromStr};

/// Where an entry stands in its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPlace {
    /// Redis's time, milliseconds since 1970 UTC.
    pub ms: i64,
    /// The number within that millisecond.
    pub seq: u32,
}

/// A change of what a zone, or a piece of a standing zone, has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityChange {
    /// Where it stands in its log.
    pub at: LogPlace,
    /// The zone.
    pub zone: ZoneId,
    /// What was left before; none when the zone was not in Redis before.
    pub before: Option<i64>,
    /// By how much it changed.
    pub change: i64,
    /// What was left afterwards.
    pub after: i64,
    /// For which order; none when it was for none.
    pub order_no: Option<OrderNo>,
    /// What changed it: hold, release, confirm, restore, free, block, unblock, count or load, and for standing zones
    /// what their scripts are called.
    pub why: String,
}

/// An entry as Redis sends it: its name, then fields and values.
type Entry = (String, HashMap<String, String>);

impl Redis {
    /// How many entries each log has, in the order of the keys.
    ///
    /// # Errors
    /// As any command.
    pub async fn quantity_backlogs(&self, keys: &[String]) -> Result<Vec<u64>, RedisError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut lengths = pipe();
        for key in keys {
            lengths.cmd("XLEN").arg(key);
        }
        self.query_all(&lengths).await
    }

    /// The oldest entries of a log, at most `most`.
    ///
    /// # Errors
    /// As any command, and when an entry can't be read.
    pub async fn quantity_changes(
        &self,
        key: &str,
        most: usize,
    ) -> Result<Vec<QuantityChange>, RedisError> {
        let mut range = cmd("XRANGE");
        range.arg(key).arg("-").arg("+").arg("COUNT").arg(most);
        let entries: Vec<Entry> = self.query(&range).await?;
        entries.iter().map(read_entry).collect()
    }

    /// Removes a log's entries up to one of them, that one included.
    ///
    /// # Errors
    /// As any command.
    pub async fn trim_quantities(&self, key: &str, through: LogPlace) -> Result<(), RedisError> {
        let next = format!("{}-{}", through.ms, u64::from(through.seq) + 1);
        self.query(cmd("XTRIM").arg(key).arg("MINID").arg(next))
            .await
    }
}

fn read_entry((name, fields): &Entry) -> Result<QuantityChange, RedisError> {
    let unreadable = |what: &str| RedisError::UnexpectedReply {
        command: "quantities",
        found: format!("entry {name} without a usable {what}"),
    };
    let text = |field: &str| {
        fields
            .get(field)
            .map(String::as_str)
            .ok_or_else(|| unreadable(field))
    };
    let (ms, seq) = name.split_once('-').ok_or_else(|| unreadable("name"))?;
    let number = |field: &str| text(field)?.parse().map_err(|_| unreadable(field));
    Ok(QuantityChange {
        at: LogPlace {
            ms: ms.parse().map_err(|_| unreadable("name"))?,
            seq: seq.parse().map_err(|_| unreadable("name"))?,
        },
        zone: text("zone")?.parse().map_err(|_| unreadable("zone"))?,
        before: optional(text("before")?).map_err(|()| unreadable("before"))?,
        change: number("change")?,
        after: number("after")?,
        order_no: optional(text("order")?).map_err(|()| unreadable("order"))?,
        why: text("why")?.to_owned(),
    })
}

fn optional<T: FromStr>(text: &str) -> Result<Option<T>, ()> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| ())
}
