//! Blocks of adjacent seats.

use std::ops::Range;

use super::Wish;
use super::choice::{Rank, choose};
use super::groups::SeatGroups;
use super::vacancy::Vacancy;
use crate::domain::ids::SeatIndex;

/// The best blocks, each ascending; none when no run has enough adjacent offered seats.
pub(super) fn candidates(
    groups: &SeatGroups,
    vacancy: &Vacancy,
    wish: &Wish<'_>,
) -> Vec<Vec<SeatIndex>> {
    let quantity = wish.quantity.count();
    let mut blocks: Vec<(Rank, [Range<usize>; 1])> = Vec::new();
    for (run, stretch) in vacancy.stretches(groups) {
        for end in stretch.start + quantity..=stretch.end {
            let block = end - quantity..end;
            let rank = Rank {
                harm: vacancy.harm(groups, [(run, &block)]),
                distance: groups.focal_distance(&block),
                first: groups.lowest_seat(&block),
            };
            blocks.push((rank, [block]));
        }
    }
    let chosen = choose(&blocks, groups.places.len(), wish);
    chosen
        .into_iter()
        .map(|[block]| groups.seats(block))
        .collect()
}
