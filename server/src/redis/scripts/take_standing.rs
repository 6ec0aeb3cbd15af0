//! `lua/take_standing.lua`: takes places of one piece of a standing zone for an order.

use super::{Arguments, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::Piece};
use app::domain::{ids::OrderNo, time::Timestamp};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "take_standing",
    source: include_str!("../../../../lua/take_standing.lua"),
    show_keys: &[],
    other_keys: &["places", "taken", "quantities"],
    arguments: &["order_no", "zone", "now_ms", "quantity", "least", "log_max"],
    repeated: &[],
    replies: &["taken", "repeated", "short", "rebuild"],
    script: OnceLock::new(),
};

/// How many places an order wants of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeStanding {
    /// The piece.
    pub piece: Piece,
    /// The order.
    pub order_no: OrderNo,
    /// When they are taken.
    pub now: Timestamp,
    /// How many are wanted, at least 1.
    pub quantity: u32,
    /// How many are worth taking when the piece has fewer; `quantity` for all or nothing.
    pub least: u32,
}

/// What became of taking places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeStandingReply {
    /// They are locked for the order.
    Taken {
        /// How many, from `least` to `quantity`.
        quantity: u32,
        /// How many the piece has left.
        left: u32,
    },
    /// The order has places of this piece already; nothing has changed.
    Repeated {
        /// How many.
        quantity: u32,
    },
    /// The piece has fewer than are worth taking; nothing has changed.
    Short {
        /// How many it has.
        left: u32,
    },
    /// The piece must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Takes places of a piece for an order. A repeat after an unknown result answers
    /// [`TakeStandingReply::Repeated`] when the first call had run.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when the quantity is 0 or `least` is not between 1 and it; otherwise as any command.
    pub async fn take_standing(
        &self,
        take: &TakeStanding,
    ) -> Result<TakeStandingReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments
            .text(take.order_no)
            .text(take.piece.zone)
            .text(take.now.0)
            .text(take.quantity)
            .text(take.least)
            .text(QUANTITIES_MAX);
        let reply = self
            .run(&PAIR, self.keys().piece_keys(take.piece), &arguments)
            .await?;
        match reply.word() {
            "taken" => Ok(TakeStandingReply::Taken {
                quantity: reply.parsed(0)?,
                left: reply.parsed(1)?,
            }),
            "repeated" => Ok(TakeStandingReply::Repeated {
                quantity: reply.parsed(0)?,
            }),
            "short" => Ok(TakeStandingReply::Short {
                left: reply.parsed(0)?,
            }),
            "rebuild" => Ok(TakeStandingReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
