//! Evidence about what staff decided: whether Redis sells what the rows offer, on the terms that they say, and whether the
//! books tell how it became so.

use super::{Failure, Ticketing, show_facts::ShowFacts, standing::pieces::pieces_of_zone};
use crate::redis::snapshot::ShowSnapshot;
use app::domain::{
    ids::{SeatIndex, ShowId, ZoneId},
    seat::SeatState,
    time::Millis,
};
use std::{collections::BTreeSet, time::Duration};

/// How long Redis may take to follow a row. Whoever changed the row tells it at once.
const FOLLOW_GRACE: Millis = Millis::seconds(5);
/// What rows without a time of their own say is looked at again after this, because staff may have been at it.
const SECOND_LOOK: Duration = Duration::from_millis(200);
/// How far back the books are read.
const BOOKS_SPAN: Millis = Millis::minutes(60);

/// What is wrong with what was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfferEvidence {
    /// Shows that Redis sells.
    pub shows: i64,
    /// Of these: sold on other terms than their row says.
    pub other_terms: i64,
    /// Seats that rows or Redis withhold.
    pub withheld: i64,
    /// Of these: withheld by one of the two alone, and nobody's.
    pub disagreeing: i64,
    /// Pieces of standing zones that Redis sells.
    pub pieces: i64,
    /// Of these: with another number of places than their row says.
    pub other_totals: i64,
    /// Changes of places that the books got within the last hour.
    pub changes: i64,
    /// Of these: not beginning with what the one before them left.
    pub unexplained: i64,
}

impl Ticketing {
    /// Adds up the evidence of a show that Redis has.
    ///
    /// # Errors
    /// When a store fails.
    pub(super) async fn verify_offer(
        &self,
        facts: &ShowFacts,
        snapshot: &ShowSnapshot,
        found: &mut OfferEvidence,
    ) -> Result<(), Failure> {
        let show = facts.show.id;
        found.shows += 1;
        let record = self.terms(show).await?;
        let is_settled = self.now() >= record.changed_at + FOLLOW_GRACE;
        found.other_terms += i64::from(is_settled && record.terms != snapshot.terms);
        self.verify_withheld(facts, snapshot, found).await?;
        for zone in facts.zones.iter().filter(|zone| zone.standing.is_some()) {
            self.verify_totals(zone.id, found).await?;
        }
        let since = self.now() - BOOKS_SPAN;
        let (changes, unexplained) = self.inner.db.unexplained_changes(show, since).await?;
        found.changes += changes;
        found.unexplained += unexplained;
        Ok(())
    }

    async fn verify_withheld(
        &self,
        facts: &ShowFacts,
        snapshot: &ShowSnapshot,
        found: &mut OfferEvidence,
    ) -> Result<(), Failure> {
        let show = facts.show.id;
        let rows = self.inner.db.withheld_seats(show).await?;
        let settled = self.now() - FOLLOW_GRACE;
        let offered = rows.iter().filter(|(seat, at)| {
            *at <= settled && snapshot.map.state(*seat) == SeatState::Available
        });
        let in_rows: BTreeSet<SeatIndex> = rows.iter().map(|(seat, _)| *seat).collect();
        let stray: Vec<SeatIndex> = blocked(facts, snapshot)
            .filter(|seat| !in_rows.contains(seat))
            .collect();
        found.disagreeing += count(offered.count());
        found.withheld += count(in_rows.len() + stray.len());
        if !stray.is_empty() {
            found.disagreeing += self.still_stray(facts, &stray).await?;
        }
        Ok(())
    }

    /// How many of the seats Redis still withholds without a row: their rows may have been deleted a moment before.
    async fn still_stray(&self, facts: &ShowFacts, seats: &[SeatIndex]) -> Result<i64, Failure> {
        tokio::time::sleep(SECOND_LOOK).await;
        let show: ShowId = facts.show.id;
        let Some(snapshot) = self.inner.redis.snapshot(show).await? else {
            return Ok(0);
        };
        let rows = self.inner.db.withheld_seats(show).await?;
        let in_rows: BTreeSet<SeatIndex> = rows.into_iter().map(|(seat, _)| seat).collect();
        let still = blocked(facts, &snapshot)
            .filter(|seat| seats.contains(seat) && !in_rows.contains(seat))
            .count();
        Ok(count(still))
    }

    async fn verify_totals(&self, zone: ZoneId, found: &mut OfferEvidence) -> Result<(), Failure> {
        let (pieces, mut wrong) = self.count_totals(zone).await?;
        if wrong > 0 {
            tokio::time::sleep(SECOND_LOOK).await;
            wrong = self.count_totals(zone).await?.1;
        }
        found.pieces += pieces;
        found.other_totals += wrong;
        Ok(())
    }

    /// Pieces of a zone that Redis has, and those of them that are larger or smaller than the database says.
    async fn count_totals(&self, zone: ZoneId) -> Result<(i64, i64), Failure> {
        let totals = self.inner.db.piece_totals(zone).await?;
        let pieces = pieces_of_zone(zone, totals.len());
        let places = self.inner.redis.places(&pieces).await?;
        let (mut present, mut wrong) = (0, 0);
        for (places, total) in places.iter().zip(totals) {
            let Some(places) = places else { continue };
            present += 1;
            wrong += i64::from(places.total != total);
        }
        Ok((present, wrong))
    }
}

/// Seats that Redis withholds, without those that have no price and are never for sale.
fn blocked<'a>(
    facts: &'a ShowFacts,
    snapshot: &'a ShowSnapshot,
) -> impl Iterator<Item = SeatIndex> + 'a {
    snapshot
        .map
        .states()
        .zip((0..).map(SeatIndex))
        .filter(|(state, seat)| *state == SeatState::Blocked && facts.zone_of(*seat).is_some())
        .map(|(_, seat)| seat)
}

fn count(things: usize) -> i64 {
    i64::try_from(things).unwrap_or(i64::MAX)
}
