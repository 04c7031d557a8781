//! Candidate edges: for each node the few neighbors that a good tour is likely to use.

use super::one_tree::OneTree;
use crate::solve::complete_graph::EdgeCostMatrix;

/// The most promising neighbors of every node, the most promising first.
#[derive(Debug, Clone, Default)]
pub struct CandidateEdges {
    per_node: usize,
    /// Each candidate with the cost of its edge, so that both are read from contiguous memory.
    list: Vec<(u32, f64)>,
    /// Buffer: rank of each node as a neighbor of the current one.
    ranks: Vec<f64>,
    /// Buffer: rank, cost and node of the best candidates of the current node.
    best: Vec<RankedCandidate>,
}

/// Rank, then cost, then node.
type RankedCandidate = (f64, f64, u32);

impl CandidateEdges {
    /// The neighbors of smallest cost; ties go to the smaller node.
    pub fn by_cost(&mut self, edge_costs: &EdgeCostMatrix, per_node: usize) {
        self.rank(edge_costs, per_node, |_, ranks| ranks.fill(0.0));
    }

    /// The neighbors of smallest α-value ([`OneTree::alpha_values`]) with respect to a 1-tree that
    /// was built with these reduced costs; ties go to the smaller reduced cost, then to the smaller
    /// node.
    pub fn by_alpha_value(
        &mut self,
        reduced: &EdgeCostMatrix,
        one_tree: &OneTree,
        per_node: usize,
    ) {
        self.rank(reduced, per_node, |node, ranks| {
            one_tree.alpha_values(reduced, node, ranks);
        });
    }

    /// The candidates of one node with the costs of their edges, the most promising first.
    #[inline]
    pub fn neighbors(&self, node: u32) -> &[(u32, f64)] {
        &self.list[node as usize * self.per_node..][..self.per_node]
    }

    /// All pairs of a node and one of its candidates.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let per_node = self.per_node.max(1);
        self.list
            .iter()
            .enumerate()
            .map(move |(index, (other, _))| ((index / per_node) as u32, *other))
    }

    /// Lists the neighbors of each node by the ranks that `write_ranks` assigns.
    fn rank(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        per_node: usize,
        mut write_ranks: impl FnMut(u32, &mut [f64]),
    ) {
        let nodes = edge_costs.nodes();
        self.per_node = per_node.min(nodes - 1);
        self.list.clear();
        self.ranks.resize(nodes, 0.0);
        for node in 0..nodes as u32 {
            write_ranks(node, &mut self.ranks);
            self.best.clear();
            for (other, cost) in edge_costs.row(node).iter().enumerate() {
                if other as u32 != node {
                    let entry = (self.ranks[other], *cost, other as u32);
                    insert_if_better(&mut self.best, self.per_node, entry);
                }
            }
            for (_, _, other) in &self.best {
                self.list.push((*other, edge_costs.between(node, *other)));
            }
        }
    }
}

/// Insertion into a sorted list of at most `max` entries; nodes arrive in increasing order.
fn insert_if_better(best: &mut Vec<RankedCandidate>, max: usize, entry: RankedCandidate) {
    let is_better = |a: &RankedCandidate, b: &RankedCandidate| (a.0, a.1) < (b.0, b.1);
    if best.len() == max {
        if best.last().is_some_and(|last| !is_better(&entry, last)) {
            return;
        }
        best.pop();
    }
    let mut position = best.len();
    while position > 0 && is_better(&entry, &best[position - 1]) {
        position -= 1;
    }
    best.insert(position, entry);
}
