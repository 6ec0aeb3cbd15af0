//! What is on: pages put together from the database's facts and Redis' live counts.

use super::{
    Failure, Ticketing,
    failure::OrTell,
    venue_clock::{date_at, day_span, moment, venue_time, zone},
};
use crate::mysql::catalogue::{CityRecord, ListedShow, ShowFilter};
use app::{
    domain::{
        catalogue::{
            City, EventListing, EventPage, HomePage, HomeQuery, SaleState, ShowPage, ShowSummary,
            Zone,
        },
        ids::{EventId, ShowId, ZoneId},
        seat::MapUpdate,
        standing::ZoneKind,
        time::VenueTime,
    },
    error::{AppError, Thing},
    ports::ShowMap,
};
use futures::{StreamExt, TryStreamExt, future, stream};
use jiff::{
    ToSpan,
    civil::{Date, Time},
};
use std::collections::HashMap;

/// Days that can be chosen on the home page.
const DAYS: i64 = 8;
/// Shows of one day in one city.
const SHOWS_MAX: u32 = 300;
/// Shows loaded into Redis at the same time for one page; each takes two database connections.
const LOADS_AT_ONCE: usize = 4;

impl Ticketing {
    /// What is on in one city on one day.
    ///
    /// # Errors
    /// `Busy` or `Internal`.
    pub async fn home_page(&self, query: HomeQuery) -> Result<HomePage, AppError> {
        self.read_home(query).await.or_tell("read home page")
    }

    async fn read_home(&self, query: HomeQuery) -> Result<HomePage, Failure> {
        let cities = self.inner.db.cities(self.now()).await?;
        let chosen = query
            .city
            .as_deref()
            .and_then(|key| cities.iter().find(|city| city.key == key));
        let Some(city) = chosen.or(cities.first()) else {
            return Ok(HomePage {
                cities: Vec::new(),
                city: None,
                days: Vec::new(),
                date: String::new(),
                events: Vec::new(),
            });
        };
        let time_zone = zone(&city.time_zone);
        let today = date_at(self.now(), &time_zone);
        let dates: Vec<Date> = (0..DAYS)
            .filter_map(|ahead| today.checked_add(ahead.days()).ok())
            .collect();
        let wanted = query
            .date
            .as_deref()
            .and_then(|text| text.parse::<Date>().ok());
        let date = wanted.filter(|date| dates.contains(date)).unwrap_or(today);
        let (from, to) = day_span(date, &time_zone);
        let filter = ShowFilter::CityBetween {
            city_key: city.key.clone(),
            from,
            to,
        };
        let shows = self.inner.db.listed_shows(&filter, SHOWS_MAX).await?;
        Ok(HomePage {
            events: self.listings(shows).await?,
            city: Some(city_of(city)),
            days: dates.into_iter().map(|date| midday(date, city)).collect(),
            date: date.to_string(),
            cities: cities.iter().map(city_of).collect(),
        })
    }

    /// Shows grouped by event, in the order in which the events' first shows begin.
    async fn listings(&self, shows: Vec<ListedShow>) -> Result<Vec<EventListing>, Failure> {
        let mut order: Vec<EventId> = Vec::new();
        for show in &shows {
            if !order.contains(&show.event_id) {
                order.push(show.event_id);
            }
        }
        let mut events = self.inner.db.events(&order).await?;
        let mut grouped: HashMap<EventId, Vec<ShowSummary>> = HashMap::new();
        for (event, summary) in self.summaries(shows).await? {
            grouped.entry(event).or_default().push(summary);
        }
        Ok(order
            .into_iter()
            .filter_map(|id| {
                let event = events.remove(&id)?.summary;
                Some(EventListing {
                    event,
                    shows: grouped.remove(&id)?,
                })
            })
            .collect())
    }

    async fn summaries(
        &self,
        shows: Vec<ListedShow>,
    ) -> Result<Vec<(EventId, ShowSummary)>, Failure> {
        let ids: Vec<ShowId> = shows.iter().map(|show| show.id).collect();
        let free = self.free_places(&ids).await?;
        let now = self.now();
        Ok(shows
            .into_iter()
            .zip(free)
            .map(|(show, free)| {
                let seats_free: u32 = free.iter().map(|(_, count)| count).sum();
                let window = (show.sale_start, show.sale_end);
                let summary = ShowSummary {
                    id: show.id,
                    starts: venue_time(show.starts_at, &show.place.time_zone),
                    venue: show.place.venue,
                    hall: show.place.hall,
                    price_from: show.price_from,
                    seats_free,
                    seats_total: show.seats_total,
                    sale: SaleState::at(now, show.status, window, seats_free),
                };
                (show.event_id, summary)
            })
            .collect())
    }

