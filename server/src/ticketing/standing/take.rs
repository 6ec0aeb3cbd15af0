//! Buying in a standing zone: places are taken from the zone's pieces, then the order is held as any other.

use crate::{
    fault::{self, Point},
    kafka::messages::{Place, Placed as PlacedMessage, PlacedItem, StandingPiece},
    mysql::shows::{ShowRecord, ZoneRecord},
    redis::{
        RedisError,
        keys::Piece,
        scripts::{GiveWhy, HoldCommand, HoldReply, TakeStanding, TakeStandingReply},
    },
    ticketing::{
        Failure, Ticketing,
        failure::OrTell,
        place::{Wish, command, is_held},
    },
};
use app::{
    domain::{
        catalogue::ShowStatus,
        hold::{Refusal, checked_quantity},
        ids::{OrderNo, ZoneId},
        standing::pieces_from,
        time::Timestamp,
    },
    error::AppError,
};
use std::time::Duration;

/// How often the pieces are looked through again because somebody was collecting meanwhile.
const ROUNDS_MAX: u32 = 60;
/// Between two of these rounds.
const PAUSE: Duration = Duration::from_millis(10);

/// A wish for places of a standing zone, with everything that holding it needs: it must come to an end even if the
/// customer's connection does not last that long.
struct StandingWish {
    /// The order's message, still without the pieces.
    message: PlacedMessage,
    /// The hold, still with that message.
    command: HoldCommand,
    zone: ZoneId,
    pieces: u16,
    quantity: u32,
    /// Why nothing of the show is sold now. Then no places are taken that would have to go back at once.
    closed: Option<Refusal>,
}

/// What came of looking through the pieces.
enum Taking {
    /// The places are taken: how many from which piece.
    Taken(Vec<(Piece, u32)>),
    /// The zone has too few.
    Short,
    /// Others were collecting all the time.
    Crowded,
}

/// What one piece gave.
enum Took {
    Places(u32),
    Short { left: u32 },
}

impl Ticketing {
    /// Takes places of a standing zone and holds the order, all or nothing; makes it known when it is held.
    pub(in crate::ticketing) async fn hold_places(
        &self,
        wish: &Wish<'_>,
        zone: &ZoneRecord,
        quantity: u32,
    ) -> Result<HoldReply, AppError> {
        let quantity = checked_quantity(quantity)?;
        let tickets = usize::try_from(quantity).unwrap_or(usize::MAX);
        let ticket = |place| PlacedItem {
            zone_id: zone.id,
            price_minor: zone.price.minor,
            place: Place::Standing,
            attendee: wish.attendees.get(place).cloned(),
        };
        let items = (0..tickets).map(ticket).collect();
        let message = self.message_of(wish, items, vec![zone.price; tickets])?;
        let standing = StandingWish {
            command: command(&message, wish, &format!("{}x{quantity}", zone.id)),
            zone: zone.id,
            pieces: zone.standing.map_or(1, |standing| standing.pieces),
            quantity,
            closed: closed(&wish.facts.show, message.placed_at),
            message,
        };
        // A customer who goes away must not leave places behind that nobody holds.
        let this = self.clone();
        let held = tokio::spawn(async move { this.take_and_hold(standing).await });
        held.await
            .map_err(|_| Failure::Broken("holding places ended early"))
            .and_then(|reply| reply)
            .or_tell("hold places")
    }

