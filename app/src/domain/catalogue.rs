//! What is on: events, venues, halls, shows and their zones, as pages show them.

use super::{
    ids::{EventId, ShowId, ZoneId},
    money::Money,
    standing::ZoneKind,
    tagged::SaleFields,
    text::LocalText,
    time::{Millis, Timestamp, VenueTime},
};
use serde::{Deserialize, Serialize};

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A film.
    Film,
    /// A concert.
    Concert,
}

impl EventKind {
    /// The word that the database keeps.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Film => "film",
            Self::Concert => "concert",
        }
    }

    /// Reads [`EventKind::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Film, Self::Concert]
            .into_iter()
            .find(|kind| kind.word() == word)
    }
}

/// A show's status as staff set it. The numbers are those of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShowStatus {
    /// Not offered yet (0).
    Draft,
    /// Offered within its sale window (1).
    OnSale,
    /// Every seat is sold (2).
    SoldOut,
    /// Taken back (3).
    Withdrawn,
}

impl ShowStatus {
    /// The number in the database.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Draft => 0,
            Self::OnSale => 1,
            Self::SoldOut => 2,
            Self::Withdrawn => 3,
        }
    }

    /// The word that people type and read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::OnSale => "on-sale",
            Self::SoldOut => "sold-out",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Reads [`ShowStatus::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Draft, Self::OnSale, Self::SoldOut, Self::Withdrawn]
            .into_iter()
            .find(|status| status.word() == word)
    }

    /// Reads [`ShowStatus::code`].
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Draft, Self::OnSale, Self::SoldOut, Self::Withdrawn]
            .into_iter()
            .find(|status| status.code() == code)
    }
}

/// Whether a show can be bought at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", try_from = "SaleFields")]
pub enum SaleState {
    /// Yes.
    OnSale,
    /// Not before the sale opens.
    NotYet {
        /// When it opens.
        opens_at: Timestamp,
    },
    /// Its sale is over.
    Ended,
    /// No seat is left.
    SoldOut,
    /// It was withdrawn.
    Withdrawn,
}

impl SaleState {
    /// Whether it will not be sold any more.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Withdrawn)
    }

    /// The state that a show's status, sale window and free seats make at `now`.
    #[must_use]
    pub fn at(
        now: Timestamp,
        status: ShowStatus,
        (sale_start, sale_end): (Timestamp, Timestamp),
        seats_free: u32,
    ) -> Self {
        match status {
            ShowStatus::Draft | ShowStatus::Withdrawn => Self::Withdrawn,
            ShowStatus::SoldOut => Self::SoldOut,
            ShowStatus::OnSale if now >= sale_end => Self::Ended,
            ShowStatus::OnSale if now < sale_start => Self::NotYet {
                opens_at: sale_start,
            },
            ShowStatus::OnSale if seats_free == 0 => Self::SoldOut,
            ShowStatus::OnSale => Self::OnSale,
        }
    }
}

/// An event in few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSummary {
    /// The event.
    pub id: EventId,
    /// A film or a concert.
    pub kind: EventKind,
    /// Its title.
    pub title: LocalText,
    /// The director or the artist.
    pub by: LocalText,
    /// How long it takes, in minutes.
    pub duration_min: u32,
    /// Spoken or sung language, and subtitles.
    pub language: LocalText,
    /// One line about it.
    pub summary: LocalText,
    /// Path of its poster, from the site's root.
    pub poster: String,
}

/// A show in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowSummary {
    /// The show.
    pub id: ShowId,
    /// When it begins.
    pub starts: VenueTime,
    /// The venue's name.
    pub venue: LocalText,
    /// The hall's name.
    pub hall: LocalText,
    /// The lowest price of its zones.
    pub price_from: Money,
    /// Seats that are free now.
    pub seats_free: u32,
    /// Seats in all.
    pub seats_total: u32,
    /// Whether it can be bought.
    pub sale: SaleState,
}

/// An event with some of its shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventListing {
    /// The event.
    pub event: EventSummary,
    /// Its shows, earliest first.
    pub shows: Vec<ShowSummary>,
}

/// A city with shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct City {
    /// Names the city in addresses: its English name in lower case, spaces as hyphens.
    pub key: String,
    /// Its name.
    pub name: LocalText,
}

/// What the home page is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HomeQuery {
    /// A [`City::key`]; the first city when missing or unknown.
    pub city: Option<String>,
    /// A date at the venue, `2026-11-29`; today when missing or not offered.
    pub date: Option<String>,
}

/// What is on in one city on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomePage {
    /// Every city with coming shows.
    pub cities: Vec<City>,
    /// The chosen city; none when nothing is on anywhere.
    pub city: Option<City>,
    /// Midday of each day that can be chosen, today first, on the city's clock.
    pub days: Vec<VenueTime>,
    /// The chosen day, `2026-11-29`.
    pub date: String,
    /// What is on that day.
    pub events: Vec<EventListing>,
}

/// One event and all its coming shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventPage {
    /// The event.
    pub event: EventSummary,
    /// A few sentences about it.
    pub description: LocalText,
    /// Its coming shows, earliest first.
    pub shows: Vec<ShowSummary>,
}

/// A price category of a show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// The category.
    pub id: ZoneId,
    /// Its name.
    pub name: LocalText,
    /// Price of a seat or a place, fees and tax included.
    pub price: Money,
    /// Seats or places of it that are free now.
    pub seats_free: u32,
    /// Seats or places of it in all.
    pub seats_total: u32,
    /// Whether it has seats.
    pub kind: ZoneKind,
}

/// One show, with everything its page says but the map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowPage {
    /// The show.
    pub id: ShowId,
    /// What is shown.
    pub event: EventSummary,
    /// When it begins.
    pub starts: VenueTime,
    /// The venue's name.
    pub venue: LocalText,
    /// The hall's name.
    pub hall: LocalText,
    /// The venue's city.
    pub city: LocalText,
    /// Whether it can be bought.
    pub sale: SaleState,
    /// The server's clock when this was read.
    pub now: Timestamp,
    /// Most tickets a buyer may have.
    pub limit: u32,
    /// Whether each ticket is for a person who is named.
    pub attendees_required: bool,
    /// How long seats are held for payment.
    pub hold_for: Millis,
    /// Its price categories, dearest first.
    pub zones: Vec<Zone>,
    /// Seats in all.
    pub seats_total: u32,
}
