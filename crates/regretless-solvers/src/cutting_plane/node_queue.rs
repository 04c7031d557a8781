//! The open nodes of a search tree, the lowest bound first, and the bound on the pruned ones.

use std::rc::Rc;

use super::BasisSnapshot;

/// An open node: its branching decisions and the basis of its parent.
#[derive(Debug)]
pub(crate) struct SearchNode<D> {
    pub(crate) bound: f64,
    /// Nodes created up to this one: ties go to the newest.
    sequence: u64,
    pub(crate) branch_path: Rc<D>,
    pub(crate) basis: Option<Rc<BasisSnapshot>>,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SearchResult {
    /// Every decision that the search did not find costs at least this.
    pub(crate) lower_bound: f64,
    /// Whether no node was left open.
    pub(crate) complete: bool,
    /// Number of nodes solved.
    pub(crate) solved: u64,
}

/// All open nodes.
#[derive(Debug)]
pub(crate) struct NodeQueue<D> {
    nodes: Vec<SearchNode<D>>,
    created: u64,
    /// Number of nodes taken from the queue and solved.
    solved: u64,
    /// Every decision in a pruned subtree costs at least this.
    lower_bound: f64,
}

impl<D> Default for NodeQueue<D> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            created: 0,
            solved: 0,
            lower_bound: f64::INFINITY,
        }
    }
}

impl<D> NodeQueue<D> {
    /// Adds an open node.
    pub(crate) fn add(&mut self, bound: f64, branch_path: Rc<D>, basis: Option<Rc<BasisSnapshot>>) {
        self.created += 1;
        self.nodes.push(SearchNode {
            bound,
            sequence: self.created,
            branch_path,
            basis,
        });
    }

    /// Counts a node that is about to be solved; returns the count including it.
    pub(crate) fn count_node(&mut self) -> u64 {
        self.solved += 1;
        self.solved
    }

    /// Records a pruned subtree with this lower bound.
    pub(crate) fn record_pruned(&mut self, bound: f64) {
        self.lower_bound = self.lower_bound.min(bound);
    }

    /// Removes and returns the node with the lowest bound. Returns `None` and prunes all nodes when
    /// that bound is above the cutoff.
    pub(crate) fn next(&mut self, cutoff: f64) -> Option<SearchNode<D>> {
        let by_bound = |a: &SearchNode<D>, b: &SearchNode<D>| {
            let newest_first = b.sequence.cmp(&a.sequence);
            a.bound.total_cmp(&b.bound).then(newest_first)
        };
        let lowest =
            (0..self.nodes.len()).min_by(|a, b| by_bound(&self.nodes[*a], &self.nodes[*b]))?;
        let node = self.nodes.swap_remove(lowest);
        if node.bound > cutoff {
            // This is the lowest bound in the queue, so all nodes are pruned.
            self.record_pruned(node.bound);
            self.nodes.clear();
            return None;
        }
        Some(node)
    }

    /// The result when a limit stops the search: the current node, with this bound, and all nodes
    /// of the queue stay open.
    pub(crate) fn result_at_limit(&self, bound: f64) -> SearchResult {
        let open_bounds = self.nodes.iter().map(|node| node.bound);
        SearchResult {
            lower_bound: self.lower_bound.min(open_bounds.fold(bound, f64::min)),
            complete: false,
            solved: self.solved,
        }
    }

    /// The result when no node is left.
    pub(crate) fn final_result(&self) -> SearchResult {
        SearchResult {
            lower_bound: self.lower_bound,
            complete: true,
            solved: self.solved,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{NodeQueue, SearchResult};

    #[test]
    fn the_lowest_bound_comes_first_and_ties_go_to_the_newest_node() {
        let mut node_queue = NodeQueue::default();
        for (name, bound) in [("a", 3.0), ("b", 1.0), ("c", 1.0), ("d", 9.0)] {
            node_queue.add(bound, Rc::new(name), None);
        }
        assert_eq!(
            node_queue.result_at_limit(2.0),
            SearchResult {
                lower_bound: 1.0,
                complete: false,
                solved: 0
            }
        );
        assert_eq!((node_queue.count_node(), node_queue.count_node()), (1, 2));
        let order: Vec<_> = std::iter::from_fn(|| node_queue.next(5.0))
            .map(|node| *node.branch_path)
            .collect();
        assert_eq!(order, ["c", "b", "a"]);
        assert_eq!(
            node_queue.final_result(),
            SearchResult {
                lower_bound: 9.0,
                complete: true,
                solved: 2
            }
        );
    }
}
