//! Tours by brute force: a problem small enough to enumerate, so that golden values need no engine.

use regretless::Decision;
use regretless::problem::{Problem, Sense};
use regretless::solve::{Failure, Limits, Solution, Solver};

/// All tours over a few nodes; edges (i, j), i < j, in lexicographic order.
#[derive(Debug, Clone)]
pub struct SmallTours {
    nodes: usize,
    tours: Vec<Decision>,
}

impl SmallTours {
    pub fn new(nodes: usize) -> Self {
        let mut tours = Vec::new();
        extend(&mut vec![0], nodes, &mut tours);
        Self { nodes, tours }
    }
}

fn edge(a: usize, b: usize, nodes: usize) -> u32 {
    let (i, j) = (a.min(b), a.max(b));
    (i * (2 * nodes - i - 1) / 2 + j - i - 1) as u32
}

/// Completes a path in all ways, each tour in one of its two directions.
fn extend(path: &mut Vec<usize>, nodes: usize, tours: &mut Vec<Decision>) {
    if path.len() == nodes {
        if path[1] < path[nodes - 1] {
            tours.push(Decision::choosing((0..nodes).map(|i| edge(path[i], path[(i + 1) % nodes], nodes))));
        }
        return;
    }
    for next in 1..nodes {
        if !path.contains(&next) {
            path.push(next);
            extend(path, nodes, tours);
            path.pop();
        }
    }
}

impl Problem for SmallTours {
    fn name(&self) -> String {
        format!("tours over {} nodes", self.nodes)
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        self.nodes * (self.nodes - 1) / 2
    }

    fn solver(&self, _limits: &Limits) -> Box<dyn Solver> {
        Box::new(self.clone())
    }

    fn check(&self, decision: &Decision) -> Result<(), String> {
        if self.tours.contains(decision) { Ok(()) } else { Err("no tour".into()) }
    }
}

impl Solver for SmallTours {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, Failure> {
        let priced = self.tours.iter().map(|tour| (tour, tour.dot(costs)));
        let best = priced.reduce(|best, next| if next.1 < best.1 { next } else { best });
        best.map(|(tour, cost)| Solution::optimal(tour.clone(), cost)).ok_or(Failure::Infeasible)
    }
}
