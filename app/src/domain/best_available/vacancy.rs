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

/// What taking a block does to what stays free beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Harm {
    /// Couple seats whose other half stays free.
    pub(super) halved_pairs: u32,
    /// Free seats that lose their last free neighbour.
    pub(super) left_alone: u32,
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

    /// What taking `block`, places of `run` that are all free, does beside it. Only the seats next to its ends can
    /// suffer.
    pub(super) fn harm(
        &self,
        groups: &SeatGroups,
        run: &Range<usize>,
        block: &Range<usize>,
    ) -> Harm {
        let is_free = |place: Option<usize>| {
            place.is_some_and(|place| run.contains(&place) && self.free[place])
        };
        let (before, after) = (block.start.checked_sub(1), Some(block.end));
        let before_that = block.start.checked_sub(2);
        let alone_before = is_free(before) && !is_free(before_that);
        let alone_after = is_free(after) && !is_free(Some(block.end + 1));
        let halved_before =
            is_free(before) && groups.places[block.start].partner == Partner::Before;
        let halved_after = is_free(after) && groups.places[block.end - 1].partner == Partner::After;
        Harm {
            halved_pairs: u32::from(halved_before) + u32::from(halved_after),
            left_alone: u32::from(alone_before) + u32::from(alone_after),
        }
    }
}
