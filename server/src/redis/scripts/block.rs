//! `lua/block.lua`: withholds free seats from the sale, or offers withheld ones again.

use super::{Arguments, CHANGES_MAX, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::ShowKey};
use app::domain::{
    ids::{SeatIndex, ShowId, ZoneId},
    seat::SeatState,
};
use std::sync::OnceLock;

/// Most seats of one call: what Lua can unpack at once.
pub const BLOCKED_SEATS_MAX: usize = 1_000;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "block",
    source: include_str!("../../../../lua/block.lua"),
    show_keys: &[
        ShowKey::Map,
        ShowKey::Zones,
        ShowKey::Version,
        ShowKey::Changes,
        ShowKey::Meta,
        ShowKey::Quantities,
    ],
    other_keys: &[],
    arguments: &["state", "changes_max", "log_max"],
    repeated: &["seat,zone"],
    replies: &["done", "taken", "unknown", "rebuild"],
    script: OnceLock::new(),
};

/// What became of withholding or offering seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockReply {
    /// All the seats are as wanted.
    Done {
        /// Those that were not before this call.
        changed: Vec<SeatIndex>,
    },
    /// Some are locked or sold; nothing has changed.
    Taken {
        /// Those seats.
        seats: Vec<SeatIndex>,
    },
    /// The show has no such seat; nothing has changed.
    Unknown {
        /// The seat.
        seat: SeatIndex,
    },
    /// The show must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Withholds seats from the sale, all or none. May be repeated.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when there are no seats, more than [`BLOCKED_SEATS_MAX`], or one is named twice;
    /// otherwise as any command.
    pub async fn block(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<BlockReply, RedisError> {
        self.put_into(show, seats, SeatState::Blocked).await
    }

    /// Offers withheld seats again, all or none. May be repeated.
    ///
    /// # Errors
    /// As [`Redis::block`].
    pub async fn unblock(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<BlockReply, RedisError> {
        self.put_into(show, seats, SeatState::Available).await
    }

    async fn put_into(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
        state: SeatState,
    ) -> Result<BlockReply, RedisError> {
        let mut seats = seats.to_vec();
        seats.sort_unstable();
        let mut arguments = Arguments::default();
        arguments
            .text(state.bits())
            .text(CHANGES_MAX)
            .text(QUANTITIES_MAX);
        for (seat, zone) in seats {
            arguments.text(seat).text(zone);
        }
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "done" => Ok(BlockReply::Done {
                changed: reply.all()?.into_iter().map(SeatIndex).collect(),
            }),
            "taken" => Ok(BlockReply::Taken {
                seats: reply.all()?.into_iter().map(SeatIndex).collect(),
            }),
            "unknown" => Ok(BlockReply::Unknown {
                seat: SeatIndex(reply.parsed(0)?),
            }),
            "rebuild" => Ok(BlockReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
