//! `lua/set_standing_capacity.lua`: sets how many places one piece of a standing zone has.

use super::{Arguments, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::Piece};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "set_standing_capacity",
    source: include_str!("../../../../lua/set_standing_capacity.lua"),
    show_keys: &[],
    other_keys: &["places", "taken", "quantities"],
    arguments: &["zone", "total", "log_max"],
    repeated: &[],
    replies: &["set", "below", "rebuild"],
    script: OnceLock::new(),
};

/// What became of setting a piece's places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetCapacityReply {
    /// The piece has so many places, and its counts are those of its entries.
    Set,
    /// More are taken; nothing has changed.
    Below {
        /// How many are locked.
        locked: u32,
        /// How many are sold.
        sold: u32,
    },
    /// The piece must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Sets how many places a piece has, and counts what is taken of it anew. May be repeated.
    ///
    /// # Errors
    /// As any command.
    pub async fn set_standing_capacity(
        &self,
        piece: Piece,
        total: u32,
    ) -> Result<SetCapacityReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments.text(piece.zone).text(total).text(QUANTITIES_MAX);
        let reply = self
            .run(&PAIR, self.keys().piece_keys(piece), &arguments)
            .await?;
        match reply.word() {
            "set" => Ok(SetCapacityReply::Set),
            "below" => Ok(SetCapacityReply::Below {
                locked: reply.parsed(0)?,
                sold: reply.parsed(1)?,
            }),
            "rebuild" => Ok(SetCapacityReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
