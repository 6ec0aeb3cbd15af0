//! What maps rely on, on small plans of all units.

use crate::domain::plan::geometry::{
    Bounds, MAP_MARGIN, MAP_PITCH, PITCH_DEFAULT, RowLabelAt, SEAT_SHARE, bounds, layout, pitch,
    row_labels, seat_size,
};
use crate::domain::plan::{
    Area, AreaFrame, AreaText, Category, Plan, PlanRow, PlanSeat, RowLabel, SeatKind,
};

fn seat(x: f64, y: f64, radius: f64) -> PlanSeat {
    PlanSeat {
        guid: format!("{x},{y}"),
        section: String::new(),
        row: String::new(),
        number: String::new(),
        label: None,
        x,
        y,
        radius,
        category: 0,
        kind: SeatKind::Standard,
        row_index: 0,
    }
}

/// `columns` by `rows` seats, `step` apart.
fn grid(columns: u8, rows: u8, step: f64, radius: f64) -> Vec<PlanSeat> {
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
    cells
        .map(|(column, row)| seat(f64::from(column) * step, f64::from(row) * step, radius))
        .collect()
}

fn plan(seats: Vec<PlanSeat>, areas: Vec<Area>) -> Plan {
    let categories = vec![Category {
        name: "Standard".to_owned(),
        color: None,
    }];
    Plan {
        categories,
        seats,
        areas,
        ..Plan::default()
    }
}

#[test]
fn bounds_hold_seats_with_their_radius_and_the_margin() {
    let plan = plan(
        vec![seat(0.0, 0.0, 10.0), seat(100.0, 50.0, 5.0)],
        Vec::new(),
    );
    let bounds = bounds(&plan, 1.0);
    assert_eq!(
        bounds,
        Bounds {
            min_x: -11.0,
            min_y: -11.0,
            max_x: 106.0,
            max_y: 56.0
        }
    );
}

#[test]
fn bounds_hold_every_shape_turned_as_it_is() {
    let frame = AreaFrame {
        x: 100.0,
        y: 100.0,
        rotation_deg: 90.0,
        ..AreaFrame::default()
    };
    let text = AreaText {
        text: "ABCDE".to_owned(),
        x: 0.0,
        y: 0.0,
        size: 10.0,
        color: None,
    };
    let cases = [
        (
            Area::Rectangle {
                frame: frame.clone(),
                width: 40.0,
                height: 10.0,
            },
            [90.0, 100.0, 100.0, 140.0],
        ),
        (
            Area::Circle {
                frame: frame.clone(),
                radius: 7.0,
            },
            [93.0, 93.0, 107.0, 107.0],
        ),
        (
            Area::Ellipse {
                frame: frame.clone(),
                radius_x: 20.0,
                radius_y: 5.0,
            },
            [95.0, 80.0, 105.0, 120.0],
        ),
        (
            Area::Polygon {
                frame: frame.clone(),
                points: vec![(0.0, 0.0), (30.0, 0.0), (0.0, 10.0)],
            },
            [90.0, 100.0, 100.0, 130.0],
        ),
        (
            Area::Text {
                frame: AreaFrame {
                    text: Some(text),
                    ..frame
                },
            },
            [95.0, 85.0, 105.0, 115.0],
        ),
    ];
    for (area, expected) in cases {
        let Bounds {
            min_x,
            min_y,
            max_x,
            max_y,
        } = bounds(&plan(Vec::new(), vec![area.clone()]), 0.0);
        for (found, expected) in [min_x, min_y, max_x, max_y].into_iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-9,
                "{area:?}: {found} for {expected}"
            );
        }
    }
}

#[test]
fn the_pitch_is_the_usual_distance_and_ignores_aisles_outliers_and_shared_places() {
    let mut seats = grid(10, 4, 12.0, 5.0);
    seats.push(seat(90_000.0, -40_000.0, 5.0));
    seats.extend(grid(3, 1, 12.0, 5.0));
    assert!((pitch(&seats) - 12.0).abs() < 1e-9);
}

