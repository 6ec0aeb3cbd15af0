//! Every fault by a plan that has it, and what must not be one.

use super::{
    Area, JsonType, PLAN_BYTES_MAX, PLAN_CATEGORIES_MAX, PLAN_FAULTS_MAX, PLAN_SEATS_MAX, Plan,
    PlanFault, PlanFaultKind, RowLabel, SeatKind,
};

/// A plan of one zone at (100, 50), whose rows are given.
fn plan_of(rows: &str) -> String {
    format!(
        r##"{{"name": "Hall", "categories": [{{"name": "Standard", "color": "#fff"}}, {{"name": "Wheelchair"}}],
"size": {{"width": 300, "height": 200}}, "zones": [{{"name": "Stalls", "position": {{"x": 100, "y": 50}}, "rows": [
{rows}
]}}]}}"##
    )
}

/// A row at (0, 10) whose seats are given.
fn row(name: &str, seats: &str) -> String {
    format!(r#"{{"row_number": "{name}", "position": {{"x": 0, "y": 10}}, "seats": [{seats}]}}"#)
}

fn seat(guid: &str, number: &str, x: i32) -> String {
    format!(
        r#"{{"seat_guid": "{guid}", "seat_number": "{number}", "position": {{"x": {x}, "y": 1.5}}, "category": "Standard"}}"#
    )
}

/// A sound plan with an area of the given members.
fn plan_with_area(area: &str) -> String {
    let rows = row("A", &seat("A-1", "1", 0));
    plan_of(&rows).replace("]}]}", &format!("], \"areas\": [{{{area}}}]}}]}}"))
}

fn faults(json: &str) -> Vec<PlanFault> {
    Plan::parse(json).expect_err("the plan is faulty")
}

/// The only fault of a file, as it is printed.
fn only_fault(json: &str) -> String {
    let faults = faults(json);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].to_string()
}

#[test]
fn positions_add_up_and_rows_know_their_seats() {
    let rows = [row("A", &seat("A-1", "1", 0)), row("", ""), row("B", &[seat("B-1", "1", 0), seat("B-2", "2", 25)].join(","))];
    let plan = Plan::parse(&plan_of(&rows.join(","))).expect("a sound plan");
    assert_eq!((plan.seats[2].x, plan.seats[2].y, plan.seats[2].radius), (125.0, 61.5, 10.0));
    assert_eq!(plan.seats[2].row_index, 2);
    assert_eq!(plan.seats_of(&plan.rows[2]).len(), 2);
    assert_eq!(plan.seats_of(&plan.rows[1]), []);
    assert_eq!((plan.width, plan.height), (300.0, 200.0));
    assert_eq!(plan.sections(), ["Stalls"]);
}

