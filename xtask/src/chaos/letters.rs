//! Dead letters: whether every order that the tables refused lies among them, and whether its buyer knows.
//!
//! A letter that was sent back is refused again, and is a letter again. So of each such order one waits when all is quiet,
//! however often staff have tried. A timeout message that failed has nothing left to do once its order was swept: sent back it
//! stays away.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use super::audit::Found;
use super::stack::Stack;

const CREATE: &str = "order.create";
const TIMEOUT: &str = "order.timeout";

/// A dead letter, as staff find it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Letter {
    topic: String,
    order_no: String,
    /// It was not sent back.
    waits: bool,
}

impl Stack<'_> {
    /// Sends timeout messages back, and names what is wrong with the letters about the orders that customers `found`.
    ///
    /// # Errors
    /// When a command of staff fails.
    pub fn look_after_letters(&self, found: &BTreeMap<String, Found>) -> Result<Vec<String>> {
        self.say(&["dead-letters", "retry", "--topic", TIMEOUT])?;
        let letters = read_letters(&self.say(&["dead-letters", "list", "--last", "500"])?);
        let unwritable = read_unwritable(&self.say(&["repairs", "--last", "1000"])?);
        Ok(audit(&letters, &unwritable, found))
    }

    /// What a command of staff says.
    fn say(&self, words: &[&str]) -> Result<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let (status, text) = self.ask("letters", &words, &[])?;
        if !status.success() {
            bail!("`{}` failed ({status}): {text}", words.join(" "));
        }
        Ok(text)
    }
}

/// Reads `seatflow dead-letters list`: a line a topic, two lines a letter.
fn read_letters(text: &str) -> Vec<Letter> {
    let (mut topic, mut is_sent_back) = ("", false);
    let mut letters = Vec::new();
    for line in text.lines() {
        if line.ends_with(" dead letter(s)") {
            topic = line.split(':').next().unwrap_or_default();
        } else if let Some(key) = line.strip_prefix("    key ") {
            letters.push(Letter {
                topic: topic.to_owned(),
                order_no: key.split(' ').next().unwrap_or_default().to_owned(),
                waits: !is_sent_back,
            });
        } else {
            is_sent_back = line.contains(", sent back ");
        }
    }
    letters
}

/// Reads `seatflow repairs`: the orders that were given up because they could not be written.
fn read_unwritable(text: &str) -> BTreeSet<String> {
    let noted = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let class = words.iter().position(|word| *word == "unwritable")?;
        let order = words.get(class..)?.windows(2).find(|two| two[0] == "order");
        order.map(|two| two[1].to_owned())
    });
    noted.collect()
}

/// Names every fault in a line. What earlier sales of the same installation left is none of this one's.
fn audit(
    letters: &[Letter],
    unwritable: &BTreeSet<String>,
    found: &BTreeMap<String, Found>,
) -> Vec<String> {
    let waiting = |topic: &str| -> BTreeSet<&String> {
        let is_waiting = |letter: &&Letter| letter.topic == topic && letter.waits;
        let letters = letters.iter().filter(is_waiting);
        letters.map(|letter| &letter.order_no).collect()
    };
    let (creations, timeouts) = (waiting(CREATE), waiting(TIMEOUT));
    let mut faults = Vec::new();
    for (order_no, order) in found {
        let status = &order.status;
        let is_letter = creations.contains(order_no);
        if unwritable.contains(order_no) && !is_letter {
            faults.push(format!(
                "order {order_no} can't be written, and no dead letter waits"
            ));
        }
        if (unwritable.contains(order_no) || is_letter) && status != "discarded" {
            faults.push(format!("order {order_no} is a dead letter and {status}"));
        }
        if timeouts.contains(order_no) {
            faults.push(format!(
                "the timeout message of order {order_no} is still a dead letter"
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "outbox: 0 given up
order.create: 2 dead letter(s)
  2026-11-30 08:00:00 UTC at 4 from x.order.create/1@9 by x.create, sent back 2026-11-30 08:00:02 UTC: refused
    key 101 {\"order_no\":\"101\"}
  2026-11-30 08:00:03 UTC at 5 from x.order.create/1@12 by x.create: refused
    key 101 {\"order_no\":\"101\"}
order.timeout: 1 dead letter(s)
  2026-11-30 08:00:09 UTC at 0 from x.order.timeout/1@3 by x.expire: failed 3 times
    key 102 {\"order_no\":\"102\"}";
    const NOTED: &str =
        "2026-11-30 08:00:00 UTC unwritable     show 7      order 101 database failure
2026-11-30 08:00:00 UTC orphan_lock    show 7      order 103 has no row
2 repair(s).";

    fn found(orders: &[(&str, &str)]) -> BTreeMap<String, Found> {
        let orders = orders.iter().map(|(order_no, status)| {
            let order = Found {
                status: (*status).to_owned(),
                ..Found::default()
            };
            ((*order_no).to_owned(), order)
        });
        orders.collect()
    }

    #[test]
    fn letters_and_notes_are_read_as_staff_see_them() {
        let letters = read_letters(LISTED);
        let seen: Vec<(&str, &str, bool)> = letters
            .iter()
            .map(|letter| (&*letter.topic, &*letter.order_no, letter.waits))
            .collect();
        let expected = [
            (CREATE, "101", false),
            (CREATE, "101", true),
            (TIMEOUT, "102", true),
        ];
        assert_eq!(seen, expected);
        assert_eq!(read_unwritable(NOTED), BTreeSet::from(["101".to_owned()]));
    }

    #[test]
    fn an_order_that_was_refused_waits_among_the_letters_and_its_buyer_knows() {
        let unwritable = read_unwritable(NOTED);
        let mut letters = read_letters(LISTED);
        letters.truncate(2);
        let told = found(&[("101", "discarded"), ("103", "paid")]);
        assert!(audit(&letters, &unwritable, &told).is_empty());
        let untold = found(&[("101", "pending")]);
        assert_eq!(audit(&letters, &unwritable, &untold).len(), 1);
        letters.truncate(1);
        let lost = audit(&letters, &unwritable, &told);
        assert_eq!(lost.len(), 1, "sent back and never seen again: {lost:?}");
        assert!(audit(&letters, &unwritable, &found(&[("103", "paid")])).is_empty());
    }

    #[test]
    fn a_timeout_message_that_keeps_coming_back_is_a_fault() {
        let letters = read_letters(LISTED);
        let none = BTreeSet::new();
        let faults = audit(&letters, &none, &found(&[("102", "cancelled")]));
        assert_eq!(faults.len(), 1, "{faults:?}");
    }
}
