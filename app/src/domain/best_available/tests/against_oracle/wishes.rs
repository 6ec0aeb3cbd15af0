//! What is taken and what is wanted, at random but the same in every run.

use crate::domain::best_available::ZoneSeats;
use crate::domain::best_available::tests::len;
use crate::domain::best_available::tests::oracle::is_accessible;
use crate::domain::ids::SeatIndex;
use crate::domain::plan::{Plan, PlanSeat};
use crate::domain::seat::{MapVersion, SeatMap, SeatState};

/// Marsaglia's xorshift64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Everything, each category, and the left half of the hall, whose border runs through the rows; nothing of it empty.
/// With the seats that may be offered.
pub(super) fn zones(plan: &Plan) -> Vec<(ZoneSeats, Vec<bool>)> {
    let mut xs: Vec<f64> = plan.seats.iter().map(|seat| seat.x).collect();
    xs.sort_by(f64::total_cmp);
    let middle = xs[xs.len() / 2];
    let mut zones = vec![zone(plan, &|_| true), zone(plan, &|seat| seat.x <= middle)];
    for category in 0..plan.categories.len() {
        let belongs = |seat: &PlanSeat| usize::from(seat.category) == category;
        if plan.seats.iter().any(belongs) {
            zones.push(zone(plan, &belongs));
        }
    }
    zones
}

fn zone(plan: &Plan, belongs: &dyn Fn(&PlanSeat) -> bool) -> (ZoneSeats, Vec<bool>) {
    let seats = plan.seats.iter();
    let has_ordinary = seats
        .clone()
        .any(|seat| belongs(seat) && !is_accessible(seat));
    let is_offered = |seat| belongs(seat) && !(has_ordinary && is_accessible(seat));
    (
        ZoneSeats::of(plan, belongs),
        seats.map(is_offered).collect(),
    )
}

/// Everything from an empty house to the last seats, in clumps as people buy.
pub(super) fn random_states(plan: &Plan, random: &mut Random) -> SeatMap {
    let seats = len(plan);
    let mut states = SeatMap {
        at: MapVersion::default(),
        seats,
        bits: Vec::new(),
    };
    let percent_taken = random.below(100);
    let mut seat = 0;
    while seat < seats {
        let clump = u32::try_from(1 + random.below(5)).expect("small");
        if random.below(100) < percent_taken {
            let state = [SeatState::Locked, SeatState::Sold, SeatState::Blocked]
                [usize::try_from(random.below(3)).expect("small")];
            (seat..seats.min(seat + clump)).for_each(|seat| states.set(SeatIndex(seat), state));
        }
        seat += clump;
    }
    states
}

/// Seats to avoid, at most five; one may be named twice.
pub(super) fn random_seats(plan: &Plan, random: &mut Random) -> Vec<SeatIndex> {
    let seats = u64::from(len(plan));
    let count = random.below(6);
    let seat = |_| SeatIndex(u32::try_from(random.below(seats)).expect("a seat"));
    (0..count).map(seat).collect()
}
