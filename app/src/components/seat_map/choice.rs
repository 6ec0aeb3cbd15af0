//! The chosen seats in an address: `?seats=1.5.9`, so that a choice survives signing in, reloading and going back.

use crate::domain::{hold::SEATS_PER_ORDER_MAX, ids::SeatIndex};

/// The seats that an address names, each once, at most one order's worth. What is no number is left out.
#[must_use]
pub fn read_choice(text: &str) -> Vec<SeatIndex> {
    let mut seats = Vec::new();
    for part in text.split('.') {
        if let Ok(number) = part.parse().map(SeatIndex)
            && !seats.contains(&number)
        {
            seats.push(number);
        }
        if seats.len() == SEATS_PER_ORDER_MAX {
            break;
        }
    }
    seats
}

/// Writes what [`read_choice`] reads.
#[must_use]
pub fn write_choice(seats: impl IntoIterator<Item = SeatIndex>) -> String {
    let numbers: Vec<String> = seats.into_iter().map(|seat| seat.to_string()).collect();
    numbers.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_comes_back_from_its_address() {
        let seats = [SeatIndex(9), SeatIndex(1), SeatIndex(5)];
        assert_eq!(read_choice(&write_choice(seats)), seats);
        assert_eq!(read_choice(""), []);
    }

    #[test]
    fn an_address_made_by_hand_does_no_harm() {
        assert_eq!(
            read_choice("3.x.3.-1.4294967296..7"),
            [SeatIndex(3), SeatIndex(7)]
        );
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(read_choice(&many.join(".")).len(), SEATS_PER_ORDER_MAX);
    }
}
