//! Giving Redis a show, when it is sold for the first time or when Redis lost it: everything is read from the database.

use super::{Failure, Ticketing, show_facts::ShowFacts};
use crate::{
    mysql::orders::{ItemRecord, OrderRecord},
    redis::{
        HoldRecord,
        scripts::{LoadReply, LoadShow, LoadedSeat, ShowMeta},
    },
};
use app::domain::{
    ids::{OrderNo, SeatIndex, ShowId, ZoneId},
    order::OrderStatus,
    seat::SeatState,
    time::Timestamp,
};
use std::collections::HashMap;

/// Seats of items with their zones.
#[must_use]
pub fn zoned_seats(items: &[ItemRecord]) -> Vec<(SeatIndex, ZoneId)> {
    items.iter().map(|item| (item.seat, item.zone_id)).collect()
}

impl Ticketing {
    /// Loads a show into Redis if it is not there. Several servers may do so at once: the first one's reading stands.
    ///
    /// # Errors
    /// When a store fails or the show does not exist.
    pub async fn load_show(&self, id: ShowId) -> Result<LoadReply, Failure> {
        let facts = self
            .facts(id)
            .await?
            .ok_or(Failure::Broken("no such show"))?;
        let orders = self.inner.db.live_orders_of_show(id).await?;
        let numbers: Vec<OrderNo> = orders.iter().map(|order| order.order_no).collect();
        let mut items = HashMap::new();
        for part in numbers.chunks(500) {
            items.extend(self.inner.db.items_of(part).await?);
        }
        let load = self.load_of(&facts, &orders, &items).await?;
        let reply = self.inner.redis.load(&load).await?;
        self.inner.redis.note_loaded(id).await?;
        if reply == LoadReply::Loaded {
            metrics::counter!("seatflow_shows_loaded_total").increment(1);
            tracing::info!(
                show_id = id.0,
                live_orders = orders.len(),
                "show loaded into Redis"
            );
        }
        Ok(reply)
    }

    async fn load_of(
        &self,
        facts: &ShowFacts,
        orders: &[OrderRecord],
        items: &HashMap<OrderNo, Vec<ItemRecord>>,
    ) -> Result<LoadShow, Failure> {
        let show = &facts.show;
        let seats: Vec<LoadedSeat> = self
            .inner
            .db
            .taken_seats(show.id)
            .await?
            .into_iter()
            .map(|taken| LoadedSeat {
                seat: taken.seat,
                state: taken.state,
                order_no: taken.order_no,
            })
            .chain(unsold_seats(facts))
            .collect();
        let mut bought: HashMap<String, u32> = HashMap::new();
        for order in orders {
            let count = items.get(&order.order_no).map_or(0, Vec::len);
            for counter in &order.limit_counters {
                *bought.entry(counter.clone()).or_default() += u32::try_from(count).unwrap_or(0);
            }
        }
        Ok(LoadShow {
            show: show.id,
            meta: ShowMeta {
                epoch: epoch(self.now()),
                status: show.status,
                sale_start: show.sale_start,
                sale_end: show.sale_end,
                limit: show.limit,
                level: show.level,
                seats: show.seats_total,
            },
            zones: remaining(facts, &seats),
            seats,
            bought: bought.into_iter().collect(),
            holds: orders
                .iter()
                .filter_map(|order| hold_record(order, items))
                .collect(),
            replaces: None,
        })
    }
}

/// Seats of categories that have no price: they can't be sold.
fn unsold_seats(facts: &ShowFacts) -> impl Iterator<Item = LoadedSeat> + '_ {
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
    let record = HoldRecord {
        user: order.user_id,
        created: order.placed_at,
        seats: zoned_seats(items.get(&order.order_no)?),
        limits: order.limit_counters.clone(),
        // The order has its row; nothing needs its message any more.
        message: String::new(),
    };
    Some((order.order_no, record))
}

/// Names a life of a show's keys: seconds since 1970, which fit until 2106.
fn epoch(now: Timestamp) -> u32 {
    u32::try_from(now.0 / 1000).unwrap_or(u32::MAX)
}
