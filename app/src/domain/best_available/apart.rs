//! Splits, for when no block is left.
//!
//! The fewest groups are as many as the longest stretches that together have enough seats. Choosing among all sets of
//! so many stretches would take too long, so a set is grown around each of a few stretches near the focal point: the
//! nearest ones to it that still let the fewest groups suffice. The best of these sets are the candidates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::choice::{Rank, choose};
use super::groups::SeatGroups;
use super::vacancy::Vacancy;
use super::{SplitSeats, Wish};
use crate::domain::ids::SeatIndex;

/// Around how many stretches a set is grown.
const ANCHORS_MAX: usize = 16;

/// A longest stretch of adjacent offered places; shorter than the wanted number.
#[derive(Clone)]
struct Stretch {
    places: Range<usize>,
    run: Range<usize>,
    /// Plan units.
    middle: (f64, f64),
    /// Of the mean of its seats from the focal point, in thousandths of a pitch.
    distance: u64,
}

impl Stretch {
    fn of(groups: &SeatGroups, run: &Range<usize>, places: Range<usize>) -> Stretch {
        Stretch {
            run: run.clone(),
            middle: middle(groups, std::slice::from_ref(&places)),
            distance: groups.focal_distance(&places) / places.len().max(1) as u64,
            places,
        }
    }

    fn len(&self) -> usize {
        self.places.len()
    }
}

/// The best splits. The caller has made sure that there are enough offered places and no block.
pub(super) fn candidates(
    groups: &SeatGroups,
    vacancy: &Vacancy,
    wish: &Wish<'_>,
) -> Vec<SplitSeats> {
    let quantity = wish.quantity.count();
    let mut stretches: Vec<Stretch> = vacancy
        .stretches(groups)
        .map(|(run, places)| Stretch::of(groups, run, places))
        .collect();
    stretches.sort_by_key(|stretch| stretch.distance);
    let Some(group_count) = fewest_groups(&stretches, quantity) else {
        return Vec::new();
    };
    let company: Vec<Stretch> = stretches
        .iter()
        .filter(|stretch| stretch.len() > 1)
        .cloned()
        .collect();
    // Nobody should sit alone where stretches of two and more suffice.
    let mut sets = grown_sets(groups, &company, group_count, quantity);
    if sets.is_empty() {
        sets = grown_sets(groups, &stretches, group_count, quantity);
    }
    let splits: Vec<(Rank, Vec<Range<usize>>)> = sets
        .iter()
        .filter_map(|set| best_split(groups, vacancy, set, quantity))
        .collect();
    let chosen = choose(&splits, groups.places.len(), wish);
    chosen
        .into_iter()
        .map(|split| split_seats(groups, split))
        .collect()
}

fn split_seats(groups: &SeatGroups, split: &[Range<usize>]) -> SplitSeats {
    let mut parts: Vec<Vec<SeatIndex>> = split.iter().map(|places| groups.seats(places)).collect();
    parts.sort_unstable();
    SplitSeats { groups: parts }
}

/// How many of the longest stretches have `quantity` places together.
fn fewest_groups(stretches: &[Stretch], quantity: usize) -> Option<usize> {
    let mut lengths: Vec<usize> = stretches.iter().map(Stretch::len).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let mut places = 0;
    lengths
        .iter()
        .position(|length| {
            places += length;
            places >= quantity
        })
        .map(|last| last + 1)
}

/// Sets of `group_count` stretches with `quantity` places or more, one around each of the first [`ANCHORS_MAX`]
/// stretches that allow it. The stretches are sorted by their distance from the focal point.
fn grown_sets<'s>(
    groups: &SeatGroups,
    stretches: &'s [Stretch],
    group_count: usize,
    quantity: usize,
) -> Vec<Vec<&'s Stretch>> {
    let mut longest: Vec<&Stretch> = stretches.iter().collect();
    longest.sort_by_key(|stretch| Reverse(stretch.len()));
    let sets = stretches
        .iter()
        .filter_map(|anchor| grow(groups, anchor, stretches, &longest, group_count, quantity));
    sets.take(ANCHORS_MAX).collect()
}

