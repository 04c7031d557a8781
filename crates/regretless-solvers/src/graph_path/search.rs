//! Shortest distances from one node: Dijkstra (1959) if no cost is negative, dynamic programming in
//! topological order if there is no cycle, label correcting otherwise.
//!
//! Between two nodes, Dijkstra's algorithm runs from both ends at once (Nicholson 1966; the rule to
//! stop is that of Pohl 1971): the two circles of visited nodes are smaller than the one around the
//! source would be. Labels carry the number of the search that wrote them, so a search touches only
//! the nodes it visits.

use super::distance_queue::{DistanceQueue, NearestNode};
use super::label_correcting::LabelCorrecting;
use super::network::{Direction, PathNetwork};
use crate::rounding::raised_by_rounding;
use crate::{SolveFailure, check_not_stopped};

/// Steps between two questions whether the search is to stop: some ten microseconds.
pub(super) const STEPS_BETWEEN_POLLS: u32 = 1 << 10;

/// What a search knows about a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label {
    pub distance: f64,
    /// The node before; the root is its own.
    pub parent: u32,
    /// The search that wrote the label.
    search: u32,
}

/// The labels of a search.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    labels: Vec<Label>,
    search: u32,
}

impl Labels {
    fn new(num_nodes: usize) -> Self {
        let unseen = Label {
            distance: f64::INFINITY,
            parent: 0,
            search: 0,
        };
        Self {
            labels: vec![unseen; num_nodes],
            search: 0,
        }
    }

    /// Forgets all labels but that of the root.
    pub(super) fn restart(&mut self, root: u32) {
        // After 2³² searches numbers would repeat, and old labels would seem current.
        if self.search == u32::MAX {
            for label in &mut self.labels {
                label.search = 0;
            }
            self.search = 0;
        }
        // Labels of earlier searches are recognized by their number, so they need not be cleared.
        self.search += 1;
        self.set(root, 0.0, root);
    }

    /// The label of a node that was reached.
    #[inline]
    pub(super) fn get(&self, node: u32) -> Option<&Label> {
        let label = &self.labels[node as usize];
        (label.search == self.search).then_some(label)
    }

    /// The distance of a node, infinite if it was not reached.
    #[inline]
    pub(super) fn distance(&self, node: u32) -> f64 {
        self.get(node).map_or(f64::INFINITY, |label| label.distance)
    }

    #[inline]
    pub(super) fn set(&mut self, node: u32, distance: f64, parent: u32) {
        self.labels[node as usize] = Label {
            distance,
            parent,
            search: self.search,
        };
    }
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathSearchEnd {
    /// All distances that were asked for are exact.
    Exact,
    /// These nodes, in the order of its arcs, are a cycle of negative length on a way from the
    /// source to the target: there is no shortest way.
    NegativeCycle(Vec<u32>),
}

/// The searches of one thread in one graph.
#[derive(Debug, Clone)]
pub(super) struct PathSearch {
    pub labels: Labels,
    heap: DistanceQueue,
    /// Those of the search from the target, if both ends are searched from.
    opposite: Labels,
    opposite_heap: DistanceQueue,
    label_correcting: Option<Box<LabelCorrecting>>,
}

impl PathSearch {
    pub fn new(num_nodes: usize) -> Self {
        Self {
            labels: Labels::new(num_nodes),
            heap: DistanceQueue::new(num_nodes),
            opposite: Labels::new(num_nodes),
            opposite_heap: DistanceQueue::new(num_nodes),
            label_correcting: None,
        }
    }

    /// Forgets what is known about the ends and the open arcs of a network.
    pub fn forget_network(&mut self) {
        if let Some(search) = &mut self.label_correcting {
            search.forget_network();
        }
    }

    /// Labels the nodes of a shortest path from the source to the target.
    ///
    /// # Errors
    /// When the search is to stop.
    pub fn find_path(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
    ) -> Result<PathSearchEnd, SolveFailure> {
        if network.graph.is_acyclic() {
            // Without cycles one pass in topological order is enough, for costs of any sign.
            self.run_in_order(network, costs, Direction::Forward, Some(network.target));
            return Ok(PathSearchEnd::Exact);
        }
        let bounds = CostBounds::of(network, costs);
        if bounds.has_negative_costs() {
            return self.correct_labels(network, costs, Direction::Forward);
        }
        self.search_from_both_ends(network, costs, bounds)?;
        Ok(PathSearchEnd::Exact)
    }

    /// Computes the distances of all nodes from the root of a direction.
    ///
    /// # Errors
    /// When the search is to stop.
    pub fn find_distances(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
    ) -> Result<PathSearchEnd, SolveFailure> {
        if network.graph.is_acyclic() {
            self.run_in_order(network, costs, direction, None);
            return Ok(PathSearchEnd::Exact);
        }
        let bounds = CostBounds::of(network, costs);
        if bounds.has_negative_costs() {
            return self.correct_labels(network, costs, direction);
        }
        self.run_dijkstra(network, costs, direction, bounds)?;
        Ok(PathSearchEnd::Exact)
    }

