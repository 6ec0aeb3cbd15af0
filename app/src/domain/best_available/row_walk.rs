//! The order in which one passes the seats of a row, and where an aisle interrupts it.

use std::collections::VecDeque;

use crate::domain::plan::{PlanSeat, SeatKind};

/// A gap is an aisle when it is wider than this many of the row's usual gaps.
const AISLE_GAPS: f64 = 1.5;
/// A gap at which the numbers jump is an aisle when it is wider than this many of the row's usual gaps.
const AISLE_GAPS_AT_A_JUMP: f64 = 1.2;
/// Shorter gaps are those of seats which the plan lays over each other, in plan units.
const GAP_MIN: f64 = 1e-3;
/// Two lengths that differ by less are equal, in plan units: positions are rounded.
const ROUNDING: f64 = 1e-6;
/// A row with fewer gaps says too little about what is usual, and the hall is asked as well.
const TELLING_GAPS_MIN: usize = 3;
/// The longest row whose nearest places are joined first; the effort grows with the square.
const NEAREST_FIRST_SEATS_MAX: usize = 512;

/// A row's seats from one end to the other, by their place in the row.
pub(super) struct RowWalk {
    order: Vec<usize>,
    /// Between each seat and the next of `order`, in plan units.
    gaps: Vec<f64>,
}

impl RowWalk {
    /// Numbers do not tell the order (odd ones may be left and even ones right), so positions do. The file's order is
    /// taken where it never turns back; else the shortest way among it, the order along a straight line, and the one
    /// that grows by the nearest seat. The end with the lower place in the row comes first, and seats laid over each
    /// other come in the file's order.
    pub(super) fn of(seats: &[PlanSeat]) -> RowWalk {
        let mut order: Vec<usize> = (0..seats.len()).collect();
        if turns_back(seats) {
            let end = farthest(seats, 0);
            let mut ways = vec![along_a_line(seats, end, farthest(seats, end))];
            if seats.len() <= NEAREST_FIRST_SEATS_MAX {
                ways.push(nearest_first(seats));
            }
            for way in ways {
                if length(seats, &way) < length(seats, &order) - ROUNDING {
                    order = way;
                }
            }
            order = begun_at_the_lower_end(seats, order);
        }
        let gaps = order
            .windows(2)
            .map(|pair| distance(&seats[pair[0]], &seats[pair[1]]))
            .collect();
        RowWalk { order, gaps }
    }

    /// The gaps between seats that do not share a place, in plan units.
    pub(super) fn gaps(&self) -> impl Iterator<Item = f64> + '_ {
        self.gaps.iter().copied().filter(|gap| *gap > GAP_MIN)
    }

    /// The row cut where an aisle is and where ordinary seats and places for wheelchairs and companions meet.
    /// `hall_gap` is the usual gap of the hall, in plan units.
    pub(super) fn runs(&self, seats: &[PlanSeat], hall_gap: f64) -> Vec<Vec<usize>> {
        let usual_gap = self.usual_gap(hall_gap);
        let usual_step = usual_step(seats, &self.order);
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for (at, &place) in self.order.iter().enumerate() {
            let seat = &seats[place];
            let goes_on = at.checked_sub(1).is_some_and(|before| {
                let previous = &seats[self.order[before]];
                let jumps =
                    number_step(previous, seat).is_some_and(|step| Some(step) != usual_step);
                let gaps_max = if jumps {
                    AISLE_GAPS_AT_A_JUMP
                } else {
                    AISLE_GAPS
                };
                self.gaps[before] <= gaps_max * usual_gap + ROUNDING
                    && is_accessible(previous.kind) == is_accessible(seat.kind)
            });
            match runs.last_mut() {
                Some(run) if goes_on => run.push(place),
                _ => runs.push(vec![place]),
            }
        }
        runs
    }

    /// The median gap; in a short row the hall's where that is smaller, since two lone seats with an aisle between
    /// them would else make the aisle the usual gap.
    fn usual_gap(&self, hall_gap: f64) -> f64 {
        let gaps: Vec<f64> = self.gaps().collect();
        let is_telling = gaps.len() >= TELLING_GAPS_MIN;
        match median(gaps) {
            Some(gap) if is_telling => gap,
            Some(gap) => gap.min(hall_gap),
            None => hall_gap,
        }
    }
}

