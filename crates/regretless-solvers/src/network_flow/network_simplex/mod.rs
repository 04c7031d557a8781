//! The primal network simplex method (Dantzig 1951) with strongly feasible trees (Cunningham 1976)
//! and block search.
//!
//! A basis is a spanning tree; other arcs carry nothing or their capacity. The method starts from
//! artificial arcs between every node and a root, those that bring a demand at a prohibitive cost.
//! An arc enters that is the cheapest of the first block of arcs, in rotation, with one that
//! improves. Of the arcs that limit the cycle, the last one along its direction from the root side
//! leaves; so the tree stays strongly feasible, and the method does not cycle. Children are linked
//! lists, so a pivot visits only the subtree that moves.
//!
//! A library was not used: the crate `mcmf` binds one in C++ and takes whole numbers.

use super::FlowNetwork;
use crate::rounding::raised_by_rounding;
use crate::{SolveFailure, check_not_stopped};

mod tree;

/// No node or arc.
pub(super) const NONE: u32 = u32::MAX;

/// Pivots between two polls of the cancellation. Untuned: a pivot takes about a microsecond.
const POLL_INTERVAL: u64 = 256;

/// Smallest block of the search: below it, the rotation costs more than the search.
const MIN_BLOCK: usize = 10;

/// Flow on artificial arcs, relative to all supplies, that counts as rounding error.
const FEASIBILITY_TOLERANCE: f64 = 1e-9;

/// Where the flow of an arc is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArcState {
    /// Outside the tree, without flow.
    AtLower,
    InTree,
    /// Outside the tree, at its capacity.
    AtUpper,
}

/// The state of a solve, kept between solves for its memory. Lower bounds are 0: the caller shifts
/// them.
#[derive(Debug, Clone)]
pub(super) struct NetworkSimplex {
    nodes: usize,
    /// Number of arcs that are not artificial.
    arcs: usize,
    tails: Vec<u32>,
    heads: Vec<u32>,
    capacity: Vec<f64>,
    supply: Vec<f64>,
    cost: Vec<f64>,
    flow: Vec<f64>,
    /// Sign of the reduced cost that does not improve: 1 at lower, 0 in the tree, -1 at upper.
    sign: Vec<i8>,
    parent: Vec<u32>,
    /// The arc to the parent.
    parent_arc: Vec<u32>,
    /// Whether the arc to the parent leads there.
    leads_up: Vec<bool>,
    depth: Vec<u32>,
    potential: Vec<f64>,
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    previous_sibling: Vec<u32>,
    stack: Vec<u32>,
    path: Vec<u32>,
}

/// The arc that leaves the tree, and how much the flow around the cycle changes.
struct LeavingArc {
    change: f64,
    /// The lower node of the arc; `NONE` if the entering arc itself is the limit.
    node: u32,
    /// Whether it is on the side of the first node of the entering arc.
    is_on_first_side: bool,
    /// Whether it leaves at its capacity.
    is_at_upper: bool,
}

