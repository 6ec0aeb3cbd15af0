//! `lua/unload_standing.lua`: takes the keys of one piece of a standing zone out of Redis.

use super::{Arguments, ScriptPair, UnloadReply, unload::seen};
use crate::redis::{Redis, RedisError, keys::Piece};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "unload_standing",
    source: include_str!("../../../../lua/unload_standing.lua"),
    show_keys: &[],
    other_keys: &["places", "taken", "quantities"],
    arguments: &["epoch"],
    repeated: &[],
    replies: &["unloaded", "epoch", "locked", "unbooked"],
    script: OnceLock::new(),
};

impl Redis {
    /// Takes a piece's keys out of Redis, as [`Redis::unload`] does a show's. Never answers [`UnloadReply::Orders`].
    ///
    /// # Errors
    /// As any command.
    pub async fn unload_standing(
        &self,
        piece: Piece,
        epoch: Option<u32>,
    ) -> Result<UnloadReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments.text(seen(epoch));
        let keys = self.keys().piece_keys(piece);
        UnloadReply::read(&self.run(&PAIR, keys, &arguments).await?)
    }
}
