//! Giving Redis a show, when it is sold for the first time or when Redis lost it: everything is read from the database.

use super::{Failure, Ticketing, show_facts::ShowFacts};
use crate::{
    fault::{self, Point},
    mysql::{
        orders::{ItemRecord, OrderRecord},
        sale::Sale,
    },
    redis::{
        HeldSeat, HoldRecord, RedisError, attendee_field,
        scripts::{LoadReply, LoadShow, LoadedSeat, ShowMeta},
    },
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    order::OrderStatus,
    seat::SeatState,
    time::{Millis, Timestamp},
};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Seats of tickets, with their zones and the counters of the persons they are for.
#[must_use]
pub fn zoned_seats(items: &[ItemRecord]) -> Vec<HeldSeat> {
    items
        .iter()
        .filter_map(|item| {
            let (seat, _) = item.seat.as_ref()?;
            Some(HeldSeat {
                seat: *seat,
                zone: item.zone_id,
                attendee: attendee_counter(item),
            })
        })
        .collect()
}

/// Tickets without a seat, each the counter of the person it is for.
#[must_use]
pub fn standing_tickets(items: &[ItemRecord]) -> Vec<Option<String>> {
    items
        .iter()
        .filter(|item| item.seat.is_none())
        .map(attendee_counter)
        .collect()
}

fn attendee_counter(item: &ItemRecord) -> Option<String> {
    item.attendee
        .as_ref()
        .map(|attendee| attendee_field(&attendee.identity))
}

/// What an order counts, by counter.
fn count_tickets(order: &OrderRecord, items: &[ItemRecord], bought: &mut HashMap<String, u32>) {
    for item in items.iter().filter(|item| item.is_live()) {
        for counter in order
            .limit_counters
            .iter()
            .cloned()
            .chain(attendee_counter(item))
        {
            *bought.entry(counter).or_default() += 1;
        }
    }
}

/// What the relay's round and Kafka's acknowledgement may take beyond the age at which orders are sent again.
const SENT_GRACE: Duration = Duration::from_secs(2);
/// How often it is looked whether Kafka has everything.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What becomes of accepted orders that Kafka does not have when a show is read again: nobody else knows of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// The show is read once they are sent.
    Await,
    /// They are lost, and their buyers are told so.
    Lose,
}

/// Why a show was not read again.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// Accepted orders would be lost.
    #[error(
        "{0} accepted order(s) are not in Kafka yet and would be lost: is a server running, and does Kafka answer?"
    )]
    Unsent(u64),
    /// A store failed.
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<RedisError> for RebuildError {
    fn from(error: RedisError) -> Self {
        Self::Failure(error.into())
    }
}

impl Ticketing {
    /// Drops what Redis has of a show and reads it from the database again, once Kafka has every order that was accepted and
    /// what was on its way has its rows. The sale goes on by itself.
    ///
    /// # Errors
    /// [`RebuildError::Unsent`], with nothing touched, when orders are waited for in vain; or when a store fails.
    pub async fn rebuild_show(&self, show: ShowId, unsent: Unsent) -> Result<(), RebuildError> {
        if unsent == Unsent::Await {
            self.await_sent(show).await?;
        }
        self.inner.redis.forget_show(show).await?;
        fault::point(Point::RebuildAfterForgetting);
        Ok(self.reload_zones(show).await?)
    }

