//! Orders whose messages this server has sent and whose fate it does not know yet: Kafka's client still has them, and sends
//! them by itself once it can. Sending them anew would only make copies.

use app::domain::ids::OrderNo;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Orders that are remembered: as many as Kafka's client takes messages. Of more, some are sent twice, which is harmless.
const ORDERS_MAX: usize = 100_000;

/// The orders that are being sent; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sending(Arc<Mutex<HashSet<OrderNo>>>);

/// One order is being sent, until this is dropped.
#[derive(Debug)]
pub(super) struct BeingSent {
    order_no: OrderNo,
    sending: Sending,
}

impl Sending {
    /// Remembers an order until its message's fate is known.
    pub(super) fn begin(&self, order_no: OrderNo) -> BeingSent {
        let mut orders = self.orders();
        if orders.len() < ORDERS_MAX {
            orders.insert(order_no);
        }
        drop(orders);
        BeingSent {
            order_no,
            sending: self.clone(),
        }
    }

    /// Whether a message of this order is still to be acknowledged.
    pub(super) fn has(&self, order_no: OrderNo) -> bool {
        self.orders().contains(&order_no)
    }

    fn orders(&self) -> MutexGuard<'_, HashSet<OrderNo>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BeingSent {
    fn drop(&mut self) {
        self.sending.orders().remove(&self.order_no);
    }
}
