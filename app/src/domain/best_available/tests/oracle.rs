//! The search against a plain reading of the rules: every block of every row is tried, and what it does is found by
//! looking at all seats of its row before and after.
//!
//! The oracle shares with the search the focal point alone. It may take neighbours in the order of the file, because
//! the sample plans list each row from one end to the other.

use std::collections::BTreeSet;

use super::{numbers, samples};
use crate::domain::best_available::focal::focal_point;
use crate::domain::best_available::{
    BestAvailable, CANDIDATES_MAX, NEAR_EQUAL_PITCHES, Quantity, SeatGroups, SplitSeats, Wish,
    ZoneSeats,
};
use crate::domain::ids::SeatIndex;
use crate::domain::plan::{Plan, PlanSeat, SeatKind, geometry};
use crate::domain::seat::{MapVersion, SeatMap, SeatState};

const QUANTITIES: [u32; 8] = [1, 2, 3, 4, 5, 7, 12, 20];

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A hall, a zone of it and what is free.
struct Case<'p> {
    plan: &'p Plan,
    focal: (f64, f64),
    pitch: f64,
    zone: &'p [bool],
    free: Vec<bool>,
}

/// The rules' order: halved pairs, seats left alone, distance, lowest seat.
type Cost = (usize, usize, u64, u32);

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
    fn runs(&self) -> Vec<Vec<usize>> {
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

    fn is_offered(&self, seat: usize) -> bool {
        self.free[seat] && self.zone[seat]
    }

    fn blocks(&self, runs: &[Vec<usize>], quantity: usize) -> Vec<(Cost, Vec<u32>)> {
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
    fn fewest_groups(&self, runs: &[Vec<usize>], quantity: usize) -> usize {
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

fn is_accessible(seat: &PlanSeat) -> bool {
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
fn disjoint(blocks: &[(Cost, Vec<u32>)]) -> Vec<Vec<u32>> {
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

fn assert_is_a_sound_split(
    case: &Case<'_>,
    runs: &[Vec<usize>],
    quantity: usize,
    split: &SplitSeats,
) {
    let seats: BTreeSet<u32> = numbers(&split.seats()).into_iter().collect();
    assert_eq!(seats.len(), quantity);
    assert!(seats.iter().all(|seat| case.is_offered(*seat as usize)));
    assert_eq!(split.groups.len(), case.fewest_groups(runs, quantity));
    for group in &split.groups {
        let group: Vec<usize> = group.iter().map(|seat| seat.0 as usize).collect();
        assert!(
            runs.iter()
                .any(|run| run.windows(group.len()).any(|seats| seats == group)),
            "{group:?}"
        );
    }
}

/// What a spread may put in front: a block that does no more harm than the best and is hardly farther.
fn assert_is_nearly_the_best(blocks: &[(Cost, Vec<u32>)], first: &[u32]) {
    let (best, first) = (
        blocks[0].0,
        blocks
            .iter()
            .find(|(_, seats)| seats == first)
            .expect("a block")
            .0,
    );
    let farther_max = u64::from(NEAR_EQUAL_PITCHES) * 1_000 * blocks[0].1.len() as u64;
    assert_eq!((best.0, best.1), (first.0, first.1));
    assert!(first.2 <= best.2 + farther_max, "{first:?} after {best:?}");
}

/// Each category, all ordinary places, and everything; nothing of it empty. With the seats that may be offered.
fn zones(plan: &Plan) -> Vec<(ZoneSeats, Vec<bool>)> {
    let everything: Vec<bool> = vec![true; plan.seats.len()];
    let mut zones = vec![(everything, true)];
    for category in 0..plan.categories.len() {
        let belongs: Vec<bool> = plan
            .seats
            .iter()
            .map(|seat| usize::from(seat.category) == category)
            .collect();
        let is_mixed = plan
            .seats
            .iter()
            .zip(&belongs)
            .any(|(seat, belongs)| *belongs && !is_accessible(seat));
        zones.push((belongs, is_mixed));
    }
    let zone = |(belongs, has_ordinary): (Vec<bool>, bool)| {
        let by_guid: BTreeSet<&str> = plan
            .seats
            .iter()
            .zip(&belongs)
            .filter(|(_, belongs)| **belongs)
            .map(|(seat, _)| seat.guid.as_str())
            .collect();
        let zone = ZoneSeats::of(plan, |seat| by_guid.contains(seat.guid.as_str()));
        let offered = plan.seats.iter().zip(belongs);
        (
            zone,
            offered
                .map(|(seat, belongs)| belongs && !(has_ordinary && is_accessible(seat)))
                .collect(),
        )
    };
    zones.into_iter().map(zone).collect()
}

/// Everything from an empty house to the last seats, in clumps as people buy.
fn random_states(seats: u32, random: &mut Random) -> SeatMap {
    let mut states = SeatMap {
        at: MapVersion::default(),
        seats,
        bits: Vec::new(),
    };
    let percent_taken = random.below(100);
    let mut seat = 0;
    while seat < seats {
        let clump = u32::try_from(1 + random.below(5)).expect("small");
        if random.below(100) < percent_taken {
            let state = [SeatState::Locked, SeatState::Sold, SeatState::Blocked]
                [usize::try_from(random.below(3)).expect("small")];
            (seat..seat + clump).for_each(|seat| states.set(SeatIndex(seat), state));
        }
        seat += clump;
    }
    states
}

/// How often each answer came, so that a test which never met one does not pass.
#[derive(Default)]
struct Answers {
    together: u32,
    apart: u32,
    too_few: u32,
}

fn compare(plan: &Plan, random: &mut Random, rounds: u32, answers: &mut Answers) {
    let (groups, zones) = (SeatGroups::of(plan), zones(plan));
    let seats = u32::try_from(plan.seats.len()).expect("few seats");
    let mut case = Case {
        plan,
        focal: focal_point(plan),
        pitch: geometry::pitch(&plan.seats),
        zone: &[],
        free: Vec::new(),
    };
    let runs = case.runs();
    for round in 0..rounds {
        let states = random_states(seats, random);
        let (zone, offered) = &zones[round as usize % zones.len()];
        let avoid: Vec<SeatIndex> = (0..random.below(6))
            .map(|_| SeatIndex(u32::try_from(random.below(u64::from(seats))).expect("a seat")))
            .collect();
        case.zone = offered;
        case.free = states
            .states()
            .map(|state| state == SeatState::Available)
            .collect();
        avoid
            .iter()
            .for_each(|seat| case.free[seat.0 as usize] = false);
        for quantity in QUANTITIES {
            let wanted = Quantity::new(quantity).expect("a quantity");
            let wish = Wish {
                zone,
                states: &states,
                quantity: wanted,
                avoid: &avoid,
                spread: 0,
            };
            compare_one(
                &case,
                &runs,
                &groups,
                &wish,
                random.below(u64::MAX),
                answers,
            );
        }
    }
}

fn compare_one(
    case: &Case<'_>,
    runs: &[Vec<usize>],
    groups: &SeatGroups,
    wish: &Wish<'_>,
    spread: u64,
    answers: &mut Answers,
) {
    let quantity = wish.quantity.get() as usize;
    let blocks = case.blocks(runs, quantity);
    let spread_out = groups
        .best_available(&Wish { spread, ..*wish })
        .into_seat_lists();
    match groups.best_available(wish) {
        BestAvailable::Together(found) => {
            answers.together += 1;
            let found: Vec<Vec<u32>> = found.iter().map(|block| numbers(block)).collect();
            assert_eq!(
                found,
                disjoint(&blocks),
                "{}, {quantity} seats",
                case.plan.name
            );
            assert_is_nearly_the_best(&blocks, &numbers(&spread_out[0]));
        }
        BestAvailable::Apart(splits) => {
            answers.apart += 1;
            assert_eq!(blocks, []);
            assert!(!splits.is_empty());
            splits
                .iter()
                .for_each(|split| assert_is_a_sound_split(case, runs, quantity, split));
        }
        BestAvailable::TooFew { free } => {
            answers.too_few += 1;
            let offered = (0..case.free.len())
                .filter(|seat| case.is_offered(*seat))
                .count();
            assert_eq!(free as usize, offered);
            assert!(offered < quantity);
        }
    }
}

#[test]
fn the_search_agrees_with_trying_every_block_of_every_sample_hall() {
    let mut random = Random(0x5EA7_F10A_2026_0001);
    for plan in samples() {
        let mut answers = Answers::default();
        let rounds = if plan.seats.len() > 2_000 { 60 } else { 240 };
        compare(&plan, &mut random, rounds, &mut answers);
        let Answers {
            together,
            apart,
            too_few,
        } = answers;
        assert!(
            together > 100 && apart > 20 && too_few > 5,
            "{}: {together}, {apart}, {too_few}",
            plan.name
        );
    }
}
