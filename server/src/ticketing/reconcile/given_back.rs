//! Tickets that were given back while their order goes on with others: Redis may not have heard of it, or may have taken
//! such a seat back when it was told late that the order is paid.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair, seats::Compared};
use crate::ticketing::{Failure, Ticketing};
use app::domain::{
    ids::{OrderNo, SeatIndex},
    order::OrderStatus,
};
use std::collections::{BTreeMap, BTreeSet};

impl Ticketing {
    pub(super) async fn find_given_back(
        &self,
        compared: &Compared<'_>,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        // The seats of a show that has begun stay as they were.
        if self.now() >= compared.facts.show.starts_at {
            return Ok(());
        }
        let unclaimed = unclaimed(compared);
        if unclaimed.is_empty() {
            return Ok(());
        }
        let numbers: Vec<OrderNo> = unclaimed.keys().copied().collect();
        let before = self.now() - FOLLOW_UP_GRACE;
        let given_back = self.inner.db.tickets_given_back(&numbers, before).await?;
        for (order_no, seats) in unclaimed {
            let count = seats
                .iter()
                .filter(|seat| given_back.contains(&(order_no, Some(**seat))))
                .count();
            if count > 0 {
                found.push(Finding {
                    class: Class::OrphanSale,
                    show: compared.facts.show.id,
                    order_no: Some(order_no),
                    detail: format!("still has {count} seat(s) whose money it has back"),
                    repair: Repair::FreeTickets(order_no),
                });
            }
        }
        Ok(())
    }

    /// Gives tickets back to the sale whose money is back.
    pub(super) async fn free_tickets_of(&self, order_no: OrderNo) -> Result<bool, Failure> {
        match self.inner.db.order(order_no).await? {
            Some(order) => self.free_tickets(&order).await.map(|()| true),
            None => Ok(false),
        }
    }
}

/// Seats that Redis gives to paid orders and that those do not claim.
fn unclaimed(compared: &Compared<'_>) -> BTreeMap<OrderNo, Vec<SeatIndex>> {
    let claimed: BTreeSet<(OrderNo, SeatIndex)> = compared
        .claims
        .iter()
        .filter_map(|claim| Some((claim.order_no?, claim.seat)))
        .collect();
    let mut unclaimed: BTreeMap<OrderNo, Vec<SeatIndex>> = BTreeMap::new();
    for (seat, order_no) in &compared.snapshot.owners {
        let is_paid = compared
            .orders
            .get(order_no)
            .is_some_and(|order| matches!(order.status, OrderStatus::Paid | OrderStatus::Ticketed));
        if is_paid && !claimed.contains(&(*order_no, *seat)) {
            unclaimed.entry(*order_no).or_default().push(*seat);
        }
    }
    unclaimed
}
