//! Adjacent vertices of a path: paths that leave it once and return once.
//!
//! Two paths are adjacent vertices of the flow polytope if and only if they differ by a single
//! detour, which shares only its two end nodes with the path. A detour stays on one side of the
//! path, so it starts and ends with directions that the path does not take there. Short detours are
//! listed first, and among those of equal length the ones nearer to the start.

use super::GridPathSolver;
use crate::decision::Decision;
use crate::solve::relaxation::{AdjacentVertices, MAX_ADJACENT_VERTICES, VertexDelta};
use crate::solve::{Solution, SolveFailure, Solver};

impl AdjacentVertices for GridPathSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let solution = self.solve(costs)?;
        let search = Detours::new(self.cols, self.trace_path().to_vec());
        Ok((solution, search.enumerate()))
    }
}

/// Direction of an arc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GridDirection {
    Right,
    Down,
}

/// A node of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GridNode {
    row: usize,
    col: usize,
}

impl GridNode {
    /// The node at the end of the arc in a direction.
    fn step(self, direction: GridDirection) -> Self {
        let Self { row, col } = self;
        match direction {
            GridDirection::Right => Self { row, col: col + 1 },
            GridDirection::Down => Self { row: row + 1, col },
        }
    }
}

/// Enumerates the detours of one path.
struct Detours {
    cols: usize,
    /// Arcs of the path in order.
    path: Vec<u32>,
    directions: Vec<GridDirection>,
    /// Nodes of the path, one per anti-diagonal.
    nodes: Vec<GridNode>,
    deltas: Vec<VertexDelta>,
}

impl Detours {
    fn new(cols: usize, path: Vec<u32>) -> Self {
        let mut directions = Vec::with_capacity(path.len());
        let mut node = GridNode { row: 0, col: 0 };
        let mut nodes = vec![node];
        for arc in &path {
            let is_horizontal = (*arc as usize % (2 * cols - 1)) < cols - 1;
            let direction = if is_horizontal {
                GridDirection::Right
            } else {
                GridDirection::Down
            };
            node = node.step(direction);
            directions.push(direction);
            nodes.push(node);
        }
        Self {
            cols,
            path,
            directions,
            nodes,
            deltas: Vec::new(),
        }
    }

    fn enumerate(mut self) -> Vec<VertexDelta> {
        for length in 2..=self.path.len() {
            for start in 0..=self.path.len() - length {
                let end = start + length;
                if self.directions[start] != self.directions[end - 1]
                    && self.deltas.len() < MAX_ADJACENT_VERTICES
                {
                    let leaving = opposite(self.directions[start]);
                    let mut arcs = vec![self.arc(self.nodes[start], leaving)];
                    self.extend(self.nodes[start].step(leaving), start, end, &mut arcs);
                }
            }
        }
        self.deltas
    }

    /// Extends a detour from a node off the path. Until it is in the row or column of the end it
    /// can always turn away from the path, so there are no dead ends.
    fn extend(&mut self, node: GridNode, start: usize, end: usize, arcs: &mut Vec<u32>) {
        if self.deltas.len() >= MAX_ADJACENT_VERTICES {
            return;
        }
        let goal = self.nodes[end];
        if node == goal {
            self.deltas.push(self.delta(start..end, arcs));
            return;
        }
        for direction in [GridDirection::Right, GridDirection::Down] {
            let next = node.step(direction);
            let is_on_path = self.nodes[next.row + next.col] == next;
            if next.row <= goal.row && next.col <= goal.col && (next == goal || !is_on_path) {
                arcs.push(self.arc(node, direction));
                self.extend(next, start, end, arcs);
                arcs.pop();
            }
        }
    }

    fn arc(&self, node: GridNode, direction: GridDirection) -> u32 {
        let first = node.row * (2 * self.cols - 1) + node.col;
        let arc = match direction {
            GridDirection::Right => first,
            GridDirection::Down => first + self.cols - 1,
        };
        arc as u32
    }

    fn delta(&self, replaced: std::ops::Range<usize>, arcs: &[u32]) -> VertexDelta {
        let removed = self.path[replaced].iter().map(|arc| (*arc, -1.0));
        let mut entries: Vec<(u32, f64)> =
            removed.chain(arcs.iter().map(|arc| (*arc, 1.0))).collect();
        entries.sort_unstable_by_key(|(arc, _)| *arc);
        Decision::from_entries(entries)
    }
}

fn opposite(direction: GridDirection) -> GridDirection {
    match direction {
        GridDirection::Right => GridDirection::Down,
        GridDirection::Down => GridDirection::Right,
    }
}
