//! The edges a search still considers, which of them are in or out, and what follows from that.
//!
//! Rules: a node with two edges in has all others out; a node with two edges left has both in; the
//! edge that would close a ring of fewer than all nodes is out; the edge that closes the ring of
//! all nodes is in. Every change is written on a trail and can be taken back.

/// Whether an edge is part of the tours under consideration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeState {
    /// Undecided.
    Free,
    /// In every tour considered.
    Included,
    /// In no tour considered.
    Excluded,
}

/// A sparse graph with decided and undecided edges.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseGraph {
    nodes: usize,
    ends: Vec<[u32; 2]>,
    costs: Vec<f64>,
    state: Vec<EdgeState>,
    /// Edges at node v: `incident[start[v]..start[v + 1]]`.
    start: Vec<u32>,
    incident: Vec<u32>,
    /// Edges at each node that are not out.
    left: Vec<u32>,
    /// Edges at each node that are in.
    chosen: Vec<u32>,
    /// The other end of the chosen path that ends at a node; itself when there is none.
    mate: Vec<u32>,
    in_total: usize,
    trail: Vec<TrailEntry>,
    pending: Vec<(u32, EdgeState)>,
}

#[derive(Debug, Clone, Copy)]
enum TrailEntry {
    /// The edge, and the ends of the path it made.
    In {
        edge: u32,
        tips: [u32; 2],
    },
    Out {
        edge: u32,
    },
}

/// There is no tour left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoTourLeft;

impl SparseGraph {
    /// Starts over with these edges (i < j, in lexicographic order), all free.
    pub(super) fn reset(&mut self, nodes: usize, edges: impl IntoIterator<Item = (u32, u32, f64)>) {
        self.nodes = nodes;
        self.ends.clear();
        self.costs.clear();
        for (i, j, cost) in edges {
            self.ends.push([i, j]);
            self.costs.push(cost);
        }
        refill(&mut self.state, self.ends.len(), EdgeState::Free);
        refill(&mut self.left, nodes, 0);
        refill(&mut self.chosen, nodes, 0);
        self.mate.clear();
        self.mate.extend(0..nodes as u32);
        self.in_total = 0;
        self.trail.clear();
        // A search that ended in a dead end may have left some.
        self.pending.clear();
        self.ends
            .iter()
            .flatten()
            .for_each(|node| self.left[*node as usize] += 1);
        self.list_incident();
    }

