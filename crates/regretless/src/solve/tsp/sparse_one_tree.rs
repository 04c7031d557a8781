//! The cheapest 1-tree of a sparse graph whose edges may be in or out, and what its prices prove.
//!
//! Edges that are in are taken first, the others by reduced cost (Kruskal 1956), ties by number.
//! The order of the last tree is kept: multipliers move little, so sorting again is nearly free.

use super::sparse_graph::{EdgeState, SparseGraph, refill};
use super::subgradient::OneTreeBuilder;

/// A cheapest 1-tree of a graph; buffers are kept from one tree to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseOneTree {
    order: Vec<(f64, u32)>,
    key: Vec<f64>,
    member: Vec<bool>,
    one_tree: Vec<u32>,
    degree: Vec<u32>,
    root: Vec<u32>,
    special: u32,
    extra: u32,
    rooted: RootedTree,
    /// Cheapest edge that could replace each tree edge.
    swap: Vec<f64>,
}

/// What reduced costs prove about single edges.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeFixings {
    /// Edges that must be in or out of every tour below the level.
    pub(super) decided: Vec<(u32, EdgeState)>,
    /// No tour that was dismissed costs less than this.
    pub(super) lower_bound: f64,
}

impl SparseOneTree {
    /// Forgets the order of another graph.
    pub(super) fn reset(&mut self, graph: &SparseGraph) {
        self.order.clear();
        self.order
            .extend((0..graph.num_edges() as u32).map(|edge| (graph.cost(edge), edge)));
        refill(&mut self.key, graph.num_edges(), 0.0);
        refill(&mut self.member, graph.num_edges(), false);
        self.one_tree.clear();
    }

    /// Grows the cheapest 1-tree; returns its bound, infinite when the graph has fallen apart.
    pub(super) fn build(&mut self, graph: &SparseGraph, multipliers: &[f64]) -> f64 {
        self.price(graph, multipliers);
        if !self.build_spanning_tree(graph) {
            return f64::INFINITY;
        }
        self.add_extra(graph);
        let one_tree: f64 = self
            .one_tree
            .iter()
            .map(|edge| self.key[*edge as usize])
            .sum();
        one_tree + 2.0 * multipliers.iter().sum::<f64>()
    }

    pub(super) fn is_tour(&self) -> bool {
        self.degree.iter().all(|degree| *degree == 2)
    }

    /// All edges of the tree.
    pub(super) fn edges(&self) -> &[u32] {
        &self.one_tree
    }

    fn price(&mut self, graph: &SparseGraph, multipliers: &[f64]) {
        for (key, edge) in &mut self.order {
            let [u, v] = graph.ends(*edge);
            *key = graph.cost(*edge) - multipliers[u as usize] - multipliers[v as usize];
            self.key[*edge as usize] = *key;
        }
        sort(&mut self.order);
    }

    fn build_spanning_tree(&mut self, graph: &SparseGraph) -> bool {
        let nodes = graph.nodes();
        self.one_tree
            .iter()
            .for_each(|edge| self.member[*edge as usize] = false);
        self.one_tree.clear();
        refill(&mut self.degree, nodes, 0);
        self.root.clear();
        self.root.extend(0..nodes as u32);
        for edge in graph.chosen() {
            self.join(graph, edge);
        }
        for place in 0..self.order.len() {
            if self.one_tree.len() + 1 == nodes {
                break;
            }
            let edge = self.order[place].1;
            if graph.state(edge) == EdgeState::Free {
                self.join(graph, edge);
            }
        }
        self.one_tree.len() + 1 == nodes
    }

    fn join(&mut self, graph: &SparseGraph, edge: u32) {
        let [u, v] = graph.ends(edge);
        let (one, other) = (find(&mut self.root, u), find(&mut self.root, v));
        if one != other {
            self.root[one as usize] = other;
            self.take(graph, edge);
        }
    }

