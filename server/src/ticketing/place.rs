//! Placing an order: seats are held in one script, the order's message goes to Kafka, and the customer has a number.
//!
//! Kafka is never waited for. What it has not acknowledged stays in `unsent`, and the relay sends it again.

use super::{Failure, Ticketing, failure::OrTell, show_facts::ShowFacts};
use crate::{
    fault::{self, Point},
    kafka::messages::{Place, Placed as PlacedMessage, PlacedAttendee, PlacedItem},
    redis::{
        HeldSeat, attendee_field, limit_field,
        scripts::{HoldCommand, HoldReply},
    },
};
use app::{
    domain::{
        catalogue::ShowStatus,
        hold::{Choice, HoldRequest, LimitedBy, Placed, Refusal, checked_quantity, checked_seats},
        ids::{OrderNo, SeatIndex, ShowId},
        money::Money,
        user::User,
    },
    error::{AppError, Field, Thing},
    ports::Visitor,
};
use std::sync::Arc;

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
        self.refuse_blocked(visitor, user).await?;
        let facts = self.offered_show(request.show_id).await?;
        let order_no = self.inner.numbers.next(user.id).ok_or(AppError::Busy {
            retry_after_ms: 1_000,
        })?;
        let attendees = self.attendees_for(user, &facts, &request).await?;
        let wish = Wish {
            user,
            visitor,
            facts: &facts,
            order_no,
            attendees: &attendees,
            key: &request.idempotency_key,
        };
        let reply = match &request.choice {
            Choice::Seats(seats) => {
                let seats = checked_seats(seats, facts.show.seats_total)?;
                self.hold_seats(&wish, &seats, &fingerprint(&seats)).await?
            }
            Choice::Best { zone, quantity } => match facts.standing(*zone) {
                Some(places) => self.hold_places(&wish, places, *quantity).await?,
                None => self.hold_best(&wish, *zone, *quantity).await?,
            },
        };
        match reply {
            HoldReply::Held { .. } => Ok(Placed { order_no }),
            HoldReply::Repeated(earlier) => self.repeated(&wish, earlier).await,
            HoldReply::LimitReached {
                counter,
                limit,
                have,
            } => Err(limit_refusal(&wish, &counter, limit, have)),
            HoldReply::Refused(refusal) => Err(refusal.into()),
            HoldReply::Rebuild => Err(Refusal::Rebuilding.into()),
        }
    }

    /// Whom the tickets of a wish are for; nobody where the show does not ask for it.
    async fn attendees_for(
        &self,
        user: &User,
        facts: &ShowFacts,
        request: &HoldRequest,
    ) -> Result<Vec<PlacedAttendee>, AppError> {
        if !facts.show.attendees_required {
            return Ok(Vec::new());
        }
        let tickets = match &request.choice {
            Choice::Seats(seats) => checked_seats(seats, facts.show.seats_total)?.len(),
            Choice::Best { quantity, .. } => {
                usize::try_from(checked_quantity(*quantity)?).unwrap_or(usize::MAX)
            }
        };
        self.named_attendees(user, &request.attendees, tickets)
            .await
    }

    /// Holds these very seats, and makes the order known when they are held.
    pub(super) async fn hold_seats(
        &self,
        wish: &Wish<'_>,
        seats: &[SeatIndex],
        fingerprint: &str,
    ) -> Result<HoldReply, AppError> {
        let mut message = self.message(wish, seats)?;
        let mut command = command(&message, wish, fingerprint);
        fault::point(Point::PlaceBeforeHold);
        let reply = self.hold(&mut message, &mut command).await;
        let reply = reply.or_tell("hold seats")?;
        if is_held(&reply, wish.order_no) {
            fault::point(Point::PlaceAfterHold);
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
        let facts = wish.facts;
        let mut items = Vec::with_capacity(seats.len());
        let mut prices = Vec::with_capacity(seats.len());
        for (place, &seat) in seats.iter().enumerate() {
            // A seat whose category is not priced is not for sale.
            let (Some(zone), Some(label)) = (facts.zone_of(seat), facts.label_of(seat)) else {
                return Err(Refusal::SeatsTaken { seats: vec![seat] }.into());
            };
            prices.push(zone.price);
            items.push(PlacedItem {
                zone_id: zone.id,
                price_minor: zone.price.minor,
                place: Place::Seat { seat, label },
                attendee: wish.attendees.get(place).cloned(),
            });
        }
        self.message_of(wish, items, prices)
    }

    /// The whole message of an order of these tickets, which cost so much each.
    pub(super) fn message_of(
        &self,
        wish: &Wish<'_>,
        items: Vec<PlacedItem>,
        prices: Vec<Money>,
    ) -> Result<PlacedMessage, AppError> {
        let Wish {
            user,
            visitor,
            facts,
            order_no,
            ..
        } = *wish;
        let currency = prices.first().map(|price| price.currency);
        let currency = currency.ok_or(AppError::from(Refusal::NoSeats))?;
        if let Some(free) = items.iter().find(|item| item.price_minor < 1) {
            let zone = free.zone_id;
            return Err(Refusal::ZoneNotPriced { zone }.into());
        }
        let total = Money::sum(currency, prices)
            .map_err(|_| Failure::Broken("prices do not add up").into_app_error("hold seats"))?;
        let now = self.now();
        Ok(PlacedMessage {
            order_no,
            user_id: user.id,
            show_id: facts.show.id,
            items,
            pieces: Vec::new(),
            currency,
            amount_minor: total.minor,
            channel: self.inner.channels.for_new_orders().name().to_owned(),
            limits: limits(user, visitor)
                .iter()
                .map(|(by, value)| limit_field(*by, value))
                .collect(),
            placed_at: now,
            expire_at: now + facts.show.hold_for,
        })
    }

    /// Runs the script; loads the show first when Redis does not have it, and asks again when the answer was lost.
    pub(super) async fn hold(
        &self,
        message: &mut PlacedMessage,
        command: &mut HoldCommand,
    ) -> Result<HoldReply, Failure> {
        let mut reply = self.inner.redis.hold(command).await;
        if let Err(error) = &reply
            && error.may_have_run()
        {
            // What may have run may have run whatever becomes of the second call, unless that one is answered.
            let again = self.inner.redis.hold(command).await;
            if again.is_ok() {
                reply = again;
            }
        }
        if !matches!(reply, Ok(HoldReply::Rebuild)) {
            return Ok(reply?);
        }
        // Loading a show of which nothing is sold any more would be work that anybody could cause.
        if let Some(facts) = self.facts(command.show).await?
            && let Some(refusal) = self.closed_for_good(&facts.show)
        {
            let earlier = self.earlier(command).await?;
            return Ok(earlier.unwrap_or(HoldReply::Refused(refusal)));
        }
        match self.load_show(command.show).await {
            Ok(_) => {
                self.stamp(message, command);
                Ok(self.inner.redis.hold(command).await?)
            }
            // The buyer comes back in a moment; loading goes on meanwhile.
            Err(Failure::Rebuilding) => Ok(HoldReply::Rebuild),
            Err(error) => Err(error),
        }
    }

    /// Lets an order begin now. What waited before it was held, for its show to be loaded or for places, would otherwise reach
    /// its consumer as a message that is too late.
    pub(super) fn stamp(&self, message: &mut PlacedMessage, command: &mut HoldCommand) {
        let hold_for = message.expire_at - message.placed_at;
        message.placed_at = self.now();
        message.expire_at = message.placed_at + hold_for;
        command.now = message.placed_at;
        command.message = encoded(message);
    }

    /// The same submission once more leads to the order that it led to. Another one for the same seats is told of the order
    /// that has them: its buyer may not know that there is one.
    async fn repeated(&self, wish: &Wish<'_>, earlier: OrderNo) -> Result<Placed, AppError> {
        if earlier != wish.order_no {
            let own = self
                .inner
                .redis
                .submitted_order(wish.facts.show.id, wish.user.id, wish.key);
            if own.await.or_tell("hold seats")? != Some(earlier) {
                return Err(Refusal::AlreadyPlaced { order_no: earlier }.into());
            }
            self.show_unsent(wish.facts.show.id, earlier).await;
        }
        Ok(Placed { order_no: earlier })
    }
}

