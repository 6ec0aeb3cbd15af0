//! `seatflow seed` and `seatflow plan import`: filling the database from files.

use super::catalogue::{Catalogue, ShowEntry, VenueEntry, check, refund_policy};
use crate::{
    cli::plan,
    mysql::{
        Db, DbError,
        seeding::{NewEvent, NewShow, NewVenue, NewZone, PlanVersion},
        shows::StandingZone,
    },
    ticketing::venue_clock::{date_at, moment, zone},
};
use anyhow::Context;
use app::domain::{
    plan::Plan,
    tax::TaxRate,
    time::{Millis, Timestamp},
};
use jiff::{
    ToSpan,
    civil::{Date, Time},
};
use sha2::{Digest, Sha256};
use std::{collections::HashMap, fmt, path::Path};

/// Cleaning between two shows in one hall.
const CLEANING: Millis = Millis::minutes(20);

/// What seeding did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SeedReport {
    /// Venues in the catalogue.
    pub venues: usize,
    /// Halls in the catalogue.
    pub halls: usize,
    /// Plans that were put into halls by this call.
    pub new_plans: usize,
    /// Events in the catalogue.
    pub events: usize,
    /// Shows that this call put on sale.
    pub new_shows: usize,
    /// Shows that were there already.
    pub known_shows: usize,
}

impl fmt::Display for SeedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} venues, {} halls ({} new plans), {} events, {} shows put on sale, {} were there already",
            self.venues, self.halls, self.new_plans, self.events, self.new_shows, self.known_shows
        )
    }
}

struct Hall<'a> {
    id: u64,
    plan_id: u64,
    plan: Plan,
    venue: &'a VenueEntry,
}

/// Loads a catalogue. Every file is read and checked before the first row is written.
///
/// # Errors
/// When the catalogue or a plan has a fault, which is named, or the database fails.
pub async fn seed(db: &Db, file: &Path, now: Timestamp) -> anyhow::Result<SeedReport> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the catalogue {} can't be read", file.display()))?;
    let catalogue: Catalogue = serde_json::from_str(&text)
        .with_context(|| format!("the catalogue {} has a fault", file.display()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let plans = read_plans(&catalogue, folder)?;
    check(&catalogue, &plans)?;
    let mut report = SeedReport::default();
    let halls = seed_halls(db, &catalogue, plans, now, &mut report).await?;
    let events = seed_events(db, &catalogue, &mut report).await?;
    for entry in &catalogue.shows {
        seed_shows(db, entry, &catalogue, &halls, &events, now, &mut report).await?;
    }
    Ok(report)
}

fn read_plans(
    catalogue: &Catalogue,
    folder: &Path,
) -> anyhow::Result<HashMap<String, (String, Plan)>> {
    let mut plans = HashMap::new();
    for hall in catalogue.venues.iter().flat_map(|venue| &venue.halls) {
        let read = plan::read(&folder.join(&hall.plan))
            .map_err(|faults| anyhow::anyhow!("hall {}:\n{}", hall.key, faults.join("\n")))?;
        plans.insert(hall.key.clone(), read);
    }
    Ok(plans)
}

async fn seed_halls<'a>(
    db: &Db,
    catalogue: &'a Catalogue,
    mut plans: HashMap<String, (String, Plan)>,
    now: Timestamp,
    report: &mut SeedReport,
) -> anyhow::Result<HashMap<&'a str, Hall<'a>>> {
    let mut halls = HashMap::new();
    for venue in &catalogue.venues {
        let city_key = venue.city.en.to_lowercase().replace(' ', "-");
        let venue_id = db
            .seed_venue(&NewVenue {
                key: &venue.key,
                name: &venue.name,
                city_key: &city_key,
                city: &venue.city,
                time_zone: &venue.time_zone,
                currency: venue.currency,
                tax: TaxRate(venue.tax_basis_points),
            })
            .await?;
        report.venues += 1;
        for entry in &venue.halls {
            let (content, plan) = plans
                .remove(&entry.key)
                .context("a hall's plan was read twice")?;
            let id = db.seed_hall(&entry.key, venue_id, &entry.name).await?;
            let put = put_plan(db, id, &content, &plan, now).await?;
            report.halls += 1;
            report.new_plans += usize::from(put.is_new);
            halls.insert(
                entry.key.as_str(),
                Hall {
                    id,
                    plan_id: put.id,
                    plan,
                    venue,
                },
            );
        }
    }
    Ok(halls)
}

