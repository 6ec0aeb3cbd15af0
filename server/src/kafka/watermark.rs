//! How far a partition may be committed when its messages are finished in any order.

use std::collections::BTreeSet;

/// Of one partition: which messages were read and are not resolved yet.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LowWatermark {
    unresolved: BTreeSet<i64>,
    next: Option<i64>,
}

impl LowWatermark {
    /// Notes that the message at `offset` was read. False when it had been read before, which changes nothing.
    #[must_use]
    pub fn read(&mut self, offset: i64) -> bool {
        if self.next.is_some_and(|next| offset < next) {
            return false;
        }
        self.next = Some(offset + 1);
        self.unresolved.insert(offset)
    }

    /// Notes that nobody needs the message at `offset` again. May be repeated.
    pub fn resolve(&mut self, offset: i64) {
        self.unresolved.remove(&offset);
    }

    /// The offset that a restarted consumer has to read first: that of the earliest message that is not resolved, or the
    /// one behind the last that was read. None before anything was read.
    #[must_use]
    pub fn position(&self) -> Option<i64> {
        self.unresolved.first().copied().or(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of `0..count`, by Heap's algorithm.
    fn orders(count: usize) -> Vec<Vec<usize>> {
        fn arrange(size: usize, items: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
            if size <= 1 {
                found.push(items.clone());
                return;
            }
            for place in 0..size {
                arrange(size - 1, items, found);
                items.swap(if size.is_multiple_of(2) { place } else { 0 }, size - 1);
            }
        }
        let mut found = Vec::new();
        arrange(count, &mut (0..count).collect(), &mut found);
        found
    }

    #[test]
    fn whatever_the_order_of_resolving_no_unresolved_message_is_passed() {
        // Offsets have gaps, as they have where Kafka writes markers of its own.
        let offsets = [7, 8, 10, 11, 15, 16];
        let all = orders(offsets.len());
        assert_eq!(all.len(), 720);
        for order in all {
            let mut mark = LowWatermark::default();
            for offset in offsets {
                assert!(mark.read(offset));
            }
            let mut open: Vec<i64> = offsets.to_vec();
            for place in order {
                assert_eq!(mark.position(), open.iter().min().copied());
                mark.resolve(offsets[place]);
                open.retain(|offset| *offset != offsets[place]);
            }
            assert_eq!(mark.position(), Some(17));
        }
    }

    #[test]
    fn reading_and_resolving_may_alternate() {
        let mut mark = LowWatermark::default();
        assert_eq!(mark.position(), None);
        assert!(mark.read(3));
        mark.resolve(3);
        assert_eq!(mark.position(), Some(4));
        assert!(mark.read(4));
        assert!(mark.read(5));
        mark.resolve(5);
        assert_eq!(mark.position(), Some(4));
    }

    #[test]
    fn a_message_that_is_read_again_is_not_open_again() {
        let mut mark = LowWatermark::default();
        assert!(mark.read(3));
        assert!(mark.read(4));
        mark.resolve(3);
        assert!(!mark.read(3));
        assert!(!mark.read(4));
        assert_eq!(mark.position(), Some(4));
        mark.resolve(4);
        mark.resolve(4);
        assert_eq!(mark.position(), Some(5));
    }
}
