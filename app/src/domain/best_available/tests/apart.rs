//! What is offered when so many seats are not left together.

use super::{Drawn, ORDINARY, apart};
use crate::domain::best_available::{BestAvailable, SeatGroups};
use crate::domain::ids::SeatIndex;
use crate::domain::plan::SeatKind::{Couple, Standard};

fn best(hall: &Drawn, quantity: u32) -> Vec<Vec<u32>> {
    apart(hall.search(&ORDINARY, quantity, &[], 0)).swap_remove(0)
}

#[test]
fn seats_are_never_split_while_a_block_is_left_anywhere() {
    let hall = Drawn::of(&["SSSSsSSSS", "SSSSsSSSS", "sssssssss", "sssssssss", "SSSSS"]);
    assert_eq!(hall.blocks(5), [[36, 37, 38, 39, 40]]);
}

#[test]
fn the_fewest_groups_are_made_even_if_they_are_farther() {
    let hall = Drawn::of(&["SSsSSsSS", "ssssssss", "ssssssss", "SSSsSSSs"]);
    assert_eq!(best(&hall, 6), [vec![24, 25, 26], vec![28, 29, 30]]);
}

#[test]
fn groups_are_near_each_other() {
    let hall = Drawn::of(&[
        "SSsssssssssssssssSSs",
        "ssssssssssssssssssss",
        "SSssssssssssssssssss",
    ]);
    assert_eq!(best(&hall, 4), [[0, 1], [40, 41]]);
}

#[test]
fn nobody_sits_alone_where_the_groups_can_be_larger() {
    // Three and one next door would be nearer than two and two.
    let hall = Drawn::of(&["sSSSsSss", "ssssssss", "ssssssss", "SSssssss"]);
    let groups = best(&hall, 4);
    assert!(groups.iter().all(|group| group.len() == 2), "{groups:?}");
    assert_eq!(groups[1], [24, 25]);
}

#[test]
fn nobody_sits_alone_where_both_groups_can_go_without_a_seat() {
    // Four and one would leave nobody's neighbour free; but one of the five would sit alone.
    let hall = Drawn::of(&["SSSSsSSSS"]);
    let groups = best(&hall, 5);
    assert!(groups.iter().all(|group| group.len() > 1), "{groups:?}");
}

#[test]
fn a_far_split_that_leaves_no_seat_alone_wins_over_every_near_one() {
    // Of threes either one person or two seats would be left alone.
    let threes = "SSSsSSSsSSS";
    let hall = Drawn::of(&[
        threes,
        threes,
        threes,
        threes,
        threes,
        threes,
        "",
        "",
        "",
        "",
        "SSsssssssSS",
    ]);
    assert_eq!(best(&hall, 4), [[66, 67], [75, 76]]);
}

#[test]
fn a_seat_of_another_zone_is_not_left_alone_between_two_groups() {
    // Each of 0 and 2 leaves the other as a neighbour to 1; both together do not.
    let hall = Drawn::of(&["SCSsS"]);
    let split = |quantity| apart(hall.search(&[Standard], quantity, &[], 0)).swap_remove(0);
    assert_eq!(split(2), [[2], [4]]);
    assert_eq!(split(3), [[0], [2], [4]]);
}

#[test]
fn what_is_not_needed_is_not_left_alone() {
    // Five of the eight: three and two, where the stretch of four would keep one alone if three of it were taken.
    let hall = Drawn::of(&["SSSSsSSSS"]);
    let groups = best(&hall, 6);
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 6);
    assert!(groups.iter().all(|group| group.len() != 3), "{groups:?}");
}

#[test]
fn single_seats_are_offered_when_there_are_no_others() {
    let hall = Drawn::of(&["SsSsS", "sssss"]);
    assert_eq!(best(&hall, 2), [[0], [2]]);
    assert_eq!(best(&hall, 3), [[0], [2], [4]]);
    assert_eq!(
        hall.search(&ORDINARY, 4, &[], 0),
        BestAvailable::TooFew { free: 3 }
    );
}

#[test]
fn pairs_of_a_couple_row_stay_whole_when_they_are_split() {
    let hall = Drawn::of(&["CC_CC_CC"]);
    let found = apart(hall.search(&[Couple], 4, &[], 0));
    assert_eq!(found[0], [[0, 1], [2, 3]]);
}

#[test]
fn a_split_lists_its_seats_in_order_whatever_its_groups_are() {
    let hall = Drawn::of(&["SSsSS"]);
    let found = hall.search(&ORDINARY, 4, &[], 0);
    assert_eq!(
        found.into_seat_lists(),
        [[0, 1, 3, 4].map(SeatIndex).to_vec()]
    );
}

#[test]
fn seats_are_together_without_an_aisle_a_row_or_a_seat_between_them() {
    let hall = Drawn::of(&["SSSS   SSS", "SSSWAS"]);
    let groups = SeatGroups::of(&hall.plan);
    let together = |seats: &[u32]| {
        let seats: Vec<SeatIndex> = seats.iter().copied().map(SeatIndex).collect();
        groups.are_together(&seats)
    };
    for seats in [&[][..], &[2], &[0, 1, 2, 3], &[3, 2], &[4, 6, 5]] {
        assert!(together(seats), "{seats:?}");
    }
    for seats in [&[0, 2][..], &[3, 4], &[6, 7], &[9, 10], &[0, 999], &[1, 1]] {
        assert!(!together(seats), "{seats:?}");
    }
}
