//! Where a map puts the seats of a plan. Plans come in all units (seats 12 apart, or 30); a map wants seats of one
//! comfortable size, so everything is measured by the plan's own pitch.

use super::neighbours::{Place, Places};
use super::{Area, AreaFrame, Plan, PlanSeat};

/// The distance of neighbouring seats on a map, in map units. One unit is one CSS pixel at the scale at which seats
/// are comfortable to touch.
pub const MAP_PITCH: f64 = 35.0;
/// The part of the pitch that a seat fills, so that a gap is left: 28 map units, the size the pages start with.
pub const SEAT_SHARE: f64 = 0.8;
/// The empty border around a map, in map units.
pub const MAP_MARGIN: f64 = 35.0;
/// The pitch of a plan whose seats have no neighbours, in plan units: pretix editors start with it.
pub const PITCH_DEFAULT: f64 = 25.0;

/// Rounding in positions must not make touching circles overlap, in parts of the distance.
const ROUNDING: f64 = 1e-3;
/// The mean width of a letter in parts of its height, to guess how wide a text is.
const LETTER_WIDTH: f64 = 0.6;

/// A box with its sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub min_x: f64,
    pub min_y: f64,
    pub max_x: f64,
    pub max_y: f64,
}

/// A plan in map units, ready to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct MapLayout {
    /// Of the whole map, margin included.
    pub width: f64,
    /// Of the whole map, margin included.
    pub height: f64,
    /// Map units a plan unit.
    pub scale: f64,
    /// The side of a seat's square.
    pub seat_size: f64,
    /// The centres of the seats, by their index in the plan.
    pub seats: Vec<(f64, f64)>,
    origin: (f64, f64),
}

impl Bounds {
    #[must_use]
    pub fn width(&self) -> f64 {
        self.max_x - self.min_x
    }

    #[must_use]
    pub fn height(&self) -> f64 {
        self.max_y - self.min_y
    }

