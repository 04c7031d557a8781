//! Adjacent vertices of a path: paths that leave it once and return once.
//!
//! Two paths are adjacent vertices of the flow polytope if and only if they differ by a single
//! detour, which shares only its two end nodes with the path. GraphDetours with few arcs are listed
//! first, and among those of equal length the ones nearer to the source.

use super::GraphPathSolver;
use super::network::Direction;
use crate::relaxation::{AdjacentVertices, MAX_ADJACENT_VERTICES, VertexDelta};
use crate::{Solution, SolveFailure, Solver, check_not_stopped};
use regretless_base::decision::Decision;

/// Most arcs that are followed. In a graph with cycles a search can follow many arcs that lead to
/// no further detour; a million take some ten milliseconds.
const MAX_STEPS: usize = 1_000_000;

/// Not on the path, or no way back to it.
const NEVER: u32 = u32::MAX;

impl AdjacentVertices for GraphPathSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let solution = self.solve(costs)?;
        let mut detours = GraphDetours::new(self);
        detours.enumerate()?;
        Ok((solution, detours.deltas))
    }
}

/// Enumerates the detours of one path.
struct GraphDetours<'a> {
    solver: &'a GraphPathSolver,
    /// The place of each node on the path.
    places: Vec<u32>,
    /// Fewest arcs from each node to the path behind the start of the current detour.
    arcs_back: Vec<u32>,
    is_visited: Vec<bool>,
    /// Arcs of the current detour.
    arcs: Vec<u32>,
    steps: usize,
    deltas: Vec<VertexDelta>,
}

impl<'a> GraphDetours<'a> {
    fn new(solver: &'a GraphPathSolver) -> Self {
        let num_nodes = solver.network.graph.num_nodes();
        let mut places = vec![NEVER; num_nodes];
        for (place, node) in (0..).zip(&solver.nodes) {
            places[*node as usize] = place;
        }
        Self {
            solver,
            places,
            arcs_back: vec![NEVER; num_nodes],
            is_visited: vec![false; num_nodes],
            arcs: Vec::new(),
            steps: 0,
            deltas: Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.deltas.len() >= MAX_ADJACENT_VERTICES || self.steps >= MAX_STEPS
    }

    fn enumerate(&mut self) -> Result<(), SolveFailure> {
        let num_nodes = self.places.len();
        // A detour visits no node twice: it has at most as many arcs as there are nodes.
        // Iterative deepening: shorter detours come first, so a list that is cut off has them.
        for length in 1..=num_nodes {
            let mut is_possible = false;
            for start in 0..self.solver.nodes.len() - 1 {
                check_not_stopped()?;
                if self.is_done() {
                    return Ok(());
                }
                // Whether a longer detour can exist at all; without one the enumeration ends.
                is_possible |= self.find_ways_back(start) >= length;
                self.extend(self.solver.nodes[start], start, length);
            }
            if !is_possible {
                break;
            }
        }
        Ok(())
    }

    /// Finds the fewest arcs back to the path behind a place, through nodes that are not on it;
    /// returns an upper bound of the arcs of a detour that starts there.
    fn find_ways_back(&mut self, start: usize) -> usize {
        self.arcs_back.fill(NEVER);
        let network = &self.solver.network;
        let mut reached: Vec<u32> = self.solver.nodes[start + 1..].to_vec();
        for node in &reached {
            self.arcs_back[*node as usize] = 0;
        }
        let mut next = 0;
        while let Some(node) = reached.get(next).copied() {
            next += 1;
            for arc in network.arcs(node, Direction::Backward) {
                let is_off_path = self.places[arc.node as usize] == NEVER;
                let arcs_back = &mut self.arcs_back[arc.node as usize];
                if is_off_path && *arcs_back == NEVER && network.is_open(arc.cost) {
                    // Marked first, so the node is not entered again.
                    *arcs_back = 0;
                    let hops = self.arcs_back[node as usize] + 1;
                    self.arcs_back[arc.node as usize] = hops;
                    reached.push(arc.node);
                }
            }
        }
        // The start, the nodes that are off the path, and the node of the return.
        let off_path = reached.len() - (self.solver.nodes.len() - 1 - start);
        off_path + 1
    }

    /// Extends a detour from a node by exactly this many arcs.
    fn extend(&mut self, node: u32, start: usize, length: usize) {
        let network = &self.solver.network;
        for arc in network.arcs(node, Direction::Forward) {
            if self.is_done() {
                return;
            }
            self.steps += 1;
            let arcs_back = self.arcs_back[arc.node as usize];
            // The arc of the path itself is no detour; a parallel arc is one.
            let is_own = self.solver.path.get(start) == Some(&arc.cost);
            if is_own || self.is_visited[arc.node as usize] || !network.is_open(arc.cost) {
                continue;
            }
            self.arcs.push(arc.cost);
            if arcs_back == 0 && length == 1 {
                let end = self.places[arc.node as usize] as usize;
                let delta = self.delta(start..end);
                self.deltas.push(delta);
            // With more arcs to the path than are left, no way of this length returns.
            } else if arcs_back > 0 && arcs_back != NEVER && (arcs_back as usize) < length {
                self.is_visited[arc.node as usize] = true;
                // Off the path again, so other detours may pass the node.
                self.extend(arc.node, start, length - 1);
                self.is_visited[arc.node as usize] = false;
            }
            self.arcs.pop();
        }
    }

    fn delta(&self, replaced: std::ops::Range<usize>) -> VertexDelta {
        let removed = self.solver.path[replaced].iter().map(|arc| (*arc, -1.0));
        let added = self.arcs.iter().map(|arc| (*arc, 1.0));
        let mut entries: Vec<(u32, f64)> = removed.chain(added).collect();
        // Sorted, as entries of decisions must be.
        entries.sort_unstable_by_key(|(arc, _)| *arc);
        Decision::from_entries(entries)
    }
}
