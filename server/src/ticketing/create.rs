//! Creating orders: what was held becomes rows, items and claims, a batch in one transaction.

use super::{Failure, Ticketing, side_by_side::side_by_side};
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

/// Orders of a batch that are discarded, or given back, at the same time.
const AT_ONCE_MAX: usize = 16;

/// Why an order was given up; kept with it and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Discard {
    /// Its message came too late for the customer to be still waiting.
    Stale,
    /// A seat of it belongs to another order.
    SeatClaimed,
    /// A standing zone has not enough places for it.
    ZoneFull,
    /// It took more or fewer places of a standing zone than it has tickets for.
    UnequalPlaces,
}

impl Discard {
    fn word(self) -> &'static str {
        match self {
            Self::Stale => "stale_message",
            Self::SeatClaimed => "seat_claimed",
            Self::ZoneFull => "zone_full",
            Self::UnequalPlaces => "unequal_places",
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

impl FollowUp<'_> {
    fn add(&mut self, other: Self) {
        self.give_back.extend(other.give_back);
        self.given_up.extend(other.given_up);
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
    /// don't wait for Redis. Orders that customers still wait for come first: after a pause there may be so many others that
    /// these would get too old behind them, and creation would never catch up.
    ///
    /// # Errors
    /// When a store is away; what was written stays, and the whole batch may be handed in again.
    pub async fn create_orders(&self, batch: &[Placed]) -> Result<Vec<GivenUp>, Failure> {
        let oldest = self.now() - self.inner.config.limits.discard_after;
        let mut fresh = Vec::with_capacity(batch.len());
        let mut over = Vec::new();
        for placed in batch {
            let why = if placed.placed_at < oldest {
                Discard::Stale
            } else if placed.has_its_places() {
                fresh.push(placed.clone());
                continue;
            } else {
                Discard::UnequalPlaces
            };
            over.push((placed, why));
        }
        let mut after = self.create_fresh(&fresh).await?;
        after.add(self.discard_all(&over).await?);
        self.give_all_back(after).await
    }

    async fn create_fresh<'a>(&self, fresh: &'a [Placed]) -> Result<FollowUp<'a>, Failure> {
        if !fresh.is_empty() {
            fault::point(Point::CreateBeforeInsert);
        }
        let mut after = FollowUp::default();
        let mut waiting = vec![fresh];
        while let Some(part) = waiting.pop() {
            if let [placed] = part {
                after.add(self.create_one(placed).await?);
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
        Ok(after)
    }

    /// Discards orders side by side, and with half of the database's connections at most: customers need the others.
    async fn discard_all<'a>(
        &self,
        over: &[(&'a Placed, Discard)],
    ) -> Result<FollowUp<'a>, Failure> {
        let connections = self.inner.config.stores.database_connections_max / 2;
        let at_once = usize::try_from(connections).unwrap_or(AT_ONCE_MAX);
        // A message that came twice is about one row.
        let mut begun = HashSet::new();
        let work = over
            .iter()
            .filter(|(placed, _)| begun.insert(placed.order_no))
            .map(|(placed, why)| self.discard(placed, *why));
        let mut after = FollowUp::default();
        for discarded in side_by_side(work.collect(), at_once.clamp(1, AT_ONCE_MAX)).await? {
            after.add(discarded);
        }
        Ok(after)
    }

    /// Gives places back side by side; all that is to be told as given up.
    async fn give_all_back(&self, after: FollowUp<'_>) -> Result<Vec<GivenUp>, Failure> {
        // A message that came twice needs that once.
        let mut begun = HashSet::new();
        let work = after
            .give_back
            .into_iter()
            .filter(|placed| begun.insert(placed.order_no))
            .map(|placed| self.give_back(placed));
        let stuck = side_by_side(work.collect(), AT_ONCE_MAX).await?;
        let mut given_up = after.given_up;
        given_up.extend(stuck.into_iter().flatten());
        Ok(given_up)
    }

    async fn create_one<'a>(&self, placed: &'a Placed) -> Result<FollowUp<'a>, Failure> {
        match self.inner.db.insert_order(placed).await {
            Ok(Written::Pending) => {
                self.created(std::slice::from_ref(placed)).await;
                Ok(FollowUp::default())
            }
            Ok(Written::SeatClaimed) => self.discard(placed, Discard::SeatClaimed).await,
            Ok(Written::NoPlaces) => self.discard(placed, Discard::ZoneFull).await,
            Ok(Written::Exists) => self.repeat_follow_up(placed).await,
            Err(error) if error.is_refusal() => self.write_off(placed, &error).await,
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
    async fn discard<'a>(&self, placed: &'a Placed, why: Discard) -> Result<FollowUp<'a>, Failure> {
        let now = self.now();
        let detail = format!("placed {} ms ago", (now - placed.placed_at).0);
        let db = &self.inner.db;
        match db.insert_discarded(placed, why.word(), &detail, now).await {
            Ok(true) => {
                discarded(placed, why.word());
                Ok(FollowUp {
                    give_back: vec![placed],
                    given_up: Vec::new(),
                })
            }
            Ok(false) => self.repeat_follow_up(placed).await,
            Err(error) if error.is_refusal() => self.write_off(placed, &error).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Writes off an order that the database refuses as it is: a row without its tickets takes its number, which always can
    /// be written.
    async fn write_off<'a>(
        &self,
        placed: &'a Placed,
        error: &DbError,
    ) -> Result<FollowUp<'a>, Failure> {
        let mut after = FollowUp::default();
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
        Ok(after)
    }

    /// An order that has a row already: a repeated message. If it was given up, its places must go back, perhaps again, and
    /// its message is a dead letter, of which nobody knows whether it was written.
    async fn repeat_follow_up<'a>(&self, placed: &'a Placed) -> Result<FollowUp<'a>, Failure> {
        let mut after = FollowUp::default();
        let order_no = placed.order_no;
        let order = self.inner.db.order(order_no).await?;
        if order.is_none_or(|order| order.status != OrderStatus::Discarded) {
            // Whoever wrote it may have died before this.
            if let Err(error) = self.inner.redis.forget_order(order_no).await {
                tracing::warn!(%order_no, %error, "an order that has its row is still cached");
            }
            return Ok(after);
        }
        after.give_back.push(placed);
        if self.inner.db.is_unwritable(order_no).await? {
            let reason = "the order could not be written when this came before".to_owned();
            after.given_up.push(GivenUp { order_no, reason });
        }
        Ok(after)
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
