//! What staff do while customers buy: commands of the program, one after the other, each with a promise in its answer.

use std::process::ExitStatus;

use anyhow::{Result, bail};

use super::promises::{Promise, Promises};
use super::random::Random;
use super::sale::{Sale, Show};
use super::stack::{Stack, was_killed};

/// Answers of commands that were rightly refused; nothing has changed then.
const REFUSALS: [&str; 6] = [
    "locked or sold: ",
    "does not await payment",
    "the zone can't have fewer",
    "changing too fast",
    "somebody else has just changed",
    "are not in Kafka yet",
];
/// Seats withheld at once.
const SEATS_AT_ONCE_MAX: u64 = 4;
/// Places of a standing zone that are soon gone, and the pieces in which the catalogue splits it.
const PLACES_FEW: u64 = 9;
const PIECES: u64 = 3;
/// Tickets that a buyer may have where most are to be refused.
const LIMIT_SMALL: u64 = 3;
/// And where all are to get what they want.
const LIMIT_LARGE: u64 = 20;
/// Every so many commands places are added.
const ADDED_EVERY: u64 = 4;
/// Every so many commands the one limit takes the other's place.
const LIMITED_EVERY: u64 = 8;
/// Dead letters of each kind that are tried again at once. What is refused for good is a dead letter again; more at once would
/// soon be more than a command reads.
const LETTERS_AT_ONCE: u64 = 5;
/// Ranges of seats that are withheld before the oldest is offered again.
const RANGES_MAX: usize = 2;

/// What staff are busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Withholding seats and offering them again.
    Seats,
    /// Withholding seats that somebody has just been given.
    SeatsOfBuyers,
    /// Giving orders more time.
    Deadlines,
    /// Changing how many tickets a buyer may have.
    Terms,
    /// Making the standing zone smaller and larger in turns.
    Capacity,
    /// Giving the standing zone one place more a piece, again and again, so that orders get theirs from several.
    PlaceByPlace,
    /// The same with a small limit now and then: buyers are refused with places of several pieces in their hands.
    PlaceByPlaceForFew,
    /// Withdrawing the show.
    Withdrawal,
    /// Reading the show from the database again.
    Rebuild,
    /// Trying dead letters again.
    Letters,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// There was nothing to do.
    Nothing,
    Done,
    Refused,
    /// At a fail point.
    Died,
}

/// Staff at work on one show.
#[derive(Debug)]
pub struct Staff {
    work: Work,
    seats: u64,
    random: Random,
    /// What is withheld now, range by range, oldest first.
    withheld: Vec<Vec<u64>>,
    /// Orders that were given more time, or perhaps were.
    extended: Vec<String>,
    /// Commands that were thought of.
    asked: u64,
    /// Commands that were done.
    pub done: u32,
    pub has_died: bool,
    pub promises: Promises,
}

impl Staff {
    pub fn new(work: Work, show: &Show, seed: u64) -> Self {
        Self {
            work,
            seats: show.seats,
            random: Random::new(seed),
            withheld: Vec::new(),
            extended: Vec::new(),
            asked: 0,
            done: 0,
            has_died: false,
            promises: Promises::of(show.id, show.standing()),
        }
    }

    /// Does one thing, with `fault` armed in the command's process.
    ///
    /// # Errors
    /// When the command can't be called, or ends in a way that is neither an answer nor a death at the point.
    pub fn act(&mut self, stack: &Stack<'_>, sale: &Sale<'_>, fault: Option<&str>) -> Result<Deed> {
        let Some(promise) = self.next(sale) else {
            return Ok(Deed::Nothing);
        };
        let arguments = arguments(&self.promises, &promise);
        let settings: Vec<(String, String)> = fault
            .map(|fault| ("SEATFLOW_FAULT".to_owned(), fault.to_owned()))
            .into_iter()
            .collect();
        let log = if fault.is_some() { "dying" } else { "staff" };
        let (status, text) = stack.ask(log, &arguments, &settings)?;
        let deed = deed(status, &text, fault.is_some())?;
        self.note(&promise, deed);
        Ok(deed)
    }

