//! Orders as their buyers see them.

use super::{
    Failure, Ticketing,
    failure::OrTell,
    order_timeline::{refund_view, timeline},
    show_facts::ShowFacts,
    venue_clock::venue_time,
};
use crate::{
    kafka::messages::{Message, Placed, PlacedItem},
    mysql::{
        money::RefundRecord,
        orders::{ItemAttendee, ItemRecord, OrderRecord},
    },
    redis::HoldRecord,
};
use app::{
    api::orders::MySeats,
    domain::{
        catalogue::ShowStatus,
        ids::{OrderNo, SeatIndex, ShowId},
        money::Money,
        order::{CancelReason, OrderItem, OrderPage, OrderStatus, OrderView, PaymentAttempt},
        plan::SeatKind,
        refund::{RefundReason, RefundTerms},
        tax::IncludedTax,
        text::LocalText,
        time::Millis,
        user::User,
    },
    error::{AppError, Thing},
};

/// How often an order that moves while it is read is read: it moves from pending to paid to refunded at most.
const READINGS_MAX: u32 = 3;
/// How long Redis is asked before the database about an order that was placed.
const TRUSTED_FOR: Millis = Millis::seconds(2);
/// Orders on a page of the list.
const PAGE: usize = 20;

impl Ticketing {
    /// One of the user's own orders; also one that is still on its way to the database.
    ///
    /// # Errors
    /// `NotFound` when there is none or it is somebody else's.
    pub async fn own_order(&self, user: &User, order_no: OrderNo) -> Result<OrderView, AppError> {
        if let Some(placed) = self.just_placed(user, order_no).await {
            return self.creating_view(&placed).await.or_tell("read order");
        }
        let order = self.inner.db.order(order_no).await.or_tell("read order")?;
        if let Some(order) = order {
            if order.user_id != user.id {
                return Err(AppError::NotFound { what: Thing::Order });
            }
            return self.whole_view(order).await.or_tell("read order");
        }
        let placed = self.creating_order(user, order_no).await?;
        let placed = placed.ok_or(AppError::NotFound { what: Thing::Order })?;
        self.creating_view(&placed).await.or_tell("read order")
    }

    /// The user's orders with numbers below `before`, newest first.
    ///
    /// # Errors
    /// `Busy` or `Internal`.
    pub async fn own_orders(
        &self,
        user: &User,
        before: Option<OrderNo>,
    ) -> Result<OrderPage, AppError> {
        let most = u32::try_from(PAGE + 1).unwrap_or(u32::MAX);
        let mut orders = self
            .inner
            .db
            .orders_of(user.id, before, most)
            .await
            .or_tell("list orders")?;
        let more = orders.len() > PAGE;
        orders.truncate(PAGE);
        let next_before = orders.last().filter(|_| more).map(|order| order.order_no);
        Ok(OrderPage {
            orders: self.views(orders).await.or_tell("list orders")?,
            next_before,
        })
    }

    /// The user's own seats of a show.
    ///
    /// # Errors
    /// `Busy` or `Internal`.
    pub async fn own_seats(&self, user: &User, show: ShowId) -> Result<MySeats, AppError> {
        let rows = self
            .inner
            .db
            .live_seats_of(user.id, show)
            .await
            .or_tell("read own seats")?;
        let places = self
            .inner
            .db
            .live_places_of(user.id, show)
            .await
            .or_tell("read own places")?;
        let of_seats = rows
            .iter()
            .map(|(order_no, status, _)| (*order_no, *status));
        let of_places = places
            .iter()
            .map(|(order_no, status, _)| (*order_no, *status));
        let pending = of_seats
            .chain(of_places)
            .find(|(_, status)| *status == OrderStatus::Pending)
            .map(|(order_no, _)| order_no);
        let mut mine = MySeats {
            seats: rows.into_iter().map(|(.., seat)| seat).collect(),
            standing: places.iter().map(|(.., quantity)| quantity).sum(),
            pending,
        };
        if let Some((order_no, held)) = self.creating_hold(user, show).await? {
            mine.seats.extend(held.seats.iter().map(|held| held.seat));
            mine.standing += u32::try_from(held.standing.len()).unwrap_or(0);
            mine.pending = mine.pending.or(Some(order_no));
        }
        Ok(mine)
    }

