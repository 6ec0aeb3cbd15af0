//! What staff were told, and whether it holds when all is quiet: seats that are withheld, terms, places, deadlines, and a show
//! that does not take place.

use std::collections::BTreeMap;

use super::audit::Found;

/// How long the catalogue's orders are held, in milliseconds.
const HOLD_MS: u64 = 6_000;
const MINUTE_MS: u64 = 60_000;
const WITHHELD: u8 = 3;

/// Something that staff ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    Withheld(Vec<u64>),
    Offered(Vec<u64>),
    /// A minute more for an order.
    MoreTime(String),
    /// Most tickets of a buyer.
    Limit(u64),
    /// Places of the standing zone.
    Places(u64),
    Withdrawn,
    /// Redis has the show as the database has it, which `verify` looks at.
    ReadAgain,
    /// Dead letters were sent back, which [`super::letters`] looks at.
    LettersTried,
}

/// Everything that staff asked for in one show, and what they were told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    pub show: u64,
    pub zone: u64,
    /// Whether a seat is withheld; none where a command died and either is right.
    seats: BTreeMap<u64, Option<bool>>,
    /// How many minutes orders got.
    minutes: BTreeMap<String, u64>,
    /// Any of these is right; nothing is known when there is none.
    limits: Vec<u64>,
    places: Vec<u64>,
    pub withdrawn: bool,
}

/// The show as everybody finds it when all is quiet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The state of each seat.
    pub seats: Vec<u8>,
    pub limit: u64,
    pub places: u64,
    /// What `seatflow show withdrawal` prints.
    pub withdrawal: String,
}

impl Promises {
    pub fn of(show: u64, zone: u64) -> Self {
        Self {
            show,
            zone,
            ..Self::default()
        }
    }

    /// Whether anybody can say what became of it.
    pub fn is_empty(&self) -> bool {
        *self == Self::of(self.show, self.zone)
    }

    /// The command said that it is done.
    pub fn keep(&mut self, promise: &Promise) {
        match promise {
            Promise::Withheld(seats) => self.set(seats, Some(true)),
            Promise::Offered(seats) => self.set(seats, Some(false)),
            Promise::MoreTime(order_no) => *self.minutes.entry(order_no.clone()).or_default() += 1,
            Promise::Limit(limit) => self.limits = vec![*limit],
            Promise::Places(places) => self.places = vec![*places],
            Promise::Withdrawn => self.withdrawn = true,
            Promise::ReadAgain | Promise::LettersTried => {}
        }
    }

    /// The command died: it may have done it, or will have it done. A withdrawal goes on once its row is written, which is
    /// before any point.
    pub fn doubt(&mut self, promise: &Promise) {
        match promise {
            Promise::Withheld(seats) | Promise::Offered(seats) => self.set(seats, None),
            Promise::MoreTime(_) | Promise::ReadAgain | Promise::LettersTried => {}
            Promise::Limit(limit) if !self.limits.is_empty() => self.limits.push(*limit),
            Promise::Places(places) if !self.places.is_empty() => self.places.push(*places),
            Promise::Limit(_) | Promise::Places(_) => {}
            Promise::Withdrawn => self.withdrawn = true,
        }
    }

    fn set(&mut self, seats: &[u64], state: Option<bool>) {
        self.seats.extend(seats.iter().map(|seat| (*seat, state)));
    }

    /// Names every promise that does not hold.
    pub fn audit(&self, offer: &Offer, found: &BTreeMap<String, Found>) -> Vec<String> {
        let mut faults = self.faults_of_seats(offer);
        if !self.limits.is_empty() && !self.limits.contains(&offer.limit) {
            let told = &self.limits;
            faults.push(format!(
                "a buyer may have {} tickets, and staff were told {told:?}",
                offer.limit
            ));
        }
        if !self.places.is_empty() && !self.places.contains(&offer.places) {
            let told = &self.places;
            faults.push(format!(
                "the standing zone has {} places, and staff were told {told:?}",
                offer.places
            ));
        }
        for (order_no, minutes) in &self.minutes {
            let lasts = found.get(order_no).map_or(0, |order| order.lasts_ms);
            if lasts < HOLD_MS + minutes * MINUTE_MS {
                faults.push(format!(
                    "order {order_no} got {minutes} minute(s) more and lasts {lasts} ms"
                ));
            }
        }
        if self.withdrawn {
            faults.extend(self.faults_of_withdrawal(offer, found));
        }
        faults
    }

    fn faults_of_seats(&self, offer: &Offer) -> Vec<String> {
        let is_withheld = |seat: u64| {
            let place = usize::try_from(seat).unwrap_or(usize::MAX);
            offer.seats.get(place) == Some(&WITHHELD)
        };
        let is_broken = |(seat, promised): &(&u64, &Option<bool>)| {
            promised.is_some_and(|promised| promised != is_withheld(**seat))
        };
        self.seats
            .iter()
            .filter(is_broken)
            .map(|(seat, promised)| match promised {
                Some(true) => format!("seat {seat} was withheld and is not"),
                _ => format!("seat {seat} was offered again and is withheld"),
            })
            .collect()
    }