/// Whether this very order is held: by this call of the script, or by an earlier one whose answer was lost.
pub(super) fn is_held(reply: &HoldReply, order_no: OrderNo) -> bool {
    match reply {
        HoldReply::Held { .. } => true,
        HoldReply::Repeated(held) => *held == order_no,
        _ => false,
    }
}

/// What an order counts for: its account, its phone and its device.
fn limits(user: &User, visitor: &Visitor) -> Vec<(LimitedBy, String)> {
    vec![
        (LimitedBy::User, user.id.to_string()),
        (LimitedBy::Phone, visitor.phone.clone()),
        (LimitedBy::Device, visitor.device.clone()),
    ]
}

/// Who wants to buy, for which show, under which number.
pub(super) struct Wish<'a> {
    pub user: &'a User,
    pub visitor: &'a Visitor,
    pub facts: &'a ShowFacts,
    pub order_no: OrderNo,
    /// Whom the tickets are for, in their order; empty where the show does not ask for it.
    pub attendees: &'a [PlacedAttendee],
    pub key: &'a str,
}

/// Names the counter that would rise too high, and whose it is.
fn limit_refusal(wish: &Wish<'_>, counter: &str, limit: u32, have: u32) -> AppError {
    let kind = counter.split(':').next().unwrap_or_default();
    let attendee = wish
        .attendees
        .iter()
        .find(|attendee| attendee_field(&attendee.identity) == counter);
    Refusal::LimitReached {
        by: LimitedBy::from_prefix(kind).unwrap_or(LimitedBy::User),
        limit,
        have,
        attendee: attendee.map(|attendee| attendee.id),
    }
    .into()
}

