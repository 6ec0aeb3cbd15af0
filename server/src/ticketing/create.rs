//! Creating orders: what was held becomes rows, items and claims, a batch in one transaction.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    kafka::{
        batch::{BatchHandler, HandlerError, Poison, Received},
        messages::{Placed, Timeout},
    },
    mysql::{
        DbError,
        creation::{UNWRITABLE, Written},
    },
    redis::{RedisError, keys::Piece, scripts::GiveWhy},
};
use app::domain::{ids::OrderNo, order::OrderStatus};
use async_trait::async_trait;
use std::collections::HashSet;

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

/// An order of which a person has to know: the database will never take it, or Redis can't give its places back. It has a
/// discarded row, so that nothing can become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// The order.
    pub order_no: OrderNo,
    /// What a store refused, for the person who reads the dead letter.
    pub reason: String,
}

/// What is left to do once every order of a batch has its row.
#[derive(Default)]
struct FollowUp<'a> {
    /// Orders that were given up: their places must go back, perhaps again.
    give_back: Vec<&'a Placed>,
    given_up: Vec<GivenUp>,
}

#[async_trait]
impl BatchHandler for Ticketing {
    type Message = Placed;

    async fn handle(&self, batch: &[Received<Placed>]) -> Result<(), HandlerError> {
        let orders: Vec<Placed> = batch
            .iter()
            .map(|received| received.message.clone())
            .collect();
        let given_up = self
            .create_orders(&orders)
            .await
            .map_err(|error| HandlerError::Retry(error.into()))?;
        let poisoned = |(index, placed): (usize, &Placed)| {
            let of_order = |given_up: &&GivenUp| given_up.order_no == placed.order_no;
            let reason = given_up.iter().find(of_order)?.reason.clone();
            Some(Poison { index, reason })
        };
        let poisoned: Vec<Poison> = orders.iter().enumerate().filter_map(poisoned).collect();
        if poisoned.is_empty() {
            return Ok(());
        }
        Err(HandlerError::Poison(poisoned))
    }
}

