//! Seats as people name them.

use super::Lang;
use crate::domain::order::{OrderItem, SeatLabel};

/// One seat: `Row G, seat 9`, `Balcony, row A, seat 3`, `G 排 9 座`.
#[must_use]
pub fn seat(lang: Lang, label: &SeatLabel) -> String {
    place(lang, &label.section, &label.row, &[&label.number])
}

/// An order's places, those of one row and price category together: `Row G, seats 9 and 10` with the category's name,
/// standing places of a category as their number.
#[must_use]
pub fn rows<'a>(lang: Lang, items: &'a [OrderItem]) -> Vec<(String, &'a str)> {
    let row_of = |item: &'a OrderItem| {
        let label = item.label.as_ref();
        label.map(|label| (label.section.as_str(), label.row.as_str()))
    };
    let mut groups: Vec<(&OrderItem, Vec<&str>)> = Vec::new();
    for item in items {
        let number = item.label.as_ref().map_or("", |label| &label.number);
        let same_row = |(first, _): &&mut (&'a OrderItem, Vec<&str>)| {
            row_of(first) == row_of(item) && first.zone == item.zone
        };
        match groups.iter_mut().find(same_row) {
            Some((_, numbers)) => numbers.push(number),
            None => groups.push((item, vec![number])),
        }
    }
    let name = |(first, numbers): (&'a OrderItem, Vec<&str>)| {
        let places = match row_of(first) {
            Some((section, row)) => place(lang, section, row, &numbers),
            None => standing(lang, numbers.len()),
        };
        (places, first.zone.get(lang))
    };
    groups.into_iter().map(name).collect()
}

/// Where one ticket admits to: `Row G, seat 9`, `Standing, 1 place`.
#[must_use]
pub fn ticket(lang: Lang, item: &OrderItem) -> String {
    match &item.label {
        Some(label) => seat(lang, label),
        None => standing(lang, 1),
    }
}

/// A number of places without seats: `Standing, 2 places`.
#[must_use]
pub fn standing(lang: Lang, places: usize) -> String {
    match (lang, places) {
        (Lang::En, 1) => "Standing, 1 place".to_owned(),
        (Lang::En, _) => format!("Standing, {places} places"),
        (Lang::ZhCn, _) => format!("站席 {places} 张"),
    }
}

fn place(lang: Lang, section: &str, row: &str, numbers: &[&str]) -> String {
    match lang {
        Lang::En => place_en(section, row, numbers),
        Lang::ZhCn => place_zh(section, row, numbers),
    }
}

fn place_en(section: &str, row: &str, numbers: &[&str]) -> String {
    let mut text = section.to_owned();
    if !row.is_empty() {
        text.push_str(if text.is_empty() { "Row " } else { ", row " });
        text.push_str(row);
    }
    let many = numbers.len() > 1;
    text.push_str(match (text.is_empty(), many) {
        (true, false) => "Seat ",
        (true, true) => "Seats ",
        (false, false) => ", seat ",
        (false, true) => ", seats ",
    });
    match numbers.split_last() {
        Some((last, rest)) if many => {
            text.push_str(&rest.join(", "));
            text.push_str(" and ");
            text.push_str(last);
        }
        _ => text.push_str(&numbers.concat()),
    }
    text
}

fn place_zh(section: &str, row: &str, numbers: &[&str]) -> String {
    let mut text = section.to_owned();
    if !row.is_empty() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(row);
        text.push_str(" 排");
    }
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(&numbers.join("、"));
    text.push_str(" 座");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        ids::SeatIndex,
        money::{Currency, Money},
        text::LocalText,
    };

    fn label(section: &str, row: &str, number: &str) -> SeatLabel {
        SeatLabel {
            section: section.to_owned(),
            row: row.to_owned(),
            number: number.to_owned(),
        }
    }

    fn item(row: &str, number: &str, zone: &str) -> OrderItem {
        OrderItem {
            item_no: 0,
            seat: Some(SeatIndex(0)),
            label: Some(label("", row, number)),
            zone: LocalText {
                en: zone.to_owned(),
                zh_cn: zone.to_owned(),
            },
            price: Money::new(6_800, Currency::Cny),
            attendee: None,
            refund: None,
        }
    }

    #[test]
    fn a_seat_is_named_by_what_it_has() {
        assert_eq!(seat(Lang::En, &label("", "G", "9")), "Row G, seat 9");
        assert_eq!(
            seat(Lang::En, &label("Balcony", "A", "3")),
            "Balcony, row A, seat 3"
        );
        assert_eq!(seat(Lang::En, &label("Box 4", "", "2")), "Box 4, seat 2");
        assert_eq!(seat(Lang::En, &label("", "", "12")), "Seat 12");
        assert_eq!(seat(Lang::ZhCn, &label("二楼", "A", "3")), "二楼 A 排 3 座");
        assert_eq!(seat(Lang::ZhCn, &label("", "", "12")), "12 座");
    }

    #[test]
    fn seats_of_one_row_and_category_stand_together() {
        let items = [
            item("G", "9", "Centre"),
            item("G", "10", "Centre"),
            item("G", "11", "Side"),
            item("H", "1", "Centre"),
        ];
        let en: Vec<_> = rows(Lang::En, &items)
            .into_iter()
            .map(|(seats, _)| seats)
            .collect();
        assert_eq!(
            en,
            ["Row G, seats 9 and 10", "Row G, seat 11", "Row H, seat 1"]
        );
        assert_eq!(
            rows(Lang::ZhCn, &items)[0],
            ("G 排 9、10 座".to_owned(), "Centre")
        );
    }

    #[test]
    fn standing_places_are_counted_by_category() {
        let standing = |zone| OrderItem {
            seat: None,
            label: None,
            ..item("", "", zone)
        };
        let items = [item("G", "9", "Pit"), standing("Pit"), standing("Pit")];
        let en: Vec<_> = rows(Lang::En, &items);
        assert_eq!(en[1], ("Standing, 2 places".to_owned(), "Pit"));
        assert_eq!(en.len(), 2);
        assert_eq!(ticket(Lang::ZhCn, &items[1]), "站席 1 张");
    }
}
