//! The search against the oracle, in many states of the sample halls, of halls as odd as real ones, and of whatever
//! halls the environment variable `SEATFLOW_PLANS` names a folder of.

mod halls;
mod wishes;

use std::collections::BTreeSet;

use halls::{ODD_HALLS, SAMPLES, beside, plans_of};
use wishes::{Random, random_seats, random_states, zones};

use super::numbers;
use super::oracle::{Case, Cost, Hall, disjoint};
use crate::domain::best_available::{
    BestAvailable, CANDIDATES_MAX, NEAR_EQUAL_PITCHES, Quantity, SeatGroups, SplitSeats, Wish,
};
use crate::domain::ids::SeatIndex;
use crate::domain::plan::Plan;
use crate::domain::seat::SeatState;

const QUANTITIES: [u32; 8] = [1, 2, 3, 4, 5, 7, 12, 20];
/// States of the hall that are tried for each plan.
const ROUNDS: u32 = 240;
/// The same for plans of more than [`LARGE_SEATS`] seats, of which each takes longer.
const ROUNDS_OF_LARGE: u32 = 60;
const LARGE_SEATS: usize = 2_000;

/// How often each answer came, so that a test which never met one does not pass.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    together: u32,
    apart: u32,
    too_few: u32,
}

impl Answers {
    fn searches(self) -> u32 {
        self.together + self.apart + self.too_few
    }
}

/// Compares all searches in one hall, prints a line on it and says what came out.
fn compare(file: &str, plan: &Plan) -> Answers {
    let mut random = Random(0x5EA7_F10A_2026_0001);
    let (groups, hall, zones) = (SeatGroups::of(plan), Hall::of(plan), zones(plan));
    let rounds = if plan.seats.len() > LARGE_SEATS {
        ROUNDS_OF_LARGE
    } else {
        ROUNDS
    };
    let mut answers = Answers::default();
    for round in 0..rounds {
        let states = random_states(plan, &mut random);
        let avoid = random_seats(plan, &mut random);
        let (zone, offered) = &zones[round as usize % zones.len()];
        let is_free =
            |(seat, state)| state == SeatState::Available && !avoid.contains(&SeatIndex(seat));
        let case = Case {
            hall: &hall,
            zone: offered,
            free: (0..).zip(states.states()).map(is_free).collect(),
        };
        for quantity in QUANTITIES {
            let wish = Wish {
                zone,
                states: &states,
                quantity: Quantity::new(quantity).expect("a quantity"),
                avoid: &avoid,
                spread: 0,
            };
            let spread = random.below(u64::MAX);
            compare_one(&case, &groups, &wish, spread, &mut answers);
        }
    }
    println!(
        "{file}: {} seats, {} zones, {} searches compared: {} together, {} apart, {} with too few seats",
        plan.seats.len(),
        plan.sections().len(),
        answers.searches(),
        answers.together,
        answers.apart,
        answers.too_few
    );
    answers
}

fn compare_one(
    case: &Case<'_>,
    groups: &SeatGroups,
    wish: &Wish<'_>,
    spread: u64,
    answers: &mut Answers,
) {
    let quantity = wish.quantity.get() as usize;
    let blocks = case.blocks(quantity);
    match groups.best_available(wish) {
        BestAvailable::Together(found) => {
            answers.together += 1;
            let found: Vec<Vec<u32>> = found.iter().map(|block| numbers(block)).collect();
            let expected = disjoint(&blocks, CANDIDATES_MAX);
            assert_eq!(found, expected, "{}, {quantity} seats", case.hall.plan.name);
            let spread_out = groups.best_available(&Wish { spread, ..*wish });
            assert_is_nearly_the_best(&blocks, &numbers(&spread_out.into_seat_lists()[0]));
        }
        BestAvailable::Apart(splits) => {
            answers.apart += 1;
            assert_eq!(blocks, [], "{}, {quantity} seats", case.hall.plan.name);
            splits
                .iter()
                .for_each(|split| assert_is_a_sound_split(case, quantity, split));
            assert_does_the_least_harm(case, quantity, &splits[0]);
        }
        BestAvailable::TooFew { free } => {
            answers.too_few += 1;
            let seats = 0..case.free.len();
            let offered = seats.filter(|seat| case.is_offered(*seat)).count();
            assert_eq!(free as usize, offered);
            assert!(offered < quantity);
        }
    }
}

