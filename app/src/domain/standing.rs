//! Standing zones: places without seats, counted, and split in pieces so that a rush for one zone is spread.

use super::ids::OrderNo;
use serde::{Deserialize, Serialize};

/// The header in which a poll of a show's seats tells what its standing zones have left: `17:340,18:0`, zone and places.
/// It is there only when the show has such zones.
pub const STANDING_HEADER: &str = "seatflow-standing";

/// Most pieces of a zone.
pub const PIECES_MAX: u16 = 256;

/// What a price category sells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZoneKind {
    /// Seats of the plan.
    #[default]
    Seated,
    /// Places to stand, of which no one is anybody's in particular.
    Standing,
}

/// The pieces of a zone in the order in which an order asks them: from one that depends on its number, so that buyers begin
/// at different ones, through all of them.
pub fn pieces_from(order_no: OrderNo, pieces: u16) -> impl Iterator<Item = u16> {
    let pieces = pieces.max(1);
    // The splitmix64 step: neighbouring order numbers end far apart.
    let mut mixed = order_no.as_i64().unsigned_abs();
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let first = u16::try_from((mixed ^ (mixed >> 31)) % u64::from(pieces)).unwrap_or(0);
    (0..pieces).map(move |step| {
        let place = (u32::from(first) + u32::from(step)) % u32::from(pieces);
        u16::try_from(place).unwrap_or(0)
    })
}

/// Shares a capacity among pieces of which so many places are taken each: every piece keeps what is taken of it, and what
/// is left is spread evenly, the first pieces getting one more. None when more is taken than the capacity.
#[must_use]
pub fn shares(capacity: u32, taken: &[u32]) -> Option<Vec<u32>> {
    let all_taken = taken
        .iter()
        .try_fold(0_u32, |sum, count| sum.checked_add(*count))?;
    let left = capacity.checked_sub(all_taken)?;
    let pieces = u32::try_from(taken.len()).ok().filter(|count| *count > 0)?;
    let (each, more) = (left / pieces, left % pieces);
    let share = |(place, taken): (u32, &u32)| taken + each + u32::from(place < more);
    Some((0..).zip(taken).map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::UserId;
    use std::collections::BTreeSet;

    #[test]
    fn every_piece_is_asked_once_and_orders_begin_at_different_ones() {
        let mut first = BTreeSet::new();
        for number in 0..100 {
            let order_no =
                OrderNo::from_parts(1_795_990_000_000, 1, number, UserId(7)).expect("a number");
            let asked: Vec<u16> = pieces_from(order_no, 5).collect();
            assert_eq!(asked.iter().copied().collect::<BTreeSet<_>>().len(), 5);
            first.insert(asked[0]);
        }
        assert_eq!(first.len(), 5, "a hundred buyers begin everywhere");
    }

    #[test]
    fn a_zone_of_one_piece_asks_that_one() {
        let order_no = OrderNo::from_parts(1_795_990_000_000, 1, 3, UserId(7)).expect("a number");
        assert_eq!(pieces_from(order_no, 1).collect::<Vec<_>>(), [0]);
        assert_eq!(pieces_from(order_no, 0).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn shares_add_up_to_the_capacity_and_leave_everybody_what_is_taken() {
        assert_eq!(shares(10, &[0, 0, 0, 0]), Some(vec![3, 3, 2, 2]));
        assert_eq!(shares(10, &[7, 0, 1, 0]), Some(vec![8, 1, 1, 0]));
        assert_eq!(shares(8, &[7, 0, 1, 0]), Some(vec![7, 0, 1, 0]));
        assert_eq!(shares(7, &[7, 0, 1, 0]), None);
        assert_eq!(shares(0, &[0]), Some(vec![0]));
        assert_eq!(shares(5, &[]), None);
        assert_eq!(shares(5, &[u32::MAX, 1]), None);
    }
}