    async fn take_and_hold(&self, mut wish: StandingWish) -> Result<HoldReply, Failure> {
        if let Some(earlier) = self.earlier(&wish.command).await? {
            return Ok(earlier);
        }
        if let Some(refusal) = wish.closed {
            return Ok(HoldReply::Refused(refusal));
        }
        let taking = match self.take_places(&wish).await {
            // The buyer comes back in a moment; loading goes on meanwhile.
            Err(Failure::Rebuilding) => return Ok(HoldReply::Rebuild),
            taking => taking?,
        };
        let taken = match taking {
            Taking::Taken(taken) => taken,
            Taking::Crowded => {
                let waited = PAUSE * ROUNDS_MAX;
                return Err(RedisError::Busy { waited }.into());
            }
            Taking::Short => {
                // The last places may have gone to this very submission, sent twice.
                let refusal = Refusal::ZoneSoldOut { zone: wish.zone };
                let earlier = self.earlier(&wish.command).await?;
                return Ok(earlier.unwrap_or(HoldReply::Refused(refusal)));
            }
        };
        fault::point(Point::StandingAfterTake);
        wish.message.pieces = taken.iter().map(piece_of_message).collect();
        self.stamp(&mut wish.message, &mut wish.command);
        let reply = self.hold(&mut wish.message, &mut wish.command).await;
        if !is_kept(&reply, wish.message.order_no) {
            fault::point(Point::StandingBeforeGivingUp);
            // What can't be given back is no order's: its lease ends.
            let _ = self.give_up(wish.message.order_no, &taken).await;
        }
        if matches!(&reply, Ok(reply) if is_held(reply, wish.message.order_no)) {
            fault::point(Point::StandingAfterHold);
            self.announce(&wish.message).await;
        }
        reply
    }

    pub(in crate::ticketing) async fn earlier(
        &self,
        command: &HoldCommand,
    ) -> Result<Option<HoldReply>, RedisError> {
        let HoldCommand {
            show,
            user,
            idempotency_key,
            fingerprint,
            ..
        } = command;
        self.inner
            .redis
            .earlier_reply(*show, *user, idempotency_key, fingerprint)
            .await
    }

