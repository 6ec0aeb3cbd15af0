//! What of a plan a search needs, computed once a plan: runs of adjacent seats and their distances.

use std::ops::Range;

use super::focal::focal_point;
use super::row_walk::{RowWalk, is_accessible, median};
use crate::domain::ids::SeatIndex;
use crate::domain::plan::{Plan, PlanSeat, SeatKind, geometry};

/// Distances are whole numbers of thousandths of a pitch, so that sums are exact and equal distances compare equal.
pub(super) const PITCH_PARTS: u32 = 1_000;

/// The seats of a plan in runs: stretches of a row without an aisle. Made once a plan, searched for every buyer.
///
/// An aisle is a gap between neighbours in the row of more than 1.5 of the row's usual gaps (the median), or of more
/// than 1.2 where the seat numbers jump as well. Who is whose neighbour follows from the positions along the row,
/// which may be curved; numbers may be odd on the left and even on the right, stand out of order, or skip.
///
/// The focal point lies on the middle line of the hall: in front of a screen where two thirds of the seats are nearer
/// to it, before a stage where one sixth is; amid the seats around a stage; in a plan that names neither, at the
/// centroid of all seats.
#[derive(Debug, Clone)]
pub struct SeatGroups {
    /// Run after run, each in walking order. What follows calls an index into this a place.
    pub(super) places: Vec<Place>,
    /// Places of each run. Together they are all places.
    pub(super) runs: Vec<Range<usize>>,
    /// By seat number.
    place_of: Vec<usize>,
    /// The sum of the distances of all places before this one, in thousandths of a pitch; one more than places.
    distance_sums: Vec<u64>,
    /// Plan units.
    pitch: f64,
}

/// A seat in its run.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) seat: SeatIndex,
    /// Plan units.
    pub(super) x: f64,
    /// Plan units.
    pub(super) y: f64,
    pub(super) partner: Partner,
}

/// Where the other half of a couple seat is: in the same run, beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Partner {
    None,
    Before,
    After,
}

/// The seats that a zone offers to those who do not choose: all of it but wheelchair and companion places, or just
/// those where the zone has no other.
#[derive(Debug, Clone)]
pub struct ZoneSeats {
    /// By seat number.
    offered: Vec<bool>,
}

impl ZoneSeats {
    /// The zone of the seats for which `belongs` is true, for example by their category.
    #[must_use]
    pub fn of(plan: &Plan, belongs: impl Fn(&PlanSeat) -> bool) -> ZoneSeats {
        let mut offered: Vec<bool> = plan.seats.iter().map(belongs).collect();
        let ordinary: Vec<bool> = plan
            .seats
            .iter()
            .zip(&offered)
            .map(|(seat, belongs)| *belongs && !is_accessible(seat.kind))
            .collect();
        if ordinary.contains(&true) {
            offered = ordinary;
        }
        ZoneSeats { offered }
    }

    /// Whether the zone offers a seat. A seat of another plan is not offered.
    #[must_use]
    pub fn offers(&self, seat: SeatIndex) -> bool {
        self.offered.get(seat.0 as usize).copied().unwrap_or(false)
    }
}

impl SeatGroups {
    /// The runs of a plan.
    ///
    /// **Invariant:** every seat that lies in a row is at exactly one place, which is so for all seats of a plan that
    /// [`Plan::parse`] gave.
    #[must_use]
    pub fn of(plan: &Plan) -> SeatGroups {
        let pitch = geometry::pitch(&plan.seats);
        let walks: Vec<RowWalk> = plan
            .rows
            .iter()
            .map(|row| RowWalk::of(plan.seats_of(row)))
            .collect();
        let hall_gap = median(walks.iter().flat_map(RowWalk::gaps).collect()).unwrap_or(pitch);
        let mut groups = SeatGroups {
            places: Vec::with_capacity(plan.seats.len()),
            runs: Vec::new(),
            place_of: vec![usize::MAX; plan.seats.len()],
            distance_sums: vec![0],
            pitch,
        };
        let focal = focal_point(plan);
        for (row, walk) in plan.rows.iter().zip(&walks) {
            let seats = plan.seats_of(row);
            for run in walk.runs(seats, hall_gap) {
                groups.add_run(row.first_seat, seats, &run, focal);
            }
        }
        debug_assert_eq!(
            groups.places.len(),
            groups
                .place_of
                .iter()
                .filter(|place| **place != usize::MAX)
                .count()
        );
        groups
    }

