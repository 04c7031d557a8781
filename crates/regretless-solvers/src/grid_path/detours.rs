//! Adjacent vertices of a path: paths that leave it once and return once.
//!
//! Two paths are adjacent vertices of the flow polytope if and only if they differ by a single
//! detour, which shares only its two end nodes with the path. A detour stays on one side of the
//! path, so it starts and ends with directions that the path does not take there. Short detours are
//! listed first, and among those of equal length the ones nearer to the start.

use super::{GridNode, GridPathSolver, flow};
use crate::relaxation::{AdjacentVertices, MAX_ADJACENT_VERTICES, VertexDelta};
use crate::{Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

impl AdjacentVertices for GridPathSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let solution = self.solve(costs)?;
        let source = GridNode { row: 0, col: 0 };
        let search = Detours::new(self.cols, source, self.trace_path().to_vec());
        Ok((solution, search.enumerate()))
    }
}

/// Direction of an arc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GridDirection {
    Right,
    Down,
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
pub(super) struct Detours<'a> {
    cols: usize,
    source: GridNode,
    /// Which arcs are open; `None` if all are.
    open: Option<&'a [bool]>,
    /// Arcs of the path in order.
    path: Vec<u32>,
    directions: Vec<GridDirection>,
    /// Nodes of the path, one per anti-diagonal.
    nodes: Vec<GridNode>,
    deltas: Vec<VertexDelta>,
    /// With closed arcs: the nodes from which a detour of the current ends can still be completed,
    /// in the rectangle between its ends.
    can_return: Vec<bool>,
}

impl<'a> Detours<'a> {
    /// The detours of a path from this node.
    pub(super) fn new(cols: usize, source: GridNode, path: Vec<u32>) -> Self {
        let mut directions = Vec::with_capacity(path.len());
        let mut node = source;
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
            source,
            open: None,
            path,
            directions,
            nodes,
            deltas: Vec::new(),
            can_return: Vec::new(),
        }
    }

    /// The detours that use these arcs only.
    pub(super) fn with_open_arcs(mut self, open: &'a [bool]) -> Self {
        self.open = Some(open);
        self
    }

    pub(super) fn enumerate(mut self) -> Vec<VertexDelta> {
        for length in 2..=self.path.len() {
            for start in 0..=self.path.len() - length {
                let end = start + length;
                if self.directions[start] != self.directions[end - 1]
                    && self.deltas.len() < MAX_ADJACENT_VERTICES
                {
                    let leaving = opposite(self.directions[start]);
                    let first = self.nodes[start].step(leaving);
                    let arc = self.arc(self.nodes[start], leaving);
                    if self.is_open(arc) {
                        self.find_return_nodes(start, end);
                        if self.can_return(first, start, end) {
                            self.extend(first, start, end, &mut vec![arc]);
                        }
                    }
                }
            }
        }
        self.deltas
    }

    fn is_open(&self, arc: u32) -> bool {
        self.open.is_none_or(|open| open[arc as usize])
    }

    fn is_on_path(&self, node: GridNode) -> bool {
        let layer = node.row + node.col - self.source.row - self.source.col;
        self.nodes[layer] == node
    }

    /// Finds the nodes from which a detour with these ends can be completed. Without closed arcs
    /// there are no dead ends: until a detour is in the row or column of its end it can always turn
    /// away from the path.
    fn find_return_nodes(&mut self, start: usize, end: usize) {
        if self.open.is_none() {
            return;
        }
        let (first, goal) = (self.nodes[start], self.nodes[end]);
        let width = goal.col - first.col + 1;
        self.can_return.clear();
        self.can_return
            .resize(width * (goal.row - first.row + 1), false);
        for row in (first.row..=goal.row).rev() {
            for col in (first.col..=goal.col).rev() {
                let node = GridNode { row, col };
                let continues = |direction: GridDirection| {
                    let next = node.step(direction);
                    next.row <= goal.row
                        && next.col <= goal.col
                        && self.is_open(self.arc(node, direction))
                        && self.can_return(next, start, end)
                };
                let returns = node == goal
                    || (!self.is_on_path(node)
                        && (continues(GridDirection::Right) || continues(GridDirection::Down)));
                self.can_return[(row - first.row) * width + col - first.col] = returns;
            }
        }
    }

    fn can_return(&self, node: GridNode, start: usize, end: usize) -> bool {
        let (first, goal) = (self.nodes[start], self.nodes[end]);
        let width = goal.col - first.col + 1;
        self.open.is_none()
            || self.can_return[(node.row - first.row) * width + node.col - first.col]
    }

    /// Extends a detour from a node off the path.
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
            let arc = self.arc(node, direction);
            if next.row <= goal.row
                && next.col <= goal.col
                && (next == goal || !self.is_on_path(next))
                && self.is_open(arc)
                && self.can_return(next, start, end)
            {
                arcs.push(arc);
                self.extend(next, start, end, arcs);
                arcs.pop();
            }
        }
    }

    fn arc(&self, node: GridNode, direction: GridDirection) -> u32 {
        let arc = match direction {
            GridDirection::Right => flow::right_arc(self.cols, node.row, node.col),
            GridDirection::Down => flow::down_arc(self.cols, node.row, node.col),
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
