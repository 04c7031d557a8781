//! The problems of benchmarks on networks, offers and storage. Their costs are those of
//! [`synthetic`](crate::data::synthetic), their numbers are drawn here.

use serde_json::json;

use crate::error::{Error, Result};
use crate::problem::ProblemSpec;
use crate::random::{Purpose, RandomStream};
use crate::size_limits;

/// Arcs of a road network of 400 nodes; others have as many per node. Road graphs have two or three
/// roads at a junction, most of them in both directions.
const ARCS_PER_400_NODES: usize = 2163;
/// Most nodes of a road network: all pairs of them are sorted.
const MAX_ROAD_NODES: usize = 5000;
/// Demands of a transport problem are integers from 1 to this one.
const MAX_DEMAND: usize = 10;
/// Supply of all origins of a transport problem over the demand.
const SUPPLY_FACTOR: f64 = 1.25;
/// Weights of offers are integers from 1 to this one.
const MAX_OFFER_WEIGHT: usize = 20;
/// Budget for offers, as a fraction of the heaviest offers of all groups.
const BUDGET_FRACTION: f64 = 0.4;

/// A road network: nodes on the unit square, and arcs with their lengths.
pub(super) struct RoadNetwork {
    positions: Vec<[f64; 2]>,
    /// Tail and head.
    arcs: Vec<[usize; 2]>,
}

impl RoadNetwork {
    /// A network in which every node can be reached from every other: the shortest roads that
    /// connect all nodes, and the shortest of the others.
    pub(super) fn new(nodes: usize, seed: u32) -> Result<Self> {
        if !(2..=MAX_ROAD_NODES).contains(&nodes) {
            return Err(Error::setting(format!("ROAD{nodes} does not exist"))
                .with_remedy(format!("road networks have 2 to {MAX_ROAD_NODES} nodes")));
        }
        let mut stream = RandomStream::new(Purpose::Benchmark, u64::from(seed), [0, 0]);
        let positions: Vec<[f64; 2]> = (0..nodes)
            .map(|_| [stream.uniform(0.0, 1.0), stream.uniform(0.0, 1.0)])
            .collect();
        let mut pairs = Vec::with_capacity(size_limits::pairs("roads", nodes)?);
        for second in 1..nodes {
            for first in 0..second {
                pairs.push([first, second]);
            }
        }
        pairs.sort_by(|a, b| {
            let lengths = [a, b].map(|pair| distance(&positions, *pair));
            lengths[0].total_cmp(&lengths[1])
        });
        // Kruskal's minimum spanning tree, with the pairs it does not need.
        let mut component: Vec<usize> = (0..nodes).collect();
        let (mut roads, mut others) = (Vec::new(), Vec::new());
        for pair in pairs {
            let [a, b] = pair.map(|node| component[node]);
            if a == b {
                others.push(pair);
                continue;
            }
            roads.push(pair);
            for entry in &mut component {
                if *entry == b {
                    *entry = a;
                }
            }
        }
        roads.extend(others);
        let wanted = (nodes * ARCS_PER_400_NODES / 400).max(2 * (nodes - 1));
        let both_ways = roads.iter().flat_map(|[a, b]| [[*a, *b], [*b, *a]]);
        let mut arcs: Vec<[usize; 2]> = both_ways.take(wanted).collect();
        arcs.sort_unstable();
        Ok(Self { positions, arcs })
    }

    /// Lengths of the arcs over their mean.
    pub(super) fn lengths(&self) -> Vec<f64> {
        let lengths: Vec<f64> = self
            .arcs
            .iter()
            .map(|arc| distance(&self.positions, *arc))
            .collect();
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        lengths.into_iter().map(|length| length / mean).collect()
    }

    /// The path from the node nearest to one corner of the square to that nearest to the opposite
    /// one.
    pub(super) fn problem(&self) -> Result<ProblemSpec> {
        let [source, mut target] = [[0.0, 0.0], [1.0, 1.0]].map(|corner| self.nearest(corner));
        if source == target {
            target = (source + 1) % self.positions.len();
        }
        ProblemSpec::from_json(json!({
            "kind": "graph_path",
            "arcs": self.arcs,
            "source": source,
            "target": target,
        }))
    }

    fn nearest(&self, [x, y]: [f64; 2]) -> usize {
        let mut nearest = 0;
        let mut least = f64::INFINITY;
        for (node, position) in self.positions.iter().enumerate() {
            let squared = (position[0] - x).powi(2) + (position[1] - y).powi(2);
            if squared < least {
                (nearest, least) = (node, squared);
            }
        }
        nearest
    }
}

fn distance(positions: &[[f64; 2]], [a, b]: [usize; 2]) -> f64 {
    let [a, b] = [a, b].map(|node| positions[node]);
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

/// As many agents as tasks.
pub(super) fn assignment(size: usize) -> Result<ProblemSpec> {
    ProblemSpec::from_json(json!({ "kind": "assignment", "agents": size, "tasks": size }))
}

/// Random demands, and supplies that exceed them in total.
pub(super) fn transport(origins: usize, destinations: usize, seed: u32) -> Result<ProblemSpec> {
    size_limits::checked_product("lanes", &[origins, destinations], size_limits::MAX_COSTS)?;
    let mut stream = RandomStream::new(Purpose::Benchmark, u64::from(seed), [0, 0]);
    let mut draw = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|_| (1 + stream.index_below(MAX_DEMAND)) as f64)
            .collect()
    };
    let demand = draw(destinations);
    let shares = draw(origins);
    let needed = SUPPLY_FACTOR * demand.iter().sum::<f64>() / shares.iter().sum::<f64>();
    let supply: Vec<f64> = shares.iter().map(|share| (share * needed).ceil()).collect();
    ProblemSpec::from_json(json!({ "kind": "transport", "supply": supply, "demand": demand }))
}

/// At most one of several offers for each group within a budget.
pub(super) fn offers(groups: usize, per_group: usize, seed: u32) -> Result<ProblemSpec> {
    size_limits::checked_product("offers", &[groups, per_group], size_limits::MAX_COSTS)?;
    let mut stream = RandomStream::new(Purpose::Benchmark, u64::from(seed), [0, 0]);
    let mut weights = Vec::with_capacity(groups);
    let mut heaviest = 0.0;
    for _ in 0..groups {
        let group: Vec<f64> = (0..per_group)
            .map(|_| (1 + stream.index_below(MAX_OFFER_WEIGHT)) as f64)
            .collect();
        heaviest += group.iter().copied().fold(0.0, f64::max);
        weights.push(group);
    }
    ProblemSpec::from_json(json!({
        "kind": "multiple_choice_knapsack",
        "weights": weights,
        "capacity": (BUDGET_FRACTION * heaviest).floor(),
        "optional": true,
    }))
}

/// The edges of a complete graph.
pub(super) fn spanning_tree(nodes: usize) -> Result<ProblemSpec> {
    ProblemSpec::from_json(json!({ "kind": "spanning_tree", "nodes": nodes }))
}

/// A battery of four hours, half full at both ends, with a round-trip efficiency of 90 %.
pub(super) fn storage(steps: usize) -> Result<ProblemSpec> {
    ProblemSpec::from_json(json!({
        "kind": "storage",
        "steps": steps,
        "capacity": 4.0,
        "initial": 2.0,
        "charge_limit": 1.0,
        "discharge_limit": 1.0,
        "charge_efficiency": 0.95,
        "discharge_efficiency": 0.95,
    }))
}
