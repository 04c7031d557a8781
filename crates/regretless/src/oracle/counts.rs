//! Answers by kind: the one place where they are counted.
//!
//! Every question is counted once, by how it was answered. A warm start is a solve like any other.

use std::ops::{Add, Sub};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// How often an oracle was asked, by how it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SolveCounts {
    /// Solves of the problem itself.
    pub exact: u64,
    /// Solves of its linear relaxation, those for cost ranges included.
    pub relaxed: u64,
    /// Decisions by local search, or by a search that stops after a few nodes.
    pub heuristic: u64,
    /// Projections on the cone of a decision.
    pub projected: u64,
    /// Questions answered with the decision of last time, proved to be still the best without a
    /// solve.
    pub certified: u64,
    /// Questions answered with the best known decision, without a solve.
    pub cache_hits: u64,
}

impl SolveCounts {
    /// Solves of any kind; answers by certificate or from a pool are none.
    pub fn total(&self) -> u64 {
        self.exact + self.relaxed + self.heuristic + self.projected
    }

    /// Questions of any kind.
    pub fn total_calls(&self) -> u64 {
        self.total() + self.certified + self.cache_hits
    }
}

impl Add for SolveCounts {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            exact: self.exact + more.exact,
            relaxed: self.relaxed + more.relaxed,
            heuristic: self.heuristic + more.heuristic,
            projected: self.projected + more.projected,
            certified: self.certified + more.certified,
            cache_hits: self.cache_hits + more.cache_hits,
        }
    }
}

impl Sub for SolveCounts {
    type Output = Self;

    /// What happened since `earlier`.
    fn sub(self, earlier: Self) -> Self {
        Self {
            exact: self.exact - earlier.exact,
            relaxed: self.relaxed - earlier.relaxed,
            heuristic: self.heuristic - earlier.heuristic,
            projected: self.projected - earlier.projected,
            certified: self.certified - earlier.certified,
            cache_hits: self.cache_hits - earlier.cache_hits,
        }
    }
}

/// How a question was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolveKind {
    Exact,
    Relaxed,
    Heuristic,
    Projection,
    Certified,
    CacheHit,
}

/// Counters that all threads share, one per [`Kind`].
#[derive(Debug, Default)]
pub(super) struct SolveCounters {
    by_kind: [AtomicU64; 6],
    work: AtomicU64,
}

impl SolveCounters {
    pub(super) fn count(&self, kind: SolveKind) {
        self.by_kind[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Adds the work of a solve.
    pub(super) fn add_work(&self, work: u64) {
        self.work.fetch_add(work, Ordering::Relaxed);
    }

    /// Work of all solves.
    pub(super) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    pub(super) fn read(&self) -> SolveCounts {
        let count = |kind: SolveKind| self.by_kind[kind as usize].load(Ordering::Relaxed);
        SolveCounts {
            exact: count(SolveKind::Exact),
            relaxed: count(SolveKind::Relaxed),
            heuristic: count(SolveKind::Heuristic),
            projected: count(SolveKind::Projection),
            certified: count(SolveKind::Certified),
            cache_hits: count(SolveKind::CacheHit),
        }
    }
}