/// Whether a place is kept for people with a wheelchair and those who come with them.
pub(super) fn is_accessible(kind: SeatKind) -> bool {
    matches!(kind, SeatKind::Wheelchair | SeatKind::Companion)
}

/// The lower one of two middle values; nothing of nothing.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Whether somebody who passes the seats in the order of the file turns by more than a right angle at one of them.
/// From a seat to one laid over it is no step.
fn turns_back(seats: &[PlanSeat]) -> bool {
    let steps = seats
        .windows(2)
        .filter(|pair| distance(&pair[0], &pair[1]) > GAP_MIN)
        .map(|pair| (pair[1].x - pair[0].x, pair[1].y - pair[0].y));
    let following = steps.clone().skip(1);
    steps
        .zip(following)
        .any(|(before, after)| before.0 * after.0 + before.1 * after.1 < 0.0)
}

/// A way from its end with the lower place in the row, where seats laid over each other are passed by their place in
/// the row.
fn begun_at_the_lower_end(seats: &[PlanSeat], way: Vec<usize>) -> Vec<usize> {
    let mut spots: Vec<Vec<usize>> = way
        .chunk_by(|&a, &b| distance(&seats[a], &seats[b]) <= GAP_MIN)
        .map(<[usize]>::to_vec)
        .collect();
    for spot in &mut spots {
        spot.sort_unstable();
    }
    if spots.first() > spots.last() {
        spots.reverse();
    }
    spots.concat()
}

/// The step between neighbours' numbers that is most frequent, the smaller one of two.
fn usual_step(seats: &[PlanSeat], order: &[usize]) -> Option<u32> {
    let steps = order
        .windows(2)
        .filter_map(|pair| number_step(&seats[pair[0]], &seats[pair[1]]));
    let mut steps: Vec<u32> = steps.collect();
    steps.sort_unstable();
    let most = steps
        .chunk_by(|a, b| a == b)
        .rev()
        .max_by_key(|same| same.len())?;
    most.first().copied()
}

fn number_step(a: &PlanSeat, b: &PlanSeat) -> Option<u32> {
    Some(number(&a.number)?.abs_diff(number(&b.number)?))
}

/// The first run of digits: `12` of `12`, `B12` and `12a`.
fn number(text: &str) -> Option<u32> {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    digits[..end].parse().ok()
}

fn distance(a: &PlanSeat, b: &PlanSeat) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

fn length(seats: &[PlanSeat], order: &[usize]) -> f64 {
    order
        .windows(2)
        .map(|pair| distance(&seats[pair[0]], &seats[pair[1]]))
        .sum()
}

/// The place of the seat farthest from another; 0 in an empty row.
fn farthest(seats: &[PlanSeat], from: usize) -> usize {
    let away = |place: &usize| distance(&seats[*place], &seats[from]);
    (0..seats.len())
        .rev()
        .max_by(|a, b| away(a).total_cmp(&away(b)))
        .unwrap_or(0)
}

fn along_a_line(seats: &[PlanSeat], from: usize, to: usize) -> Vec<usize> {
    let (dx, dy) = (seats[to].x - seats[from].x, seats[to].y - seats[from].y);
    let along = |place: usize| seats[place].x * dx + seats[place].y * dy;
    let mut order: Vec<usize> = (0..seats.len()).collect();
    order.sort_by(|&a, &b| along(a).total_cmp(&along(b)));
    order
}

/// Grows from one seat at whichever end has a seat nearer to it, so that a horseshoe is followed both ways.
fn nearest_first(seats: &[PlanSeat]) -> Vec<usize> {
    let mut order = VecDeque::from([0]);
    let mut left: Vec<usize> = (1..seats.len()).collect();
    while let (Some(&front), Some(&back)) = (order.front(), order.back()) {
        let away = |index: usize, end: usize| distance(&seats[left[index]], &seats[end]);
        let steps = (0..left.len()).flat_map(|index| {
            [
                (away(index, back), index, false),
                (away(index, front), index, true),
            ]
        });
        let Some((_, index, at_front)) = steps.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            break;
        };
        let next = left.remove(index);
        if at_front {
            order.push_front(next);
        } else {
            order.push_back(next);
        }
    }
    order.into()
}
