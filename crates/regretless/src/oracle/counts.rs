//! Counters of solver calls by kind: the one place where they are counted.
//!
//! Each solver call is counted once, by the kind of its result. A warm-started solve counts as a
//! solve.

use std::ops::{Add, Sub};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// Numbers of solver calls, by the kind of their result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SolveCounts {
    /// Solves of the problem itself.
    pub exact: u64,
    /// Solves of its linear relaxation, those for cost ranges included.
    pub relaxed: u64,
    /// Solves by local search, or by branch and bound with a node limit.
    pub heuristic: u64,
    /// Projections onto the normal cone of a decision.
    pub projected: u64,
    /// Solver calls that returned the instance's previous decision, which was certified to be still
    /// optimal, without a solve.
    pub certified: u64,
    /// Solver calls that returned the cheapest decision of the solution pool, without a solve.
    pub cache_hits: u64,
    /// Solver calls, counted above as well, that were solved because fewer than two decisions of
    /// the solution pool were feasible for the row, with known costs that hold for it.
    #[serde(default)]
    pub unpooled_rows: u64,
}

impl SolveCounts {
    /// Solves of any kind, without certified decisions and cache hits.
    pub fn total(&self) -> u64 {
        self.exact + self.relaxed + self.heuristic + self.projected
    }

    /// Solver calls of any kind.
    pub fn total_calls(&self) -> u64 {
        self.total() + self.certified + self.cache_hits
    }
}

impl Add for SolveCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            exact: self.exact + other.exact,
            relaxed: self.relaxed + other.relaxed,
            heuristic: self.heuristic + other.heuristic,
            projected: self.projected + other.projected,
            certified: self.certified + other.certified,
            cache_hits: self.cache_hits + other.cache_hits,
            unpooled_rows: self.unpooled_rows + other.unpooled_rows,
        }
    }
}

impl Sub for SolveCounts {
    type Output = Self;

    /// The solver calls since `earlier`.
    fn sub(self, earlier: Self) -> Self {
        Self {
            exact: self.exact - earlier.exact,
            relaxed: self.relaxed - earlier.relaxed,
            heuristic: self.heuristic - earlier.heuristic,
            projected: self.projected - earlier.projected,
            certified: self.certified - earlier.certified,
            cache_hits: self.cache_hits - earlier.cache_hits,
            unpooled_rows: self.unpooled_rows - earlier.unpooled_rows,
        }
    }
}

/// The kind of result of a solver call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolveKind {
    Exact,
    Relaxed,
    Heuristic,
    Projection,
    Certified,
    CacheHit,
    /// Counted in addition to the solve.
    UnpooledRow,
}

/// Counters shared by all threads, one per [`SolveKind`].
#[derive(Debug, Default)]
pub(super) struct SolveCounters {
    exact: AtomicU64,
    relaxed: AtomicU64,
    heuristic: AtomicU64,
    projected: AtomicU64,
    certified: AtomicU64,
    cache_hits: AtomicU64,
    unpooled_rows: AtomicU64,
    work: AtomicU64,
}

impl SolveCounters {
    pub(super) fn count(&self, kind: SolveKind) {
        let counter = match kind {
            SolveKind::Exact => &self.exact,
            SolveKind::Relaxed => &self.relaxed,
            SolveKind::Heuristic => &self.heuristic,
            SolveKind::Projection => &self.projected,
            SolveKind::Certified => &self.certified,
            SolveKind::CacheHit => &self.cache_hits,
            SolveKind::UnpooledRow => &self.unpooled_rows,
        };
        // Relaxed: the counters order nothing, and are read when the threads have ended.
        counter.fetch_add(1, Ordering::Relaxed);
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
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SolveCounts {
            exact: count(&self.exact),
            relaxed: count(&self.relaxed),
            heuristic: count(&self.heuristic),
            projected: count(&self.projected),
            certified: count(&self.certified),
            cache_hits: count(&self.cache_hits),
            unpooled_rows: count(&self.unpooled_rows),
        }
    }
}