    fn correct_labels(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
    ) -> Result<PathSearchEnd, SolveFailure> {
        let search = self
            .label_correcting
            .get_or_insert_with(|| Box::new(LabelCorrecting::new(network.graph.num_nodes())));
        let end = search.run(network, costs, direction, &mut self.labels)?;
        let PathSearchEnd::NegativeCycle(nodes) = &end else {
            return Ok(end);
        };
        let raised = raised_by_rounding(costs);
        if network.cycle_length(nodes, &raised) < 0.0 {
            return Ok(end);
        }
        // The cycle is negative by rounding only.
        // On raised costs the cycle is not negative, so the search ends with a path.
        search.run(network, &raised, direction, &mut self.labels)
    }

    /// Dijkstra's algorithm from both ends; a negative cost counts as 0. The nodes of the path have
    /// labels of a search from the source afterwards.
    ///
    /// # Errors
    /// When the search is to stop.
    pub fn find_path_from_both_ends(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
    ) -> Result<(), SolveFailure> {
        self.search_from_both_ends(network, costs, CostBounds::of(network, costs))
    }

    fn search_from_both_ends(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        bounds: CostBounds,
    ) -> Result<(), SolveFailure> {
        let (source, target) = (network.source, network.target);
        self.labels.restart(source);
        self.opposite.restart(target);
        self.heap.restart(bounds.highest);
        self.heap.push(0.0, source);
        self.opposite_heap.restart(bounds.highest);
        self.opposite_heap.push(0.0, target);
        let mut meeting = Meeting {
            node: source,
            // If source and target are one node, the empty path is the shortest.
            length: if source == target { 0.0 } else { f64::INFINITY },
        };
        let mut steps: u32 = 0;
        while let (Some(near), Some(far)) = (self.heap.first(), self.opposite_heap.first()) {
            // Every way that is not known yet has a node beyond both radii (Pohl 1971).
            if near + far >= meeting.length {
                break;
            }
            steps += 1;
            if steps.is_multiple_of(STEPS_BETWEEN_POLLS) {
                check_not_stopped()?;
            }
            // The side of the smaller radius advances, so both grow alike.
            if near <= far {
                let mut side = SearchSide {
                    labels: &mut self.labels,
                    heap: &mut self.heap,
                    other: &self.opposite,
                    other_radius: far,
                };
                side.advance(network, costs, Direction::Forward, &mut meeting);
            } else {
                let mut side = SearchSide {
                    labels: &mut self.opposite,
                    heap: &mut self.opposite_heap,
                    other: &self.labels,
                    other_radius: near,
                };
                side.advance(network, costs, Direction::Backward, &mut meeting);
            }
        }
        // Without a meeting there is no path, and the target has no label.
        if meeting.length < f64::INFINITY {
            self.label_from(meeting.node);
        }
        Ok(())
    }

    /// Labels the way from a node to the target, which the search from the target found.
    fn label_from(&mut self, meeting: u32) {
        let mut node = meeting;
        while let Some(label) = self.opposite.get(node).copied()
            && label.parent != node
        {
            let rest = self.opposite.distance(label.parent);
            // The opposite labels count from the target: their difference is the length of the arc.
            let distance = self.labels.distance(node) + label.distance - rest;
            self.labels.set(label.parent, distance, node);
            node = label.parent;
        }
    }

    /// Dijkstra's algorithm for all nodes.
    fn run_dijkstra(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
        bounds: CostBounds,
    ) -> Result<(), SolveFailure> {
        let root = network.root(direction);
        self.labels.restart(root);
        self.heap.restart(bounds.highest);
        self.heap.push(0.0, root);
        let mut steps: u32 = 0;
        while let Some(entry) = self.heap.pop() {
            // Nodes are queued again when they get a shorter way; only the entry of the shortest
            // one is current.
            if entry.distance > self.labels.distance(entry.node) {
                continue;
            }
            steps += 1;
            if steps.is_multiple_of(STEPS_BETWEEN_POLLS) {
                check_not_stopped()?;
            }
            for arc in network.arcs(entry.node, direction) {
                if !network.is_open(arc.cost) {
                    continue;
                }
                let distance = entry.distance + costs[arc.cost as usize];
                if distance < self.labels.distance(arc.node) {
                    self.labels.set(arc.node, distance, entry.node);
                    self.heap.push(distance, arc.node);
                }
            }
        }
        Ok(())
    }

