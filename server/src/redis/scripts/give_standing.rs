//! `lua/give_standing.lua`: gives back places that an order has in one piece of a standing zone.

use super::{Arguments, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::Piece};
use app::domain::ids::OrderNo;
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "give_standing",
    source: include_str!("../../../../lua/give_standing.lua"),
    show_keys: &[],
    other_keys: &["places", "taken", "quantities"],
    arguments: &["order_no", "zone", "keep", "why", "log_max"],
    repeated: &[],
    replies: &["given", "nothing", "rebuild"],
    script: OnceLock::new(),
};

/// Why places are given back; the log of quantities keeps the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveWhy {
    /// The order was refused after its places were taken, or ended without payment.
    Release,
    /// Money was given back for tickets.
    Refund,
    /// Reconciliation found places that are nobody's.
    Repair,
}

impl GiveWhy {
    fn word(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Refund => "refund",
            Self::Repair => "repair",
        }
    }
}

/// What became of giving places back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveStandingReply {
    /// They can be had again.
    Given {
        /// How many this call gave back.
        quantity: u32,
    },
    /// The order has no more than it keeps, perhaps because this was done before.
    Nothing,
    /// The piece must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Gives back what an order has in a piece beyond `keep` places. May be repeated.
    ///
    /// # Errors
    /// As any command.
    pub async fn give_standing(
        &self,
        piece: Piece,
        order_no: OrderNo,
        keep: u32,
        why: GiveWhy,
    ) -> Result<GiveStandingReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments
            .text(order_no)
            .text(piece.zone)
            .text(keep)
            .text(why.word())
            .text(QUANTITIES_MAX);
        let reply = self
            .run(&PAIR, self.keys().piece_keys(piece), &arguments)
            .await?;
        match reply.word() {
            "given" => Ok(GiveStandingReply::Given {
                quantity: reply.parsed(0)?,
            }),
            "nothing" => Ok(GiveStandingReply::Nothing),
            "rebuild" => Ok(GiveStandingReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
