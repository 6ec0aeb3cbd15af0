//! A heap of things that are due at some time.

use app::domain::time::Timestamp;
use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// Gives out what is due, the earliest first; of two that are due at one moment the one that was put in first.
#[derive(Debug)]
pub struct DelayHeap<T> {
    slots: BinaryHeap<Reverse<Slot<T>>>,
    put_in: u64,
}

#[derive(Debug)]
struct Slot<T> {
    due_at: Timestamp,
    turn: u64,
    item: T,
}

impl<T> DelayHeap<T> {
    /// A heap with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            slots: BinaryHeap::new(),
            put_in: 0,
        }
    }

    /// Puts something in that is due at `due_at`.
    pub fn push(&mut self, due_at: Timestamp, item: T) {
        self.put_in += 1;
        self.slots.push(Reverse(Slot {
            due_at,
            turn: self.put_in,
            item,
        }));
    }

    /// Takes out the earliest thing, if it is due at `now`; never before its time.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, T)> {
        if self.next_due()? > now {
            return None;
        }
        self.slots
            .pop()
            .map(|Reverse(slot)| (slot.due_at, slot.item))
    }

    /// When the earliest thing is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.slots.peek().map(|Reverse(slot)| slot.due_at)
    }

    /// Throws away everything that `keep` does not want.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.slots.retain(|Reverse(slot)| keep(&slot.item));
    }

    /// How many things are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

impl<T> Default for DelayHeap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Slot<T> {
    fn rank(&self) -> (Timestamp, u64) {
        (self.due_at, self.turn)
    }
}

impl<T> Ord for Slot<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl<T> PartialOrd for Slot<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Slot<T> {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl<T> Eq for Slot<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(heap: &mut DelayHeap<&'static str>, now: i64) -> Vec<&'static str> {
        std::iter::from_fn(|| heap.pop_due(Timestamp(now)))
            .map(|(_, item)| item)
            .collect()
    }

    #[test]
    fn the_earliest_comes_out_first_and_equals_in_the_order_they_went_in() {
        let mut heap = DelayHeap::new();
        for (due, item) in [(30, "d"), (10, "a"), (20, "b"), (20, "c"), (-5, "z")] {
            heap.push(Timestamp(due), item);
        }
        assert_eq!(heap.next_due(), Some(Timestamp(-5)));
        assert_eq!(drain(&mut heap, 100), ["z", "a", "b", "c", "d"]);
        assert!(heap.is_empty());
    }

    #[test]
    fn nothing_comes_out_before_its_time() {
        let mut heap = DelayHeap::new();
        heap.push(Timestamp(1_000), "late");
        heap.push(Timestamp(500), "soon");
        assert_eq!(drain(&mut heap, 499), Vec::<&str>::new());
        assert_eq!(drain(&mut heap, 500), ["soon"]);
        assert_eq!(drain(&mut heap, 999), Vec::<&str>::new());
        assert_eq!(
            heap.pop_due(Timestamp(1_000)),
            Some((Timestamp(1_000), "late"))
        );
        assert_eq!(heap.next_due(), None);
    }

    #[test]
    fn what_is_not_kept_is_gone_and_the_rest_stays_in_order() {
        let mut heap = DelayHeap::new();
        for due in [5, 3, 9, 1, 7] {
            heap.push(Timestamp(due), if due % 3 == 0 { "drop" } else { "keep" });
        }
        heap.retain(|item| *item == "keep");
        assert_eq!(heap.len(), 3);
        let due: Vec<i64> = std::iter::from_fn(|| heap.pop_due(Timestamp(10)))
            .map(|(due, _)| due.0)
            .collect();
        assert_eq!(due, [1, 5, 7]);
    }
}
