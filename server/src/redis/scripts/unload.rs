//! `lua/unload.lua`: takes the keys of a show that is over out of Redis.

use super::{Arguments, ScriptPair, reply::Reply};
use crate::redis::{Redis, RedisError, keys::ShowKey};
use app::domain::ids::ShowId;
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "unload",
    source: include_str!("../../../../lua/unload.lua"),
    show_keys: &ShowKey::ALL,
    other_keys: &[],
    arguments: &["epoch"],
    repeated: &[],
    replies: &["unloaded", "epoch", "orders", "locked", "unbooked"],
    script: OnceLock::new(),
};

/// What became of unloading a show or a piece of a standing zone. Whatever is not unloaded has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnloadReply {
    /// Its keys are gone.
    Unloaded {
        /// How many there were; none when it had been unloaded before.
        keys: u32,
    },
    /// It lives in another epoch than the caller has seen.
    Epoch {
        /// The epoch that it has now; none when it is not there.
        epoch: Option<u32>,
    },
    /// Orders hold something, or are not acknowledged by Kafka.
    Orders {
        /// How many hold something.
        holding: u64,
        /// How many are not acknowledged.
        unsent: u64,
    },
    /// Seats or places are locked.
    Locked {
        /// How many.
        count: u64,
    },
    /// Changes of places are not in the books yet.
    Unbooked {
        /// How many.
        changes: u64,
    },
}

impl UnloadReply {
    /// The answers that shows and pieces have in common.
    pub(super) fn read(reply: &Reply) -> Result<Self, RedisError> {
        match reply.word() {
            "unloaded" => Ok(Self::Unloaded {
                keys: reply.parsed(0)?,
            }),
            "epoch" => {
                let epoch: String = reply.parsed(0)?;
                let epoch = match epoch.as_str() {
                    "" => None,
                    text => Some(text.parse().map_err(|_| reply.misshapen(0))?),
                };
                Ok(Self::Epoch { epoch })
            }
            "locked" => Ok(Self::Locked {
                count: reply.parsed(0)?,
            }),
            "unbooked" => Ok(Self::Unbooked {
                changes: reply.parsed(0)?,
            }),
            _ => Err(reply.unknown()),
        }
    }
}

/// An epoch as the scripts compare it; empty for a show or a piece that is not there.
pub(super) fn seen(epoch: Option<u32>) -> String {
    epoch.map_or_else(String::new, |epoch| epoch.to_string())
}

impl Redis {
    /// Takes a show's keys out of Redis, if nothing in it is open and it still lives in the epoch that the caller has seen
    /// (none for a show that is not there: what a loss has left of its keys goes then). May be repeated.
    ///
    /// Idempotency keys and guards stay until they run out by themselves: they are answers, and decide nothing.
    ///
    /// # Errors
    /// As any command.
    pub async fn unload(
        &self,
        show: ShowId,
        epoch: Option<u32>,
    ) -> Result<UnloadReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments.text(seen(epoch));
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "orders" => Ok(UnloadReply::Orders {
                holding: reply.parsed(0)?,
                unsent: reply.parsed(1)?,
            }),
            _ => UnloadReply::read(&reply),
        }
    }
}
