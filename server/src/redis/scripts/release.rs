//! `lua/release.lua`: gives back what an order holds.

use super::{Arguments, CHANGES_MAX, QUANTITIES_MAX, ScriptPair};
use crate::redis::{Redis, RedisError, keys::ShowKey};
use app::domain::ids::{OrderNo, SeatIndex, ShowId};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "release",
    source: include_str!("../../../../lua/release.lua"),
    show_keys: &ShowKey::ALL,
    other_keys: &[],
    arguments: &["order_no", "changes_max", "log_max"],
    repeated: &[],
    replies: &["released", "nothing", "rebuild"],
    script: OnceLock::new(),
};

/// What became of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseReply {
    /// The order's record is gone.
    Released {
        /// The seats that are available again; those that were no longer the order's are not among them.
        seats: Vec<SeatIndex>,
    },
    /// The order has no record: it was released or confirmed before.
    Nothing,
    /// The show must be loaded first; nothing has changed.
    Rebuild,
}

impl Redis {
    /// Gives back what an order holds, exactly as its record says. May be repeated.
    ///
    /// The idempotency key stays, so that a repeat of the submission still leads to the order it made.
    ///
    /// # Errors
    /// As any command.
    pub async fn release(
        &self,
        show: ShowId,
        order_no: OrderNo,
    ) -> Result<ReleaseReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments
            .text(order_no)
            .text(CHANGES_MAX)
            .text(QUANTITIES_MAX);
        let reply = self.run_on_show(&PAIR, show, &[], &arguments).await?;
        match reply.word() {
            "released" => Ok(ReleaseReply::Released {
                seats: reply.all()?.into_iter().map(SeatIndex).collect(),
            }),
            "nothing" => Ok(ReleaseReply::Nothing),
            "rebuild" => Ok(ReleaseReply::Rebuild),
            _ => Err(reply.unknown()),
        }
    }
}
