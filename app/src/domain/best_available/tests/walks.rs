//! Who is whose neighbour, in rows that are not drawn with a ruler.

use super::{Drawn, ORDINARY, STEP, add_row, apart, len, spot, together};
use crate::domain::best_available::BestAvailable;
use crate::domain::plan::{Plan, PlanSeat, SeatKind};
use crate::domain::seat::SeatMap;

/// A hall of one free row.
fn hall(seats: Vec<PlanSeat>) -> Drawn {
    let mut plan = Plan::default();
    add_row(&mut plan, seats);
    let states = SeatMap {
        seats: len(&plan),
        ..SeatMap::default()
    };
    Drawn { plan, states }
}

/// A straight row of the given numbers at the given places, in steps.
fn row(seats: &[(u32, f64)]) -> Drawn {
    hall(
        seats
            .iter()
            .map(|(number, step)| spot(*number, step * STEP, 0.0, SeatKind::Standard))
            .collect(),
    )
}

/// Seat `at` of 20 on three quarters of a circle, a step apart.
fn on_a_horseshoe(at: u32) -> PlanSeat {
    let angle = f64::from(at) / 19.0 * 1.5 * std::f64::consts::PI;
    let radius = STEP * 19.0 / (1.5 * std::f64::consts::PI);
    spot(
        at + 1,
        radius * angle.cos(),
        radius * angle.sin(),
        SeatKind::Standard,
    )
}

#[test]
fn a_curved_row_is_followed_along_its_curve() {
    let horseshoe = hall((0..20).map(on_a_horseshoe).collect());
    assert_eq!(horseshoe.best(20), (0..20).collect::<Vec<u32>>());
}

#[test]
fn the_aisle_of_a_curved_row_is_found_along_its_curve() {
    let horseshoe = hall((0..20).filter(|at| *at != 15).map(on_a_horseshoe).collect());
    assert_eq!(horseshoe.best(15), (0..15).collect::<Vec<u32>>());
    assert!(matches!(
        horseshoe.search(&ORDINARY, 16, &[], 0),
        BestAvailable::Apart(_)
    ));
}

#[test]
fn odd_numbers_on_the_left_and_even_ones_on_the_right_are_neighbours_by_place() {
    let numbers = [7, 5, 3, 1, 2, 4, 6, 8];
    let seats: Vec<(u32, f64)> = numbers.into_iter().zip((0..).map(f64::from)).collect();
    assert_eq!(row(&seats).best(2), [3, 4]);
    assert_eq!(row(&seats).best(8).len(), 8);
}

#[test]
fn seats_that_the_file_lists_out_of_order_are_neighbours_by_place() {
    // In the file by number: 1 to 8, of which the odd ones run to the left.
    let places = [
        (1, 3.0),
        (2, 4.0),
        (3, 2.0),
        (4, 5.0),
        (5, 1.0),
        (6, 6.0),
        (7, 0.0),
        (8, 7.0),
    ];
    assert_eq!(row(&places).best(2), [0, 1]);
    let third = together(row(&places).search(&ORDINARY, 2, &[0, 1], 0));
    assert_eq!(third, [[2, 4], [3, 5]]);
}

#[test]
fn a_curved_row_out_of_order_is_followed_along_its_curve() {
    let shuffled = (0..20).map(|at| on_a_horseshoe(at * 7 % 20)).collect();
    assert_eq!(hall(shuffled).best(20).len(), 20);
}

#[test]
fn skipped_numbers_are_no_aisle_without_a_gap() {
    let seats = [
        (11, 0.0),
        (13, 1.0),
        (14, 2.0),
        (19, 3.0),
        (20, 4.0),
        (21, 5.0),
    ];
    assert_eq!(row(&seats).best(6).len(), 6);
}

#[test]
fn a_gap_with_skipped_numbers_is_an_aisle_sooner_than_one_without() {
    let numbered_through = [(1, 0.0), (2, 1.0), (3, 2.0), (4, 3.3), (5, 4.3), (6, 5.3)];
    assert_eq!(row(&numbered_through).best(6).len(), 6);
    let skipping = [(1, 0.0), (2, 1.0), (3, 2.0), (7, 3.3), (8, 4.3), (9, 5.3)];
    assert_eq!(row(&skipping).blocks(3), [[0, 1, 2], [3, 4, 5]]);
    assert!(matches!(
        row(&skipping).search(&ORDINARY, 4, &[], 0),
        BestAvailable::Apart(_)
    ));
}

#[test]
fn wide_seats_evenly_spaced_are_neighbours() {
    let mut recliners = Drawn::of(&["SSSSSSSS", "SSSSSSSS"]);
    let wide = (0..6).map(|at| {
        spot(
            at + 1,
            f64::from(at) * 2.5 * STEP,
            4.0 * STEP,
            SeatKind::Standard,
        )
    });
    let first = add_row(&mut recliners.plan, wide.collect());
    recliners.states.seats = len(&recliners.plan);
    let others: Vec<u32> = (0..first).collect();
    assert_eq!(
        together(recliners.search(&ORDINARY, 6, &others, 0)).len(),
        1
    );
}

#[test]
fn two_lone_seats_with_an_aisle_between_them_are_no_neighbours() {
    let hall = Drawn::of(&["SSSSSS", "SSSSSS", "S____S"]);
    let others: Vec<u32> = (0..12).collect();
    assert_eq!(apart(hall.search(&ORDINARY, 2, &others, 0)), [[[12], [13]]]);
}

#[test]
fn two_lines_that_the_file_calls_one_row_are_not_sold_around_the_corner() {
    let line = |y: f64, numbers: std::ops::Range<u32>| {
        numbers
            .zip(0..)
            .map(move |(number, at)| spot(number, f64::from(at) * STEP, y, SeatKind::Standard))
    };
    let balcony = hall(line(0.0, 1..7).chain(line(1.3 * STEP, 7..13)).collect());
    assert_eq!(
        balcony.blocks(6),
        [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    );
    assert!(matches!(
        balcony.search(&ORDINARY, 7, &[], 0),
        BestAvailable::Apart(_)
    ));
}

#[test]
fn seats_laid_over_each_other_are_neighbours_wherever_the_file_lists_them() {
    let there_and_back = [(1, 0.0), (2, 1.0), (3, 2.0), (4, 2.0), (5, 1.0), (6, 0.0)];
    assert_eq!(row(&there_and_back).blocks(2), [[1, 4], [0, 5], [2, 3]]);
}

#[test]
fn two_places_with_two_seats_each_do_not_make_the_aisle_between_them_usual() {
    let mut studio = Drawn::of(&["SSSSSS", "SSSSSS"]);
    let places = [0.0, 0.0, 4.0, 4.0];
    let seats = (1..)
        .zip(places)
        .map(|(number, step)| spot(number, step * STEP, 2.0 * STEP, SeatKind::Standard));
    let first = add_row(&mut studio.plan, seats.collect());
    studio.states.seats = len(&studio.plan);
    let others: Vec<u32> = (0..first).collect();
    assert_eq!(
        apart(studio.search(&ORDINARY, 4, &others, 0)),
        [[[12, 13], [14, 15]]]
    );
}