    fn add_run(&mut self, first_seat: u32, seats: &[PlanSeat], run: &[usize], focal: (f64, f64)) {
        let start = self.places.len();
        for (at, &in_row) in run.iter().enumerate() {
            let PlanSeat { x, y, .. } = seats[in_row];
            let seat =
                SeatIndex(first_seat.saturating_add(u32::try_from(in_row).unwrap_or(u32::MAX)));
            let is_couple = |at: usize| {
                run.get(at)
                    .is_some_and(|&other| seats[other].kind == SeatKind::Couple)
            };
            let closes = at > 0
                && self
                    .places
                    .last()
                    .is_some_and(|before| before.partner == Partner::After);
            let partner = match (closes, is_couple(at) && is_couple(at + 1)) {
                (true, _) => Partner::Before,
                (false, true) => Partner::After,
                (false, false) => Partner::None,
            };
            self.place_of[seat.0 as usize] = self.places.len();
            self.places.push(Place {
                seat,
                x,
                y,
                partner,
            });
            let distance = self.millipitches((x - focal.0).hypot(y - focal.1));
            let before = self.distance_sums.last().copied().unwrap_or(0);
            self.distance_sums.push(before + distance);
        }
        self.runs.push(start..self.places.len());
    }

    /// Where a seat of the plan is.
    pub(super) fn place_of(&self, seat: SeatIndex) -> Option<usize> {
        self.place_of
            .get(seat.0 as usize)
            .copied()
            .filter(|place| *place != usize::MAX)
    }

    /// Whether seats lie side by side, none of another's between them and no aisle. A wheelchair or companion place ends a
    /// run, so it is together with nothing.
    #[must_use]
    pub fn are_together(&self, seats: &[SeatIndex]) -> bool {
        let mut places: Vec<usize> = seats
            .iter()
            .filter_map(|seat| self.place_of(*seat))
            .collect();
        places.sort_unstable();
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
            return seats.is_empty();
        };
        let is_gapless = places.len() == seats.len() && last - first + 1 == seats.len();
        is_gapless
            && self
                .runs
                .iter()
                .any(|run| run.contains(&first) && run.contains(&last))
    }

    /// The sum of the distances from the focal point, in thousandths of a pitch.
    pub(super) fn focal_distance(&self, places: &Range<usize>) -> u64 {
        self.distance_sums[places.end] - self.distance_sums[places.start]
    }

    /// A length in plan units as thousandths of a pitch.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a length is not negative, and coordinates are bounded far below 2^53 thousandths of a pitch"
    )]
    pub(super) fn millipitches(&self, length: f64) -> u64 {
        (length / self.pitch * f64::from(PITCH_PARTS)).round() as u64
    }

    /// The seats of some places, ascending.
    pub(super) fn seats(&self, places: &Range<usize>) -> Vec<SeatIndex> {
        let mut seats: Vec<SeatIndex> = self.places[places.clone()]
            .iter()
            .map(|place| place.seat)
            .collect();
        seats.sort_unstable();
        seats
    }

    /// The lowest seat of some places. [`SeatGroups::seats`] would order them all.
    pub(super) fn lowest_seat(&self, places: &Range<usize>) -> SeatIndex {
        let seats = self.places[places.clone()].iter().map(|place| place.seat);
        seats.min().unwrap_or(SeatIndex(u32::MAX))
    }
}
