//! Plans to read in tests, whole and broken.

mod accepted;
mod faults;
mod geometry;
mod limits;

use super::{Plan, PlanFault};

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
