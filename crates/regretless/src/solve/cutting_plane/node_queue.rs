//! The nodes of a search tree that wait, best bound first, and what is proven of those that went.

use std::rc::Rc;

use super::BasisSnapshot;

/// A node that waits: what was decided, and the basis of its parent.
#[derive(Debug)]
pub(in crate::solve) struct SearchNode<D> {
    pub(in crate::solve) bound: f64,
    /// Nodes made before this one: ties go to the youngest.
    sequence: u64,
    pub(in crate::solve) branch_path: Rc<D>,
    pub(in crate::solve) basis: Option<Rc<BasisSnapshot>>,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::solve) struct SearchResult {
    /// Nothing that was not found costs less than this.
    pub(in crate::solve) lower_bound: f64,
    /// Whether nothing was left open.
    pub(in crate::solve) complete: bool,
    /// Nodes that were solved.
    pub(in crate::solve) solved: u64,
}

/// All nodes that wait.
#[derive(Debug)]
pub(in crate::solve) struct NodeQueue<D> {
    nodes: Vec<SearchNode<D>>,
    created: u64,
    /// Nodes that did not wait any longer.
    solved: u64,
    /// Nothing that was dropped costs less than this.
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
    /// A node that is to be searched later.
    pub(in crate::solve) fn add(
        &mut self,
        bound: f64,
        branch_path: Rc<D>,
        basis: Option<Rc<BasisSnapshot>>,
    ) {
        self.created += 1;
        self.nodes.push(SearchNode {
            bound,
            sequence: self.created,
            branch_path,
            basis,
        });
    }

    /// Counts a node that is about to be solved; returns how many there were with it.
    pub(in crate::solve) fn count_node(&mut self) -> u64 {
        self.solved += 1;
        self.solved
    }

    /// Something was dropped that costs at least this.
    pub(in crate::solve) fn record_pruned(&mut self, bound: f64) {
        self.lower_bound = self.lower_bound.min(bound);
    }

    /// The node with the lowest bound, if any has a bound up to the level.
    pub(in crate::solve) fn next(&mut self, cutoff: f64) -> Option<SearchNode<D>> {
        let lowest = |a: &SearchNode<D>, b: &SearchNode<D>| {
            a.bound
                .total_cmp(&b.bound)
                .then(b.sequence.cmp(&a.sequence))
        };
        let place =
            (0..self.nodes.len()).min_by(|a, b| lowest(&self.nodes[*a], &self.nodes[*b]))?;
        let open = self.nodes.swap_remove(place);
        if open.bound > cutoff {
            // The lowest of all that wait: none of them is of interest.
            self.record_pruned(open.bound);
            self.nodes.clear();
            return None;
        }
        Some(open)
    }

    /// What is known when the present node, of this bound, and all that wait are left open.
    pub(in crate::solve) fn result_at_limit(&self, bound: f64) -> SearchResult {
        let open = self
            .nodes
            .iter()
            .map(|open| open.bound)
            .fold(bound, f64::min);
        SearchResult {
            lower_bound: self.lower_bound.min(open),
            complete: false,
            solved: self.solved,
        }
    }

    /// What is known when nothing is left.
    pub(in crate::solve) fn final_result(&self) -> SearchResult {
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
    fn the_lowest_bound_comes_first_and_of_equal_ones_the_youngest() {
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
            .map(|open| *open.branch_path)
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