impl Ticketing {
    /// Writes orders. Each ends as a row: pending, or discarded and its places given back. Writing one twice changes nothing.
    ///
    /// Answers those that can never be written, and those whose places can't be given back; their messages belong to the
    /// dead letters. One of them keeps no other from its row, and places go back after all rows are written, so that orders
    /// don't wait for Redis.
    ///
    /// # Errors
    /// When a store is away; what was written stays, and the whole batch may be handed in again.
    pub async fn create_orders(&self, batch: &[Placed]) -> Result<Vec<GivenUp>, Failure> {
        let oldest = self.now() - self.inner.config.limits.discard_after;
        let (fresh, stale): (Vec<_>, Vec<_>) = batch
            .iter()
            .cloned()
            .partition(|placed| placed.placed_at >= oldest);
        let mut after = FollowUp::default();
        for placed in &stale {
            self.discard(placed, Discard::Stale, &mut after).await?;
        }
        if !fresh.is_empty() {
            fault::point(Point::CreateBeforeInsert);
        }
        let mut waiting = vec![fresh.as_slice()];
        while let Some(part) = waiting.pop() {
            if let [placed] = part {
                self.create_one(placed, &mut after).await?;
                continue;
            }
            match self.inner.db.insert_orders(part).await {
                Ok(()) => self.created(part).await,
                // One of them is in the way of all: halve until it stands alone.
                Err(error) if error.is_refusal() => {
                    let (first, second) = part.split_at(part.len() / 2);
                    waiting.extend([second, first]);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let FollowUp {
            give_back,
            mut given_up,
        } = after;
        // A message that came twice needs that once.
        let mut given_back = HashSet::new();
        for placed in give_back {
            if !given_back.insert(placed.order_no) {
                continue;
            }
            if let Some(stuck) = self.give_back(placed).await? {
                given_up.push(stuck);
            }
        }
        Ok(given_up)
    }

    async fn create_one<'a>(
        &self,
        placed: &'a Placed,
        after: &mut FollowUp<'a>,
    ) -> Result<(), Failure> {
        match self.inner.db.insert_order(placed).await {
            Ok(Written::Pending) => {
                self.created(std::slice::from_ref(placed)).await;
                Ok(())
            }
            Ok(Written::SeatClaimed) => self.discard(placed, Discard::SeatClaimed, after).await,
            Ok(Written::NoPlaces) => self.discard(placed, Discard::ZoneFull, after).await,
            Ok(Written::Exists) => self.repeat_follow_up(placed, after).await,
            Err(error) if error.is_refusal() => self.write_off(placed, &error, after).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Tells the customer and sets the alarm clock. Both have a second way: what is cached is soon not trusted any more, and the
    /// sweeper sweeps.
    async fn created(&self, orders: &[Placed]) {
        fault::point(Point::CreateAfterCommit);
        let numbers: Vec<OrderNo> = orders.iter().map(|placed| placed.order_no).collect();
        if let Err(error) = self.inner.redis.forget_orders(&numbers).await {
            tracing::warn!(%error, "orders that have their rows are still cached");
        }
        fault::point(Point::CreateAfterForgetting);
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

    /// The row first, then the places: a release without a row could free seats for an order that still becomes one.
    async fn discard<'a>(
        &self,
        placed: &'a Placed,
        why: Discard,
        after: &mut FollowUp<'a>,
    ) -> Result<(), Failure> {
        let now = self.now();
        let detail = format!("placed {} ms ago", (now - placed.placed_at).0);
        let db = &self.inner.db;
        match db.insert_discarded(placed, why.word(), &detail, now).await {
            Ok(true) => {
                discarded(placed, why.word());
                after.give_back.push(placed);
                Ok(())
            }
            Ok(false) => self.repeat_follow_up(placed, after).await,
            Err(error) if error.is_refusal() => self.write_off(placed, &error, after).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Writes off an order that the database refuses as it is: a row without its tickets takes its number, which always can
    /// be written.
    async fn write_off<'a>(
        &self,
        placed: &'a Placed,
        error: &DbError,
        after: &mut FollowUp<'a>,
    ) -> Result<(), Failure> {
        let order_no = placed.order_no;
        let reason = error.story();
        let db = &self.inner.db;
        let is_new = db.insert_unwritable(placed, &reason, self.now()).await?;
        if is_new {
            tracing::error!(%order_no, show_id = placed.show_id.0, reason, "order can't be written");
            discarded(placed, UNWRITABLE);
        }
        // A row that somebody else wrote under this number says itself what becomes of its places.
        if is_new || db.is_unwritable(order_no).await? {
            after.give_back.push(placed);
        }
        after.given_up.push(GivenUp { order_no, reason });
        Ok(())
    }

    /// An order that has a row already: a repeated message. If it was given up, its places must go back, perhaps again, and
    /// its message is a dead letter, of which nobody knows whether it was written.
    async fn repeat_follow_up<'a>(
        &self,
        placed: &'a Placed,
        after: &mut FollowUp<'a>,
    ) -> Result<(), Failure> {
        let order_no = placed.order_no;
        let order = self.inner.db.order(order_no).await?;
        if order.is_none_or(|order| order.status != OrderStatus::Discarded) {
            // Whoever wrote it may have died before this.
            if let Err(error) = self.inner.redis.forget_order(order_no).await {
                tracing::warn!(%order_no, %error, "an order that has its row is still cached");
            }
            return Ok(());
        }
        after.give_back.push(placed);
        if self.inner.db.is_unwritable(order_no).await? {
            let reason = "the order could not be written when this came before".to_owned();
            after.given_up.push(GivenUp { order_no, reason });
        }
        Ok(())
    }

    /// Gives an order's places back. What Redis would answer with the same error again makes the message a dead letter, and
    /// reconciliation looks for places of orders that are over.
    async fn give_back(&self, placed: &Placed) -> Result<Option<GivenUp>, Failure> {
        let outcome = self.try_to_give_back(placed).await;
        let error = match outcome {
            Err(error) if error.is_lasting() => error,
            outcome => return Ok(outcome.map(|()| None)?),
        };
        let order_no = placed.order_no;
        metrics::counter!("seatflow_compensations_failed_total").increment(1);
        tracing::error!(%order_no, show_id = placed.show_id.0, %error, cause = ?error, "places not given back");
        let reason = format!("the order was discarded and its places were not given back: {error}");
        Ok(Some(GivenUp { order_no, reason }))
    }

    async fn try_to_give_back(&self, placed: &Placed) -> Result<(), RedisError> {
        let redis = &self.inner.redis;
        redis.release(placed.show_id, placed.order_no).await?;
        fault::point(Point::DiscardAfterRelease);
        for (index, from) in placed.pieces.iter().enumerate() {
            if index > 0 {
                fault::point(Point::DiscardBetweenPieces);
            }
            let (zone, piece) = (from.zone_id, from.piece);
            redis
                .give_standing(Piece { zone, piece }, placed.order_no, 0, GiveWhy::Release)
                .await?;
        }
        fault::point(Point::DiscardBeforeForgetting);
        redis.forget_order(placed.order_no).await?;
        fault::point(Point::DiscardAfterForgetting);
        Ok(())
    }
}

fn discarded(placed: &Placed, reason: &'static str) {
    metrics::counter!("seatflow_orders_discarded_total", "reason" => reason).increment(1);
    tracing::warn!(order_no = %placed.order_no, show_id = placed.show_id.0, reason, "order discarded");
    fault::point(Point::DiscardAfterRow);
}
