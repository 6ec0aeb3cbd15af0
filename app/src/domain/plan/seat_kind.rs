//! What a place is for, told by its category's name.

use super::SeatKind;

const COMPANION: &[&str] = &[
    "companion",
    "carer",
    "begleit",
    "begeleid",
    "accompagn",
    "acompañante",
    "acompanhante",
    "pendamping",
    "陪同",
    "陪护",
    "陪護",
    "同伴席",
    "付き添い",
    "介助",
    "동반",
    "보호자",
];
const WHEELCHAIR: &[&str] = &[
    "wheelchair",
    "accessible",
    "handicap",
    "rollstuhl",
    "rolstoel",
    "fauteuil roulant",
    "fauteuils roulants",
    "silla de ruedas",
    "cadeira de rodas",
    "sedia a rotelle",
    "carrozzina",
    "kursi roda",
    "轮椅",
    "輪椅",
    "无障碍",
    "無障礙",
    "車椅子",
    "車いす",
    "장애인",
    "휠체어",
];
const COUPLE: &[&str] = &[
    "couple",
    "daybed",
    "loveseat",
    "love seat",
    "sweetheart",
    "partnersitz",
    "paarsitz",
    "pärchen",
    "情侣",
    "情侶",
    "双人",
    "雙人",
    "カップル",
    "ペアシート",
    "커플",
];

impl SeatKind {
    /// The kind of all seats of a category, since the format has no other word for it.
    ///
    /// The rule: the name, in lower case, contains a known word (English, Chinese, Japanese, Korean, German, French,
    /// Spanish, Portuguese, Italian, Dutch, Indonesian). A companion's place is looked for first, because such a
    /// category is often called "wheelchair companion". Everything else is a standard seat.
    #[must_use]
    pub fn of_category(name: &str) -> SeatKind {
        let name = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if has(COMPANION) {
            SeatKind::Companion
        } else if has(WHEELCHAIR) {
            SeatKind::Wheelchair
        } else if has(COUPLE) {
            SeatKind::Couple
        } else {
            SeatKind::Standard
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_read_from_the_name_in_several_languages() {
        for (name, kind) in [
            ("Wheelchair", SeatKind::Wheelchair),
            ("스탠다드/장애인석", SeatKind::Wheelchair),
            ("轮椅席", SeatKind::Wheelchair),
            ("Rollstuhlplätze", SeatKind::Wheelchair),
            ("Companion", SeatKind::Companion),
            ("Wheelchair companion", SeatKind::Companion),
            ("轮椅陪同席", SeatKind::Companion),
            ("Double Daybed", SeatKind::Couple),
            ("情侣座", SeatKind::Couple),
            ("Full Recliner", SeatKind::Standard),
            ("스탠다드/일반", SeatKind::Standard),
            ("NOT AVAILABLE", SeatKind::Standard),
            ("", SeatKind::Standard),
        ] {
            assert_eq!(SeatKind::of_category(name), kind, "{name}");
        }
    }
}
