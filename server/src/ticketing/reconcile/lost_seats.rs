//! Seats of live orders that Redis does not give them: found, and locked again.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair, seats::Compared};
use crate::{
    fault::{self, Point},
    mysql::shows::TakenSeat,
    redis::{scripts::RestoreReply, snapshot::ShowSnapshot},
    ticketing::{Failure, Ticketing, rebuild::record_of},
};
use app::domain::{
    ids::{OrderNo, ShowId},
    order::OrderStatus,
    seat::SeatState,
};
use std::collections::BTreeMap;

impl Ticketing {
    /// Claims whose seat is not the order's in Redis. Redis is asked once more about those: what was held after the first
    /// reading had its claim before the second.
    pub(super) async fn find_lost(
        &self,
        compared: &Compared<'_>,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let claims = compared.claims.iter();
        let mut lost: Vec<(OrderNo, Class, &TakenSeat)> = claims
            .filter_map(|claim| self.judge_claim(compared, &compared.snapshot, claim))
            .collect();
        if lost.is_empty() {
            return Ok(());
        }
        let Some(again) = self.inner.redis.snapshot(compared.facts.show.id).await? else {
            // The whole show is lost by now, as the next round finds.
            return Ok(());
        };
        lost.retain(|(_, _, claim)| self.judge_claim(compared, &again, claim).is_some());
        let mut of_orders: BTreeMap<OrderNo, (Class, usize)> = BTreeMap::new();
        for (order_no, class, _) in lost {
            of_orders.entry(order_no).or_insert((class, 0)).1 += 1;
        }
        for (order_no, (class, seats)) in of_orders {
            let detail = format!("has {seats} seat(s) that Redis does not give it");
            let repair = match class {
                Class::PaidNotSold => Repair::Sell(order_no),
                _ => Repair::Restore(order_no),
            };
            found.push(compared.finding(class, order_no, detail, repair));
        }
        Ok(())
    }

    /// What is wrong with a claim by what Redis has.
    fn judge_claim<'a>(
        &self,
        compared: &Compared<'_>,
        snapshot: &ShowSnapshot,
        claim: &'a TakenSeat,
    ) -> Option<(OrderNo, Class, &'a TakenSeat)> {
        let order_no = claim.order_no?;
        let order = compared.orders.get(&order_no)?;
        let state = snapshot.map.state(claim.seat);
        let is_own = snapshot.owners.get(&claim.seat) == Some(&order_no);
        let class = match order.status {
            OrderStatus::Paid | OrderStatus::Ticketed => {
                let is_settled = is_own && state == SeatState::Sold;
                let is_recent = order
                    .paid_at
                    .is_some_and(|at| self.now() < at + FOLLOW_UP_GRACE);
                (!is_settled && !is_recent).then_some(Class::PaidNotSold)
            }
            OrderStatus::Pending => {
                let is_held = is_own && state == SeatState::Locked;
                (!is_held).then_some(Class::SeatLost)
            }
            _ => None,
        };
        Some((order_no, class?, claim))
    }

    /// Locks again what a pending order lost, and looks again: an order that ended meanwhile gives everything back, one that
    /// was paid has it.
    pub(super) async fn restore_locks(&self, order_no: OrderNo) -> Result<bool, Failure> {
        let Some(order) = self.inner.db.order(order_no).await? else {
            return Ok(false);
        };
        if order.status != OrderStatus::Pending {
            return Ok(false);
        }
        let items = self.inner.db.items_of_order(order_no).await?;
        let record = record_of(&order, &items);
        let reply = self
            .inner
            .redis
            .restore(order.show_id, order_no, &record)
            .await?;
        fault::point(Point::ReconcileAfterRestore);
        self.follow_restored(order.show_id, order_no).await?;
        if let RestoreReply::Conflict { seats } = &reply {
            tracing::error!(%order_no, seats = ?seats, "claimed seats are another's in Redis");
        }
        Ok(matches!(reply, RestoreReply::Restored { changed } if changed > 0))
    }

    /// Looks again at an order whose locks are there again. One that was paid meanwhile keeps them, as sold: its payment may
    /// have been settled before the locks came back, and then nobody else would do so.
    async fn follow_restored(&self, show: ShowId, order_no: OrderNo) -> Result<(), Failure> {
        let order = self.inner.db.order(order_no).await?;
        match order.map(|order| order.status) {
            Some(OrderStatus::Pending) => {}
            Some(OrderStatus::Paid | OrderStatus::Ticketed) => self.settle_paid(order_no).await?,
            _ => {
                self.inner.redis.release(show, order_no).await?;
            }
        }
        Ok(())
    }
}
