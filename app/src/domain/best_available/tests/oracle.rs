//! A plain reading of the rules: every block of every row is tried, and what it does is found by looking at all seats
//! of its row before and after.
//!
//! Nothing of the search is used here, only what a plan is; so a mistake of the search cannot hide in both.

mod splits;
mod view;
mod walk;

use crate::domain::plan::{Plan, PlanSeat, SeatKind};

/// A hall as the rules see it.
pub(super) struct Hall<'p> {
    pub(super) plan: &'p Plan,
    /// Stretches of neighbours, whoever has taken them.
    pub(super) runs: Vec<Vec<usize>>,
    /// Plan units.
    pub(super) focal: (f64, f64),
    /// Plan units.
    pitch: f64,
}

/// A hall, a zone of it and what is free.
pub(super) struct Case<'h> {
    pub(super) hall: &'h Hall<'h>,
    /// By seat, whether the zone offers it.
    pub(super) zone: &'h [bool],
    pub(super) free: Vec<bool>,
}

/// The rules' order: halved pairs, seats left alone, distance in thousandths of a pitch, lowest seat, and how many seats
/// of the run come before the block.
pub(super) type Cost = (usize, usize, u64, u32, usize);

impl<'p> Hall<'p> {
    pub(super) fn of(plan: &'p Plan) -> Hall<'p> {
        let pitch = view::pitch(plan);
        Hall {
            plan,
            runs: walk::runs(plan),
            focal: view::focal_point(plan, pitch),
            pitch,
        }
    }

    /// Whether seats, in any order, lie side by side in one run.
    pub(super) fn are_neighbours(&self, seats: &[usize]) -> bool {
        let is_stretch = |stretch: &[usize]| stretch.iter().all(|seat| seats.contains(seat));
        self.runs
            .iter()
            .any(|run| run.windows(seats.len()).any(is_stretch))
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and positive"
    )]
    fn distance(&self, seat: &PlanSeat) -> u64 {
        ((seat.x - self.focal.0).hypot(seat.y - self.focal.1) / self.pitch * 1_000.0).round() as u64
    }
}

impl Case<'_> {
    pub(super) fn is_offered(&self, seat: usize) -> bool {
        self.free[seat] && self.zone[seat]
    }

    /// Every block of so many neighbours that are all offered, the best first.
    pub(super) fn blocks(&self, quantity: usize) -> Vec<(Cost, Vec<u32>)> {
        let mut blocks = Vec::new();
        for run in &self.hall.runs {
            for (at, block) in run.windows(quantity).enumerate() {
                if !block.iter().all(|seat| self.is_offered(*seat)) {
                    continue;
                }
                let mut seats: Vec<u32> = block
                    .iter()
                    .map(|seat| u32::try_from(*seat).expect("a seat"))
                    .collect();
                seats.sort_unstable();
                blocks.push((self.cost(run, at, block), seats));
            }
        }
        blocks.sort();
        blocks
    }

    fn cost(&self, run: &[usize], begins_at: usize, block: &[usize]) -> Cost {
        let (halved, left_alone) = self.harm(run, block);
        let seats = &self.hall.plan.seats;
        let distance = block.iter().map(|seat| self.hall.distance(&seats[*seat]));
        let lowest = block.iter().min().expect("a block has seats");
        (
            halved,
            left_alone,
            distance.sum(),
            u32::try_from(*lowest).expect("a seat"),
            begins_at,
        )
    }

    /// How many pairs of a run are halved and how many of its seats are newly left alone when `taken` are taken.
    fn harm(&self, run: &[usize], taken: &[usize]) -> (usize, usize) {
        let is_free_after = |seat: usize| self.free[seat] && !taken.contains(&seat);
        let is_alone = |at: usize, is_free: &dyn Fn(usize) -> bool| {
            let before = at > 0 && is_free(run[at - 1]);
            let after = at + 1 < run.len() && is_free(run[at + 1]);
            is_free(run[at]) && !before && !after
        };
        let places = 0..run.len();
        let left_alone = places
            .filter(|at| is_alone(*at, &is_free_after) && !is_alone(*at, &|seat| self.free[seat]));
        let pairs = pairs(self.hall.plan, run);
        let halved = pairs.into_iter().filter(|(a, b)| {
            (taken.contains(a) && is_free_after(*b)) || (taken.contains(b) && is_free_after(*a))
        });
        (halved.count(), left_alone.count())
    }
}

pub(super) fn is_accessible(seat: &PlanSeat) -> bool {
    seat.kind == SeatKind::Wheelchair || seat.kind == SeatKind::Companion
}

/// Couple seats of a run, two by two from the end where the row begins.
fn pairs(plan: &Plan, run: &[usize]) -> Vec<(usize, usize)> {
    let couples = run.split(|seat| plan.seats[*seat].kind != SeatKind::Couple);
    couples
        .flat_map(|seats| seats.chunks_exact(2))
        .map(|pair| (pair[0], pair[1]))
        .collect()
}

/// The best blocks of which none shares a seat with a better one, at most so many.
pub(super) fn disjoint(blocks: &[(Cost, Vec<u32>)], most: usize) -> Vec<Vec<u32>> {
    let mut chosen: Vec<Vec<u32>> = Vec::new();
    for (_, block) in blocks {
        if chosen.len() < most && !chosen.iter().flatten().any(|seat| block.contains(seat)) {
            chosen.push(block.clone());
        }
    }
    chosen
}
