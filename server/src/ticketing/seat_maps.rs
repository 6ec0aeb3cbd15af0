//! The live map of each show: however many browsers poll, Redis is asked at most twenty times a second for a show.

use super::{Failure, Ticketing, rebuild::unsold_seats, show_facts::ShowFacts};
use crate::redis::scripts::SeatsReply;
use app::domain::{
    ids::ShowId,
    seat::{MapUpdate, MapVersion, SeatChange, SeatMap},
};
use moka::sync::Cache;
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

/// How old a map may be.
pub(super) const MAP_AGE_MAX: Duration = Duration::from_millis(50);
/// How old the map of a show may be that is over and has left Redis: it is read from the database, and hardly changes.
const CLOSED_MAP_AGE_MAX: Duration = Duration::from_secs(10);
/// After a failed reading, readers of the same show are told so at once for this long, instead of each waiting in turn.
const FAILURE_LASTS: Duration = Duration::from_millis(500);
/// Changes kept for readers that are behind.
const CHANGES_KEPT: usize = 4_096;
const SHOWS_MAX: u64 = 5_000;
/// Maps nobody asked for are forgotten after this long.
const IDLE_MAX: Duration = Duration::from_secs(300);

/// Maps that were asked for lately.
pub struct SeatMaps {
    shows: Cache<ShowId, Arc<Mutex<Kept>>>,
}

/// What is known of one show's map.
#[derive(Debug, Default)]
struct Kept {
    map: Option<KeptMap>,
    failed_at: Option<Instant>,
    /// Whether that failure passes by itself, as when the show is being loaded.
    is_busy: bool,
}

impl Default for SeatMaps {
    fn default() -> Self {
        let shows = Cache::builder()
            .max_capacity(SHOWS_MAX)
            .time_to_idle(IDLE_MAX)
            .build();
        Self { shows }
    }
}

/// A map and the changes that led to it.
#[derive(Debug, Clone)]
struct KeptMap {
    map: SeatMap,
    /// The newest changes; the last one made `map.at.version`.
    changes: VecDeque<SeatChange>,
    read_at: Instant,
    /// How long it is new enough.
    lasts: Duration,
}

impl KeptMap {
    fn empty() -> Self {
        Self {
            map: SeatMap::default(),
            changes: VecDeque::new(),
            read_at: Instant::now(),
            lasts: MAP_AGE_MAX,
        }
    }

    fn apply(&mut self, update: MapUpdate) {
        match update {
            MapUpdate::Whole(map) => {
                self.changes.clear();
                self.map = map;
            }
            MapUpdate::Changes { at, changes } => {
                for change in changes {
                    self.map.set(change.seat, change.state);
                    self.changes.push_back(change);
                }
                self.map.at = at;
                let surplus = self.changes.len().saturating_sub(CHANGES_KEPT);
                self.changes.drain(..surplus);
            }
        }
    }

    /// What a reader at `since` needs.
    fn answer(&self, since: Option<MapVersion>) -> MapUpdate {
        let at = self.map.at;
        let behind = since
            .filter(|since| since.epoch == at.epoch)
            .and_then(|since| at.version.checked_sub(since.version))
            .and_then(|behind| usize::try_from(behind).ok())
            .filter(|behind| *behind <= self.changes.len());
        match behind {
            Some(behind) => {
                let from = self.changes.len() - behind;
                MapUpdate::Changes {
                    at,
                    changes: self.changes.range(from..).copied().collect(),
                }
            }
            None => MapUpdate::Whole(self.map.clone()),
        }
    }
}

