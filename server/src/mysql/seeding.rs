//! Writing the catalogue. Everything is found again by the key it was seeded with, so seeding twice changes nothing.

use super::{Db, DbError, shows::StandingZone};
use app::domain::{
    money::Currency,
    refund::RefundPolicy,
    standing::shares,
    tax::TaxRate,
    text::LocalText,
    time::{Millis, Timestamp},
};
use sqlx::{MySql, QueryBuilder};

/// A venue to be seeded.
#[derive(Debug, Clone)]
pub struct NewVenue<'a> {
    /// Finds it again.
    pub key: &'a str,
    /// Its name.
    pub name: &'a LocalText,
    /// Names its city in addresses.
    pub city_key: &'a str,
    /// Its city's name.
    pub city: &'a LocalText,
    /// IANA name of its time zone.
    pub time_zone: &'a str,
    /// What it sells in.
    pub currency: Currency,
    /// The tax within its prices.
    pub tax: TaxRate,
}

/// An event to be seeded.
#[derive(Debug, Clone)]
pub struct NewEvent<'a> {
    /// Finds it again.
    pub key: &'a str,
    /// `film` or `concert`.
    pub kind: &'a str,
    /// Its title.
    pub title: &'a LocalText,
    /// Director or artist.
    pub by: &'a LocalText,
    /// Minutes.
    pub duration_min: u32,
    /// Languages.
    pub language: &'a LocalText,
    /// One line.
    pub summary: &'a LocalText,
    /// A few sentences.
    pub description: &'a LocalText,
    /// Path of its poster.
    pub poster: &'a str,
}

/// A hall's plan as it is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanVersion {
    /// The plan's row.
    pub id: u64,
    /// 1 for the hall's first plan.
    pub version: u32,
    /// Whether this call made it; false when the hall had the very same plan.
    pub is_new: bool,
}

/// A show to be seeded.
#[derive(Debug, Clone)]
pub struct NewShow<'a> {
    /// The event's row.
    pub event_id: u64,
    /// The hall's row.
    pub hall_id: u64,
    /// The plan's row.
    pub plan_id: u64,
    /// When it begins.
    pub starts_at: Timestamp,
    /// When it ends.
    pub ends_at: Timestamp,
    /// When its sale begins.
    pub sale_start: Timestamp,
    /// When its sale ends.
    pub sale_end: Timestamp,
    /// Most tickets a buyer may have.
    pub limit: u32,
    /// Whether each ticket is for a person who is named.
    pub attendees_required: bool,
    /// How long seats are held.
    pub hold_for: Millis,
    /// On which terms it takes tickets back.
    pub refund: RefundPolicy,
    /// Its seats.
    pub seats_total: u32,
    /// What it sells in.
    pub currency: Currency,
    /// Its zones.
    pub zones: Vec<NewZone<'a>>,
}

/// A zone to be seeded.
#[derive(Debug, Clone)]
pub struct NewZone<'a> {
    /// The plan's category.
    pub category: &'a str,
    /// Its name.
    pub name: &'a LocalText,
    /// Price of a seat.
    pub price_minor: i64,
    /// Its seats; none for a standing zone.
    pub seats_total: u32,
    /// Its places when it has no seats, and their split.
    pub standing: Option<StandingZone>,
}

impl Db {
    async fn seeded_id(&self, table: SeededTable, key: &str) -> Result<Option<u64>, DbError> {
        let query = match table {
            SeededTable::Venue => "SELECT id FROM venue WHERE seed_key = ?",
            SeededTable::Hall => "SELECT id FROM hall WHERE seed_key = ?",
            SeededTable::Event => "SELECT id FROM event WHERE seed_key = ?",
        };
        Ok(sqlx::query_scalar(query)
            .bind(key)
            .fetch_optional(self.pool())
            .await?)
    }

    /// A venue's row, made when it is missing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn seed_venue(&self, venue: &NewVenue<'_>) -> Result<u64, DbError> {
        if let Some(id) = self.seeded_id(SeededTable::Venue, venue.key).await? {
            return Ok(id);
        }
        let done = sqlx::query(
            "INSERT INTO venue (seed_key, name_en, name_zh, city_key, city_en, city_zh, time_zone, currency, \
             tax_basis_points) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(venue.key)
        .bind(&venue.name.en)
        .bind(&venue.name.zh_cn)
        .bind(venue.city_key)
        .bind(&venue.city.en)
        .bind(&venue.city.zh_cn)
        .bind(venue.time_zone)
        .bind(venue.currency.code())
        .bind(venue.tax.0)
        .execute(self.pool())
        .await?;
        Ok(done.last_insert_id())
    }

