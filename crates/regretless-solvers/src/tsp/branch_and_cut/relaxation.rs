//! The two LP relaxations of the TSP over all edges, and cost ranging.
//!
//! With x(δ(S)) the total value of the edges that leave a set S of nodes:
//!
//! * Plain: the degree constraints x(δ(v)) = 2 for every node v, and 0 ≤ x ≤ 1.
//! * Tight: also the subtour elimination constraints x(δ(S)) ≥ 2 for every set S. This is the
//!   relaxation of Dantzig, Fulkerson and Johnson (1954), whose value is the limit of the bound of
//!   Held and Karp.
//!
//! All edges are priced, so the result is valid for the complete graph.

use super::cost_ranges::ranges;
use super::root::{CutFamily, RootRelaxation};
use super::warm_start::{RelaxationWarmStart, RootWarmStart};
use crate::complete_graph::{check_tour_costs, edge_index_u32};
use crate::relaxation::{CostRanges, CostRanging, Relaxation, RelaxationSolver};
use crate::tsp::initial_tour::InitialTour;
use crate::warm_start::{CostSample, WarmStart};
use crate::{Solution, SolveFailure, SolveStatus};
use regretless_base::decision::Decision;

/// Steps of the subgradient ascent before the first LP: enough for good initial columns.
const ASCENT_STEPS: usize = 8;
/// Values this close to 0 or 1 are set to 0 or 1: the feasibility tolerance of the simplex solver.
const VALUE_TOLERANCE: f64 = 1e-9;
/// Values are rounded to multiples of one over this, about ten decimal digits: later digits depend
/// on the simplex path.
const ROUNDING_DENOMINATOR: f64 = (1_u64 << 32) as f64;
/// Largest drift of the costs for a warm start: beyond it the old basis saves few simplex
/// iterations.
const MAX_DRIFT: f64 = 0.12;

/// The optimum of a relaxation and its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct RelaxationResult {
    /// The optimal point, its cost and the lower bound that the dual values prove.
    pub solution: Solution,
    /// Dual value of each node's degree constraint.
    pub potentials: Vec<f64>,
}

/// Solver of one of the two relaxations; one per thread.
#[derive(Debug)]
pub struct TspRelaxation {
    nodes: usize,
    kind: Relaxation,
    initial: InitialTour,
    /// The relaxation solved last.
    solved: Option<RootRelaxation>,
}

impl TspRelaxation {
    /// A solver for this many nodes, at least 3.
    pub fn new(nodes: usize, kind: Relaxation) -> Self {
        Self {
            nodes,
            kind,
            initial: InitialTour::default(),
            solved: None,
        }
    }

    /// The optimal point for these costs.
    ///
    /// # Errors
    /// When the number of costs is wrong or the LP solver fails.
    pub fn solve(&mut self, costs: &[f64]) -> Result<RelaxationResult, SolveFailure> {
        check_tour_costs(self.nodes, costs)?;
        self.solved = None;
        self.initial.start(self.nodes, costs, ASCENT_STEPS);
        let initial = &self.initial;
        let edges = initial.candidate_edges();
        let root = RootRelaxation::new(
            &initial.edge_costs,
            &initial.multipliers,
            &edges,
            &initial.order,
        )?;
        self.finish(root, costs)
    }

    /// The optimal point, starting from the relaxation of earlier costs of the same instance.
    fn solve_from(
        &mut self,
        costs: &[f64],
        previous: &RootWarmStart,
    ) -> Result<RelaxationResult, SolveFailure> {
        self.initial.edge_costs.fill(self.nodes, costs);
        // The solver instance is reused instead of being created for every row.
        let unused_lp = self.solved.take().map(|root| root.master.into_lp());
        let root = RootRelaxation::restore(&self.initial.edge_costs, previous, unused_lp)?;
        self.finish(root, costs)
    }

