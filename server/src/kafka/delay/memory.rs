//! What a delayed consumer remembers, without any I/O: the heap, and how far each of its partitions may be committed.

use crate::kafka::{
    Message as _,
    group::{Arrived, Positions},
    heap::DelayHeap,
    messages::Timeout,
    watermark::LowWatermark,
};
use app::domain::time::Timestamp;
use std::collections::BTreeMap;

/// A message that waits for its time, or for another attempt.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) message: Arrived,
    /// Attempts that failed.
    pub(super) failures: u32,
    /// The stay of its partition during which it was read.
    stay: u64,
}

#[derive(Debug)]
struct Partition {
    /// Tells one stay of a partition at this consumer from the next: what was read in an earlier one has no say any more.
    stay: u64,
    mark: LowWatermark,
    committed: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    heap: DelayHeap<Entry>,
    partitions: BTreeMap<i32, Partition>,
    stays: u64,
}

impl Memory {
    /// Partitions came. They are read from where they were last committed.
    pub(super) fn assign(&mut self, partitions: &[i32]) {
        for &partition in partitions {
            self.begin_stay(partition);
        }
    }

    /// Partitions went. Their new owner reads what is unresolved; here it is forgotten.
    pub(super) fn revoke(&mut self, partitions: &[i32]) {
        self.partitions
            .retain(|partition, _| !partitions.contains(partition));
        self.heap
            .retain(|entry| !partitions.contains(&entry.message.partition));
    }

    /// Takes in a message. One that was read before in the same stay is passed over; one that can't be read is due at
    /// once, so that it finds its way to the dead letters like any other that fails.
    pub(super) fn accept(&mut self, message: Arrived, now: Timestamp) {
        if !self.partitions.contains_key(&message.partition) {
            self.begin_stay(message.partition);
        }
        let Some(partition) = self.partitions.get_mut(&message.partition) else {
            return;
        };
        if !partition.mark.read(message.offset) {
            return;
        }
        let due_at = Timeout::decode(&message.payload).map_or(now, |timeout| timeout.due_at);
        self.heap.push(
            due_at,
            Entry {
                message,
                failures: 0,
                stay: partition.stay,
            },
        );
    }