    /// Free places of each zone, live; shows that Redis does not have are loaded first. One of which nothing is sold any more
    /// is not, and has none.
    async fn free_places(&self, shows: &[ShowId]) -> Result<Vec<Vec<(ZoneId, u32)>>, Failure> {
        let mut counts = self.inner.redis.remaining(shows).await?;
        let (mut missing, mut open) = (Vec::new(), Vec::with_capacity(shows.len()));
        for (show, count) in shows.iter().zip(&counts) {
            if count.is_none() {
                let facts = self.facts(*show).await?;
                if facts.is_some_and(|facts| self.closed_for_good(&facts.show).is_some()) {
                    continue;
                }
                missing.push(*show);
            }
            open.push(*show);
        }
        if !missing.is_empty() {
            stream::iter(missing)
                .map(|show| self.load_show(show))
                .buffer_unordered(LOADS_AT_ONCE)
                .try_for_each(|_| future::ready(Ok(())))
                .await?;
            counts = self.inner.redis.remaining(shows).await?;
        }
        let mut standing = self.standing_left_of(&open).await?;
        let with_standing = |(show, seats): (&ShowId, Option<Vec<(ZoneId, u32)>>)| {
            let mut zones = seats.unwrap_or_default();
            zones.extend(standing.remove(show).unwrap_or_default());
            zones
        };
        Ok(shows.iter().zip(counts).map(with_standing).collect())
    }

    /// One event with its coming shows.
    ///
    /// # Errors
    /// `NotFound`, `Busy` or `Internal`.
    pub async fn event_page(&self, id: EventId) -> Result<EventPage, AppError> {
        let events = self.inner.db.events(&[id]).await;
        let event = events.or_tell("read event")?.remove(&id);
        let event = event.ok_or(AppError::NotFound { what: Thing::Event })?;
        let filter = ShowFilter::EventFrom {
            event: id,
            from: self.now(),
        };
        let shows = self
            .inner
            .db
            .listed_shows(&filter, SHOWS_MAX)
            .await
            .or_tell("read event")?;
        let shows = self.summaries(shows).await.or_tell("read event")?;
        Ok(EventPage {
            event: event.summary,
            description: event.description,
            shows: shows.into_iter().map(|(_, summary)| summary).collect(),
        })
    }

    /// One show without its map.
    ///
    /// # Errors
    /// `NotFound`, `Busy` or `Internal`.
    pub async fn show_page(&self, id: ShowId) -> Result<ShowPage, AppError> {
        let facts = self.offered_show(id).await?;
        let mut free = self.free_places(&[id]).await.or_tell("read show")?;
        let free: HashMap<ZoneId, u32> = free.pop().unwrap_or_default().into_iter().collect();
        let now = self.now();
        let show = &facts.show;
        let window = (show.sale_start, show.sale_end);
        Ok(ShowPage {
            id,
            event: facts.event.summary.clone(),
            starts: venue_time(show.starts_at, &facts.place.time_zone),
            venue: facts.place.venue.clone(),
            hall: facts.place.hall.clone(),
            city: facts.place.city.clone(),
            sale: SaleState::at(now, show.status, window, free.values().sum()),
            now,
            limit: show.limit,
            attendees_required: show.attendees_required,
            hold_for: show.hold_for,
            zones: facts
                .zones
                .iter()
                .map(|zone| Zone {
                    id: zone.id,
                    name: zone.name.clone(),
                    price: zone.price,
                    seats_free: free.get(&zone.id).copied().unwrap_or(0),
                    seats_total: zone.places_total(),
                    kind: match zone.standing {
                        Some(_) => ZoneKind::Standing,
                        None => ZoneKind::Seated,
                    },
                })
                .collect(),
            seats_total: show.seats_total,
        })
    }

    /// One show's map.
    ///
    /// # Errors
    /// `NotFound`, `Busy` or `Internal`.
    pub async fn show_map(&self, id: ShowId) -> Result<ShowMap, AppError> {
        let facts = self.offered_show(id).await?;
        let update = self.seat_map(id, None).await.or_tell("read seat map")?;
        let Some(MapUpdate::Whole(seats)) = update else {
            return Err(AppError::NotFound { what: Thing::Show });
        };
        Ok(ShowMap {
            plan: facts.plan.clone(),
            zone_of_category: facts.zone_of_category.clone(),
            seats,
        })
    }
}

fn city_of(record: &CityRecord) -> City {
    City {
        key: record.key.clone(),
        name: record.name.clone(),
    }
}

fn midday(date: Date, city: &CityRecord) -> VenueTime {
    let noon = Time::constant(12, 0, 0, 0);
    venue_time(moment(date, noon, &zone(&city.time_zone)), &city.time_zone)
}
