//! Moving over the seats with arrow keys, and finding the seat next to a lost one.

use crate::domain::ids::SeatIndex;

/// Where a seat is drawn, in hundredths of a percent of the map's width, and which row of the plan it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// To the right.
    pub x: i32,
    /// Down.
    pub y: i32,
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
const SIDEWAYS: i32 = 2;
/// To the left or right, no seat counts that is farther aside than ahead.
const STEEPEST: i32 = 1;

/// The places of a row's seats, read from the row as the server wrote it. Asking thousands of elements one by one takes
/// several times as long, and parsing floating point numbers would make the program larger.
pub fn read_row(html: &str, row: u32) -> impl Iterator<Item = Spot> + '_ {
    html.split("style=\"margin:")
        .skip(1)
        .filter_map(move |seat| {
            let (y, rest) = seat.split_once("% 0 0 ")?;
            let (x, _) = rest.split_once('%')?;
            Some(Spot {
                x: hundredths(x)?,
                y: hundredths(y)?,
                row,
            })
        })
}

/// Reads a number with at most two decimals.
fn hundredths(text: &str) -> Option<i32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let factor = [100, 10, 1].get(decimals.len())?;
    let decimals: i32 = if decimals.is_empty() {
        0
    } else {
        decimals.parse().ok()?
    };
    let whole: i32 = whole.parse().ok()?;
    let decimals = decimals * factor;
    Some(
        whole * 100
            + if text.starts_with('-') {
                -decimals
            } else {
                decimals
            },
    )
}

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
        (is_level && there.row == here.row && ahead > 0).then_some(ahead)
    };
    let straight_on = |there: &Spot| {
        let (ahead, aside) = ahead_and_aside(&here, there, arrow);
        let counts = there.row != here.row && ahead > 0 && (!is_level || aside <= ahead * STEEPEST);
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
        let x = if arrow == Arrow::Left {
            there.x
        } else {
            -there.x
        };
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
        // Of the distances only their order counts, so they stay squared.
        let other_row = if there.row == here.row {
            1
        } else {
            SIDEWAYS * SIDEWAYS
        };
        let (right, down) = (there.x - here.x, there.y - here.y);
        Some(
            right
                .pow(2)
                .saturating_add(down.pow(2))
                .saturating_mul(other_row),
        )
    };
    nearest(spots, distance, &is_free)
}

fn spot(spots: &[Spot], seat: SeatIndex) -> Option<Spot> {
    spots.get(usize::try_from(seat.0).ok()?).copied()
}

fn ahead_and_aside(here: &Spot, there: &Spot, arrow: Arrow) -> (i32, i32) {
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
    measure: impl Fn(&Spot) -> Option<i32>,
    is_free: &impl Fn(SeatIndex) -> bool,
) -> Option<SeatIndex> {
    let mut best: Option<(i32, SeatIndex)> = None;
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
        let at = |x: i32, y: i32, row| Spot { x, y, row };
        vec![
            at(0, 0, 0),
            at(100, 10, 0),
            at(200, 10, 0),
            at(300, 0, 0),
            at(300, 100, 1),
            at(200, 110, 1),
            at(100, 110, 1),
            at(0, 100, 1),
            at(600, 0, 2),
        ]
    }

    fn go(from: u32, arrow: Arrow) -> Option<u32> {
        step(&spots(), SeatIndex(from), arrow, |_| true).map(|seat| seat.0)
    }

    #[test]
    fn places_are_read_as_the_server_writes_them() {
        let html = r#"<span class="seat" style="margin:12.5% 0 0 3.07%"><input></span><span class="seat"
            style="margin:-0.25% 0 0 40%;width:2%"><input></span>"#;
        let spots: Vec<Spot> = read_row(html, 7).collect();
        assert_eq!(
            spots,
            [
                Spot {
                    x: 307,
                    y: 1250,
                    row: 7
                },
                Spot {
                    x: 4000,
                    y: -25,
                    row: 7
                }
            ]
        );
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
        assert_eq!(
            step(&spots(), SeatIndex(1), Arrow::Right, is_free),
            Some(SeatIndex(3))
        );
        assert_eq!(step(&spots(), SeatIndex(1), Arrow::Right, |_| false), None);
    }

    #[test]
    fn home_and_end_are_the_ends_that_the_eye_sees() {
        assert_eq!(
            row_end(&spots(), SeatIndex(5), Arrow::Left, |_| true),
            Some(SeatIndex(7))
        );
        assert_eq!(
            row_end(&spots(), SeatIndex(5), Arrow::Right, |_| true),
            Some(SeatIndex(4))
        );
    }

    #[test]
    fn a_lost_seats_neighbour_is_in_its_row_first() {
        let is_free = |seat: SeatIndex| seat != SeatIndex(1);
        assert_eq!(
            neighbour(&spots(), SeatIndex(1), is_free),
            Some(SeatIndex(2)),
            "seat 6 of the next row is as near"
        );
    }
}
