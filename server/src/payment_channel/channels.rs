//! The channels that are in use side by side. An order names the one that it is paid through and keeps it: a shop that
//! changes its gateway still takes and gives back money of the orders from before.

use super::{Channel, Watched};
use std::sync::Arc;

/// Channels by name, and the one that new orders are paid through.
#[derive(Clone)]
pub struct Channels {
    for_new_orders: Arc<Watched>,
    others: Vec<Arc<Watched>>,
}

impl Channels {
    /// One channel, for new orders.
    #[must_use]
    pub fn new(for_new_orders: Arc<dyn Channel>) -> Self {
        Self {
            for_new_orders: Arc::new(Watched::new(for_new_orders)),
            others: Vec::new(),
        }
    }

    /// The same with another channel for new orders; the one before stays for the orders that name it.
    #[must_use]
    pub fn changed_to(mut self, for_new_orders: Arc<dyn Channel>) -> Self {
        let before = std::mem::replace(
            &mut self.for_new_orders,
            Arc::new(Watched::new(for_new_orders)),
        );
        self.others.push(before);
        self
    }

    /// The channel that new orders are paid through.
    #[must_use]
    pub fn for_new_orders(&self) -> &dyn Channel {
        self.for_new_orders.as_ref()
    }

    /// The channel with a name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Watched> {
        std::iter::once(&self.for_new_orders)
            .chain(&self.others)
            .find(|channel| channel.name() == name)
            .map(AsRef::as_ref)
    }
}
