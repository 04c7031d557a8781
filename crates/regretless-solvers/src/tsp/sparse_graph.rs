//! A sparse graph with included, excluded and free edges, and propagation of these states.
//!
//! Rules: a node with two included edges has all others excluded; a node with two edges not
//! excluded has both included; the edge that would close a subtour is excluded; the edge that
//! closes a tour of all nodes is included. Every change is recorded on a trail and can be undone.

use crate::complete_graph::EdgeEnds;

/// Whether the tours of a subproblem contain an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeState {
    /// Not fixed.
    Free,
    /// In every tour of the subproblem.
    Included,
    /// In no tour of the subproblem.
    Excluded,
}

/// A sparse graph with edge states.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseGraph {
    nodes: usize,
    ends: Vec<EdgeEnds>,
    costs: Vec<f64>,
    state: Vec<EdgeState>,
    /// Edges at node v: `incident[start[v]..start[v + 1]]`.
    start: Vec<u32>,
    incident: Vec<u32>,
    /// Number of edges at each node that are not excluded.
    available: Vec<u32>,
    /// Number of included edges at each node.
    included: Vec<u32>,
    /// The other end of the included path that ends at a node; itself when there is none.
    other_end: Vec<u32>,
    num_included: usize,
    trail: Vec<TrailEntry>,
    pending: Vec<(u32, EdgeState)>,
}

/// A change that can be undone.
#[derive(Debug, Clone, Copy)]
enum TrailEntry {
    /// An edge was included; `path_ends` are the ends of the path that it is part of.
    Included { edge: u32, path_ends: [u32; 2] },
    /// An edge was excluded.
    Excluded { edge: u32 },
}

/// The subproblem contains no tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoTourLeft;

impl SparseGraph {
    /// Resets the graph to these edges (i < j, in lexicographic order), all free.
    pub(super) fn reset(&mut self, nodes: usize, edges: impl IntoIterator<Item = (u32, u32, f64)>) {
        self.nodes = nodes;
        self.ends.clear();
        self.costs.clear();
        for (i, j, cost) in edges {
            self.ends.push([i, j]);
            self.costs.push(cost);
        }
        refill(&mut self.state, self.ends.len(), EdgeState::Free);
        refill(&mut self.available, nodes, 0);
        refill(&mut self.included, nodes, 0);
        self.other_end.clear();
        self.other_end.extend(0..nodes as u32);
        self.num_included = 0;
        self.trail.clear();
        // A failed propagation may have left pending edges.
        self.pending.clear();
        for node in self.ends.iter().flatten() {
            self.available[*node as usize] += 1;
        }
        self.list_incident();
    }

