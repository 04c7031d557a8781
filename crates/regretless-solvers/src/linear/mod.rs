//! Linear and mixed-integer programs, solved by HiGHS.
//!
//! Predicted costs replace the objective of some columns; the others keep theirs, and their cost is
//! part of the decision's fixed cost. Every solve is a cold start, so a solution depends on the
//! costs only, unless a warm start is used (`warm_start`). Costs are scaled by a power of two
//! before HiGHS reads them: its tolerances are absolute, and a decision must not change because all
//! costs are halved. Values that are integral up to tolerance are rounded, and the complete point,
//! columns without predicted costs included, is checked against every row before it is returned.
//!
//! [`LinearRelaxation`] solves the LP relaxation with sensitivity analysis. Small mixed-integer
//! programs are first searched by branch and bound on a dense tableau (`dense_mip`), with or
//! without a warm start and whatever the node limit: it takes some tens of milliseconds at most,
//! less than the root node of HiGHS on many models. A node limit counts the nodes of HiGHS. HiGHS
//! solves small models without presolve, and all searches without the feasibility-jump heuristic:
//! on a knapsack of 32 items each took longer than the search itself, as did the sub-MIP
//! heuristics, symmetry detection and cuts below the root.

mod dense_mip;
mod relaxation;
mod warm_start;

pub use relaxation::LinearRelaxation;

use std::sync::Arc;

use self::dense_mip::{DenseMip, SearchRequest};
use super::highs::{LinearModel, Lp, LpStatus, PrimalDualPoint, SimplexMethod};
use super::warm_start::WarmStart;
use super::{SearchLimits, Solution, SolveFailure, Solver};

mod model_changes;
mod point;
mod work;

/// Integrality tolerance of HiGHS, its default.
const MIP_FEASIBILITY_TOLERANCE: f64 = 1e-6;
/// Integrality tolerance for models with large coefficients: 1e-9 times a coefficient of 1e6 is
/// still below the feasibility tolerance of a row.
const TIGHT_MIP_FEASIBILITY_TOLERANCE: f64 = 1e-9;

/// Upper bound of the scaled costs. Large enough for the absolute tolerances of HiGHS (1e-7) to
/// resolve small cost differences; otherwise untuned.
const SCALED_MAX_COST: f64 = 128.0;
/// Largest absolute exponent of the scale, well within the range of `f64`.
const MAX_SCALE_EXPONENT: f64 = 900.0;

/// The result of a search by HiGHS or on the dense tableau.
#[derive(Debug)]
struct LinearSearchResult {
    /// Whether it ended before a limit.
    is_complete: bool,
    /// Dual bound.
    bound: f64,
    /// Scale of the costs.
    scale: f64,
}

/// Solver of a model in which some columns have predicted costs.
#[derive(Debug)]
pub struct LinearSolver {
    model: Arc<LinearModel>,
    /// The column of each predicted cost.
    predicted: Arc<[usize]>,
    /// Which predicted costs exist, if not all do; the others count as 0.
    present: Option<Arc<[bool]>>,
    limits: SearchLimits,
    /// Built at the first solve that needs it, so constructing a solver cannot fail.
    lp: Option<Lp>,
    /// Present if the model is small enough.
    dense: Option<DenseMip>,
    costs: Vec<f64>,
    /// Scale of the costs of the last solve.
    scale: f64,
    point: PrimalDualPoint,
    /// Initial incumbent of the next mixed-integer search.
    start: Option<Box<[f64]>>,
    /// Solver of the LP relaxation, built for the first certificate.
    relaxation: Option<Box<Self>>,
    /// Nodes of the last mixed-integer search.
    nodes: Option<u64>,
    /// Work of the last solve in nanoseconds.
    work: u64,
}

impl LinearSolver {
    /// A solver for a model to be minimized; cost `j` of a solve is that of column `predicted[j]`,
    /// whose cost in the model is 0.
    pub fn new(model: Arc<LinearModel>, predicted: Arc<[usize]>, limits: SearchLimits) -> Self {
        // Small models have a dense search of their own, which needs no HiGHS.
        let dense = DenseMip::from_model(&model);
        Self {
            model,
            predicted,
            present: None,
            limits,
            lp: None,
            dense,
            costs: Vec::new(),
            scale: 1.0,
            point: PrimalDualPoint::default(),
            start: None,
            relaxation: None,
            nodes: None,
            work: 0,
        }
    }

    /// The same solver for a problem in which some predicted costs do not exist: whatever stands in
    /// their place has no effect. Their columns are fixed to 0 in the model.
    #[must_use]
    pub fn with_present(mut self, present: Option<Arc<[bool]>>) -> Self {
        self.present = present;
        self
    }

