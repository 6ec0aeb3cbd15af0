//! Which stretches a split has to use to do the least harm of all splits, found by weighing all of them.
//!
//! The sets that [`apart`](super::apart) grows are near the focal point, and so may leave a seat alone where a set
//! farther away would not.

use std::collections::HashMap;

use super::apart::Stretch;
use super::groups::SeatGroups;
use super::vacancy::{Harm, Vacancy};

/// What each stretch of a search can give, and at what cost.
pub(super) struct LeastHarm<'s> {
    stretches: &'s [Stretch],
    /// By stretch: the least harm of taking 1, 2, … of its places. Where two parts have one free seat between them, both
    /// together may do more.
    harms: Vec<Vec<Harm>>,
    group_count: usize,
    quantity: usize,
}

/// So many places in so many groups, in the best way found so far.
#[derive(Clone, Copy)]
struct Taken {
    harm: Harm,
    /// Of all places, in thousandths of a pitch.
    distance: u64,
    /// Index into the list of steps; nothing when no place is taken.
    last: Option<usize>,
}

/// A stretch that is used, and the step before.
struct Step {
    stretch: usize,
    before: Option<usize>,
}

impl<'s> LeastHarm<'s> {
    /// `group_count` stretches can seat `quantity` people, and no fewer can.
    pub(super) fn of(
        groups: &SeatGroups,
        vacancy: &Vacancy,
        stretches: &'s [Stretch],
        group_count: usize,
        quantity: usize,
    ) -> LeastHarm<'s> {
        let harms = stretches
            .iter()
            .map(|stretch| least_by_length(groups, vacancy, stretch))
            .collect();
        LeastHarm {
            stretches,
            harms,
            group_count,
            quantity,
        }
    }

    /// The least harm of all splits.
    pub(super) fn harm(&self) -> Option<Harm> {
        self.best(&|_| 0).map(|(harm, _)| harm)
    }

    /// The stretches of a split that does the least harm, of all such the nearest to the focal point and to `anchor`.
    pub(super) fn around(&self, groups: &SeatGroups, anchor: &Stretch) -> Option<Vec<&'s Stretch>> {
        let distance = |stretch: &Stretch| stretch.distance + anchor.away(groups, stretch);
        let (_, set) = self.best(&distance)?;
        Some(
            set.into_iter()
                .map(|index| &self.stretches[index])
                .collect(),
        )
    }

    /// A knapsack over the stretches: the best way to take each number of places in each number of groups.
    fn best(&self, distance: &dyn Fn(&Stretch) -> u64) -> Option<(Harm, Vec<usize>)> {
        let nobody: Vec<Option<Taken>> = vec![None; self.quantity + 1];
        let mut table = vec![nobody; self.group_count + 1];
        table[0][0] = Some(Taken {
            harm: Harm::default(),
            distance: 0,
            last: None,
        });
        let mut steps: Vec<Step> = Vec::new();
        for (away, index) in self.nearest_of_each_kind(distance) {
            for count in (0..self.group_count).rev() {
                for seated in 0..self.quantity {
                    let Some(so_far) = table[count][seated] else {
                        continue;
                    };
                    for (harm, part) in self.harms[index].iter().zip(1..=self.quantity - seated) {
                        let with = (
                            so_far.harm.plus(*harm),
                            so_far.distance + away * part as u64,
                        );
                        let known = &mut table[count + 1][seated + part];
                        if known.is_none_or(|known| with < (known.harm, known.distance)) {
                            *known = Some(Taken {
                                harm: with.0,
                                distance: with.1,
                                last: Some(steps.len()),
                            });
                            steps.push(Step {
                                stretch: index,
                                before: so_far.last,
                            });
                        }
                    }
                }
            }
        }
        let best = table[self.group_count][self.quantity]?;
        let passed = std::iter::successors(best.last, |step| steps[*step].before);
        Some((best.harm, passed.map(|step| steps[step].stretch).collect()))
    }

    /// Of stretches that do the same harm only as many as there are groups can be used, so the nearest are enough. With
    /// their distances.
    fn nearest_of_each_kind(&self, distance: &dyn Fn(&Stretch) -> u64) -> Vec<(u64, usize)> {
        let stretches = self.stretches.iter().enumerate();
        let mut nearest: Vec<(u64, usize)> = stretches
            .map(|(index, stretch)| (distance(stretch), index))
            .collect();
        nearest.sort_unstable();
        let mut of_kind: HashMap<&[Harm], usize> = HashMap::new();
        nearest.retain(|(_, index)| {
            let known = of_kind.entry(&self.harms[*index]).or_default();
            *known += 1;
            *known <= self.group_count
        });
        nearest
    }
}

fn least_by_length(groups: &SeatGroups, vacancy: &Vacancy, stretch: &Stretch) -> Vec<Harm> {
    let least = |length: usize| {
        let begins = stretch.places.start..=stretch.places.end - length;
        let harms = begins.map(|start| Harm {
            people_alone: u32::from(length == 1),
            ..vacancy.harm(groups, [(&stretch.run, &(start..start + length))])
        });
        harms.min().unwrap_or_default()
    };
    (1..=stretch.len()).map(least).collect()
}
