//! The linear relaxation of routes as an end in itself, and how far costs may move.
//!
//! Degrees: x(δ(v)) = 2 for every customer, x(δ(0)) ≤ 2·vehicles, every edge within its greatest
//! use (plain). With the rounded capacity inequalities that the separation finds it is the tight
//! one; finding all of them is hard in itself, so its value depends on that search, and is a lower
//! bound all the same. Edges between customers that no vehicle serves together are then at 0,
//! whatever they cost.

use super::fleet::Fleet;
use super::master::CvrpMasterLp;
use super::separation::CutSeparator;
use super::support_graph::CvrpSupportGraph;
use crate::decision::Decision;
use crate::solve::complete_graph::{DistanceMatrix, edge_index, num_edges};
use crate::solve::highs::LpStatus;
use crate::solve::relaxation::{CostRanges, CostRanging, Relaxation, RelaxationSolver};
use crate::solve::{Solution, SolveFailure, SolveStatus};

/// Rounds of inequalities after which a point is cut well enough.
const MAX_CUT_ROUNDS: usize = 500;
/// Values this close to a whole number are taken for it.
const INTEGRALITY_TOLERANCE: f64 = 1e-9;

/// Solves one of the two relaxations; one per thread.
#[derive(Debug)]
pub struct CvrpRelaxation {
    fleet: Fleet,
    kind: Relaxation,
    distances: DistanceMatrix,
    separator: CutSeparator,
    support: CvrpSupportGraph,
}

impl CvrpRelaxation {
    /// An engine for these customers and vehicles.
    pub fn new(mut fleet: Fleet, kind: Relaxation) -> Self {
        if kind == Relaxation::Plain {
            // Where everything fits, nothing is known of any set of customers.
            fleet.capacity = f64::INFINITY;
        }
        let (separator, support) = (CutSeparator::default(), CvrpSupportGraph::default());
        Self {
            fleet,
            kind,
            distances: DistanceMatrix::default(),
            separator,
            support,
        }
    }

    /// The cheapest point for these costs, and the linear programme that has it.
    fn solve(&mut self, costs: &[f64]) -> Result<(Solution, CvrpMasterLp), SolveFailure> {
        self.fleet.check(costs)?;
        self.distances.fill(self.fleet.nodes(), costs);
        let mut master = CvrpMasterLp::new(&self.fleet, &self.distances)?;
        for _ in 0..MAX_CUT_ROUNDS {
            match master.solve()? {
                LpStatus::Optimal => {}
                LpStatus::Infeasible => return Err(SolveFailure::Infeasible),
                other => {
                    return Err(SolveFailure::Engine(format!(
                        "the relaxation ended as {other:?}"
                    )));
                }
            }
            if !self.cut(&mut master)? {
                break;
            }
        }
        let decision = self.decision(&master);
        let objective = decision.dot(costs);
        let bound = master.bound(&mut Vec::new()).min(objective);
        Ok((
            Solution {
                decision,
                objective,
                bound,
                status: SolveStatus::Optimal,
                work: 0,
            },
            master,
        ))
    }

    /// Adds the capacity inequalities that the point violates; whether there are any.
    fn cut(&mut self, master: &mut CvrpMasterLp) -> Result<bool, SolveFailure> {
        if self.kind == Relaxation::Plain {
            return Ok(false);
        }
        self.support
            .fill(self.fleet.nodes(), &master.edges, master.values());
        let mut cuts = self.separator.find(&self.support, &self.fleet);
        cuts.retain(|cut| cut.teeth.is_empty());
        if !cuts.is_empty() {
            master.add_cuts(&cuts)?;
        }
        Ok(!cuts.is_empty())
    }

    fn decision(&self, master: &CvrpMasterLp) -> Decision {
        let whole = |value: f64| {
            if (value - value.round()).abs() < INTEGRALITY_TOLERANCE {
                value.round()
            } else {
                value
            }
        };
        let used = master
            .edges
            .iter()
            .zip(master.values())
            .filter(|(_, value)| **value > INTEGRALITY_TOLERANCE);
        Decision::from_entries(used.map(|(ends, value)| (self.number(*ends) as u32, whole(*value))))
    }

    fn number(&self, [i, j]: [u32; 2]) -> usize {
        edge_index(self.fleet.nodes(), i as usize, j as usize)
    }
}

impl RelaxationSolver for CvrpRelaxation {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        Ok(self.solve(costs)?.0)
    }
}

impl CostRanging for CvrpRelaxation {
    /// The limits belong to the basis the simplex method ended with: valid, but narrower than
    /// necessary where it is degenerate.
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let (_, mut master) = self.solve(costs)?;
        let mut ranges = CostRanges::unbounded(num_edges(self.fleet.nodes()));
        let limits = master.cost_ranges()?;
        for (ends, [lower, upper]) in master.edges.iter().zip(limits) {
            let edge = self.number(*ends);
            ranges.lower[edge] = lower.min(costs[edge]);
            ranges.upper[edge] = upper.max(costs[edge]);
        }
        Ok(ranges)
    }
}
