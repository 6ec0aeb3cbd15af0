//! What is on, as lists and pages need it.

use super::{Db, DbError, shows::currency_of};
use app::domain::{
    catalogue::{EventKind, EventSummary, ShowStatus},
    ids::{EventId, ShowId},
    money::Money,
    tax::TaxRate,
    text::LocalText,
    time::Timestamp,
};
use sqlx::{MySql, QueryBuilder};
use std::collections::HashMap;

/// A city with coming shows.
#[derive(Debug, Clone)]
pub struct CityRecord {
    /// Names it in addresses.
    pub key: String,
    /// Its name.
    pub name: LocalText,
    /// Its time zone; venues of one city share it.
    pub time_zone: String,
}

/// A show in a list.
#[derive(Debug, Clone)]
pub struct ListedShow {
    /// The show.
    pub id: ShowId,
    /// What is shown.
    pub event_id: EventId,
    /// When it begins.
    pub starts_at: Timestamp,
    /// When its sale begins.
    pub sale_start: Timestamp,
    /// When its sale ends.
    pub sale_end: Timestamp,
    /// As staff set it.
    pub status: ShowStatus,
    /// Its seats.
    pub seats_total: u32,
    /// The lowest price.
    pub price_from: Money,
    /// Where it is.
    pub place: Place,
}

/// Where a show is.
#[derive(Debug, Clone)]
pub struct Place {
    /// The hall's name.
    pub hall: LocalText,
    /// The venue's name.
    pub venue: LocalText,
    /// The city's name.
    pub city: LocalText,
    /// IANA name of the time zone.
    pub time_zone: String,
    /// The tax within its prices.
    pub tax: TaxRate,
}

/// Which shows a list wants.
#[derive(Debug, Clone)]
pub enum ShowFilter {
    /// Shows of one city that begin within a span.
    CityBetween {
        /// The city.
        city_key: String,
        /// First moment.
        from: Timestamp,
        /// First moment after the span.
        to: Timestamp,
    },
    /// Shows of one event that begin at or after a moment.
    EventFrom {
        /// The event.
        event: EventId,
        /// First moment.
        from: Timestamp,
    },
}

#[derive(sqlx::FromRow)]
struct ShowListRow {
    id: u64,
    event_id: u64,
    starts_at: i64,
    sale_start: i64,
    sale_end: i64,
    status: u8,
    seats_total: u32,
    price_from: i64,
    #[sqlx(flatten)]
    place: PlaceRow,
}

#[derive(sqlx::FromRow)]
struct PlaceRow {
    hall_en: String,
    hall_zh: String,
    venue_en: String,
    venue_zh: String,
    city_en: String,
    city_zh: String,
    time_zone: String,
    currency: String,
    tax_basis_points: u32,
}

impl From<PlaceRow> for Place {
    fn from(row: PlaceRow) -> Self {
        Self {
            hall: LocalText {
                en: row.hall_en,
                zh_cn: row.hall_zh,
            },
            venue: LocalText {
                en: row.venue_en,
                zh_cn: row.venue_zh,
            },
            city: LocalText {
                en: row.city_en,
                zh_cn: row.city_zh,
            },
            time_zone: row.time_zone,
            tax: TaxRate(row.tax_basis_points),
        }
    }
}

#[derive(sqlx::FromRow)]
struct EventRow {
    id: u64,
    kind: String,
    title_en: String,
    title_zh: String,
    by_en: String,
    by_zh: String,
    duration_min: u32,
    language_en: String,
    language_zh: String,
    summary_en: String,
    summary_zh: String,
    description_en: String,
    description_zh: String,
    poster: String,
}

/// An event with its description.
#[derive(Debug, Clone)]
pub struct EventRecord {
    /// The event.
    pub summary: EventSummary,
    /// A few sentences about it.
    pub description: LocalText,
}

impl TryFrom<EventRow> for EventRecord {
    type Error = DbError;
    fn try_from(row: EventRow) -> Result<Self, DbError> {
        let kind =
            EventKind::from_word(&row.kind).ok_or(DbError::Unreadable { what: "event.kind" })?;
        let summary = EventSummary {
            id: EventId(row.id),
            kind,
            title: LocalText {
                en: row.title_en,
                zh_cn: row.title_zh,
            },
            by: LocalText {
                en: row.by_en,
                zh_cn: row.by_zh,
            },
            duration_min: row.duration_min,
            language: LocalText {
                en: row.language_en,
                zh_cn: row.language_zh,
            },
            summary: LocalText {
                en: row.summary_en,
                zh_cn: row.summary_zh,
            },
            poster: row.poster,
        };
        let description = LocalText {
            en: row.description_en,
            zh_cn: row.description_zh,
        };
        Ok(Self {
            summary,
            description,
        })
    }
}

