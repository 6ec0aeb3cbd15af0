//! What customers find: servers that answer, shows on sale, and what they are wont to do.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::random::Random;
use crate::interrupt;

/// A show that is sold.
#[derive(Clone, Debug)]
pub struct Show {
    pub id: u64,
    pub seats: u64,
    pub zones: Vec<u64>,
}

/// A sale that is on.
pub struct Sale<'a> {
    /// Ports of the servers; a customer asks any of them.
    pub ports: RwLock<Vec<u16>>,
    pub shows: &'a [Show],
    pub habits: Habits,
    is_over: AtomicBool,
    /// Tickets whose payment succeeded before the customer's eyes.
    pub tickets: AtomicUsize,
}

/// What customers do with an order, in percent; the rest is left to expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    pub pay: u64,
    pub pay_after_a_decline: u64,
    pub pay_too_late: u64,
    pub give_up: u64,
    /// Of those who have paid.
    pub give_back: u64,
}

impl Habits {
    /// Everything that can happen, often.
    pub const MIXED: Self = Self {
        pay: 40,
        pay_after_a_decline: 8,
        pay_too_late: 15,
        give_up: 17,
        give_back: 30,
    };
    /// A sale that goes well.
    pub const KEEN: Self = Self {
        pay: 92,
        pay_after_a_decline: 4,
        pay_too_late: 0,
        give_up: 2,
        give_back: 0,
    };
}

impl<'a> Sale<'a> {
    pub fn new(port: u16, shows: &'a [Show], habits: Habits) -> Self {
        Self {
            ports: RwLock::new(vec![port]),
            shows,
            habits,
            is_over: AtomicBool::new(false),
            tickets: AtomicUsize::new(0),
        }
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst) || interrupt::requested()
    }

    /// Where a customer goes next.
    pub fn port(&self, random: &mut Random) -> u16 {
        let ports = self
            .ports
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let place = usize::try_from(random.below(ports.len() as u64)).unwrap_or(0);
        ports.get(place).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_leave_something_to_expire() {
        for habits in [Habits::MIXED, Habits::KEEN] {
            let all =
                habits.pay + habits.pay_after_a_decline + habits.pay_too_late + habits.give_up;
            assert!(all < 100, "{habits:?}");
        }
    }
}
