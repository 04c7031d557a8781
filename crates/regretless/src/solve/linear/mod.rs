//! Any linear or mixed-integer problem, by HiGHS.
//!
//! Predicted costs replace the objective of some columns; the others keep theirs, and what they
//! cost goes into the decision's fixed cost. Every solve starts from nothing, so an answer depends
//! on the costs alone, unless a memory is given (`memory`). Costs are scaled by a power of two
//! before HiGHS sees them: its tolerances are absolute, and a decision must not change because all
//! costs are halved. Answers are rounded where they are whole up to tolerance, and the whole point,
//! columns without predicted costs included, is checked against every row before it is given out.
//!
//! [`LinearRelaxation`] is what the linear relaxation knows. Searches over few columns go to a tableau
//! of our own first (`small`), with a memory or without. HiGHS solves small models without
//! presolve, and searches without the feasibility-jump heuristic: on a knapsack of 32 items both
//! cost more than the search itself, as do searches within the search, symmetry and cuts below the
//! root.

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
use crate::decision::Decision;

/// Most matrix entries of a linear programme and of a search over whole numbers without presolve:
/// on knapsacks and grids it doubled the time of the former up to here, and paid for the latter
/// from here.
const PRESOLVE_THRESHOLD: [usize; 2] = [10_000, 100];

/// What costs more than it saves in a search on a small model.
const OPTIONS_OFF_WHEN_SMALL: [&CStr; 5] = [
    c"mip_heuristic_run_rins",
    c"mip_heuristic_run_rens",
    c"mip_heuristic_run_root_reduced_cost",
    c"mip_detect_symmetry",
    c"mip_allow_cut_separation_at_nodes",
];

/// Nanoseconds of one solve by HiGHS and of each of its simplex iterations, for searches over whole
/// numbers and for linear programmes. In a search the iterations stand for all that goes on beside
/// them (cuts, probing, heuristics). Measured on nine published models of 18 to 319 columns and on
/// locations, knapsacks and assignments of 30 to 3,600: 50 to 350 microseconds an iteration; the
/// figure is near the upper end, so that plans keep their promises.
const MIP_WORK_NS: [u64; 2] = [2_000_000, 180_000];
const LP_WORK_NS: [u64; 2] = [100_000, 4_000];
/// Nanoseconds of one solve by HiGHS per column, and ten times that of an iteration.
const COLUMN_WORK_NS: u64 = 300;

/// Limits below this many nodes are for HiGHS alone.
const MIN_DENSE_NODE_LIMIT: u64 = 1_000_000;

/// Binary digits of a value that is not whole.
const ROUNDING_BITS: f64 = 34.0;

/// The greatest cost HiGHS sees.
const SCALED_MAX_COST: f64 = 128.0;

/// How a solve ended.
#[derive(Debug)]
struct HighsSearchResult {
    /// Not stopped at a limit.
    finished: bool,
    /// No point costs less than this.
    bound: f64,
    /// The factor on all costs.
    scale: f64,
}

/// A model and the columns whose costs are predicted.
#[derive(Debug)]
pub struct LinearSolver {
    model: Arc<LinearModel>,
    predicted: Arc<[usize]>,
    limits: SearchLimits,
    /// Built at the first solve that needs it, so that making an engine cannot fail.
    lp: Option<Lp>,
    /// Present if the model is one for it.
    dense: Option<DenseMip>,
    costs: Vec<f64>,
    /// What the costs of the last solve were multiplied by.
    scale: f64,
    point: PrimalDualPoint,
    /// Where the next search over whole numbers starts.
    start: Option<Box<[f64]>>,
    /// The same problem without whole numbers, once somebody asked for a proof.
    relaxation: Option<Box<Self>>,
    /// Of the last search over whole numbers.
    nodes: Option<u64>,
    /// Of the last solve, in nanoseconds.
    work: u64,
}

impl LinearSolver {
    /// An engine for a model to be minimised; cost `j` of a solve is that of column `predicted[j]`,
    /// whose cost in the model is 0.
    pub fn new(model: Arc<LinearModel>, predicted: Arc<[usize]>, limits: SearchLimits) -> Self {
        // With few nodes to spend HiGHS is better: it knows how to find a point without any.
        let dense = if limits.nodes >= MIN_DENSE_NODE_LIMIT {
            DenseMip::of(&model)
        } else {
            None
        };
        let (costs, point) = (Vec::new(), PrimalDualPoint::default());
        let (lp, start, relaxation, nodes) = (None, None, None, None);
        Self {
            model,
            predicted,
            limits,
            lp,
            dense,
            costs,
            scale: 1.0,
            point,
            start,
            relaxation,
            nodes,
            work: 0,
        }
    }

    fn take_solver(&mut self) -> Result<Lp, SolveFailure> {
        self.lp
            .take()
            .map_or_else(|| Self::build(&self.model, &self.limits), Ok)
    }

