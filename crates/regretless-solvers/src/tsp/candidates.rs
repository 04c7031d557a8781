//! Candidate edges: for each node the few neighbors that a good tour is likely to use.

use super::one_tree::OneTree;
use crate::complete_graph::EdgeCostMatrix;

/// The most promising neighbors of every node, the most promising first.
#[derive(Debug, Clone, Default)]
pub struct CandidateEdges {
    per_node: usize,
    /// Each candidate with the cost of its edge, so both are read from contiguous memory.
    list: Vec<(u32, f64)>,
    /// Buffer: score of each node as a neighbor of the current one; smaller is better.
    scores: Vec<f64>,
    /// Buffer: score, cost and node of the best candidates of the current node.
    best: Vec<ScoredCandidate>,
}

/// Score, then cost, then node.
type ScoredCandidate = (f64, f64, u32);

impl CandidateEdges {
    /// Lists the neighbors of smallest cost; ties go to the smaller node.
    pub fn fill_by_cost(&mut self, edge_costs: &EdgeCostMatrix, per_node: usize) {
        self.fill_by_score(edge_costs, per_node, |_, scores| scores.fill(0.0));
    }

    /// Lists the neighbors of smallest α-value ([`OneTree::alpha_values`]) with respect to a 1-tree
    /// that was built with these reduced costs; ties go to the smaller reduced cost, then to the
    /// smaller node.
    pub fn fill_by_alpha_value(
        &mut self,
        reduced_costs: &EdgeCostMatrix,
        one_tree: &OneTree,
        per_node: usize,
    ) {
        self.fill_by_score(reduced_costs, per_node, |node, scores| {
            one_tree.alpha_values(reduced_costs, node, scores);
        });
    }

    /// The candidates of one node with the costs of their edges, the most promising first.
    #[inline]
    pub fn neighbors(&self, node: u32) -> &[(u32, f64)] {
        &self.list[node as usize * self.per_node..][..self.per_node]
    }

    /// All pairs of a node and one of its candidates.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        // At least 1, since no candidate per node would divide by zero.
        let per_node = self.per_node.max(1);
        self.list
            .iter()
            .enumerate()
            .map(move |(index, (other, _))| ((index / per_node) as u32, *other))
    }

    /// Lists the neighbors of each node by the scores that `write_scores` assigns, smallest first.
    fn fill_by_score(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        per_node: usize,
        mut write_scores: impl FnMut(u32, &mut [f64]),
    ) {
        let nodes = edge_costs.nodes();
        self.per_node = per_node.min(nodes - 1);
        self.list.clear();
        self.scores.resize(nodes, 0.0);
        for node in 0..nodes as u32 {
            write_scores(node, &mut self.scores);
            self.best.clear();
            for (other, cost) in edge_costs.row(node).iter().enumerate() {
                if other as u32 != node {
                    let entry = (self.scores[other], *cost, other as u32);
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
fn insert_if_better(best: &mut Vec<ScoredCandidate>, max: usize, entry: ScoredCandidate) {
    // Entries arrive by increasing node, so comparing score and cost alone resolves ties in favor
    // of the smaller node.
    let is_better = |a: &ScoredCandidate, b: &ScoredCandidate| (a.0, a.1) < (b.0, b.1);
    if best.len() == max {
        // Most nodes are rejected by this one comparison: a short sorted list is faster than a
        // heap.
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
