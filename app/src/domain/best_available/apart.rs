//! Splits, for when no block is left.
//!
//! The fewest groups are as many as the longest stretches that together have enough seats. Choosing among all sets of
//! so many stretches would take too long, so a set is grown around each of a few stretches near the focal point: the
//! nearest ones to it that still let the fewest groups suffice. Where all of these sets do more harm than there has to
//! be, such as do the least are sought around the same stretches. The best of all sets are the candidates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::choice::{Rank, choose};
use super::groups::SeatGroups;
use super::least_harm::LeastHarm;
use super::vacancy::{Harm, Vacancy};
use super::{SplitSeats, Wish};
use crate::domain::ids::SeatIndex;

/// Around how many stretches a set is grown.
const ANCHORS_MAX: usize = 16;

/// A longest stretch of adjacent offered places; shorter than the wanted number.
#[derive(Clone)]
pub(super) struct Stretch {
    pub(super) places: Range<usize>,
    pub(super) run: Range<usize>,
    /// Plan units.
    middle: (f64, f64),
    /// Of the mean of its seats from the focal point, in thousandths of a pitch.
    pub(super) distance: u64,
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

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// From the middle of another to this one's, in thousandths of a pitch.
    pub(super) fn away(&self, groups: &SeatGroups, other: &Stretch) -> u64 {
        let (x, y) = (
            other.middle.0 - self.middle.0,
            other.middle.1 - self.middle.1,
        );
        groups.millipitches(x.hypot(y))
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
    let split = |set: &Vec<&Stretch>| best_split(groups, vacancy, set, quantity);
    let mut splits: Vec<(Rank, Vec<Range<usize>>)> = sets.iter().filter_map(split).collect();
    let least = LeastHarm::of(groups, vacancy, &stretches, group_count, quantity);
    if splits.iter().map(|(rank, _)| rank.harm).min() > least.harm() {
        let anchors = stretches.iter().take(ANCHORS_MAX);
        let sets = anchors.filter_map(|anchor| least.around(groups, anchor));
        splits.extend(sets.filter_map(|set| split(&set)));
    }
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
    // A heap, because only the first few of many stretches are looked at.
    let others = stretches.iter().enumerate();
    let mut others: BinaryHeap<Reverse<(u64, usize)>> = others
        .map(|(index, stretch)| Reverse((anchor.away(groups, stretch), index)))
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
/// What is too much comes off the ends of the stretches in every possible way. Each is longer than that: without it the
/// others, of the fewest groups, would not suffice. That also keeps the ways few, at most 1,330 for two groups.
fn best_split(
    groups: &SeatGroups,
    vacancy: &Vacancy,
    set: &[&Stretch],
    quantity: usize,
) -> Option<(Rank, Vec<Range<usize>>)> {
    let places = set.iter().map(|stretch| stretch.len()).sum::<usize>();
    let surplus = places.checked_sub(quantity)?;
    debug_assert!(
        set.iter().all(|stretch| stretch.len() > surplus),
        "a set has no more stretches than it needs"
    );
    let mut best: Option<(Rank, Vec<Range<usize>>)> = None;
    shorten(set, surplus, &mut Vec::new(), &mut |split| {
        let harm = harm(groups, vacancy, set, split);
        if best.as_ref().is_some_and(|(least, _)| least.harm < harm) {
            return;
        }
        let rank = rank(groups, harm, split);
        if best.as_ref().is_none_or(|(least, _)| rank < *least) {
            best = Some((rank, split.to_vec()));
        }
    });
    best
}

/// Visits every way to leave out `surplus` places at the ends of the stretches. `begun` are parts of those before.
fn shorten(
    set: &[&Stretch],
    surplus: usize,
    begun: &mut Vec<Range<usize>>,
    visit: &mut impl FnMut(&[Range<usize>]),
) {
    let Some((stretch, others)) = set.split_first() else {
        return visit(begun);
    };
    // The last one has to give whatever is left.
    let least = if others.is_empty() { surplus } else { 0 };
    for given in least..=surplus {
        for skipped in 0..=given {
            let Range { start, end } = stretch.places;
            begun.push(start + skipped..end + skipped - given);
            shorten(others, surplus - given, begun, visit);
            begun.pop();
        }
    }
}

fn harm(groups: &SeatGroups, vacancy: &Vacancy, set: &[&Stretch], split: &[Range<usize>]) -> Harm {
    let runs = set.iter().map(|stretch| &stretch.run);
    vacancy.harm(groups, runs.zip(split))
}

fn rank(groups: &SeatGroups, harm: Harm, split: &[Range<usize>]) -> Rank {
    let middle = middle(groups, split);
    let away =
        |place: usize| (groups.places[place].x - middle.0).hypot(groups.places[place].y - middle.1);
    let from_each_other: f64 = split.iter().flat_map(Range::clone).map(away).sum();
    let from_focal: u64 = split.iter().map(|part| groups.focal_distance(part)).sum();
    Rank {
        harm,
        distance: from_focal + groups.millipitches(from_each_other),
        first: split
            .iter()
            .map(|part| groups.lowest_seat(part))
            .min()
            .unwrap_or(SeatIndex(u32::MAX)),
    }
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
