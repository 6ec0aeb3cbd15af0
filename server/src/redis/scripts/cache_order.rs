//! `lua/cache_order.lua`: keeps an order's latest view.

use super::{Arguments, ScriptPair};
use crate::redis::{Redis, RedisError};
use app::domain::{ids::OrderNo, order::OrderStatus, time::Millis};
use std::sync::OnceLock;

pub(super) static PAIR: ScriptPair = ScriptPair {
    name: "cache_order",
    source: include_str!("../../../../lua/cache_order.lua"),
    show_keys: &[],
    other_keys: &["order"],
    arguments: &["stage", "view", "ttl_ms"],
    repeated: &[],
    replies: &["kept", "older"],
    script: OnceLock::new(),
};

/// What became of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheReply {
    /// It is what readers get now.
    Kept,
    /// A view of a later stage is there already and stays.
    Older,
}

impl Redis {
    pub(in crate::redis) async fn keep_view(
        &self,
        order_no: OrderNo,
        status: OrderStatus,
        json: &str,
        ttl: Millis,
    ) -> Result<CacheReply, RedisError> {
        let mut arguments = Arguments::default();
        arguments.text(stage(status)).text(json).text(ttl.0);
        let reply = self
            .run(&PAIR, vec![self.keys().order(order_no)], &arguments)
            .await?;
        match reply.word() {
            "kept" => Ok(CacheReply::Kept),
            "older" => Ok(CacheReply::Older),
            _ => Err(reply.unknown()),
        }
    }
}

/// How far an order has come: every move of its state raises it.
fn stage(status: OrderStatus) -> u8 {
    match status {
        OrderStatus::Creating => 0,
        OrderStatus::Pending => 1,
        OrderStatus::Paid | OrderStatus::Cancelled | OrderStatus::Discarded => 2,
        OrderStatus::Ticketed => 3,
        OrderStatus::Refunded => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::domain::order::{CancelReason, OrderEvent};

    #[test]
    fn every_move_of_an_order_raises_its_stage() {
        let events = [
            OrderEvent::Written,
            OrderEvent::Discarded,
            OrderEvent::Paid,
            OrderEvent::Cancelled(CancelReason::User),
            OrderEvent::TicketsIssued,
            OrderEvent::RefundedWhole,
        ];
        for from in OrderStatus::ALL {
            for to in events
                .into_iter()
                .filter_map(|event| from.apply(event).ok())
            {
                assert!(stage(from) < stage(to), "{from:?} to {to:?}");
            }
        }
    }
}