    /// Adds cuts and columns to optimality and reads the result.
    fn finish(
        &mut self,
        mut root: RootRelaxation,
        costs: &[f64],
    ) -> Result<RelaxationResult, SolveFailure> {
        let family = match self.kind {
            Relaxation::Plain => CutFamily::None,
            Relaxation::Tight => CutFamily::Subtour,
        };
        let bound = root.add_cuts_and_columns(&self.initial.edge_costs, family, f64::INFINITY)?;
        let decision = to_decision(&root);
        let objective = decision.dot(costs);
        let potentials = root.prices.potential.clone();
        self.solved = Some(root);
        let solution = Solution {
            decision,
            objective,
            // Rounding may put the proven bound above the objective.
            bound: bound.min(objective),
            status: SolveStatus::Optimal,
            work: 0,
        };
        Ok(RelaxationResult {
            solution,
            potentials,
        })
    }

    /// Solves, warm if the costs drifted little. Which of several optimal points is found depends
    /// on the simplex path; unless the optimum is unique, the relaxation is therefore solved cold.
    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<RelaxationResult, SolveFailure> {
        check_tour_costs(self.nodes, costs)?;
        let fits = |previous: &RelaxationWarmStart| {
            previous.root.nodes() == self.nodes && previous.sample.drift(costs) <= MAX_DRIFT
        };
        let previous = warm_start
            .take::<RelaxationWarmStart>()
            .filter(|previous| fits(previous));
        let warm = previous.and_then(|previous| self.solve_from(costs, &previous.root).ok());
        let result = match warm {
            // If the optimum is unique, every path leads to it; else the cold solve decides which
            // one is returned.
            Some(result) if self.is_unique_optimum() => result,
            Some(_) | None => self.solve(costs)?,
        };
        let solved = self.solved.as_ref();
        // The warm start of the next solve is the relaxation that was solved last, warm or cold.
        let root = solved.and_then(|root| RootWarmStart::from_root(root, &self.initial.edge_costs));
        if let Some(root) = root {
            warm_start.set(RelaxationWarmStart {
                sample: CostSample::new(costs),
                root,
            });
        }
        Ok(result)
    }

    /// Whether the point solved last is the unique optimum.
    fn is_unique_optimum(&self) -> bool {
        let solved = self.solved.as_ref();
        solved.is_some_and(|root| root.is_unique_optimum(&self.initial.edge_costs))
    }

    /// How far each cost may change, the others fixed, while the point solved last stays optimal.
    /// The ranges belong to the final basis of the simplex method: valid, but narrower than
    /// necessary if it is degenerate.
    ///
    /// # Errors
    /// When no relaxation was solved before.
    pub fn ranges(&mut self) -> Result<CostRanges, SolveFailure> {
        match &mut self.solved {
            Some(root) => ranges(root, &self.initial.edge_costs),
            None => Err(SolveFailure::SolverError(
                "cost ranging needs a relaxation that was solved before".into(),
            )),
        }
    }
}

/// The optimal point, its values rounded to about ten digits: a vertex has values that are
/// fractions with small denominators, and the digits beyond depend on the simplex path to it.
fn to_decision(root: &RootRelaxation) -> Decision {
    let (master, nodes) = (&root.master, root.master.nodes());
    let round = |value: f64| {
        // Values near 1 are set, so integral points give binary decisions.
        if value > 1.0 - VALUE_TOLERANCE {
            1.0
        } else {
            (value * ROUNDING_DENOMINATOR).round() / ROUNDING_DENOMINATOR
        }
    };
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for (ends, value) in master.edges.iter().zip(master.values()) {
        if *value > VALUE_TOLERANCE {
            entries.push((edge_index_u32(nodes, *ends), round(*value)));
        }
    }
    entries.sort_unstable_by_key(|entry| entry.0);
    Decision::from_entries(entries)
}

impl RelaxationSolver for TspRelaxation {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        Ok(self.solve(costs)?.solution)
    }

    fn relax_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        Ok(self.solve_warm(costs, warm_start)?.solution)
    }
}

impl CostRanging for TspRelaxation {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.solve(costs)?;
        Self::ranges(self)
    }
}