    /// What to do next; nothing while no customer has what staff want.
    fn next(&mut self, sale: &Sale<'_>) -> Option<Promise> {
        self.asked += 1;
        match self.work {
            Work::Seats if self.withheld.len() < RANGES_MAX => {
                let count = 2 + self.random.below(SEATS_AT_ONCE_MAX - 1);
                let first = self.random.below(self.seats - count);
                Some(Promise::Withheld((first..first + count).collect()))
            }
            Work::Seats => self.withheld.first().cloned().map(Promise::Offered),
            Work::SeatsOfBuyers => {
                let (show, seats) = sale.news().held?;
                (show == self.promises.show).then_some(Promise::Withheld(seats))
            }
            Work::Deadlines => {
                let order_no = sale.news().pending?;
                // Once each: with every minute more the run takes a minute longer.
                let is_new = !self.extended.contains(&order_no);
                is_new.then_some(Promise::MoreTime(order_no))
            }
            Work::Terms => Some(Promise::Limit(match self.done % 2 {
                0 => 2 + self.random.below(3),
                _ => 20,
            })),
            Work::Capacity => Some(Promise::Places(match self.done % 2 {
                0 => 6 + self.random.below(30),
                _ => 50 + self.random.below(40),
            })),
            // The first ones are refused, for as long as more are taken.
            Work::PlaceByPlaceForFew if self.asked.is_multiple_of(LIMITED_EVERY) => {
                let is_small = self.asked / LIMITED_EVERY % 2 == 1;
                let limit = if is_small { LIMIT_SMALL } else { LIMIT_LARGE };
                Some(Promise::Limit(limit))
            }
            Work::PlaceByPlace => Some(Promise::Places(PLACES_FEW + PIECES * self.asked)),
            // Slower than buyers take them: the zone is as good as sold out whenever the limit is small.
            Work::PlaceByPlaceForFew => {
                let added = PIECES * (self.asked / ADDED_EVERY);
                Some(Promise::Places(PLACES_FEW + added))
            }
            Work::Withdrawal => Some(Promise::Withdrawn),
            Work::Rebuild => Some(Promise::ReadAgain),
            Work::Letters => Some(Promise::LettersTried),
        }
    }

    fn note(&mut self, promise: &Promise, deed: Deed) {
        if let Promise::MoreTime(order_no) = promise
            && deed != Deed::Refused
        {
            self.extended.push(order_no.clone());
        }
        match deed {
            Deed::Nothing | Deed::Refused => {}
            Deed::Died => {
                self.has_died = true;
                self.promises.doubt(promise);
            }
            Deed::Done => {
                self.done += 1;
                self.promises.keep(promise);
            }
        }
        match promise {
            Promise::Withheld(seats) if deed == Deed::Done => self.withheld.push(seats.clone()),
            // Whatever became of it, others have their turn.
            Promise::Offered(seats) => self.withheld.retain(|range| range != seats),
            _ => {}
        }
    }
}

/// What is typed for it.
fn arguments(about: &Promises, promise: &Promise) -> Vec<String> {
    let show = about.show.to_string();
    let typed = |words: &[&str], numbers: &[u64]| -> Vec<String> {
        let words = words.iter().map(|word| (*word).to_owned());
        words.chain(numbers.iter().map(u64::to_string)).collect()
    };
    match promise {
        Promise::Withheld(seats) => typed(&["show", "block", &show], seats),
        Promise::Offered(seats) => typed(&["show", "unblock", &show], seats),
        Promise::MoreTime(order_no) => typed(&["order", "extend", order_no], &[1]),
        Promise::Limit(limit) => typed(&["show", "set", &show, "--limit"], &[*limit]),
        Promise::Places(places) => typed(&["show", "capacity"], &[about.zone, *places]),
        Promise::Withdrawn => typed(&["show", "withdraw", &show], &[]),
        Promise::ReadAgain => typed(&["rebuild", &show], &[]),
        Promise::LettersTried => typed(&["dead-letters", "retry", "--most"], &[LETTERS_AT_ONCE]),
    }
}

fn deed(status: ExitStatus, text: &str, is_armed: bool) -> Result<Deed> {
    if status.success() {
        return Ok(Deed::Done);
    }
    if was_killed(status) && is_armed {
        return Ok(Deed::Died);
    }
    if REFUSALS.iter().any(|refusal| text.contains(refusal)) {
        return Ok(Deed::Refused);
    }
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    bail!("staff's command failed ({status}): {}", last.join(" / "))
}

#[cfg(test)]
mod tests {
    use super::super::sale::Habits;
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn show() -> Show {
        Show {
            id: 7,
            seats: 232,
            zones: vec![31, 32, 35],
        }
    }

