//! What is kept of a linear problem: the optimal basis, or the point as a start for a search over
//! whole numbers.
//!
//! After a change of costs the old basis is still primal feasible, so that the primal simplex
//! method goes on from it. It also is a certificate: if every reduced cost under the new costs has
//! the right sign, the vertex is optimal still. That takes a factor of the basis, one solve for the
//! duals and one pass over the matrix, and no pivot. A problem over whole numbers has such a
//! certificate where its linear relaxation has the same optimum.
//!
//! Which of several optimal vertices is found depends on the way. An answer is therefore given from
//! memory only if every reduced cost out of the basis is plainly not zero, so that the vertex is
//! the only one; otherwise the problem is solved from nothing. A search over whole numbers has no
//! such test: of points whose costs differ by less than HiGHS's tolerance the old one may win.

use std::sync::Arc;

use super::{LinearSolver, SCALED_MAX_COST};
use crate::decision::Decision;
use crate::solve::highs::{BasicVariable, Basis, BasisStatus, LinearModel, Lp};
use crate::solve::warm_start::{CostSample, WarmStart, WarmStartState};
use crate::solve::{Solution, SolveFailure, SolveStatus, Solver};

/// Drift up to which a linear solve starts from the old basis, and a search from the old point.
pub(super) const MAX_DRIFT: [f64; 2] = [0.5, 0.5];

/// How far a reduced cost must be from zero, next to a greatest cost of [`SCALED_MAX_COST`]; ten times
/// what HiGHS lets pass.
const REDUCED_COST_TOLERANCE: f64 = 1e-8 * SCALED_MAX_COST;

/// What was found last.
#[derive(Debug)]
pub(super) struct LinearWarmStart {
    sample: CostSample,
    decision: Decision,
    /// Of the relaxation, if it has this decision as its optimum.
    basis: Option<Basis>,
    /// The whole point, where whole numbers are searched for.
    point: Box<[f64]>,
}

impl WarmStartState for LinearWarmStart {
    fn bytes(&self) -> usize {
        let basis = self
            .basis
            .as_ref()
            .map_or(0, |basis| basis.columns.len() + basis.rows.len());
        self.sample.bytes() + 12 * self.decision.indices().len() + basis + size_of_val(&*self.point)
    }
}

impl LinearSolver {
    pub(super) fn solve_from_warm_start(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.work = 0;
        let whole = self.is_integral();
        let near =
            |known: &LinearWarmStart| known.sample.drift(costs) <= MAX_DRIFT[usize::from(whole)];
        let known = warm_start
            .take::<LinearWarmStart>()
            .filter(|known| near(known));
        let warm = match &known {
            Some(known) if whole => self.solve_from_point(costs, &known.point),
            Some(known) => known
                .basis
                .as_ref()
                .and_then(|basis| self.solve_from_basis(costs, basis)),
            None => None,
        };
        let finished = warm.filter(|warm| warm.status != SolveStatus::LimitReached);
        let solution = finished.map_or_else(|| self.solve(costs), Ok)?;
        let (sample, decision) = (CostSample::of(costs), solution.decision.clone());
        let mut found = LinearWarmStart {
            sample,
            decision,
            basis: None,
            point: Box::default(),
        };
        if whole {
            found.point = self.point.value.as_slice().into();
            found.basis = if warm_start.wants_proof() {
                self.relaxed_basis(costs, &found.decision)
            } else {
                None
            };
        } else {
            found.basis = self.lp.as_ref().and_then(Lp::basis);
        }
        warm_start.set(found);
        Ok(solution)
    }

    /// The optimum from an earlier basis, by the primal simplex method without presolve; nothing if
    /// that fails.
    fn solve_from_basis(&mut self, costs: &[f64], basis: &Basis) -> Option<Solution> {
        let mut lp = self.take_solver().ok()?;
        let answer = self.warm_solve(&mut lp, costs, basis);
        let back = self.configure_cold(&mut lp);
        let solution = answer.ok().flatten().filter(|_| back.is_ok())?;
        self.lp = Some(lp);
        Some(solution)
    }