#[test]
fn what_is_written_reads_back_equal() {
    let text = plan_with_area(
        r##""shape": "polygon", "position": {"x": 0.1, "y": 0.2}, "rotation": 12.5, "color": "teal", "border_color": "",
        "polygon": {"points": [{"x": 0, "y": 0}, {"x": 0.3, "y": 7}, {"x": 9, "y": 1e1}]},
        "text": {"text": "Stage \"1\"", "position": {"x": 1, "y": 2}, "size": 20, "color": "#123"}"##,
    );
    let text = text
        .replace(r#""seats": ["#, r#""row_number_position": "both", "seat_label": "1-%s/%s", "seats": ["#)
        .replace(r#""category": "Standard"}"#, r#""category": "Wheelchair", "radius": 7.25}"#)
        .replace(r#""x": 0, "y": 1.5"#, r#""x": 0.1, "y": 0.7000000000000001"#);
    let plan = Plan::parse(&text).expect("a sound plan");
    assert_eq!(plan.seats[0].label.as_deref(), Some("1-1/1"));
    assert_eq!(plan.seats[0].kind, SeatKind::Wheelchair);
    assert_eq!(plan.rows[0].label_at, RowLabel::Both);
    assert_eq!(plan.areas[0].frame().border, None);
    let written = plan.to_json();
    assert_eq!(Plan::parse(&written).as_ref(), Ok(&plan), "{written}");
    assert!(written.lines().any(|line| line.contains("A-1") && !line.contains("row_number")));
}

#[test]
fn a_plan_without_size_is_as_large_as_its_content() {
    let text = plan_of(&row("A", &[seat("A-1", "1", 0), seat("A-2", "2", 25)].join(",")))
        .replace(r#""size": {"width": 300, "height": 200}, "#, "");
    let plan = Plan::parse(&text).expect("a sound plan");
    assert_eq!((plan.width, plan.height), (45.0, 20.0));
}

#[test]
fn rows_of_one_name_shared_places_empty_row_names_and_unknown_members_are_no_faults() {
    let rows = [
        row("A", &seat("A-1", "1", 0)),
        row("A", &seat("A-2", "2", 0)),
        row("", &seat("x 825", "825", 0)),
        row("", &seat("x|826", "826", 0)).replace("{\"row_number\"", "{\"uuid\": [1], \"row_number\""),
    ];
    let text = format!("\u{feff}{}", plan_of(&rows.join(",")));
    assert_eq!(Plan::parse(&text).map(|plan| plan.seats.len()), Ok(4));
}

#[test]
fn the_same_row_and_number_in_two_zones_is_no_fault() {
    let zone = |name: &str| {
        let seats = row("1", &seat(&format!("{name}-1"), "1", 0));
        format!(r#"{{"name": "{name}", "position": {{"x": 0, "y": 0}}, "rows": [{seats}]}}"#)
    };
    let text = format!(
        r#"{{"name": "", "categories": [{{"name": "Standard"}}], "zones": [{}, {}]}}"#,
        zone("Sector 1"),
        zone("Sector 2")
    );
    assert_eq!(Plan::parse(&text).map(|plan| plan.sections().len()), Ok(2));
}

#[test]
fn a_file_that_is_no_json_is_refused_with_its_place() {
    assert_eq!(only_fault("{\n \"é\": tru }"), "2:9 not JSON: expected ident");
    assert!(only_fault("").starts_with("1:1 not JSON: EOF"));
    assert!(only_fault(&format!("{}{}", plan_of(&row("A", &seat("A-1", "1", 0))), "]")).contains("not JSON: trailing"));
    assert!(only_fault(&"[".repeat(100_000)).contains("not JSON"));
}

#[test]
fn a_file_that_is_too_large_is_refused_unread() {
    let text = " ".repeat(PLAN_BYTES_MAX + 1);
    assert_eq!(only_fault(&text), "1:1 the file has 8388609 bytes; at most 8388608 are read");
}

#[test]
fn a_plan_that_is_another_value_is_refused() {
    assert_eq!(only_fault(" 12"), "1:2 must be an object, but is a number");
    assert_eq!(only_fault("null"), "1:1 must be an object, but is null");
}

#[test]
fn each_missing_member_is_named() {
    let text = plan_of(r#"{"seats": [{}]}, {"row_number": "B"}"#);
    let found: Vec<(String, PlanFaultKind)> =
        faults(&text).into_iter().map(|fault| (fault.path, fault.kind)).collect();
    let expected = [
        "zones[0].rows[0].row_number",
        "zones[0].rows[0].seats[0].seat_guid",
        "zones[0].rows[0].seats[0].seat_number",
        "zones[0].rows[0].seats[0].position",
        "zones[0].rows[0].seats[0].category",
        "zones[0].rows[1].seats",
    ];
    assert_eq!(found, expected.map(|path| (path.to_owned(), PlanFaultKind::Missing)));
    let found: Vec<String> = faults("{}").into_iter().map(|fault| fault.to_string()).collect();
    assert_eq!(found, ["1:1 name: is missing", "1:1 categories: is missing", "1:1 zones: is missing"]);
}

#[test]
fn each_member_of_a_wrong_type_is_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#""seat_number": "1""#, r#""seat_number": 1"#)
        .replace(r#""x": 0, "y": 1.5"#, r#""x": "0", "y": [1.5]"#)
        .replace(r#""color": "#fff""#, r#""color": true"#);
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
    let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace(r#"{"name": "Hall""#, r#"{"name": "X", "name": "Hall""#);
    assert_eq!(only_fault(&text), r#"1:23 "name" is given twice in one object; keep one"#);
}

#[test]
fn every_repeat_of_a_seat_guid_is_named_with_the_first_place() {
    let seats = [seat("AA-1", "1", 0), seat("AA-1", "2", 25), seat("AA-1", "3", 50)];
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
    assert!(found.contains(r#"seats[0].seat_number: row "A", seat "1" of zone "Stalls" is there before, at line 3"#), "{found}");
}

#[test]
fn an_unknown_category_is_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace(r#""category": "Standard""#, r#""category": "standard""#);
    assert!(only_fault(&text).contains(r#"seats[0].category: "standard" is not among the categories"#));
}

#[test]
fn a_repeated_category_and_a_nameless_one_are_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#"{"name": "Wheelchair"}"#, r#"{"name": "Standard"}, {"name": " "}"#);
    let found: Vec<PlanFaultKind> = faults(&text).into_iter().map(|fault| fault.kind).collect();
    let repeated = PlanFaultKind::DuplicateCategory { name: "Standard".to_owned(), first_line: 1 };
    assert_eq!(found, [repeated, PlanFaultKind::EmptyText]);
}

#[test]
fn too_many_categories_are_refused() {
    let many: Vec<String> = (0..=PLAN_CATEGORIES_MAX).map(|n| format!(r#"{{"name": "c{n}"}}"#)).collect();
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#"{"name": "Wheelchair"}"#, &many[1..].join(","));
    assert!(Plan::parse(&text).is_ok());
    let text = text.replace(r#"{"name": "c1"}"#, r#"{"name": "c0"}, {"name": "c1"}"#);
    assert!(only_fault(&text).contains("there are 1001 categories"));
}

#[test]
fn coordinates_that_are_infinite_or_absurd_are_named() {
    for value in ["1e999", "-1e999", "1000001", "-2e6"] {
        let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace("1.5", value);
        let found = only_fault(&text);
        assert!(found.contains(&format!("seats[0].position.y: {value} is no usable coordinate")), "{found}");
    }
}

#[test]
fn extents_that_are_not_positive_are_named() {
    let sound = plan_of(&row("A", &seat("A-1", "1", 0)));
    for (from, to, place) in [
        (r#""width": 300"#, r#""width": 0"#, "size.width"),
        (r#""height": 200"#, r#""height": 1e7"#, "size.height"),
        (r#""seat_number""#, r#""radius": -1, "seat_number""#, "radius"),
    ] {
        let found = only_fault(&sound.replace(from, to));
        assert!(found.contains(&format!("{place}: ")) && found.contains("is no usable extent"), "{found}");
    }
}

#[test]
fn bad_colours_are_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace("#fff", "red;}");
    assert!(only_fault(&text).contains(r#"categories[0].color: "red;}" is no colour; write it as "#rrggbb""#));
}

#[test]
fn an_unknown_row_label_place_is_named() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0))).replace(r#""seats""#, r#""row_number_position": "left", "seats""#);
    assert!(only_fault(&text).contains(r#"row_number_position: "left" is not known; it must be one of "start""#));
}

#[test]
fn texts_that_are_empty_or_too_long_are_named() {
    let text = plan_of(&row("A", &seat("", "1", 0)));
    assert!(only_fault(&text).ends_with("seats[0].seat_guid: is empty"));
    let text = plan_of(&row("A", &seat(&"é".repeat(191), "1", 0)));
    assert!(only_fault(&text).ends_with("has 191 characters; at most 190 are kept"));
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
        (format!(r#"{at}, "shape": "star""#), r#"areas[0].shape: "star" is not known"#),
        (format!(r#"{at}, "shape": "rectangle""#), "areas[0].rectangle: is missing"),
        (format!(r#"{at}, "shape": "circle", "circle": {{"radius": 0}}"#), "areas[0].circle.radius: 0 is no usable extent"),
        (format!(r#"{at}, "shape": "ellipse", "ellipse": {{"radius": {{"x": 5}}}}"#), "areas[0].ellipse.radius.y: is missing"),
        (
            format!(r#"{at}, "shape": "polygon", "polygon": {{"points": [{{"x": 1, "y": 1}}]}}"#),
            "areas[0].polygon.points: has 1 points; a polygon needs at least 3",
        ),
        (r#""shape": "text""#.to_owned(), "areas[0].position: is missing"),
        (format!(r#"{at}, "shape": "text", "text": "Door""#), "areas[0].text: must be an object, but is text"),
    ] {
        let found = only_fault(&plan_with_area(&area));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn areas_stand_where_zone_and_area_put_them() {
    let text = plan_with_area(r#""shape": "circle", "position": {"x": 5, "y": 6}, "circle": {"radius": 3}"#);
    let plan = Plan::parse(&text).expect("a sound plan");
    let frame = plan.areas[0].frame();
    assert_eq!((frame.x, frame.y), (105.0, 56.0));
    assert!(matches!(plan.areas[0], Area::Circle { radius: 3.0, .. }));
}

#[test]
fn a_plan_without_seats_is_refused() {
    assert!(only_fault(&plan_of(&row("A", ""))).contains("zones: the plan has no seats"));
}

#[test]
fn a_plan_with_too_many_seats_is_refused() {
    // Short members, so that the seats fit into the largest file.
    let seat = |n: usize| {
        format!(r#"{{"seat_guid":"{n}","seat_number":"{n}","position":{{"x":0,"y":0}},"category":"Standard"}}"#)
    };
    let seats: Vec<String> = (0..=PLAN_SEATS_MAX).map(seat).collect();
    assert!(Plan::parse(&plan_of(&row("A", &seats[1..].join(",")))).is_ok());
    assert!(only_fault(&plan_of(&row("A", &seats.join(",")))).contains("the plan has 60001 seats; at most 60000"));
}

#[test]
fn faults_beyond_the_bound_are_counted() {
    let seats: Vec<String> = (0..PLAN_FAULTS_MAX + 8).map(|n| seat("same", &n.to_string(), 0)).collect();
    let found = faults(&plan_of(&row("A", &seats.join(",\n"))));
    assert_eq!(found.len(), PLAN_FAULTS_MAX + 1);
    assert_eq!(found[PLAN_FAULTS_MAX].to_string(), "1004:15 and 7 more");
}

#[test]
fn what_a_file_says_is_shown_short_and_without_control_characters() {
    let text = plan_of(&row("A", &seat("A-1", "1", 0)))
        .replace(r#""category": "Standard""#, &format!(r#""category": "\u001b[2J\n{}""#, "x".repeat(150)));
    let found = only_fault(&text);
    assert!(!found.contains(char::is_control) && found.contains('…'), "{found}");
}
