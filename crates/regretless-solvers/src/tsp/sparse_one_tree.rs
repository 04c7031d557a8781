//! The minimum 1-tree of a sparse graph with included and excluded edges, and reduced cost fixing.
//!
//! Included edges are taken first, the others by reduced cost (Kruskal 1956); ties go to the
//! smaller index. The sorted order of the last tree is kept: multipliers change little between
//! calls, so sorting again takes little time.

use super::sparse_graph::{EdgeState, SparseGraph, refill};
use super::subgradient::OneTreeBuilder;

/// A minimum 1-tree of a graph; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseOneTree {
    /// Edges sorted by reduced cost.
    order: Vec<(f64, u32)>,
    /// Reduced cost of each edge.
    key: Vec<f64>,
    in_tree: Vec<bool>,
    tree_edges: Vec<u32>,
    degree: Vec<u32>,
    /// Union-find forest of Kruskal's algorithm.
    component: Vec<u32>,
    /// The leaf with the extra edge.
    special: u32,
    /// The extra edge.
    extra: u32,
    rooted: RootedTree,
    /// Reduced cost of the cheapest edge that could replace each tree edge.
    replacement: Vec<f64>,
}

/// Edges fixed by reduced costs.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeFixings {
    /// Edges that every tour up to the cutoff must contain or must not contain.
    pub(super) fixed: Vec<(u32, EdgeState)>,
    /// Every tour excluded so far costs at least this.
    pub(super) lower_bound: f64,
}

impl SparseOneTree {
    /// Prepares for another graph.
    pub(super) fn reset(&mut self, graph: &SparseGraph) {
        self.order.clear();
        self.order
            .extend((0..graph.num_edges() as u32).map(|edge| (graph.cost(edge), edge)));
        refill(&mut self.key, graph.num_edges(), 0.0);
        refill(&mut self.in_tree, graph.num_edges(), false);
        self.tree_edges.clear();
    }

    /// Builds the minimum 1-tree; returns its bound, infinite when the graph is not connected.
    pub(super) fn build(&mut self, graph: &SparseGraph, multipliers: &[f64]) -> f64 {
        self.sort_by_reduced_cost(graph, multipliers);
        if !self.build_spanning_tree(graph) {
            return f64::INFINITY;
        }
        self.add_extra(graph);
        let keys = self.tree_edges.iter().map(|edge| self.key[*edge as usize]);
        // Held and Karp (1970): every node of a tour has degree two, so the reduced cost of a tour
        // is its cost minus twice the sum of the multipliers.
        keys.sum::<f64>() + 2.0 * multipliers.iter().sum::<f64>()
    }

    pub(super) fn is_tour(&self) -> bool {
        self.degree.iter().all(|degree| *degree == 2)
    }

    /// All edges of the 1-tree.
    pub(super) fn edges(&self) -> &[u32] {
        &self.tree_edges
    }

    fn sort_by_reduced_cost(&mut self, graph: &SparseGraph, multipliers: &[f64]) {
        for (key, edge) in &mut self.order {
            let [u, v] = graph.ends(*edge);
            *key = graph.cost(*edge) - multipliers[u as usize] - multipliers[v as usize];
            self.key[*edge as usize] = *key;
        }
        insertion_sort(&mut self.order);
    }

    fn build_spanning_tree(&mut self, graph: &SparseGraph) -> bool {
        let nodes = graph.nodes();
        for edge in &self.tree_edges {
            self.in_tree[*edge as usize] = false;
        }
        self.tree_edges.clear();
        refill(&mut self.degree, nodes, 0);
        self.component.clear();
        self.component.extend(0..nodes as u32);
        // Whatever they cost: every tour below this node has them.
        for edge in graph.included_edges() {
            self.join(graph, edge);
        }
        for index in 0..self.order.len() {
            if self.tree_edges.len() + 1 == nodes {
                break;
            }
            let edge = self.order[index].1;
            if graph.state(edge) == EdgeState::Free {
                self.join(graph, edge);
            }
        }
        self.tree_edges.len() + 1 == nodes
    }

    /// Adds an edge unless its ends are already connected.
    fn join(&mut self, graph: &SparseGraph, edge: u32) {
        let [u, v] = graph.ends(edge);
        let (u_root, v_root) = (find(&mut self.component, u), find(&mut self.component, v));
        if u_root != v_root {
            self.component[u_root as usize] = v_root;
            self.add_edge(graph, edge);
        }
    }