    fn around(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Bounds> {
        points.into_iter().fold(None, |bounds, (x, y)| {
            let point = Bounds {
                min_x: x,
                min_y: y,
                max_x: x,
                max_y: y,
            };
            Some(bounds.map_or(point, |bounds: Bounds| bounds.with(&point)))
        })
    }

    fn with(&self, other: &Bounds) -> Bounds {
        Bounds {
            min_x: self.min_x.min(other.min_x),
            min_y: self.min_y.min(other.min_y),
            max_x: self.max_x.max(other.max_x),
            max_y: self.max_y.max(other.max_y),
        }
    }
}

/// What seats and areas cover, and `margin` plan units more on each side. The size that the file states does not
/// count: real plans have seats outside of it. All zero for a plan without content.
#[must_use]
pub fn bounds(plan: &Plan, margin: f64) -> Bounds {
    let seats = plan.seats.iter().flat_map(|seat| {
        let PlanSeat {
            x, y, radius: r, ..
        } = seat;
        [(x - r, y - r), (x + r, y + r)]
    });
    let areas = plan.areas.iter().flat_map(area_corners);
    let content = Bounds::around(seats.chain(areas));
    content.map_or(
        Bounds {
            min_x: 0.0,
            min_y: 0.0,
            max_x: 0.0,
            max_y: 0.0,
        },
        |content| Bounds {
            min_x: content.min_x - margin,
            min_y: content.min_y - margin,
            max_x: content.max_x + margin,
            max_y: content.max_y + margin,
        },
    )
}

/// The median distance of a seat's centre from its nearest neighbour's, in plan units. Seats at one place count as
/// one. [`PITCH_DEFAULT`] where no seat has a neighbour.
#[must_use]
pub fn pitch(seats: &[PlanSeat]) -> f64 {
    median_pitch(&Places::of(seats))
}

fn median_pitch(places: &Places) -> f64 {
    let nearest = places.iter().map(|at| {
        places.nearest(at, f64::INFINITY, &|other| {
            (other != at).then(|| distance(at, other))
        })
    });
    let mut distances: Vec<f64> = nearest.filter(|distance| distance.is_finite()).collect();
    if distances.is_empty() {
        return PITCH_DEFAULT;
    }
    let middle = distances.len() / 2;
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The side of the square a seat is drawn as, in plan units: [`SEAT_SHARE`] of the pitch, or less where seats that
/// the plan keeps apart (their circles do not overlap) would overlap as squares. Seats that the plan itself lays over
/// each other are no reason to draw all the others smaller.
#[must_use]
pub fn seat_size(seats: &[PlanSeat]) -> f64 {
    let places = Places::of(seats);
    places_size(&places, median_pitch(&places))
}

fn places_size(places: &Places, pitch: f64) -> f64 {
    places.iter().fold(pitch * SEAT_SHARE, |size, at| {
        places.nearest(at, size, &|other| {
            let is_kept_apart = distance(at, other) * (1.0 + ROUNDING) >= at.radius + other.radius;
            // Two squares touch where the larger of the two differences is their side.
            let side = (at.x - other.x).abs().max((at.y - other.y).abs());
            (other != at && is_kept_apart).then_some(side)
        })
    })
}

fn distance(a: &Place, b: &Place) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

/// Lays a plan out for a map.
#[must_use]
pub fn layout(plan: &Plan) -> MapLayout {
    let places = Places::of(&plan.seats);
    let pitch = median_pitch(&places);
    let scale = MAP_PITCH / pitch;
    let bounds = bounds(plan, MAP_MARGIN / scale);
    let origin = (bounds.min_x, bounds.min_y);
    let mut layout = MapLayout {
        width: rounded(bounds.width() * scale),
        height: rounded(bounds.height() * scale),
        scale,
        seat_size: rounded(places_size(&places, pitch) * scale),
        seats: Vec::new(),
        origin,
    };
    layout.seats = plan
        .seats
        .iter()
        .map(|seat| layout.place(seat.x, seat.y))
        .collect();
    layout
}

impl MapLayout {
    /// The place on the map of a point of the plan, e.g. of an area.
    #[must_use]
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (
            rounded((x - self.origin.0) * self.scale),
            rounded((y - self.origin.1) * self.scale),
        )
    }

    /// The length on the map of a length of the plan.
    #[must_use]
    pub fn length(&self, length: f64) -> f64 {
        rounded(length * self.scale)
    }
}

/// More decimals than two make a page longer, not the map sharper.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Points whose box holds the area.
fn area_corners(area: &Area) -> Vec<(f64, f64)> {
    let frame = area.frame();
    let mut corners = match area {
        Area::Rectangle { width, height, .. } => {
            vec![(0.0, 0.0), (*width, 0.0), (*width, *height), (0.0, *height)]
        }
        Area::Circle { radius, .. } => return box_around(frame.x, frame.y, *radius, *radius),
        Area::Ellipse {
            radius_x, radius_y, ..
        } => {
            let (sin, cos) = frame.rotation_deg.to_radians().sin_cos();
            let half_width = (radius_x * cos).hypot(radius_y * sin);
            let half_height = (radius_x * sin).hypot(radius_y * cos);
            return box_around(frame.x, frame.y, half_width, half_height);
        }
        Area::Polygon { points, .. } => points.clone(),
        Area::Text { .. } => vec![(0.0, 0.0)],
    };
    if let (Area::Text { .. }, Some(text)) = (area, &frame.text) {
        let half_width = text.text.chars().count() as f64 * text.size * LETTER_WIDTH / 2.0;
        corners = box_around(text.x, text.y, half_width, text.size / 2.0);
    }
    corners
        .into_iter()
        .map(|corner| turned(frame, corner))
        .collect()
}

fn box_around(x: f64, y: f64, half_width: f64, half_height: f64) -> Vec<(f64, f64)> {
    vec![
        (x - half_width, y - half_height),
        (x + half_width, y - half_height),
        (x + half_width, y + half_height),
        (x - half_width, y + half_height),
    ]
}

/// A point of a frame in the plan.
fn turned(frame: &AreaFrame, (x, y): (f64, f64)) -> (f64, f64) {
    let (sin, cos) = frame.rotation_deg.to_radians().sin_cos();
    (frame.x + x * cos - y * sin, frame.y + x * sin + y * cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plan::{AreaText, Category, SeatKind};

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
}
