//! What standing zones have left, for those who look. However many do, Redis is asked at most twenty times a second for a
//! show.

use super::pieces::pieces_of_zone;
use crate::{
    redis::{keys::Piece, standing::Places},
    ticketing::{Failure, Ticketing},
};
use app::domain::ids::{ShowId, ZoneId};
use moka::future::Cache;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

/// How old the counts may be; seats are as old at most.
const AGE_MAX: Duration = Duration::from_millis(50);
const SHOWS_MAX: u64 = 5_000;

/// Places left by zone.
pub type Left = Arc<[(ZoneId, u32)]>;

/// Counts that were asked for a moment ago.
pub struct StandingCounts {
    shows: Cache<ShowId, Left>,
}

impl Default for StandingCounts {
    fn default() -> Self {
        let shows = Cache::builder()
            .max_capacity(SHOWS_MAX)
            .time_to_live(AGE_MAX)
            .build();
        Self { shows }
    }
}

impl Ticketing {
    /// Places left in each standing zone of a show; empty when it has none.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn standing_left(&self, show: ShowId) -> Result<Left, Failure> {
        let Some(facts) = self.facts(show).await? else {
            return Ok(Arc::default());
        };
        let pieces: Vec<Piece> = facts
            .zones
            .iter()
            .filter_map(|zone| Some((zone.id, zone.standing?.pieces)))
            .flat_map(|(zone, pieces)| pieces_of_zone(zone, pieces.into()))
            .collect();
        if pieces.is_empty() {
            return Ok(Arc::default());
        }
        // What Redis does not have of a show of which nothing is sold any more is not loaded, and nothing is left of it.
        let is_closed = self.closed_for_good(&facts.show).is_some();
        let counts = self.inner.standing_counts.shows.try_get_with(show, async {
            let places = if is_closed {
                self.inner.redis.places(&pieces).await?
            } else {
                let places = self.zone_places(&pieces).await?;
                places.into_iter().map(Some).collect()
            };
            Ok::<_, Failure>(Left::from(left_by_zone(&pieces, &places)))
        });
        counts.await.map_err(|error| {
            // The error is shared by all who waited for this reading.
            if error.is_busy() {
                return Failure::Db(crate::mysql::DbError::Busy);
            }
            tracing::error!(error = %error, cause = ?error, show_id = show.0, "places not read");
            Failure::Broken("places not read")
        })
    }

    /// Places left in the standing zones of several shows, live.
    ///
    /// # Errors
    /// When a store fails.
    pub(in crate::ticketing) async fn standing_left_of(
        &self,
        shows: &[ShowId],
    ) -> Result<HashMap<ShowId, Vec<(ZoneId, u32)>>, Failure> {
        let pieces = self.inner.db.pieces_of_shows(shows).await?;
        let all: Vec<Piece> = pieces.values().flatten().copied().collect();
        let places = self.zone_places(&all).await?;
        let places: Vec<Option<Places>> = places.into_iter().map(Some).collect();
        let left: HashMap<ZoneId, u32> = left_by_zone(&all, &places).into_iter().collect();
        let by_show = pieces.into_iter().map(|(show, pieces)| {
            let mut zones: Vec<ZoneId> = pieces.into_iter().map(|piece| piece.zone).collect();
            zones.dedup();
            let left = |zone| (zone, left.get(&zone).copied().unwrap_or(0));
            (show, zones.into_iter().map(left).collect())
        });
        Ok(by_show.collect())
    }
}

/// What each zone has left, by the counts of its pieces.
fn left_by_zone(pieces: &[Piece], places: &[Option<Places>]) -> Vec<(ZoneId, u32)> {
    let mut left: BTreeMap<ZoneId, u32> = BTreeMap::new();
    for (piece, places) in pieces.iter().zip(places) {
        *left.entry(piece.zone).or_default() += places.map_or(0, Places::left);
    }
    left.into_iter().collect()
}
