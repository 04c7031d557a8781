//! Solvers of the smaller problem with the numbers of the full one.

use std::sync::Arc;

use crate::decision::Decision;
use crate::solve::relaxation::{
    AdjacentVertices, CostRanges, CostRanging, RelaxationSolver, VertexDelta,
};
use crate::solve::warm_start::WarmStart;
use crate::solve::{Solution, SolveFailure, Solver};

/// A decision of the full problem in the smaller one; `None` if it chooses something absent.
pub(super) fn to_smaller(decision: &Decision, indices: &[u32]) -> Option<Decision> {
    let mut entries = Vec::with_capacity(decision.indices().len());
    for (index, value) in decision.iter() {
        // The indices increase, so the smaller number of a cost is its position among them.
        let smaller = indices.binary_search(&(index as u32)).ok()?;
        entries.push((smaller as u32, value));
    }
    Some(Decision::from_entries(entries).with_fixed(decision.fixed()))
}

/// A solver of the smaller problem as one of the full problem.
pub(super) struct Renumbered<S> {
    inner: S,
    /// Number of costs of the full problem.
    num_costs: usize,
    indices: Arc<[u32]>,
    /// The costs of the smaller problem.
    costs: Vec<f64>,
}

impl<S> Renumbered<S> {
    /// `indices` are the costs of the smaller problem as numbers of those of the full one, of which
    /// there are `num_costs`.
    pub fn new(inner: S, num_costs: usize, indices: &Arc<[u32]>) -> Self {
        Self {
            inner,
            num_costs,
            indices: Arc::clone(indices),
            costs: Vec::with_capacity(indices.len()),
        }
    }

    /// Reads the costs of the smaller problem.
    fn read(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        let (found, expected) = (costs.len(), self.num_costs);
        if found != expected {
            return Err(SolveFailure::SolverError(format!(
                "found {found} costs; the problem has {expected}"
            )));
        }
        self.costs.clear();
        let present = self.indices.iter().map(|index| costs[*index as usize]);
        self.costs.extend(present);
        Ok(())
    }

    fn to_full(&self, mut solution: Solution) -> Solution {
        solution.decision.renumber(&self.indices);
        solution
    }
}

impl Solver for Renumbered<Box<dyn Solver>> {
    fn nodes(&self) -> Option<u64> {
        self.inner.nodes()
    }

    fn work(&self) -> Option<u64> {
        self.inner.work()
    }

    fn auxiliary_values(&self) -> Vec<f64> {
        self.inner.auxiliary_values()
    }

    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.solve(&self.costs)?;
        Ok(self.to_full(solution))
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.solve_warm(&self.costs, warm_start)?;
        Ok(self.to_full(solution))
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.read(costs).ok()?;
        let solution = self.inner.certify(&self.costs, warm_start)?;
        Some(self.to_full(solution))
    }

    /// A start that chooses something absent is no decision and is ignored.
    fn solve_from(&mut self, costs: &[f64], start: &Decision) -> Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = match to_smaller(start, &self.indices) {
            Some(start) => self.inner.solve_from(&self.costs, &start)?,
            None => self.inner.solve(&self.costs)?,
        };
        Ok(self.to_full(solution))
    }

    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        self.read(costs)?;
        self.inner.solve_into(&self.costs, solution)?;
        solution.decision.renumber(&self.indices);
        Ok(())
    }
}

impl RelaxationSolver for Renumbered<Box<dyn RelaxationSolver>> {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.relax(&self.costs)?;
        Ok(self.to_full(solution))
    }

    fn work(&self) -> Option<u64> {
        self.inner.work()
    }

    fn relax_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.relax_warm(&self.costs, warm_start)?;
        Ok(self.to_full(solution))
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.read(costs).ok()?;
        let solution = self.inner.certify(&self.costs, warm_start)?;
        Some(self.to_full(solution))
    }
}

impl CostRanging for Renumbered<Box<dyn CostRanging>> {
    /// Absent costs may change without limit.
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.read(costs)?;
        let smaller = self.inner.ranges(&self.costs)?;
        let mut ranges = CostRanges::unbounded(self.num_costs);
        for (position, index) in self.indices.iter().enumerate() {
            ranges.lower[*index as usize] = smaller.lower[position];
            ranges.upper[*index as usize] = smaller.upper[position];
        }
        Ok(ranges)
    }
}

impl AdjacentVertices for Renumbered<Box<dyn AdjacentVertices>> {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        self.read(costs)?;
        let (solution, mut deltas) = self.inner.adjacent_vertices(&self.costs)?;
        for delta in &mut deltas {
            delta.renumber(&self.indices);
        }
        Ok((self.to_full(solution), deltas))
    }
}