    fn take(&mut self, graph: &SparseGraph, edge: u32) {
        self.one_tree.push(edge);
        self.member[edge as usize] = true;
        graph
            .ends(edge)
            .iter()
            .for_each(|node| self.degree[*node as usize] += 1);
    }

    /// Adds the second edge of the leaf whose second edge is dearest.
    fn add_extra(&mut self, graph: &SparseGraph) {
        let mut dearest = (f64::NEG_INFINITY, 0, 0);
        for leaf in 0..graph.nodes() as u32 {
            if self.degree[leaf as usize] == 1 {
                let (key, edge) = self.second(graph, leaf);
                if key > dearest.0 {
                    dearest = (key, leaf, edge);
                }
            }
        }
        (self.special, self.extra) = (dearest.1, dearest.2);
        self.take(graph, self.extra);
    }

    fn second(&self, graph: &SparseGraph, leaf: u32) -> (f64, u32) {
        let mut min = (f64::INFINITY, 0);
        for edge in graph.at(leaf) {
            let usable = graph.state(*edge) != EdgeState::Excluded && !self.member[*edge as usize];
            if usable && self.key[*edge as usize] < min.0 {
                min = (self.key[*edge as usize], *edge);
            }
        }
        min
    }

    /// Finds edges without which, or only with which, a tour can stay at or below the level, given
    /// the bound of the tree just grown.
    pub(super) fn find(
        &mut self,
        graph: &SparseGraph,
        bound: f64,
        cutoff: f64,
        fixings: &mut EdgeFixings,
    ) {
        fixings.decided.clear();
        self.rooted
            .build(graph, &self.one_tree, self.special, self.extra);
        refill(&mut self.swap, graph.num_edges(), f64::INFINITY);
        for edge in 0..graph.num_edges() as u32 {
            if graph.state(edge) == EdgeState::Free && !self.member[edge as usize] {
                let min = bound + self.key[edge as usize] - self.max_replaceable_edge(graph, edge);
                if min > cutoff {
                    fixings.lower_bound = fixings.lower_bound.min(min);
                    fixings.decided.push((edge, EdgeState::Excluded));
                } else {
                    self.offer_replacement(graph, edge);
                }
            }
        }
        for edge in &self.one_tree {
            let min = bound + self.swap_gain(*edge);
            if graph.state(*edge) == EdgeState::Free && min > cutoff {
                fixings.lower_bound = fixings.lower_bound.min(min);
                fixings.decided.push((*edge, EdgeState::Included));
            }
        }
    }

    /// How much dearer the tree becomes without one of its edges, after [`Self::find`].
    pub(super) fn swap_gain(&self, edge: u32) -> f64 {
        self.swap[edge as usize] - self.key[edge as usize]
    }

    /// The free edge to branch on: at a node with more than two tree edges, the one the tree could
    /// most easily do without; ties go to the edge met first.
    pub(super) fn branching_edge(&self, graph: &SparseGraph) -> Option<u32> {
        let crowded = |edge: u32| {
            graph
                .ends(edge)
                .iter()
                .any(|node| self.degree[*node as usize] > 2)
        };
        let open = self
            .one_tree
            .iter()
            .copied()
            .filter(|edge| graph.state(*edge) == EdgeState::Free && crowded(*edge));
        open.min_by(|a, b| self.swap_gain(*a).total_cmp(&self.swap_gain(*b)))
    }

    /// The dearest tree edge that an edge from outside could replace.
    fn max_replaceable_edge(&self, graph: &SparseGraph, edge: u32) -> f64 {
        let [u, v] = graph.ends(edge);
        if u == self.special || v == self.special {
            return self.key[self.extra as usize];
        }
        let mut dearest = f64::NEG_INFINITY;
        self.rooted.walk(u, v, |tree_edge| {
            // An edge that is in cannot be replaced.
            if graph.state(tree_edge) == EdgeState::Free {
                dearest = self.key[tree_edge as usize].max(dearest);
            }
        });
        dearest
    }

