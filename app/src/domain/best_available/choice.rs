//! Which of all offers become candidates, and in what order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::groups::PITCH_PARTS;
use super::vacancy::Harm;
use super::{CANDIDATES_MAX, NEAR_EQUAL_PITCHES, NEAR_EQUALS_MAX, Wish};
use crate::domain::ids::SeatIndex;

/// How good an offer is; the lesser is the better. The order of the fields is the order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) harm: Harm,
    /// Summed over the seats, in thousandths of a pitch.
    pub(super) distance: u64,
    /// The lowest seat.
    pub(super) first: SeatIndex,
}

impl Rank {
    /// Whether an offer of this rank does as little harm as `best` and is hardly farther, for so many seats.
    fn is_nearly(&self, best: &Rank, seats: u32) -> bool {
        let farther_max = u64::from(NEAR_EQUAL_PITCHES) * u64::from(PITCH_PARTS) * u64::from(seats);
        self.harm == best.harm && self.distance <= best.distance + farther_max
    }
}

/// The best offers (their groups of places) that share no place, at most [`CANDIDATES_MAX`], the nearly equal ones
/// ordered by the wish's spread. Of equal ranks the earlier offer is the better. `places` is the number of places of
/// the plan.
pub(super) fn choose<'o, G: AsRef<[Range<usize>]>>(
    offers: &'o [(Rank, G)],
    places: usize,
    wish: &Wish<'_>,
) -> Vec<&'o G> {
    let ranks = offers
        .iter()
        .enumerate()
        .map(|(index, (rank, _))| Reverse((*rank, index)));
    let mut heap: BinaryHeap<Reverse<(Rank, usize)>> = ranks.collect();
    let Some(Reverse((best, _))) = heap.peek().copied() else {
        return Vec::new();
    };
    let mut taken = vec![false; places];
    let mut chosen: Vec<&'o G> = Vec::new();
    let mut near_equals = 0;
    while chosen.len() < NEAR_EQUALS_MAX {
        let Some(Reverse((rank, index))) = heap.pop() else {
            break;
        };
        let is_near = rank.is_nearly(&best, wish.quantity.get());
        if !is_near && chosen.len() >= CANDIDATES_MAX {
            break;
        }
        let groups = &offers[index].1;
        if groups
            .as_ref()
            .iter()
            .any(|group| taken[group.clone()].contains(&true))
        {
            continue;
        }
        for group in groups.as_ref() {
            taken[group.clone()].fill(true);
        }
        near_equals += usize::from(is_near);
        chosen.push(groups);
    }
    shuffle(&mut chosen[..near_equals], wish.spread);
    chosen.truncate(CANDIDATES_MAX);
    chosen
}

/// Fisher and Yates's shuffle by the splitmix64 sequence of `seed`; 0 leaves all as it is. Turning the list would not
/// do: buyers who lost the same seats would meet again at the next.
fn shuffle<T>(items: &mut [T], seed: u64) {
    if seed == 0 {
        return;
    }
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let choices = last as u64 + 1;
        let other = usize::try_from((mixed ^ (mixed >> 31)) % choices).unwrap_or(last);
        items.swap(last, other);
    }
}
