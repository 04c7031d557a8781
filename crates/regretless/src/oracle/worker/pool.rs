//! Decisions of the solution pool: which are usable for a row, and the cheapest of them.

use std::borrow::Cow;

use super::super::SolutionPool;
use super::super::counts::SolveKind;
use super::OracleWorker;
use crate::decision::Decision;
use crate::error::Result;
use crate::solve::{SolveFailure, SolveStatus};

/// Fewest decisions of a pool that are feasible for a row: with one, which is usually the row's
/// label, there is nothing to compare it with.
const MIN_FEASIBLE_DECISIONS: usize = 2;

impl<'a> OracleWorker<'a> {
    /// The decisions of the pool; empty without a pool.
    pub fn pool_decisions(&self) -> &'a [Decision] {
        self.context.pool.map_or(&[], SolutionPool::decisions)
    }

    /// The decisions of the pool that are usable in the current row. With fewer than two of them,
    /// the row is solved for these costs, so there is something to compare with.
    ///
    /// # Errors
    /// When that solve fails.
    pub(crate) fn feasible_pool(
        &mut self,
        costs: &[f64],
    ) -> Result<Cow<'a, [Decision]>, SolveFailure> {
        let pool = self.pool_decisions();
        if !self.oracle.has_row_problems() {
            return Ok(Cow::Borrowed(pool));
        }
        let mut feasible: Vec<Decision> = pool
            .iter()
            .filter(|decision| self.is_usable(decision))
            .cloned()
            .collect();
        if feasible.len() < MIN_FEASIBLE_DECISIONS {
            self.oracle.counters.count(SolveKind::UnpooledRow);
            self.solve_uncached(costs, None)?;
            // The pool may lack the row's optimal decision, or have it already.
            if !feasible.contains(&self.solution.decision) {
                feasible.push(self.solution.decision.clone());
            }
            // Other rows can use it too.
            self.solved.push(self.solution.decision.clone());
        }
        Ok(Cow::Owned(feasible))
    }

    /// Whether a decision of another row can be compared in the current one: it is feasible, and
    /// its cost is known. If decisions have known costs of their own, these may differ per row.
    fn is_usable(&self, decision: &Decision) -> bool {
        self.row.has_comparable_pool
            && matches!(&self.row.problem, Some(Ok(problem)) if problem.check(decision).is_ok())
    }

    /// The cheapest decision of the pool that is usable in the current row; false if rows have
    /// their own problems and fewer than two decisions are usable.
    pub(super) fn lookup(&mut self, costs: &[f64]) -> Result<bool, SolveFailure> {
        let Some(pool) = self.context.pool else {
            return Err(SolveFailure::EmptySolutionPool);
        };
        let cheapest = if self.oracle.has_row_problems() {
            let mut count = 0;
            let cheapest = pool.cheapest_of(costs, |decision| {
                let is_usable = self.is_usable(decision);
                count += usize::from(is_usable);
                is_usable
            });
            // Too few to compare: the caller solves the row instead.
            if count < MIN_FEASIBLE_DECISIONS {
                self.oracle.counters.count(SolveKind::UnpooledRow);
                return Ok(false);
            }
            cheapest
        } else {
            pool.cheapest(costs)
        };
        self.oracle.counters.count(SolveKind::CacheHit);
        let (cheapest, objective) = cheapest.ok_or(SolveFailure::EmptySolutionPool)?;
        self.solution.decision.clone_from(cheapest);
        // The bound of a decision that was looked up is unknown.
        self.solution.objective = objective;
        self.solution.bound = f64::NEG_INFINITY;
        self.solution.status = SolveStatus::LimitReached;
        Ok(true)
    }
}
