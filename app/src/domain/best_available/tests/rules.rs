//! Each rule on the smallest hall that shows it. Seats are numbered from 0, line after line.

use std::collections::BTreeSet;

use super::{Drawn, ORDINARY, apart, together};
use crate::domain::best_available::{
    BestAvailable, CANDIDATES_MAX, QUANTITY_MAX, Quantity, SeatGroups, Wish, ZoneSeats,
};
use crate::domain::ids::SeatIndex;
use crate::domain::plan::SeatKind::{Companion, Couple, Standard, Wheelchair};
use crate::domain::seat::SeatState;

#[test]
fn between_one_and_twenty_seats_are_searched_for() {
    assert_eq!(Quantity::new(0), None);
    assert_eq!(Quantity::new(1).map(Quantity::get), Some(1));
    assert_eq!(Quantity::new(QUANTITY_MAX).map(Quantity::get), Some(20));
    assert_eq!(Quantity::new(QUANTITY_MAX + 1), None);
}

#[test]
fn the_block_nearest_the_middle_of_the_hall_is_the_best() {
    let hall = Drawn::of(&["SSSSSSS", "SSSSSSS", "SSSSSSS"]);
    assert_eq!(hall.best(3), [9, 10, 11]);
}

#[test]
fn of_equally_near_blocks_the_one_with_the_lower_seats_is_the_best() {
    let hall = Drawn::of(&["SSsssSS"]);
    assert_eq!(hall.blocks(2), [[0, 1], [5, 6]]);
}

#[test]
fn a_block_never_crosses_an_aisle() {
    let hall = Drawn::of(&["SSS_SSS"]);
    assert_eq!(hall.blocks(3), [[0, 1, 2], [3, 4, 5]]);
    let found = apart(hall.search(&ORDINARY, 4, &[], 0));
    assert!(found.iter().all(|groups| groups.len() == 2), "{found:?}");
}

#[test]
fn a_block_never_goes_from_one_row_to_the_next() {
    let hall = Drawn::of(&["SS", "SS"]);
    assert_eq!(hall.blocks(2), [[0, 1], [2, 3]]);
    apart(hall.search(&ORDINARY, 3, &[], 0));
}

#[test]
fn held_sold_and_blocked_seats_interrupt_a_block() {
    for state in [SeatState::Locked, SeatState::Sold, SeatState::Blocked] {
        let mut hall = Drawn::of(&["SSSSSSS"]);
        hall.states.set(SeatIndex(3), state);
        assert_eq!(hall.best(3), [0, 1, 2], "{state:?}");
        assert!(matches!(
            hall.search(&ORDINARY, 4, &[], 0),
            BestAvailable::Apart(_)
        ));
    }
}

#[test]
fn a_farther_block_wins_when_a_nearer_one_would_leave_a_seat_alone() {
    // Of 1 to 3, any two would leave the third alone.
    let hall = Drawn::of(&["sSSSss", "ssssss", "ssssss", "sssSSs"]);
    assert_eq!(hall.best(2), [21, 22]);
}

#[test]
fn a_seat_at_an_aisle_or_a_wall_is_not_left_alone_either() {
    assert_eq!(Drawn::of(&["SSSSS_SSSSSSSSS"]).best(4)[0], 5);
    let wall = Drawn::of(&["SSS", "sss", "SSs"]);
    assert_eq!(wall.best(2), [6, 7]);
}

#[test]
fn a_seat_is_left_alone_where_there_is_no_other_way() {
    let hall = Drawn::of(&["sSSSs", "sssss"]);
    assert_eq!(hall.blocks(2), [[1, 2]]);
}

#[test]
fn a_seat_that_was_alone_before_does_not_count() {
    let hall = Drawn::of(&["SsSSSsS", "ssSSsss"]);
    assert_eq!(hall.best(3), [2, 3, 4]);
}

#[test]
fn a_free_seat_of_another_zone_is_company() {
    // Without seat 1, which is nearer, seat 0 would be alone; without seat 0, seat 1 still has seat 2.
    let hall = Drawn::of(&["SSCCs"]);
    assert_eq!(together(hall.search(&[Standard], 1, &[], 0))[0], [0]);
}

#[test]
fn only_seats_of_the_zone_are_offered() {
    let hall = Drawn::of(&["SSCCSS"]);
    let blocks = together(hall.search(&[Couple], 2, &[], 0));
    assert_eq!(blocks, [[2, 3]]);
    let found = hall.search(&[Couple], 3, &[], 0);
    assert_eq!(found, BestAvailable::TooFew { free: 2 });
}

#[test]
fn wheelchair_and_companion_places_are_kept_unless_the_zone_has_no_others() {
    let hall = Drawn::of(&["WASSAW"]);
    let everything = [Standard, Wheelchair, Companion];
    assert_eq!(together(hall.search(&everything, 2, &[], 0)), [[2, 3]]);
    assert_eq!(
        hall.search(&everything, 3, &[], 0),
        BestAvailable::TooFew { free: 2 }
    );
    let accessible = [Wheelchair, Companion];
    assert_eq!(
        together(hall.search(&accessible, 2, &[], 0)),
        [[0, 1], [4, 5]]
    );
}

