//! What customers find: servers that answer, shows on sale, and what they are wont to do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use super::random::Random;
use crate::interrupt;

/// A show that is sold.
#[derive(Clone, Debug)]
pub struct Show {
    pub id: u64,
    pub seats: u64,
    pub zones: Vec<u64>,
}

impl Show {
    /// The zone without seats: the catalogue names it last.
    pub fn standing(&self) -> u64 {
        self.zones.last().copied().unwrap_or(0)
    }
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
    /// Most want to stand.
    pub crowds: bool,
    news: Mutex<News>,
}

/// What customers were told last, for staff who want to be in their way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Show and chosen seats of the newest order: it may have no row yet.
    pub held: Option<(u64, Vec<u64>)>,
    /// The newest order that awaits payment.
    pub pending: Option<String>,
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
            crowds: false,
            news: Mutex::new(News::default()),
        }
    }

    /// Somebody has an order number for these seats.
    pub fn note_held(&self, show: u64, seats: Vec<u64>) {
        if !seats.is_empty() {
            self.with_news(|news| news.held = Some((show, seats)));
        }
    }

    /// Somebody sees an order that awaits payment.
    pub fn note_pending(&self, order_no: &str) {
        self.with_news(|news| news.pending = Some(order_no.to_owned()));
    }

    /// Takes what customers were told last; nothing is told twice.
    pub fn news(&self) -> News {
        self.with_news(std::mem::take)
    }

    fn with_news<T>(&self, work: impl FnOnce(&mut News) -> T) -> T {
        work(&mut self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst) || interrupt::requested()
    }

    /// Where a customer goes next.
    pub fn port(&self, random: &mut Random) -> u16 {
        let ports = self.ports.read().unwrap_or_else(PoisonError::into_inner);
        let place = usize::try_from(random.below(ports.len() as u64)).unwrap_or(0);
        ports.get(place).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_is_told_once_and_orders_without_chosen_seats_are_none() {
        let sale = Sale::new(0, &[], Habits::MIXED);
        sale.note_held(7, vec![3, 4]);
        sale.note_held(8, Vec::new());
        sale.note_pending("900");
        let news = News {
            held: Some((7, vec![3, 4])),
            pending: Some("900".to_owned()),
        };
        assert_eq!(sale.news(), news);
        assert_eq!(sale.news(), News::default());
    }

    #[test]
    fn habits_leave_something_to_expire() {
        for habits in [Habits::MIXED, Habits::KEEN] {
            let all =
                habits.pay + habits.pay_after_a_decline + habits.pay_too_late + habits.give_up;
            assert!(all < 100, "{habits:?}");
        }
    }
}