    /// The same solver, which uses HiGHS only.
    #[must_use]
    pub fn without_dense_search(mut self) -> Self {
        self.dense = None;
        self
    }

    /// Sets the objective in HiGHS; returns the scale.
    fn load(&mut self, lp: &mut Lp, costs: &[f64]) -> Result<f64, SolveFailure> {
        let scale = self.scale_costs(costs);
        lp.set_costs(0, &self.costs)?;
        lp.set_objective(false, self.model.offset * scale)?;
        Ok(scale)
    }

    /// Writes the scaled costs of all columns; returns the scale.
    fn scale_costs(&mut self, costs: &[f64]) -> f64 {
        self.costs.clear();
        self.costs.extend_from_slice(&self.model.cost);
        for (column, cost) in self.predicted.iter().zip(costs) {
            self.costs[*column] = *cost;
        }
        for (column, present) in self
            .predicted
            .iter()
            .zip(self.present.iter().flat_map(|p| &**p))
        {
            // Absent costs may be any number; their columns are fixed at 0, but the scale must not
            // see them.
            if !present {
                self.costs[*column] = 0.0;
            }
        }
        let scale = cost_scale(&self.costs);
        for cost in &mut self.costs {
            *cost *= scale;
        }
        self.scale = scale;
        scale
    }

    /// Searches on the dense tableau; `None` when the model is too large or the search is
    /// abandoned.
    fn search_dense(&mut self, costs: &[f64]) -> Option<Solution> {
        let mut dense = self.dense.take()?;
        let scale = self.scale_costs(costs);
        let request = SearchRequest {
            costs: &self.costs,
            objective_offset: self.model.offset * scale,
            relative_gap_tolerance: self.limits.gap,
            scale,
        };
        let proof = dense.search(&request, &mut self.point.value);
        self.work += dense.work();
        self.dense = Some(dense);
        let proof = proof?;
        self.round_point();
        // The dense search has tolerances of its own: HiGHS solves again what its point violates.
        self.model.check(&self.point.value).ok()?;
        self.nodes = Some(proof.nodes);
        Some(self.solution(
            costs,
            &LinearSearchResult {
                is_complete: proof.is_complete,
                bound: proof.bound / scale,
                scale,
            },
        ))
    }

    /// Solves from a cold start and stores the rounded point; returns the unscaled dual bound.
    fn search(&mut self, lp: &mut Lp, scale: f64) -> Result<LinearSearchResult, SolveFailure> {
        // Without a reset HiGHS would start from the last basis, and ties would depend on the order
        // of the rows.
        lp.reset_basis_and_solution()?;
        if let Some(start) = self.start.take() {
            lp.set_start(&start)?;
        }
        let solved = lp.solve();
        self.count_work(lp);
        let status = match solved {
            // A search that is stopped ends as one at its node limit.
            Err(SolveFailure::Interrupted) if self.is_integral() && lp.has_point() => {
                LpStatus::NodeLimit
            }
            solved => solved?,
        };
        match status {
            // A point without proof is a result too, with its bound.
            LpStatus::Optimal => {}
            LpStatus::NodeLimit | LpStatus::IterationLimit | LpStatus::ObjectiveBound
                if lp.has_point() => {}
            LpStatus::NodeLimit | LpStatus::IterationLimit | LpStatus::ObjectiveBound => {
                return Err(SolveFailure::LimitReached { nodes: lp.nodes()? });
            }
            LpStatus::Infeasible => return Err(SolveFailure::Infeasible),
            LpStatus::Unbounded => return Err(SolveFailure::Unbounded),
            LpStatus::UnboundedOrInfeasible => return Err(self.classify_failure(lp)?),
        }
        self.read(lp, status == LpStatus::Optimal, scale)
    }

    /// A column that is integral up to 1e-6 may change a row by 1 unit through a coefficient of
    /// 1e6, and rounding it then violates the row. The search is repeated with a tight tolerance;
    /// if that does not help, the continuous columns are solved again with the integer columns
    /// fixed.
    fn search_with_tight_integrality(
        &mut self,
        lp: &mut Lp,
        scale: f64,
    ) -> Result<LinearSearchResult, SolveFailure> {
        lp.set_option(
            c"mip_feasibility_tolerance",
            TIGHT_MIP_FEASIBILITY_TOLERANCE,
        )?;
        // The option is restored whatever the search returned, since HiGHS is kept.
        let result = self.search(lp, scale);
        lp.set_option(c"mip_feasibility_tolerance", MIP_FEASIBILITY_TOLERANCE)?;
        let result = result?;
        if self.model.check(&self.point.value).is_err() {
            self.polish(lp, scale)?;
        }
        Ok(result)
    }

