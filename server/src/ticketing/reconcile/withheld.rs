//! Seats that staff withhold: the rows say which, and Redis follows.

use super::{Class, FOLLOW_UP_GRACE, Finding, Repair, seats::Compared};
use crate::{
    fault::{self, Point},
    redis::scripts::BlockReply,
    ticketing::{Failure, Ticketing},
};
use app::domain::{
    ids::{SeatIndex, ShowId, ZoneId},
    seat::SeatState,
};
use std::collections::BTreeSet;

impl Ticketing {
    /// Withheld seats that Redis offers, and seats that Redis withholds without a row.
    pub(super) async fn find_withheld(
        &self,
        compared: &Compared<'_>,
        found: &mut Vec<Finding>,
    ) -> Result<(), Failure> {
        let show = compared.facts.show.id;
        let rows = self.inner.db.withheld_seats(show).await?;
        let withheld: BTreeSet<SeatIndex> = rows.iter().map(|(seat, _)| *seat).collect();
        let map = &compared.snapshot.map;
        let settled = self.now() - FOLLOW_UP_GRACE;
        let offered: Vec<SeatIndex> = rows
            .iter()
            .filter(|(seat, at)| *at <= settled && map.state(*seat) == SeatState::Available)
            .map(|(seat, _)| *seat)
            .collect();
        let stray: Vec<SeatIndex> = map
            .states()
            .zip((0..).map(SeatIndex))
            .filter(|(state, seat)| *state == SeatState::Blocked && !withheld.contains(seat))
            .map(|(_, seat)| seat)
            .collect();
        let mut report = |seats: Vec<(SeatIndex, ZoneId)>, what: &str, repair: fn(_) -> Repair| {
            if !seats.is_empty() {
                found.push(Finding {
                    class: Class::SeatLost,
                    show,
                    order_no: None,
                    detail: format!("{} {what}", seats.len()),
                    repair: repair(seats),
                });
            }
        };
        // Seats without a price have no zone: they are never for sale, with or without a row.
        report(
            compared.zoned(&offered),
            "withheld seat(s) are for sale in Redis",
            Repair::Withhold,
        );
        report(
            compared.zoned(&stray),
            "seat(s) are withheld in Redis by nobody",
            Repair::Offer,
        );
        Ok(())
    }

    /// Withholds in Redis what the rows say, as far as the rows still do. A seat that is taken stays with its order.
    pub(super) async fn withhold_again(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<bool, Failure> {
        let (withheld, _) = self.split_by_row(show, seats).await?;
        self.put_each(show, &withheld, true).await
    }

    /// Offers in Redis what no row withholds, and looks again: a row that came meanwhile is followed.
    pub(super) async fn offer_again(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<bool, Failure> {
        let (_, stray) = self.split_by_row(show, seats).await?;
        let changed = self.put_each(show, &stray, false).await?;
        fault::point(Point::ReconcileAfterOffer);
        let (withheld, _) = self.split_by_row(show, &stray).await?;
        self.put_each(show, &withheld, true).await?;
        Ok(changed)
    }

    async fn split_by_row(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
    ) -> Result<(Vec<(SeatIndex, ZoneId)>, Vec<(SeatIndex, ZoneId)>), Failure> {
        let rows = self.inner.db.withheld_seats(show).await?;
        let rows: BTreeSet<SeatIndex> = rows.into_iter().map(|(seat, _)| seat).collect();
        Ok(seats
            .iter()
            .copied()
            .partition(|(seat, _)| rows.contains(seat)))
    }

    /// One seat a call, so that one that was taken meanwhile does not keep the others as they are.
    async fn put_each(
        &self,
        show: ShowId,
        seats: &[(SeatIndex, ZoneId)],
        withheld: bool,
    ) -> Result<bool, Failure> {
        let mut any = false;
        for (index, seat) in seats.iter().enumerate() {
            if index > 0 {
                fault::point(Point::ReconcileBetweenSeats);
            }
            let seat = std::slice::from_ref(seat);
            let reply = if withheld {
                self.inner.redis.block(show, seat).await?
            } else {
                self.inner.redis.unblock(show, seat).await?
            };
            any |= matches!(reply, BlockReply::Done { changed } if !changed.is_empty());
        }
        Ok(any)
    }
}
