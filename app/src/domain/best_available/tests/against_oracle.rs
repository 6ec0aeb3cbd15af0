//! The search against the oracle, on the sample halls in many states. They share the focal point alone.

use std::collections::BTreeSet;

use super::oracle::{Case, Cost, disjoint, is_accessible};
use super::{numbers, samples};
use crate::domain::best_available::focal::focal_point;
use crate::domain::best_available::{
    BestAvailable, NEAR_EQUAL_PITCHES, Quantity, SeatGroups, SplitSeats, Wish, ZoneSeats,
};
use crate::domain::ids::SeatIndex;
use crate::domain::plan::{Plan, geometry};
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