    fn list_incident(&mut self) {
        self.start.clear();
        self.start.push(0);
        let mut total = 0;
        self.start.extend(self.left.iter().map(|left| {
            total += left;
            total
        }));
        refill(&mut self.incident, 2 * self.ends.len(), 0);
        for (edge, ends) in self.ends.iter().enumerate().rev() {
            for node in ends {
                self.start[*node as usize + 1] -= 1;
                self.incident[self.start[*node as usize + 1] as usize] = edge as u32;
            }
        }
        // Filling moved every start back by one node.
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
    pub(super) fn ends(&self, edge: u32) -> [u32; 2] {
        self.ends[edge as usize]
    }

    /// The edge between two nodes, the lower first, if it is here.
    pub(super) fn find(&self, ends: [u32; 2]) -> Option<u32> {
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

    /// All edges at a node, out or not.
    #[inline]
    pub(super) fn at(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.incident[self.start[node] as usize..self.start[node + 1] as usize]
    }

    /// Whether the edges that are in make a tour.
    pub(super) fn is_complete(&self) -> bool {
        self.in_total == self.nodes
    }

    /// The edges that are in.
    pub(super) fn chosen(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.ends.len() as u32).filter(|edge| self.state(*edge) == EdgeState::Included)
    }

    /// Where the trail stands, for [`Self::undo_to`].
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back every change made since the mark.
    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(TrailEntry::In { edge, tips }) => {
                    let [u, v] = self.ends(edge);
                    self.state[edge as usize] = EdgeState::Free;
                    self.chosen[u as usize] -= 1;
                    self.chosen[v as usize] -= 1;
                    (self.mate[tips[0] as usize], self.mate[tips[1] as usize]) = (u, v);
                    self.in_total -= 1;
                }
                Some(TrailEntry::Out { edge }) => {
                    self.state[edge as usize] = EdgeState::Free;
                    self.ends(edge)
                        .iter()
                        .for_each(|node| self.left[*node as usize] += 1);
                }
                None => return,
            }
        }
    }

    /// What the degrees say before anything was decided.
    pub(super) fn propagate_degrees(&mut self) -> Result<(), NoTourLeft> {
        for node in 0..self.nodes as u32 {
            match self.left[node as usize] {
                0 | 1 => return Err(NoTourLeft),
                2 => self.queue_at(node, EdgeState::Included),
                _ => {}
            }
        }
        self.propagate()
    }

    /// Decides an edge and everything that follows.
    pub(super) fn fix_edge(&mut self, edge: u32, state: EdgeState) -> Result<(), NoTourLeft> {
        self.pending.push((edge, state));
        self.propagate()
    }

    fn propagate(&mut self) -> Result<(), NoTourLeft> {
        while let Some((edge, state)) = self.pending.pop() {
            let done = match (self.state(edge), state) {
                (EdgeState::Free, EdgeState::Included) => self.include(edge),
                (EdgeState::Free, EdgeState::Excluded) => self.exclude(edge),
                (present, wanted) if present == wanted => Ok(()),
                (_, EdgeState::Free) => Ok(()),
                (EdgeState::Included, _) | (EdgeState::Excluded, _) => Err(NoTourLeft),
            };
            if done.is_err() {
                self.pending.clear();
                return done;
            }
        }
        Ok(())
    }

    fn include(&mut self, edge: u32) -> Result<(), NoTourLeft> {
        let [u, v] = self.ends(edge);
        let closes = self.mate[u as usize] == v && self.chosen[u as usize] > 0;
        let full = self.chosen[u as usize] == 2 || self.chosen[v as usize] == 2;
        if full || (closes && self.in_total + 1 < self.nodes) {
            return Err(NoTourLeft);
        }
        let tips = [self.mate[u as usize], self.mate[v as usize]];
        self.trail.push(TrailEntry::In { edge, tips });
        self.state[edge as usize] = EdgeState::Included;
        self.in_total += 1;
        (self.mate[tips[0] as usize], self.mate[tips[1] as usize]) = (tips[1], tips[0]);
        for node in [u, v] {
            self.chosen[node as usize] += 1;
            if self.chosen[node as usize] == 2 {
                self.queue_at(node, EdgeState::Excluded);
            }
        }
        if !closes {
            self.exclude_subtour(tips);
        }
        Ok(())
    }

    /// The edge between the tips of a chosen path closes a ring: of all nodes, or of too few.
    fn exclude_subtour(&mut self, [one, other]: [u32; 2]) {
        let state = if self.in_total + 1 == self.nodes {
            EdgeState::Included
        } else {
            EdgeState::Excluded
        };
        let closing = self
            .at(one)
            .iter()
            .copied()
            .find(|edge| self.ends(*edge).contains(&other));
        if let Some(edge) = closing
            && self.state(edge) == EdgeState::Free
        {
            self.pending.push((edge, state));
        }
    }

    fn exclude(&mut self, edge: u32) -> Result<(), NoTourLeft> {
        self.trail.push(TrailEntry::Out { edge });
        self.state[edge as usize] = EdgeState::Excluded;
        for node in self.ends(edge) {
            self.left[node as usize] -= 1;
        }
        for node in self.ends(edge) {
            match self.left[node as usize] {
                0 | 1 => return Err(NoTourLeft),
                2 => self.queue_at(node, EdgeState::Included),
                _ => {}
            }
        }
        Ok(())
    }

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

/// Sets a list to so many equal values.
pub(super) fn refill<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    list.resize(length, value);
}

#[cfg(test)]
mod tests {
    use super::{EdgeState, SparseGraph};

    #[test]
    fn what_a_dead_end_leaves_behind_does_not_reach_the_next_graph() {
        let mut graph = SparseGraph::default();
        // Node 0 has two edges, which are queued to be in; node 3 has one, which is a dead end.
        graph.reset(4, [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (1, 3, 1.0)]);
        assert!(graph.propagate_degrees().is_err());
        let complete = (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j, 1.0)));
        graph.reset(4, complete);
        graph.propagate_degrees().unwrap();
        assert!((0..6).all(|edge| graph.state(edge) == EdgeState::Free));
    }
}