    fn warm_solve(
        &mut self,
        lp: &mut Lp,
        costs: &[f64],
        basis: &Basis,
    ) -> Result<Option<Solution>, SolveFailure> {
        use crate::solve::highs::{LpStatus, SimplexMethod};
        let scale = self.load(lp, costs)?;
        lp.reset_basis_and_solution()?;
        lp.set_basis(basis)?;
        lp.use_presolve(false)?;
        lp.use_simplex(SimplexMethod::Primal)?;
        let outcome = lp.solve()?;
        self.count_work(lp);
        if outcome != LpStatus::Optimal {
            return Ok(None);
        }
        let found = self.read(lp, true, scale)?;
        let unique = lp.basis().is_some_and(|basis| {
            self.is_unique_optimum(&basis, &self.point.reduced_cost, &self.point.dual)
        });
        let sound = unique && self.model.check(&self.point.value).is_ok();
        Ok(sound.then(|| self.solution(costs, &found)))
    }

    /// The optimum over whole numbers, from a known point; nothing if that fails.
    fn solve_from_point(&mut self, costs: &[f64], point: &[f64]) -> Option<Solution> {
        self.start = Some(point.into());
        let answer = self.solve(costs);
        self.start = None;
        answer.ok()
    }

    /// The basis of the linear relaxation, if its optimum is this decision.
    fn relaxed_basis(&mut self, costs: &[f64], decision: &Decision) -> Option<Basis> {
        let relaxation = self.relaxation();
        let relaxed = relaxation.solve(costs).ok()?;
        let basis = relaxation.lp.as_ref().and_then(Lp::basis);
        basis.filter(|_| relaxed.decision == *decision)
    }

    /// The same problem without whole numbers.
    fn relaxation(&mut self) -> &mut Self {
        let (model, predicted, limits) = (&self.model, &self.predicted, self.limits);
        self.relaxation.get_or_insert_with(|| {
            let mut relaxed = LinearModel::clone(model);
            relaxed.integer.fill(false);
            Box::new(Self::new(Arc::new(relaxed), Arc::clone(predicted), limits))
        })
    }

    /// The decision in memory, if its basis is optimal under these costs as well.
    pub(super) fn certify_warm_start(
        &mut self,
        costs: &[f64],
        warm_start: &WarmStart,
    ) -> Option<Solution> {
        self.work = 0;
        let known = warm_start.get::<LinearWarmStart>()?;
        let basis = known
            .basis
            .as_ref()
            .filter(|_| known.sample.drift(costs) <= MAX_DRIFT[0])?;
        let solver = if self.is_integral() {
            self.relaxation()
        } else {
            self
        };
        let stays = solver.stays_optimal(costs, basis).unwrap_or(false);
        stays.then(|| Solution::optimal(known.decision.clone(), known.decision.dot(costs)))
    }

    /// Whether a basis is optimal, and no other vertex is, given that it is feasible.
    fn stays_optimal(&mut self, costs: &[f64], basis: &Basis) -> Result<bool, SolveFailure> {
        self.scale_costs(costs);
        let mut lp = self.take_solver()?;
        lp.reset_basis_and_solution()?;
        lp.set_basis(basis)?;
        let members = lp.basic_variables()?;
        let cost = |member: &BasicVariable| match member {
            BasicVariable::Column(column) => self.costs[*column],
            BasicVariable::Row(_) => 0.0,
        };
        let costs: Vec<f64> = members.iter().map(cost).collect();
        let mut duals = Vec::new();
        lp.duals(&costs, &mut duals)?;
        self.lp = Some(lp);
        let mut reduced = self.costs.clone();
        for (row, dual) in duals.iter().enumerate().filter(|(_, dual)| **dual != 0.0) {
            self.model
                .rows
                .entries(row)
                .for_each(|(column, entry)| reduced[column] -= dual * entry);
        }
        Ok(self.is_unique_optimum(basis, &reduced, &duals))
    }

    /// Whether every way out of a vertex costs something, given reduced costs and duals of its
    /// basis.
    fn is_unique_optimum(&self, basis: &Basis, reduced: &[f64], duals: &[f64]) -> bool {
        let dear =
            |((status, slope), [lower, upper]): ((&BasisStatus, &f64), &[f64; 2])| match status {
                BasisStatus::Basic => true,
                BasisStatus::Lower => *slope > REDUCED_COST_TOLERANCE || lower == upper,
                BasisStatus::Upper => *slope < -REDUCED_COST_TOLERANCE || lower == upper,
                BasisStatus::Zero | BasisStatus::Nonbasic => lower == upper,
            };
        basis
            .columns
            .iter()
            .zip(reduced)
            .zip(&self.model.column_bounds)
            .all(dear)
            && basis
                .rows
                .iter()
                .zip(duals)
                .zip(&self.model.row_bounds)
                .all(dear)
    }
}
