//! Words about standing zones.

use super::Lang;

/// Whether so few places of a zone are left that it is worth saying.
#[must_use]
pub fn is_low(left: u32, total: u32) -> bool {
    /// Below this share of places, in percent; bars of free seats change their colour there too.
    const LOW_PERCENT: u64 = 20;
    u64::from(left) * 100 < u64::from(total) * LOW_PERCENT
}

/// What a standing zone has left: `340 places left`, `Only 7 places left`, `No places left`.
#[must_use]
pub fn places_left(lang: Lang, left: u32, total: u32) -> String {
    match (lang, left) {
        (Lang::En, 0) => "No places left".to_owned(),
        (Lang::ZhCn, 0) => "已售完".to_owned(),
        (Lang::En, 1) => "Only 1 place left".to_owned(),
        (Lang::En, _) if is_low(left, total) => format!("Only {left} places left"),
        (Lang::En, _) => format!("{left} places left"),
        (Lang::ZhCn, _) if is_low(left, total) => format!("仅余 {left} 张"),
        (Lang::ZhCn, _) => format!("余 {left} 张"),
    }
}

/// The button of a standing zone: `Hold 1 place`, `Hold 2 places`.
#[must_use]
pub fn hold_places(lang: Lang, places: u32) -> String {
    match (lang, places) {
        (Lang::En, 1) => "Hold 1 place".to_owned(),
        (Lang::En, _) => format!("Hold {places} places"),
        (Lang::ZhCn, _) => format!("锁定 {places} 张站席"),
    }
}

/// The number of places of a standing zone, as a voice reads it.
#[must_use]
pub fn places_of(lang: Lang, zone: &str) -> String {
    match lang {
        Lang::En => format!("How many places, {zone}"),
        Lang::ZhCn => format!("{zone}张数"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_zone_says_when_few_or_no_places_are_left() {
        assert_eq!(places_left(Lang::En, 340, 400), "340 places left");
        assert_eq!(places_left(Lang::En, 80, 400), "80 places left");
        assert_eq!(places_left(Lang::En, 79, 400), "Only 79 places left");
        assert_eq!(places_left(Lang::En, 1, 1), "Only 1 place left");
        assert_eq!(places_left(Lang::En, 0, 400), "No places left");
        assert_eq!(places_left(Lang::ZhCn, 7, 400), "仅余 7 张");
        assert_eq!(places_left(Lang::ZhCn, 0, 400), "已售完");
    }
}