/// The nearest stretches around `anchor`. One is passed over when even the longest of the others could not make up for
/// it in the groups that are left.
fn grow<'s>(
    groups: &SeatGroups,
    anchor: &'s Stretch,
    stretches: &'s [Stretch],
    longest: &[&Stretch],
    group_count: usize,
    quantity: usize,
) -> Option<Vec<&'s Stretch>> {
    let mut set = vec![anchor];
    let mut places = anchor.len();
    if places + longest_sum(longest, &set, group_count - 1) < quantity {
        return None;
    }
    let away = |stretch: &Stretch| {
        let (x, y) = (
            stretch.middle.0 - anchor.middle.0,
            stretch.middle.1 - anchor.middle.1,
        );
        groups.millipitches(x.hypot(y))
    };
    // A heap, because only the first few of many stretches are looked at.
    let others = stretches.iter().enumerate();
    let mut others: BinaryHeap<Reverse<(u64, usize)>> = others
        .map(|(index, stretch)| Reverse((away(stretch), index)))
        .collect();
    while set.len() < group_count {
        let Some(Reverse((_, index))) = others.pop() else {
            break;
        };
        let stretch = &stretches[index];
        if set.iter().any(|chosen| chosen.places == stretch.places) {
            continue;
        }
        set.push(stretch);
        places += stretch.len();
        if places + longest_sum(longest, &set, group_count - set.len()) < quantity {
            set.pop();
            places -= stretch.len();
        }
    }
    (places >= quantity).then_some(set)
}

/// The places of the `count` longest stretches that are not in `set`.
fn longest_sum(longest: &[&Stretch], set: &[&Stretch], count: usize) -> usize {
    let others = longest
        .iter()
        .filter(|stretch| !set.iter().any(|chosen| chosen.places == stretch.places));
    others.take(count).map(|stretch| stretch.len()).sum()
}

/// The best way to take `quantity` places of a set.
///
/// What is too much comes off one stretch alone. Each is longer than that: without it the others, of the fewest
/// groups, would not suffice.
fn best_split(
    groups: &SeatGroups,
    vacancy: &Vacancy,
    set: &[&Stretch],
    quantity: usize,
) -> Option<(Rank, Vec<Range<usize>>)> {
    let surplus = set
        .iter()
        .map(|stretch| stretch.len())
        .sum::<usize>()
        .checked_sub(quantity)?;
    let mut best: Option<(Rank, Vec<Range<usize>>)> = None;
    for shortened in 0..set.len() {
        debug_assert!(
            set[shortened].len() > surplus,
            "a set has no more stretches than it needs"
        );
        for skipped in 0..=surplus {
            let mut split: Vec<Range<usize>> =
                set.iter().map(|stretch| stretch.places.clone()).collect();
            let whole = &set[shortened].places;
            split[shortened] = whole.start + skipped..whole.end + skipped - surplus;
            let rank = rank(groups, vacancy, set, &split);
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, split));
            }
        }
    }
    best
}

fn rank(groups: &SeatGroups, vacancy: &Vacancy, set: &[&Stretch], split: &[Range<usize>]) -> Rank {
    let middle = middle(groups, split);
    let away =
        |place: usize| (groups.places[place].x - middle.0).hypot(groups.places[place].y - middle.1);
    let mut rank = Rank {
        halved_pairs: 0,
        people_alone: 0,
        left_alone: 0,
        distance: 0,
        first: SeatIndex(u32::MAX),
    };
    for (stretch, part) in set.iter().zip(split) {
        let harm = vacancy.harm(groups, &stretch.run, part);
        rank.halved_pairs += harm.halved_pairs;
        rank.left_alone += harm.left_alone;
        rank.people_alone += u32::from(part.len() == 1);
        let from_each_other: f64 = part.clone().map(away).sum();
        rank.distance += groups.focal_distance(part) + groups.millipitches(from_each_other);
        rank.first = rank.first.min(groups.lowest_seat(part));
    }
    rank
}

/// The centroid of some places, in plan units.
fn middle(groups: &SeatGroups, split: &[Range<usize>]) -> (f64, f64) {
    let places = split.iter().flat_map(|part| &groups.places[part.clone()]);
    let (count, x, y) = places.fold((0_u32, 0.0, 0.0), |(count, x, y), place| {
        (count + 1, x + place.x, y + place.y)
    });
    let count = f64::from(count.max(1));
    (x / count, y / count)
}
