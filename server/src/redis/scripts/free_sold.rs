//! `lua/free_sold.lua`: gives back seats of an order that is no longer live.

use super::{Arguments, CHANGES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::ShowKey};
use app::domain::ids::{OrderNo, SeatIndex, ShowId, ZoneId};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "free_sold",
    source: include_str!("../../../../lua/free_sold.lua"),
    show_keys: &[
        ShowKey::Map,
        ShowKey::Owners,
        ShowKey::Holds,
        ShowKey::Unsent,
        ShowKey::Zones,
        ShowKey::Bought,
        ShowKey::Version,
        ShowKey::Changes,
        ShowKey::Meta,
    ],
    other_keys: &[],
    arguments: &["order_no", "limits", "changes_max"],
    repeated: &["seat,zone"],
    replies: &["freed", "rebuild"],
    script: OnceLock::new(),
};

/// What became of giving seats back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreeReply {
    /// No named seat is the order's any more.
    Freed {
        /// The seats that are available again by this call.
        seats: Vec<SeatIndex>,
    },
    /// The show must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Gives back the seats that are this order's, sold or locked. The caller has made sure that the order is not live and
    /// never will be. May be repeated.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when there are no seats or one is named twice; otherwise as any command.
    pub async fn free_sold(
        &self,
        show: ShowId,
        order_no: OrderNo,
        limits: &[String],
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<FreeReply, RedisError> {
        let mut seats = seats.to_vec();
        seats.sort_unstable();
        let mut arguments = Arguments::default();
        // Lists of texts can always be written; an empty list must not become Lua's empty object, which reads the same.
        let limits = serde_json::to_string(limits).unwrap_or_default();
        arguments.text(order_no).text(limits).text(CHANGES_MAX);
        for (seat, zone) in seats {
            arguments.text(seat).text(zone);
        }
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "freed" => Ok(FreeReply::Freed {
                seats: reply.all()?.into_iter().map(SeatIndex).collect(),
            }),
            "rebuild" => Ok(FreeReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
