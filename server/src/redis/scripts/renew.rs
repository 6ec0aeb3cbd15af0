//! `lua/renew.lua`: prolongs a lease that is still its holder's.

use super::{Arguments, ScriptPair};
use crate::redis::{Redis, RedisError};
use app::domain::time::Millis;
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "renew",
    source: include_str!("../../../../lua/renew.lua"),
    show_keys: &[],
    other_keys: &["lease"],
    arguments: &["holder", "ttl_ms"],
    repeated: &[],
    replies: &["renewed", "lost"],
    script: OnceLock::new(),
};

/// What became of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewReply {
    /// The lease lasts for its whole lifetime again.
    Renewed,
    /// It has run out or is another's.
    Lost,
}

impl Redis {
    /// Prolongs the lease under `key` if `holder` still has it.
    ///
    /// # Errors
    /// As any command.
    pub async fn renew(
        &self,
        key: String,
        holder: &str,
        ttl: Millis,
    ) -> Result<RenewReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments.text(holder).text(ttl.0);
        let reply = self.run(&PAIR, vec![key], &arguments).await?;
        match reply.word() {
            "renewed" => Ok(RenewReply::Renewed),
            "lost" => Ok(RenewReply::Lost),
            _ => Err(reply.unknown()),
        }
    }
}