    fn staff(work: Work) -> Staff {
        Staff::new(work, &show(), 3)
    }

    #[test]
    fn seats_are_withheld_and_the_same_ones_offered_again() {
        let sale = Sale::new(0, &[], Habits::MIXED);
        let mut staff = staff(Work::Seats);
        let first = staff.next(&sale).unwrap();
        let Promise::Withheld(seats) = first.clone() else {
            panic!("{first:?}");
        };
        staff.note(&first, Deed::Refused);
        assert!(matches!(staff.next(&sale), Some(Promise::Withheld(_))));
        staff.note(&first, Deed::Done);
        let second = staff.next(&sale).unwrap();
        assert!(matches!(second, Promise::Withheld(_)));
        staff.note(&second, Deed::Done);
        let third = staff.next(&sale).unwrap();
        assert_eq!(third, Promise::Offered(seats));
        staff.note(&third, Deed::Died);
        assert!(staff.has_died);
        assert_eq!(staff.done, 2);
        assert!(matches!(staff.next(&sale), Some(Promise::Withheld(_))));
    }

    #[test]
    fn staff_are_in_the_way_of_their_own_show_alone_and_extend_an_order_once() {
        let sale = Sale::new(0, &[], Habits::MIXED);
        let mut busy = staff(Work::SeatsOfBuyers);
        sale.note_held(8, vec![1]);
        assert_eq!(busy.next(&sale), None);
        sale.note_held(7, vec![1]);
        assert_eq!(busy.next(&sale), Some(Promise::Withheld(vec![1])));
        let mut kind = staff(Work::Deadlines);
        for expected in [Some(Promise::MoreTime("9".to_owned())), None] {
            sale.note_pending("9");
            let next = kind.next(&sale);
            assert_eq!(next, expected);
            if let Some(promise) = next {
                kind.note(&promise, Deed::Done);
            }
        }
    }

    #[test]
    fn places_come_one_a_piece_whatever_became_of_the_ones_before() {
        assert!(include_str!("catalogue.json").contains(&format!("\"pieces\": {PIECES}")));
        let sale = Sale::new(0, &[], Habits::MIXED);
        let mut staff = staff(Work::PlaceByPlace);
        let first = staff.next(&sale).unwrap();
        staff.note(&first, Deed::Refused);
        let second = staff.next(&sale).unwrap();
        assert_eq!(first, Promise::Places(PLACES_FEW + PIECES));
        assert_eq!(second, Promise::Places(PLACES_FEW + 2 * PIECES));
    }

    #[test]
    fn a_small_limit_comes_and_goes_while_places_are_added() {
        let sale = Sale::new(0, &[], Habits::MIXED);
        let mut staff = staff(Work::PlaceByPlaceForFew);
        let promises = std::iter::from_fn(|| staff.next(&sale)).take(24);
        let limits: Vec<_> = promises
            .filter(|promise| matches!(promise, Promise::Limit(_)))
            .collect();
        let (small, large) = (Promise::Limit(LIMIT_SMALL), Promise::Limit(LIMIT_LARGE));
        assert_eq!(limits, [small.clone(), large, small]);
    }

    #[test]
    fn what_is_typed_names_the_show_or_its_standing_zone() {
        let about = staff(Work::Capacity).promises;
        let typed = |promise| arguments(&about, &promise).join(" ");
        assert_eq!(typed(Promise::Withheld(vec![4, 5])), "show block 7 4 5");
        assert_eq!(typed(Promise::Places(60)), "show capacity 35 60");
        assert_eq!(typed(Promise::Limit(3)), "show set 7 --limit 3");
        assert_eq!(typed(Promise::MoreTime("9".to_owned())), "order extend 9 1");
    }

    #[test]
    fn a_refusal_is_ordinary_and_another_failure_is_not() {
        let failed = ExitStatus::from_raw(1 << 8);
        let killed = ExitStatus::from_raw(9);
        let refused = deed(failed, "seatflow: locked or sold: 4, 5", false);
        assert_eq!(refused.unwrap(), Deed::Refused);
        assert_eq!(deed(killed, "", true).unwrap(), Deed::Died);
        assert!(deed(killed, "", false).is_err());
        assert!(deed(failed, "seatflow: the database is away", true).is_err());
    }
}
