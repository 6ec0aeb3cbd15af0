//! Orders as their buyers see them.

use super::{Failure, Ticketing, failure::OrTell, show_facts::ShowFacts, venue_clock::venue_time};
use crate::{
    kafka::messages::{Message, Placed},
    mysql::orders::{ItemRecord, OrderRecord},
};
use app::{
    api::orders::MySeats,
    domain::{
        ids::{OrderNo, ShowId},
        money::Money,
        order::{OrderItem, OrderPage, OrderStatus, OrderView, PaymentAttempt},
        text::LocalText,
        user::User,
    },
    error::{AppError, Thing},
};

/// Orders on a page of the list.
const PAGE: usize = 20;

impl Ticketing {
    /// One of the user's own orders; also one that is still on its way to the database.
    ///
    /// # Errors
    /// `NotFound` when there is none or it is somebody else's.
    pub async fn own_order(&self, user: &User, order_no: OrderNo) -> Result<OrderView, AppError> {
        let order = self.inner.db.order(order_no).await.or_tell("read order")?;
        if let Some(order) = order {
            if order.user_id != user.id {
                return Err(AppError::NotFound { what: Thing::Order });
            }
            let mut views = self.views(vec![order]).await.or_tell("read order")?;
            return views.pop().ok_or(AppError::NotFound { what: Thing::Order });
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
        let pending = rows
            .iter()
            .find(|(_, status, _)| *status == OrderStatus::Pending)
            .map(|(order_no, ..)| *order_no);
        Ok(MySeats {
            seats: rows.into_iter().map(|(.., seat)| seat).collect(),
            pending,
        })
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
            status: OrderStatus::Creating,
            cancel_reason: None,
            amount: Money::new(placed.amount_minor, placed.currency),
            placed_at: placed.placed_at,
            expire_at: placed.expire_at,
            paid_at: None,
            closed_at: None,
            limit_counters: Vec::new(),
        };
        let items = placed.seats.iter().map(|seat| ItemRecord {
            seat: seat.seat,
            zone_id: seat.zone_id,
            price_minor: seat.price_minor,
            label: seat.label.clone(),
        });
        let items: Vec<_> = items.collect();
        let facts = self
            .facts(order.show_id)
            .await?
            .ok_or(Failure::Broken("order of no show"))?;
        Ok(self.view(order, &items, None, &facts))
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
                    seat: item.seat,
                    label: item.label.clone(),
                    zone: facts
                        .zone(item.zone_id)
                        .map_or_else(LocalText::default, |zone| zone.name.clone()),
                    price: Money::new(item.price_minor, currency),
                })
                .collect(),
            total: order.amount,
            placed: venue_time(order.placed_at, zone),
            expires: venue_time(order.expire_at, zone),
            now: self.now(),
            paid: order.paid_at.map(|at| venue_time(at, zone)),
            payment,
        }
    }
}
