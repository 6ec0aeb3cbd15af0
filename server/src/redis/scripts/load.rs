//! `lua/load.lua`: writes a show's keys from the database.

use super::{Arguments, QUANTITIES_MAX, ScriptPair};
use crate::redis::{HoldRecord, Redis, RedisError, keys::ShowKey, record::counter_text};
use app::domain::{
    catalogue::ShowStatus,
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    seat::{MapVersion, SeatMap, SeatState},
    time::Timestamp,
};
use std::{fmt::Display, sync::OnceLock};

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "load",
    source: include_str!("../../../../lua/load.lua"),
    show_keys: &ShowKey::ALL,
    other_keys: &[],
    arguments: &[
        "replaces",
        "epoch",
        "status",
        "sale_start",
        "sale_end",
        "limit",
        "level",
        "seats",
        "map",
        "owners",
        "zones",
        "bought",
        "holds",
        "standing",
        "log_max",
    ],
    repeated: &[],
    replies: &["loaded", "present"],
    script: OnceLock::new(),
};

/// What the scripts know of a show besides its seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowMeta {
    /// The life of the show's keys; greater than any before it, for example seconds since 1970.
    pub epoch: u32,
    /// As staff set it.
    pub status: ShowStatus,
    /// First moment of the sale.
    pub sale_start: Timestamp,
    /// First moment after the sale.
    pub sale_end: Timestamp,
    /// Most tickets of one buyer.
    pub limit: u32,
    /// Level that a buyer needs.
    pub level: u8,
    /// How many seats the hall's plan has.
    pub seats: u32,
}

/// A seat that is not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadedSeat {
    /// The seat.
    pub seat: SeatIndex,
    /// Its state.
    pub state: SeatState,
    /// Whose it is; none when it is blocked.
    pub order_no: Option<OrderNo>,
}

/// A show as the database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadShow {
    /// The show.
    pub show: ShowId,
    /// Sale window, limits and the new epoch.
    pub meta: ShowMeta,
    /// The seats that are not available.
    pub seats: Vec<LoadedSeat>,
    /// Remaining places of each zone.
    pub zones: Vec<(ZoneId, u32)>,
    /// Tickets of each counter: see [`crate::redis::limit_field`].
    pub bought: Vec<(String, u32)>,
    /// The records of orders that await payment.
    pub holds: Vec<(OrderNo, HoldRecord)>,
    /// Tickets without a seat of live orders, each its attendee's counter.
    pub standing: Vec<(OrderNo, Vec<Option<String>>)>,
    /// The epoch that may be overwritten; none to load the show only when it is missing.
    pub replaces: Option<u32>,
}

/// What became of loading a show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadReply {
    /// The show is usable.
    Loaded,
    /// It was there already and stays as it is.
    AlreadyPresent {
        /// Its epoch.
        epoch: u32,
    },
}

impl Redis {
    /// Writes a show's keys, unless the show is there in another epoch than [`LoadShow::replaces`].
    ///
    /// Whoever replaces a show first makes sure that its unsent orders have reached Kafka and the database: what is
    /// not in `load` is gone afterwards.
    ///
    /// # Errors
    /// As any command.
    pub async fn load(&self, load: &LoadShow) -> Result<LoadReply, RedisError> {
        let meta = &load.meta;
        let mut arguments = Arguments::default();
        arguments
            .text(
                load.replaces
                    .map(|epoch| epoch.to_string())
                    .unwrap_or_default(),
            )
            .text(meta.epoch)
            .text(meta.status.code())
            .text(meta.sale_start.0)
            .text(meta.sale_end.0)
            .text(meta.limit)
            .text(meta.level)
            .text(meta.seats)
            .bytes(load.map().bits)
            .text(pairs(
                load.seats
                    .iter()
                    .filter_map(|seat| Some((seat.seat, seat.order_no?))),
            ))
            .text(pairs(load.zones.iter().copied()))
            .text(pairs(
                load.bought.iter().map(|(field, tickets)| (field, tickets)),
            ))
            .text(pairs(
                load.holds
                    .iter()
                    .map(|(order_no, record)| (order_no, record.to_json())),
            ))
            .text(pairs(load.standing.iter().map(|(order_no, tickets)| {
                (order_no, standing_json(tickets))
            })))
            .text(QUANTITIES_MAX);
        let reply = self.run_on_show(&PAIR, load.show, &[], &arguments).await?;
        match reply.word() {
            "loaded" => Ok(LoadReply::Loaded),
            "present" => Ok(LoadReply::AlreadyPresent {
                epoch: reply.parsed(0)?,
            }),
            _ => Err(reply.unknown()),
        }
    }
}

impl LoadShow {
    fn map(&self) -> SeatMap {
        let at = MapVersion {
            epoch: self.meta.epoch,
            version: 0,
        };
        let mut map = SeatMap {
            at,
            seats: self.meta.seats,
            bits: Vec::new(),
        };
        for seat in &self.seats {
            map.set(seat.seat, seat.state);
        }
        map
    }
}

/// Tickets without a seat as `standing` keeps them.
fn standing_json(tickets: &[Option<String>]) -> serde_json::Value {
    tickets
        .iter()
        .map(|attendee| counter_text(attendee.as_ref()))
        .collect()
}

/// A flat JSON list of texts, as `HSET` takes fields and values.
fn pairs<A: Display, B: Display>(pairs: impl Iterator<Item = (A, B)>) -> serde_json::Value {
    pairs
        .flat_map(|(field, value)| [field.to_string(), value.to_string()])
        .collect()
}