    fn add_edge(&mut self, graph: &SparseGraph, edge: u32) {
        self.tree_edges.push(edge);
        self.in_tree[edge as usize] = true;
        for node in graph.ends(edge) {
            self.degree[node as usize] += 1;
        }
    }

    /// Adds a second edge at the leaf whose cheapest second edge is the most expensive.
    fn add_extra(&mut self, graph: &SparseGraph) {
        let mut max = (f64::NEG_INFINITY, 0, 0);
        for leaf in 0..graph.nodes() as u32 {
            if self.degree[leaf as usize] == 1 {
                let (key, edge) = self.second_edge(graph, leaf);
                if key > max.0 {
                    max = (key, leaf, edge);
                }
            }
        }
        (self.special, self.extra) = (max.1, max.2);
        self.add_edge(graph, self.extra);
    }

    /// Reduced cost and index of the cheapest usable edge at a leaf outside the tree.
    fn second_edge(&self, graph: &SparseGraph, leaf: u32) -> (f64, u32) {
        let mut min = (f64::INFINITY, 0);
        for edge in graph.at(leaf) {
            let is_usable =
                graph.state(*edge) != EdgeState::Excluded && !self.in_tree[*edge as usize];
            if is_usable && self.key[*edge as usize] < min.0 {
                min = (self.key[*edge as usize], *edge);
            }
        }
        min
    }

    /// Reduced cost fixing: finds free edges that no tour up to the cutoff contains, or that every
    /// such tour contains. `bound` is the bound of the 1-tree that was built last.
    pub(super) fn find_fixings(
        &mut self,
        graph: &SparseGraph,
        bound: f64,
        cutoff: f64,
        fixings: &mut EdgeFixings,
    ) {
        fixings.fixed.clear();
        self.rooted
            .build(graph, &self.tree_edges, self.special, self.extra);
        refill(&mut self.replacement, graph.num_edges(), f64::INFINITY);
        for edge in 0..graph.num_edges() as u32 {
            if graph.state(edge) == EdgeState::Free && !self.in_tree[edge as usize] {
                let min = bound + self.key[edge as usize] - self.max_replaceable_edge(graph, edge);
                if min > cutoff {
                    fixings.lower_bound = fixings.lower_bound.min(min);
                    fixings.fixed.push((edge, EdgeState::Excluded));
                } else {
                    self.offer_replacement(graph, edge);
                }
            }
        }
        for edge in &self.tree_edges {
            let min = bound + self.replacement_cost(*edge);
            if graph.state(*edge) == EdgeState::Free && min > cutoff {
                fixings.lower_bound = fixings.lower_bound.min(min);
                fixings.fixed.push((*edge, EdgeState::Included));
            }
        }
    }

    /// Increase of the cost of the 1-tree without one of its edges, after [`Self::find_fixings`].
    pub(super) fn replacement_cost(&self, edge: u32) -> f64 {
        self.replacement[edge as usize] - self.key[edge as usize]
    }

    /// The free edge to branch on: of the tree edges at nodes of degree above two, the one of
    /// smallest replacement cost; ties go to the first.
    pub(super) fn branching_edge(&self, graph: &SparseGraph) -> Option<u32> {
        let is_candidate = |edge: u32| {
            let [u, v] = graph.ends(edge);
            let exceeds_two = self.degree[u as usize] > 2 || self.degree[v as usize] > 2;
            graph.state(edge) == EdgeState::Free && exceeds_two
        };
        let candidates = self.tree_edges.iter().copied();
        candidates
            .filter(|edge| is_candidate(*edge))
            .min_by(|a, b| {
                self.replacement_cost(*a)
                    .total_cmp(&self.replacement_cost(*b))
            })
    }

    /// Reduced cost of the most expensive tree edge that a nontree edge could replace.
    fn max_replaceable_edge(&self, graph: &SparseGraph, edge: u32) -> f64 {
        let [u, v] = graph.ends(edge);
        // The special node has two edges of the 1-tree, and a third one can replace the dearer: the
        // extra edge.
        if u == self.special || v == self.special {
            return self.key[self.extra as usize];
        }
        let mut max = f64::NEG_INFINITY;
        self.rooted.for_each_path_edge(u, v, |tree_edge| {
            // An included edge cannot be replaced.
            if graph.state(tree_edge) == EdgeState::Free {
                max = self.key[tree_edge as usize].max(max);
            }
        });
        max
    }