    fn build(model: &LinearModel, limits: &SearchLimits) -> Result<Lp, SolveFailure> {
        let mut lp = Lp::from_model(model)?;
        let dense = !is_large(model, &lp);
        lp.use_presolve(!dense)?;
        lp.set_option(c"mip_heuristic_run_feasibility_jump", false)?;
        if dense {
            OPTIONS_OFF_WHEN_SMALL
                .iter()
                .try_for_each(|option| lp.set_option(option, false))?;
        }
        lp.set_gap(limits.gap, 0.0)?;
        lp.limit_nodes(limits.nodes)?;
        Ok(lp)
    }

    /// Method and presolve as for a solve from nothing.
    fn configure_cold(&self, lp: &mut Lp) -> Result<(), SolveFailure> {
        lp.use_presolve(is_large(&self.model, lp))?;
        lp.use_simplex(SimplexMethod::Dual)
    }

    /// Hands the objective over; returns the scale.
    fn load(&mut self, lp: &mut Lp, costs: &[f64]) -> Result<f64, SolveFailure> {
        let scale = self.scale_costs(costs);
        lp.set_costs(0, &self.costs)?;
        lp.set_objective(false, self.model.offset * scale)?;
        Ok(scale)
    }

    /// Writes the whole objective, scaled; returns the scale.
    fn scale_costs(&mut self, costs: &[f64]) -> f64 {
        self.costs.clear();
        self.costs.extend_from_slice(&self.model.cost);
        for (column, cost) in self.predicted.iter().zip(costs) {
            self.costs[*column] = *cost;
        }
        let scale = scale_of(&self.costs);
        self.costs.iter_mut().for_each(|cost| *cost *= scale);
        self.scale = scale;
        scale
    }

