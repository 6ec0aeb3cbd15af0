//! What a sound plan is read as, and what must not be a fault.

use super::{plan_of, plan_with_area, row, seat};
use crate::domain::plan::{Area, Plan, RowLabel, SeatKind};

#[test]
fn positions_add_up_and_rows_know_their_seats() {
    let rows = [
        row("A", &seat("A-1", "1", 0)),
        row("", ""),
        row("B", &[seat("B-1", "1", 0), seat("B-2", "2", 25)].join(",")),
    ];
    let plan = Plan::parse(&plan_of(&rows.join(","))).expect("a sound plan");
    assert_eq!(
        (plan.seats[2].x, plan.seats[2].y, plan.seats[2].radius),
        (125.0, 61.5, 10.0)
    );
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
        .replace(
            r#""seats": ["#,
            r#""row_number_position": "both", "seat_label": "1-%s/%s", "seats": ["#,
        )
        .replace(
            r#""category": "Standard"}"#,
            r#""category": "Wheelchair", "radius": 7.25}"#,
        )
        .replace(
            r#""x": 0, "y": 1.5"#,
            r#""x": 0.1, "y": 0.7000000000000001"#,
        );
    let plan = Plan::parse(&text).expect("a sound plan");
    assert_eq!(plan.seats[0].label.as_deref(), Some("1-1/1"));
    assert_eq!(plan.seats[0].kind, SeatKind::Wheelchair);
    assert_eq!(plan.rows[0].label_at, RowLabel::Both);
    assert_eq!(plan.areas[0].frame().border, None);
    let written = plan.to_json();
    assert_eq!(Plan::parse(&written).as_ref(), Ok(&plan), "{written}");
    assert!(
        written
            .lines()
            .any(|line| line.contains("A-1") && !line.contains("row_number"))
    );
}

#[test]
fn a_plan_without_size_is_as_large_as_its_content() {
    let text = plan_of(&row(
        "A",
        &[seat("A-1", "1", 0), seat("A-2", "2", 25)].join(","),
    ))
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
        row("", &seat("x|826", "826", 0))
            .replace("{\"row_number\"", "{\"uuid\": [1], \"row_number\""),
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
fn areas_stand_where_zone_and_area_put_them() {
    let text = plan_with_area(
        r#""shape": "circle", "position": {"x": 5, "y": 6}, "circle": {"radius": 3}"#,
    );
    let plan = Plan::parse(&text).expect("a sound plan");
    let frame = plan.areas[0].frame();
    assert_eq!((frame.x, frame.y), (105.0, 56.0));
    assert!(matches!(plan.areas[0], Area::Circle { radius: 3.0, .. }));
}