    /// Looks for one piece that has the whole quantity, and collects from several when there is none.
    ///
    /// Buyers who collect hold places for a moment that they may give back. So only one collects at a time, and nobody is
    /// told that the zone is sold out while somebody did.
    async fn take_places(&self, wish: &StandingWish) -> Result<Taking, Failure> {
        let redis = &self.inner.redis;
        let order_no = wish.message.order_no;
        for _ in 0..ROUNDS_MAX {
            let before = redis.collecting(wish.zone).await?;
            let mut left_in_all = 0_u32;
            for piece in wish.pieces() {
                let left = match self.take(wish, piece, wish.quantity, wish.quantity).await? {
                    Took::Places(count) if count == wish.quantity => {
                        return Ok(Taking::Taken(vec![(piece, count)]));
                    }
                    // A round before collected them, and Redis forgot that they went back.
                    Took::Places(count) => {
                        self.give_up(order_no, &[(piece, count)]).await?;
                        count
                    }
                    Took::Short { left } => left,
                };
                left_in_all = left_in_all.saturating_add(left);
            }
            if left_in_all >= wish.quantity {
                if redis.begin_collecting(wish.zone, order_no).await? {
                    let collected = self.collect(wish).await;
                    fault::point(Point::CollectBeforeEnd);
                    // When this fails the lease ends by itself.
                    let _ = redis.end_collecting(wish.zone, order_no).await;
                    if let Some(taken) = collected? {
                        return Ok(Taking::Taken(taken));
                    }
                }
            } else if before.is_quiet() && redis.collecting(wish.zone).await? == before {
                return Ok(Taking::Short);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(Taking::Crowded)
    }

    /// Takes what there is, piece by piece, until the quantity is reached; none when it is not, and nothing is taken then.
    ///
    /// Places that can't be given back are an error, not another round: an order is held with all that it has, or not at all.
    async fn collect(&self, wish: &StandingWish) -> Result<Option<Vec<(Piece, u32)>>, Failure> {
        let mut taken: Vec<(Piece, u32)> = Vec::new();
        let mut missing = wish.quantity;
        for piece in wish.pieces() {
            let took = match self.take(wish, piece, missing, 1).await {
                Ok(took) => took,
                Err(error) => {
                    // The first error is told, and what could not go back is no order's.
                    let _ = self.give_up(wish.message.order_no, &taken).await;
                    return Err(error);
                }
            };
            let Took::Places(count) = took else { continue };
            taken.push((piece, count));
            missing = match missing.checked_sub(count) {
                Some(0) => return Ok(Some(taken)),
                Some(missing) => missing,
                // The piece has kept places of a round before, more than are missing now.
                None => break,
            };
            fault::point(Point::StandingWhileCollecting);
        }
        self.give_up(wish.message.order_no, &taken).await?;
        Ok(None)
    }

    /// Gives back what an order that is not held has of some pieces: of each that it can be, whatever the others answer.
    async fn give_up(&self, order_no: OrderNo, taken: &[(Piece, u32)]) -> Result<(), RedisError> {
        let mut outcome = Ok(());
        for (index, (piece, _)) in taken.iter().enumerate() {
            if index > 0 {
                fault::point(Point::GiveUpBetweenPieces);
            }
            let given = self.give_place(order_no, *piece, GiveWhy::Release).await;
            outcome = outcome.and(given);
        }
        outcome
    }

    /// Takes places of one piece; loads the show first when Redis has lost it, and asks again when the answer was
    /// lost. When that is lost too, what may be taken is given back: nothing has been held yet that could need it.
    async fn take(
        &self,
        wish: &StandingWish,
        piece: Piece,
        quantity: u32,
        least: u32,
    ) -> Result<Took, Failure> {
        let take = TakeStanding {
            piece,
            order_no: wish.message.order_no,
            now: wish.message.placed_at,
            quantity,
            least,
        };
        let mut reply = self.inner.redis.take_standing(&take).await;
        if matches!(reply, Ok(TakeStandingReply::Rebuild)) {
            self.load_show(wish.message.show_id).await?;
            reply = self.inner.redis.take_standing(&take).await;
        }
        if reply.as_ref().is_err_and(RedisError::may_have_run) {
            reply = self.inner.redis.take_standing(&take).await;
            if reply.is_err() {
                let _ = self
                    .give_place(take.order_no, piece, GiveWhy::Release)
                    .await;
            }
        }
        match reply? {
            TakeStandingReply::Taken { quantity, .. }
            | TakeStandingReply::Repeated { quantity } => Ok(Took::Places(quantity)),
            TakeStandingReply::Short { left } => Ok(Took::Short { left }),
            TakeStandingReply::Rebuild => Err(Failure::Broken("a standing zone is lost again")),
        }
    }
}

impl StandingWish {
    fn pieces(&self) -> impl Iterator<Item = Piece> + use<> {
        let zone = self.zone;
        pieces_from(self.message.order_no, self.pieces).map(move |piece| Piece { zone, piece })
    }
}

/// Whether an order keeps its places: when it is held, or may be.
fn is_kept(reply: &Result<HoldReply, Failure>, order_no: OrderNo) -> bool {
    match reply {
        Ok(reply) => is_held(reply, order_no),
        Err(Failure::Redis(error)) => error.may_have_run(),
        // Every other failure is one of loading the show, after the script had answered that it did nothing.
        Err(_) => false,
    }
}

/// Why nothing of a show is sold at a moment, as far as this server knows; `hold` decides the same.
fn closed(show: &ShowRecord, now: Timestamp) -> Option<Refusal> {
    match show.status {
        ShowStatus::Draft | ShowStatus::Withdrawn => Some(Refusal::NotOnSale),
        _ if now < show.sale_start => Some(Refusal::SaleNotStarted {
            starts_at: show.sale_start,
        }),
        _ if now >= show.sale_end => Some(Refusal::SaleEnded),
        _ => None,
    }
}

fn piece_of_message((piece, quantity): &(Piece, u32)) -> StandingPiece {
    StandingPiece {
        zone_id: piece.zone,
        piece: piece.piece,
        quantity: *quantity,
    }
}