    /// A hall's row, made when it is missing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn seed_hall(
        &self,
        key: &str,
        venue_id: u64,
        name: &LocalText,
    ) -> Result<u64, DbError> {
        if let Some(id) = self.seeded_id(SeededTable::Hall, key).await? {
            return Ok(id);
        }
        let done = sqlx::query(
            "INSERT INTO hall (seed_key, venue_id, name_en, name_zh) VALUES (?, ?, ?, ?)",
        )
        .bind(key)
        .bind(venue_id)
        .bind(&name.en)
        .bind(&name.zh_cn)
        .execute(self.pool())
        .await?;
        Ok(done.last_insert_id())
    }

    /// The id of a hall by the key it was seeded with, or by its number.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_hall(&self, key: &str) -> Result<Option<u64>, DbError> {
        Ok(
            sqlx::query_scalar("SELECT id FROM hall WHERE seed_key = ? OR id = ?")
                .bind(key)
                .bind(key.parse::<u64>().unwrap_or(0))
                .fetch_optional(self.pool())
                .await?,
        )
    }

    /// An event's row, made when it is missing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn seed_event(&self, event: &NewEvent<'_>) -> Result<u64, DbError> {
        if let Some(id) = self.seeded_id(SeededTable::Event, event.key).await? {
            return Ok(id);
        }
        let done = sqlx::query(
            "INSERT INTO event (seed_key, kind, title_en, title_zh, by_en, by_zh, duration_min, language_en, \
             language_zh, summary_en, summary_zh, description_en, description_zh, poster) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(event.key)
        .bind(event.kind)
        .bind(&event.title.en)
        .bind(&event.title.zh_cn)
        .bind(&event.by.en)
        .bind(&event.by.zh_cn)
        .bind(event.duration_min)
        .bind(&event.language.en)
        .bind(&event.language.zh_cn)
        .bind(&event.summary.en)
        .bind(&event.summary.zh_cn)
        .bind(&event.description.en)
        .bind(&event.description.zh_cn)
        .bind(event.poster)
        .execute(self.pool())
        .await?;
        Ok(done.last_insert_id())
    }

    /// Puts a plan into a hall as its newest version; the same plan again changes nothing. Shows keep their version.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn put_plan(
        &self,
        hall_id: u64,
        name: &str,
        seat_count: u32,
        content: &str,
        sha256: &str,
        now: Timestamp,
    ) -> Result<PlanVersion, DbError> {
        let given = (hall_id, name, seat_count, content, sha256, now);
        self.transact(given, |&(hall_id, name, seat_count, content, sha256, now), tx| {
            Box::pin(async move {
                sqlx::query("SELECT id FROM hall WHERE id = ? FOR UPDATE")
                    .bind(hall_id)
                    .fetch_one(&mut *tx)
                    .await
                    .map_err(DbError::from)?;
                let newest: Option<(u64, u32, String)> = sqlx::query_as(
                    "SELECT id, version, content_sha256 FROM seating_plan WHERE hall_id = ? \
                     ORDER BY version DESC LIMIT 1",
                )
                .bind(hall_id)
                .fetch_optional(&mut *tx)
                .await
                .map_err(DbError::from)?;
                let version = match newest {
                    Some((id, version, present)) if present == sha256 => {
                        return Ok(PlanVersion { id, version, is_new: false });
                    }
                    Some((_, version, _)) => version + 1,
                    None => 1,
                };
                let id = sqlx::query(
                    "INSERT INTO seating_plan (hall_id, version, name, seat_count, content_sha256, content, \
                     created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                )
                .bind(hall_id)
                .bind(version)
                .bind(name)
                .bind(seat_count)
                .bind(sha256)
                .bind(content)
                .bind(now.0)
                .execute(&mut *tx)
                .await
                .map_err(DbError::from)?
                .last_insert_id();
                sqlx::query("UPDATE hall SET plan_id = ? WHERE id = ?")
                    .bind(id)
                    .bind(hall_id)
                    .execute(&mut *tx)
                    .await
                    .map_err(DbError::from)?;
                Ok::<_, DbError>(PlanVersion { id, version, is_new: true })
            })
        })
        .await
    }

    /// Puts a show on sale with its zones. False when the hall has a show that overlaps it, itself included.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn seed_show(&self, show: &NewShow<'_>) -> Result<bool, DbError> {
        self.transact(show, |&show, tx| {
            Box::pin(async move {
                sqlx::query("SELECT id FROM hall WHERE id = ? FOR UPDATE")
                    .bind(show.hall_id)
                    .fetch_one(&mut *tx)
                    .await
                    .map_err(DbError::from)?;
                let overlapping: i64 = sqlx::query_scalar(
                    "SELECT COUNT(*) FROM shows WHERE hall_id = ? AND starts_at < ? AND ends_at > ? AND status <> 3",
                )
                .bind(show.hall_id)
                .bind(show.ends_at.0)
                .bind(show.starts_at.0)
                .fetch_one(&mut *tx)
                .await
                .map_err(DbError::from)?;
                if overlapping > 0 {
                    return Ok(false);
                }
                insert_show(tx, show).await?;
                Ok::<_, DbError>(true)
            })
        })
        .await
    }
}

