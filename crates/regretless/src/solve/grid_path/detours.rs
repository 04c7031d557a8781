//! Vertices next to a path: paths that leave it once and come back once.
//!
//! Two paths are joined by an edge of the flow polytope when and only when they differ by a single
//! detour, one that meets the path at its two ends and nowhere between. Of two ways from one node
//! of the path to another the detour keeps to one side, so it starts and ends with moves that the
//! path does not make there. Short detours come first, and among those of equal length the ones
//! nearer to the start.

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
        let search = Detours::new(self.cols, self.walk_back().to_vec());
        Ok((solution, search.all()))
    }
}

/// Which of the two ways an arc leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GridDirection {
    Right,
    Down,
}

/// All detours of one path.
struct Detours {
    cols: usize,
    /// Arcs of the path in order.
    path: Vec<u32>,
    ways: Vec<GridDirection>,
    /// Row and column of each node of the path.
    nodes: Vec<(usize, usize)>,
    found: Vec<VertexDelta>,
}

impl Detours {
    fn new(cols: usize, path: Vec<u32>) -> Self {
        let across = |arc: u32| (arc as usize % (2 * cols - 1)) < cols - 1;
        let ways: Vec<GridDirection> = path
            .iter()
            .map(|arc| {
                if across(*arc) {
                    GridDirection::Right
                } else {
                    GridDirection::Down
                }
            })
            .collect();
        let mut nodes = vec![(0, 0)];
        nodes.extend(ways.iter().scan((0, 0), |node, way| {
            *node = step(*node, *way);
            Some(*node)
        }));
        Self {
            cols,
            path,
            ways,
            nodes,
            found: Vec::new(),
        }
    }

    fn all(mut self) -> Vec<VertexDelta> {
        for length in 2..=self.path.len() {
            for start in 0..=self.path.len() - length {
                let end = start + length;
                if self.ways[start] != self.ways[end - 1]
                    && self.found.len() < MAX_ADJACENT_VERTICES
                {
                    let away = other(self.ways[start]);
                    let mut arcs = vec![self.arc(self.nodes[start], away)];
                    self.extend(step(self.nodes[start], away), (start, end), &mut arcs);
                }
            }
        }
        self.found
    }

    /// Goes on from a node off the path; it can always turn away from the path until it is level
    /// with the end, so no way leads nowhere.
    fn extend(&mut self, node: (usize, usize), (start, end): (usize, usize), arcs: &mut Vec<u32>) {
        if self.found.len() >= MAX_ADJACENT_VERTICES {
            return;
        }
        let goal = self.nodes[end];
        if node == goal {
            self.found.push(self.delta(start..end, arcs));
            return;
        }
        for way in [GridDirection::Right, GridDirection::Down] {
            let next = step(node, way);
            let meets = self.nodes[next.0 + next.1] == next;
            if next.0 <= goal.0 && next.1 <= goal.1 && (next == goal || !meets) {
                arcs.push(self.arc(node, way));
                self.extend(next, (start, end), arcs);
                arcs.pop();
            }
        }
    }

    fn arc(&self, (row, col): (usize, usize), way: GridDirection) -> u32 {
        let first = row * (2 * self.cols - 1) + col;
        let arc = match way {
            GridDirection::Right => first,
            GridDirection::Down => first + self.cols - 1,
        };
        arc as u32
    }

    fn delta(&self, replaced: std::ops::Range<usize>, arcs: &[u32]) -> VertexDelta {
        let left = self.path[replaced].iter().map(|arc| (*arc, -1.0));
        let mut entries: Vec<(u32, f64)> = left.chain(arcs.iter().map(|arc| (*arc, 1.0))).collect();
        entries.sort_unstable_by_key(|(arc, _)| *arc);
        Decision::from_entries(entries)
    }
}

fn step((row, col): (usize, usize), way: GridDirection) -> (usize, usize) {
    match way {
        GridDirection::Right => (row, col + 1),
        GridDirection::Down => (row + 1, col),
    }
}

fn other(way: GridDirection) -> GridDirection {
    match way {
        GridDirection::Right => GridDirection::Down,
        GridDirection::Down => GridDirection::Right,
    }
}
