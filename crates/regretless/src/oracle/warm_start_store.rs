//! Memories of instances: bounded, and the same for any number of threads.
//!
//! Each row of the table has a memory for the first question of an evaluation and one for those
//! that follow: the first is the same question every epoch (SPO+, DBB), while of later ones each is
//! nearest to the one before (the second of DBB and PG, steps of Frank and Wolfe, samples of PFYL).
//! Questions about one row are asked one after the other, by one thread, so what a memory holds
//! depends on the row's own questions only.
//!
//! The budget is shared out evenly: a memory that takes more than its share keeps its cheap part or
//! nothing, whatever the others take.
//!
//! Beside them stands how long the last solves took. It decides which row is begun first, never an
//! answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::solve::warm_start::WarmStart;

/// Memories per row.
const SLOTS_PER_ROW: usize = 2;

/// The memories of all rows.
#[derive(Debug)]
pub(super) struct WarmStartStore {
    rows: Vec<Mutex<RowWarmStarts>>,
    /// Most bytes of one memory.
    max_bytes: usize,
    collect_certificates: bool,
}

#[derive(Debug, Default)]
struct RowWarmStarts {
    warm_starts: [WarmStart; SLOTS_PER_ROW],
    seconds: [f32; SLOTS_PER_ROW],
}

/// Which memory is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WarmStartSlot {
    /// Row of the table.
    pub(super) instance: usize,
    /// Questions about it before this one.
    pub(super) call_index: usize,
}

impl WarmStartSlot {
    fn slot_index(self) -> usize {
        self.call_index.min(SLOTS_PER_ROW - 1)
    }
}

impl WarmStartStore {
    /// Empty memories for this many rows that take this many bytes together at most; `prove` says
    /// whether proofs that can be used again are worth some work.
    pub(super) fn new(rows: usize, budget: usize, collect_certificates: bool) -> Self {
        let max_bytes = budget / (SLOTS_PER_ROW * rows.max(1));
        Self {
            rows: (0..rows).map(|_| Mutex::default()).collect(),
            max_bytes,
            collect_certificates,
        }
    }

    fn row(&self, instance: usize) -> Option<MutexGuard<'_, RowWarmStarts>> {
        Some(
            self.rows
                .get(instance)?
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Takes a memory out; empty where nothing is known.
    pub(super) fn take(&self, slot: WarmStartSlot) -> WarmStart {
        let known = self
            .row(slot.instance)
            .map(|mut row| std::mem::take(&mut row.warm_starts[slot.slot_index()]));
        known
            .filter(|warm_start| !warm_start.is_empty())
            .unwrap_or_else(|| WarmStart::new(self.collect_certificates))
    }

    /// Puts a memory back, as far as it may be kept.
    pub(super) fn store(&self, slot: WarmStartSlot, mut warm_start: WarmStart) {
        warm_start.shrink_to(self.max_bytes);
        if let Some(mut row) = self.row(slot.instance) {
            row.warm_starts[slot.slot_index()] = warm_start;
        }
    }

    /// Notes how long a solve took.
    pub(super) fn record_seconds(&self, slot: WarmStartSlot, seconds: f32) {
        if let Some(mut row) = self.row(slot.instance) {
            row.seconds[slot.slot_index()] = seconds;
        }
    }

    /// Seconds that the next questions about a row are expected to take.
    pub(super) fn expected_seconds(&self, instance: usize) -> f64 {
        self.row(instance).map_or(0.0, |row| {
            row.seconds.iter().map(|seconds| f64::from(*seconds)).sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{WarmStart, WarmStartSlot, WarmStartStore};
    use crate::solve::warm_start::WarmStartState;

    #[derive(Debug)]
    struct Bytes(usize);

    impl WarmStartState for Bytes {
        fn bytes(&self) -> usize {
            self.0
        }

        fn shrink(&mut self) {
            self.0 /= 10;
        }
    }

    fn spot(instance: usize, call_index: usize) -> WarmStartSlot {
        WarmStartSlot {
            instance,
            call_index,
        }
    }

    fn kept(store: &WarmStartStore, slot: WarmStartSlot, bytes: usize) -> usize {
        let mut warm_start = WarmStart::new(false);
        warm_start.set(Bytes(bytes));
        store.store(slot, warm_start);
        store.take(slot).bytes()
    }

    #[test]
    fn every_memory_keeps_to_its_own_share_of_the_budget() {
        let store = WarmStartStore::new(10, 2000, false);
        assert_eq!(
            [kept(&store, spot(3, 0), 100), kept(&store, spot(3, 0), 101)],
            [100, 10]
        );
        assert_eq!(
            [
                kept(&store, spot(3, 0), 1000),
                kept(&store, spot(3, 0), 1010)
            ],
            [100, 0]
        );
        assert_eq!(kept(&store, spot(10, 0), 1), 0, "there is no such row");
    }

    #[test]
    fn the_first_question_has_a_memory_of_its_own_and_the_others_share_one() {
        let store = WarmStartStore::new(2, 1 << 20, true);
        for (call_index, bytes) in [(0, 5), (1, 6), (2, 7)] {
            let mut warm_start = store.take(spot(1, call_index));
            assert!(warm_start.wants_proof());
            warm_start.set(Bytes(bytes));
            store.store(spot(1, call_index), warm_start);
        }
        let bytes = [0, 1].map(|call_index| store.take(spot(1, call_index)).bytes());
        assert_eq!(bytes, [5, 7]);
        assert!(store.take(spot(0, 0)).is_empty());
    }

    #[test]
    fn seconds_of_both_places_add_up() {
        let store = WarmStartStore::new(2, 0, false);
        store.record_seconds(spot(0, 0), 1.0);
        store.record_seconds(spot(0, 4), 0.5);
        store.record_seconds(spot(0, 1), 0.25);
        assert_eq!(
            (
                store.expected_seconds(0),
                store.expected_seconds(1),
                store.expected_seconds(7)
            ),
            (1.25, 0.0, 0.0)
        );
    }
}
