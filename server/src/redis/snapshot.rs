//! Everything Redis knows of a show, read at one moment.

use super::{HoldRecord, Redis, RedisError, keys::ShowKey, scripts::Counters};
use ::redis::pipe;
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    seat::{MapVersion, SeatMap},
};
use std::collections::{BTreeMap, HashMap};

/// A show at one version.
#[derive(Debug, Clone)]
pub struct ShowSnapshot {
    /// Every seat's state, and the version.
    pub map: SeatMap,
    /// Whose each locked or sold seat is.
    pub owners: BTreeMap<SeatIndex, OrderNo>,
    /// What each order holds.
    pub holds: BTreeMap<OrderNo, HoldRecord>,
    /// Its counters.
    pub counters: Counters,
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
            .hgetall(key(ShowKey::Bought));
        let (meta, bits, version, owners, holds, zones, bought): Read =
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
            holds: holds.iter().map(read_hold).collect::<Result<_, _>>()?,
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

fn read_owner((seat, order_no): (&String, &String)) -> Result<(SeatIndex, OrderNo), RedisError> {
    let seat = seat.parse().map_err(|_| unreadable("owners"))?;
    Ok((
        SeatIndex(seat),
        order_no.parse().map_err(|_| unreadable("owners"))?,
    ))
}

fn read_hold((order_no, json): (&String, &String)) -> Result<(OrderNo, HoldRecord), RedisError> {
    let order_no = order_no.parse().map_err(|_| unreadable("holds"))?;
    Ok((order_no, HoldRecord::from_json(json)?))
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
