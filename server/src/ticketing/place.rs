//! Placing an order: seats are held in one script, the order's message goes to Kafka, and the customer has a number.
//!
//! Kafka is never waited for. What it has not acknowledged stays in `unsent`, and the relay sends it again.

use super::{Failure, Ticketing, failure::OrTell, show_facts::ShowFacts};
use crate::{
    kafka::{
        TraceParent,
        messages::{Placed as PlacedMessage, PlacedSeat},
    },
    redis::{
        limit_field,
        scripts::{HoldCommand, HoldReply},
    },
};
use app::{
    domain::{
        catalogue::ShowStatus,
        hold::{Choice, HoldRequest, LimitedBy, Placed, Refusal, checked_seats},
        ids::{OrderNo, SeatIndex, ShowId},
        money::Money,
        order::OrderStatus,
        user::User,
    },
    error::{AppError, Field, Thing},
    ports::Visitor,
};
use std::sync::Arc;

/// The gateway through which orders are paid.
pub const CHANNEL: &str = "simulated";

impl Ticketing {
    /// Holds the seats and places the order, all or nothing.
    ///
    /// # Errors
    /// `NotFound`, `Invalid`, `Refused` with the reason, `Busy`; nothing is held then, or what may be held leads to an
    /// order that the same idempotency key finds again.
    pub async fn place(
        &self,
        visitor: &Visitor,
        user: &User,
        request: HoldRequest,
    ) -> Result<Placed, AppError> {
        let outcome = self.try_place(visitor, user, request).await;
        let word = match &outcome {
            Ok(_) => "held",
            Err(AppError::Refused { refusal }) => refusal.word(),
            Err(_) => "error",
        };
        metrics::counter!("seatflow_holds_total", "result" => word).increment(1);
        outcome
    }

    async fn try_place(
        &self,
        visitor: &Visitor,
        user: &User,
        request: HoldRequest,
    ) -> Result<Placed, AppError> {
        if !request.has_valid_key() {
            return Err(AppError::Invalid {
                field: Field::IdempotencyKey,
            });
        }
        let facts = self.offered_show(request.show_id).await?;
        let order_no = self.inner.numbers.next(user.id).ok_or(AppError::Busy {
            retry_after_ms: 1_000,
        })?;
        let wish = Wish {
            user,
            visitor,
            facts: &facts,
            order_no,
            key: &request.idempotency_key,
        };
        let reply = match &request.choice {
            Choice::Seats(seats) => {
                let seats = checked_seats(seats, facts.show.seats_total)?;
                self.hold_seats(&wish, &seats, &fingerprint(&seats)).await?
            }
            Choice::Best { zone, quantity } => self.hold_best(&wish, *zone, *quantity).await?,
        };
        match reply {
            HoldReply::Held { .. } => Ok(Placed { order_no }),
            HoldReply::Repeated(order_no) => Ok(Placed { order_no }),
            HoldReply::Refused(refusal) => Err(refusal.into()),
            HoldReply::Rebuild => Err(Refusal::Rebuilding.into()),
        }
    }

    /// Holds these very seats, and makes the order known when they are held.
    pub(super) async fn hold_seats(
        &self,
        wish: &Wish<'_>,
        seats: &[SeatIndex],
        fingerprint: &str,
    ) -> Result<HoldReply, AppError> {
        let message = self.message(wish, seats)?;
        let command = command(&message, wish, fingerprint);
        let reply = self.hold(&command).await.or_tell("hold seats")?;
        if matches!(reply, HoldReply::Held { .. }) {
            self.announce(&message).await;
        }
        Ok(reply)
    }

    /// A show that buyers may see; drafts look like shows that do not exist.
    pub(super) async fn offered_show(&self, id: ShowId) -> Result<Arc<ShowFacts>, AppError> {
        let facts = self.facts(id).await.or_tell("read show")?;
        facts
            .filter(|facts| facts.show.status != ShowStatus::Draft)
            .ok_or(AppError::NotFound { what: Thing::Show })
    }

    pub(super) async fn facts(&self, id: ShowId) -> Result<Option<Arc<ShowFacts>>, Failure> {
        self.inner.show_facts.get(id).await.map_err(|error| {
            // The error is shared by all who waited for this reading; the kind is what matters to each.
            match &*error {
                crate::mysql::DbError::Busy => Failure::Db(crate::mysql::DbError::Busy),
                other => {
                    tracing::error!(error = %other, cause = ?other, show_id = id.0, "show not read");
                    Failure::Broken("show not read")
                }
            }
        })
    }

