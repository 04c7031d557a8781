//! Label correcting for cyclic graphs with negative costs: Bellman (1958), Ford (1956) and Moore
//! (1959) with a queue, and Tarjan's subtree disassembly (1981), which finds a negative cycle as
//! soon as one is closed.
//!
//! When the distance of a node falls, those of all nodes below it in the tree of shortest ways are
//! out of date: they leave the tree and the queue until they are reached again. If the node from
//! which the distance falls is among them, the tree has closed a cycle of negative length.
//!
//! Only nodes that are on some way from the source to the target matter: a negative cycle elsewhere
//! is none of this problem's.

use std::collections::VecDeque;

use super::network::{Direction, PathNetwork};
use super::search::{Labels, PathSearchEnd, STEPS_BETWEEN_POLLS};
use crate::{SolveFailure, check_not_stopped};

/// The improvement that counts, relative to the largest cost: above the rounding of sums, so a
/// cycle of length 0 is not taken for a negative one.
const RELATIVE_TOLERANCE: f64 = 1e-12;

/// No node.
const NONE: u32 = u32::MAX;

/// The tree of shortest ways as a list in preorder, and the queue.
#[derive(Debug, Clone)]
pub(super) struct LabelCorrecting {
    /// The neighbors of each node in the preorder of the tree, which is a ring.
    after: Vec<u32>,
    before: Vec<u32>,
    /// Children of each node in the tree.
    children: Vec<u32>,
    is_in_tree: Vec<bool>,
    is_queued: Vec<bool>,
    queue: VecDeque<u32>,
    /// The nodes that are on some way from the source to the target, once they are known.
    relevant: Option<Vec<bool>>,
}

impl LabelCorrecting {
    pub fn new(num_nodes: usize) -> Self {
        Self {
            after: vec![NONE; num_nodes],
            before: vec![NONE; num_nodes],
            children: vec![0; num_nodes],
            is_in_tree: vec![false; num_nodes],
            is_queued: vec![false; num_nodes],
            queue: VecDeque::new(),
            relevant: None,
        }
    }

    /// Forgets which nodes are relevant.
    pub fn forget_network(&mut self) {
        self.relevant = None;
    }

    /// Computes all distances from the root of a direction.
    ///
    /// # Errors
    /// When the search is to stop.
    pub fn run(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
        labels: &mut Labels,
    ) -> Result<PathSearchEnd, SolveFailure> {
        // Moved out, since the search borrows `self`.
        let relevant = match self.relevant.take() {
            Some(relevant) => relevant,
            None => relevant_nodes(network),
        };
        let end = self.search(network, costs, direction, labels, &relevant);
        self.relevant = Some(relevant);
        end
    }

    fn search(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
        labels: &mut Labels,
        relevant: &[bool],
    ) -> Result<PathSearchEnd, SolveFailure> {
        let root = network.root(direction);
        self.start(root);
        labels.restart(root);
        let tolerance = RELATIVE_TOLERANCE * largest(network, costs);
        let mut steps: u32 = 0;
        while let Some(node) = self.queue.pop_front() {
            self.is_queued[node as usize] = false;
            // Its way from the root has changed since it was queued: it is queued again when it
            // returns.
            if !self.is_in_tree[node as usize] {
                continue;
            }
            steps += 1;
            if steps.is_multiple_of(STEPS_BETWEEN_POLLS) {
                check_not_stopped()?;
            }
            let from = labels.distance(node);
            for arc in network.arcs(node, direction) {
                if !network.is_open(arc.cost) || !relevant[arc.node as usize] {
                    continue;
                }
                let distance = from + costs[arc.cost as usize];
                let known = labels.distance(arc.node);
                // A node out of the tree returns to it even if rounding hides the improvement.
                let is_in_tree = self.is_in_tree[arc.node as usize];
                let counts = if is_in_tree {
                    distance < known - tolerance
                } else {
                    distance <= known + tolerance
                };
                if !counts {
                    continue;
                }
                // The node's subtree has outdated distances: it leaves the tree, and its nodes wait
                // for their new ones (subtree disassembly, Tarjan 1981).
                if is_in_tree {
                    let old_parent = labels.get(arc.node).map_or(arc.node, |label| label.parent);
                    // The new parent is below the node: following parents would not end, so the
                    // cycle is negative.
                    if arc.node == root || self.disassemble(arc.node, old_parent, node) {
                        let cycle = cycle_through(labels, arc.node, node, direction);
                        return Ok(PathSearchEnd::NegativeCycle(cycle));
                    }
                }
                labels.set(arc.node, distance, node);
                self.attach(arc.node, node);
            }
        }
        Ok(PathSearchEnd::Exact)
    }

    fn start(&mut self, root: u32) {
        self.is_in_tree.fill(false);
        self.is_queued.fill(false);
        self.children.fill(0);
        self.queue.clear();
        // A ring of one node.
        self.after[root as usize] = root;
        self.before[root as usize] = root;
        self.is_in_tree[root as usize] = true;
        self.enqueue(root);
    }

    fn enqueue(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_queued[node as usize], true) {
            self.queue.push_back(node);
        }
    }

    /// Removes a node and all nodes below it from the tree; true if `other` is among them.
    fn disassemble(&mut self, node: u32, parent: u32, other: u32) -> bool {
        let before = self.before[node as usize];
        let mut pending = 1;
        let mut next = node;
        // In preorder a subtree is consecutive: it ends when all children met were visited.
        while pending > 0 {
            if next == other {
                return true;
            }
            pending += self.children[next as usize];
            pending -= 1;
            self.children[next as usize] = 0;
            self.is_in_tree[next as usize] = false;
            next = self.after[next as usize];
        }
        // The list is closed over the gap.
        self.after[before as usize] = next;
        self.before[next as usize] = before;
        self.children[parent as usize] -= 1;
        false
    }

    /// Adds a node below another one.
    fn attach(&mut self, node: u32, parent: u32) {
        // Behind its parent, a leaf is in preorder whatever the parent's other children are.
        let next = self.after[parent as usize];
        self.after[parent as usize] = node;
        self.before[node as usize] = parent;
        self.after[node as usize] = next;
        self.before[next as usize] = node;
        self.children[parent as usize] += 1;
        self.is_in_tree[node as usize] = true;
        self.enqueue(node);
    }
}

/// The nodes on the way down the tree from a node to another one, from which an arc leads back.
fn cycle_through(labels: &Labels, node: u32, last: u32, direction: Direction) -> Vec<u32> {
    let mut cycle = vec![last];
    let mut current = last;
    while current != node {
        let Some(label) = labels.get(current) else {
            break;
        };
        current = label.parent;
        cycle.push(current);
    }
    // The way was followed against the direction of the search.
    if direction == Direction::Forward {
        cycle.reverse();
    }
    cycle
}

/// The nodes that are on some way from the source to the target.
pub(super) fn relevant_nodes(network: &PathNetwork) -> Vec<bool> {
    let from_source = network.reached(Direction::Forward);
    let to_target = network.reached(Direction::Backward);
    let both = from_source.iter().zip(&to_target);
    both.map(|(first, second)| *first && *second).collect()
}

/// The largest absolute cost.
fn largest(network: &PathNetwork, costs: &[f64]) -> f64 {
    let open = (0..).zip(costs).filter(|(cost, _)| network.is_open(*cost));
    open.fold(0.0, |largest: f64, (_, value)| largest.max(value.abs()))
}