/// Names chosen seats, for the double-submit guard.
fn fingerprint(seats: &[SeatIndex]) -> String {
    let numbers: Vec<String> = seats.iter().map(ToString::to_string).collect();
    numbers.join(".")
}

pub(super) fn command(message: &PlacedMessage, wish: &Wish<'_>, fingerprint: &str) -> HoldCommand {
    HoldCommand {
        show: message.show_id,
        order_no: message.order_no,
        user: wish.user.id,
        level: wish.user.level,
        now: message.placed_at,
        seats: message
            .seats()
            .map(|(seat, item)| HeldSeat {
                seat,
                zone: item.zone_id,
                attendee: attendee_counter(item),
            })
            .collect(),
        standing: message
            .items
            .iter()
            .filter(|item| item.seat().is_none())
            .map(attendee_counter)
            .collect(),
        limits: limits(wish.user, wish.visitor),
        idempotency_key: wish.key.to_owned(),
        fingerprint: for_whom(fingerprint, wish.attendees),
        message: encoded(message),
    }
}

/// The counter of the person a ticket is for.
fn attendee_counter(item: &PlacedItem) -> Option<String> {
    let attendee = item.attendee.as_ref()?;
    Some(attendee_field(&attendee.identity))
}

/// The same places for other people are another wish.
pub(super) fn for_whom(fingerprint: &str, attendees: &[PlacedAttendee]) -> String {
    let ids = attendees.iter().map(|attendee| attendee.id.to_string());
    let parts: Vec<String> = std::iter::once(fingerprint.to_owned()).chain(ids).collect();
    parts.join(":")
}

/// A message as text; its encoding is JSON.
pub(super) fn encoded(message: &PlacedMessage) -> String {
    use crate::kafka::messages::Message;
    String::from_utf8(message.encode()).unwrap_or_default()
}
