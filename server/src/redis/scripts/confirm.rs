//! `lua/confirm.lua`: turns a paid order's seats from locked to sold.

use super::{Arguments, CHANGES_MAX, QUANTITIES_MAX, ScriptPair};
use crate::redis::{HeldSeat, Redis, RedisError, keys::ShowKey};
use app::domain::ids::{OrderNo, SeatIndex, ShowId};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "confirm",
    source: include_str!("../../../../lua/confirm.lua"),
    show_keys: &[
        ShowKey::Map,
        ShowKey::Owners,
        ShowKey::Holds,
        ShowKey::Unsent,
        ShowKey::Zones,
        ShowKey::Version,
        ShowKey::Changes,
        ShowKey::Meta,
        ShowKey::Quantities,
    ],
    other_keys: &[],
    arguments: &["order_no", "changes_max", "log_max"],
    repeated: &["seat,zone"],
    replies: &["confirmed", "conflict", "rebuild"],
    script: OnceLock::new(),
};

/// What became of a confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmReply {
    /// Every seat is sold to the order.
    Confirmed {
        /// How many were not sold before this call.
        changed: u32,
    },
    /// Some seats are another order's or withheld; nothing has changed.
    Conflict {
        /// Those seats.
        seats: Vec<SeatIndex>,
    },
    /// The show must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Marks the seats that an order claims in the database as sold, and ends its hold. May be repeated. Tickets without a
    /// seat stay counted as they are.
    ///
    /// A seat that is free is taken, because its claim is the truth and only its lock was lost.
    ///
    /// # Errors
    /// [`RedisError::Protocol`] when a seat is named twice; otherwise as any command.
    pub async fn confirm(
        &self,
        show: ShowId,
        order_no: OrderNo,
        seats: &[HeldSeat],
    ) -> Result<ConfirmReply, RedisError> {
        let mut seats = seats.to_vec();
        seats.sort_unstable();
        let mut arguments = Arguments::default();
        arguments
            .text(order_no)
            .text(CHANGES_MAX)
            .text(QUANTITIES_MAX);
        for held in seats {
            arguments.text(held.seat).text(held.zone);
        }
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "confirmed" => Ok(ConfirmReply::Confirmed {
                changed: reply.parsed(0)?,
            }),
            "conflict" => Ok(ConfirmReply::Conflict {
                seats: reply.all()?.into_iter().map(SeatIndex).collect(),
            }),
            "rebuild" => Ok(ConfirmReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
