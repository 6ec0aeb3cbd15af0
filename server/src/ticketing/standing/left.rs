//! What standing zones have left, for those who look. However many do, Redis is asked at most twenty times a second for a
//! show.

use super::pieces::pieces_of_zone;
use crate::{
    redis::keys::Piece,
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
        let counts = self
            .inner
            .standing_counts
            .shows
            .try_get_with(show, async { self.left_of(&pieces).await.map(Left::from) });
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
        let left: HashMap<ZoneId, u32> = self.left_of(&all).await?.into_iter().collect();
        let by_show = pieces.into_iter().map(|(show, pieces)| {
            let mut zones: Vec<ZoneId> = pieces.into_iter().map(|piece| piece.zone).collect();
            zones.dedup();
            let left = |zone| (zone, left.get(&zone).copied().unwrap_or(0));
            (show, zones.into_iter().map(left).collect())
        });
        Ok(by_show.collect())
    }

    async fn left_of(&self, pieces: &[Piece]) -> Result<Vec<(ZoneId, u32)>, Failure> {
        let mut left: BTreeMap<ZoneId, u32> = BTreeMap::new();
        for (piece, places) in pieces.iter().zip(self.zone_places(pieces).await?) {
            *left.entry(piece.zone).or_default() += places.left();
        }
        Ok(left.into_iter().collect())
    }
}
