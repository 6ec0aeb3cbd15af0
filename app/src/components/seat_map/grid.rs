//! Moving over the seats with arrow keys, and finding the seat next to a lost one.

use crate::domain::ids::SeatIndex;

/// Where a seat is drawn, in parts of the map's width, and which row of the plan it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// To the right.
    pub x: f32,
    /// Down.
    pub y: f32,
    /// Number of its row, in the order of the page.
    pub row: u32,
}

/// Which way an arrow points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrow {
    Left,
    Right,
    Up,
    Down,
}

/// A step sideways counts as much as this many ahead, so that a way stays straight.
const SIDEWAYS: f32 = 2.0;
/// Seats whose lines are farther apart than this many steps ahead are not "in that direction".
const STEEPEST: f32 = 1.5;

/// The seat that an arrow leads to: along the seat's own row first, then straight on to the nearest other row. Seats that
/// can't be chosen are passed over.
pub fn step(
    spots: &[Spot],
    from: SeatIndex,
    arrow: Arrow,
    is_free: impl Fn(SeatIndex) -> bool,
) -> Option<SeatIndex> {
    let here = spot(spots, from)?;
    let is_level = matches!(arrow, Arrow::Left | Arrow::Right);
    let along_row = |there: &Spot| {
        let (ahead, _) = ahead_and_aside(&here, there, arrow);
        (is_level && there.row == here.row && ahead > 0.0).then_some(ahead)
    };
    let straight_on = |there: &Spot| {
        let (ahead, aside) = ahead_and_aside(&here, there, arrow);
        let counts = there.row != here.row && ahead > 0.0 && (!is_level || aside <= ahead * STEEPEST);
        counts.then_some(ahead + SIDEWAYS * aside)
    };
    nearest(spots, along_row, &is_free).or_else(|| nearest(spots, straight_on, &is_free))
}

/// The first or the last seat of a row that can be chosen, as they stand from left to right.
pub fn row_end(
    spots: &[Spot],
    from: SeatIndex,
    arrow: Arrow,
    is_free: impl Fn(SeatIndex) -> bool,
) -> Option<SeatIndex> {
    let here = spot(spots, from)?;
    let measure = |there: &Spot| {
        let x = if arrow == Arrow::Left { there.x } else { -there.x };
        (there.row == here.row).then_some(x)
    };
    nearest(spots, measure, &is_free)
}

/// The seat nearest to another one.
pub fn neighbour(
    spots: &[Spot],
    of: SeatIndex,
    is_free: impl Fn(SeatIndex) -> bool,
) -> Option<SeatIndex> {
    let here = spot(spots, of)?;
    let distance = |there: &Spot| {
        let other_row = if there.row == here.row { 1.0 } else { SIDEWAYS };
        Some((here.x - there.x).hypot(here.y - there.y) * other_row)
    };
    nearest(spots, distance, &is_free)
}

fn spot(spots: &[Spot], seat: SeatIndex) -> Option<Spot> {
    spots.get(usize::try_from(seat.0).ok()?).copied()
}

fn ahead_and_aside(here: &Spot, there: &Spot, arrow: Arrow) -> (f32, f32) {
    let (right, down) = (there.x - here.x, there.y - here.y);
    match arrow {
        Arrow::Left => (-right, down.abs()),
        Arrow::Right => (right, down.abs()),
        Arrow::Up => (-down, right.abs()),
        Arrow::Down => (down, right.abs()),
    }
}

/// The free seat with the smallest measure. Whether a seat is free is asked only of those that would be nearer.
fn nearest(
    spots: &[Spot],
    measure: impl Fn(&Spot) -> Option<f32>,
    is_free: &impl Fn(SeatIndex) -> bool,
) -> Option<SeatIndex> {
    let mut best: Option<(f32, SeatIndex)> = None;
    for (number, there) in (0_u32..).zip(spots) {
        if let Some(length) = measure(there)
            && best.is_none_or(|(shortest, _)| length < shortest)
            && is_free(SeatIndex(number))
        {
            best = Some((length, SeatIndex(number)));
        }
    }
    best.map(|(_, seat)| seat)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of four seats, the second numbered from the right; row 2 is across the aisle from row 0.
    fn spots() -> Vec<Spot> {
        let at = |x: f32, y: f32, row| Spot { x, y, row };
        vec![
            at(0.0, 0.0, 0),
            at(1.0, 0.1, 0),
            at(2.0, 0.1, 0),
            at(3.0, 0.0, 0),
            at(3.0, 1.0, 1),
            at(2.0, 1.1, 1),
            at(1.0, 1.1, 1),
            at(0.0, 1.0, 1),
            at(6.0, 0.0, 2),
        ]
    }

    fn go(from: u32, arrow: Arrow) -> Option<u32> {
        step(&spots(), SeatIndex(from), arrow, |_| true).map(|seat| seat.0)
    }

    #[test]
    fn arrows_go_as_they_point_whatever_the_numbering() {
        assert_eq!(go(1, Arrow::Right), Some(2));
        assert_eq!(go(1, Arrow::Left), Some(0));
        assert_eq!(go(5, Arrow::Right), Some(4));
        assert_eq!(go(1, Arrow::Down), Some(6));
        assert_eq!(go(4, Arrow::Up), Some(3));
    }

    #[test]
    fn a_rows_end_leads_across_the_aisle_and_the_maps_edge_nowhere() {
        assert_eq!(go(3, Arrow::Right), Some(8));
        assert_eq!(go(8, Arrow::Left), Some(3));
        assert_eq!(go(0, Arrow::Left), None);
        assert_eq!(go(0, Arrow::Up), None);
        assert_eq!(go(99, Arrow::Up), None);
    }

    #[test]
    fn seats_that_cannot_be_chosen_are_passed_over() {
        let is_free = |seat: SeatIndex| seat != SeatIndex(2);
        assert_eq!(step(&spots(), SeatIndex(1), Arrow::Right, is_free), Some(SeatIndex(3)));
        assert_eq!(step(&spots(), SeatIndex(1), Arrow::Right, |_| false), None);
    }

    #[test]
    fn home_and_end_are_the_ends_that_the_eye_sees() {
        assert_eq!(row_end(&spots(), SeatIndex(5), Arrow::Left, |_| true), Some(SeatIndex(7)));
        assert_eq!(row_end(&spots(), SeatIndex(5), Arrow::Right, |_| true), Some(SeatIndex(4)));
    }

    #[test]
    fn a_lost_seats_neighbour_is_in_its_row_first() {
        let is_free = |seat: SeatIndex| seat != SeatIndex(1);
        assert_eq!(neighbour(&spots(), SeatIndex(1), is_free), Some(SeatIndex(2)), "seat 6 of the next row is as near");
    }
}