    fn faults_of_withdrawal(&self, offer: &Offer, found: &BTreeMap<String, Found>) -> Vec<String> {
        let is_over = |order: &Found| {
            matches!(
                order.status.as_str(),
                "cancelled" | "refunded" | "discarded"
            )
        };
        let mut faults: Vec<String> = found
            .iter()
            .filter(|(_, order)| order.show == self.show && !is_over(order))
            .map(|(order_no, order)| {
                format!("order {order_no} of a withdrawn show is {}", order.status)
            })
            .collect();
        if !offer.withdrawal.contains("; finished ") {
            faults.push(format!(
                "the withdrawal is not finished: {}",
                offer.withdrawal
            ));
        }
        faults
    }
}

/// The states in a whole map as polls get it: a byte, epoch (4), version (8), the number of seats (4), two bits a seat. Bytes
/// that are missing at the end mean available.
pub fn seat_states(body: &[u8]) -> Option<Vec<u8>> {
    let (head, bits) = body.split_first_chunk::<17>()?;
    if head[0] != 0 {
        return None;
    }
    let count = u32::from_be_bytes(head[13..].try_into().ok()?);
    let bits_of = |seat: usize| {
        bits.get(seat / 4)
            .map_or(0, |byte| byte >> (6 - 2 * (seat % 4)) & 3)
    };
    Some((0..usize::try_from(count).ok()?).map(bits_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(seats: &[u8]) -> Offer {
        Offer {
            seats: seats.to_vec(),
            limit: 20,
            places: 80,
            withdrawal: String::new(),
        }
    }

    fn order(status: &str, lasts_ms: u64) -> BTreeMap<String, Found> {
        let order = Found {
            status: status.to_owned(),
            show: 7,
            lasts_ms,
            ..Found::default()
        };
        BTreeMap::from([("1".to_owned(), order)])
    }

    #[test]
    fn the_catalogue_holds_orders_as_long_as_the_audit_believes() {
        let held = format!("\"hold_seconds\": {}", HOLD_MS / 1_000);
        assert!(include_str!("catalogue.json").contains(&held));
    }

    #[test]
    fn a_seat_that_is_not_as_staff_were_told_is_a_fault_and_a_doubtful_one_is_none() {
        let mut promises = Promises::of(7, 1);
        assert!(promises.is_empty());
        promises.keep(&Promise::Withheld(vec![0, 1, 2]));
        promises.keep(&Promise::Offered(vec![1]));
        promises.doubt(&Promise::Offered(vec![2]));
        let found = BTreeMap::new();
        assert_eq!(promises.audit(&offer(&[3, 2, 0]), &found).len(), 0);
        assert_eq!(promises.audit(&offer(&[3, 1, 3]), &found).len(), 0);
        let faults = promises.audit(&offer(&[0, 3, 0]), &found);
        assert_eq!(
            faults,
            [
                "seat 0 was withheld and is not",
                "seat 1 was offered again and is withheld"
            ]
        );
    }

    #[test]
    fn terms_and_places_are_the_last_ones_or_those_of_a_command_that_died() {
        let mut promises = Promises::of(7, 1);
        promises.doubt(&Promise::Limit(3));
        assert!(promises.audit(&offer(&[]), &BTreeMap::new()).is_empty());
        promises.keep(&Promise::Limit(4));
        promises.keep(&Promise::Places(70));
        assert_eq!(promises.audit(&offer(&[]), &BTreeMap::new()).len(), 2);
        promises.doubt(&Promise::Limit(20));
        promises.doubt(&Promise::Places(80));
        assert!(promises.audit(&offer(&[]), &BTreeMap::new()).is_empty());
    }

    #[test]
    fn an_order_lasts_as_long_as_staff_were_told() {
        let mut promises = Promises::of(7, 1);
        promises.keep(&Promise::MoreTime("1".to_owned()));
        let audit = |lasts_ms| promises.audit(&offer(&[]), &order("cancelled", lasts_ms));
        assert!(audit(66_000).is_empty());
        assert_eq!(audit(65_999).len(), 1);
    }

    #[test]
    fn no_order_of_a_withdrawn_show_lives_and_the_withdrawal_ends() {
        let mut promises = Promises::of(7, 1);
        promises.doubt(&Promise::Withdrawn);
        let finished = Offer {
            withdrawal: "2 order(s): ...; finished 2026-12-01T02:01:00Z.".to_owned(),
            ..offer(&[])
        };
        assert!(promises.audit(&finished, &order("refunded", 0)).is_empty());
        assert_eq!(promises.audit(&finished, &order("paid", 0)).len(), 1);
        let open = promises.audit(&offer(&[]), &order("cancelled", 0));
        assert_eq!(open.len(), 1, "{open:?}");
    }

    #[test]
    fn the_states_of_a_map_are_read_from_its_bits() {
        let mut body = vec![0; 13];
        body.extend([0, 0, 0, 5, 0b00_01_10_11, 0b11_00_00_00]);
        assert_eq!(seat_states(&body), Some(vec![0, 1, 2, 3, 3]));
        assert_eq!(seat_states(&body[..17]), Some(vec![0; 5]));
        assert_eq!(seat_states(&body[..16]), None);
        body[0] = 1;
        assert_eq!(seat_states(&body), None, "changes are no map");
    }
}
