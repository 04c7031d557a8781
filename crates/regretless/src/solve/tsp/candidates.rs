//! Candidate lists: the few neighbours of each node that a good tour is likely to use.

use super::one_tree::OneTree;
use crate::solve::complete_graph::DistanceMatrix;

/// The most promising neighbours of every node, best first.
#[derive(Debug, Clone, Default)]
pub struct CandidateEdges {
    each: usize,
    /// Each candidate with the cost of its edge, which is thus read in one sweep.
    list: Vec<(u32, f64)>,
    row: Vec<f64>,
    best: Vec<(f64, f64, u32)>,
}

impl CandidateEdges {
    /// Neighbours by cost, ties to the lower number.
    pub fn by_cost(&mut self, distances: &DistanceMatrix, each: usize) {
        self.rank(distances, each, |_, row| row.fill(0.0));
    }

    /// Neighbours by their nearness to a 1-tree, given the reduced costs it was grown by; ties by
    /// reduced cost, then to the lower number.
    pub fn by_alpha_value(&mut self, reduced: &DistanceMatrix, one_tree: &OneTree, each: usize) {
        self.rank(reduced, each, |node, row| {
            one_tree.alpha_values(reduced, node, row)
        });
    }

    /// The candidates of one node with the costs of their edges, best first.
    #[inline]
    pub fn of(&self, node: u32) -> &[(u32, f64)] {
        &self.list[node as usize * self.each..][..self.each]
    }

    /// All pairs of a node and one of its candidates.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let each = self.each.max(1);
        self.list
            .iter()
            .enumerate()
            .map(move |(place, other)| ((place / each) as u32, other.0))
    }

    fn rank(
        &mut self,
        distances: &DistanceMatrix,
        each: usize,
        mut nearness: impl FnMut(u32, &mut [f64]),
    ) {
        let nodes = distances.nodes();
        self.each = each.min(nodes - 1);
        self.list.clear();
        self.row.resize(nodes, 0.0);
        for node in 0..nodes as u32 {
            nearness(node, &mut self.row);
            self.best.clear();
            for (other, cost) in distances.row(node).iter().enumerate() {
                if other as u32 != node {
                    let entry = (self.row[other], *cost, other as u32);
                    keep_best(&mut self.best, self.each, entry);
                }
            }
            self.list.extend(
                self.best
                    .iter()
                    .map(|entry| (entry.2, distances.between(node, entry.2))),
            );
        }
    }
}

/// Keeps the best few entries in order; entries come with increasing numbers.
fn keep_best(best: &mut Vec<(f64, f64, u32)>, max: usize, entry: (f64, f64, u32)) {
    let better = |a: &(f64, f64, u32), b: &(f64, f64, u32)| (a.0, a.1) < (b.0, b.1);
    if best.len() == max {
        if best.last().is_some_and(|last| !better(&entry, last)) {
            return;
        }
        best.pop();
    }
    let mut place = best.len();
    while place > 0 && better(&entry, &best[place - 1]) {
        place -= 1;
    }
    best.insert(place, entry);
}
