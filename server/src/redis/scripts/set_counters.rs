//! `lua/set_counters.lua`: writes a show's counters anew.

use super::{Arguments, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::ShowKey};
use app::domain::{
    ids::{ShowId, ZoneId},
    seat::MapVersion,
};
use std::{collections::BTreeMap, sync::OnceLock};

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "set_counters",
    source: include_str!("../../../../lua/set_counters.lua"),
    show_keys: &[
        ShowKey::Zones,
        ShowKey::Bought,
        ShowKey::Version,
        ShowKey::Meta,
        ShowKey::Quantities,
    ],
    other_keys: &[],
    arguments: &[
        "epoch",
        "version",
        "standing_version",
        "zones",
        "bought",
        "log_max",
    ],
    repeated: &[],
    replies: &["set", "moved", "rebuild"],
    script: OnceLock::new(),
};

/// The moment at which a show was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedAt {
    /// Of its seats.
    pub map: MapVersion,
    /// How often its tickets without a seat had changed in the epoch.
    pub standing_version: u64,
}

/// A show's counters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Remaining places by zone.
    pub zones: BTreeMap<ZoneId, u32>,
    /// Tickets by counter: see [`crate::redis::limit_field`].
    pub bought: BTreeMap<String, u32>,
}

/// What became of writing counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetCountersReply {
    /// They are as counted.
    Set,
    /// A seat or ticket has changed since they were counted; nothing has changed.
    Moved,
    /// The show must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Writes counters that were counted at a moment, if nothing has changed since.
    ///
    /// # Errors
    /// As any command.
    pub async fn set_counters(
        &self,
        show: ShowId,
        at: CountedAt,
        counters: &Counters,
    ) -> Result<SetCountersReply, RedisError> {
        let zones: BTreeMap<String, u32> = counters
            .zones
            .iter()
            .map(|(zone, count)| (zone.to_string(), *count))
            .collect();
        let mut arguments = Arguments::default();
        // Objects of texts and numbers can always be written.
        arguments
            .text(at.map.epoch)
            .text(at.map.version)
            .text(at.standing_version)
            .text(serde_json::to_string(&zones).unwrap_or_default())
            .text(serde_json::to_string(&counters.bought).unwrap_or_default())
            .text(QUANTITIES_MAX);
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "set" => Ok(SetCountersReply::Set),
            "moved" => Ok(SetCountersReply::Moved),
            "rebuild" => Ok(SetCountersReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
