//! The quantity log as the scripts must keep it: a chain of changes for each zone.

use super::model::ModelShow;
use app::domain::ids::{OrderNo, ZoneId};
use proptest::{prelude::*, test_runner::TestCaseError};
use std::collections::BTreeMap;

/// A change of what a zone has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// None when the zone was not there before.
    pub before: Option<i64>,
    pub change: i64,
    pub after: i64,
    pub order_no: Option<OrderNo>,
    pub why: String,
}

/// The changes of each zone, oldest first.
pub type Books = BTreeMap<ZoneId, Vec<Change>>;

/// Adds a change for each zone that has more or less left than before.
pub fn note(
    books: &mut Books,
    before: &BTreeMap<ZoneId, i64>,
    after: &BTreeMap<ZoneId, i64>,
    order_no: Option<OrderNo>,
    why: &str,
) {
    for (zone, &after) in after {
        let before = before.get(zone).copied();
        if before != Some(after) {
            books.entry(*zone).or_default().push(Change {
                before,
                change: after - before.unwrap_or(0),
                after,
                order_no,
                why: why.to_owned(),
            });
        }
    }
}

/// An entry of the stream, as Redis sends it.
pub fn read(entries: Vec<(String, BTreeMap<String, String>)>) -> Books {
    let mut books = Books::new();
    for (_, fields) in entries {
        let number = |field: &str| fields[field].parse::<i64>().unwrap();
        let order_no = Some(&fields["order"]).filter(|text| !text.is_empty());
        let before = Some("before").filter(|field| !fields[*field].is_empty());
        let zone = ZoneId(fields["zone"].parse().unwrap());
        books.entry(zone).or_default().push(Change {
            before: before.map(number),
            change: number("change"),
            after: number("after"),
            order_no: order_no.map(|text| text.parse().unwrap()),
            why: fields["why"].clone(),
        });
    }
    books
}

/// Each change begins with what the one before it left, and the last one left what is left.
pub fn are_chains(show: &ModelShow) -> Result<(), TestCaseError> {
    for (zone, left) in &show.zones {
        let mut last = None;
        for change in show.books.get(zone).into_iter().flatten() {
            prop_assert_eq!(change.before, last, "zone {}: {:?}", zone, change);
            prop_assert_eq!(change.before.unwrap_or(0) + change.change, change.after);
            last = Some(change.after);
        }
        prop_assert_eq!(last, Some(*left), "zone {}", zone);
    }
    Ok(())
}