    /// Records a nontree edge as a replacement of the tree edges on its cycle.
    fn offer_replacement(&mut self, graph: &SparseGraph, edge: u32) {
        let [u, v] = graph.ends(edge);
        let (key, replacement) = (self.key[edge as usize], &mut self.replacement);
        let mut lower = |tree_edge: u32| {
            replacement[tree_edge as usize] = key.min(replacement[tree_edge as usize]);
        };
        if u == self.special || v == self.special {
            lower(self.extra);
            lower(self.rooted.edge_of_special(self.special));
        } else {
            self.rooted.for_each_path_edge(u, v, lower);
        }
    }
}

/// The spanning tree, rooted at the special node.
#[derive(Debug, Clone, Default)]
struct RootedTree {
    parents: Vec<ParentLink>,
    /// Tree edges at each node, as linked lists of half-edges.
    head: Vec<u32>,
    next: Vec<u32>,
    stack: Vec<u32>,
}

/// Marks the absence of a node, edge or half-edge.
const NONE: u32 = u32::MAX;

/// Position of a node in the rooted tree.
#[derive(Debug, Clone, Copy)]
struct ParentLink {
    parent: u32,
    /// Edge to the parent.
    edge: u32,
    depth: u32,
}

impl ParentLink {
    const ROOT: Self = Self {
        parent: NONE,
        edge: NONE,
        depth: 0,
    };
}

impl RootedTree {
    fn build(&mut self, graph: &SparseGraph, tree_edges: &[u32], special: u32, extra: u32) {
        refill(&mut self.head, graph.nodes(), NONE);
        refill(&mut self.parents, graph.nodes(), ParentLink::ROOT);
        refill(&mut self.next, 2 * tree_edges.len(), NONE);
        for (index, edge) in tree_edges.iter().enumerate() {
            if *edge == extra {
                continue;
            }
            for (side, node) in graph.ends(*edge).into_iter().enumerate() {
                self.next[2 * index + side] = self.head[node as usize];
                self.head[node as usize] = (2 * index + side) as u32;
            }
        }
        self.stack.clear();
        self.stack.push(special);
        while let Some(node) = self.stack.pop() {
            let link = self.parents[node as usize];
            let mut half_edge = self.head[node as usize];
            while half_edge != NONE {
                let edge = tree_edges[half_edge as usize / 2];
                let child = graph.ends(edge)[1 - half_edge as usize % 2];
                if edge != link.edge {
                    self.parents[child as usize] = ParentLink {
                        parent: node,
                        edge,
                        depth: link.depth + 1,
                    };
                    self.stack.push(child);
                }
                half_edge = self.next[half_edge as usize];
            }
        }
    }

    /// The spanning-tree edge of the special node, which is a leaf and the root.
    fn edge_of_special(&self, special: u32) -> u32 {
        let child = self.parents.iter().find(|link| link.parent == special);
        child.map_or(NONE, |link| link.edge)
    }

    /// Visits the edges of the tree path between two nodes.
    fn for_each_path_edge(&self, mut u: u32, mut v: u32, mut visit: impl FnMut(u32)) {
        while u != v {
            // The deeper end climbs, so both meet at the lowest common ancestor.
            if self.parents[u as usize].depth < self.parents[v as usize].depth {
                (u, v) = (v, u);
            }
            let link = self.parents[u as usize];
            visit(link.edge);
            u = link.parent;
        }
    }
}

/// A 1-tree together with its graph.
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

/// Root of a node's component; path halving.
fn find(component: &mut [u32], mut node: u32) -> u32 {
    while component[node as usize] != node {
        component[node as usize] = component[component[node as usize] as usize];
        node = component[node as usize];
    }
    node
}

/// Moves per element after which insertion sort is abandoned for a general sort: about log₂ of the
/// number of edges of a few hundred nodes, where both take the same time.
const MAX_INSERTION_MOVES: usize = 12;

/// Sorts by key, then index: by insertion while few elements move, else by a general sort.
fn insertion_sort(order: &mut [(f64, u32)]) {
    let mut budget = MAX_INSERTION_MOVES * order.len();
    for index in 1..order.len() {
        let item = order[index];
        let mut slot = index;
        while slot > 0 && item < order[slot - 1] {
            order[slot] = order[slot - 1];
            slot -= 1;
        }
        order[slot] = item;
        // Both sorts order by key and index, which differ for all edges: the result does not depend
        // on the one that ends.
        budget = budget.saturating_sub(index - slot);
        if budget == 0 {
            order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            return;
        }
    }
}