    /// Solves for the continuous columns with the integer columns fixed at their rounded values.
    fn polish(&mut self, lp: &mut Lp, scale: f64) -> Result<(), SolveFailure> {
        let model = Arc::clone(&self.model);
        let integer: Vec<usize> = (0..model.integer.len())
            .filter(|column| model.integer[*column])
            .collect();
        for column in &integer {
            lp.set_column_bounds(*column, [self.point.value[*column]; 2])?;
        }
        // The bounds are restored before the result is looked at.
        let result = self.search(lp, scale);
        for column in &integer {
            lp.set_column_bounds(*column, model.column_bounds[*column])?;
        }
        result.map_err(|failure| {
            let message = match failure {
                SolveFailure::InvalidSolution(message) => message,
                other => other.to_string(),
            };
            SolveFailure::InvalidSolution(format!("with rounded integer columns: {message}"))
        })?;
        self.model
            .check(&self.point.value)
            .map_err(SolveFailure::InvalidSolution)
    }

    fn solve_with(&mut self, lp: &mut Lp, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let scale = self.load(lp, costs)?;
        let mut result = self.search(lp, scale)?;
        match self.model.check(&self.point.value) {
            Ok(()) => {}
            // Only rounding integer columns can make a point of HiGHS infeasible by this much.
            Err(_) if self.is_integral() => {
                result = self.search_with_tight_integrality(lp, scale)?;
            }
            Err(message) => return Err(SolveFailure::InvalidSolution(message)),
        }
        Ok(self.solution(costs, &result))
    }

    /// The dual simplex method, HiGHS's default, sometimes fails on models that are unbounded along
    /// a direction with a small cost; the primal one detects unboundedness.
    fn solve_by_primal(&mut self, lp: &mut Lp, costs: &[f64]) -> Result<Solution, SolveFailure> {
        lp.use_simplex(SimplexMethod::Primal)?;
        let result = self.solve_with(lp, costs);
        lp.use_simplex(SimplexMethod::Dual)?;
        result
    }

    fn is_integral(&self) -> bool {
        self.model.integer.contains(&true)
    }

    /// Solves without costs: a model that is not infeasible is then solvable.
    fn classify_failure(&mut self, lp: &mut Lp) -> Result<SolveFailure, SolveFailure> {
        self.costs.fill(0.0);
        lp.reset_basis_and_solution()?;
        lp.set_costs(0, &self.costs)?;
        // Infeasible models stay so without costs.
        Ok(if lp.solve()? == LpStatus::Optimal {
            SolveFailure::Unbounded
        } else {
            SolveFailure::Infeasible
        })
    }
}

impl Solver for LinearSolver {
    fn nodes(&self) -> Option<u64> {
        self.nodes
    }

    fn work(&self) -> Option<u64> {
        Some(self.work)
    }

    fn auxiliary_values(&self) -> Vec<f64> {
        let mut is_predicted = vec![false; self.point.value.len()];
        for column in self.predicted.iter() {
            is_predicted[*column] = true;
        }
        let values = self.point.value.iter().zip(is_predicted);
        values
            .filter(|(_, is_predicted)| !is_predicted)
            .map(|(value, _)| *value)
            .collect()
    }

    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.nodes = None;
        self.work = 0;
        if let Some(solution) = self.search_dense(costs) {
            return Ok(solution);
        }
        let mut lp = self.take_solver()?;
        let mut result = self.solve_with(&mut lp, costs);
        // The dual simplex method has failed: a new instance tries the primal one.
        if matches!(result, Err(SolveFailure::SolverError(_))) && !self.is_integral() {
            lp = Self::build(&self.model, &self.limits)?;
            result = self.solve_by_primal(&mut lp, costs);
        }
        // After a failure HiGHS may be in any state; the next solve builds a new instance.
        self.lp = result.is_ok().then_some(lp);
        result
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        // A search that may stop early depends on its incumbent: it always starts cold.
        if self.is_integral() && self.limits.may_stop_early() {
            self.solve(costs)
        } else {
            self.solve_from_warm_start(costs, warm_start)
        }
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.certify_warm_start(costs, warm_start)
    }
}

/// The LP relaxation of a model.
fn relaxed(model: &LinearModel) -> Arc<LinearModel> {
    let mut relaxed = model.clone();
    relaxed.integer.fill(false);
    Arc::new(relaxed)
}

/// The power of two that scales the largest absolute cost to between half of [`SCALED_MAX_COST`]
/// and the full value.
fn cost_scale(costs: &[f64]) -> f64 {
    let largest = costs.iter().fold(0.0_f64, |max, cost| max.max(cost.abs()));
    if largest == 0.0 {
        1.0
    } else {
        (SCALED_MAX_COST.log2() - 1.0 - largest.log2().floor())
            .clamp(-MAX_SCALE_EXPONENT, MAX_SCALE_EXPONENT)
            .exp2()
    }
}
