//! The two LP relaxations of the CVRP as separate solvers, and cost ranging.
//!
//! * Plain: the degree constraints, x(δ(v)) = 2 for every customer v and x(δ(0)) ≤ 2·vehicles for
//!   the depot, and the upper bounds of the edges.
//! * Tight: also the rounded capacity inequalities that the separation finds. Their exact
//!   separation is NP-hard, so the value depends on the heuristic separation, but is always a lower
//!   bound. Edges between customers that do not fit into one vehicle are fixed to 0.

use super::instance::CvrpInstance;
use super::master::CvrpMasterLp;
use super::separation::CutSeparator;
use super::support_graph::CvrpSupportGraph;
use crate::complete_graph::{EdgeCostMatrix, edge_index_u32, num_edges};
use crate::highs::LpStatus;
use crate::relaxation::{CostRanges, CostRanging, Relaxation, RelaxationSolver};
use crate::{Solution, SolveFailure, SolveStatus};
use regretless_base::decision::Decision;

/// Maximum number of separation rounds: a safeguard, as separation normally ends much earlier.
const MAX_CUT_ROUNDS: usize = 500;
/// Values this close to an integer are rounded to it: the feasibility tolerance of the simplex
/// solver.
const VALUE_TOLERANCE: f64 = 1e-9;

/// Solver of one of the two relaxations; one per thread.
#[derive(Debug)]
pub struct CvrpRelaxation {
    instance: CvrpInstance,
    kind: Relaxation,
    edge_costs: EdgeCostMatrix,
    separator: CutSeparator,
    support: CvrpSupportGraph,
}

impl CvrpRelaxation {
    /// A solver for these customers and vehicles.
    pub fn new(mut instance: CvrpInstance, kind: Relaxation) -> Self {
        if kind == Relaxation::Plain {
            // With unlimited capacity no edge between customers is excluded.
            instance.capacity = f64::INFINITY;
        }
        Self {
            instance,
            kind,
            edge_costs: EdgeCostMatrix::default(),
            separator: CutSeparator::default(),
            support: CvrpSupportGraph::default(),
        }
    }

    /// The optimal point for these costs, and the master LP at its optimum.
    fn solve(&mut self, costs: &[f64]) -> Result<(Solution, CvrpMasterLp), SolveFailure> {
        self.instance.check(costs)?;
        self.edge_costs.fill(self.instance.nodes(), costs);
        let mut master = CvrpMasterLp::new(&self.instance, &self.edge_costs)?;
        for _ in 0..MAX_CUT_ROUNDS {
            match master.solve()? {
                LpStatus::Optimal => {}
                LpStatus::Infeasible => return Err(SolveFailure::Infeasible),
                other => {
                    let message = format!("the relaxation ended with status {other:?}");
                    return Err(SolveFailure::SolverError(message));
                }
            }
            if !self.add_violated_cuts(&mut master)? {
                break;
            }
        }
        let decision = self.to_decision(&master);
        let objective = decision.dot(costs);
        let solution = Solution {
            decision,
            objective,
            bound: master.bound(&mut Vec::new()).min(objective),
            status: SolveStatus::Optimal,
            work: 0,
        };
        Ok((solution, master))
    }

    /// Adds violated rounded capacity inequalities; whether there are any.
    fn add_violated_cuts(&mut self, master: &mut CvrpMasterLp) -> Result<bool, SolveFailure> {
        if self.kind == Relaxation::Plain {
            return Ok(false);
        }
        self.support
            .fill(self.instance.nodes(), &master.edges, master.values());
        let mut cuts = self.separator.find(&self.support, &self.instance);
        // The tight relaxation is defined by the capacity inequalities alone; blossoms would make
        // it another one.
        cuts.retain(|cut| cut.teeth.is_empty());
        if !cuts.is_empty() {
            master.add_cuts(&cuts)?;
        }
        Ok(!cuts.is_empty())
    }

    fn to_decision(&self, master: &CvrpMasterLp) -> Decision {
        let round = |value: f64| {
            if (value - value.round()).abs() < VALUE_TOLERANCE {
                value.round()
            } else {
                value
            }
        };
        let nodes = self.instance.nodes();
        let mut entries = Vec::new();
        for (ends, value) in master.edges.iter().zip(master.values()) {
            if *value > VALUE_TOLERANCE {
                entries.push((edge_index_u32(nodes, *ends), round(*value)));
            }
        }
        Decision::from_entries(entries)
    }
}

impl RelaxationSolver for CvrpRelaxation {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        Ok(self.solve(costs)?.0)
    }
}

impl CostRanging for CvrpRelaxation {
    /// The ranges belong to the final basis of the simplex method: valid, but narrower than
    /// necessary if it is degenerate.
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let (_, mut master) = self.solve(costs)?;
        let nodes = self.instance.nodes();
        let mut ranges = CostRanges::unbounded(num_edges(nodes));
        let column_ranges = master.cost_ranges()?;
        for (ends, [lower, upper]) in master.edges.iter().zip(column_ranges) {
            let edge = edge_index_u32(nodes, *ends) as usize;
            // The current cost is in its range, whatever the rounding of the solver's ranging.
            ranges.lower[edge] = lower.min(costs[edge]);
            ranges.upper[edge] = upper.max(costs[edge]);
        }
        Ok(ranges)
    }
}
