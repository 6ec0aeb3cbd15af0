//! The scripts: each `lua/<name>.lua` has its pair here, which owns the loaded script, its typed arguments and its
//! typed reply.

mod block;
mod confirm;
mod free_sold;
mod give_standing;
#[cfg(test)]
mod header_tests;
mod hold;
mod load;
mod load_standing;
mod release;
mod renew;
mod reply;
mod restore;
mod seats;
mod sell_standing;
mod set_counters;
mod set_standing_capacity;
mod set_terms;
mod take_standing;
mod unload;
mod unload_standing;

pub use block::{BLOCKED_SEATS_MAX, BlockReply};
pub use confirm::ConfirmReply;
pub use free_sold::{FreeReply, Freed};
pub use give_standing::{GiveStandingReply, GiveWhy};
pub use hold::{HoldCommand, HoldReply};
pub use load::{LoadReply, LoadShow, LoadedSeat, ShowMeta};
pub use load_standing::LoadStanding;
pub use release::ReleaseReply;
pub use renew::RenewReply;
pub use restore::RestoreReply;
pub use seats::SeatsReply;
pub use sell_standing::{SellStanding, SellStandingReply};
pub use set_counters::{CountedAt, Counters, SetCountersReply};
pub use set_standing_capacity::SetCapacityReply;
pub use set_terms::SetTermsReply;
pub use take_standing::{TakeStanding, TakeStandingReply};
pub use unload::UnloadReply;

use super::{Redis, RedisError, keys::ShowKey};
use ::redis::Script;
use app::domain::ids::ShowId;
use reply::Reply;
use std::{fmt::Display, sync::OnceLock};

/// Entries that a show's change log keeps; a reader further behind gets the whole map.
///
/// Beyond that many changes a list of them is longer than the map of any hall of 65,000 seats.
pub const CHANGES_MAX: usize = 4096;

/// About how many entries a log of quantities keeps. They are moved to the database every second, so this is only reached
/// while the database is away; what is lost then is counted as a gap.
pub const QUANTITIES_MAX: usize = 100_000;

/// One script and what its header promises; a test keeps the two equal.
struct ScriptPair {
    /// Its file's name without the ending.
    name: &'static str,
    source: &'static str,
    /// The first of its KEYS, in order.
    show_keys: &'static [ShowKey],
    /// The KEYS after those.
    other_keys: &'static [&'static str],
    /// The ARGV that it always has, in order.
    arguments: &'static [&'static str],
    /// The ARGV after those, of which there may be any number.
    repeated: &'static [&'static str],
    /// Every word that it can answer.
    replies: &'static [&'static str],
    script: OnceLock<Script>,
}

/// The values of ARGV, in order.
#[derive(Default)]
struct Arguments(Vec<Vec<u8>>);

impl Arguments {
    fn text(&mut self, value: impl Display) -> &mut Self {
        self.0.push(value.to_string().into_bytes());
        self
    }

    fn bytes(&mut self, value: Vec<u8>) -> &mut Self {
        self.0.push(value);
        self
    }
}

impl Redis {
    async fn run_on_show(
        &self,
        pair: &'static ScriptPair,
        show: ShowId,
        other_keys: &[String],
        arguments: &Arguments,
    ) -> Result<Reply, RedisError> {
        let names = pair
            .show_keys
            .iter()
            .map(|&key| self.keys().show(show, key));
        self.run(
            pair,
            names.chain(other_keys.iter().cloned()).collect(),
            arguments,
        )
        .await
    }

    async fn run(
        &self,
        pair: &'static ScriptPair,
        keys: Vec<String>,
        arguments: &Arguments,
    ) -> Result<Reply, RedisError> {
        debug_assert_eq!(keys.len(), pair.show_keys.len() + pair.other_keys.len());
        debug_assert!(arguments.0.len() >= pair.arguments.len());
        debug_assert!(arguments.0.len() == pair.arguments.len() || !pair.repeated.is_empty());
        let script = pair.script.get_or_init(|| Script::new(pair.source));
        let mut invocation = script.prepare_invoke();
        invocation.key(keys).arg(&arguments.0);
        Reply::read(pair, self.invoke(&invocation).await?)
    }
}