    /// Dynamic programming in topological order; costs have any sign.
    fn run_in_order(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
        goal: Option<u32>,
    ) {
        let Some(order) = &network.graph.topological else {
            return;
        };
        let root = network.root(direction);
        self.labels.restart(root);
        let first = order.places[root as usize] as usize;
        let last = goal.map(|node| order.places[node as usize] as usize);
        match direction {
            Direction::Forward => {
                // Nodes behind the goal cannot be on a way to it.
                let end = last.map_or(order.nodes.len(), |place| place.max(first));
                for node in &order.nodes[first..end] {
                    self.relax(network, costs, direction, *node);
                }
            }
            Direction::Backward => {
                let end = last.map_or(0, |place| place.min(first) + 1);
                for node in order.nodes[end..=first].iter().rev() {
                    self.relax(network, costs, direction, *node);
                }
            }
        }
    }

    fn relax(&mut self, network: &PathNetwork, costs: &[f64], direction: Direction, node: u32) {
        let from = self.labels.distance(node);
        // Not reached: its arcs lead to no distance.
        if from == f64::INFINITY {
            return;
        }
        for arc in network.arcs(node, direction) {
            if network.is_open(arc.cost) {
                let distance = from + costs[arc.cost as usize];
                if distance < self.labels.distance(arc.node) {
                    self.labels.set(arc.node, distance, node);
                }
            }
        }
    }
}

/// The lowest and the highest cost of the open arcs; both are 0 if there are none.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CostBounds {
    lowest: f64,
    highest: f64,
}

impl CostBounds {
    fn of(network: &PathNetwork, costs: &[f64]) -> Self {
        // Several minima side by side do not wait for each other: with a single one, this pass took
        // a tenth of the time of a search in a graph of 100,000 arcs.
        const LANES: usize = 8;
        let (mut lowest, mut highest) = ([0.0_f64; LANES], [0.0_f64; LANES]);
        let mut add = |lane: usize, cost: f64| {
            // Comparisons instead of `min`: they compile to one instruction, since NaN needs no
            // care.
            lowest[lane] = if cost < lowest[lane] {
                cost
            } else {
                lowest[lane]
            };
            highest[lane] = if cost > highest[lane] {
                cost
            } else {
                highest[lane]
            };
        };
        if network.is_restricted() {
            for (number, cost) in (0..).zip(costs) {
                if network.is_open(number) {
                    add(0, *cost);
                }
            }
        } else {
            let chunks = costs.chunks_exact(LANES);
            for cost in chunks.remainder() {
                add(0, *cost);
            }
            for chunk in chunks {
                for (lane, cost) in chunk.iter().enumerate() {
                    add(lane, *cost);
                }
            }
        }
        Self {
            lowest: lowest.into_iter().fold(0.0, f64::min),
            highest: highest.into_iter().fold(0.0, f64::max),
        }
    }

    fn has_negative_costs(self) -> bool {
        self.lowest < 0.0
    }
}

/// The node in which the searches from both ends meet on the shortest way so far.
struct Meeting {
    node: u32,
    length: f64,
}

/// One of two searches.
struct SearchSide<'a> {
    labels: &'a mut Labels,
    heap: &'a mut DistanceQueue,
    /// The other search, and the distance up to which its labels are final.
    other: &'a Labels,
    other_radius: f64,
}

impl SearchSide<'_> {
    /// Scans the nearest nodes: those of one bucket, so the two searches take turns rarely and what
    /// one of them reads stays in cache.
    fn advance(
        &mut self,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
        meeting: &mut Meeting,
    ) {
        while let Some(entry) = self.heap.pop() {
            if entry.distance <= self.labels.distance(entry.node) {
                self.scan(entry, network, costs, direction, meeting);
            }
            if !self.heap.continues_bucket() {
                break;
            }
        }
    }

    /// Follows the arcs of a node.
    #[inline]
    fn scan(
        &mut self,
        entry: NearestNode,
        network: &PathNetwork,
        costs: &[f64],
        direction: Direction,
        meeting: &mut Meeting,
    ) {
        for arc in network.arcs(entry.node, direction) {
            if !network.is_open(arc.cost) {
                continue;
            }
            // For a path that ignores negative costs; if there are none, this changes nothing.
            let distance = entry.distance + costs[arc.cost as usize].max(0.0);
            // The known way is as short.
            if distance >= self.labels.distance(arc.node) {
                continue;
            }
            let rest = self.other.distance(arc.node);
            // The meeting is recorded here and not when a node leaves the queue: the shortest path
            // may go through an arc between both searches.
            if distance + rest < meeting.length {
                *meeting = Meeting {
                    node: arc.node,
                    length: distance + rest,
                };
            // The way is completed by at least the other radius: it cannot become the shortest.
            } else if distance + self.other_radius >= meeting.length {
                continue;
            }
            self.labels.set(arc.node, distance, entry.node);
            // The rest of the way is known if the label of the other search is final.
            if rest > self.other_radius {
                self.heap.push(distance, arc.node);
            }
        }
    }
}
