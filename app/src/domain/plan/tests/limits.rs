//! Every bound: what just fits is taken, what is more is refused.

use super::{faults, only_fault, plan_of, row, seat};
use crate::domain::plan::{
    PLAN_BYTES_MAX, PLAN_CATEGORIES_MAX, PLAN_FAULTS_MAX, PLAN_SEATS_MAX, Plan,
};

#[test]
fn a_file_that_is_too_large_is_refused_unread() {
    let text = " ".repeat(PLAN_BYTES_MAX + 1);
    assert_eq!(
        only_fault(&text),
        "1:1 the file has 8388609 bytes; at most 8388608 are read"
    );
}

#[test]
fn too_many_categories_are_refused() {
    let many: Vec<String> = (0..=PLAN_CATEGORIES_MAX)
        .map(|n| format!(r#"{{"name": "c{n}"}}"#))
        .collect();
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#"{"name": "Wheelchair"}"#, &many[2..].join(","));
    assert!(Plan::parse(&text).is_ok());
    let text = text.replace(r#"{"name": "c2"}"#, r#"{"name": "c1"}, {"name": "c2"}"#);
    assert!(only_fault(&text).contains("there are 1001 categories"));
}

#[test]
fn texts_that_are_empty_or_too_long_are_named() {
    let text = plan_of(&row("A", &seat("", "1", 0)));
    assert!(only_fault(&text).ends_with("seats[0].seat_guid: is empty"));
    let text = plan_of(&row("A", &seat(&"é".repeat(191), "1", 0)));
    assert!(only_fault(&text).ends_with("has 191 characters; at most 190 are kept"));
}

#[test]
fn what_stands_on_tickets_and_names_zones_is_as_long_as_their_columns() {
    let sound = plan_of(&row("A", &seat("A-1", "1", 0)));
    for (from, chars_max, place) in [
        ("Stalls", 120, "zones[0].name"),
        ("Wheelchair", 120, "categories[1].name"),
    ] {
        let fits = sound.replace(from, &"座".repeat(chars_max));
        assert!(Plan::parse(&fits).is_ok(), "{place}");
        let found = only_fault(&sound.replace(from, &"座".repeat(chars_max + 1)));
        let expected = format!(
            "{place}: has {} characters; at most {chars_max} are kept",
            chars_max + 1
        );
        assert!(found.ends_with(&expected), "{found}");
    }
    let long = "9".repeat(41);
    assert!(Plan::parse(&plan_of(&row(&long[1..], &seat("A-1", &long[1..], 0)))).is_ok());
    for (text, place) in [
        (row(&long, &seat("A-1", "1", 0)), "rows[0].row_number"),
        (row("A", &seat("A-1", &long, 0)), "seats[0].seat_number"),
    ] {
        let found = only_fault(&plan_of(&text));
        let expected = format!("{place}: has 41 characters; at most 40 are kept");
        assert!(found.ends_with(&expected), "{found}");
    }
}

#[test]
fn a_plan_without_seats_is_refused() {
    assert!(only_fault(&plan_of(&row("A", ""))).contains("zones: the plan has no seats"));
}

#[test]
fn a_plan_with_too_many_seats_is_refused() {
    // Short members, so that the seats fit into the largest file.
    let seat = |n: usize| {
        format!(
            r#"{{"seat_guid":"{n}","seat_number":"{n}","position":{{"x":0,"y":0}},"category":"Standard"}}"#
        )
    };
    let seats: Vec<String> = (0..=PLAN_SEATS_MAX).map(seat).collect();
    assert!(Plan::parse(&plan_of(&row("A", &seats[1..].join(",")))).is_ok());
    assert!(
        only_fault(&plan_of(&row("A", &seats.join(","))))
            .contains("the plan has 60001 seats; at most 60000")
    );
}

#[test]
fn faults_beyond_the_bound_are_counted() {
    let seats: Vec<String> = (0..PLAN_FAULTS_MAX + 8)
        .map(|n| seat("same", &n.to_string(), 0))
        .collect();
    let found = faults(&plan_of(&row("A", &seats.join(",\n"))));
    assert_eq!(found.len(), PLAN_FAULTS_MAX + 1);
    assert_eq!(found[PLAN_FAULTS_MAX].to_string(), "1004:15 and 7 more");
}

#[test]
fn what_a_file_says_is_shown_short_and_without_control_characters() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace(
        r#""category": "Standard""#,
        &format!(r#""category": "\u001b[2J\n{}""#, "x".repeat(150)),
    );
    let found = only_fault(&text);
    assert!(
        !found.contains(char::is_control) && found.contains('…'),
        "{found}"
    );
}