    /// Waits until Kafka has all orders that were accepted before. Later ones are on their way from servers that live: what these
    /// need is not read from Redis.
    async fn await_sent(&self, show: ShowId) -> Result<(), RebuildError> {
        let before = self.now() + Millis(1);
        let resend_after = self.inner.config.limits.resend_after;
        let resend_after = u64::try_from(resend_after.0).unwrap_or(0);
        let until = Instant::now() + Duration::from_millis(resend_after) + SENT_GRACE;
        loop {
            let unsent = self.inner.redis.unsent_count(show, before).await?;
            if unsent == 0 {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(RebuildError::Unsent(unsent));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Reads a show from the database and writes to Redis what is not there of it: the show, and pieces of its standing
    /// zones. Called by one loader at a time, once what was on its way is written: see `loading.rs`.
    pub(super) async fn read_and_load(&self, id: ShowId) -> Result<LoadReply, Failure> {
        let facts = self
            .facts(id)
            .await?
            .ok_or(Failure::Broken("no such show"))?;
        let present = self.inner.redis.show_meta(id).await?;
        let epoch = match &present {
            Some(meta) => meta.epoch,
            None => self.inner.db.next_epoch(id, epoch(self.now())).await?,
        };
        let sale = self.inner.db.sale_of_show(id).await?;
        let sale = sale.ok_or(Failure::Broken("no such show"))?;
        fault::point(Point::RebuildBeforeLoad);
        // Listed first: whoever goes through all loaded shows, and whoever unloads them, misses none.
        self.inner.redis.note_loaded(id).await?;
        fault::point(Point::RebuildAfterListing);
        // Pieces first: whoever finds the show finds its places.
        let pieces = self.load_pieces(&sale).await?;
        if present.is_some() {
            tracing::info!(
                show_id = id.0,
                pieces,
                "pieces of standing zones loaded into Redis"
            );
            return Ok(LoadReply::Loaded);
        }
        let reply = self
            .inner
            .redis
            .load(&load_of(&facts, &sale, epoch))
            .await?;
        fault::point(Point::RebuildAfterLoad);
        if reply == LoadReply::Loaded {
            metrics::counter!("seatflow_shows_loaded_total").increment(1);
            tracing::info!(
                show_id = id.0,
                live_orders = sale.orders.len(),
                "show loaded into Redis"
            );
        }
        // Whoever changed the terms while they were being loaded found no show to tell.
        if self.terms(id).await?.version != sale.terms.version {
            self.follow_terms(id).await?;
        }
        Ok(reply)
    }
}

fn load_of(facts: &ShowFacts, sale: &Sale, epoch: u32) -> LoadShow {
    let show = &facts.show;
    let seats: Vec<LoadedSeat> = sale
        .taken
        .iter()
        .map(|taken| LoadedSeat {
            seat: taken.seat,
            state: taken.state,
            order_no: taken.order_no,
        })
        .chain(unsold_seats(facts))
        .collect();
    let mut bought: HashMap<String, u32> = HashMap::new();
    let mut standing = Vec::new();
    for order in &sale.orders {
        let Some(items) = sale.items.get(&order.order_no) else {
            continue;
        };
        count_tickets(order, items, &mut bought);
        let live: Vec<ItemRecord> = items
            .iter()
            .filter(|item| item.is_live())
            .cloned()
            .collect();
        let tickets = standing_tickets(&live);
        if !tickets.is_empty() {
            standing.push((order.order_no, tickets));
        }
    }
    let terms = &sale.terms.terms;
    LoadShow {
        show: show.id,
        meta: ShowMeta {
            epoch,
            status: terms.status,
            sale_start: terms.sale_start,
            sale_end: terms.sale_end,
            limit: terms.limit,
            level: terms.level,
            seats: show.seats_total,
        },
        zones: remaining(facts, &seats),
        seats,
        bought: bought.into_iter().collect(),
        holds: sale
            .orders
            .iter()
            .filter_map(|order| hold_record(order, &sale.items))
            .collect(),
        standing,
        replaces: None,
    }
}

/// Seats of categories that have no price: they can't be sold.
pub(super) fn unsold_seats(facts: &ShowFacts) -> impl Iterator<Item = LoadedSeat> + '_ {
    (0..facts.show.seats_total)
        .map(SeatIndex)
        .filter(|seat| facts.zone_of(*seat).is_none())
        .map(|seat| LoadedSeat {
            seat,
            state: SeatState::Blocked,
            order_no: None,
        })
}

/// What each zone has left: its seats but those that are taken.
fn remaining(facts: &ShowFacts, taken: &[LoadedSeat]) -> Vec<(ZoneId, u32)> {
    let mut left: HashMap<ZoneId, u32> = facts
        .zones
        .iter()
        // A standing zone is counted in its pieces.
        .filter(|zone| zone.standing.is_none())
        .map(|zone| (zone.id, zone.seats_total))
        .collect();
    for zone in taken.iter().filter_map(|taken| facts.zone_of(taken.seat)) {
        if let Some(count) = left.get_mut(&zone.id) {
            *count = count.saturating_sub(1);
        }
    }
    left.into_iter().collect()
}

fn hold_record(
    order: &OrderRecord,
    items: &HashMap<OrderNo, Vec<ItemRecord>>,
) -> Option<(OrderNo, HoldRecord)> {
    if order.status != OrderStatus::Pending {
        return None;
    }
    Some((
        order.order_no,
        record_of(order, items.get(&order.order_no)?),
    ))
}

/// What a pending order holds, as its rows say.
#[must_use]
pub fn record_of(order: &OrderRecord, items: &[ItemRecord]) -> HoldRecord {
    HoldRecord {
        user: order.user_id,
        created: order.placed_at,
        seats: zoned_seats(items),
        standing: standing_tickets(items),
        limits: order.limit_counters.clone(),
        // The order has its row; nothing needs its message any more.
        message: String::new(),
    }
}

/// The least number of a new life of a show's keys: seconds since 1970, which fit until 2106.
fn epoch(now: Timestamp) -> u32 {
    u32::try_from(now.0 / 1000).unwrap_or(u32::MAX)
}
