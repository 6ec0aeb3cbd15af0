//! Everything Redis knows of a show, read at one moment.

use super::{
    HoldRecord, Redis, RedisError,
    keys::ShowKey,
    record::counter_of,
    scripts::{CountedAt, Counters},
};
use ::redis::pipe;
use app::domain::{
    catalogue::ShowStatus,
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    seat::{MapVersion, SeatMap},
    show_terms::ShowTerms,
    time::Timestamp,
};
use std::{
    collections::{BTreeMap, HashMap},
    str::FromStr,
};

/// A show at one version.
#[derive(Debug, Clone)]
pub struct ShowSnapshot {
    /// Every seat's state, and the version.
    pub map: SeatMap,
    /// Whose each locked or sold seat is.
    pub owners: BTreeMap<SeatIndex, OrderNo>,
    /// What each order holds.
    pub holds: BTreeMap<OrderNo, HoldRecord>,
    /// Tickets without a seat of each order, each its attendee's counter.
    pub standing: BTreeMap<OrderNo, Vec<Option<String>>>,
    /// Its counters.
    pub counters: Counters,
    /// How often its tickets without a seat had changed.
    pub standing_version: u64,
    /// On which terms it is sold.
    pub terms: ShowTerms,
}

impl ShowSnapshot {
    /// The moment it was read at.
    #[must_use]
    pub fn at(&self) -> CountedAt {
        CountedAt {
            map: self.map.at,
            standing_version: self.standing_version,
        }
    }
}

type Texts = HashMap<String, String>;
type Read = (
    Texts,
    Option<Vec<u8>>,
    Option<u64>,
    Texts,
    Texts,
    HashMap<String, i64>,
    HashMap<String, i64>,
    Texts,
);

impl Redis {
    /// Reads a show in one transaction; none when it is not loaded.
    ///
    /// # Errors
    /// As any command, and when something can't be read.
    pub async fn snapshot(&self, show: ShowId) -> Result<Option<ShowSnapshot>, RedisError> {
        let key = |key| self.keys().show(show, key);
        let mut reads = pipe();
        reads
            .atomic()
            .hgetall(key(ShowKey::Meta))
            .get(key(ShowKey::Map))
            .get(key(ShowKey::Version))
            .hgetall(key(ShowKey::Owners))
            .hgetall(key(ShowKey::Holds))
            .hgetall(key(ShowKey::Zones))
            .hgetall(key(ShowKey::Bought))
            .hgetall(key(ShowKey::Standing));
        let (meta, bits, version, owners, holds, zones, bought, standing): Read =
            self.query_all(&reads).await?;
        if meta.is_empty() {
            return Ok(None);
        }
        let number = |name: &str| meta.get(name).and_then(|text| text.parse().ok());
        let (Some(epoch), Some(seats)) = (number("epoch"), number("seats")) else {
            return Err(unreadable("meta"));
        };
        let at = MapVersion {
            epoch,
            version: version.unwrap_or(0),
        };
        Ok(Some(ShowSnapshot {
            map: SeatMap {
                at,
                seats,
                bits: bits.unwrap_or_default(),
            },
            owners: owners.iter().map(read_owner).collect::<Result<_, _>>()?,
            // Without its record an order is known by the seats that it owns.
            holds: holds.iter().filter_map(readable_hold).collect(),
            standing: standing
                .iter()
                .map(read_standing)
                .collect::<Result<_, _>>()?,
            // Shows that were loaded before this was counted have none.
            standing_version: meta
                .get("standing_version")
                .and_then(|text| text.parse().ok())
                .unwrap_or(0),
            terms: read_terms(&meta)?,
            counters: Counters {
                zones: zones.iter().map(read_zone).collect::<Result<_, _>>()?,
                bought: bought
                    .into_iter()
                    .map(|(name, count)| (name, whole(count)))
                    .collect(),
            },
        }))
    }
}

fn read_terms(meta: &Texts) -> Result<ShowTerms, RedisError> {
    fn term<T: FromStr>(meta: &Texts, name: &str) -> Result<T, RedisError> {
        let text = meta.get(name).and_then(|text| text.parse().ok());
        text.ok_or_else(|| unreadable("meta"))
    }
    let status = ShowStatus::from_code(term(meta, "status")?);
    Ok(ShowTerms {
        status: status.ok_or_else(|| unreadable("meta"))?,
        sale_start: Timestamp(term(meta, "sale_start")?),
        sale_end: Timestamp(term(meta, "sale_end")?),
        limit: term(meta, "limit")?,
        level: term(meta, "level")?,
    })
}

fn read_owner((seat, order_no): (&String, &String)) -> Result<(SeatIndex, OrderNo), RedisError> {
    let seat = seat.parse().map_err(|_| unreadable("owners"))?;
    Ok((
        SeatIndex(seat),
        order_no.parse().map_err(|_| unreadable("owners"))?,
    ))
}

fn readable_hold((order_no, json): (&String, &String)) -> Option<(OrderNo, HoldRecord)> {
    let record = HoldRecord::from_json(json);
    if record.is_err() {
        tracing::error!(order_no, "unreadable record of a hold");
    }
    Some((order_no.parse().ok()?, record.ok()?))
}

fn read_standing(
    (order_no, json): (&String, &String),
) -> Result<(OrderNo, Vec<Option<String>>), RedisError> {
    let order_no = order_no.parse().map_err(|_| unreadable("standing"))?;
    let tickets: Vec<String> = serde_json::from_str(json).map_err(|_| unreadable("standing"))?;
    Ok((order_no, tickets.into_iter().map(counter_of).collect()))
}

fn read_zone((zone, count): (&String, &i64)) -> Result<(ZoneId, u32), RedisError> {
    let zone = zone.parse().map_err(|_| unreadable("zones"))?;
    Ok((ZoneId(zone), whole(*count)))
}

/// A counter as it should be; one below zero is a fault that shows as a difference to what was counted.
fn whole(count: i64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn unreadable(key: &'static str) -> RedisError {
    RedisError::UnexpectedReply {
        command: "snapshot",
        found: format!("an unreadable value in {key}"),
    }
}
