//! The point of a hall from which one sees best.

use crate::domain::plan::{Area, Plan, geometry};

/// What people look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    Screen,
    Stage,
}

/// Words for a screen, in lower case and without spaces.
const SCREEN: &[&str] = &[
    "screen",
    "银幕",
    "銀幕",
    "巨幕",
    "屏幕",
    "スクリーン",
    "스크린",
    "leinwand",
    "écran",
    "pantalla",
    "tela",
    "schermo",
    "layar",
];
/// Words for a stage, in lower case and without spaces.
const STAGE: &[&str] = &[
    "stage",
    "舞台",
    "ステージ",
    "무대",
    "bühne",
    "scène",
    "escenario",
    "palco",
    "podium",
    "panggung",
];

/// A sight nearer the middle of the seats than this, in parts of the half width or height of what they cover, has the
/// seats around it.
const MIDDLE: f64 = 0.5;

impl Sight {
    /// The part of the seats that sit before the focal point: behind a screen's first two thirds, and in the middle of
    /// the first third before a stage.
    fn share_in_front(self) -> (usize, usize) {
        match self {
            Sight::Screen => (2, 3),
            Sight::Stage => (1, 6),
        }
    }
}

/// The focal point, in plan units:
///
/// * A plan with a screen or a stage (an area whose text names one in English, Chinese, Japanese, Korean, German,
///   French, Spanish, Italian, Portuguese, Dutch or Indonesian; the shortest such text, because signs such as "to the
///   stage" are longer): on the middle line of the box of all seats, at the depth at which two thirds (screen) or one
///   sixth (stage) of the seats are nearer to the side where it lies. Seats are counted and not metres, because plans
///   draw balconies below the stalls.
/// * A stage or screen amid the seats: it itself.
/// * Any other plan: the centroid of all seats.
pub(super) fn focal_point(plan: &Plan) -> (f64, f64) {
    let Some((sight, at)) = sight(plan) else {
        return centroid(plan);
    };
    let (min_x, max_x) = extent(plan.seats.iter().map(|seat| seat.x));
    let (min_y, max_y) = extent(plan.seats.iter().map(|seat| seat.y));
    let (middle_x, middle_y) = (f64::midpoint(min_x, max_x), f64::midpoint(min_y, max_y));
    // A box without a width, of one line of seats, must not divide by zero.
    let pitch = geometry::pitch(&plan.seats);
    let across = (at.0 - middle_x) / (max_x - middle_x).max(pitch);
    let down = (at.1 - middle_y) / (max_y - middle_y).max(pitch);
    if across.abs().max(down.abs()) < MIDDLE {
        at
    } else if down.abs() >= across.abs() {
        let ys = plan.seats.iter().map(|seat| seat.y).collect();
        (middle_x, at_depth(ys, sight, down > 0.0))
    } else {
        let xs = plan.seats.iter().map(|seat| seat.x).collect();
        (at_depth(xs, sight, across > 0.0), middle_y)
    }
}

/// The coordinate before which the sight's share of the seats lies, seen from the low or the high side.
fn at_depth(mut along: Vec<f64>, sight: Sight, from_high: bool) -> f64 {
    let (part, whole) = sight.share_in_front();
    let seats = along.len();
    let in_front = (seats * part / whole).min(seats.saturating_sub(1));
    along.sort_unstable_by(f64::total_cmp);
    if from_high {
        along.reverse();
    }
    along.get(in_front).copied().unwrap_or(0.0)
}

/// What the hall looks at, and the middle of it or of its name.
fn sight(plan: &Plan) -> Option<(Sight, (f64, f64))> {
    let named = plan.areas.iter().filter_map(|area| {
        let name = compact(&area.frame().text.as_ref()?.text);
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let sight = has(SCREEN)
            .then_some(Sight::Screen)
            .or(has(STAGE).then_some(Sight::Stage))?;
        Some((name.chars().count(), sight, area))
    });
    let (_, sight, area) = named.min_by_key(|(chars, ..)| *chars)?;
    Some((sight, middle(area)))
}

/// In lower case without spaces, since signs are also written as `S T A G E`.
fn compact(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect()
}

fn middle(area: &Area) -> (f64, f64) {
    let alone = Plan {
        areas: vec![area.clone()],
        ..Plan::default()
    };
    let bounds = geometry::bounds(&alone, 0.0);
    (
        f64::midpoint(bounds.min_x, bounds.max_x),
        f64::midpoint(bounds.min_y, bounds.max_y),
    )
}

fn centroid(plan: &Plan) -> (f64, f64) {
    let (x, y) = plan
        .seats
        .iter()
        .fold((0.0, 0.0), |(x, y), seat| (x + seat.x, y + seat.y));
    let seats = plan.seats.len().max(1) as f64;
    (x / seats, y / seats)
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| {
        (min.min(value), max.max(value))
    })
}
