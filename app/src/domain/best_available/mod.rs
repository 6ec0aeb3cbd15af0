//! Buying without choosing: the best free seats of a zone for a number of people.
//!
//! What is better, in this order:
//!
//! 1. Couple seats are not halved: no pair of which one seat is taken and the other stays free.
//! 2. No single free seat is newly left alone, that is without a free neighbour. So a block which leaves none alone
//!    wins over a nearer one that does. A free neighbour counts in whatever zone it is.
//! 3. Nearer the hall's focal point ([`SeatGroups`] says which), by the sum over the seats.
//! 4. The lower lowest seat number, and of blocks that share it the one nearer the row's beginning, so that the answer
//!    depends on nothing but the arguments.
//!
//! A block lies in one run: seats of one row with no aisle between them. Wheelchair and companion places end a run, so
//! they are neither part of an ordinary block nor company for an ordinary seat; a zone that consists only of them is
//! sold like any other.
//!
//! Where no run has enough adjacent free seats, the seats are split: into the fewest groups possible, then with the
//! fewest people sitting alone, then by the rules above, where the distance is that from the focal point and from the
//! middle of all the seats of the split. Whoever shows a split has to say that the seats are not together.
//!
//! The answer is a list, because another buyer may be quicker: the next candidate shares no seat with those before it.
//! When all are lost, search again in the newest map with the lost seats in [`Wish::avoid`].

mod apart;
mod choice;
mod focal;
mod groups;
mod least_harm;
mod row_walk;
mod together;
mod vacancy;

#[cfg(test)]
mod tests;

use super::{ids::SeatIndex, seat::SeatMap};

pub use groups::{SeatGroups, ZoneSeats};

/// The most seats that are searched for at once.
pub const QUANTITY_MAX: u32 = 20;
/// The most candidates of one answer.
pub const CANDIDATES_MAX: usize = 8;
/// How many candidates [`Wish::spread`] may bring to the front.
pub const NEAR_EQUALS_MAX: usize = 32;
/// How much farther from the focal point than the best a candidate may be to count as nearly equal, in pitches (the
/// usual distance of neighbouring seats) as a mean over its seats. It must also halve as few pairs and leave as few
/// seats alone.
pub const NEAR_EQUAL_PITCHES: u32 = 3;

/// How many seats are wanted: 1 to [`QUANTITY_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity(u32);

impl Quantity {
    /// Nothing when `seats` is 0 or above [`QUANTITY_MAX`].
    #[must_use]
    pub fn new(seats: u32) -> Option<Self> {
        (1..=QUANTITY_MAX).contains(&seats).then_some(Self(seats))
    }

    /// The number of seats.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }

    fn count(self) -> usize {
        self.0 as usize
    }
}

/// What is searched for, and in which state of the show.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'w> {
    /// The zone's seats in the plan of the groups that are searched.
    pub zone: &'w ZoneSeats,
    /// Every seat's state, as new as can be had.
    pub states: &'w SeatMap,
    pub quantity: Quantity,
    /// Seats that count as taken whatever `states` says, for example those that a lost race named. Any order.
    pub avoid: &'w [SeatIndex],
    /// Orders the nearly equal candidates, so that many buyers at once do not all try the same seats. Any number that
    /// differs from buyer to buyer; 0 leaves the best in front.
    pub spread: u64,
}

/// Seats for a [`Wish`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BestAvailable {
    /// Adjacent seats. At least one candidate and at most [`CANDIDATES_MAX`], best first (but see [`Wish::spread`]),
    /// none sharing a seat with another; the seats of each ascend.
    Together(Vec<Vec<SeatIndex>>),
    /// No adjacent seats are left for so many; these are split. Ordered as `Together`.
    Apart(Vec<SplitSeats>),
    /// The zone has fewer free seats than are wanted, these many. Places that the zone does not offer (see
    /// [`ZoneSeats`]) and avoided ones do not count.
    TooFew { free: u32 },
}

/// Seats that are not together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitSeats {
    /// At least two, each of adjacent seats, ascending; the groups ascend by their first seat.
    pub groups: Vec<Vec<SeatIndex>>,
}

impl SplitSeats {
    /// The seats of all groups, ascending.
    #[must_use]
    pub fn seats(&self) -> Vec<SeatIndex> {
        let mut seats = self.groups.concat();
        seats.sort_unstable();
        seats
    }
}

impl BestAvailable {
    /// The candidates as the seats to hold, together or not: in the order to try them, the seats of each ascending.
    #[must_use]
    pub fn into_seat_lists(self) -> Vec<Vec<SeatIndex>> {
        match self {
            Self::Together(blocks) => blocks,
            Self::Apart(splits) => splits.iter().map(SplitSeats::seats).collect(),
            Self::TooFew { .. } => Vec::new(),
        }
    }
}

impl SeatGroups {
    /// The best seats for a wish: together where that is possible, else apart. The effort grows
    /// about as the seats of the plan do.
    #[must_use]
    pub fn best_available(&self, wish: &Wish<'_>) -> BestAvailable {
        let vacancy = vacancy::Vacancy::of(self, wish);
        let free = vacancy.offered_count();
        if free < wish.quantity.count() {
            return BestAvailable::TooFew {
                free: u32::try_from(free).unwrap_or(u32::MAX),
            };
        }
        let blocks = together::candidates(self, &vacancy, wish);
        if blocks.is_empty() {
            BestAvailable::Apart(apart::candidates(self, &vacancy, wish))
        } else {
            BestAvailable::Together(blocks)
        }
    }
}