    fn message(&self, wish: &Wish<'_>, seats: &[SeatIndex]) -> Result<PlacedMessage, AppError> {
        let Wish {
            user,
            visitor,
            facts,
            order_no,
            ..
        } = *wish;
        let mut placed = Vec::with_capacity(seats.len());
        let mut prices = Vec::with_capacity(seats.len());
        for &seat in seats {
            // A seat whose category is not priced is not for sale.
            let (Some(zone), Some(label)) = (facts.zone_of(seat), facts.label_of(seat)) else {
                return Err(Refusal::SeatsTaken { seats: vec![seat] }.into());
            };
            prices.push(zone.price);
            let price_minor = zone.price.minor;
            placed.push(PlacedSeat {
                seat,
                zone_id: zone.id,
                price_minor,
                label,
            });
        }
        let currency = prices.first().map(|price| price.currency);
        let currency = currency.ok_or(AppError::from(Refusal::NoSeats))?;
        let total = Money::sum(currency, prices)
            .map_err(|_| Failure::Broken("prices do not add up").into_app_error("hold seats"))?;
        let now = self.now();
        Ok(PlacedMessage {
            order_no,
            user_id: user.id,
            show_id: facts.show.id,
            seats: placed,
            currency,
            amount_minor: total.minor,
            channel: CHANNEL.to_owned(),
            limits: limits(user, visitor)
                .iter()
                .map(|(by, value)| limit_field(*by, value))
                .collect(),
            placed_at: now,
            expire_at: now + facts.show.hold_for,
        })
    }

    /// Runs the script; loads the show first when Redis does not have it, and asks again when the answer was lost.
    async fn hold(&self, command: &HoldCommand) -> Result<HoldReply, Failure> {
        let mut reply = self.inner.redis.hold(command).await;
        if reply
            .as_ref()
            .is_err_and(crate::redis::RedisError::may_have_run)
        {
            reply = self.inner.redis.hold(command).await;
        }
        if !matches!(reply, Ok(HoldReply::Rebuild)) {
            return Ok(reply?);
        }
        self.load_show(command.show).await?;
        Ok(self.inner.redis.hold(command).await?)
    }

    /// Makes the order known to readers and to Kafka. Nothing here can fail the order: the relay makes up for it.
    async fn announce(&self, message: &PlacedMessage) {
        let json = encoded(message);
        let cached = self
            .inner
            .redis
            .cache_order(message.order_no, OrderStatus::Creating, &json)
            .await;
        if let Err(error) = cached {
            tracing::warn!(order_no = %message.order_no, %error, "order not cached");
        }
        self.send(message);
    }

    /// Sends an order's message; its acknowledgement takes it off the list of unsent orders.
    pub(super) fn send(&self, message: &PlacedMessage) {
        let (order_no, show) = (message.order_no, message.show_id);
        let delivery = match self
            .inner
            .producer
            .send(message, Some(TraceParent::random()))
        {
            Ok(delivery) => delivery,
            Err(error) => {
                tracing::warn!(%order_no, %error, "order not sent, the relay will");
                return;
            }
        };
        let redis = self.inner.redis.clone();
        tokio::spawn(async move {
            if let Err(error) = delivery.await {
                tracing::warn!(%order_no, %error, "order perhaps not sent, the relay will");
                return;
            }
            if let Err(error) = redis.acknowledge_sent(show, order_no).await {
                tracing::warn!(%order_no, %error, "order sent but still listed, the relay sends it again");
            }
        });
    }
}

/// What an order counts for: its account, its phone and its device.
fn limits(user: &User, visitor: &Visitor) -> Vec<(LimitedBy, String)> {
    vec![
        (LimitedBy::User, user.id.to_string()),
        (LimitedBy::Device, visitor.device.clone()),
    ]
}

/// Who wants to buy, for which show, under which number.
pub(super) struct Wish<'a> {
    pub user: &'a User,
    pub visitor: &'a Visitor,
    pub facts: &'a ShowFacts,
    pub order_no: OrderNo,
    pub key: &'a str,
}

/// Names chosen seats, for the double-submit guard.
fn fingerprint(seats: &[SeatIndex]) -> String {
    let numbers: Vec<String> = seats.iter().map(ToString::to_string).collect();
    numbers.join(".")
}

fn command(message: &PlacedMessage, wish: &Wish<'_>, fingerprint: &str) -> HoldCommand {
    HoldCommand {
        show: message.show_id,
        order_no: message.order_no,
        user: wish.user.id,
        level: wish.user.level,
        now: message.placed_at,
        seats: message
            .seats
            .iter()
            .map(|seat| (seat.seat, seat.zone_id))
            .collect(),
        limits: limits(wish.user, wish.visitor),
        idempotency_key: wish.key.to_owned(),
        fingerprint: fingerprint.to_owned(),
        message: encoded(message),
    }
}

/// A message as text; its encoding is JSON.
fn encoded(message: &PlacedMessage) -> String {
    use crate::kafka::messages::Message;
    String::from_utf8(message.encode()).unwrap_or_default()
}