#[test]
fn a_lone_seat_and_no_seat_have_the_default_pitch() {
    assert_eq!(pitch(&[]), PITCH_DEFAULT);
    assert_eq!(pitch(&[seat(3.0, 4.0, 10.0)]), PITCH_DEFAULT);
    assert_eq!(
        pitch(&[seat(3.0, 4.0, 10.0), seat(3.0, 4.0, 10.0)]),
        PITCH_DEFAULT
    );
}

#[test]
fn sixty_thousand_strewn_seats_are_measured_in_no_time() {
    // Multiples of an irrational number fill the square evenly without any grid.
    let strewn = |n: u32| seat((f64::from(n) * 0.618_034).fract() * 1e5, f64::from(n), 1.0);
    let seats: Vec<PlanSeat> = (0..60_000).map(strewn).collect();
    assert!(pitch(&seats) > 0.0);
}

#[test]
fn seats_kept_apart_by_the_plan_never_overlap_on_the_map() {
    // A diagonal row: circles of radius 10 touch at distance 20, squares of 16 would overlap.
    let seats: Vec<PlanSeat> = (0..5_u8)
        .map(|n| seat(f64::from(n) * 14.2, f64::from(n) * 14.2, 10.0))
        .collect();
    let size = seat_size(&seats);
    assert!(size <= 14.2 + 1e-9 && size > 14.0, "{size}");
}

#[test]
fn seats_laid_over_each_other_by_the_plan_do_not_shrink_the_rest() {
    let mut seats = grid(10, 4, 25.0, 10.0);
    seats.push(seat(30.0, 3.0, 10.0));
    assert!((seat_size(&seats) - 20.0).abs() < 1e-9);
}

#[test]
fn plans_of_all_units_get_seats_of_one_size() {
    for step in [0.5, 12.0, 25.0, 30.0, 300.0] {
        let layout = layout(&plan(grid(6, 3, step, step * 0.4), Vec::new()));
        assert!(
            (layout.seat_size - MAP_PITCH * SEAT_SHARE).abs() < 0.02,
            "{step}: {}",
            layout.seat_size
        );
        let edge = MAP_MARGIN + 0.4 * MAP_PITCH;
        assert_eq!(layout.seats[0], (edge, edge), "{step}");
        assert_eq!(layout.seats[1], (edge + MAP_PITCH, edge), "{step}");
        assert!(
            (layout.width - (5.0 * MAP_PITCH + 2.0 * edge)).abs() < 0.02,
            "{step}"
        );
        assert!((layout.length(step) - MAP_PITCH).abs() < 0.01, "{step}");
    }
}

#[test]
fn row_names_stand_a_pitch_beyond_the_ends_along_the_row() {
    let mut plan = plan(
        vec![
            seat(0.0, 0.0, 10.0),
            seat(25.0, 0.0, 10.0),
            seat(25.0, 25.0, 10.0),
        ],
        Vec::new(),
    );
    plan.rows = [
        ("A", RowLabel::Both, 0, 3),
        ("B", RowLabel::End, 2, 1),
        ("", RowLabel::Both, 0, 1),
    ]
    .into_iter()
    .map(|(name, label_at, first_seat, seat_count)| PlanRow {
        section: String::new(),
        name: name.to_owned(),
        label_at,
        first_seat,
        seat_count,
    })
    .collect();
    let layout = layout(&plan);
    let (first, last) = (layout.seats[0], layout.seats[2]);
    let at = |name, x, y| RowLabelAt { name, x, y };
    let expected = [
        at("A", first.0 - MAP_PITCH, first.1),
        at("A", last.0, last.1 + MAP_PITCH),
        at("B", last.0 + MAP_PITCH, last.1),
    ];
    assert_eq!(row_labels(&plan, &layout), expected);
}
