//! What selling a show needs to know about it, read once and kept for a moment.
//!
//! Facts that never change (a plan) are kept long; facts that staff may change (status, window, prices) a few seconds.
//! Who has which seat is never kept here.

use crate::mysql::{
    Db, DbError,
    catalogue::{EventRecord, Place},
    shows::{ShowRecord, ZoneRecord},
};
use app::domain::{
    best_available::{SeatGroups, ZoneSeats},
    ids::{SeatIndex, ShowId, ZoneId},
    order::SeatLabel,
    plan::Plan,
};
use moka::future::Cache;
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// How long a show's facts are kept; staff's changes are seen by buyers within it.
const FACTS_TTL: Duration = Duration::from_secs(3);
const SHOWS_MAX: u64 = 5_000;
const PLANS_MAX: u64 = 200;

/// Everything about a show but its seats' states.
#[derive(Debug)]
pub struct ShowFacts {
    /// The show's row.
    pub show: ShowRecord,
    /// What is shown.
    pub event: EventRecord,
    /// Where.
    pub place: Place,
    /// Its zones, dearest first.
    pub zones: Vec<ZoneRecord>,
    /// Its plan.
    pub plan: Arc<Plan>,
    /// Which seats of the plan are neighbours, for choosing the best ones.
    pub seat_groups: Arc<SeatGroups>,
    zone_seats: OnceLock<Vec<ZoneSeats>>,
    /// For each category of the plan, the place of its zone in `zones`.
    pub zone_of_category: Arc<[Option<u16>]>,
}

impl ShowFacts {
    /// The zone that sells a seat; none for a seat that is not sold or not there.
    #[must_use]
    pub fn zone_of(&self, seat: SeatIndex) -> Option<&ZoneRecord> {
        let seat = self.plan.seats.get(usize::try_from(seat.0).ok()?)?;
        let place = (*self.zone_of_category.get(usize::from(seat.category))?)?;
        self.zones.get(usize::from(place))
    }

    /// A zone by its id.
    #[must_use]
    pub fn zone(&self, id: ZoneId) -> Option<&ZoneRecord> {
        self.zones.iter().find(|zone| zone.id == id)
    }

    /// A zone by its id, if it is one of places without seats.
    #[must_use]
    pub fn standing(&self, id: ZoneId) -> Option<&ZoneRecord> {
        self.zone(id).filter(|zone| zone.standing.is_some())
    }

    /// The seats that a zone sells, for choosing the best ones; none when the show has no such zone.
    #[must_use]
    pub fn zone_seats(&self, id: ZoneId) -> Option<&ZoneSeats> {
        let place = self.zones.iter().position(|zone| zone.id == id)?;
        let all = self.zone_seats.get_or_init(|| {
            let of_zone = |place: usize| {
                ZoneSeats::of(&self.plan, |seat| {
                    let zone = self.zone_of_category.get(usize::from(seat.category));
                    zone.copied()
                        .flatten()
                        .is_some_and(|zone| usize::from(zone) == place)
                })
            };
            (0..self.zones.len()).map(of_zone).collect()
        });
        all.get(place)
    }

    /// What a seat is called; sections are named only where the hall has several.
    #[must_use]
    pub fn label_of(&self, seat: SeatIndex) -> Option<SeatLabel> {
        let seats = &self.plan.seats;
        let seat = seats.get(usize::try_from(seat.0).ok()?)?;
        let several = seats.iter().any(|other| other.section != seat.section);
        Some(SeatLabel {
            section: if several {
                seat.section.clone()
            } else {
                String::new()
            },
            row: seat.row.clone(),
            number: seat.number.clone(),
        })
    }
}

/// Facts of shows that were asked for lately. Many askers at once cause one reading.
pub struct ShowFactsCache {
    db: Db,
    shows: Cache<ShowId, Option<Arc<ShowFacts>>>,
    plans: Cache<u64, (Arc<Plan>, Arc<SeatGroups>)>,
}

impl ShowFactsCache {
    /// An empty cache.
    #[must_use]
    pub fn new(db: Db) -> Self {
        let shows = Cache::builder()
            .max_capacity(SHOWS_MAX)
            .time_to_live(FACTS_TTL)
            .build();
        Self {
            db,
            shows,
            plans: Cache::new(PLANS_MAX),
        }
    }

    /// A show's facts; none when there is no such show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn get(&self, id: ShowId) -> Result<Option<Arc<ShowFacts>>, Arc<DbError>> {
        self.shows.try_get_with(id, self.read(id)).await
    }

    /// Makes the next asker read a show anew; other servers follow when theirs are too old.
    pub async fn forget(&self, id: ShowId) {
        self.shows.invalidate(&id).await;
    }

    async fn read(&self, id: ShowId) -> Result<Option<Arc<ShowFacts>>, DbError> {
        let Some(show) = self.db.show(id).await? else {
            return Ok(None);
        };
        let zones = self.db.zones(id).await?;
        let (plan, seat_groups) = self.plan(show.plan_id).await?;
        let place = self.db.place(show.hall_id.0).await?;
        let event = self
            .db
            .events(&[show.event_id])
            .await?
            .remove(&show.event_id);
        let (Some(place), Some(event)) = (place, event) else {
            return Err(DbError::Unreadable { what: "shows" });
        };
        let zone_of_category = zones_by_category(&plan, &zones);
        Ok(Some(Arc::new(ShowFacts {
            show,
            event,
            place,
            zones,
            plan,
            seat_groups,
            zone_seats: OnceLock::new(),
            zone_of_category,
        })))
    }

    async fn plan(&self, id: u64) -> Result<(Arc<Plan>, Arc<SeatGroups>), DbError> {
        if let Some(plan) = self.plans.get(&id).await {
            return Ok(plan);
        }
        let unreadable = || DbError::Unreadable {
            what: "seating_plan.content",
        };
        let content = self.db.plan_content(id).await?.ok_or_else(unreadable)?;
        // Thousands of seats take a moment to read; the async threads go on meanwhile.
        let read = move || {
            let plan = Plan::parse(&content).ok()?;
            let groups = SeatGroups::of(&plan);
            Some((Arc::new(plan), Arc::new(groups)))
        };
        let read = tokio::task::spawn_blocking(read).await.ok().flatten();
        let plan = read.ok_or_else(unreadable)?;
        self.plans.insert(id, plan.clone()).await;
        Ok(plan)
    }
}

fn zones_by_category(plan: &Plan, zones: &[ZoneRecord]) -> Arc<[Option<u16>]> {
    let places: HashMap<&str, u16> = zones
        .iter()
        .zip(0..)
        .map(|(zone, place)| (zone.category.as_str(), place))
        .collect();
    plan.categories
        .iter()
        .map(|category| places.get(category.name.as_str()).copied())
        .collect()
}
