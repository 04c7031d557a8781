//! Flows of least cost through a network with capacities.
//!
//! Solved by the primal network simplex method. The linear program is the problem itself: there are
//! no integer variables, and flows are whole if supplies and capacities are. Ties are broken by the
//! fixed order of the search: the result depends on the costs only. Costs have any sign; a cycle of
//! negative cost without a limit makes the problem unbounded.

mod adjacent_vertices;
mod cost_ranges;
mod cut;
mod network_simplex;

use std::sync::Arc;

pub use cost_ranges::ExactFlowRanging;
pub use cut::DemandCut;

use self::network_simplex::NetworkSimplex;
use super::relaxation::RelaxationSolver;
use super::{Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

/// Flows below this, relative to all supplies, are rounding errors of sums.
const FLOW_TOLERANCE: f64 = 1e-12;

/// A directed network. The first arcs have predicted costs, the others cost nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowNetwork {
    /// Number of nodes.
    pub nodes: usize,
    /// The node that each arc leaves.
    pub tails: Vec<u32>,
    /// The node that each arc leads to.
    pub heads: Vec<u32>,
    /// Number of arcs with predicted costs.
    pub num_costs: usize,
}

/// What nodes send and arcs carry.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowLimits {
    /// What each node sends; negative for a demand.
    pub supply: Vec<f64>,
    /// The least flow of each arc.
    pub lower: Vec<f64>,
    /// The most flow of each arc; may be infinite.
    pub upper: Vec<f64>,
}

/// Solves flows through one network.
#[derive(Debug, Clone)]
pub struct NetworkFlowSolver {
    network: Arc<FlowNetwork>,
    lower: Vec<f64>,
    simplex: NetworkSimplex,
    /// Flows up to this are 0.
    negligible: f64,
}

impl NetworkFlowSolver {
    /// A solver for flows within these limits.
    pub fn new(network: Arc<FlowNetwork>, limits: &FlowLimits) -> Self {
        let mut solver = Self {
            simplex: NetworkSimplex::new(&network),
            network,
            lower: Vec::new(),
            negligible: 0.0,
        };
        solver.enter(limits);
        solver
    }

    /// Solves within other limits from now on; `false`, with nothing changed, if they are those of
    /// another network.
    pub fn set_limits(&mut self, network: &Arc<FlowNetwork>, limits: &FlowLimits) -> bool {
        let is_same = Arc::ptr_eq(&self.network, network);
        if is_same {
            self.enter(limits);
        }
        is_same
    }

    /// Sets the limits, without what flows in any case.
    fn enter(&mut self, limits: &FlowLimits) {
        self.lower.clone_from(&limits.lower);
        // What flows in any case leaves its tail and arrives at its head; the rest has the lower
        // bound 0.
        let mut supply = limits.supply.clone();
        for (arc, lower) in limits.lower.iter().enumerate() {
            supply[self.network.tails[arc] as usize] -= lower;
            supply[self.network.heads[arc] as usize] += lower;
        }
        let total: f64 = supply.iter().map(|supply| supply.abs()).sum();
        // Relative to all supplies, since sums of them round.
        self.negligible = FLOW_TOLERANCE * total.max(f64::MIN_POSITIVE);
        let bounds = limits.lower.iter().zip(&limits.upper);
        self.simplex
            .set_limits(supply, bounds.map(|(lower, upper)| upper - lower));
    }

    /// The flow of each arc beyond its lower bound, without rounding errors.
    fn flow(&self, arc: usize) -> f64 {
        let flow = self.simplex.flow()[arc];
        if flow <= self.negligible { 0.0 } else { flow }
    }

    fn solution(&self, costs: &[f64]) -> Solution {
        let flows = (0..self.network.num_costs).map(|arc| self.lower[arc] + self.flow(arc));
        let entries = (0..).zip(flows).filter(|(_, flow)| *flow != 0.0);
        let decision = Decision::from_entries(entries);
        let objective = decision.dot(costs);
        Solution::optimal(decision, objective)
    }
}

impl Solver for NetworkFlowSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.simplex.solve(costs)?;
        Ok(self.solution(costs))
    }
}

/// There are no integer variables: the relaxation is the problem itself.
impl RelaxationSolver for NetworkFlowSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }
}
