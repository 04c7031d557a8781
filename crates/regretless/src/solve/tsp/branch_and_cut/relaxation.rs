//! The linear relaxation of tours over all edges: degrees alone, or with every ring forbidden.
//!
//! Degrees: x(δ(v)) = 2 for every node and 0 ≤ x ≤ 1 (plain). With x(δ(S)) ≥ 2 for every set S
//! besides it is the relaxation of Dantzig, Fulkerson and Johnson (1954), whose value Held and
//! Karp's bound approaches (tight). Edges are priced, so the result holds for the complete graph.

use super::cost_ranges::ranges;
use super::initial_tour::{InitialTour, number};
use super::root::{CutFamily, RootRelaxation};
use super::warm_start::{RelaxationWarmStart, RootWarmStart};
use crate::decision::Decision;
use crate::solve::complete_graph::check;
use crate::solve::relaxation::{CostRanges, CostRanging, Relaxation, RelaxationSolver};
use crate::solve::warm_start::{CostSample, WarmStart};
use crate::solve::{Solution, SolveFailure, SolveStatus};

/// Trees grown before the linear relaxation.
const ASCENT_STEPS: usize = 8;
/// Values this close to 0 or 1 are taken for it.
const INTEGRALITY_TOLERANCE: f64 = 1e-9;
/// Values are rounded to multiples of one over this.
const ROUNDING_DENOMINATOR: f64 = (1_u64 << 32) as f64;
/// Drift up to which a relaxation starts from the last one.
const MAX_DRIFT: f64 = 0.12;

/// The cheapest point of a relaxation and what proves it.
#[derive(Debug, Clone, PartialEq)]
pub struct RelaxationResult {
    /// The point, its cost and the bound that the dual values prove.
    pub solution: Solution,
    /// Dual value of each node's degree.
    pub potentials: Vec<f64>,
}

/// Solves one of the two relaxations; one per thread.
#[derive(Debug)]
pub struct TspRelaxation {
    nodes: usize,
    kind: Relaxation,
    begin: InitialTour,
    solved: Option<RootRelaxation>,
}

impl TspRelaxation {
    /// An engine for this many nodes, at least 3.
    pub fn new(nodes: usize, kind: Relaxation) -> Self {
        Self {
            nodes,
            kind,
            begin: InitialTour::default(),
            solved: None,
        }
    }

    /// The cheapest point for these costs.
    ///
    /// # Errors
    /// When the number of costs is wrong or the engine fails.
    pub fn solve(&mut self, costs: &[f64]) -> Result<RelaxationResult, SolveFailure> {
        check(self.nodes, costs)?;
        self.solved = None;
        self.begin.start(self.nodes, costs, ASCENT_STEPS);
        let begin = &self.begin;
        let edges = begin.candidate_edges();
        let root = RootRelaxation::new(&begin.distances, &begin.multipliers, &edges, &begin.order)?;
        self.finish(root, costs)
    }

    /// The cheapest point, from that of earlier costs of the same instance.
    fn solve_from(
        &mut self,
        costs: &[f64],
        known: &RootWarmStart,
    ) -> Result<RelaxationResult, SolveFailure> {
        self.begin.distances.fill(self.nodes, costs);
        let spare_edges = self.solved.take().map(|root| root.master.into_lp());
        let root = RootRelaxation::resume(&self.begin.distances, known, spare_edges)?;
        self.finish(root, costs)
    }

    fn finish(
        &mut self,
        mut root: RootRelaxation,
        costs: &[f64],
    ) -> Result<RelaxationResult, SolveFailure> {
        let family = match self.kind {
            Relaxation::Plain => CutFamily::None,
            Relaxation::Tight => CutFamily::Subtour,
        };
        let bound = root.add_cuts_and_columns(&self.begin.distances, family, f64::INFINITY)?;
        let decision = decision(&root);
        let objective = decision.dot(costs);
        let potentials = root.prices.potential.clone();
        self.solved = Some(root);
        let solution = Solution {
            decision,
            objective,
            bound: bound.min(objective),
            status: SolveStatus::Optimal,
            work: 0,
        };
        Ok(RelaxationResult {
            solution,
            potentials,
        })
    }

    /// Warm where the costs moved little. Which of several optimal points is found depends on the
    /// way: what may not be the only one is solved from nothing.
    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<RelaxationResult, SolveFailure> {
        check(self.nodes, costs)?;
        let near = |known: &RelaxationWarmStart| {
            known.root.nodes() == self.nodes && known.sample.drift(costs) <= MAX_DRIFT
        };
        let known = warm_start
            .take::<RelaxationWarmStart>()
            .filter(|known| near(known));
        let warm = known.and_then(|known| self.solve_from(costs, &known.root).ok());
        let warm = warm.filter(|_| {
            self.solved
                .as_ref()
                .is_some_and(|root| root.is_unique_optimum(&self.begin.distances))
        });
        let relaxed = warm.map_or_else(|| self.solve(costs), Ok)?;
        let solved = self
            .solved
            .as_ref()
            .and_then(|root| RootWarmStart::of(root, &self.begin.distances));
        if let Some(root) = solved {
            warm_start.set(RelaxationWarmStart {
                sample: CostSample::of(costs),
                root,
            });
        }
        Ok(relaxed)
    }

    /// How far each cost may move, alone, while the point solved last stays optimal. The limits
    /// belong to the basis the simplex method ended with: valid, but narrower than necessary where
    /// it is degenerate.
    ///
    /// # Errors
    /// When nothing was solved.
    pub fn ranges(&mut self) -> Result<CostRanges, SolveFailure> {
        match &mut self.solved {
            Some(root) => ranges(root, &self.begin.distances),
            None => Err(SolveFailure::Engine(
                "no relaxation was solved whose costs could be ranged".into(),
            )),
        }
    }
}

/// The point, its values rounded to about ten digits: what comes behind depends on the way to a
/// vertex, whose values are fractions with small denominators.
fn decision(root: &RootRelaxation) -> Decision {
    let (master, nodes) = (&root.master, root.master.nodes());
    let used = master
        .edges
        .iter()
        .zip(master.values())
        .filter(|(_, value)| **value > INTEGRALITY_TOLERANCE);
    let round = |value: f64| {
        if value > 1.0 - INTEGRALITY_TOLERANCE {
            1.0
        } else {
            (value * ROUNDING_DENOMINATOR).round() / ROUNDING_DENOMINATOR
        }
    };
    let mut entries: Vec<(u32, f64)> = used
        .map(|(ends, value)| (number(nodes, *ends), round(*value)))
        .collect();
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
