//! Warm start of a linear problem: the optimal basis, or the optimal point as the initial incumbent
//! of a mixed-integer search.
//!
//! After a change of costs the old basis is still primal feasible, so the primal simplex method
//! continues from it. It is also a certificate: if every reduced cost under the new costs has the
//! right sign, the vertex is still optimal. That takes a factorization of the basis, one solve for
//! the duals and one pass over the matrix, and no pivot. A mixed-integer program has such a
//! certificate if its LP relaxation has the same optimum.
//!
//! Which of several optimal vertices is found depends on the path. A warm result is therefore
//! returned only if every nonbasic reduced cost is clearly nonzero, so the vertex is the unique
//! optimum; otherwise the problem is solved cold. A mixed-integer search has no such test: among
//! points whose objectives differ by less than the tolerance of HiGHS it may return the old one.

use std::sync::Arc;

use super::{LinearSolver, SCALED_MAX_COST, relaxed};
use crate::highs::{BasicVariable, Basis, BasisStatus, Lp};
use crate::warm_start::{CostSample, WarmStart, WarmStartState};
use crate::{Solution, SolveFailure, SolveStatus, Solver};
use regretless_base::decision::Decision;

/// Drift of the costs up to which a warm start is used, be it a basis or an incumbent: beyond it
/// the old vertex is no closer to the new optimum than the start of a cold solve. Untuned.
const MAX_DRIFT: f64 = 0.5;

/// Smallest absolute value of a nonzero reduced cost, at scaled costs up to [`SCALED_MAX_COST`];
/// ten times the dual feasibility tolerance of HiGHS.
const REDUCED_COST_TOLERANCE: f64 = 1e-8 * SCALED_MAX_COST;

/// Memory of one entry of a decision: an index of 4 bytes and a value of 8.
const BYTES_PER_ENTRY: usize = 12;

/// The last solution of an instance.
#[derive(Debug)]
pub(super) struct LinearWarmStart {
    sample: CostSample,
    decision: Decision,
    /// Optimal basis of the LP relaxation, if its optimum is this decision.
    basis: Option<Basis>,
    /// All columns, for mixed-integer programs.
    point: Box<[f64]>,
}

impl WarmStartState for LinearWarmStart {
    fn bytes(&self) -> usize {
        let basis = self
            .basis
            .as_ref()
            .map_or(0, |basis| basis.columns.len() + basis.rows.len());
        let decision = BYTES_PER_ENTRY * self.decision.indices().len();
        self.sample.bytes() + decision + basis + size_of_val(&*self.point)
    }
}

impl LinearSolver {
    pub(super) fn solve_from_warm_start(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.work = 0;
        let is_integral = self.is_integral();
        let previous = warm_start
            .take::<LinearWarmStart>()
            .filter(|previous| previous.sample.drift(costs) <= MAX_DRIFT);
        let warm = match &previous {
            Some(previous) if is_integral => self.solve_from_point(costs, &previous.point),
            Some(previous) => previous
                .basis
                .as_ref()
                .and_then(|basis| self.solve_from_basis(costs, basis)),
            None => None,
        };
        let solution = match warm {
            Some(warm) if warm.status != SolveStatus::LimitReached => warm,
            Some(_) | None => self.solve(costs)?,
        };
        let mut state = LinearWarmStart {
            sample: CostSample::new(costs),
            decision: solution.decision.clone(),
            basis: None,
            point: Box::default(),
        };
        if is_integral {
            state.point = self.point.value.as_slice().into();
            // Certificates take an LP solve of their own, so they are collected only where they are
            // used.
            state.basis = if warm_start.collects_certificates() {
                self.relaxed_basis(costs, &state.decision)
            } else {
                None
            };
        } else {
            state.basis = self.lp.as_ref().and_then(Lp::basis);
        }
        warm_start.set(state);
        Ok(solution)
    }

    /// The optimum from an earlier basis, by the primal simplex method without presolve; `None` if
    /// that fails.
    fn solve_from_basis(&mut self, costs: &[f64], basis: &Basis) -> Option<Solution> {
        let mut lp = self.take_solver().ok()?;
        let result = self.warm_solve(&mut lp, costs, basis);
        // Whatever the result, the next cold solve finds HiGHS as it was built.
        let restored = self.configure_cold(&mut lp);
        let solution = result.ok().flatten().filter(|_| restored.is_ok())?;
        self.lp = Some(lp);
        Some(solution)
    }

    fn warm_solve(
        &mut self,
        lp: &mut Lp,
        costs: &[f64],
        basis: &Basis,
    ) -> Result<Option<Solution>, SolveFailure> {
        use crate::highs::{LpStatus, SimplexMethod};
        let scale = self.load(lp, costs)?;
        lp.reset_basis_and_solution()?;
        lp.set_basis(basis)?;
        lp.use_presolve(false)?;
        lp.use_simplex(SimplexMethod::Primal)?;
        let status = lp.solve()?;
        self.count_work(lp);
        if status != LpStatus::Optimal {
            return Ok(None);
        }
        let result = self.read(lp, true, scale)?;
        // Another optimal vertex might be the one that a cold solve finds.
        let is_unique = lp.basis().is_some_and(|basis| {
            self.is_unique_optimum(&basis, &self.point.reduced_cost, &self.point.dual)
        });
        let is_valid = is_unique && self.model.check(&self.point.value).is_ok();
        Ok(is_valid.then(|| self.solution(costs, &result)))
    }