impl NetworkSimplex {
    pub(super) fn new(network: &FlowNetwork) -> Self {
        let (nodes, arcs) = (network.nodes, network.tails.len());
        // One artificial arc per node, to or from the root.
        let total = arcs + nodes;
        let mut tails = network.tails.clone();
        let mut heads = network.heads.clone();
        tails.resize(total, 0);
        heads.resize(total, 0);
        Self {
            nodes,
            arcs,
            tails,
            heads,
            capacity: vec![f64::INFINITY; total],
            supply: vec![0.0; nodes],
            cost: vec![0.0; total],
            flow: vec![0.0; total],
            sign: vec![1; total],
            parent: vec![NONE; nodes + 1],
            parent_arc: vec![NONE; nodes + 1],
            leads_up: vec![true; nodes + 1],
            depth: vec![0; nodes + 1],
            potential: vec![0.0; nodes + 1],
            first_child: vec![NONE; nodes + 1],
            next_sibling: vec![NONE; nodes + 1],
            previous_sibling: vec![NONE; nodes + 1],
            stack: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Sets what each node sends, and the capacity of each arc.
    pub(super) fn set_limits(
        &mut self,
        supply: impl IntoIterator<Item = f64>,
        capacity: impl IntoIterator<Item = f64>,
    ) {
        for (own, supply) in self.supply.iter_mut().zip(supply) {
            *own = supply;
        }
        for (own, capacity) in self.capacity.iter_mut().zip(capacity) {
            *own = capacity;
        }
    }

    pub(super) fn supply(&self) -> &[f64] {
        &self.supply
    }

    pub(super) fn capacity(&self) -> &[f64] {
        &self.capacity[..self.arcs]
    }

    /// The flow of each arc.
    pub(super) fn flow(&self) -> &[f64] {
        &self.flow[..self.arcs]
    }

    pub(super) fn state(&self, arc: usize) -> ArcState {
        match self.sign[arc] {
            1 => ArcState::AtLower,
            0 => ArcState::InTree,
            _ => ArcState::AtUpper,
        }
    }

    /// The tail and the head of an arc.
    pub(super) fn ends(&self, arc: usize) -> [usize; 2] {
        [self.tails[arc] as usize, self.heads[arc] as usize]
    }

    /// The reduced cost of an arc: 0 in the tree, up to rounding.
    pub(super) fn reduced_cost(&self, arc: usize) -> f64 {
        let [tail, head] = self.ends(arc);
        self.cost[arc] + self.potential[tail] - self.potential[head]
    }

    /// Number of arcs without the artificial ones.
    pub(super) fn num_arcs(&self) -> usize {
        self.arcs
    }

    pub(super) fn num_nodes(&self) -> usize {
        self.nodes
    }

    /// The tree of artificial arcs.
    fn start(&mut self, costs: &[f64], prohibitive: f64) {
        // The first tree: every node sends its supply to the root, or gets its demand from there.
        let (nodes, arcs) = (self.nodes, self.arcs);
        let root = nodes as u32;
        self.cost[..costs.len()].copy_from_slice(costs);
        self.cost[costs.len()..arcs].fill(0.0);
        self.flow.fill(0.0);
        self.sign.fill(1);
        self.first_child.fill(NONE);
        self.parent[nodes] = NONE;
        self.depth[nodes] = 0;
        self.potential[nodes] = 0.0;
        for node in 0..nodes {
            let arc = arcs + node;
            self.attach(node as u32, root);
            self.parent_arc[node] = arc as u32;
            self.depth[node] = 1;
            self.sign[arc] = 0;
            let supply = self.supply[node];
            let leads_up = supply >= 0.0;
            self.leads_up[node] = leads_up;
            self.flow[arc] = supply.abs();
            let [tail, head] = if leads_up {
                [node as u32, root]
            } else {
                [root, node as u32]
            };
            self.tails[arc] = tail;
            self.heads[arc] = head;
            // Arcs from the root are prohibitive, so flow on them is replaced wherever a real arc
            // can carry it. Towards the root the price need not be paid twice.
            let cost = if leads_up { 0.0 } else { prohibitive };
            self.cost[arc] = cost;
            self.potential[node] = cost;
        }
    }

    /// Finds a flow of least cost. Arcs behind the costs cost nothing.
    ///
    /// # Errors
    /// When no flow is feasible, the cost is unbounded, or the solve was interrupted.
    pub(super) fn solve(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        match self.solve_as_given(costs) {
            // Unless the cycle is negative by rounding only.
            Err(SolveFailure::Unbounded) => self.solve_as_given(&raised_by_rounding(costs)),
            end => end,
        }
    }

    fn solve_as_given(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        let total: f64 = self.supply.iter().map(|supply| supply.abs()).sum();
        let imbalance = self.supply.iter().sum::<f64>().abs();
        let negligible = FEASIBILITY_TOLERANCE * total.max(1.0);
        // Supplies that do not sum to 0 cannot be sent.
        if imbalance > negligible {
            return Err(SolveFailure::Infeasible);
        }
        let largest = costs.iter().fold(0.0_f64, |max, cost| max.max(cost.abs()));
        // More than any path of real arcs.
        let prohibitive = (largest + 1.0) * self.nodes as f64;
        self.start(costs, prohibitive);
        // Potentials are sums that include the prohibitive cost: smaller reduced costs are
        // rounding errors.
        let tolerance = 1e-12 * largest + 8.0 * f64::EPSILON * prohibitive;
        // Blocks of about the root of the number of arcs (block search pivoting).
        let block = (self.arcs as f64).sqrt() as usize;
        let mut position = 0;
        let mut pivots = 0_u64;
        while let Some(entering) =
            self.find_entering(&mut position, block.max(MIN_BLOCK), tolerance)
        {
            self.pivot(entering)?;
            pivots += 1;
            if pivots.is_multiple_of(POLL_INTERVAL) {
                check_not_stopped()?;
            }
        }
        // What is left on artificial arcs cannot be sent at all.
        let is_feasible = self.flow[self.arcs..]
            .iter()
            .all(|flow| *flow <= negligible);
        if is_feasible {
            Ok(())
        } else {
            Err(SolveFailure::Infeasible)
        }
    }

    /// The arc whose reduced cost improves most in the next block with one that improves.
    fn find_entering(&self, position: &mut usize, block: usize, tolerance: f64) -> Option<u32> {
        let arcs = self.arcs;
        let (mut best, mut entering) = (-tolerance, NONE);
        let (mut scanned, mut left_in_block, mut first) = (0, block, *position);
        while scanned < arcs {
            // A run ends with the block, with the list, or when every arc was scanned once.
            let run = left_in_block.min(arcs - first).min(arcs - scanned);
            let range = first..first + run;
            let ends = self.tails[range.clone()]
                .iter()
                .zip(&self.heads[range.clone()]);
            let values = self.cost[range.clone()].iter().zip(&self.sign[range]);
            for (arc, ((tail, head), (cost, sign))) in (first as u32..).zip(ends.zip(values)) {
                let reduced =
                    cost + self.potential[*tail as usize] - self.potential[*head as usize];
                // One multiplication decides for all states; arcs of the tree have the sign 0.
                let signed = f64::from(*sign) * reduced;
                if signed < best {
                    best = signed;
                    entering = arc;
                }
            }
            scanned += run;
            left_in_block -= run;
            first += run;
            if first == arcs {
                first = 0;
            }
            // A block without an improving arc is followed by the next one, up to a full round.
            if left_in_block == 0 {
                if entering != NONE {
                    break;
                }
                left_in_block = block;
            }
        }
        *position = first;
        (entering != NONE).then_some(entering)
    }

    /// The arc that leaves when flow goes from `first` to `second` along the entering arc, back
    /// through the tree, and the node where the two ways to the root meet.
    fn find_leaving(&self, entering: usize, first: u32, second: u32) -> (LeavingArc, u32) {
        // Climbing from the deeper node, both meet at the lowest common ancestor.
        let (mut a, mut b) = (first, second);
        while a != b {
            if self.depth[a as usize] >= self.depth[b as usize] {
                a = self.parent[a as usize];
            } else {
                b = self.parent[b as usize];
            }
        }
        let join = a;
        let mut leaving = LeavingArc {
            change: self.capacity[entering],
            node: NONE,
            is_on_first_side: false,
            is_at_upper: false,
        };
        let mut node = first;
        while node != join {
            let arc = self.parent_arc[node as usize] as usize;
            // Flow comes down to the first node.
            let is_at_upper = !self.leads_up[node as usize];
            let room = self.room(arc, is_at_upper);
            // Strictly less on the first side, and not more on the second: the last limiting arc of
            // the cycle leaves, which keeps the tree strongly feasible and excludes cycling
            // (Cunningham 1976).
            if room < leaving.change {
                leaving = LeavingArc {
                    change: room,
                    node,
                    is_on_first_side: true,
                    is_at_upper,
                };
            }
            node = self.parent[node as usize];
        }
        let mut node = second;
        while node != join {
            let arc = self.parent_arc[node as usize] as usize;
            let is_at_upper = self.leads_up[node as usize];
            let room = self.room(arc, is_at_upper);
            if room <= leaving.change {
                leaving = LeavingArc {
                    change: room,
                    node,
                    is_on_first_side: false,
                    is_at_upper,
                };
            }
            node = self.parent[node as usize];
        }
        (leaving, join)
    }

    /// How much the flow of an arc can rise, or fall.
    fn room(&self, arc: usize, rises: bool) -> f64 {
        if rises {
            self.capacity[arc] - self.flow[arc]
        } else {
            self.flow[arc]
        }
    }

    fn pivot(&mut self, entering: u32) -> Result<(), SolveFailure> {
        let arc = entering as usize;
        let is_rising = self.sign[arc] == 1;
        let (first, second) = if is_rising {
            (self.tails[arc], self.heads[arc])
        } else {
            (self.heads[arc], self.tails[arc])
        };
        let (leaving, join) = self.find_leaving(arc, first, second);
        if leaving.change == f64::INFINITY {
            return Err(SolveFailure::Unbounded);
        }
        // A degenerate pivot changes the tree only.
        if leaving.change > 0.0 {
            self.change_flow(arc, is_rising, leaving.change);
            for (mut node, comes_down) in [(first, true), (second, false)] {
                while node != join {
                    let rises = self.leads_up[node as usize] != comes_down;
                    self.change_flow(
                        self.parent_arc[node as usize] as usize,
                        rises,
                        leaving.change,
                    );
                    node = self.parent[node as usize];
                }
            }
        }
        // The entering arc is its own limit: it moves to its other bound, and the tree stays.
        if leaving.node == NONE {
            self.sign[arc] = -self.sign[arc];
            self.flow[arc] = if is_rising { self.capacity[arc] } else { 0.0 };
            return Ok(());
        }
        let left = self.parent_arc[leaving.node as usize] as usize;
        self.sign[arc] = 0;
        // Exactly at its bound: sums of flows have rounding errors.
        if leaving.is_at_upper {
            self.sign[left] = -1;
            self.flow[left] = self.capacity[left];
        } else {
            self.sign[left] = 1;
            self.flow[left] = 0.0;
        }
        let (moved, fixed) = if leaving.is_on_first_side {
            (first, second)
        } else {
            (second, first)
        };
        self.move_subtree(entering, leaving.node, moved, fixed);
        Ok(())
    }

    fn change_flow(&mut self, arc: usize, rises: bool, change: f64) {
        if rises {
            self.flow[arc] += change;
        } else {
            self.flow[arc] -= change;
        }
    }
}
