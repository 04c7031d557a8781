//! Good vehicle routes without a proof: what [`super::CvrpBranchAndCut`] starts from, with as many kicks as
//! wanted. Where no routes are found that carry everything, as may happen when vehicles are all but
//! full, the search for the best is asked.

use super::iterated_local_search::IteratedLocalSearch;
use super::{CvrpBranchAndCut, Fleet, edge_uses, routes_of};
use crate::decision::Decision;
use crate::solve::complete_graph::DistanceMatrix;
use crate::solve::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};

/// Times the kicks are multiplied by ten until routes are found that carry everything.
const MAX_RETRIES: u32 = 2;

/// The local search as an end in itself; one per thread.
#[derive(Debug, Clone)]
pub struct CvrpLocalSearch {
    fleet: Fleet,
    kicks: usize,
    limits: SearchLimits,
    distances: DistanceMatrix,
}

impl CvrpLocalSearch {
    /// An engine for these customers and vehicles that tries this many kicks.
    pub fn new(fleet: Fleet, kicks: usize, limits: SearchLimits) -> Self {
        Self {
            fleet,
            kicks,
            limits,
            distances: DistanceMatrix::default(),
        }
    }

    fn to_solution(&self, routes: &[Vec<u32>], costs: &[f64]) -> Solution {
        let mut uses = edge_uses(self.fleet.nodes(), routes);
        uses.sort_unstable_by_key(|(edge, _)| *edge);
        let decision = Decision::from_entries(uses);
        let objective = decision.dot(costs);
        Solution {
            decision,
            objective,
            bound: f64::NEG_INFINITY,
            status: SolveStatus::LimitReached,
            work: 0,
        }
    }
}

impl Solver for CvrpLocalSearch {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.fleet.check(costs)?;
        let nodes = self.fleet.nodes();
        self.distances.fill(nodes, costs);
        let mut kicks = (0..MAX_RETRIES).map(|tried| self.kicks.max(1) * 10_usize.pow(tried));
        let found = kicks
            .find_map(|kicks| IteratedLocalSearch::new(&self.fleet, &self.distances).search(kicks));
        match found {
            Some(routes) => Ok(self.to_solution(&routes, costs)),
            None => CvrpBranchAndCut::new(self.fleet.clone(), self.limits).solve(costs),
        }
    }

    fn solve_from(&mut self, costs: &[f64], start: &Decision) -> Result<Solution, SolveFailure> {
        self.fleet.check(costs)?;
        let nodes = self.fleet.nodes();
        self.distances.fill(nodes, costs);
        match IteratedLocalSearch::new(&self.fleet, &self.distances)
            .descend(&routes_of(nodes, start))
        {
            Some(routes) => Ok(self.to_solution(&routes, costs)),
            None => self.solve(costs),
        }
    }
}