impl Ticketing {
    /// What a reader of a show's map needs to be up to date; none when there is no such show.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn seat_map(
        &self,
        show: ShowId,
        since: Option<MapVersion>,
    ) -> Result<Option<MapUpdate>, Failure> {
        let kept = match self.inner.seat_maps.shows.get(&show) {
            Some(kept) => kept,
            None => {
                // Only shows that exist get a place in the cache.
                if self.facts(show).await?.is_none() {
                    return Ok(None);
                }
                self.inner.seat_maps.shows.get_with(show, Arc::default)
            }
        };
        let mut kept = kept.lock().await;
        let is_fresh = kept
            .map
            .as_ref()
            .is_some_and(|map| map.read_at.elapsed() < map.lasts);
        if !is_fresh {
            if kept
                .failed_at
                .is_some_and(|at| at.elapsed() < FAILURE_LASTS)
            {
                return Err(if kept.is_busy {
                    Failure::Rebuilding
                } else {
                    Failure::Broken("the seats could not be read a moment ago")
                });
            }
            let known = kept.map.as_ref().map(|map| map.map.at);
            match self.read_seats(show, known).await {
                Ok((update, lasts)) => {
                    let map = kept.map.get_or_insert_with(KeptMap::empty);
                    map.apply(update);
                    map.lasts = lasts;
                    map.read_at = Instant::now();
                }
                Err(failure) => {
                    kept.failed_at = Some(Instant::now());
                    kept.is_busy = failure.is_busy();
                    return Err(failure);
                }
            }
        }
        Ok(kept.map.as_ref().map(|map| map.answer(since)))
    }

    async fn read_seats(
        &self,
        show: ShowId,
        since: Option<MapVersion>,
    ) -> Result<(MapUpdate, Duration), Failure> {
        if let SeatsReply::Update(update) = self.inner.redis.seats(show, since).await? {
            return Ok((update, MAP_AGE_MAX));
        }
        if let Some(facts) = self.facts(show).await?
            && self.closed_for_good(&facts.show).is_some()
        {
            let map = self.closed_map(&facts).await?;
            return Ok((MapUpdate::Whole(map), CLOSED_MAP_AGE_MAX));
        }
        self.load_show(show).await?;
        match self.inner.redis.seats(show, None).await? {
            SeatsReply::Update(update) => Ok((update, MAP_AGE_MAX)),
            SeatsReply::Rebuild => Err(Failure::Broken("the show is lost again")),
        }
    }

    /// The map of a show of which nothing is sold any more, as the database has it. No loaded show has its epoch, so a reader
    /// who has seen the show in Redis gets it whole, and gets the whole map again should the show be loaded again.
    async fn closed_map(&self, facts: &ShowFacts) -> Result<SeatMap, Failure> {
        let mut map = SeatMap {
            seats: facts.show.seats_total,
            ..SeatMap::default()
        };
        for seat in unsold_seats(facts) {
            map.set(seat.seat, seat.state);
        }
        for taken in self.inner.db.taken_seats(facts.show.id).await? {
            map.set(taken.seat, taken.state);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::domain::{ids::SeatIndex, seat::SeatState};

    fn change(seat: u32, state: SeatState) -> SeatChange {
        SeatChange {
            seat: SeatIndex(seat),
            state,
        }
    }

    fn kept() -> KeptMap {
        let at = MapVersion {
            epoch: 1,
            version: 10,
        };
        let mut kept = KeptMap {
            map: SeatMap {
                at,
                seats: 8,
                bits: vec![0, 0],
            },
            changes: VecDeque::new(),
            read_at: Instant::now(),
            lasts: MAP_AGE_MAX,
        };
        let at = MapVersion {
            epoch: 1,
            version: 12,
        };
        let changes = vec![change(1, SeatState::Locked), change(1, SeatState::Sold)];
        kept.apply(MapUpdate::Changes { at, changes });
        kept
    }

    #[test]
    fn a_reader_gets_exactly_the_changes_it_misses() {
        let at = MapVersion {
            epoch: 1,
            version: 12,
        };
        let expected = MapUpdate::Changes {
            at,
            changes: vec![change(1, SeatState::Sold)],
        };
        assert_eq!(
            kept().answer(Some(MapVersion {
                epoch: 1,
                version: 11
            })),
            expected
        );
        let nothing = MapUpdate::Changes {
            at,
            changes: Vec::new(),
        };
        assert_eq!(kept().answer(Some(at)), nothing);
    }

    #[test]
    fn a_reader_of_another_life_or_too_far_behind_gets_the_whole_map() {
        for since in [
            None,
            Some(MapVersion {
                epoch: 2,
                version: 12,
            }),
            Some(MapVersion {
                epoch: 1,
                version: 9,
            }),
            Some(MapVersion {
                epoch: 1,
                version: 13,
            }),
        ] {
            assert!(matches!(kept().answer(since), MapUpdate::Whole(map) if map.at.version == 12));
        }
    }
}
