//! Exact cost ranges of a shortest path.
//!
//! With the distances from the source to all nodes and from all nodes to the target, the shortest
//! way through an arc that is not on the path follows; its cost may fall by the excess of that way.
//! (In a graph with cycles that way may visit a node twice: beyond the range, then, the arc closes
//! a cycle of negative length.)
//!
//! The cost of an arc of the path may rise by the excess of the shortest path that avoids it
//! (the most vital arc problem of Malik, Mittal and Gupta, 1989; their linear-time method needs an
//! undirected graph). The search for it runs on reduced costs, with the distances to the target as
//! potentials. Then the path itself and the way from every node to the target along the tree of
//! shortest ways have length 0, so the search starts from all nodes of the path before the arc at
//! once and ends at the first node whose way to the target joins the path behind the arc: it visits
//! the nodes near a detour only.

use super::GraphPathSolver;
use super::distance_queue::DistanceQueue;
use super::network::{CostPlace, Direction};
use super::search::PathSearchEnd;
use crate::relaxation::{CostRanges, CostRanging};
use crate::{SolveFailure, check_not_stopped};

/// Distances and the shortest path, for one vector of costs.
struct PathDistances {
    /// From the source, the cost of the node included if nodes have costs.
    from_source: Vec<f64>,
    /// To the target, the cost of the node not included.
    to_target: Vec<f64>,
    /// The place on the path at which the shortest way from a node to the target joins it.
    joins: Vec<u32>,
}

/// Not joined: the target cannot be reached.
const NEVER: u32 = u32::MAX;

impl CostRanging for GraphPathSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let distances = self.distances(costs)?;
        let mut ranges = CostRanges::unbounded(costs.len());
        // A cost that is not paid may rise without limit; it joins a path when the shortest way
        // through it is as short as the path.
        self.set_lower_ends(costs, &distances, &mut ranges.lower);
        let ends = self.nodes.len() - 1;
        let replaceable = match self.network.graph.cost_place() {
            CostPlace::Arcs => 0..ends,
            // Every path has the two end nodes.
            CostPlace::Nodes => 1..ends.max(1),
        };
        let mut search = DetourSearch {
            // Made once: every search resets only what it touched.
            lengths: vec![f64::INFINITY; self.network.graph.num_nodes()],
            touched: Vec::new(),
            heap: DistanceQueue::new(0),
        };
        for place in replaceable {
            check_not_stopped()?;
            let cost = self.path[place] as usize;
            let excess = self.excess_without(place, costs, &distances, &mut search);
            // A paid cost may rise until the shortest path without it is as short. How far it may
            // fall is unlimited.
            ranges.upper[cost] = costs[cost] + excess;
        }
        Ok(ranges)
    }
}

impl GraphPathSolver {
    fn distances(&mut self, costs: &[f64]) -> Result<PathDistances, SolveFailure> {
        if let PathSearchEnd::NegativeCycle(_) = self.find_path(costs)? {
            return Err(SolveFailure::Unbounded);
        }
        let from_source = self.all_distances(costs, Direction::Forward)?;
        let to_target = self.all_distances(costs, Direction::Backward)?;
        let first_cost = self.network.first_cost();
        let first = first_cost.map_or(0.0, |cost| costs[cost as usize]);
        let mut joins = vec![NEVER; self.network.graph.num_nodes()];
        for (place, node) in (0..).zip(&self.nodes) {
            joins[*node as usize] = place;
        }
        // Follows the tree of shortest ways up to the path, whose nodes are known.
        let mut way = Vec::new();
        for node in 0..joins.len() as u32 {
            let mut current = node;
            // Every node is passed at most twice, as the ways that are followed end at nodes that
            // are known.
            while joins[current as usize] == NEVER
                && let Some(label) = self.search.labels.get(current)
            {
                way.push(current);
                current = label.parent;
            }
            let join = joins[current as usize];
            for passed in way.drain(..) {
                joins[passed as usize] = join;
            }
        }
        Ok(PathDistances {
            from_source: from_source
                // The labels begin at 0 behind the source, whose own cost is paid too.
                .into_iter()
                .map(|length| length + first)
                .collect(),
            to_target,
            joins,
        })
    }

