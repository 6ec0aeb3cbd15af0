//! `lua/free_sold.lua`: gives back tickets of an order that is no longer live.

use super::{Arguments, CHANGES_MAX, QUANTITIES_MAX, ScriptPair};
use crate::redis::{HeldSeat, Redis, RedisError, keys::ShowKey, record::counter_text};
use app::domain::ids::{OrderNo, SeatIndex, ShowId};
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
        ShowKey::Standing,
        ShowKey::Quantities,
    ],
    other_keys: &[],
    arguments: &["order_no", "limits", "changes_max", "standing", "log_max"],
    repeated: &["seat,zone,attendee"],
    replies: &["freed", "rebuild"],
    script: OnceLock::new(),
};

/// Tickets of an order that are to be given back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Freed {
    /// The seats, in any order, none twice.
    pub seats: Vec<HeldSeat>,
    /// Whether tickets without a seat are given back as well.
    pub with_standing: bool,
    /// Tickets without a seat that the order keeps, each the counter of the person it is for; a repeat names the same ones.
    pub standing_kept: Vec<Option<String>>,
    /// What every ticket of the order is counted by: see [`crate::redis::limit_field`].
    pub limits: Vec<String>,
}

/// What became of giving tickets back.
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
    /// Gives back what is this order's, sold or locked. The caller has made sure that these tickets are not live and
    /// never will be. May be repeated.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when a seat is named twice; otherwise as any command.
    pub async fn free_sold(
        &self,
        show: ShowId,
        order_no: OrderNo,
        freed: &Freed,
    ) -> Result<FreeReply, RedisError> {
        let mut seats = freed.seats.clone();
        seats.sort_unstable();
        let mut arguments = Arguments::default();
        // Lists of texts can always be written; an empty list must not become Lua's empty object, which reads the same.
        let limits = serde_json::to_string(&freed.limits).unwrap_or_default();
        arguments
            .text(order_no)
            .text(limits)
            .text(CHANGES_MAX)
            .text(standing_kept(freed))
            .text(QUANTITIES_MAX);
        for held in seats {
            arguments
                .text(held.seat)
                .text(held.zone)
                .text(counter_text(held.attendee.as_ref()));
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

/// What the script is told about tickets without a seat.
fn standing_kept(freed: &Freed) -> String {
    if !freed.with_standing {
        return String::new();
    }
    let kept = freed.standing_kept.iter();
    let kept: Vec<&str> = kept.map(|counter| counter_text(counter.as_ref())).collect();
    // Lists of texts can always be written.
    serde_json::to_string(&kept).unwrap_or_else(|_| "[]".to_owned())
}
