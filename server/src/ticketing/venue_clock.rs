//! The clock at a venue: offsets and days of its time zone.

use app::domain::time::{Timestamp, VenueTime};
use jiff::{
    Timestamp as Instant, ToSpan,
    civil::{Date, Time},
    tz::TimeZone,
};

/// A time zone by its IANA name; UTC when the name is unknown, so that a page still shows a true moment.
#[must_use]
pub fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

fn instant(at: Timestamp) -> Instant {
    Instant::from_millisecond(at.0).unwrap_or(Instant::UNIX_EPOCH)
}

/// A moment as the venue's clock shows it.
#[must_use]
pub fn venue_time(at: Timestamp, zone_name: &str) -> VenueTime {
    let offset = zone(zone_name).to_offset(instant(at));
    VenueTime {
        at,
        offset_min: offset.seconds() / 60,
        zone: zone_name.to_owned(),
    }
}

/// The venue's date at a moment.
#[must_use]
pub fn date_at(at: Timestamp, zone: &TimeZone) -> Date {
    instant(at).to_zoned_datetime(zone.clone()).date()
}

/// When a date begins and ends at the venue; a day of a clock change is 23 or 25 hours long.
#[must_use]
pub fn day_span(date: Date, zone: &TimeZone) -> (Timestamp, Timestamp) {
    let next = date.checked_add(1.day()).unwrap_or(date);
    (
        moment(date, Time::midnight(), zone),
        moment(next, Time::midnight(), zone),
    )
}

/// The moment at which the venue's clock shows a date and time. A time that a clock change skips is read with the offset
/// before it, one that comes twice is its first.
#[must_use]
pub fn moment(date: Date, time: Time, zone: &TimeZone) -> Timestamp {
    let ms = zone
        .to_ambiguous_timestamp(date.to_datetime(time))
        .compatible()
        .map_or(0, |instant| instant.as_millisecond());
    Timestamp(ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{date, time};

    #[test]
    fn the_local_start_stays_the_same_over_a_clock_change() {
        let london = zone("Europe/London");
        let before = moment(date(2027, 3, 27), time(19, 30, 0, 0), &london);
        let after = moment(date(2027, 3, 28), time(19, 30, 0, 0), &london);
        assert_eq!((after - before).0, 23 * 3_600_000);
        assert_eq!(venue_time(before, "Europe/London").civil().clock(), "19:30");
        assert_eq!(venue_time(after, "Europe/London").civil().clock(), "19:30");
        assert_eq!(venue_time(after, "Europe/London").offset_min, 60);
    }

    #[test]
    fn a_day_with_a_clock_change_is_shorter_or_longer() {
        let york = zone("America/New_York");
        let (from, to) = day_span(date(2026, 11, 1), &york);
        assert_eq!((to - from).0, 25 * 3_600_000);
        let (from, to) = day_span(date(2026, 3, 8), &york);
        assert_eq!((to - from).0, 23 * 3_600_000);
    }

    #[test]
    fn an_unknown_zone_is_read_as_utc() {
        assert_eq!(venue_time(Timestamp(0), "Nowhere/Land").offset_min, 0);
    }
}