    /// What the user's last order of a show holds, while only Redis knows of it.
    async fn creating_hold(
        &self,
        user: &User,
        show: ShowId,
    ) -> Result<Option<(OrderNo, HoldRecord)>, AppError> {
        let redis = &self.inner.redis;
        let last = redis.last_submission(show, user.id).await;
        let Some(order_no) = last.or_tell("read own seats")? else {
            return Ok(None);
        };
        let held = redis.hold_record(show, order_no).await;
        let Some(held) = held.or_tell("read own seats")? else {
            return Ok(None);
        };
        // Once there is a row it decides, also when the order is over and its seats are still to be given back.
        let row = self.inner.db.order(order_no).await;
        Ok(match row.or_tell("read own seats")? {
            Some(_) => None,
            None => Some((order_no, held)),
        })
    }

    /// An order that was placed a moment ago and has no row as far as Redis knows: those who wait for it do not ask the database.
    /// Whoever writes the row drops it here. Should that fail, it is not trusted for long; and never longer than the relay leaves
    /// an order alone, before which nobody but its own server sends it.
    async fn just_placed(&self, user: &User, order_no: OrderNo) -> Option<Placed> {
        let trusted = self.inner.config.limits.resend_after.min(TRUSTED_FOR);
        let since = self.now() - trusted;
        if order_no.made_at_ms() <= since.0 {
            return None;
        }
        // Without Redis the row says what there is to say.
        let cached = self.inner.redis.cached_order(order_no).await.ok()??;
        let placed = Placed::decode(cached.as_bytes()).ok()?;
        (placed.user_id == user.id && placed.placed_at > since).then_some(placed)
    }

    /// An accepted order of the user's that has no row yet.
    pub(super) async fn creating_order(
        &self,
        user: &User,
        order_no: OrderNo,
    ) -> Result<Option<Placed>, AppError> {
        let cached = self
            .inner
            .redis
            .cached_order(order_no)
            .await
            .or_tell("read order")?;
        let placed = cached.and_then(|json| Placed::decode(json.as_bytes()).ok());
        Ok(placed.filter(|placed| placed.user_id == user.id))
    }

    async fn creating_view(&self, placed: &Placed) -> Result<OrderView, Failure> {
        let order = OrderRecord {
            order_no: placed.order_no,
            user_id: placed.user_id,
            show_id: placed.show_id,
            status: if self.is_lost(placed).await? {
                OrderStatus::Discarded
            } else {
                OrderStatus::Creating
            },
            cancel_reason: None,
            amount: Money::new(placed.amount_minor, placed.currency),
            placed_at: placed.placed_at,
            expire_at: placed.expire_at,
            paid_at: None,
            closed_at: None,
            limit_counters: Vec::new(),
        };
        let items: Vec<_> = (0..).zip(&placed.items).map(creating_item).collect();
        let facts = self
            .facts(order.show_id)
            .await?
            .ok_or(Failure::Broken("order of no show"))?;
        Ok(self.view(order, &items, None, &facts))
    }

    /// An order with everything that happened to it: a fixed number of readings, whatever happened.
    async fn whole_view(&self, mut order: OrderRecord) -> Result<OrderView, Failure> {
        let (db, number) = (&self.inner.db, order.order_no);
        let mut readings = 0;
        let (items, attempt, refunds, payments) = loop {
            let items = db.items_of(&[number]).await?.remove(&number);
            let attempt = db.attempts_of(&[number]).await?.remove(&number);
            let refunds = db.refunds_of_order(number).await?;
            let payments = db.payment_history(number).await?;
            // Last, so that an order is never older than its refunds; and once more when it has moved meanwhile, so that
            // it is not newer than its payments: a page asks no more about an order that is finished.
            let now = db.order(number).await?.unwrap_or_else(|| order.clone());
            readings += 1;
            let has_moved = now.status != order.status;
            order = now;
            if !has_moved || readings == READINGS_MAX {
                break (items.unwrap_or_default(), attempt, refunds, payments);
            }
        };
        let facts = self.facts(order.show_id).await?;
        let facts = facts.ok_or(Failure::Broken("order of no show"))?;
        let zone = &facts.place.time_zone;
        let timeline = timeline(&order, &items, &payments, &refunds, zone);
        let is_withdrawn = |refund: &RefundRecord| refund.reason == RefundReason::ShowWithdrawn;
        let view = self.view(order, &items, attempt, &facts);
        Ok(OrderView {
            withdrawn: view.withdrawn || refunds.iter().any(is_withdrawn),
            refunds: refunds
                .iter()
                .map(|refund| refund_view(refund, &items, zone))
                .collect(),
            timeline,
            ..view
        })
    }

    /// Whether an accepted order without a row will never get one: it holds nothing, so Redis lost it, and it is older than
    /// any message of which an order is made. Nothing is written; the next look finds the same.
    async fn is_lost(&self, placed: &Placed) -> Result<bool, Failure> {
        let age = self.now() - placed.placed_at;
        let limits = &self.inner.config.limits;
        if age.0 <= limits.discard_after.0 + limits.lock_lease.0 {
            return Ok(false);
        }
        let (show, order_no) = (placed.show_id, placed.order_no);
        let held = self.inner.redis.hold_record(show, order_no).await?;
        Ok(held.is_none())
    }

