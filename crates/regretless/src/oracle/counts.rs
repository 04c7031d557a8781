//! Solves by kind: the one place where they are counted.

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
    /// Projections on the cone of a decision.
    pub projected: u64,
    /// Questions answered with the best known decision, without a solve.
    pub pooled: u64,
}

impl SolveCounts {
    /// Solves of any kind; answers from a pool are none.
    pub fn total(&self) -> u64 {
        self.exact + self.relaxed + self.projected
    }
}

impl Add for SolveCounts {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            exact: self.exact + more.exact,
            relaxed: self.relaxed + more.relaxed,
            projected: self.projected + more.projected,
            pooled: self.pooled + more.pooled,
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
            projected: self.projected - earlier.projected,
            pooled: self.pooled - earlier.pooled,
        }
    }
}

/// Counters that all threads share.
#[derive(Debug, Default)]
pub(super) struct Counters {
    exact: AtomicU64,
    relaxed: AtomicU64,
    projected: AtomicU64,
    pooled: AtomicU64,
}

impl Counters {
    pub(super) fn exact(&self) {
        self.exact.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn relaxed(&self) {
        self.relaxed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn projected(&self) {
        self.projected.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn pooled(&self) {
        self.pooled.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> SolveCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SolveCounts {
            exact: count(&self.exact),
            relaxed: count(&self.relaxed),
            projected: count(&self.projected),
            pooled: count(&self.pooled),
        }
    }
}