const PLACE_COLUMNS: &str = "h.name_en AS hall_en, h.name_zh AS hall_zh, v.name_en AS venue_en, v.name_zh AS venue_zh, \
     v.city_en, v.city_zh, v.time_zone, v.currency, v.tax_basis_points";

impl Db {
    /// Cities with shows that have not begun, by the number of those shows.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn cities(&self, now: Timestamp) -> Result<Vec<CityRecord>, DbError> {
        let rows: Vec<(String, String, String, String)> = sqlx::query_as(
            "SELECT v.city_key, MIN(v.city_en), MIN(v.city_zh), MIN(v.time_zone) FROM shows s \
             JOIN hall h ON h.id = s.hall_id JOIN venue v ON v.id = h.venue_id \
             WHERE s.status IN (1, 2) AND s.starts_at > ? GROUP BY v.city_key ORDER BY COUNT(*) DESC, v.city_key",
        )
        .bind(now.0)
        .fetch_all(self.pool())
        .await?;
        Ok(rows
            .into_iter()
            .map(|(key, en, zh_cn, time_zone)| CityRecord {
                key,
                name: LocalText { en, zh_cn },
                time_zone,
            })
            .collect())
    }

    /// Shows that a filter lets through, earliest first; drafts and withdrawn shows never.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn listed_shows(
        &self,
        filter: &ShowFilter,
        most: u32,
    ) -> Result<Vec<ListedShow>, DbError> {
        let mut query = QueryBuilder::<MySql>::new(
            "SELECT s.id, s.event_id, s.starts_at, s.sale_start, s.sale_end, s.status, \
             CAST(s.seats_total + COALESCE((SELECT SUM(z.standing_capacity) FROM show_zone z WHERE z.show_id = s.id), 0) \
             AS UNSIGNED) AS seats_total, \
             (SELECT MIN(z.price_minor) FROM show_zone z WHERE z.show_id = s.id) AS price_from, ",
        );
        query.push(PLACE_COLUMNS);
        query.push(
            " FROM shows s JOIN hall h ON h.id = s.hall_id JOIN venue v ON v.id = h.venue_id \
             WHERE s.status IN (1, 2)",
        );
        match filter {
            ShowFilter::CityBetween { city_key, from, to } => {
                query.push(" AND v.city_key = ").push_bind(city_key);
                query.push(" AND s.starts_at >= ").push_bind(from.0);
                query.push(" AND s.starts_at < ").push_bind(to.0);
            }
            ShowFilter::EventFrom { event, from } => {
                query.push(" AND s.event_id = ").push_bind(event.0);
                query.push(" AND s.starts_at >= ").push_bind(from.0);
            }
        }
        query
            .push(" ORDER BY s.starts_at, s.id LIMIT ")
            .push_bind(most);
        let rows: Vec<ShowListRow> = query.build_query_as().fetch_all(self.pool()).await?;
        rows.into_iter()
            .map(|row| {
                let status = ShowStatus::from_code(row.status).ok_or(DbError::Unreadable {
                    what: "shows.status",
                })?;
                Ok(ListedShow {
                    id: ShowId(row.id),
                    event_id: EventId(row.event_id),
                    starts_at: Timestamp(row.starts_at),
                    sale_start: Timestamp(row.sale_start),
                    sale_end: Timestamp(row.sale_end),
                    status,
                    seats_total: row.seats_total,
                    price_from: Money::new(row.price_from, currency_of(&row.place.currency)?),
                    place: row.place.into(),
                })
            })
            .collect()
    }

    /// Where a hall is.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn place(&self, hall_id: u64) -> Result<Option<Place>, DbError> {
        let row: Option<PlaceRow> = sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "SELECT {PLACE_COLUMNS} FROM hall h JOIN venue v ON v.id = h.venue_id WHERE h.id = ?"
        )))
        .bind(hall_id)
        .fetch_optional(self.pool())
        .await?;
        Ok(row.map(Place::from))
    }

    /// Some events by their ids.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn events(&self, ids: &[EventId]) -> Result<HashMap<EventId, EventRecord>, DbError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let mut query = QueryBuilder::<MySql>::new(
            "SELECT id, kind, title_en, title_zh, by_en, by_zh, duration_min, language_en, language_zh, summary_en, \
             summary_zh, description_en, description_zh, poster FROM event WHERE id IN (",
        );
        let mut list = query.separated(", ");
        for id in ids {
            list.push_bind(id.0);
        }
        query.push(")");
        let rows: Vec<EventRow> = query
            .build_query_as()
            .persistent(false)
            .fetch_all(self.pool())
            .await?;
        rows.into_iter()
            .map(|row| {
                let record = EventRecord::try_from(row)?;
                Ok((record.summary.id, record))
            })
            .collect()
    }
}
