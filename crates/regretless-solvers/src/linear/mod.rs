//! Linear and mixed-integer programs, solved by HiGHS.
//!
//! Predicted costs replace the objective of some columns; the others keep theirs, and their cost is
//! part of the decision's fixed cost. Every solve is a cold start, so that a solution depends on
//! the costs only, unless a warm start is used (`warm_start`). Costs are scaled by a power of two
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

use std::ffi::CStr;
use std::sync::Arc;

use self::dense_mip::{DenseMip, SearchRequest};
use super::highs::{LinearModel, Lp, LpStatus, PrimalDualPoint, SimplexMethod};
use super::warm_start::WarmStart;
use super::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};
use regretless_base::decision::Decision;

/// Matrix entries up to which an LP is solved without presolve: on knapsacks and grids up to this
/// size presolve doubled the time.
const LP_PRESOLVE_THRESHOLD: usize = 10_000;
/// Matrix entries up to which a mixed-integer program is small.
const SMALL_MIP_THRESHOLD: usize = 100;

/// Options that take more time than they save in a search on a small model.
const OPTIONS_OFF_WHEN_SMALL: [&CStr; 5] = [
    c"mip_heuristic_run_rins",
    c"mip_heuristic_run_rens",
    c"mip_heuristic_run_root_reduced_cost",
    c"mip_detect_symmetry",
    c"mip_allow_cut_separation_at_nodes",
];

/// Estimated work of HiGHS in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct WorkModel {
    /// Per solve.
    solve: u64,
    /// Per simplex iteration.
    iteration: u64,
}

/// Work of a mixed-integer program. The time per iteration includes all other work (cuts, probing,
/// heuristics). Measured on nine published models of 18 to 319 columns and on facility locations,
/// knapsacks and assignments of 30 to 3,600: 50 to 350 microseconds per iteration. The value is
/// high, so that planned times are rarely exceeded.
const MIP_WORK_NS: WorkModel = WorkModel {
    solve: 2_000_000,
    iteration: 180_000,
};
/// Work of an LP, measured on the same models.
const LP_WORK_NS: WorkModel = WorkModel {
    solve: 100_000,
    iteration: 4_000,
};
/// Work of a solve per column in nanoseconds.
const COLUMN_WORK_NS: u64 = 300;
/// Work of an iteration per column is that of a solve per column, divided by this.
const ITERATION_WORK_DIVISOR: u64 = 10;
/// Work of a mixed-integer solve in nanoseconds, times matrix entries and entries per column: the
/// work at the root (presolve, probing, cliques, cuts) grows with the columns that meet in a row,
/// and is not counted in iterations. Measured on schedules of energy use with 459 columns and
/// 12,639 entries, which take 70 to 310 ms with about 100 iterations each; facility locations of
/// 615 columns and 1,800 entries take 12 ms, of which this is 2.
const ENTRY_PAIR_WORK_NS: u64 = 400;
/// Work of an LP per matrix entry in nanoseconds, for reading and presolving the model, which count
/// no iteration. Measured on the relaxed schedules above (6 ms with 13 iterations) and on relaxed
/// knapsacks and set covers of 2,500 to 200,000 entries, where counted and measured times now agree
/// within a factor of two; sparse models are counted up to five times too high by their iterations.
const LP_ENTRY_WORK_NS: u64 = 400;