async fn put_plan(
    db: &Db,
    hall_id: u64,
    content: &str,
    plan: &Plan,
    now: Timestamp,
) -> Result<PlanVersion, DbError> {
    let sha256: String = Sha256::digest(content.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let seats = u32::try_from(plan.seats.len()).unwrap_or(u32::MAX);
    db.put_plan(hall_id, &plan.name, seats, content, &sha256, now)
        .await
}

async fn seed_events<'a>(
    db: &Db,
    catalogue: &'a Catalogue,
    report: &mut SeedReport,
) -> anyhow::Result<HashMap<&'a str, u64>> {
    let mut events = HashMap::new();
    for event in &catalogue.events {
        let id = db
            .seed_event(&NewEvent {
                key: &event.key,
                kind: event.kind.word(),
                title: &event.title,
                by: &event.by,
                duration_min: event.duration_min,
                language: &event.language,
                summary: &event.summary,
                description: &event.description,
                poster: &site_path(&event.poster),
            })
            .await?;
        report.events += 1;
        events.insert(event.key.as_str(), id);
    }
    Ok(events)
}

async fn seed_shows(
    db: &Db,
    entry: &ShowEntry,
    catalogue: &Catalogue,
    halls: &HashMap<&str, Hall<'_>>,
    events: &HashMap<&str, u64>,
    now: Timestamp,
    report: &mut SeedReport,
) -> anyhow::Result<()> {
    let hall = halls
        .get(entry.hall.as_str())
        .context("an unchecked hall")?;
    let event_id = *events
        .get(entry.event.as_str())
        .context("an unchecked event")?;
    let event = catalogue
        .events
        .iter()
        .find(|event| event.key == entry.event);
    let lasts = Millis::minutes(i64::from(event.context("an unchecked event")?.duration_min));
    let time_zone = zone(&hall.venue.time_zone);
    let today = date_at(now, &time_zone);
    for day in &entry.days {
        let date = today.checked_add(day.days())?;
        for time in &entry.times {
            let starts_at = moment(date, *time, &time_zone);
            let show = NewShow {
                event_id,
                hall_id: hall.id,
                plan_id: hall.plan_id,
                starts_at,
                ends_at: starts_at + lasts + CLEANING,
                sale_start: sale_start(entry, date, &time_zone)?,
                sale_end: starts_at - Millis::minutes(entry.sale_closes_min_before),
                limit: entry.limit,
                attendees_required: entry.attendees_required,
                hold_for: Millis::seconds(entry.hold_seconds),
                refund: refund_policy(entry)?,
                seats_total: u32::try_from(hall.plan.seats.len())?,
                currency: hall.venue.currency,
                zones: zones(entry, &hall.plan)?,
            };
            if db.seed_show(&show).await? {
                report.new_shows += 1;
            } else {
                report.known_shows += 1;
            }
        }
    }
    Ok(())
}

/// Sales open at ten in the morning at the venue.
fn sale_start(
    entry: &ShowEntry,
    date: Date,
    time_zone: &jiff::tz::TimeZone,
) -> anyhow::Result<Timestamp> {
    let opens = date.checked_sub(entry.sale_opens_days_before.days())?;
    Ok(moment(opens, Time::constant(10, 0, 0, 0), time_zone))
}

/// A file of the site as pages name it.
fn site_path(file: &str) -> String {
    format!("/{}", file.trim_start_matches('/'))
}

fn zones<'a>(entry: &'a ShowEntry, plan: &Plan) -> anyhow::Result<Vec<NewZone<'a>>> {
    entry
        .prices
        .iter()
        .map(|price| {
            let standing = price.standing_capacity.map(|capacity| StandingZone {
                capacity,
                pieces: price.pieces.unwrap_or(1),
            });
            Ok(NewZone {
                category: &price.category,
                name: &price.name,
                price_minor: price.price_minor,
                seats_total: match standing {
                    Some(_) => 0,
                    None => seats_of(plan, &price.category)?,
                },
                standing,
            })
        })
        .collect()
}

fn seats_of(plan: &Plan, category: &str) -> anyhow::Result<u32> {
    let place = plan.categories.iter().position(|c| c.name == category);
    let place = place.context("an unchecked category")?;
    let seats = plan.seats.iter();
    let of_category = seats.filter(|seat| usize::from(seat.category) == place);
    Ok(u32::try_from(of_category.count())?)
}

/// Puts a plan into a hall; says what happened.
///
/// # Errors
/// When the plan has faults, all named, there is no such hall, or the database fails; nothing is changed then.
pub async fn import_plan(
    db: &Db,
    hall: &str,
    file: &Path,
    now: Timestamp,
) -> anyhow::Result<String> {
    let (content, plan) =
        plan::read(file).map_err(|faults| anyhow::anyhow!("{}", faults.join("\n")))?;
    let id = db
        .find_hall(hall)
        .await?
        .with_context(|| format!("there is no hall {hall:?}"))?;
    let put = put_plan(db, id, &content, &plan, now).await?;
    let seats = plan.seats.len();
    Ok(if put.is_new {
        format!(
            "Hall {hall} has plan version {} with {seats} seats.",
            put.version
        )
    } else {
        format!(
            "Hall {hall} has this very plan already, as version {}.",
            put.version
        )
    })
}
