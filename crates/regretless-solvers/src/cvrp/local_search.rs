//! Iterated local search as a heuristic solver, without a lower bound: the start heuristic of
//! [`super::CvrpBranchAndCut`], with any number of kicks. If it finds no feasible routes, as may
//! happen when the vehicles are almost full, branch and cut solves the instance.

use super::iterated_local_search::IteratedLocalSearch;
use super::{CvrpBranchAndCut, CvrpInstance, edge_uses};
use crate::complete_graph::{EdgeCostMatrix, routes_from_edges};
use crate::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};
use regretless_base::decision::Decision;

/// Attempts to find feasible routes before branch and cut is called; untuned.
const MAX_ATTEMPTS: u32 = 2;
/// Factor of the number of kicks from one attempt to the next; untuned.
const KICK_GROWTH: usize = 10;

/// Heuristic CVRP solver by iterated local search; one per thread.
#[derive(Debug, Clone)]
pub struct CvrpLocalSearch {
    instance: CvrpInstance,
    kicks: usize,
    limits: SearchLimits,
    edge_costs: EdgeCostMatrix,
}

impl CvrpLocalSearch {
    /// A solver for these customers and vehicles that tries this many kicks.
    pub fn new(instance: CvrpInstance, kicks: usize, limits: SearchLimits) -> Self {
        Self {
            instance,
            kicks,
            limits,
            edge_costs: EdgeCostMatrix::default(),
        }
    }

    fn to_solution(&self, routes: &[Vec<u32>], costs: &[f64]) -> Solution {
        let mut uses = edge_uses(self.instance.nodes(), routes);
        uses.sort_unstable_by_key(|(edge, _)| *edge);
        let decision = Decision::from_entries(uses);
        let objective = decision.dot(costs);
        Solution {
            decision,
            objective,
            bound: f64::NEG_INFINITY,
            // No proof of optimality.
            status: SolveStatus::LimitReached,
            work: 0,
        }
    }
}

impl Solver for CvrpLocalSearch {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.instance.check(costs)?;
        let nodes = self.instance.nodes();
        self.edge_costs.fill(nodes, costs);
        let mut kicks = self.kicks.max(1);
        for _ in 0..MAX_ATTEMPTS {
            // The random stream starts anew, so a longer attempt begins with the kicks of the
            // shorter one.
            let mut search = IteratedLocalSearch::new(&self.instance, &self.edge_costs);
            if let Some(routes) = search.search(kicks) {
                return Ok(self.to_solution(&routes, costs));
            }
            kicks = kicks.saturating_mul(KICK_GROWTH);
        }
        // Feasibility is a packing problem, which local search may fail to solve; branch and cut
        // decides it.
        CvrpBranchAndCut::new(self.instance.clone(), self.limits).solve(costs)
    }

    fn solve_from(&mut self, costs: &[f64], start: &Decision) -> Result<Solution, SolveFailure> {
        self.instance.check(costs)?;
        let nodes = self.instance.nodes();
        self.edge_costs.fill(nodes, costs);
        let mut search = IteratedLocalSearch::new(&self.instance, &self.edge_costs);
        match search.descend(&routes_from_edges(nodes, start)) {
            Some(routes) => Ok(self.to_solution(&routes, costs)),
            // The given routes are infeasible, as those of another row may be.
            None => self.solve(costs),
        }
    }
}
