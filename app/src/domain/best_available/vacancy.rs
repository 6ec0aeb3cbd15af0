//! Which places are free for a wish, and what taking some would do to their neighbours.

use std::ops::Range;

use super::Wish;
use super::groups::{Partner, SeatGroups};
use crate::domain::seat::SeatState;

/// What is free, by place.
pub(super) struct Vacancy {
    /// Of any zone.
    free: Vec<bool>,
    /// Free, and of the wish's zone.
    offered: Vec<bool>,
}

/// What an offer does to people and to what stays free beside it. The order of the fields is the order of importance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Harm {
    /// People of a split who sit alone; 0 in a block, where one person wants no company.
    pub(super) people_alone: u32,
    /// Couple seats whose other half stays free.
    pub(super) halved_pairs: u32,
    /// Free seats that lose their last free neighbour.
    pub(super) left_alone: u32,
}

impl Harm {
    pub(super) fn plus(self, other: Harm) -> Harm {
        Harm {
            people_alone: self.people_alone + other.people_alone,
            halved_pairs: self.halved_pairs + other.halved_pairs,
            left_alone: self.left_alone + other.left_alone,
        }
    }
}

impl Vacancy {
    pub(super) fn of(groups: &SeatGroups, wish: &Wish<'_>) -> Vacancy {
        let is_free = |seat| wish.states.state(seat) == SeatState::Available;
        let mut free: Vec<bool> = groups
            .places
            .iter()
            .map(|place| is_free(place.seat))
            .collect();
        for place in wish.avoid.iter().filter_map(|seat| groups.place_of(*seat)) {
            free[place] = false;
        }
        let places = free.iter().zip(&groups.places);
        let offered = places
            .map(|(free, place)| *free && wish.zone.offers(place.seat))
            .collect();
        Vacancy { free, offered }
    }

    /// How many places the zone has to offer.
    pub(super) fn offered_count(&self) -> usize {
        self.offered.iter().filter(|offered| **offered).count()
    }

    /// The longest stretches of adjacent offered places, each with the run it lies in.
    pub(super) fn stretches<'g>(
        &'g self,
        groups: &'g SeatGroups,
    ) -> impl Iterator<Item = (&'g Range<usize>, Range<usize>)> + 'g {
        groups.runs.iter().flat_map(move |run| {
            let mut at = run.start;
            std::iter::from_fn(move || {
                while at < run.end && !self.offered[at] {
                    at += 1;
                }
                let start = at;
                while at < run.end && self.offered[at] {
                    at += 1;
                }
                (start < at).then_some((run, start..at))
            })
        })
    }

    /// What taking some parts does, each of places of its run that are all free. Only the seats next to their ends can
    /// suffer.
    pub(super) fn harm<'p>(
        &self,
        groups: &SeatGroups,
        parts: impl IntoIterator<Item = (&'p Range<usize>, &'p Range<usize>), IntoIter: Clone>,
    ) -> Harm {
        let parts = parts.into_iter();
        let is_taken = |place| parts.clone().any(|(_, part)| part.contains(&place));
        let mut harm = Harm::default();
        let mut count = 0;
        for (run, part) in parts.clone() {
            let is_free = |place: Option<usize>| {
                place.is_some_and(|place| {
                    run.contains(&place) && self.free[place] && !is_taken(place)
                })
            };
            let (before, after) = (part.start.checked_sub(1), Some(part.end));
            let before_that = part.start.checked_sub(2);
            // A seat between two parts is counted as the one after the first.
            let is_after_another =
                before_that.is_some_and(is_taken) && run.contains(&(part.start - 2));
            let alone_before = is_free(before) && !is_free(before_that) && !is_after_another;
            let alone_after = is_free(after) && !is_free(Some(part.end + 1));
            let halved_before =
                is_free(before) && groups.places[part.start].partner == Partner::Before;
            let halved_after =
                is_free(after) && groups.places[part.end - 1].partner == Partner::After;
            harm.left_alone += u32::from(alone_before) + u32::from(alone_after);
            harm.halved_pairs += u32::from(halved_before) + u32::from(halved_after);
            harm.people_alone += u32::from(part.len() == 1);
            count += 1;
        }
        if count == 1 {
            harm.people_alone = 0;
        }
        harm
    }
}