    /// Takes out the earliest message that is due, with its due time. It stays unresolved.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, Entry)> {
        self.heap.pop_due(now)
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.heap.next_due()
    }

    /// Messages that wait.
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Nobody needs this message again.
    pub(super) fn resolve(&mut self, entry: &Entry) {
        let partition = self.partitions.get_mut(&entry.message.partition);
        if let Some(partition) = partition.filter(|partition| partition.stay == entry.stay) {
            partition.mark.resolve(entry.message.offset);
        }
    }

    /// The message is to fire again at `due_at`, if its partition is still here.
    pub(super) fn put_back(&mut self, entry: Entry, due_at: Timestamp) {
        let partition = self.partitions.get(&entry.message.partition);
        if partition.is_some_and(|partition| partition.stay == entry.stay) {
            self.heap.push(due_at, entry);
        }
    }

    /// How far every partition may be committed.
    pub(super) fn positions(&self) -> Positions {
        let positions = self.partitions.iter();
        positions
            .filter_map(|(&id, partition)| Some((id, partition.mark.position()?)))
            .collect()
    }

    /// How far partitions may be committed that have moved since the last call.
    pub(super) fn moved_positions(&mut self) -> Positions {
        let mut moved = Positions::new();
        for (&id, partition) in &mut self.partitions {
            let position = partition.mark.position();
            if position != partition.committed {
                partition.committed = position;
                moved.extend(position.map(|position| (id, position)));
            }
        }
        moved
    }

    fn begin_stay(&mut self, partition: i32) {
        self.stays += 1;
        let fresh = Partition {
            stay: self.stays,
            mark: LowWatermark::default(),
            committed: None,
        };
        self.partitions.insert(partition, fresh);
        self.heap
            .retain(|entry| entry.message.partition != partition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::domain::ids::ShowId;

    fn message(partition: i32, offset: i64, due_ms: i64) -> Arrived {
        let timeout = Timeout {
            order_no: "1045239877100482913".parse().unwrap(),
            show_id: ShowId(1),
            due_at: Timestamp(due_ms),
        };
        let payload = timeout.encode();
        Arrived {
            partition,
            offset,
            key: Vec::new(),
            payload,
            sent_at: None,
            trace: None,
        }
    }

    fn offsets_due(memory: &mut Memory, now: i64) -> Vec<Entry> {
        std::iter::from_fn(|| memory.pop_due(Timestamp(now)))
            .map(|(_, entry)| entry)
            .collect()
    }

    #[test]
    fn a_partition_is_committed_up_to_its_earliest_open_message() {
        let mut memory = Memory::default();
        memory.assign(&[0, 1]);
        for (partition, offset, due_ms) in [(0, 5, 300), (0, 6, 100), (1, 9, 100), (0, 7, 200)] {
            memory.accept(message(partition, offset, due_ms), Timestamp(0));
        }
        assert_eq!(memory.moved_positions(), Positions::from([(0, 5), (1, 9)]));
        for entry in offsets_due(&mut memory, 200) {
            memory.resolve(&entry);
        }
        assert_eq!(memory.moved_positions(), Positions::from([(1, 10)]));
        for entry in offsets_due(&mut memory, 300) {
            memory.resolve(&entry);
        }
        assert_eq!(memory.moved_positions(), Positions::from([(0, 8)]));
        assert_eq!(memory.moved_positions(), Positions::new());
        assert_eq!(memory.positions(), Positions::from([(0, 8), (1, 10)]));
    }

    #[test]
    fn a_message_that_failed_waits_for_its_next_attempt_and_holds_the_commit_back() {
        let mut memory = Memory::default();
        memory.assign(&[0]);
        memory.accept(message(0, 1, 10), Timestamp(0));
        let entry = offsets_due(&mut memory, 10).remove(0);
        memory.put_back(entry, Timestamp(60));
        assert_eq!(memory.len(), 1);
        assert_eq!(memory.next_due(), Some(Timestamp(60)));
        assert_eq!(memory.positions(), Positions::from([(0, 1)]));
    }

    #[test]
    fn a_revoked_partition_is_forgotten_and_what_was_being_fired_has_no_say() {
        let mut memory = Memory::default();
        memory.assign(&[0, 1]);
        memory.accept(message(0, 1, 10), Timestamp(0));
        memory.accept(message(0, 2, 99), Timestamp(0));
        memory.accept(message(1, 4, 99), Timestamp(0));
        let fired = offsets_due(&mut memory, 10).remove(0);
        memory.revoke(&[0]);
        assert_eq!(memory.len(), 1);
        assert_eq!(memory.positions(), Positions::from([(1, 4)]));
        memory.assign(&[0]);
        memory.accept(message(0, 1, 10), Timestamp(0));
        memory.resolve(&fired);
        assert_eq!(memory.positions(), Positions::from([(0, 1), (1, 4)]));
        memory.put_back(fired, Timestamp(50));
        assert_eq!(memory.len(), 2);
    }

    #[test]
    fn a_message_that_is_read_twice_waits_once() {
        let mut memory = Memory::default();
        memory.assign(&[0]);
        memory.accept(message(0, 1, 10), Timestamp(0));
        memory.accept(message(0, 1, 10), Timestamp(0));
        assert_eq!(memory.len(), 1);
    }

    #[test]
    fn a_message_that_cannot_be_read_is_due_at_once() {
        let mut memory = Memory::default();
        memory.assign(&[0]);
        let unreadable = Arrived {
            payload: b"?".to_vec(),
            ..message(0, 1, 1_000)
        };
        memory.accept(unreadable, Timestamp(7));
        assert_eq!(memory.next_due(), Some(Timestamp(7)));
        assert!(memory.pop_due(Timestamp(7)).is_some());
    }
}
