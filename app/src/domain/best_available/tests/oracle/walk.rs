//! Who sits beside whom: the seats of a row from one end to the other by their positions alone, cut at the aisles.
//!
//! Neither the numbers nor the file's order are asked who is a neighbour. The two nearest places of a row are joined
//! as long as both have a free side and the chain does not close; what results is the way along the row, however it
//! bends and in whatever order the file lists it.

use std::collections::BTreeSet;

use super::is_accessible;
use crate::domain::plan::{Plan, PlanSeat};

/// Seats nearer to each other lie over each other, in plan units.
const ONE_PLACE: f64 = 1e-3;
/// Distances that differ by less are equal, in plan units: files round their positions.
const ROUNDING: f64 = 1e-6;

/// Where one seat of a row is, or several that the plan lays over each other.
struct Spot {
    x: f64,
    y: f64,
    /// By their place in the row, ascending.
    seats: Vec<usize>,
}

/// The seats of each stretch without an aisle, by their number in the plan, whoever has taken them.
pub(super) fn runs(plan: &Plan) -> Vec<Vec<usize>> {
    let walks: Vec<Vec<usize>> = (0..plan.rows.len()).map(|row| walk(plan, row)).collect();
    let gaps = |walk: &Vec<usize>| -> Vec<f64> {
        let gaps = walk.windows(2).map(|two| gap(plan, two));
        gaps.filter(|gap| *gap > ONE_PLACE).collect()
    };
    let usual_in_hall = lower_median(walks.iter().flat_map(gaps).collect());
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for walk in walks.iter().filter(|walk| !walk.is_empty()) {
        let gaps = gaps(walk);
        // Two gaps do not tell which is the aisle.
        let usual = if gaps.len() < 3 {
            lower_median(gaps).min(usual_in_hall)
        } else {
            lower_median(gaps)
        };
        let step = usual_step(plan, walk);
        runs.push(vec![walk[0]]);
        for two in walk.windows(2) {
            if is_next(plan, two, usual, step) {
                runs.last_mut().expect("a run was begun").push(two[1]);
            } else {
                runs.push(vec![two[1]]);
            }
        }
    }
    runs
}

/// The seats of a row from the end whose seat comes first in the file. Those laid over each other are passed in the
/// file's order.
fn walk(plan: &Plan, row: usize) -> Vec<usize> {
    let first = plan.rows[row].first_seat as usize;
    let seats = &plan.seats[first..first + plan.rows[row].seat_count as usize];
    let spots = spots(seats);
    let links = links(&spots);
    let is_end = |spot: &usize| links[*spot].len() < 2;
    let ends = (0..spots.len()).filter(is_end);
    let Some(start) = ends.min_by_key(|spot| spots[*spot].seats[0]) else {
        return Vec::new();
    };
    let (mut order, mut passed, mut at) = (Vec::new(), BTreeSet::new(), Some(start));
    while let Some(spot) = at {
        passed.insert(spot);
        order.extend(spots[spot].seats.iter().map(|seat| first + seat));
        at = links[spot]
            .iter()
            .copied()
            .find(|next| !passed.contains(next));
    }
    assert_eq!(order.len(), seats.len(), "the way passes every seat once");
    order
}

fn spots(seats: &[PlanSeat]) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for (at, seat) in seats.iter().enumerate() {
        let here = spots
            .iter_mut()
            .find(|spot| (spot.x - seat.x).hypot(spot.y - seat.y) <= ONE_PLACE);
        if let Some(spot) = here {
            spot.seats.push(at);
        } else {
            spots.push(Spot {
                x: seat.x,
                y: seat.y,
                seats: vec![at],
            });
        }
    }
    spots
}

/// The one or two neighbours of each spot. Of equally near pairs those come first that are closer in the file, so that
/// a ring of seats is open where the file begins and ends it.
fn links(spots: &[Spot]) -> Vec<Vec<usize>> {
    let mut pairs: Vec<(i64, usize, usize, usize)> = Vec::new();
    for (a, from) in spots.iter().enumerate() {
        for (b, to) in spots.iter().enumerate().skip(a + 1) {
            let length = (from.x - to.x).hypot(from.y - to.y);
            pairs.push((in_roundings(length), b - a, a, b));
        }
    }
    pairs.sort_unstable();
    let mut links = vec![Vec::new(); spots.len()];
    let mut chain: Vec<usize> = (0..spots.len()).collect();
    for (_, _, a, b) in pairs {
        if links[a].len() < 2 && links[b].len() < 2 && chain[a] != chain[b] {
            links[a].push(b);
            links[b].push(a);
            let (kept, joined) = (chain[a], chain[b]);
            chain
                .iter_mut()
                .filter(|of| **of == joined)
                .for_each(|of| *of = kept);
        }
    }
    links
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "coordinates are at most a million plan units"
)]
fn in_roundings(length: f64) -> i64 {
    (length / ROUNDING).round() as i64
}

fn is_next(plan: &Plan, two: &[usize], usual: f64, step: Option<u32>) -> bool {
    let (a, b) = (&plan.seats[two[0]], &plan.seats[two[1]]);
    let jumps = number_step(a, b).is_some_and(|jump| Some(jump) != step);
    let widest = if jumps { 1.2 * usual } else { 1.5 * usual };
    gap(plan, two) <= widest + ROUNDING && is_accessible(a) == is_accessible(b)
}

fn gap(plan: &Plan, two: &[usize]) -> f64 {
    let (a, b) = (&plan.seats[two[0]], &plan.seats[two[1]]);
    ((a.x - b.x).powi(2) + (a.y - b.y).powi(2)).sqrt()
}

/// By how much the numbers of neighbours differ most often; the smaller of two differences equally frequent.
fn usual_step(plan: &Plan, walk: &[usize]) -> Option<u32> {
    let steps = walk
        .windows(2)
        .filter_map(|two| number_step(&plan.seats[two[0]], &plan.seats[two[1]]));
    let steps: Vec<u32> = steps.collect();
    let count = |step: u32| steps.iter().filter(|other| **other == step).count();
    let distinct: BTreeSet<u32> = steps.iter().copied().collect();
    distinct.into_iter().rev().max_by_key(|step| count(*step))
}

fn number_step(a: &PlanSeat, b: &PlanSeat) -> Option<u32> {
    let number = |seat: &PlanSeat| {
        let mut digits = String::new();
        for letter in seat.number.chars() {
            if letter.is_ascii_digit() {
                digits.push(letter);
            } else if !digits.is_empty() {
                break;
            }
        }
        digits.parse::<u32>().ok()
    };
    Some(number(a)?.abs_diff(number(b)?))
}

fn lower_median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() {
        f64::INFINITY
    } else {
        values[(values.len() - 1) / 2]
    }
}