async fn insert_show(tx: &mut sqlx::MySqlConnection, show: &NewShow<'_>) -> Result<(), DbError> {
    let id = sqlx::query(
        "INSERT INTO shows (event_id, hall_id, plan_id, starts_at, ends_at, sale_start, sale_end, status, \
         limit_per_buyer, attendees_required, hold_ms, refund_until_ms, refund_fee_percent, seats_total) \
         VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)",
    )
    .bind(show.event_id)
    .bind(show.hall_id)
    .bind(show.plan_id)
    .bind(show.starts_at.0)
    .bind(show.ends_at.0)
    .bind(show.sale_start.0)
    .bind(show.sale_end.0)
    .bind(show.limit)
    .bind(u8::from(show.attendees_required))
    .bind(show.hold_for.0)
    .bind(show.refund.until.map(|until| until.0))
    .bind(show.refund.fee_percent)
    .bind(show.seats_total)
    .execute(&mut *tx)
    .await?
    .last_insert_id();
    let mut zones = QueryBuilder::<MySql>::new(
        "INSERT INTO show_zone (show_id, category, name_en, name_zh, price_minor, currency, seats_total, \
         standing_capacity, pieces) ",
    );
    zones.push_values(&show.zones, |mut row, zone| {
        row.push_bind(id)
            .push_bind(zone.category)
            .push_bind(zone.name.en.as_str())
            .push_bind(zone.name.zh_cn.as_str())
            .push_bind(zone.price_minor)
            .push_bind(show.currency.code())
            .push_bind(zone.seats_total)
            .push_bind(zone.standing.map(|standing| standing.capacity))
            .push_bind(zone.standing.map_or(1, |standing| standing.pieces));
    });
    zones.build().persistent(false).execute(&mut *tx).await?;
    for zone in &show.zones {
        if let Some(standing) = zone.standing {
            insert_stock(tx, id, zone.category, standing).await?;
        }
    }
    Ok(())
}

/// A standing zone's stock, and how it is shared among the zone's pieces.
async fn insert_stock(
    tx: &mut sqlx::MySqlConnection,
    show: u64,
    category: &str,
    standing: StandingZone,
) -> Result<(), DbError> {
    let zone: u64 =
        sqlx::query_scalar("SELECT id FROM show_zone WHERE show_id = ? AND category = ?")
            .bind(show)
            .bind(category)
            .fetch_one(&mut *tx)
            .await?;
    sqlx::query("INSERT INTO standing_stock (zone_id, capacity) VALUES (?, ?)")
        .bind(zone)
        .bind(standing.capacity)
        .execute(&mut *tx)
        .await?;
    let none_taken = vec![0; usize::from(standing.pieces)];
    let totals = shares(standing.capacity, &none_taken).unwrap_or_default();
    let mut pieces =
        QueryBuilder::<MySql>::new("INSERT INTO standing_piece (zone_id, piece, total) ");
    pieces.push_values((0_u16..).zip(totals), |mut row, (piece, total)| {
        row.push_bind(zone).push_bind(piece).push_bind(total);
    });
    pieces.build().persistent(false).execute(tx).await?;
    Ok(())
}

enum SeededTable {
    Venue,
    Hall,
    Event,
}
