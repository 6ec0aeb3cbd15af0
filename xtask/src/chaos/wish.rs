//! What a customer wants: some seats, or some places of a price category, of one of the shows that are on.

use super::random::Random;
use super::sale::Sale;

const SEATS_AT_ONCE_MAX: u64 = 3;
/// Seats that many customers want.
const HOT_SEATS: u64 = 24;

/// An order that is to be placed. Submitted again it is the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    pub show: u64,
    /// The seats; none when the server is to choose.
    pub seats: Vec<u64>,
    form: Vec<(&'static str, String)>,
}

impl Wish {
    /// Draws what somebody wants.
    pub fn draw(random: &mut Random, sale: &Sale<'_>) -> Self {
        let place = usize::try_from(random.below(sale.shows.len() as u64)).unwrap_or(0);
        let show = &sale.shows[place];
        let mut form = vec![
            ("show_id", show.id.to_string()),
            ("idempotency_key", format!("chaos-{:016x}", random.next())),
        ];
        let mut seats = Vec::new();
        let quantity = 1 + random.below(SEATS_AT_ONCE_MAX);
        let zone = usize::try_from(random.below(show.zones.len() as u64)).unwrap_or(0);
        if sale.crowds && random.below(100) < 60 {
            let standing = show.standing().to_string();
            form.extend([("zone", standing), ("quantity", quantity.to_string())]);
        } else if random.below(100) < 40 {
            form.push(("zone", show.zones[zone].to_string()));
            form.push(("quantity", quantity.to_string()));
        } else {
            let among = if random.below(100) < 30 {
                HOT_SEATS
            } else {
                show.seats
            };
            let first = random.below(among.min(show.seats).saturating_sub(quantity).max(1));
            seats = (first..first + quantity).collect();
            form.extend(seats.iter().map(|seat| ("seats[]", seat.to_string())));
        }
        Self {
            show: show.id,
            seats,
            form,
        }
    }

    /// The form that asks for it.
    pub fn form(&self) -> Vec<(&str, &str)> {
        self.form
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sale::{Habits, Show};
    use super::*;

    #[test]
    fn where_there_is_a_crowd_most_want_to_stand_and_some_choose_seats() {
        let shows = [Show {
            id: 7,
            seats: 232,
            zones: vec![1, 2, 3],
        }];
        let mut sale = Sale::new(0, &shows, Habits::MIXED);
        sale.crowds = true;
        let mut random = Random::new(5);
        let wishes: Vec<Wish> = (0..200).map(|_| Wish::draw(&mut random, &sale)).collect();
        let standing = |wish: &&Wish| wish.form().contains(&("zone", "3"));
        assert!(wishes.iter().filter(standing).count() > 100);
        assert!(wishes.iter().any(|wish| !wish.seats.is_empty()));
        assert!(wishes.iter().all(|wish| wish.show == 7));
    }
}
