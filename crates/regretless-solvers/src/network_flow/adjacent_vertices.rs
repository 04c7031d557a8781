//! Adjacent vertices of a flow.
//!
//! Arcs whose flow is between its bounds form a forest. An edge of the polytope leads along a cycle
//! of the network that, together with this forest, contains no other cycle: it visits each tree of
//! the forest at most once. These cycles are the simple cycles between the trees along arcs at
//! their bounds. The flow changes as far as the arcs of the cycle allow; a cycle without a limit
//! leads to no vertex. Cycles with few arcs at their bounds are listed first.

use super::NetworkFlowSolver;
use crate::relaxation::{AdjacentVertices, MAX_ADJACENT_VERTICES, VertexDelta};
use crate::{Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

/// Most arcs that the search tries. Untuned: in sparse networks it may follow very many ways that
/// do not return. It also bounds the depth of the recursion, as a way is followed once for each
/// smaller length.
const MAX_STEPS: usize = 10_000_000;

/// The change of the flow of an arc.
#[derive(Debug, Clone, Copy)]
struct ArcChange {
    arc: usize,
    rises: bool,
    from: usize,
    to: usize,
}

/// Trees of arcs whose flow is between its bounds.
struct FlowForest {
    /// The root of each node's tree, its lowest node.
    tree_of: Vec<usize>,
    /// The change that leads from each node to its parent; `None` for roots.
    to_parent: Vec<Option<ArcChange>>,
    depth: Vec<usize>,
}

impl ArcChange {
    fn reversed(self) -> Self {
        Self {
            arc: self.arc,
            rises: !self.rises,
            from: self.to,
            to: self.from,
        }
    }
}

impl FlowForest {
    fn new(solver: &NetworkFlowSolver) -> Self {
        let nodes = solver.simplex.num_nodes();
        let mut neighbors = vec![Vec::new(); nodes];
        for arc in 0..solver.simplex.num_arcs() {
            // Arcs whose flow can change both ways are basic: they form the trees.
            if solver.can_change(arc) == [true, true] {
                let [from, to] = solver.simplex.ends(arc);
                let change = ArcChange {
                    arc,
                    rises: true,
                    from,
                    to,
                };
                neighbors[from].push(change);
                neighbors[to].push(change.reversed());
            }
        }
        let mut forest = Self {
            tree_of: vec![usize::MAX; nodes],
            to_parent: vec![None; nodes],
            depth: vec![0; nodes],
        };
        for root in 0..nodes {
            if forest.tree_of[root] != usize::MAX {
                continue;
            }
            forest.tree_of[root] = root;
            // Any traversal will do, since ways in a tree are unique.
            let mut stack = vec![root];
            while let Some(node) = stack.pop() {
                for change in &neighbors[node] {
                    if forest.tree_of[change.to] == usize::MAX {
                        forest.tree_of[change.to] = root;
                        forest.to_parent[change.to] = Some(change.reversed());
                        forest.depth[change.to] = forest.depth[node] + 1;
                        stack.push(change.to);
                    }
                }
            }
        }
        forest
    }

    /// Adds the changes on the way between two nodes of a tree.
    fn add_path(&self, from: usize, to: usize, changes: &mut Vec<ArcChange>) {
        let (mut first, mut second) = (from, to);
        while first != second {
            // The deeper node first, so both sides meet at their common ancestor.
            let is_first_deeper = self.depth[first] >= self.depth[second];
            let deeper = if is_first_deeper { first } else { second };
            let Some(change) = self.to_parent[deeper] else {
                return;
            };
            if is_first_deeper {
                changes.push(change);
                first = change.to;
            } else {
                changes.push(change.reversed());
                second = change.to;
            }
        }
    }
}

/// Enumerates the cycles between trees.
struct CycleSearch<'a> {
    solver: &'a NetworkFlowSolver,
    forest: FlowForest,
    /// The changes of arcs at their bounds that leave each tree, by its root.
    leaving: Vec<Vec<ArcChange>>,
    /// The changes of the cycle so far, and the trees that it visits.
    cycle: Vec<ArcChange>,
    is_visited: Vec<bool>,
    steps_left: usize,
    deltas: Vec<VertexDelta>,
}

