//! Warm-start states of all instances: bounded in memory, independent of the number of threads.
//!
//! Each row of the table has one state for the first solver call of a loss evaluation and one for
//! the calls that follow. The first call has the same form in every epoch (SPO+, DBB); each later
//! call is closest to the call before it (the second of DBB and PG, Frank–Wolfe steps, samples of
//! PFYL). The solver calls of one row run one after the other on one thread, so a state depends on
//! the row's own calls only.
//!
//! The memory limit is divided evenly among the states: a state above its limit is reduced to its
//! small part or removed, regardless of the size of the others.
//!
//! The store also records how long the last solves took. The times decide which row is started
//! first; they never change a result.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::solve::warm_start::WarmStart;

/// Warm-start states per row: one for the first solver call, one for all later ones.
const SLOTS_PER_ROW: usize = 2;

/// The warm-start states of all rows.
#[derive(Debug)]
pub(super) struct WarmStartStore {
    rows: Vec<Mutex<RowWarmStarts>>,
    /// Limit on the bytes of one state.
    max_bytes: usize,
    collect_certificates: bool,
}

#[derive(Debug, Default)]
struct RowWarmStarts {
    warm_starts: [WarmStart; SLOTS_PER_ROW],
    seconds: [f32; SLOTS_PER_ROW],
}

/// Identifies one warm-start state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WarmStartSlot {
    /// Row of the table.
    pub(super) instance: usize,
    /// Number of earlier solver calls of this evaluation.
    pub(super) call_index: usize,
}

impl WarmStartSlot {
    fn slot_index(self) -> usize {
        self.call_index.min(SLOTS_PER_ROW - 1)
    }
}

impl WarmStartStore {
    /// Empty states for `rows` rows, limited to `budget` bytes together. `collect_certificates`:
    /// solvers may spend work on certificates that can be reused.
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

    /// Takes a state out of the store; a new one if there is none.
    pub(super) fn take(&self, slot: WarmStartSlot) -> WarmStart {
        // The lock is held only to move the state: a row has one thread at a time, so there is
        // nothing to wait for.
        if let Some(mut row) = self.row(slot.instance) {
            let stored = std::mem::take(&mut row.warm_starts[slot.slot_index()]);
            if !stored.is_empty() {
                return stored;
            }
        }
        WarmStart::new(self.collect_certificates)
    }

    /// Puts a state back, shrunk to the memory limit.
    pub(super) fn store(&self, slot: WarmStartSlot, mut warm_start: WarmStart) {
        // Shrunk before it is stored, so the limit holds at any time.
        warm_start.shrink_to(self.max_bytes);
        if let Some(mut row) = self.row(slot.instance) {
            row.warm_starts[slot.slot_index()] = warm_start;
        }
    }

    /// Records the time of a solve.
    pub(super) fn record_seconds(&self, slot: WarmStartSlot, seconds: f32) {
        if let Some(mut row) = self.row(slot.instance) {
            row.seconds[slot.slot_index()] = seconds;
        }
    }

    /// Expected seconds of a row's next evaluation, by the times of its last solves.
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

    fn slot(instance: usize, call_index: usize) -> WarmStartSlot {
        WarmStartSlot {
            instance,
            call_index,
        }
    }

    fn stored_bytes(store: &WarmStartStore, slot: WarmStartSlot, bytes: usize) -> usize {
        let mut warm_start = WarmStart::new(false);
        warm_start.set(Bytes(bytes));
        store.store(slot, warm_start);
        store.take(slot).bytes()
    }

    #[test]
    fn every_state_keeps_to_its_own_part_of_the_memory_limit() {
        let store = WarmStartStore::new(10, 2000, false);
        assert_eq!(
            [
                stored_bytes(&store, slot(3, 0), 100),
                stored_bytes(&store, slot(3, 0), 101)
            ],
            [100, 10]
        );
        assert_eq!(
            [
                stored_bytes(&store, slot(3, 0), 1000),
                stored_bytes(&store, slot(3, 0), 1010)
            ],
            [100, 0]
        );
        assert_eq!(
            stored_bytes(&store, slot(10, 0), 1),
            0,
            "there is no such row"
        );
    }

    #[test]
    fn the_first_call_has_a_state_of_its_own_and_later_calls_share_one() {
        let store = WarmStartStore::new(2, 1 << 20, true);
        for (call_index, bytes) in [(0, 5), (1, 6), (2, 7)] {
            let mut warm_start = store.take(slot(1, call_index));
            assert!(warm_start.collects_certificates());
            warm_start.set(Bytes(bytes));
            store.store(slot(1, call_index), warm_start);
        }
        let bytes = [0, 1].map(|call_index| store.take(slot(1, call_index)).bytes());
        assert_eq!(bytes, [5, 7]);
        assert!(store.take(slot(0, 0)).is_empty());
    }

    #[test]
    fn seconds_of_both_slots_add_up() {
        let store = WarmStartStore::new(2, 0, false);
        store.record_seconds(slot(0, 0), 1.0);
        store.record_seconds(slot(0, 4), 0.5);
        store.record_seconds(slot(0, 1), 0.25);
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
