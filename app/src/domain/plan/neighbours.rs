//! The nearest neighbours of all seats of a plan by a k-d tree, so that 60,000 seats are not compared pairwise,
//! however they are strewn.

use super::PlanSeat;

/// Seats whose centres agree to this, in plan units, are at one place and not neighbours.
const PLACE_UNIT: f64 = 1e-3;

/// A place that one or more seats share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Of the smallest seat at the place, in plan units.
    pub(super) radius: f64,
}

/// The places of a plan's seats, arranged so that the middle of each range splits it, by x and y in turn.
pub(super) struct Places(Vec<Place>);

impl Places {
    pub(super) fn of(seats: &[PlanSeat]) -> Places {
        let snapped = |value: f64| (value / PLACE_UNIT).round() * PLACE_UNIT;
        let place = |seat: &PlanSeat| Place {
            x: snapped(seat.x),
            y: snapped(seat.y),
            radius: seat.radius,
        };
        let mut places: Vec<Place> = seats.iter().map(place).collect();
        places.sort_unstable_by(|a, b| {
            a.x.total_cmp(&b.x)
                .then(a.y.total_cmp(&b.y))
                .then(a.radius.total_cmp(&b.radius))
        });
        // Of equal places the first stays, which has the smallest radius.
        places.dedup_by(|next, first| next.x == first.x && next.y == first.y);
        arrange(&mut places, false);
        Places(places)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Place> {
        self.0.iter()
    }

    /// The smallest of the distances `measure` gives for the places around `at`, if it is below `reach`. A distance
    /// may not be below the difference in x or in y; nothing says that the place does not count.
    pub(super) fn nearest(
        &self,
        at: &Place,
        reach: f64,
        measure: &impl Fn(&Place) -> Option<f64>,
    ) -> f64 {
        let mut nearest = reach;
        search(&self.0, false, at, &mut nearest, measure);
        nearest
    }
}

fn arrange(places: &mut [Place], by_y: bool) {
    if places.len() < 2 {
        return;
    }
    let middle = places.len() / 2;
    let order = |a: &Place, b: &Place| along(a, by_y).total_cmp(&along(b, by_y));
    let (below, _, above) = places.select_nth_unstable_by(middle, order);
    arrange(below, !by_y);
    arrange(above, !by_y);
}

fn search(
    places: &[Place],
    by_y: bool,
    at: &Place,
    nearest: &mut f64,
    measure: &impl Fn(&Place) -> Option<f64>,
) {
    let middle = places.len() / 2;
    let Some(place) = places.get(middle) else {
        return;
    };
    if let Some(distance) = measure(place) {
        *nearest = nearest.min(distance);
    }
    let (below, above) = (&places[..middle], &places[middle + 1..]);
    let across = along(at, by_y) - along(place, by_y);
    let (near, far) = if across < 0.0 {
        (below, above)
    } else {
        (above, below)
    };
    search(near, !by_y, at, nearest, measure);
    if across.abs() < *nearest {
        search(far, !by_y, at, nearest, measure);
    }
}

fn along(place: &Place, by_y: bool) -> f64 {
    if by_y { place.y } else { place.x }
}
