//! A plain reading of the rules: every block of every row is tried, and what it does is found by looking at all seats
//! of its row before and after.
//!
//! The oracle may take neighbours in the order of the file, because the sample plans list each row from one end to
//! the other.

use std::collections::BTreeSet;

use crate::domain::best_available::CANDIDATES_MAX;
use crate::domain::plan::{Plan, PlanSeat, SeatKind};

/// A hall, a zone of it and what is free.
pub(super) struct Case<'p> {
    pub(super) plan: &'p Plan,
    pub(super) focal: (f64, f64),
    pub(super) pitch: f64,
    pub(super) zone: &'p [bool],
    pub(super) free: Vec<bool>,
}

/// The rules' order: halved pairs, seats left alone, distance, lowest seat.
pub(super) type Cost = (usize, usize, u64, u32);

impl Case<'_> {
    fn seats_of_row(&self, row: usize) -> std::ops::Range<usize> {
        let row = &self.plan.rows[row];
        let first = row.first_seat as usize;
        first..first + row.seat_count as usize
    }

    fn gap(&self, seat: usize) -> f64 {
        let (a, b) = (&self.plan.seats[seat], &self.plan.seats[seat + 1]);
        ((a.x - b.x).powi(2) + (a.y - b.y).powi(2)).sqrt()
    }

    /// For each row, whether each seat but the last is the next one's neighbour.
    fn neighbours(&self) -> Vec<Vec<bool>> {
        let gaps = |row| {
            let seats = self.seats_of_row(row);
            (seats.start..seats.end.saturating_sub(1))
                .map(|seat| self.gap(seat))
                .collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = (0..self.plan.rows.len()).map(gaps).collect();
        let of_hall = lower_median(rows.concat());
        let neighbours = rows.into_iter().enumerate().map(|(row, gaps)| {
            let of_row = lower_median(gaps.clone());
            let usual = if gaps.len() < 3 {
                of_row.min(of_hall)
            } else {
                of_row
            };
            let first = self.seats_of_row(row).start;
            let step = self.usual_step(row);
            let is_next = |(at, gap): (usize, f64)| {
                let (a, b) = (
                    &self.plan.seats[first + at],
                    &self.plan.seats[first + at + 1],
                );
                let widest = if number(a).abs_diff(number(b)) == step {
                    1.5
                } else {
                    1.2
                };
                gap <= widest * usual + 1e-6 && is_accessible(a) == is_accessible(b)
            };
            gaps.into_iter().enumerate().map(is_next).collect()
        });
        neighbours.collect()
    }

    fn usual_step(&self, row: usize) -> u64 {
        let seats = &self.plan.seats[self.seats_of_row(row)];
        let steps: Vec<u64> = seats
            .windows(2)
            .map(|two| number(&two[0]).abs_diff(number(&two[1])))
            .collect();
        let count = |step: u64| steps.iter().filter(|other| **other == step).count();
        let distinct: BTreeSet<u64> = steps.iter().copied().collect();
        distinct
            .into_iter()
            .rev()
            .max_by_key(|step| count(*step))
            .unwrap_or(0)
    }

    /// Stretches of neighbours, whoever has taken them.
    pub(super) fn runs(&self) -> Vec<Vec<usize>> {
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for (row, neighbours) in self.neighbours().iter().enumerate() {
            let seats = self.seats_of_row(row);
            for (at, seat) in seats.enumerate() {
                if at > 0 && neighbours[at - 1] {
                    runs.last_mut().expect("a run was begun").push(seat);
                } else {
                    runs.push(vec![seat]);
                }
            }
        }
        runs
    }

    pub(super) fn is_offered(&self, seat: usize) -> bool {
        self.free[seat] && self.zone[seat]
    }

    pub(super) fn blocks(&self, runs: &[Vec<usize>], quantity: usize) -> Vec<(Cost, Vec<u32>)> {
        let mut blocks = Vec::new();
        for run in runs {
            for block in run
                .windows(quantity)
                .filter(|block| block.iter().all(|seat| self.is_offered(*seat)))
            {
                let seats: Vec<u32> = block
                    .iter()
                    .map(|seat| u32::try_from(*seat).expect("a seat"))
                    .collect();
                blocks.push((self.cost(run, block), seats));
            }
        }
        blocks.sort();
        blocks
    }

    fn cost(&self, run: &[usize], block: &[usize]) -> Cost {
        let is_free_after = |seat: usize| self.free[seat] && !block.contains(&seat);
        let is_alone = |at: usize, is_free: &dyn Fn(usize) -> bool| {
            let before = at > 0 && is_free(run[at - 1]);
            let after = at + 1 < run.len() && is_free(run[at + 1]);
            is_free(run[at]) && !before && !after
        };
        let places = 0..run.len();
        let left_alone = places
            .filter(|at| is_alone(*at, &is_free_after) && !is_alone(*at, &|seat| self.free[seat]));
        let halved = pairs(self.plan, run).into_iter().filter(|(a, b)| {
            (block.contains(a) && is_free_after(*b)) || (block.contains(b) && is_free_after(*a))
        });
        let distance = block
            .iter()
            .map(|seat| self.distance(&self.plan.seats[*seat]))
            .sum();
        let lowest = block.iter().min().expect("a block has seats");
        (
            halved.count(),
            left_alone.count(),
            distance,
            u32::try_from(*lowest).expect("a seat"),
        )
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and positive"
    )]
    fn distance(&self, seat: &PlanSeat) -> u64 {
        ((seat.x - self.focal.0).hypot(seat.y - self.focal.1) / self.pitch * 1_000.0).round() as u64
    }

    /// How many of the longest offered stretches it takes to seat so many.
    pub(super) fn fewest_groups(&self, runs: &[Vec<usize>], quantity: usize) -> usize {
        let stretches = runs
            .iter()
            .flat_map(|run| run.split(|seat| !self.is_offered(*seat)));
        let mut lengths: Vec<usize> = stretches.map(<[usize]>::len).collect();
        lengths.sort_unstable();
        let mut seated = 0;
        lengths
            .iter()
            .rev()
            .take_while(|length| {
                let more = seated < quantity;
                seated += **length;
                more
            })
            .count()
    }
}

fn lower_median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() {
        f64::INFINITY
    } else {
        values[(values.len() - 1) / 2]
    }
}

fn number(seat: &PlanSeat) -> u64 {
    seat.number.parse().expect("the samples number their seats")
}

pub(super) fn is_accessible(seat: &PlanSeat) -> bool {
    seat.kind == SeatKind::Wheelchair || seat.kind == SeatKind::Companion
}

/// Couple seats of a run, two by two from the lower end.
fn pairs(plan: &Plan, run: &[usize]) -> Vec<(usize, usize)> {
    let couples = run.split(|seat| plan.seats[*seat].kind != SeatKind::Couple);
    couples
        .flat_map(|seats| seats.chunks_exact(2))
        .map(|pair| (pair[0], pair[1]))
        .collect()
}

/// The best blocks of which none shares a seat with a better one.
pub(super) fn disjoint(blocks: &[(Cost, Vec<u32>)]) -> Vec<Vec<u32>> {
    let mut chosen: Vec<Vec<u32>> = Vec::new();
    for (_, block) in blocks {
        if chosen.len() < CANDIDATES_MAX
            && !chosen.iter().flatten().any(|seat| block.contains(seat))
        {
            chosen.push(block.clone());
        }
    }
    chosen
}
