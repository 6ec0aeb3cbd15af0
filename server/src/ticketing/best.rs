//! Buying without choosing: the best free seats of a zone, tried until they are held or the zone has too few.

use super::{
    Ticketing,
    failure::OrTell,
    place::{Wish, for_whom},
    seat_maps::MAP_AGE_MAX,
};
use crate::redis::scripts::HoldReply;
use app::{
    domain::{
        best_available::{BestAvailable, Quantity, Wish as Search},
        hold::{Refusal, checked_quantity},
        ids::{SeatIndex, ZoneId},
        seat::{MapUpdate, SeatMap},
    },
    error::{AppError, Thing},
};
use std::time::Duration;
use tokio::time::Instant;

/// How long it is searched again, on a newer map, after every candidate of the last search was lost to others. Each of them
/// was lost to somebody who has it, so a rush is over long before: the zone is sold out, or somebody is not so fast.
const PATIENCE: Duration = Duration::from_secs(5);
/// When a customer whose candidates were all lost may ask again.
const RETRY_AFTER_MS: u32 = 500;

impl Ticketing {
    /// Holds the best seats of a zone. Losing a race is no answer: it is tried with the next best, and with a newer map.
    pub(super) async fn hold_best(
        &self,
        wish: &Wish<'_>,
        zone: ZoneId,
        quantity: u32,
    ) -> Result<HoldReply, AppError> {
        let wanted = checked_quantity(quantity)?;
        let quantity = Quantity::new(wanted).ok_or(Refusal::NoSeats)?;
        let seats = wish
            .facts
            .zone_seats(zone)
            .ok_or(Refusal::UnknownZone { zone })?;
        let fingerprint = format!("{zone}x{wanted}");
        let spread = wish.order_no.as_i64().unsigned_abs();
        let mut avoid: Vec<SeatIndex> = Vec::new();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let map = self.newest_map(wish).await?;
            let search = Search {
                zone: seats,
                states: &map,
                quantity,
                avoid: &avoid,
                spread,
            };
            let found = wish.facts.seat_groups.best_available(&search);
            if let BestAvailable::TooFew { .. } = found {
                if avoid.is_empty() {
                    return self.too_few(wish, zone, &fingerprint).await;
                }
                // Seats that were lost may have come back, and a map that is newer than the last loss knows.
                avoid.clear();
                tokio::time::sleep(MAP_AGE_MAX).await;
                continue;
            }
            for candidate in found.into_seat_lists() {
                match self.hold_seats(wish, &candidate, &fingerprint).await? {
                    HoldReply::Refused(Refusal::SeatsTaken { seats }) => avoid.extend(seats),
                    reply => return Ok(reply),
                }
            }
        }
        // Others were faster at all that was found, and the zone is not sold out.
        Err(AppError::Busy {
            retry_after_ms: RETRY_AFTER_MS,
        })
    }

    /// What a zone with too few seats means: the last ones may have gone to this very submission, sent twice.
    async fn too_few(
        &self,
        wish: &Wish<'_>,
        zone: ZoneId,
        fingerprint: &str,
    ) -> Result<HoldReply, AppError> {
        let fingerprint = for_whom(fingerprint, wish.attendees);
        let (show, user) = (wish.facts.show.id, wish.user.id);
        let redis = &self.inner.redis;
        let earlier = redis.earlier_reply(show, user, wish.key, &fingerprint);
        let earlier = earlier.await.or_tell("choose seats")?;
        Ok(earlier.unwrap_or(HoldReply::Refused(Refusal::ZoneSoldOut { zone })))
    }

    async fn newest_map(&self, wish: &Wish<'_>) -> Result<SeatMap, AppError> {
        let update = self
            .seat_map(wish.facts.show.id, None)
            .await
            .or_tell("choose seats")?;
        match update {
            Some(MapUpdate::Whole(map)) => Ok(map),
            Some(MapUpdate::Changes { .. }) | None => Err(AppError::NotFound { what: Thing::Show }),
        }
    }
}
