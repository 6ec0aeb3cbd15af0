//! Where the middle of a hall is.

use super::{Drawn, samples};
use crate::domain::best_available::focal::focal_point;
use crate::domain::plan::{Area, AreaFrame, AreaText, Plan};

/// The section, row and number of the seat nearest the focal point.
fn seat_at_the_focal_point(plan: &Plan) -> String {
    let (x, y) = focal_point(plan);
    let away = |seat_x: f64, seat_y: f64| (seat_x - x).hypot(seat_y - y);
    let nearest = plan
        .seats
        .iter()
        .min_by(|a, b| away(a.x, a.y).total_cmp(&away(b.x, b.y)));
    let seat = nearest.expect("a seat");
    format!("{} {} {}", seat.section, seat.row, seat.number)
}

/// A sign at a place, in plan units.
fn sign(text: &str, x: f64, y: f64) -> Area {
    let text = AreaText {
        text: text.to_owned(),
        x: 0.0,
        y: 0.0,
        size: 10.0,
        color: None,
    };
    Area::Text {
        frame: AreaFrame {
            x,
            y,
            text: Some(text),
            ..AreaFrame::default()
        },
    }
}

/// Nine rows of nine, 0 to 80 each way, with signs.
fn square(signs: Vec<Area>) -> Plan {
    Plan {
        areas: signs,
        ..Drawn::of(&["SSSSSSSSS"; 9]).plan
    }
}

#[test]
fn the_focal_points_of_the_sample_halls_are_where_people_like_to_sit() {
    let found: Vec<String> = samples().iter().map(seat_at_the_focal_point).collect();
    // The arena's stage is amid the seats, so the seat nearest to it is one of the innermost row.
    assert_eq!(
        found,
        [
            "1F F 24",
            "Grand Screen L 17",
            "Sector 105 1 1",
            "Lantern Hall J 11",
            "Stalls H 1",
            "Studio Two F 9",
        ]
    );
}

#[test]
fn before_a_screen_the_focal_point_is_two_thirds_back_from_whichever_side_it_is() {
    for (x, y, expected) in [
        (40.0, -30.0, (40.0, 60.0)),
        (40.0, 110.0, (40.0, 20.0)),
        (-30.0, 40.0, (60.0, 40.0)),
        (110.0, 40.0, (20.0, 40.0)),
    ] {
        assert_eq!(focal_point(&square(vec![sign("Screen", x, y)])), expected);
    }
}

#[test]
fn before_a_stage_the_focal_point_is_in_the_first_third() {
    assert_eq!(
        focal_point(&square(vec![sign("S T A G E", 40.0, -30.0)])),
        (40.0, 10.0)
    );
    assert_eq!(
        focal_point(&square(vec![sign("舞台", 40.0, 110.0)])),
        (40.0, 70.0)
    );
}

#[test]
fn a_sign_that_points_to_the_stage_is_not_the_stage() {
    let signs = vec![sign("Stage door", 110.0, 40.0), sign("Stage", 40.0, -30.0)];
    assert_eq!(focal_point(&square(signs)), (40.0, 10.0));
}

#[test]
fn a_stage_amid_the_seats_is_the_focal_point_itself() {
    assert_eq!(
        focal_point(&square(vec![sign("STAGE", 45.0, 35.0)])),
        (45.0, 35.0)
    );
}

#[test]
fn a_hall_that_names_neither_has_its_centroid() {
    assert_eq!(
        focal_point(&square(vec![sign("Door", 40.0, -30.0)])),
        (40.0, 40.0)
    );
    assert_eq!(focal_point(&Plan::default()), (0.0, 0.0));
}

#[test]
fn a_hall_of_one_line_has_a_focal_point() {
    let line = Plan {
        areas: vec![sign("Screen", 20.0, -50.0)],
        ..Drawn::of(&["SSSSS"]).plan
    };
    assert_eq!(focal_point(&line), (20.0, 0.0));
}