/// Significant bits of a fractional value, about ten decimal digits: later ones depend on the path
/// to a vertex.
const ROUNDING_BITS: f64 = 34.0;
/// Distance from an integer below which an integer column is rounded; above the tolerance of HiGHS,
/// 1e-6.
const INTEGER_ROUNDING_TOLERANCE: f64 = 1e-5;
/// Distance from an integer below which a continuous column is rounded.
const CONTINUOUS_ROUNDING_TOLERANCE: f64 = 1e-9;

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
/// Relative difference between objective and dual bound that counts as rounding.
const OPTIMALITY_TOLERANCE: f64 = 1e-6;

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
    /// Built at the first solve that needs it, so that constructing a solver cannot fail.
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

    /// Moves the solver to another model with the same columns and the same number of rows, as if
    /// it had been built for it: creating a HiGHS object takes longer than solving a small model.
    /// `false`, with nothing changed, if the models are of another shape.
    pub fn move_to(
        &mut self,
        model: &Arc<LinearModel>,
        predicted: &Arc<[usize]>,
        present: Option<Arc<[bool]>>,
    ) -> bool {
        let has_same_shape = Arc::ptr_eq(&self.predicted, predicted)
            && self.model.integer == model.integer
            && self.model.row_bounds.len() == model.row_bounds.len();
        if !has_same_shape {
            return false;
        }
        let lp = self.lp.take();
        // After a failure a new instance is built for the next solve.
        self.lp = lp.and_then(|lp| move_lp(lp, &self.model, model).ok());
        self.dense = match (self.dense.take(), DenseMip::from_model(model)) {
            (Some(previous), Some(moved)) => Some(moved.with_buffers(previous)),
            (_, moved) => moved,
        };
        if let Some(relaxation) = &mut self.relaxation {
            relaxation.move_to(&relaxed(model), predicted, present.clone());
        }
        self.model = Arc::clone(model);
        self.present = present;
        self.point = PrimalDualPoint::default();
        (self.start, self.nodes, self.work) = (None, None, 0);
        true
    }

    fn take_solver(&mut self) -> Result<Lp, SolveFailure> {
        match self.lp.take() {
            Some(lp) => Ok(lp),
            None => Self::build(&self.model, &self.limits),
        }
    }

    fn build(model: &LinearModel, limits: &SearchLimits) -> Result<Lp, SolveFailure> {
        let mut lp = Lp::from_model(model)?;
        lp.use_presolve(needs_presolve(model, &lp))?;
        lp.set_option(c"mip_heuristic_run_feasibility_jump", false)?;
        if lp.num_entries() <= SMALL_MIP_THRESHOLD {
            for option in OPTIONS_OFF_WHEN_SMALL {
                lp.set_option(option, false)?;
            }
        }
        lp.set_gap(limits.gap, 0.0)?;
        lp.limit_nodes(limits.nodes)?;
        Ok(lp)
    }

    /// Restores simplex method and presolve for cold starts.
    fn configure_cold(&self, lp: &mut Lp) -> Result<(), SolveFailure> {
        lp.use_presolve(needs_presolve(&self.model, lp))?;
        lp.use_simplex(SimplexMethod::Dual)
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

    /// Rounds values that are integral up to tolerance, other values to [`ROUNDING_BITS`], and
    /// moves all within their bounds.
    fn round_point(&mut self) {
        for (column, value) in self.point.value.iter_mut().enumerate() {
            let tolerance = if self.model.integer[column] {
                INTEGER_ROUNDING_TOLERANCE
            } else {
                CONTINUOUS_ROUNDING_TOLERANCE
            };
            if (*value - value.round()).abs() <= tolerance {
                *value = value.round();
            } else if !self.model.integer[column] {
                let unit = (value.abs().log2().floor() - ROUNDING_BITS).exp2();
                *value = (*value / unit).round() * unit;
            }
            let [lower, upper] = self.model.column_bounds[column];
            *value = value.max(lower).min(upper);
        }
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

    /// Adds the work of the last solve by HiGHS.
    fn count_work(&mut self, lp: &Lp) {
        let model = if self.is_integral() {
            MIP_WORK_NS
        } else {
            LP_WORK_NS
        };
        let columns = self.model.cost.len() as u64;
        let iterations = lp.iterations().map_or(0, u64::from);
        let entries = lp.num_entries() as u64;
        let matrix = if self.is_integral() {
            let entry_pairs = entries.saturating_mul(entries) / columns.max(1);
            ENTRY_PAIR_WORK_NS.saturating_mul(entry_pairs)
        } else {
            LP_ENTRY_WORK_NS * entries
        };
        let solve = (model.solve + COLUMN_WORK_NS * columns).saturating_add(matrix);
        let iteration = model.iteration + COLUMN_WORK_NS * columns / ITERATION_WORK_DIVISOR;
        self.work += solve + iteration * iterations;
    }

    /// Reads the point and rounds it.
    fn read(
        &mut self,
        lp: &Lp,
        is_complete: bool,
        scale: f64,
    ) -> Result<LinearSearchResult, SolveFailure> {
        let bound = if self.is_integral() {
            lp.bound()?
        } else {
            lp.objective()
        } / scale;
        self.nodes = if self.is_integral() {
            Some(lp.nodes()?)
        } else {
            None
        };
        lp.read_point(&mut self.point)?;
        self.round_point();
        Ok(LinearSearchResult {
            is_complete,
            bound,
            scale,
        })
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
        Ok(if lp.solve()? == LpStatus::Optimal {
            SolveFailure::Unbounded
        } else {
            SolveFailure::Infeasible
        })
    }

    fn solution(&self, costs: &[f64], result: &LinearSearchResult) -> Solution {
        let values: Vec<f64> = self
            .predicted
            .iter()
            .map(|column| self.point.value[*column])
            .collect();
        let decision = Decision::from_dense(&values).with_fixed(self.fixed_cost());
        let objective = decision.dot(costs);
        let difference = objective - result.bound;
        let tolerance = OPTIMALITY_TOLERANCE * objective.abs().max(SCALED_MAX_COST / result.scale);
        if result.is_complete && difference <= tolerance {
            return Solution::optimal(decision, objective);
        }
        let gap = difference.max(0.0) / objective.abs().max(f64::MIN_POSITIVE);
        let status = if result.is_complete {
            SolveStatus::WithinGap(gap)
        } else {
            SolveStatus::LimitReached
        };
        Solution {
            decision,
            objective,
            bound: result.bound.min(objective),
            status,
            work: 0,
        }
    }

    /// Cost of the columns without predicted costs at the current point.
    fn fixed_cost(&self) -> f64 {
        let mut sum = 0.0;
        for (cost, value) in self.model.cost.iter().zip(&self.point.value) {
            if *cost != 0.0 {
                sum += cost * value;
            }
        }
        self.model.offset + sum
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

/// Moves HiGHS from one model to another with the same columns and the same number of rows.
fn move_lp(mut lp: Lp, from: &LinearModel, to: &LinearModel) -> Result<Lp, SolveFailure> {
    if !Arc::ptr_eq(&from.rows, &to.rows) {
        lp.replace_model(to)?;
        lp.use_presolve(needs_presolve(to, &lp))?;
        return Ok(lp);
    }
    for (column, bounds) in to.column_bounds.iter().enumerate() {
        if from.column_bounds[column] != *bounds {
            lp.set_column_bounds(column, *bounds)?;
        }
    }
    for (row, bounds) in to.row_bounds.iter().enumerate() {
        if from.row_bounds[row] != *bounds {
            lp.set_row_bounds(row, *bounds)?;
        }
    }
    Ok(lp)
}

/// Whether HiGHS presolves: large models, to save time, and all mixed-integer programs. Without
/// presolve and its feasibility jump, HiGHS 1.15.0 takes wrong points for optimal where quantities
/// have no upper bound: 2 of 3,000 random lots with set-ups, none of them with presolve.
fn needs_presolve(model: &LinearModel, lp: &Lp) -> bool {
    model.integer.contains(&true) || lp.num_entries() > LP_PRESOLVE_THRESHOLD
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