#[test]
fn a_companions_place_is_no_company_for_an_ordinary_seat() {
    let hall = Drawn::of(&["ASSSSA"]);
    assert_eq!(hall.best(2), [1, 2]);
}

#[test]
fn couple_seats_are_sold_in_pairs() {
    let hall = Drawn::of(&["CCCCCC"]);
    assert_eq!(hall.blocks(2), [[2, 3], [0, 1], [4, 5]]);
    assert_eq!(hall.best(4), [0, 1, 2, 3]);
}

#[test]
fn couples_with_a_gap_between_the_pairs_are_pairs_too() {
    assert_eq!(Drawn::of(&["CC_CC_CC"]).blocks(2), [[2, 3], [0, 1], [4, 5]]);
}

#[test]
fn a_pair_is_not_halved_even_if_that_leaves_a_seat_alone() {
    // 1 to 3 would leave only seat 4 over, but halve its pair; 2 to 4 leave seat 1 alone.
    let hall = Drawn::of(&["sSSCCs"]);
    assert_eq!(hall.best(3), [2, 3, 4]);
}

#[test]
fn a_pair_is_halved_where_there_is_no_other_way() {
    assert_eq!(Drawn::of(&["CCCC"]).best(3).len(), 3);
    // Nobody loses a partner where the other half is sold already.
    assert_eq!(Drawn::of(&["CCCc"]).best(1), [2]);
}

#[test]
fn avoided_seats_count_as_taken() {
    let hall = Drawn::of(&["SSSSSSS"]);
    assert_eq!(
        together(hall.search(&ORDINARY, 3, &[3], 0)),
        [[0, 1, 2], [4, 5, 6]]
    );
    let all: Vec<u32> = (0..7).collect();
    assert_eq!(
        hall.search(&ORDINARY, 1, &all, 0),
        BestAvailable::TooFew { free: 0 }
    );
    assert_eq!(together(hall.search(&ORDINARY, 7, &[99], 0)).len(), 1);
}

#[test]
fn too_few_seats_are_said_to_be_too_few() {
    let hall = Drawn::of(&["SSs", "sss"]);
    assert_eq!(
        hall.search(&ORDINARY, 3, &[], 0),
        BestAvailable::TooFew { free: 2 }
    );
    let empty = Drawn::of(&[]);
    assert_eq!(
        empty.search(&ORDINARY, 1, &[], 0),
        BestAvailable::TooFew { free: 0 }
    );
}

#[test]
fn seats_that_the_map_does_not_know_are_not_offered() {
    let mut hall = Drawn::of(&["SSSS"]);
    hall.states.seats = 2;
    assert_eq!(
        hall.search(&ORDINARY, 3, &[], 0),
        BestAvailable::TooFew { free: 2 }
    );
}

#[test]
fn a_zone_of_another_plan_offers_nothing_beyond_its_own() {
    let (small, large) = (Drawn::of(&["SS"]), Drawn::of(&["SSSS"]));
    let zone = ZoneSeats::of(&small.plan, |_| true);
    let quantity = Quantity::new(3).expect("a quantity");
    let wish = Wish {
        zone: &zone,
        states: &large.states,
        quantity,
        avoid: &[],
        spread: 0,
    };
    let found = SeatGroups::of(&large.plan).best_available(&wish);
    assert_eq!(found, BestAvailable::TooFew { free: 2 });
}

#[test]
fn candidates_share_no_seat() {
    let hall = Drawn::of(&["SSSSSSSSSSSS"; 12]);
    let blocks = hall.blocks(3);
    assert_eq!(blocks.len(), CANDIDATES_MAX);
    let seats: BTreeSet<u32> = blocks.concat().into_iter().collect();
    assert_eq!(seats.len(), 3 * CANDIDATES_MAX);
}

#[test]
fn many_buyers_at_once_are_sent_to_many_nearly_equal_seats() {
    let hall = Drawn::of(&["SSSSSSSSSSSS"; 12]);
    let firsts =
        (1..=1_000).map(|buyer| together(hall.search(&ORDINARY, 2, &[], buyer)).swap_remove(0));
    let firsts: BTreeSet<Vec<u32>> = firsts.collect();
    assert!(firsts.len() >= 8, "{firsts:?}");
    for first in firsts {
        let (row, column) = (first[0] / 12, first[0] % 12);
        assert!(
            (2..=9).contains(&row) && (2..=8).contains(&column),
            "{first:?} is far from the middle"
        );
    }
}

#[test]
fn a_spread_never_puts_a_worse_block_before_the_nearly_equal_ones() {
    // Only 1 and 2 leave nobody alone.
    let hall = Drawn::of(&["sSSs", "SSSs", "SSSs"]);
    for buyer in 0..100 {
        assert_eq!(together(hall.search(&ORDINARY, 2, &[], buyer))[0], [1, 2]);
    }
}

#[test]
fn the_same_wish_has_the_same_answer() {
    let hall = Drawn::of(&["SSSSSSSSSSSS"; 12]);
    let search = || hall.search(&ORDINARY, 2, &[60, 61], 1_900_000_000_000_000_007);
    assert_eq!(search(), search());
}
