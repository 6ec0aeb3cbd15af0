//! `lua/sell_standing.lua`: writes an order's places of one piece as the database has them.

use super::{Arguments, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::Piece, standing::PlaceState};
use app::domain::{ids::OrderNo, time::Timestamp};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "sell_standing",
    source: include_str!("../../../../lua/sell_standing.lua"),
    show_keys: &[],
    other_keys: &["places", "taken", "quantities"],
    arguments: &[
        "order_no", "zone", "now_ms", "quantity", "state", "why", "log_max",
    ],
    repeated: &[],
    replies: &["written", "as_is", "rebuild"],
    script: OnceLock::new(),
};

/// Places of a piece that the database has given to a live order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SellStanding {
    /// The piece.
    pub piece: Piece,
    /// The order.
    pub order_no: OrderNo,
    /// When this is written.
    pub now: Timestamp,
    /// How many, at least 1.
    pub quantity: u32,
    /// Sold when the order is paid, locked when it awaits payment.
    pub state: PlaceState,
}

/// What became of writing an order's places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SellStandingReply {
    /// They are as the database has them.
    Written {
        /// How many were not the order's before; below zero when it had too many.
        change: i64,
    },
    /// They were so already, or are sold and were to be locked; nothing has changed.
    AsIs,
    /// The piece must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Writes what an order has in a piece, whatever the piece has left: the database's stock keeps the capacity. May be
    /// repeated.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when the quantity is 0; otherwise as any command.
    pub async fn sell_standing(
        &self,
        sell: &SellStanding,
    ) -> Result<SellStandingReply, RedisError> {
        // A lost place that comes back is a repair; the usual change of state moves no quantity and is not logged.
        let why = "repair";
        let mut arguments = Arguments::default();
        arguments
            .text(sell.order_no)
            .text(sell.piece.zone)
            .text(sell.now.0)
            .text(sell.quantity)
            .text(sell.state.word())
            .text(why)
            .text(QUANTITIES_MAX);
        let reply = self
            .run(&PAIR, self.keys().piece_keys(sell.piece), &arguments)
            .await?;
        match reply.word() {
            "written" => Ok(SellStandingReply::Written {
                change: reply.parsed(0)?,
            }),
            "as_is" => Ok(SellStandingReply::AsIs),
            "rebuild" => Ok(SellStandingReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
