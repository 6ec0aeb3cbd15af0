//! `lua/load_standing.lua`: writes one piece of a standing zone from the database.

use super::{Arguments, LoadReply, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::Piece, standing::TakenPlaces};
use app::domain::ids::OrderNo;
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "load_standing",
    source: include_str!("../../../../lua/load_standing.lua"),
    show_keys: &[],
    other_keys: &["places", "taken", "quantities"],
    arguments: &["replaces", "epoch", "total", "taken", "zone", "log_max"],
    repeated: &[],
    replies: &["loaded", "present"],
    script: OnceLock::new(),
};

/// A piece as the database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadStanding {
    /// The piece.
    pub piece: Piece,
    /// The life of its keys; greater than any before it, for example seconds since 1970.
    pub epoch: u32,
    /// Places of the piece.
    pub total: u32,
    /// What live orders have of it.
    pub taken: Vec<(OrderNo, TakenPlaces)>,
    /// The epoch that may be overwritten; none to load the piece only when it is missing.
    pub replaces: Option<u32>,
}

impl Redis {
    /// Writes a piece's keys, unless it is there in another epoch than [`LoadStanding::replaces`].
    ///
    /// # Errors
    /// As any command.
    pub async fn load_standing(&self, load: &LoadStanding) -> Result<LoadReply, RedisError> {
        let replaces = load.replaces.map(|epoch| epoch.to_string());
        let taken: serde_json::Value = load
            .taken
            .iter()
            .flat_map(|(order_no, taken)| [order_no.to_string(), taken.to_entry()])
            .collect();
        let mut arguments = Arguments::default();
        arguments
            .text(replaces.unwrap_or_default())
            .text(load.epoch)
            .text(load.total)
            .text(taken)
            .text(load.piece.zone)
            .text(QUANTITIES_MAX);
        let keys = self.keys().piece_keys(load.piece);
        let reply = self.run(&PAIR, keys, &arguments).await?;
        match reply.word() {
            "loaded" => Ok(LoadReply::Loaded),
            "present" => Ok(LoadReply::AlreadyPresent {
                epoch: reply.parsed(0)?,
            }),
            _ => Err(reply.unknown()),
        }
    }
}