    /// The distances of all nodes; their labels stay.
    fn all_distances(
        &mut self,
        costs: &[f64],
        direction: Direction,
    ) -> Result<Vec<f64>, SolveFailure> {
        self.search
            .find_distances(&self.network, costs, direction)?;
        let nodes = 0..self.network.graph.num_nodes() as u32;
        Ok(nodes
            .map(|node| self.search.labels.distance(node))
            .collect())
    }

    /// Sets the lower ends of the ranges of costs that the path does not pay.
    fn set_lower_ends(&self, costs: &[f64], distances: &PathDistances, lower: &mut [f64]) {
        let shortest = distances.from_source[self.network.target as usize];
        let mut is_paid = vec![false; costs.len()];
        for cost in &self.path {
            is_paid[*cost as usize] = true;
        }
        let mut set = |cost: u32, through: f64| {
            let place = cost as usize;
            if !is_paid[place] && self.network.is_open(cost) && through < f64::INFINITY {
                // Rounding may make the way through seem shorter than the shortest one.
                lower[place] = costs[place] - (through - shortest).max(0.0);
            }
        };
        for node in 0..self.network.graph.num_nodes() as u32 {
            let from_source = distances.from_source[node as usize];
            match self.network.graph.cost_place() {
                CostPlace::Arcs => {
                    for arc in self.network.graph.leaving(node) {
                        let to_target = distances.to_target[arc.node as usize];
                        set(arc.cost, from_source + costs[arc.cost as usize] + to_target);
                    }
                }
                CostPlace::Nodes => set(node, from_source + distances.to_target[node as usize]),
            }
        }
    }

    /// How much longer the shortest path is that does not pay the cost at a place of the path.
    fn excess_without(
        &self,
        place: usize,
        costs: &[f64],
        distances: &PathDistances,
        search: &mut DetourSearch,
    ) -> f64 {
        let avoided = self.path[place];
        // Nodes of the path from which the detour may start, and the place behind which it ends.
        let (starts, end) = match self.network.graph.cost_place() {
            CostPlace::Arcs => (&self.nodes[..=place], place),
            CostPlace::Nodes => (&self.nodes[..place], place),
        };
        // The starts have reduced length 0: they are on a shortest way already.
        search.begin(starts);
        let mut best = f64::INFINITY;
        while let Some(entry) = search.heap.pop() {
            // The queue is in order of length, so nothing shorter follows.
            if entry.distance >= best {
                break;
            }
            // The entry is outdated: its node was reached by a shorter way since.
            if entry.distance > search.lengths[entry.node as usize] {
                continue;
            }
            let potential = distances.to_target[entry.node as usize];
            for arc in self.network.graph.leaving(entry.node) {
                let join = distances.joins[arc.node as usize];
                if arc.cost == avoided || join == NEVER || !self.network.is_open(arc.cost) {
                    continue;
                }
                let to_target = distances.to_target[arc.node as usize];
                // Reduced by the distances to the target, lengths are nonnegative (as in A*),
                // whatever the signs of the costs; rounding may put them slightly below.
                let reduced = (costs[arc.cost as usize] + to_target - potential).max(0.0);
                let length = entry.distance + reduced;
                // Behind the avoided place a shortest way goes on along known nodes, at no reduced
                // length.
                if join as usize > end {
                    best = best.min(length);
                } else if length < best {
                    search.reach(arc.node, length);
                }
            }
        }
        best
    }
}

/// The search for a detour.
struct DetourSearch {
    /// Reduced length of the way to each node; infinite if there is none yet.
    lengths: Vec<f64>,
    /// The nodes with another length than infinite.
    touched: Vec<u32>,
    heap: DistanceQueue,
}

impl DetourSearch {
    fn begin(&mut self, starts: &[u32]) {
        // Only what the last search touched is reset: most searches stay near the path.
        for node in self.touched.drain(..) {
            self.lengths[node as usize] = f64::INFINITY;
        }
        self.heap.restart(0.0);
        for node in starts {
            self.reach(*node, 0.0);
        }
    }

    fn reach(&mut self, node: u32, length: f64) {
        let known = &mut self.lengths[node as usize];
        if length < *known {
            if *known == f64::INFINITY {
                self.touched.push(node);
            }
            *known = length;
            self.heap.push(length, node);
        }
    }
}