    /// The mixed-integer optimum with a known point as the initial incumbent; `None` if that fails.
    fn solve_from_point(&mut self, costs: &[f64], point: &[f64]) -> Option<Solution> {
        // An incumbent prunes from the start, but does not change which point is optimal.
        self.start = Some(point.into());
        let result = self.solve(costs);
        self.start = None;
        result.ok()
    }

    /// The optimal basis of the LP relaxation, if its optimum is this decision.
    fn relaxed_basis(&mut self, costs: &[f64], decision: &Decision) -> Option<Basis> {
        let relaxation = self.relaxation();
        let relaxed = relaxation.solve(costs).ok()?;
        let basis = relaxation.lp.as_ref().and_then(Lp::basis);
        // The basis proves the decision only if the relaxation has it as its optimum.
        basis.filter(|_| relaxed.decision == *decision)
    }

    /// The solver of the LP relaxation.
    fn relaxation(&mut self) -> &mut Self {
        let (model, predicted, limits) = (&self.model, &self.predicted, self.limits);
        let present = &self.present;
        self.relaxation.get_or_insert_with(|| {
            let relaxation = Self::new(relaxed(model), Arc::clone(predicted), limits);
            Box::new(relaxation.with_present(present.clone()))
        })
    }

    /// The decision of the warm start, if its basis is certified to be optimal under these costs.
    pub(super) fn certify_warm_start(
        &mut self,
        costs: &[f64],
        warm_start: &WarmStart,
    ) -> Option<Solution> {
        self.work = 0;
        let previous = warm_start.get::<LinearWarmStart>()?;
        let basis = previous
            .basis
            .as_ref()
            .filter(|_| previous.sample.drift(costs) <= MAX_DRIFT)?;
        let solver = if self.is_integral() {
            self.relaxation()
        } else {
            self
        };
        if !solver.stays_optimal(costs, basis).unwrap_or(false) {
            return None;
        }
        let decision = previous.decision.clone();
        let objective = decision.dot(costs);
        Some(Solution::optimal(decision, objective))
    }

    /// Whether the vertex of a feasible basis is the unique optimum.
    fn stays_optimal(&mut self, costs: &[f64], basis: &Basis) -> Result<bool, SolveFailure> {
        self.scale_costs(costs);
        let mut lp = self.take_solver()?;
        lp.reset_basis_and_solution()?;
        lp.set_basis(basis)?;
        // Reduced costs from the basis: no simplex iteration is needed to see that it stays
        // optimal.
        let basics = lp.basic_variables()?;
        let cost = |basic: &BasicVariable| match basic {
            BasicVariable::Column(column) => self.costs[*column],
            BasicVariable::Row(_) => 0.0,
        };
        let costs: Vec<f64> = basics.iter().map(cost).collect();
        let mut duals = Vec::new();
        lp.duals(&costs, &mut duals)?;
        self.lp = Some(lp);
        let mut reduced = self.costs.clone();
        for (row, dual) in duals.iter().enumerate() {
            // Basic rows have no dual.
            if *dual != 0.0 {
                for (column, entry) in self.model.rows.entries(row) {
                    reduced[column] -= dual * entry;
                }
            }
        }
        Ok(self.is_unique_optimum(basis, &reduced, &duals))
    }

    /// Whether every edge out of a vertex has a positive cost, given reduced costs and duals of its
    /// basis.
    fn is_unique_optimum(&self, basis: &Basis, reduced: &[f64], duals: &[f64]) -> bool {
        let columns = basis.columns.iter().zip(reduced);
        let rows = basis.rows.iter().zip(duals);
        columns
            .zip(&self.model.column_bounds)
            .all(|((status, cost), bounds)| is_uniquely_at_bound(*status, *cost, *bounds))
            && rows
                .zip(&self.model.row_bounds)
                .all(|((status, dual), bounds)| is_uniquely_at_bound(*status, *dual, *bounds))
    }
}

/// Whether a variable cannot leave its bound without a cost.
fn is_uniquely_at_bound(status: BasisStatus, reduced: f64, [lower, upper]: [f64; 2]) -> bool {
    match status {
        BasisStatus::Basic => true,
        // A fixed variable cannot leave its bounds.
        BasisStatus::Lower => reduced > REDUCED_COST_TOLERANCE || lower == upper,
        BasisStatus::Upper => reduced < -REDUCED_COST_TOLERANCE || lower == upper,
        BasisStatus::Zero | BasisStatus::Nonbasic => lower == upper,
    }
}
