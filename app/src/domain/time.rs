//! Time: milliseconds since the Unix epoch in UTC, and how a venue's clock shows them.

use serde::{Deserialize, Serialize};
use std::{
    fmt,
    ops::{Add, Sub},
};

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// A length of time in milliseconds; may be negative as a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// A length of whole seconds.
    #[must_use]
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// A length of whole minutes.
    #[must_use]
    pub const fn minutes(minutes: i64) -> Self {
        Self::seconds(minutes.saturating_mul(60))
    }
}

impl Add<Millis> for Timestamp {
    type Output = Self;
    fn add(self, length: Millis) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

impl Sub<Millis> for Timestamp {
    type Output = Self;
    fn sub(self, length: Millis) -> Self {
        Self(self.0.saturating_sub(length.0))
    }
}

impl Sub for Timestamp {
    type Output = Millis;
    fn sub(self, other: Self) -> Millis {
        Millis(self.0.saturating_sub(other.0))
    }
}

/// A moment as the clock at a venue shows it, with the zone that explains it.
///
/// The server looks the offset and the zone's names up, so that the browser needs no time zone database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VenueTime {
    /// The moment itself.
    pub at: Timestamp,
    /// What the venue's clock is ahead of UTC at that moment, in minutes.
    pub offset_min: i32,
    /// IANA name of the zone, for example `Asia/Shanghai`.
    pub zone: String,
}

/// A calendar date and time of day without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Civil {
    /// Year of the Gregorian calendar.
    pub year: i32,
    /// 1–12.
    pub month: u8,
    /// 1–31.
    pub day: u8,
    /// 0–23.
    pub hour: u8,
    /// 0–59.
    pub minute: u8,
    /// 0–59.
    pub second: u8,
    /// 0 is Monday, 6 is Sunday.
    pub weekday: u8,
}

impl VenueTime {
    /// Date and time of day on the venue's clock.
    #[must_use]
    pub fn civil(&self) -> Civil {
        Civil::at_offset(self.at, self.offset_min)
    }

    /// Another moment on the same clock, read with this moment's offset.
    #[must_use]
    pub fn with(&self, at: Timestamp) -> Self {
        Self { at, ..self.clone() }
    }
}

impl Civil {
    /// Reads a moment on a clock that is `offset_min` minutes ahead of UTC.
    ///
    /// Days are turned into dates by the method of Howard Hinnant's `civil_from_days`.
    #[must_use]
    pub fn at_offset(at: Timestamp, offset_min: i32) -> Self {
        let local_s = at.0.div_euclid(1000) + i64::from(offset_min) * 60;
        let days = local_s.div_euclid(86_400);
        let second_of_day = local_s.rem_euclid(86_400);
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year: i32::try_from(year).unwrap_or(i32::MAX),
            month: small(month),
            day: small(day_of_year - (153 * shifted_month + 2) / 5 + 1),
            hour: small(second_of_day / 3_600),
            minute: small(second_of_day / 60 % 60),
            second: small(second_of_day % 60),
            weekday: small((days + 3).rem_euclid(7)),
        }
    }

    /// The date alone, as `2026-11-29`.
    #[must_use]
    pub fn iso_date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// Hours and minutes, as `19:30`.
    #[must_use]
    pub fn clock(&self) -> String {
        format!("{:02}:{:02}", self.hour, self.minute)
    }
}

impl fmt::Display for Civil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:{:02}", self.iso_date(), self.clock(), self.second)
    }
}

/// A value that calendar arithmetic keeps below 100.
fn small(value: i64) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_on_the_venues_clock() {
        let time = VenueTime {
            at: Timestamp(1_795_951_800_000),
            offset_min: 480,
            zone: "Asia/Shanghai".to_owned(),
        };
        assert_eq!(time.civil().to_string(), "2026-11-29 19:30:00");
        assert_eq!(time.civil().weekday, 6);
    }

    #[test]
    fn dates_are_right_at_the_edges_of_the_calendar() {
        assert_eq!(
            Civil::at_offset(Timestamp(0), 0).to_string(),
            "1970-01-01 00:00:00"
        );
        assert_eq!(
            Civil::at_offset(Timestamp(-1), 0).to_string(),
            "1969-12-31 23:59:59"
        );
        assert_eq!(
            Civil::at_offset(Timestamp(951_782_400_000), 0).iso_date(),
            "2000-02-29"
        );
        assert_eq!(
            Civil::at_offset(Timestamp(951_782_400_000), -300).iso_date(),
            "2000-02-28"
        );
        assert_eq!(
            Civil::at_offset(Timestamp(4_107_542_400_000), 0).iso_date(),
            "2100-03-01"
        );
    }
}