fn assert_is_a_sound_split(case: &Case<'_>, quantity: usize, split: &SplitSeats) {
    let seats: BTreeSet<u32> = numbers(&split.seats()).into_iter().collect();
    assert_eq!(seats.len(), quantity);
    assert!(seats.iter().all(|seat| case.is_offered(*seat as usize)));
    assert_eq!(split.groups.len(), case.fewest_groups(quantity));
    for group in groups_of(split) {
        assert!(case.hall.are_neighbours(&group), "{group:?}");
    }
}

/// Which split is the nearest is not compared: among all sets of stretches nobody could find it.
fn assert_does_the_least_harm(case: &Case<'_>, quantity: usize, split: &SplitSeats) {
    let harm = case.harm_of_split(&groups_of(split));
    let least = case.least_harm(quantity);
    assert!(
        harm == least || (harm > least && case.groups_can_share_a_neighbour()),
        "{}, {quantity} seats: {split:?} does {harm:?} where {least:?} is enough",
        case.hall.plan.name
    );
}

fn groups_of(split: &SplitSeats) -> Vec<Vec<usize>> {
    let seats = |group: &Vec<SeatIndex>| group.iter().map(|seat| seat.0 as usize).collect();
    split.groups.iter().map(seats).collect()
}

/// What a spread may put in front: a block that does no more harm than the best and is hardly farther.
fn assert_is_nearly_the_best(blocks: &[(Cost, Vec<u32>)], first: &[u32]) {
    let of_first = blocks.iter().find(|(_, seats)| seats == first);
    let (best, first) = (blocks[0].0, of_first.expect("a block").0);
    let farther_max = u64::from(NEAR_EQUAL_PITCHES) * 1_000 * blocks[0].1.len() as u64;
    assert_eq!((best.0, best.1), (first.0, first.1));
    assert!(first.2 <= best.2 + farther_max, "{first:?} after {best:?}");
}

/// Every plan of a folder of our own is sound, and each shows every answer.
fn compare_our_own(folder: &str) {
    for (file, read) in plans_of(folder) {
        let plan = read.unwrap_or_else(|faults| panic!("{file}: {faults:?}"));
        let answers = compare(&file, &plan);
        assert!(
            answers.together > 100 && answers.apart > 20 && answers.too_few > 5,
            "{file}: {answers:?}"
        );
    }
}

/// The plans of a folder may be of any kind, so a faulty one is refused as it would be by the staff's page.
fn compare_asked_for(folder: &str) {
    let (mut compared, mut refused) = (0, 0);
    for (file, read) in plans_of(folder) {
        match read {
            Ok(plan) => {
                compare(&file, &plan);
                compared += 1;
            }
            Err(faults) => {
                println!("{file}: refused for {} faults, {}", faults.len(), faults[0]);
                refused += 1;
            }
        }
    }
    println!("{folder}: {compared} plans compared, {refused} refused");
    assert!(compared > 0, "no plan in {folder} can be read");
}

#[test]
fn the_search_agrees_with_trying_every_block_of_every_sample_hall() {
    compare_our_own(SAMPLES);
    if let Ok(folder) = std::env::var("SEATFLOW_PLANS") {
        compare_asked_for(&folder);
    }
}

#[test]
fn the_search_agrees_with_trying_every_block_of_halls_as_odd_as_real_ones() {
    compare_our_own(ODD_HALLS);
}

/// The runs of each odd hall as somebody wrote them down who looked at its drawing: a line a row, its name, its seats'
/// numbers, and a bar where an aisle is.
#[test]
fn the_oracle_walks_the_rows_of_odd_halls_as_people_do() {
    for (file, read) in plans_of(ODD_HALLS) {
        let plan = read.unwrap_or_else(|faults| panic!("{file}: {faults:?}"));
        let mut rows: Vec<String> = plan.rows.iter().map(|row| row.name.clone()).collect();
        let mut rows_begun = BTreeSet::new();
        for run in Hall::of(&plan).runs {
            let row = plan.seats[run[0]].row_index as usize;
            rows[row].push_str(if rows_begun.insert(row) { ":" } else { " |" });
            for seat in run {
                rows[row].push(' ');
                rows[row].push_str(&plan.seats[seat].number);
            }
        }
        let expected = beside(ODD_HALLS, &file, "rows.txt");
        assert_eq!(rows, expected.lines().collect::<Vec<_>>(), "{file}");
    }
}