impl<'a> CycleSearch<'a> {
    fn new(solver: &'a NetworkFlowSolver) -> Self {
        let forest = FlowForest::new(solver);
        let nodes = solver.simplex.num_nodes();
        let mut leaving = vec![Vec::new(); nodes];
        for arc in 0..solver.simplex.num_arcs() {
            let [from, to] = solver.simplex.ends(arc);
            let rise = ArcChange {
                arc,
                rises: true,
                from,
                to,
            };
            let change = match solver.can_change(arc) {
                [true, false] => rise,
                [false, true] => rise.reversed(),
                _ => continue,
                // An arc that cannot change at all leads nowhere.
            };
            leaving[forest.tree_of[change.from]].push(change);
        }
        Self {
            solver,
            forest,
            leaving,
            cycle: Vec::new(),
            is_visited: vec![false; nodes],
            steps_left: MAX_STEPS,
            deltas: Vec::new(),
        }
    }

    fn enumerate(mut self) -> Vec<VertexDelta> {
        let nodes = self.is_visited.len();
        // Short cycles first, so a list that is cut off has the simplest ones.
        for length in 1..=nodes {
            for tree in 0..nodes {
                if self.is_exhausted() {
                    return self.deltas;
                }
                self.extend(tree, tree, length);
            }
        }
        self.deltas
    }

    fn is_exhausted(&self) -> bool {
        self.deltas.len() >= MAX_ADJACENT_VERTICES || self.steps_left == 0
    }

    /// Adds changes that leave a tree to the cycle, which began at the tree `first`, the lowest of
    /// all that it visits, until it has this many.
    fn extend(&mut self, first: usize, tree: usize, length: usize) {
        if self.is_exhausted() {
            return;
        }
        self.is_visited[tree] = true;
        // A step is counted even if nothing leaves, so the search ends in any case.
        self.steps_left = self.steps_left.saturating_sub(1 + self.leaving[tree].len());
        for position in 0..self.leaving[tree].len() {
            let change = self.leaving[tree][position];
            let next = self.forest.tree_of[change.to];
            self.cycle.push(change);
            if self.cycle.len() == length {
                if next == first && self.deltas.len() < MAX_ADJACENT_VERTICES {
                    self.deltas.extend(self.delta());
                }
            // Each cycle is found once, from the lowest tree that it visits.
            } else if next > first && !self.is_visited[next] {
                self.extend(first, next, length);
            }
            self.cycle.pop();
        }
        self.is_visited[tree] = false;
    }

    /// The difference to the vertex that the cycle leads to, if it has a limit.
    fn delta(&self) -> Option<VertexDelta> {
        let mut changes = Vec::new();
        for (position, change) in self.cycle.iter().enumerate() {
            changes.push(*change);
            let next = self.cycle[(position + 1) % self.cycle.len()];
            self.forest.add_path(change.to, next.from, &mut changes);
        }
        let room = |change: &ArcChange| {
            let flow = self.solver.flow(change.arc);
            if change.rises {
                self.solver.simplex.capacity()[change.arc] - flow
            } else {
                flow
            }
        };
        let step = changes.iter().map(room).fold(f64::INFINITY, f64::min);
        // Flow around an unlimited cycle reaches no further vertex.
        if step == f64::INFINITY {
            return None;
        }
        let num_costs = self.solver.network.num_costs;
        let mut entries: Vec<(u32, f64)> = changes
            .iter()
            .filter(|change| change.arc < num_costs)
            .map(|change| {
                let sign = if change.rises { 1.0 } else { -1.0 };
                (change.arc as u32, sign * step)
            })
            .collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        Some(Decision::from_entries(entries))
    }
}

impl AdjacentVertices for NetworkFlowSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let solution = self.solve(costs)?;
        let deltas = CycleSearch::new(self).enumerate();
        Ok((solution, deltas))
    }
}
