//! Free seats by zone, kept up to date by the changes alone.

use crate::domain::{catalogue::Zone, ids::ZoneId, seat::SeatState, standing::ZoneKind};

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

/// Puts what standing zones have left into the counts: they have no seats from which they could be counted.
pub fn put_standing(free: &mut [u32], zones: &[Zone], left: impl Fn(&Zone) -> Option<u32>) {
    for (count, zone) in free.iter_mut().zip(zones) {
        if zone.kind == ZoneKind::Standing
            && let Some(left) = left(zone)
        {
            *count = left;
        }
    }
}

/// Reads what a poll's answer says of standing zones: `17:340,18:0`, zone and places left.
pub fn read_standing(text: &str) -> Vec<(ZoneId, u32)> {
    text.split(',')
        .filter_map(|pair| {
            let (zone, left) = pair.split_once(':')?;
            Some((zone.parse().ok()?, left.parse().ok()?))
        })
        .collect()
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
    use crate::domain::{
        money::{Currency, Money},
        text::LocalText,
    };

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
    fn what_is_said_of_standing_zones_is_read_and_the_rest_passed_over() {
        assert_eq!(
            read_standing("17:340,18:0,x:1,19"),
            [(ZoneId(17), 340), (ZoneId(18), 0)]
        );
        assert_eq!(read_standing(""), []);
    }

    #[test]
    fn only_standing_zones_take_their_count_from_what_the_poll_says() {
        let zone = |id, kind| Zone {
            id: ZoneId(id),
            name: LocalText {
                en: "Floor".to_owned(),
                zh_cn: "池座".to_owned(),
            },
            price: Money::new(100, Currency::Cny),
            seats_free: 5,
            seats_total: 9,
            kind,
        };
        let zones = [
            zone(1, ZoneKind::Seated),
            zone(2, ZoneKind::Standing),
            zone(3, ZoneKind::Standing),
        ];
        let said = read_standing("1:77,2:340");
        let mut free = vec![5, 5, 5];
        put_standing(&mut free, &zones, |zone| {
            let of_zone = said.iter().find(|(id, _)| *id == zone.id);
            of_zone.map(|(_, left)| *left)
        });
        assert_eq!(free, [5, 340, 5]);
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