    /// Rounds the point where it is whole up to tolerance, the rest to ten digits, since later ones
    /// depend on the way to a vertex, and brings it within its bounds.
    fn round_point(&mut self) {
        for (column, value) in self.point.value.iter_mut().enumerate() {
            let tolerance = if self.model.integer[column] {
                1e-5
            } else {
                1e-9
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

    /// Searches a small model; nothing when it is none, or HiGHS must decide.
    fn search_dense(&mut self, costs: &[f64]) -> Option<Solution> {
        let mut dense = self.dense.take()?;
        let scale = self.scale_costs(costs);
        let wish = SearchRequest {
            costs: &self.costs,
            offset: self.model.offset * scale,
            gap: self.limits.gap,
            scale,
        };
        let proof = dense.search(&wish, &mut self.point.value);
        self.work += dense.work();
        self.dense = Some(dense);
        let proof = proof?;
        self.round_point();
        self.model.check(&self.point.value).ok()?;
        self.nodes = Some(proof.nodes);
        Some(self.solution(
            costs,
            &HighsSearchResult {
                finished: true,
                bound: proof.bound / scale,
                scale,
            },
        ))
    }

    /// Solves from nothing and leaves a tidy point; returns how it ended and what was proved,
    /// unscaled.
    fn search(&mut self, lp: &mut Lp, scale: f64) -> Result<HighsSearchResult, SolveFailure> {
        lp.reset_basis_and_solution()?;
        if let Some(start) = self.start.take() {
            lp.set_start(&start)?;
        }
        let outcome = lp.solve()?;
        self.count_work(lp);
        match outcome {
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
        self.read(lp, outcome == LpStatus::Optimal, scale)
    }

    /// Adds the work of the solve that HiGHS has just ended.
    fn count_work(&mut self, lp: &Lp) {
        let [once, each] = if self.is_integral() {
            MIP_WORK_NS
        } else {
            LP_WORK_NS
        };
        let columns = self.model.cost.len() as u64;
        let iterations = lp.iterations().map_or(0, u64::from);
        self.work +=
            once + COLUMN_WORK_NS * columns + (each + COLUMN_WORK_NS * columns / 10) * iterations;
    }

    /// Reads the point and tidies it.
    fn read(
        &mut self,
        lp: &Lp,
        finished: bool,
        scale: f64,
    ) -> Result<HighsSearchResult, SolveFailure> {
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
        Ok(HighsSearchResult {
            finished,
            bound,
            scale,
        })
    }

    /// A column that counts as whole at 1e-6 may carry 1 unit through a coefficient of 1e6, and
    /// rounding it then breaks a row. Such a point is searched for again with a strict tolerance,
    /// and if that does not help, the other columns are solved for anew with the whole ones held.
    fn search_with_tight_integrality(
        &mut self,
        lp: &mut Lp,
        scale: f64,
    ) -> Result<HighsSearchResult, SolveFailure> {
        lp.set_option(c"mip_feasibility_tolerance", 1e-9)?;
        let found = self.search(lp, scale);
        lp.set_option(c"mip_feasibility_tolerance", 1e-6)?;
        let found = found?;
        if self.model.check(&self.point.value).is_err() {
            self.polish(lp, scale)?;
        }
        Ok(found)
    }

    fn polish(&mut self, lp: &mut Lp, scale: f64) -> Result<(), SolveFailure> {
        let model = Arc::clone(&self.model);
        let whole: Vec<usize> = (0..model.integer.len())
            .filter(|column| model.integer[*column])
            .collect();
        for column in &whole {
            lp.set_column_bounds(*column, [self.point.value[*column]; 2])?;
        }
        let found = self.search(lp, scale);
        for column in &whole {
            lp.set_column_bounds(*column, model.column_bounds[*column])?;
        }
        let lost =
            |failure| SolveFailure::WrongAnswer(format!("with whole numbers rounded, {failure}"));
        found.map_err(lost)?;
        self.model
            .check(&self.point.value)
            .map_err(SolveFailure::WrongAnswer)
    }

    fn solve_with(&mut self, lp: &mut Lp, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let scale = self.load(lp, costs)?;
        let mut found = self.search(lp, scale)?;
        match self.model.check(&self.point.value) {
            Ok(()) => {}
            Err(_) if self.is_integral() => {
                found = self.search_with_tight_integrality(lp, scale)?
            }
            Err(message) => return Err(SolveFailure::WrongAnswer(message)),
        }
        Ok(self.solution(costs, &found))
    }

    /// The dual simplex method, HiGHS's first choice, now and then gives up where a slope is slight
    /// and nothing stops it; the primal one tells such a model from a bounded one.
    fn solve_by_primal(&mut self, lp: &mut Lp, costs: &[f64]) -> Result<Solution, SolveFailure> {
        lp.use_simplex(SimplexMethod::Primal)?;
        let answer = self.solve_with(lp, costs);
        lp.use_simplex(SimplexMethod::Dual)?;
        answer
    }

    fn is_integral(&self) -> bool {
        self.model.integer.contains(&true)
    }

    /// Without costs nothing is unbounded: what is still not solvable is infeasible.
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

    fn solution(&self, costs: &[f64], found: &HighsSearchResult) -> Solution {
        let chosen: Vec<f64> = self
            .predicted
            .iter()
            .map(|column| self.point.value[*column])
            .collect();
        let decision = Decision::from_dense(&chosen).with_fixed(self.fixed());
        let objective = decision.dot(costs);
        let missing = objective - found.bound;
        let rounding = 1e-6 * objective.abs().max(SCALED_MAX_COST / found.scale);
        if found.finished && missing <= rounding {
            return Solution::optimal(decision, objective);
        }
        let gap = missing.max(0.0) / objective.abs().max(f64::MIN_POSITIVE);
        let status = if found.finished {
            SolveStatus::WithinGap(gap)
        } else {
            SolveStatus::LimitReached
        };
        Solution {
            decision,
            objective,
            bound: found.bound.min(objective),
            status,
            work: 0,
        }
    }

    /// Cost of the columns without predicted costs at the present point.
    fn fixed(&self) -> f64 {
        let paid = self
            .model
            .cost
            .iter()
            .zip(&self.point.value)
            .filter(|(cost, _)| **cost != 0.0);
        self.model.offset + paid.map(|(cost, value)| cost * value).sum::<f64>()
    }
}

impl Solver for LinearSolver {
    fn nodes(&self) -> Option<u64> {
        self.nodes
    }

    fn work(&self) -> Option<u64> {
        Some(self.work)
    }

    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.nodes = None;
        self.work = 0;
        if let Some(solution) = self.search_dense(costs) {
            return Ok(solution);
        }
        let mut lp = self.take_solver()?;
        let mut answer = self.solve_with(&mut lp, costs);
        if matches!(answer, Err(SolveFailure::Engine(_))) && !self.is_integral() {
            lp = Self::build(&self.model, &self.limits)?;
            answer = self.solve_by_primal(&mut lp, costs);
        }
        // An engine that failed may be in any state; the next solve builds a new one.
        self.lp = answer.is_ok().then_some(lp);
        answer
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        if self.is_integral() && self.limits.gap > 0.0 {
            self.solve(costs)
        } else {
            self.solve_from_warm_start(costs, warm_start)
        }
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.certify_warm_start(costs, warm_start)
    }
}

/// Whether presolve is worth its time.
fn is_large(model: &LinearModel, lp: &Lp) -> bool {
    lp.num_entries() > PRESOLVE_THRESHOLD[usize::from(model.integer.contains(&true))]
}

/// The power of two that brings the greatest cost to between [`SCALED_MAX_COST`] and half of it.
fn scale_of(costs: &[f64]) -> f64 {
    let greatest = costs.iter().fold(0.0_f64, |max, cost| max.max(cost.abs()));
    if greatest == 0.0 {
        1.0
    } else {
        (SCALED_MAX_COST.log2() - 1.0 - greatest.log2().floor())
            .clamp(-900.0, 900.0)
            .exp2()
    }
}
