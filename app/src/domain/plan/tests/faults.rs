//! Every fault by a plan that has it.

use super::{faults, only_fault, plan_of, plan_with_area, row, seat};
use crate::domain::plan::{JsonType, PlanFaultKind};

#[test]
fn a_file_that_is_no_json_is_refused_with_its_place() {
    assert_eq!(
        only_fault("{\n \"é\": tru }"),
        "2:10 not JSON: expected ident"
    );
    assert!(only_fault("").starts_with("1:1 not JSON: EOF"));
    assert!(
        only_fault(&format!(
            "{}{}",
            plan_of(&row("A", &seat("A-1", "1", 0))),
            "]"
        ))
        .contains("not JSON: trailing")
    );
    assert!(only_fault(&"[".repeat(100_000)).contains("not JSON"));
}

#[test]
fn a_plan_that_is_another_value_is_refused() {
    assert_eq!(only_fault(" 12"), "1:2 must be an object, but is a number");
    assert_eq!(only_fault("null"), "1:1 must be an object, but is null");
}

#[test]
fn each_missing_member_is_named() {
    let text = plan_of(r#"{"seats": [{}]}, {"row_number": "B"}"#);
    let found: Vec<(String, PlanFaultKind)> = faults(&text)
        .into_iter()
        .map(|fault| (fault.path, fault.kind))
        .collect();
    let expected = [
        "zones[0].rows[0].row_number",
        "zones[0].rows[0].seats[0].seat_guid",
        "zones[0].rows[0].seats[0].seat_number",
        "zones[0].rows[0].seats[0].position",
        "zones[0].rows[0].seats[0].category",
        "zones[0].rows[1].seats",
    ];
    assert_eq!(
        found,
        expected.map(|path| (path.to_owned(), PlanFaultKind::Missing))
    );
    let found: Vec<String> = faults("{}")
        .into_iter()
        .map(|fault| fault.to_string())
        .collect();
    assert_eq!(
        found,
        [
            "1:1 name: is missing",
            "1:1 categories: is missing",
            "1:1 zones: is missing"
        ]
    );
}

#[test]
fn each_member_of_a_wrong_type_is_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#""seat_number": "1""#, r#""seat_number": 1"#)
        .replace(r#""x": 0, "y": 1.5"#, r#""x": "0", "y": [1.5]"#)
        .replace(r##""color": "#fff""##, r##""color": true"##);
    let found: Vec<PlanFaultKind> = faults(&text).into_iter().map(|fault| fault.kind).collect();
    let wrong = |expected, found| PlanFaultKind::WrongType { expected, found };
    let expected = [
        wrong(JsonType::Text, JsonType::Boolean),
        wrong(JsonType::Text, JsonType::Number),
        wrong(JsonType::Number, JsonType::Text),
        wrong(JsonType::Number, JsonType::List),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_repeated_member_is_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#"{"name": "Hall""#, r#"{"name": "X", "name": "Hall""#);
    assert_eq!(
        only_fault(&text),
        r#"1:23 "name" is given twice in one object; keep one"#
    );
}

#[test]
fn every_repeat_of_a_seat_guid_is_named_with_the_first_place() {
    let seats = [
        seat("AA-1", "1", 0),
        seat("AA-1", "2", 25),
        seat("AA-1", "3", 50),
    ];
    let found = faults(&plan_of(&row("A", &seats.join(",\n"))));
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            r#"4:15 zones[0].rows[0].seats[1].seat_guid: "AA-1" is used before, at line 3; every seat needs one of its own"#,
            r#"5:15 zones[0].rows[0].seats[2].seat_guid: "AA-1" is used before, at line 3; every seat needs one of its own"#,
        ]
    );
}

#[test]
fn seats_that_two_tickets_could_not_tell_apart_are_named() {
    let rows = [row("A", &seat("a", "1", 0)), row("A", &seat("b", "1", 90))];
    let found = only_fault(&plan_of(&rows.join(",\n")));
    assert!(found.starts_with(r#"4:"#), "{found}");
    assert!(
        found.contains(
            r#"seats[0].seat_number: row "A", seat "1" of zone "Stalls" is there before, at line 3"#
        ),
        "{found}"
    );
}

#[test]
fn an_unknown_category_is_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#""category": "Standard""#, r#""category": "standard""#);
    assert!(
        only_fault(&text).contains(r#"seats[0].category: "standard" is not among the categories"#)
    );
}

#[test]
fn a_repeated_category_and_a_nameless_one_are_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace(
        r#"{"name": "Wheelchair"}"#,
        r#"{"name": "Standard"}, {"name": " "}"#,
    );
    let found: Vec<PlanFaultKind> = faults(&text).into_iter().map(|fault| fault.kind).collect();
    let repeated = PlanFaultKind::DuplicateCategory {
        name: "Standard".to_owned(),
        first_line: 1,
    };
    assert_eq!(found, [repeated, PlanFaultKind::EmptyText]);
}

#[test]
fn coordinates_that_are_infinite_or_absurd_are_named() {
    for value in ["1e999", "-1e999", "1000001", "-2e6"] {
        let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace("1.5", value);
        let found = only_fault(&text);
        assert!(
            found.contains(&format!(
                "seats[0].position.y: {value} is no usable coordinate"
            )),
            "{found}"
        );
    }
}

#[test]
fn extents_that_are_not_positive_are_named() {
    let sound = plan_of(&row("A", &seat("A-1", "1", 0)));
    for (from, to, place) in [
        (r#""width": 300"#, r#""width": 0"#, "size.width"),
        (r#""height": 200"#, r#""height": 1e7"#, "size.height"),
        (
            r#""seat_number""#,
            r#""radius": -1, "seat_number""#,
            "radius",
        ),
    ] {
        let found = only_fault(&sound.replace(from, to));
        assert!(
            found.contains(&format!("{place}: ")) && found.contains("is no usable extent"),
            "{found}"
        );
    }
}

#[test]
fn bad_colours_are_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace("#fff", "red;}");
    assert!(
        only_fault(&text)
            .contains(r##"categories[0].color: "red;}" is no colour; write it as "#rrggbb""##)
    );
}

#[test]
fn an_unknown_row_label_place_is_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#""seats""#, r#""row_number_position": "left", "seats""#);
    assert!(
        only_fault(&text)
            .contains(r#"row_number_position: "left" is not known; it must be one of "start""#)
    );
}

#[test]
fn half_a_character_is_named() {
    let text = plan_of(&row("A", &seat(r"\ud800", "1", 0)));
    assert!(only_fault(&text).contains("seat_guid: not JSON: an escape that is no character"));
}

#[test]
fn faulty_areas_are_named() {
    let at = r#""position": {"x": 0, "y": 0}"#;
    for (area, expected) in [
        (
            format!(r#"{at}, "shape": "star""#),
            r#"areas[0].shape: "star" is not known"#,
        ),
        (
            format!(r#"{at}, "shape": "rectangle""#),
            "areas[0].rectangle: is missing",
        ),
        (
            format!(r#"{at}, "shape": "circle", "circle": {{"radius": 0}}"#),
            "areas[0].circle.radius: 0 is no usable extent",
        ),
        (
            format!(r#"{at}, "shape": "ellipse", "ellipse": {{"radius": {{"x": 5}}}}"#),
            "areas[0].ellipse.radius.y: is missing",
        ),
        (
            format!(r#"{at}, "shape": "polygon", "polygon": {{"points": [{{"x": 1, "y": 1}}]}}"#),
            "areas[0].polygon.points: has 1 points; a polygon needs at least 3",
        ),
        (
            r#""shape": "text""#.to_owned(),
            "areas[0].position: is missing",
        ),
        (
            format!(r#"{at}, "shape": "text", "text": "Door""#),
            "areas[0].text: must be an object, but is text",
        ),
    ] {
        let found = only_fault(&plan_with_area(&area));
        assert!(found.contains(expected), "{found}");
    }
}
