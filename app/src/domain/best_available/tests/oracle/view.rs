//! Where one sees best, and how far neighbours are from each other.

use std::collections::BTreeSet;

use crate::domain::plan::{Area, Plan};

/// What signs call a screen, without spaces.
const SCREEN: &str =
    "screen 银幕 銀幕 巨幕 屏幕 スクリーン 스크린 leinwand écran pantalla tela schermo layar";
/// What signs call a stage, without spaces.
const STAGE: &str = "stage 舞台 ステージ 무대 bühne scène escenario palco podium panggung";
/// The pitch of a hall whose seats are all at one place, in plan units.
const LONE_PITCH: f64 = 25.0;

/// The usual distance of neighbours in plan units: for each place the nearest other is found by looking at all.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "coordinates are at most a million plan units"
)]
pub(super) fn pitch(plan: &Plan) -> f64 {
    // In thousandths, below which seats are at one place.
    let place = |value: f64| (value / 1e-3).round() as i64;
    let places: BTreeSet<(i64, i64)> = plan
        .seats
        .iter()
        .map(|seat| (place(seat.x), place(seat.y)))
        .collect();
    let places: Vec<(f64, f64)> = places
        .into_iter()
        .map(|(x, y)| (x as f64 * 1e-3, y as f64 * 1e-3))
        .collect();
    let nearest = |at: usize| {
        let others = places.iter().enumerate().filter(|(other, _)| *other != at);
        let steps = others.map(|(_, to)| (places[at].0 - to.0, places[at].1 - to.1));
        let square = |(x, y): &(f64, f64)| x * x + y * y;
        steps.min_by(|a, b| square(a).total_cmp(&square(b)))
    };
    let steps = (0..places.len()).filter_map(nearest);
    let mut distances: Vec<f64> = steps.map(|(x, y)| x.hypot(y)).collect();
    distances.sort_by(f64::total_cmp);
    distances
        .get(distances.len() / 2)
        .copied()
        .unwrap_or(LONE_PITCH)
}

/// The focal point, in plan units.
pub(super) fn focal_point(plan: &Plan, pitch: f64) -> (f64, f64) {
    let mut xs: Vec<f64> = plan.seats.iter().map(|seat| seat.x).collect();
    let mut ys: Vec<f64> = plan.seats.iter().map(|seat| seat.y).collect();
    let Some((in_front, (x, y))) = sight(plan) else {
        let seats = f64::from(u32::try_from(plan.seats.len()).expect("few seats"));
        return (
            xs.iter().sum::<f64>() / seats,
            ys.iter().sum::<f64>() / seats,
        );
    };
    xs.sort_by(f64::total_cmp);
    ys.sort_by(f64::total_cmp);
    let (middle_x, half_width) = middle_and_half(&xs);
    let (middle_y, half_height) = middle_and_half(&ys);
    let across = (x - middle_x) / half_width.max(pitch);
    let down = (y - middle_y) / half_height.max(pitch);
    let depth = |sorted: &[f64], from_high: bool| {
        let passed = (sorted.len() * in_front.0 / in_front.1).min(sorted.len() - 1);
        let at = if from_high {
            sorted.len() - 1 - passed
        } else {
            passed
        };
        sorted[at]
    };
    if across.abs() < 0.5 && down.abs() < 0.5 {
        (x, y)
    } else if across.abs() > down.abs() {
        (depth(&xs, across > 0.0), middle_y)
    } else {
        (middle_x, depth(&ys, down > 0.0))
    }
}

fn middle_and_half(sorted: &[f64]) -> (f64, f64) {
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let middle = f64::midpoint(least, most);
    (middle, most - middle)
}

/// Which part of the seats is in front of the focal point, and where the screen or stage with the shortest name is.
fn sight(plan: &Plan) -> Option<((usize, usize), (f64, f64))> {
    let mut best: Option<(usize, (usize, usize), &Area)> = None;
    for area in &plan.areas {
        let Some(text) = &area.frame().text else {
            continue;
        };
        let name: String = text.text.to_lowercase().split_whitespace().collect();
        let says = |words: &str| words.split(' ').any(|word| name.contains(word));
        let in_front = if says(SCREEN) {
            (2, 3)
        } else if says(STAGE) {
            (1, 6)
        } else {
            continue;
        };
        let length = name.chars().count();
        if best.is_none_or(|(shortest, ..)| length < shortest) {
            best = Some((length, in_front, area));
        }
    }
    best.map(|(_, in_front, area)| (in_front, middle(area)))
}

/// The middle of the box around an area.
fn middle(area: &Area) -> (f64, f64) {
    let frame = area.frame();
    let (sin, cos) = frame.rotation_deg.to_radians().sin_cos();
    let turned = |x: f64, y: f64| (frame.x + x * cos - y * sin, frame.y + x * sin + y * cos);
    match area {
        Area::Rectangle { width, height, .. } => turned(width / 2.0, height / 2.0),
        Area::Circle { .. } | Area::Ellipse { .. } => (frame.x, frame.y),
        Area::Text { .. } => frame
            .text
            .as_ref()
            .map_or((frame.x, frame.y), |text| turned(text.x, text.y)),
        Area::Polygon { points, .. } => {
            let corners: Vec<(f64, f64)> = points.iter().map(|(x, y)| turned(*x, *y)).collect();
            let mut xs: Vec<f64> = corners.iter().map(|corner| corner.0).collect();
            let mut ys: Vec<f64> = corners.iter().map(|corner| corner.1).collect();
            xs.sort_by(f64::total_cmp);
            ys.sort_by(f64::total_cmp);
            (middle_and_half(&xs).0, middle_and_half(&ys).0)
        }
    }
}
