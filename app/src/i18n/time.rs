//! Dates and times as people read them.

use super::Lang;
use crate::domain::time::{Civil, Millis, VenueTime};

const WEEKDAYS_EN: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const WEEKDAYS_ZH: [&str; 7] = ["周一", "周二", "周三", "周四", "周五", "周六", "周日"];
const MONTHS_EN: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The day of the week in short: `Sun`, `周日`.
#[must_use]
pub fn weekday(lang: Lang, civil: &Civil) -> &'static str {
    let days = match lang {
        Lang::En => &WEEKDAYS_EN,
        Lang::ZhCn => &WEEKDAYS_ZH,
    };
    days.get(usize::from(civil.weekday))
        .copied()
        .unwrap_or_default()
}

fn month_en(civil: &Civil) -> &'static str {
    MONTHS_EN
        .get(usize::from(civil.month).wrapping_sub(1))
        .copied()
        .unwrap_or_default()
}

/// A date without its year: `Sun 29 Nov`, `11月29日 周日`.
#[must_use]
pub fn date(lang: Lang, civil: &Civil) -> String {
    let weekday = weekday(lang, civil);
    match lang {
        Lang::En => format!("{weekday} {} {}", civil.day, month_en(civil)),
        Lang::ZhCn => format!("{}月{}日 {weekday}", civil.month, civil.day),
    }
}

/// A date with its year: `Sun 29 Nov 2026`, `2026年11月29日 周日`.
#[must_use]
pub fn full_date(lang: Lang, civil: &Civil) -> String {
    let date = date(lang, civil);
    match lang {
        Lang::En => format!("{date} {}", civil.year),
        Lang::ZhCn => format!("{}年{date}", civil.year),
    }
}

/// Date and time of day on the venue's clock: `Sun 29 Nov, 19:30`, `11月29日 周日 19:30`. The zone belongs beside it.
#[must_use]
pub fn date_time(lang: Lang, time: &VenueTime) -> String {
    let civil = time.civil();
    join(lang, date(lang, &civil), &civil)
}

/// As [`date_time`], with the year.
#[must_use]
pub fn full_date_time(lang: Lang, time: &VenueTime) -> String {
    let civil = time.civil();
    join(lang, full_date(lang, &civil), &civil)
}

fn join(lang: Lang, mut date: String, civil: &Civil) -> String {
    date.push_str(match lang {
        Lang::En => ", ",
        Lang::ZhCn => " ",
    });
    date.push_str(&civil.clock());
    date
}

/// Time of day to the second: `19:05:12`.
#[must_use]
pub fn clock_with_seconds(time: &VenueTime) -> String {
    let civil = time.civil();
    format!("{}:{:02}", civil.clock(), civil.second)
}

/// A moment as machines read it, in UTC: `2026-11-29T11:30:00Z`.
#[must_use]
pub fn machine(time: &VenueTime) -> String {
    let utc = Civil::at_offset(time.at, 0);
    format!("{}T{}:{:02}Z", utc.iso_date(), utc.clock(), utc.second)
}

/// What is left of a time: `11:32`, `1:02:03`; `0:00` when nothing is. A begun second counts whole.
#[must_use]
pub fn remaining(left: Millis) -> String {
    let seconds = left.0.max(0).unsigned_abs().div_ceil(1000);
    let (minutes, second) = (seconds / 60, seconds % 60);
    match minutes / 60 {
        0 => format!("{minutes}:{second:02}"),
        hours => format!("{hours}:{:02}:{second:02}", minutes % 60),
    }
}

/// How long an event takes: `128 min`, `128 分钟`.
#[must_use]
pub fn minutes(lang: Lang, minutes: u32) -> String {
    match lang {
        Lang::En => format!("{minutes} min"),
        Lang::ZhCn => format!("{minutes} 分钟"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    fn shanghai(at_ms: i64) -> VenueTime {
        VenueTime {
            at: Timestamp(at_ms),
            offset_min: 480,
            zone: "Asia/Shanghai".to_owned(),
        }
    }

    #[test]
    fn a_time_is_written_as_the_language_writes_it() {
        let time = shanghai(1_795_951_812_000);
        assert_eq!(date_time(Lang::En, &time), "Sun 29 Nov, 19:30");
        assert_eq!(date_time(Lang::ZhCn, &time), "11月29日 周日 19:30");
        assert_eq!(full_date_time(Lang::En, &time), "Sun 29 Nov 2026, 19:30");
        assert_eq!(
            full_date_time(Lang::ZhCn, &time),
            "2026年11月29日 周日 19:30"
        );
        assert_eq!(clock_with_seconds(&time), "19:30:12");
        assert_eq!(machine(&time), "2026-11-29T11:30:12Z");
    }

    #[test]
    fn what_is_left_counts_down_to_nothing_and_never_below() {
        assert_eq!(remaining(Millis::seconds(692)), "11:32");
        assert_eq!(remaining(Millis(1)), "0:01");
        assert_eq!(remaining(Millis(0)), "0:00");
        assert_eq!(remaining(Millis(-5_000)), "0:00");
        assert_eq!(remaining(Millis::seconds(3_723)), "1:02:03");
    }
}
