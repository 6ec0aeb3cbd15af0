//! `lua/restore.lua`: locks and counts again what Redis lost of an order.

use super::{Arguments, CHANGES_MAX, QUANTITIES_MAX, ScriptPair};
use crate::redis::{HoldRecord, Redis, RedisError, keys::ShowKey};
use app::domain::ids::{OrderNo, SeatIndex, ShowId};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "restore",
    source: include_str!("../../../../lua/restore.lua"),
    show_keys: &[
        ShowKey::Map,
        ShowKey::Owners,
        ShowKey::Holds,
        ShowKey::Zones,
        ShowKey::Bought,
        ShowKey::Version,
        ShowKey::Changes,
        ShowKey::Meta,
        ShowKey::Standing,
        ShowKey::Quantities,
    ],
    other_keys: &[],
    arguments: &["order_no", "record", "changes_max", "log_max"],
    repeated: &[],
    replies: &["restored", "conflict", "rebuild"],
    script: OnceLock::new(),
};

/// What became of a restoration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreReply {
    /// Every seat is locked for the order, and every ticket of it is counted.
    Restored {
        /// How many were not before this call.
        changed: u32,
    },
    /// Some seats are another order's, sold or withheld; nothing has changed.
    Conflict {
        /// Those seats.
        seats: Vec<SeatIndex>,
    },
    /// The show must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Locks the seats of a record for a pending order and counts its tickets, as far as that is not so. For a paid order, whose
    /// seats are sold, the record has its tickets without a seat alone, and the hold that this leaves is the caller's to end.
    /// May be repeated.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when the record has no tickets; otherwise as any command.
    pub async fn restore(
        &self,
        show: ShowId,
        order_no: OrderNo,
        record: &HoldRecord,
    ) -> Result<RestoreReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments
            .text(order_no)
            .text(record.to_json())
            .text(CHANGES_MAX)
            .text(QUANTITIES_MAX);
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "restored" => Ok(RestoreReply::Restored {
                changed: reply.parsed(0)?,
            }),
            "conflict" => Ok(RestoreReply::Conflict {
                seats: reply.all()?.into_iter().map(SeatIndex).collect(),
            }),
            "rebuild" => Ok(RestoreReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
