//! Creating orders: what was held becomes rows, items and claims, a batch in one transaction.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    kafka::{
        batch::{BatchHandler, HandlerError, Received},
        messages::{Placed, Timeout},
    },
    mysql::{DbError, creation::Written},
    redis::{keys::Piece, scripts::GiveWhy},
};
use app::domain::order::OrderStatus;
use async_trait::async_trait;

/// Why an order was given up; kept with it and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Discard {
    /// Its message came too late for the customer to be still waiting.
    Stale,
    /// A seat of it belongs to another order.
    SeatClaimed,
    /// A standing zone has not enough places for it.
    ZoneFull,
}

impl Discard {
    fn word(self) -> &'static str {
        match self {
            Self::Stale => "stale_message",
            Self::SeatClaimed => "seat_claimed",
            Self::ZoneFull => "zone_full",
        }
    }
}

#[async_trait]
impl BatchHandler for Ticketing {
    type Message = Placed;

    async fn handle(&self, batch: &[Received<Placed>]) -> Result<(), HandlerError> {
        let orders: Vec<Placed> = batch
            .iter()
            .map(|received| received.message.clone())
            .collect();
        self.create_orders(&orders)
            .await
            .map_err(|error| HandlerError::Retry(error.into()))
    }
}

impl Ticketing {
    /// Writes orders. Each ends as a row: pending, or discarded and its seats given back. Writing one twice changes nothing.
    ///
    /// # Errors
    /// When a store fails; what was written stays, and the whole batch may be handed in again.
    pub async fn create_orders(&self, batch: &[Placed]) -> Result<(), Failure> {
        let oldest = self.now() - self.inner.config.limits.discard_after;
        let (fresh, stale): (Vec<_>, Vec<_>) = batch
            .iter()
            .cloned()
            .partition(|placed| placed.placed_at >= oldest);
        for placed in &stale {
            self.discard(placed, Discard::Stale).await?;
        }
        if !fresh.is_empty() {
            fault::point(Point::CreateBeforeInsert);
        }
        let mut waiting = vec![fresh.as_slice()];
        while let Some(part) = waiting.pop() {
            if let [placed] = part {
                self.create_one(placed).await?;
                continue;
            }
            match self.inner.db.insert_orders(part).await {
                Ok(()) => self.created(part).await,
                // One of them is in the way of all: halve until it stands alone.
                Err(DbError::Duplicate { .. } | DbError::NoPlaces) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    waiting.extend([second, first]);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn create_one(&self, placed: &Placed) -> Result<(), Failure> {
        match self.inner.db.insert_order(placed).await? {
            Written::Pending => {
                self.created(std::slice::from_ref(placed)).await;
                Ok(())
            }
            Written::SeatClaimed => self.discard(placed, Discard::SeatClaimed).await,
            Written::NoPlaces => self.discard(placed, Discard::ZoneFull).await,
            Written::Exists => self.repeat_follow_up(placed).await,
        }
    }

    /// Tells the customer and sets the alarm clock. Both have a second way: the row is read, and the sweeper sweeps.
    async fn created(&self, orders: &[Placed]) {
        fault::point(Point::CreateAfterCommit);
        metrics::counter!("seatflow_orders_created_total").increment(orders.len() as u64);
        let (steps, now) = (&self.inner.config.limits.timeout_steps, self.now());
        for placed in orders {
            let timeout = Timeout {
                order_no: placed.order_no,
                show_id: placed.show_id,
                due_at: steps.next_look(placed.placed_at, placed.expire_at, now),
            };
            if let Err(error) = self.inner.producer.send(&timeout, None) {
                tracing::warn!(order_no = %placed.order_no, %error, "no timeout message, the sweeper will find the order");
            }
        }
        fault::point(Point::CreateAfterTimeout);
    }

    /// The row first, then the seats: a release without a row could free seats for an order that still becomes one.
    async fn discard(&self, placed: &Placed, why: Discard) -> Result<(), Failure> {
        let now = self.now();
        let detail = format!("placed {} ms ago", (now - placed.placed_at).0);
        if !self
            .inner
            .db
            .insert_discarded(placed, why.word(), &detail, now)
            .await?
        {
            return self.repeat_follow_up(placed).await;
        }
        metrics::counter!("seatflow_orders_discarded_total", "reason" => why.word()).increment(1);
        tracing::warn!(order_no = %placed.order_no, show_id = placed.show_id.0, reason = why.word(), "order discarded");
        fault::point(Point::DiscardAfterRow);
        self.give_back(placed).await
    }

    /// An order that has a row already: a repeated message. If it was given up, its seats must go back, perhaps again.
    async fn repeat_follow_up(&self, placed: &Placed) -> Result<(), Failure> {
        let order = self.inner.db.order(placed.order_no).await?;
        match order.map(|order| order.status) {
            Some(OrderStatus::Discarded) => self.give_back(placed).await,
            _ => Ok(()),
        }
    }

    async fn give_back(&self, placed: &Placed) -> Result<(), Failure> {
        self.inner
            .redis
            .release(placed.show_id, placed.order_no)
            .await?;
        fault::point(Point::DiscardAfterRelease);
        for from in &placed.pieces {
            let (zone, piece) = (from.zone_id, from.piece);
            self.inner
                .redis
                .give_standing(Piece { zone, piece }, placed.order_no, 0, GiveWhy::Release)
                .await?;
        }
        self.inner.redis.forget_order(placed.order_no).await?;
        Ok(())
    }
}
