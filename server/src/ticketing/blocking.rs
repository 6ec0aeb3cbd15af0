//! Withholding seats from the sale, and offering them again.
//!
//! The rows in the database say which seats are withheld, and Redis has the copy, so the row is written first. A crash
//! before Redis followed leaves a difference that reconciliation sees and puts right from the rows.

use super::{Failure, Ticketing, show_facts::ShowFacts};
use crate::{
    fault::{self, Point},
    mysql::withheld::Withheld,
    redis::scripts::{BLOCKED_SEATS_MAX, BlockReply},
};
use app::domain::ids::{SeatIndex, ShowId, ZoneId};
use std::collections::BTreeSet;

/// Why seats were neither withheld nor offered.
#[derive(Debug, thiserror::Error)]
pub enum BlockingRefusal {
    /// There is no such show.
    #[error("there is no show {0}")]
    NoShow(ShowId),
    /// No seats, or too many at once.
    #[error("name 1 to {BLOCKED_SEATS_MAX} seats, not {0}")]
    SeatCount(usize),
    /// The hall has no such seat.
    #[error("the hall has no seat {0}")]
    UnknownSeat(SeatIndex),
    /// A text that names no seat of the hall.
    #[error(
        "{0:?} names no seat: give a number (17), a range of numbers (17-24), or ROW/NUMBER or SECTION/ROW/NUMBER"
    )]
    UnknownName(String),
    /// The seat's category has no price in this show, so it is not sold anyway.
    #[error("seat {0} has no price in this show, so it is not for sale anyway")]
    Unpriced(SeatIndex),
    /// Seats are locked for orders, or sold.
    #[error("locked or sold: {}", listed(.0))]
    Taken(Vec<SeatIndex>),
    /// A store failed; the wish may have been carried out in part, and reconciliation completes it.
    #[error(transparent)]
    Failed(#[from] Failure),
}

