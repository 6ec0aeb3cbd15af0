//! Names of time zones, which stand beside every time.

use super::Lang;
use crate::domain::time::VenueTime;

/// A zone's names: outside daylight saving time, and during it where the zone has one.
struct Zone {
    id: &'static str,
    /// Minutes ahead of UTC outside daylight saving time.
    offset_min: i32,
    standard: Name,
    summer: Option<Name>,
}

/// A name in English and in Chinese.
type Name = (&'static str, &'static str);

/// Minutes by which daylight saving time is ahead, in every zone of the table.
const SUMMER_SHIFT_MIN: i32 = 60;

const fn fixed(id: &'static str, offset_min: i32, standard: Name) -> Zone {
    Zone {
        id,
        offset_min,
        standard,
        summer: None,
    }
}

const fn shifting(id: &'static str, offset_min: i32, standard: Name, summer: Name) -> Zone {
    Zone {
        id,
        offset_min,
        standard,
        summer: Some(summer),
    }
}

const CENTRAL_EUROPE: Name = ("Central European Time", "中欧标准时间");
const CENTRAL_EUROPE_SUMMER: Name = ("Central European Summer Time", "中欧夏令时间");

static ZONES: [Zone; 27] = [
    fixed(
        "Asia/Shanghai",
        480,
        ("China Standard Time", "中国标准时间"),
    ),
    fixed("Asia/Hong_Kong", 480, ("Hong Kong Time", "香港时间")),
    fixed("Asia/Macau", 480, ("Macau Time", "澳门时间")),
    fixed("Asia/Taipei", 480, ("Taipei Time", "台北时间")),
    fixed("Asia/Singapore", 480, ("Singapore Time", "新加坡时间")),
    fixed("Asia/Tokyo", 540, ("Japan Standard Time", "日本标准时间")),
    fixed("Asia/Seoul", 540, ("Korea Standard Time", "韩国标准时间")),
    fixed("Asia/Bangkok", 420, ("Indochina Time", "印度支那时间")),
    fixed("Asia/Kolkata", 330, ("India Standard Time", "印度标准时间")),
    fixed("Asia/Dubai", 240, ("Gulf Standard Time", "海湾标准时间")),
    shifting(
        "Europe/London",
        0,
        ("Greenwich Mean Time", "格林尼治标准时间"),
        ("British Summer Time", "英国夏令时间"),
    ),
    shifting(
        "Europe/Lisbon",
        0,
        ("Western European Time", "西欧标准时间"),
        ("Western European Summer Time", "西欧夏令时间"),
    ),
    shifting("Europe/Paris", 60, CENTRAL_EUROPE, CENTRAL_EUROPE_SUMMER),
    shifting("Europe/Berlin", 60, CENTRAL_EUROPE, CENTRAL_EUROPE_SUMMER),
    shifting("Europe/Vienna", 60, CENTRAL_EUROPE, CENTRAL_EUROPE_SUMMER),
    shifting("Europe/Zurich", 60, CENTRAL_EUROPE, CENTRAL_EUROPE_SUMMER),
    shifting(
        "Europe/Amsterdam",
        60,
        CENTRAL_EUROPE,
        CENTRAL_EUROPE_SUMMER,
    ),
    shifting("Europe/Madrid", 60, CENTRAL_EUROPE, CENTRAL_EUROPE_SUMMER),
    shifting("Europe/Rome", 60, CENTRAL_EUROPE, CENTRAL_EUROPE_SUMMER),
    shifting(
        "Europe/Stockholm",
        60,
        CENTRAL_EUROPE,
        CENTRAL_EUROPE_SUMMER,
    ),
    shifting(
        "America/New_York",
        -300,
        ("Eastern Standard Time", "北美东部标准时间"),
        ("Eastern Daylight Time", "北美东部夏令时间"),
    ),
    shifting(
        "America/Toronto",
        -300,
        ("Eastern Standard Time", "北美东部标准时间"),
        ("Eastern Daylight Time", "北美东部夏令时间"),
    ),
    shifting(
        "America/Chicago",
        -360,
        ("Central Standard Time", "北美中部标准时间"),
        ("Central Daylight Time", "北美中部夏令时间"),
    ),
    shifting(
        "America/Los_Angeles",
        -480,
        ("Pacific Standard Time", "北美太平洋标准时间"),
        ("Pacific Daylight Time", "北美太平洋夏令时间"),
    ),
    shifting(
        "Australia/Sydney",
        600,
        ("Australian Eastern Standard Time", "澳大利亚东部标准时间"),
        ("Australian Eastern Daylight Time", "澳大利亚东部夏令时间"),
    ),
    shifting(
        "Australia/Melbourne",
        600,
        ("Australian Eastern Standard Time", "澳大利亚东部标准时间"),
        ("Australian Eastern Daylight Time", "澳大利亚东部夏令时间"),
    ),
    shifting(
        "Pacific/Auckland",
        720,
        ("New Zealand Standard Time", "新西兰标准时间"),
        ("New Zealand Daylight Time", "新西兰夏令时间"),
    ),
];

/// What the clock of a time is called at that time: `China Standard Time`, `British Summer Time`, or `UTC+05:45` for a zone
/// without a name here.
#[must_use]
pub fn zone_name(lang: Lang, time: &VenueTime) -> String {
    let known = ZONES.iter().find(|zone| zone.id == time.zone);
    let name = known.and_then(|zone| match time.offset_min - zone.offset_min {
        0 => Some(zone.standard),
        SUMMER_SHIFT_MIN => zone.summer,
        _ => None,
    });
    match (name, lang) {
        (Some((en, _)), Lang::En) => en.to_owned(),
        (Some((_, zh_cn)), Lang::ZhCn) => zh_cn.to_owned(),
        (None, _) => utc_offset(time.offset_min),
    }
}

fn utc_offset(offset_min: i32) -> String {
    let sign = if offset_min < 0 { '-' } else { '+' };
    let minutes = offset_min.unsigned_abs();
    format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    fn name(zone: &str, offset_min: i32, lang: Lang) -> String {
        zone_name(
            lang,
            &VenueTime {
                at: Timestamp(0),
                offset_min,
                zone: zone.to_owned(),
            },
        )
    }

    #[test]
    fn a_zone_is_called_by_its_name_at_the_time() {
        assert_eq!(name("Asia/Shanghai", 480, Lang::En), "China Standard Time");
        assert_eq!(name("Asia/Shanghai", 480, Lang::ZhCn), "中国标准时间");
        assert_eq!(name("Europe/London", 0, Lang::En), "Greenwich Mean Time");
        assert_eq!(name("Europe/London", 60, Lang::En), "British Summer Time");
        assert_eq!(
            name("Australia/Sydney", 660, Lang::ZhCn),
            "澳大利亚东部夏令时间"
        );
    }

    #[test]
    fn a_zone_or_an_offset_without_a_name_is_given_as_a_number() {
        assert_eq!(name("Asia/Kathmandu", 345, Lang::En), "UTC+05:45");
        assert_eq!(name("America/St_Johns", -210, Lang::ZhCn), "UTC-03:30");
        assert_eq!(name("Asia/Shanghai", 540, Lang::En), "UTC+09:00");
    }

    #[test]
    fn every_zone_is_listed_once() {
        for (place, zone) in ZONES.iter().enumerate() {
            assert!(
                ZONES[..place].iter().all(|other| other.id != zone.id),
                "{}",
                zone.id
            );
        }
    }
}