    async fn views(&self, orders: Vec<OrderRecord>) -> Result<Vec<OrderView>, Failure> {
        let numbers: Vec<OrderNo> = orders.iter().map(|order| order.order_no).collect();
        let mut items = self.inner.db.items_of(&numbers).await?;
        let mut attempts = self.inner.db.attempts_of(&numbers).await?;
        let mut views = Vec::with_capacity(orders.len());
        for order in orders {
            let facts = self
                .facts(order.show_id)
                .await?
                .ok_or(Failure::Broken("order of no show"))?;
            let items = items.remove(&order.order_no).unwrap_or_default();
            let attempt = attempts.remove(&order.order_no);
            views.push(self.view(order, &items, attempt, &facts));
        }
        Ok(views)
    }

    fn view(
        &self,
        order: OrderRecord,
        items: &[ItemRecord],
        payment: Option<PaymentAttempt>,
        facts: &ShowFacts,
    ) -> OrderView {
        let zone = &facts.place.time_zone;
        let currency = order.amount.currency;
        OrderView {
            order_no: order.order_no,
            status: order.status,
            cancel_reason: order.cancel_reason,
            show_id: order.show_id,
            title: facts.event.summary.title.clone(),
            poster: facts.event.summary.poster.clone(),
            starts: venue_time(facts.show.starts_at, zone),
            venue: facts.place.venue.clone(),
            hall: facts.place.hall.clone(),
            city: facts.place.city.clone(),
            items: items
                .iter()
                .map(|item| OrderItem {
                    item_no: item.item_no,
                    seat: item.seat.as_ref().map(|(seat, _)| *seat),
                    label: item.seat.as_ref().map(|(_, label)| label.clone()),
                    zone: facts
                        .zone(item.zone_id)
                        .map_or_else(LocalText::default, |zone| zone.name.clone()),
                    price: Money::new(item.price_minor, currency),
                    attendee: item.attendee.as_ref().map(|person| person.name.clone()),
                    refund: item.refund.map(|refund| refund.progress),
                })
                .collect(),
            apart: are_apart(items, facts),
            total: order.amount,
            tax: IncludedTax::of(order.amount, facts.place.tax),
            placed: venue_time(order.placed_at, zone),
            expires: venue_time(order.expire_at, zone),
            now: self.now(),
            paid: order.paid_at.map(|at| venue_time(at, zone)),
            payment,
            // Its own rows tell it sooner than the show's facts, which a server keeps for seconds.
            withdrawn: facts.show.status == ShowStatus::Withdrawn
                || order.cancel_reason == Some(CancelReason::ShowWithdrawn),
            refund_terms: refund_terms(facts),
            refunds: Vec::new(),
            timeline: Vec::new(),
        }
    }
}

/// Whether seats are known not to be side by side. A wheelchair place and its companion's are beside each other, and of
/// places like these the plan does not say which belong together.
fn are_apart(items: &[ItemRecord], facts: &ShowFacts) -> bool {
    let seats: Vec<SeatIndex> = items
        .iter()
        .filter(|item| item.is_live())
        .filter_map(|item| item.seat.as_ref().map(|(seat, _)| *seat))
        .collect();
    let is_ordinary = |seat: &SeatIndex| {
        let seat = facts.plan.seats.get(seat.0 as usize);
        seat.is_some_and(|seat| matches!(seat.kind, SeatKind::Standard | SeatKind::Couple))
    };
    seats.iter().all(is_ordinary) && !facts.seat_groups.are_together(&seats)
}

/// On which terms a show takes tickets back.
fn refund_terms(facts: &ShowFacts) -> RefundTerms {
    let show = &facts.show;
    let until = show.refund.until.map(|before| show.starts_at - before);
    RefundTerms {
        until: until.map(|until| venue_time(until, &facts.place.time_zone)),
        fee_percent: show.refund.fee_percent,
    }
}

/// A ticket of an order that has no rows yet.
fn creating_item((item_no, item): (u32, &PlacedItem)) -> ItemRecord {
    ItemRecord {
        item_no,
        seat: item.seat().zip(item.label().cloned()),
        zone_id: item.zone_id,
        price_minor: item.price_minor,
        attendee: item.attendee.as_ref().map(|person| ItemAttendee {
            id: person.id,
            name: person.name.clone(),
            identity: person.identity.clone(),
        }),
        refund: None,
    }
}