    fn list_incident(&mut self) {
        self.start.clear();
        self.start.push(0);
        let mut total = 0;
        self.start.extend(self.available.iter().map(|degree| {
            total += degree;
            total
        }));
        refill(&mut self.incident, 2 * self.ends.len(), 0);
        for (edge, ends) in self.ends.iter().enumerate().rev() {
            for node in ends {
                self.start[*node as usize + 1] -= 1;
                self.incident[self.start[*node as usize + 1] as usize] = edge as u32;
            }
        }
        // Filling shifted every start back by one node.
        self.start.remove(0);
        self.start.push(2 * self.ends.len() as u32);
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn num_edges(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(super) fn ends(&self, edge: u32) -> EdgeEnds {
        self.ends[edge as usize]
    }

    /// Index of an edge, if the graph contains it.
    pub(super) fn find(&self, ends: EdgeEnds) -> Option<u32> {
        self.ends.binary_search(&ends).ok().map(|edge| edge as u32)
    }

    #[inline]
    pub(super) fn cost(&self, edge: u32) -> f64 {
        self.costs[edge as usize]
    }

    #[inline]
    pub(super) fn state(&self, edge: u32) -> EdgeState {
        self.state[edge as usize]
    }

    /// All edges at a node, whatever their states.
    #[inline]
    pub(super) fn at(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.incident[self.start[node] as usize..self.start[node + 1] as usize]
    }

    /// Whether the included edges form a tour.
    pub(super) fn is_complete(&self) -> bool {
        self.num_included == self.nodes
    }

    /// The included edges.
    pub(super) fn included_edges(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.ends.len() as u32).filter(|edge| self.state(*edge) == EdgeState::Included)
    }

    /// Current length of the trail, for [`Self::undo_to`].
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes every change since the trail had this length.
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(TrailEntry::Included { edge, path_ends }) => {
                    let [u, v] = self.ends(edge);
                    self.state[edge as usize] = EdgeState::Free;
                    self.included[u as usize] -= 1;
                    self.included[v as usize] -= 1;
                    (
                        self.other_end[path_ends[0] as usize],
                        self.other_end[path_ends[1] as usize],
                    ) = (u, v);
                    self.num_included -= 1;
                }
                Some(TrailEntry::Excluded { edge }) => {
                    self.state[edge as usize] = EdgeState::Free;
                    for node in self.ends(edge) {
                        self.available[node as usize] += 1;
                    }
                }
                None => return,
            }
        }
    }

    /// Propagates from the degrees of the graph, before any edge is fixed.
    pub(super) fn propagate_degrees(&mut self) -> Result<(), NoTourLeft> {
        for node in 0..self.nodes as u32 {
            match self.available[node as usize] {
                0 | 1 => return Err(NoTourLeft),
                2 => self.queue_at(node, EdgeState::Included),
                _ => {}
            }
        }
        self.propagate()
    }

    /// Fixes an edge and propagates.
    pub(super) fn fix_edge(&mut self, edge: u32, state: EdgeState) -> Result<(), NoTourLeft> {
        self.pending.push((edge, state));
        self.propagate()
    }

    fn propagate(&mut self) -> Result<(), NoTourLeft> {
        while let Some((edge, state)) = self.pending.pop() {
            let result = match (self.state(edge), state) {
                (EdgeState::Free, EdgeState::Included) => self.include(edge),
                (EdgeState::Free, EdgeState::Excluded) => self.exclude(edge),
                (current, required) if current == required => Ok(()),
                (_, EdgeState::Free) => Ok(()),
                (EdgeState::Included, _) | (EdgeState::Excluded, _) => Err(NoTourLeft),
            };
            if result.is_err() {
                self.pending.clear();
                return result;
            }
        }
        Ok(())
    }

    fn include(&mut self, edge: u32) -> Result<(), NoTourLeft> {
        let [u, v] = self.ends(edge);
        let closes = self.other_end[u as usize] == v && self.included[u as usize] > 0;
        let is_full = self.included[u as usize] == 2 || self.included[v as usize] == 2;
        if is_full || (closes && self.num_included + 1 < self.nodes) {
            return Err(NoTourLeft);
        }
        let path_ends = [self.other_end[u as usize], self.other_end[v as usize]];
        self.trail.push(TrailEntry::Included { edge, path_ends });
        self.state[edge as usize] = EdgeState::Included;
        self.num_included += 1;
        (
            self.other_end[path_ends[0] as usize],
            self.other_end[path_ends[1] as usize],
        ) = (path_ends[1], path_ends[0]);
        for node in [u, v] {
            self.included[node as usize] += 1;
            if self.included[node as usize] == 2 {
                self.queue_at(node, EdgeState::Excluded);
            }
        }
        if !closes {
            self.fix_closing_edge(path_ends);
        }
        Ok(())
    }

    /// Fixes the edge between the ends of an included path: it closes a tour or a subtour.
    fn fix_closing_edge(&mut self, [first, last]: [u32; 2]) {
        let state = if self.num_included + 1 == self.nodes {
            EdgeState::Included
        } else {
            EdgeState::Excluded
        };
        let mut incident = self.at(first).iter().copied();
        let closing = incident.find(|edge| self.ends(*edge).contains(&last));
        if let Some(edge) = closing
            && self.state(edge) == EdgeState::Free
        {
            self.pending.push((edge, state));
        }
    }

    fn exclude(&mut self, edge: u32) -> Result<(), NoTourLeft> {
        self.trail.push(TrailEntry::Excluded { edge });
        self.state[edge as usize] = EdgeState::Excluded;
        for node in self.ends(edge) {
            self.available[node as usize] -= 1;
        }
        for node in self.ends(edge) {
            match self.available[node as usize] {
                0 | 1 => return Err(NoTourLeft),
                2 => self.queue_at(node, EdgeState::Included),
                _ => {}
            }
        }
        Ok(())
    }

    /// Queues all free edges at a node for this state.
    fn queue_at(&mut self, node: u32, state: EdgeState) {
        let (from, to) = (
            self.start[node as usize] as usize,
            self.start[node as usize + 1] as usize,
        );
        for edge in &self.incident[from..to] {
            if self.state[*edge as usize] == EdgeState::Free {
                self.pending.push((*edge, state));
            }
        }
    }
}

/// Overwrites a list with `length` copies of a value.
pub(super) fn refill<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    list.resize(length, value);
}

#[cfg(test)]
mod tests {
    use super::{EdgeState, SparseGraph};

    #[test]
    fn a_failed_propagation_does_not_affect_the_next_graph() {
        let mut graph = SparseGraph::default();
        // Node 0 has two edges, which are queued for inclusion; node 3 has one, so there is no
        // tour.
        graph.reset(4, [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (1, 3, 1.0)]);
        assert!(graph.propagate_degrees().is_err());
        let complete = (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j, 1.0)));
        graph.reset(4, complete);
        graph.propagate_degrees().unwrap();
        assert!((0..6).all(|edge| graph.state(edge) == EdgeState::Free));
    }
}