fn listed(seats: &[SeatIndex]) -> String {
    let numbers: Vec<String> = seats.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

impl Ticketing {
    /// Withholds seats from the sale, all or none. The seats that were not withheld before.
    ///
    /// # Errors
    /// [`BlockingRefusal::Taken`] with the seats that are locked or sold, or what else is wrong with the wish.
    pub async fn block_seats(
        &self,
        show: ShowId,
        seats: &[SeatIndex],
    ) -> Result<Vec<SeatIndex>, BlockingRefusal> {
        let zoned = self.priced_seats(show, seats).await?;
        let seats: Vec<SeatIndex> = zoned.iter().map(|(seat, _)| *seat).collect();
        let now = self.now();
        let written = self.inner.db.withhold_seats(show, &seats, now).await;
        let new = match written.map_err(Failure::from)? {
            Withheld::Written { new } => new,
            Withheld::Claimed { seats } => return Err(BlockingRefusal::Taken(seats)),
        };
        fault::point(Point::BlockAfterRow);
        match self.block_in_redis(show, &zoned).await? {
            BlockReply::Done { .. } => {
                tracing::info!(show_id = show.0, seats = new.len(), "seats withheld");
                Ok(new)
            }
            // An order without a row yet holds one of them: Redis decides who has a seat at this instant.
            BlockReply::Taken { seats } => {
                fault::point(Point::BlockBeforeTakingBack);
                let taken_back = self.inner.db.take_back_withheld(show, &new, now).await;
                taken_back.map_err(Failure::from)?;
                Err(BlockingRefusal::Taken(seats))
            }
            BlockReply::Unknown { seat } => Err(BlockingRefusal::UnknownSeat(seat)),
            BlockReply::Rebuild => Err(Failure::Broken("the show is lost again").into()),
        }
    }

    /// Offers withheld seats again. The seats that were withheld before; those that an order has by now were not, and stay
    /// the order's.
    ///
    /// # Errors
    /// As [`Ticketing::block_seats`], but never [`BlockingRefusal::Taken`].
    pub async fn unblock_seats(
        &self,
        show: ShowId,
        seats: &[SeatIndex],
    ) -> Result<Vec<SeatIndex>, BlockingRefusal> {
        let zoned = self.priced_seats(show, seats).await?;
        let seats: Vec<SeatIndex> = zoned.iter().map(|(seat, _)| *seat).collect();
        let offered = self.inner.db.offer_seats(show, &seats).await;
        offered.map_err(Failure::from)?;
        fault::point(Point::UnblockAfterRow);
        let changed = self.unblock_in_redis(show, zoned).await?;
        tracing::info!(
            show_id = show.0,
            seats = changed.len(),
            "seats offered again"
        );
        Ok(changed)
    }

    /// The seats that texts name: a number of the plan (`17`), a range of numbers (`17-24`), or a label (`C/12`,
    /// `Stalls/C/12`), which may be that of several seats when the hall has several sections.
    ///
    /// # Errors
    /// [`BlockingRefusal::UnknownName`], or [`BlockingRefusal::SeatCount`] when there are too many.
    pub async fn named_seats(
        &self,
        show: ShowId,
        names: &[String],
    ) -> Result<Vec<SeatIndex>, BlockingRefusal> {
        let facts = self
            .facts(show)
            .await?
            .ok_or(BlockingRefusal::NoShow(show))?;
        let mut seats = BTreeSet::new();
        for name in names {
            let named = named(&facts, name);
            if named.is_empty() {
                return Err(BlockingRefusal::UnknownName(name.clone()));
            }
            seats.extend(named);
        }
        if seats.len() > BLOCKED_SEATS_MAX {
            return Err(BlockingRefusal::SeatCount(seats.len()));
        }
        Ok(seats.into_iter().collect())
    }

    /// Seats in ascending order with their zones, each once.
    async fn priced_seats(
        &self,
        show: ShowId,
        seats: &[SeatIndex],
    ) -> Result<Vec<(SeatIndex, ZoneId)>, BlockingRefusal> {
        let facts = self
            .facts(show)
            .await?
            .ok_or(BlockingRefusal::NoShow(show))?;
        let seats: BTreeSet<SeatIndex> = seats.iter().copied().collect();
        if seats.is_empty() || seats.len() > BLOCKED_SEATS_MAX {
            return Err(BlockingRefusal::SeatCount(seats.len()));
        }
        seats.into_iter().map(|seat| priced(&facts, seat)).collect()
    }

    async fn block_in_redis(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<BlockReply, Failure> {
        let reply = self.inner.redis.block(show, seats).await?;
        if reply != BlockReply::Rebuild {
            return Ok(reply);
        }
        self.load_show_patiently(show).await?;
        Ok(self.inner.redis.block(show, seats).await?)
    }

    /// Follows rows that are deleted, so nothing stands in the way: a seat that an order has got before Redis withheld it is
    /// left out, and the others are offered.
    async fn unblock_in_redis(
        &self,
        show: ShowId,
        mut seats: Vec<(SeatIndex, ZoneId)>,
    ) -> Result<Vec<SeatIndex>, BlockingRefusal> {
        let mut was_loaded = false;
        while !seats.is_empty() {
            let reply = self.inner.redis.unblock(show, &seats).await;
            match reply.map_err(Failure::from)? {
                BlockReply::Done { changed } => return Ok(changed),
                // A withheld seat is never taken, so what is left gets less each time.
                BlockReply::Taken { seats: taken } => {
                    seats.retain(|(seat, _)| !taken.contains(seat));
                }
                BlockReply::Unknown { seat } => return Err(BlockingRefusal::UnknownSeat(seat)),
                BlockReply::Rebuild if !was_loaded => {
                    self.load_show_patiently(show).await?;
                    was_loaded = true;
                }
                BlockReply::Rebuild => {
                    return Err(Failure::Broken("the show is lost again").into());
                }
            }
        }
        Ok(Vec::new())
    }
}

fn priced(facts: &ShowFacts, seat: SeatIndex) -> Result<(SeatIndex, ZoneId), BlockingRefusal> {
    if seat.0 >= facts.show.seats_total {
        return Err(BlockingRefusal::UnknownSeat(seat));
    }
    let zone = facts.zone_of(seat).ok_or(BlockingRefusal::Unpriced(seat))?;
    Ok((seat, zone.id))
}

fn named(facts: &ShowFacts, name: &str) -> Vec<SeatIndex> {
    let is_seat = |number: &u32| *number < facts.show.seats_total;
    if let Ok(number) = name.parse::<u32>() {
        return Some(number)
            .filter(is_seat)
            .map(SeatIndex)
            .into_iter()
            .collect();
    }
    if let Some((first, last)) = name.split_once('-')
        && let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>())
    {
        let last = Some(last).filter(is_seat);
        return last.map_or_else(Vec::new, |last| (first..=last).map(SeatIndex).collect());
    }
    let parts: Vec<&str> = name.split('/').collect();
    let (section, row, number) = match parts[..] {
        [row, number] => (None, row, number),
        [section, row, number] => (Some(section), row, number),
        _ => return Vec::new(),
    };
    (0..)
        .map(SeatIndex)
        .zip(&facts.plan.seats)
        .filter(|(_, seat)| {
            section.is_none_or(|section| seat.section == section)
                && seat.row == row
                && seat.number == number
        })
        .map(|(index, _)| index)
        .collect()
}