    fn offer_replacement(&mut self, graph: &SparseGraph, edge: u32) {
        let [u, v] = graph.ends(edge);
        let (key, swap) = (self.key[edge as usize], &mut self.swap);
        let mut lower =
            |tree_edge: u32| swap[tree_edge as usize] = key.min(swap[tree_edge as usize]);
        if u == self.special || v == self.special {
            lower(self.extra);
            lower(self.rooted.edge_of_special(self.special));
        } else {
            self.rooted.walk(u, v, lower);
        }
    }
}

/// The spanning tree hung from the node next to the special one.
#[derive(Debug, Clone, Default)]
struct RootedTree {
    /// Parent, edge to it, and depth of each node.
    above: Vec<(u32, u32, u32)>,
    /// Tree edges at each node, as chains of half-edges.
    head: Vec<u32>,
    chain: Vec<u32>,
    stack: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl RootedTree {
    fn build(&mut self, graph: &SparseGraph, one_tree: &[u32], special: u32, extra: u32) {
        refill(&mut self.head, graph.nodes(), NONE);
        refill(&mut self.above, graph.nodes(), (NONE, NONE, 0));
        refill(&mut self.chain, 2 * one_tree.len(), NONE);
        for (place, edge) in one_tree
            .iter()
            .enumerate()
            .filter(|(_, edge)| **edge != extra)
        {
            for (side, node) in graph.ends(*edge).into_iter().enumerate() {
                self.chain[2 * place + side] = self.head[node as usize];
                self.head[node as usize] = (2 * place + side) as u32;
            }
        }
        self.stack.clear();
        self.stack.push(special);
        while let Some(node) = self.stack.pop() {
            let mut half = self.head[node as usize];
            while half != NONE {
                let edge = one_tree[half as usize / 2];
                let other = graph.ends(edge)[1 - half as usize % 2];
                if edge != self.above[node as usize].1 {
                    self.above[other as usize] = (node, edge, self.above[node as usize].2 + 1);
                    self.stack.push(other);
                }
                half = self.chain[half as usize];
            }
        }
    }

    /// The spanning-tree edge of the special leaf, from which the tree hangs.
    fn edge_of_special(&self, special: u32) -> u32 {
        let child = self.above.iter().find(|(parent, _, _)| *parent == special);
        child.map_or(NONE, |(_, edge, _)| *edge)
    }

    /// Visits the tree edges between two nodes.
    fn walk(&self, mut u: u32, mut v: u32, mut visit: impl FnMut(u32)) {
        while u != v {
            if self.above[u as usize].2 < self.above[v as usize].2 {
                (u, v) = (v, u);
            }
            let (parent, edge, _) = self.above[u as usize];
            visit(edge);
            u = parent;
        }
    }
}

/// A tree and the graph it grows on.
pub(super) struct SparseOneTreeView<'a> {
    pub(super) one_tree: &'a mut SparseOneTree,
    pub(super) graph: &'a SparseGraph,
}

impl OneTreeBuilder for SparseOneTreeView<'_> {
    fn build(&mut self, multipliers: &[f64]) -> f64 {
        self.one_tree.build(self.graph, multipliers)
    }

    fn degrees(&self) -> &[u32] {
        &self.one_tree.degree
    }
}

/// The name of a node's part of the forest; ways are halved as they are walked.
fn find(root: &mut [u32], mut node: u32) -> u32 {
    while root[node as usize] != node {
        root[node as usize] = root[root[node as usize] as usize];
        node = root[node as usize];
    }
    node
}

/// Sorts by key, then number: by insertion while that is cheap, which it is when little moved.
fn sort(order: &mut [(f64, u32)]) {
    let mut budget = 12 * order.len();
    for place in 1..order.len() {
        let item = order[place];
        let mut at = place;
        while at > 0 && item < order[at - 1] {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = item;
        budget = budget.saturating_sub(place - at);
        if budget == 0 {
            order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            return;
        }
    }
}
