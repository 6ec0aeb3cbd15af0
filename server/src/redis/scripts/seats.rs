//! `lua/seats.lua`: what changed on a show's map.

use super::{Arguments, Reply, ScriptPair};
use crate::redis::{Redis, RedisError, keys::ShowKey};
use app::domain::{
    ids::ShowId,
    seat::{MapUpdate, MapVersion, SeatChange, SeatMap},
};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "seats",
    source: include_str!("../../../../lua/seats.lua"),
    show_keys: &[
        ShowKey::Map,
        ShowKey::Version,
        ShowKey::Changes,
        ShowKey::Meta,
    ],
    other_keys: &[],
    arguments: &["epoch", "since"],
    repeated: &[],
    replies: &["changes", "whole", "rebuild"],
    script: OnceLock::new(),
};

/// The answer to a reader of the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeatsReply {
    /// How the reader gets to the present version.
    Update(MapUpdate),
    /// The show must be loaded first.
    Rebuild,
}

impl Redis {
    /// What changed since a reader's version, or the whole map when it knows none of this epoch or is too far behind.
    ///
    /// # Errors
    /// As any command.
    pub async fn seats(
        &self,
        show: ShowId,
        since: Option<MapVersion>,
    ) -> Result<SeatsReply, RedisError> {
        let since = since.unwrap_or_default();
        let mut arguments = Arguments::default();
        arguments.text(since.epoch).text(since.version);
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        read(&reply)
    }
}

fn read(reply: &Reply) -> Result<SeatsReply, RedisError> {
    if reply.word() == "rebuild" {
        return Ok(SeatsReply::Rebuild);
    }
    let at = MapVersion {
        version: reply.parsed(0)?,
        epoch: reply.parsed(1)?,
    };
    let update = match reply.word() {
        "changes" => {
            let (packed, rest) = reply.bytes(2)?.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(reply.misshapen(2));
            }
            let packed = packed.iter().map(|bytes| u32::from_be_bytes(*bytes));
            MapUpdate::Changes {
                at,
                changes: packed.map(SeatChange::from_packed).collect(),
            }
        }
        "whole" => {
            let bits = reply.bytes(3)?.to_vec();
            MapUpdate::Whole(SeatMap {
                at,
                seats: reply.parsed(2)?,
                bits,
            })
        }
        _ => return Err(reply.unknown()),
    };
    Ok(SeatsReply::Update(update))
}
