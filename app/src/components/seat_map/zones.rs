//! Free seats by zone, kept up to date by the changes alone.

use crate::domain::seat::SeatState;

/// Counts one seat's change of state. A seat without a zone is counted nowhere.
pub fn count_change(free: &mut [u32], zone: Option<usize>, from: SeatState, to: SeatState) {
    let Some(count) = zone.and_then(|zone| free.get_mut(zone)) else {
        return;
    };
    match (from == SeatState::Available, to == SeatState::Available) {
        (true, false) => *count = count.saturating_sub(1),
        (false, true) => *count += 1,
        _ => {}
    }
}

/// Reads the counts that the server wrote beside the map: `41,72,23`.
pub fn read_counts(text: &str) -> Vec<u32> {
    text.split(',')
        .filter_map(|count| count.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zones_count_follows_its_seats_and_no_other() {
        let mut free = read_counts("41,72");
        count_change(&mut free, Some(1), SeatState::Available, SeatState::Locked);
        count_change(&mut free, Some(1), SeatState::Locked, SeatState::Sold);
        assert_eq!(free, [41, 71]);
        count_change(&mut free, Some(1), SeatState::Sold, SeatState::Available);
        assert_eq!(free, [41, 72]);
    }

    #[test]
    fn counts_never_go_below_nothing_and_unknown_zones_are_left_alone() {
        let mut free = vec![0];
        count_change(&mut free, Some(0), SeatState::Available, SeatState::Sold);
        count_change(&mut free, Some(7), SeatState::Sold, SeatState::Available);
        count_change(&mut free, None, SeatState::Sold, SeatState::Available);
        assert_eq!(free, [0]);
    }
}
