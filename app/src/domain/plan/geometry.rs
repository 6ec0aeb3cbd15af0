//! Where a map puts the seats of a plan. Plans come in all units (seats 12 apart, or 30); a map wants seats of one
//! comfortable size, so everything is measured by the plan's own pitch.

use super::neighbours::{Place, Places};
use super::{Area, AreaFrame, Plan, PlanSeat, RowLabel};

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

/// The middle of a row's name on a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLabelAt<'p> {
    pub name: &'p str,
    pub x: f64,
    pub y: f64,
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

/// Where the names of rows are written, on the map: at the ends the plan asks for, a pitch beyond the outermost seat
/// and in the direction of the row there, so that the name of a curved row does not run into the next. Rows without a
/// name have none.
#[must_use]
pub fn row_labels<'p>(plan: &'p Plan, layout: &MapLayout) -> Vec<RowLabelAt<'p>> {
    let mut labels = Vec::new();
    for row in plan.rows.iter().filter(|row| !row.name.is_empty()) {
        let first = row.first_seat as usize;
        let seats = first..first.saturating_add(row.seat_count as usize);
        let Some(seats) = layout.seats.get(seats) else {
            continue;
        };
        let at_start = matches!(row.label_at, RowLabel::Start | RowLabel::Both);
        let at_end = matches!(row.label_at, RowLabel::End | RowLabel::Both);
        let start = beyond(seats.first(), seats.get(1), -1.0).filter(|_| at_start);
        let before_last = seats
            .len()
            .checked_sub(2)
            .and_then(|index| seats.get(index));
        let end = beyond(seats.last(), before_last, 1.0).filter(|_| at_end);
        let places = start.into_iter().chain(end);
        labels.extend(places.map(|(x, y)| RowLabelAt {
            name: &row.name,
            x,
            y,
        }));
    }
    labels
}

/// A pitch from `outer`, away from `inner`; sideways where the row has one seat only.
fn beyond(outer: Option<&(f64, f64)>, inner: Option<&(f64, f64)>, side: f64) -> Option<(f64, f64)> {
    let (x, y) = *outer?;
    let (dx, dy) = inner.map_or((side, 0.0), |inner| (x - inner.0, y - inner.1));
    let length = dx.hypot(dy);
    let (dx, dy) = if length > 0.0 {
        (dx / length, dy / length)
    } else {
        (side, 0.0)
    };
    Some((rounded(x + dx * MAP_PITCH), rounded(y + dy * MAP_PITCH)))
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
