//! Named benchmarks of the literature: a problem with synthetic data.
//!
//! `SP5x5` is a shortest path on a 5 by 5 grid, `KS32` a knapsack of 32 items, `TSP20` a tour
//! through 20 nodes, `CVRP20` vehicle routes over 20 nodes with the depot. Sizes are free: `SP10x4`
//! and `KS100` are valid as well. Capacities, demands and weights are those of the cost-sensitive
//! paper (Schutte et al. 2026), so its results can be reproduced.
//!
//! `ROAD400` is a shortest path through a road network of 400 nodes, `AP25` an assignment of 25
//! agents to as many tasks, `TP6x8` a transport problem with 6 origins and 8 destinations,
//! `MCK40x5` a multiple-choice knapsack of 40 groups with 5 offers each, `MST20` a spanning tree of
//! 20 nodes, `STORAGE48` a battery over 48 steps. Their costs have the same generators; their
//! numbers are in `networks.rs`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::networks::RoadNetwork;
use super::{Cvrp, DecisionLayout, GridPath, Knapsack, ProblemSpec, Tsp};
use crate::data::Dataset;
use crate::data::synthetic::{self, SyntheticGenerator, SyntheticSpec};
use crate::error::{Error, Result};
use crate::random::{Purpose, RandomStream};
use crate::size_limits::{self, MAX_COSTS};
use crate::solve::grid_path::GridPathSolver;

mod networks;

/// Vehicles of `CVRPn`.
const BENCHMARK_VEHICLES: usize = 5;
/// Capacity of each vehicle of `CVRPn`.
const BENCHMARK_CAPACITY: f64 = 30.0;

/// Fraction of the fleet's capacity that the demands of `CVRPn` add up to.
const BENCHMARK_LOAD_FRACTION: f64 = 0.7;
/// Demands of `CVRPn` are integers from 1 to this one before they are scaled.
const MAX_BENCHMARK_DEMAND: usize = 10;
/// Capacity of each dimension of a small knapsack.
const SMALL_KNAPSACK_CAPACITY: f64 = 20.0;
/// Capacity of each dimension of a large knapsack, as a fraction of the total weight.
const LARGE_KNAPSACK_FRACTION: f64 = 0.1;
/// Range of knapsack weights.
const MIN_BENCHMARK_WEIGHT: f64 = 3.0;
const MAX_BENCHMARK_WEIGHT: f64 = 8.0;

/// Up to this number of items a knapsack has 2 dimensions, above it 4.
const MAX_TWO_DIMENSION_ITEMS: usize = 64;

fn dimensions_of(items: usize) -> usize {
    if items <= MAX_TWO_DIMENSION_ITEMS {
        2
    } else {
        4
    }
}

/// A benchmark by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Benchmark {
    /// `SPhxw`: shortest path on a grid of h by w nodes.
    GridPath {
        /// Rows of nodes.
        rows: usize,
        /// Columns of nodes.
        cols: usize,
    },
    /// `KSm`: m items; up to 64 of them have 2 dimensions and capacity 20, more have 4 dimensions
    /// and a tenth of their total weight as capacity.
    Knapsack {
        /// Number of items.
        items: usize,
    },
    /// `TSPn`: a tour through n nodes.
    Tsp {
        /// Number of nodes.
        nodes: usize,
    },
    /// `CVRPn`: 5 vehicles of capacity 30 serve n − 1 customers, whose demands take up 70 % of
    /// that, or less if they are so few that routes of two or more customers could not carry it.
    Cvrp {
        /// Number of nodes with the depot.
        nodes: usize,
    },
    /// `ROADn`: a path through a road network of n nodes, from corner to corner.
    RoadNetwork {
        /// Number of nodes.
        nodes: usize,
    },
    /// `APn`: an assignment of n agents to n tasks.
    Assignment {
        /// Number of agents.
        size: usize,
    },
    /// `TPaxb`: flows from a origins to b destinations.
    Transport {
        /// Number of origins.
        origins: usize,
        /// Number of destinations.
        destinations: usize,
    },
    /// `MCKgxo`: at most one of o offers for each of g groups, within a budget.
    MultipleChoice {
        /// Number of groups.
        groups: usize,
        /// Offers for each of them.
        offers: usize,
    },
    /// `MSTn`: a spanning tree of a complete graph of n nodes.
    SpanningTree {
        /// Number of nodes.
        nodes: usize,
    },
    /// `STORAGEt`: a battery that buys and sells energy over t steps.
    Storage {
        /// Number of steps.
        steps: usize,
    },
}

impl Benchmark {
    /// Examples of names, for messages.
    pub const EXAMPLES: [&'static str; 10] = [
        "SP5x5 (any grid size)",
        "KS32 (any number of items)",
        "TSP20 (any number of nodes)",
        "CVRP20 (any number of nodes)",
        "ROAD400 (any number of nodes)",
        "AP25 (any number of agents)",
        "TP6x8 (any numbers of origins and destinations)",
        "MCK40x5 (any numbers of groups and offers)",
        "MST20 (any number of nodes)",
        "STORAGE48 (any number of steps)",
    ];

    /// The problem with a table. Weights of knapsack items and demands of customers depend on the
    /// seed.
    ///
    /// # Errors
    /// When the specification is invalid or the table too large.
    pub fn generate(self, spec: SyntheticSpec) -> Result<(ProblemSpec, Dataset)> {
        let (problem, rows) = self.rows(spec)?;
        Ok((problem, rows.dataset()?))
    }

    /// The problem without data.
    ///
    /// # Errors
    /// When the size is invalid or too large.
    pub fn problem(self, seed: u32) -> Result<ProblemSpec> {
        match self {
            Self::GridPath { rows, cols } => Ok(ProblemSpec::GridPath(GridPath::new(rows, cols)?)),
            Self::Knapsack { items } => {
                let dimensions = dimensions_of(items);
                let numbers = size_limits::checked_product("items", &[items], MAX_COSTS)?
                    .saturating_mul(dimensions);
                // The specification, the problem built from it and its solver store the weights.
                size_limits::check_memory(
                    &format!("{self}"),
                    numbers.saturating_mul(3 * size_of::<f64>()),
                )?;
                let weights = paper_weights(items, dimensions, seed);
                let problem = if items <= MAX_TWO_DIMENSION_ITEMS {
                    Knapsack::new(weights, vec![SMALL_KNAPSACK_CAPACITY; dimensions])?
                } else {
                    Knapsack::with_capacity_fraction(weights, LARGE_KNAPSACK_FRACTION)?
                };
                Ok(ProblemSpec::Knapsack(problem))
            }
            Self::Tsp { nodes } => Ok(ProblemSpec::Tsp(Tsp::new(nodes)?)),
            Self::Cvrp { nodes } => {
                if nodes < 3 {
                    return Err(Error::setting(format!("{self} has no route"))
                        .with_remedy("routes serve two customers or more"));
                }
                size_limits::pairs("edges", nodes)?;
                let demands = paper_demands(nodes - 1, seed);
                let problem = Cvrp::new(demands, BENCHMARK_CAPACITY, BENCHMARK_VEHICLES)?;
                Ok(ProblemSpec::Cvrp(problem))
            }
            Self::RoadNetwork { nodes } => RoadNetwork::new(nodes, seed)?.problem(),
            Self::Assignment { size } => networks::assignment(size),
            Self::Transport {
                origins,
                destinations,
            } => networks::transport(origins, destinations, seed),
            Self::MultipleChoice { groups, offers } => networks::offers(groups, offers, seed),
            Self::SpanningTree { nodes } => networks::spanning_tree(nodes),
            Self::Storage { steps } => networks::storage(steps),
        }
    }

    /// The same kind of problem, small enough for a smoke test.
    #[must_use]
    pub fn smoke_version(self) -> Self {
        match self {
            Self::Tsp { nodes } => Self::Tsp {
                nodes: nodes.min(8),
            },
            Self::Cvrp { nodes } => Self::Cvrp {
                nodes: nodes.min(12),
            },
            Self::Knapsack { items } => Self::Knapsack {
                items: items.min(16),
            },
            Self::RoadNetwork { nodes } => Self::RoadNetwork {
                nodes: nodes.min(30),
            },
            Self::Assignment { size } => Self::Assignment { size: size.min(6) },
            Self::SpanningTree { nodes } => Self::SpanningTree {
                nodes: nodes.min(10),
            },
            Self::MultipleChoice { groups, offers } => Self::MultipleChoice {
                groups: groups.min(10),
                offers,
            },
            Self::GridPath { .. } | Self::Transport { .. } | Self::Storage { .. } => self,
        }
    }

    /// How decisions are drawn: nodes of tours and routes are where their costs were drawn.
    pub fn layout(self, problem: &ProblemSpec, seed: u32) -> Option<DecisionLayout> {
        let (nodes, depot) = match self {
            Self::Tsp { nodes } => (nodes, false),
            Self::Cvrp { nodes } => (nodes, true),
            _ => return DecisionLayout::of_problem(problem),
        };
        Some(DecisionLayout::Graph {
            positions: synthetic::node_positions(nodes, seed),
            depot,
            arcs: Vec::new(),
            names: Vec::new(),
        })
    }

    /// The problem with a generator of the rows of its table.
    ///
    /// # Errors
    /// When the specification is invalid or the table too large.
    pub fn rows(self, spec: SyntheticSpec) -> Result<(ProblemSpec, SyntheticGenerator)> {
        let problem = self.problem(spec.seed)?;
        let data = match self {
            Self::GridPath { rows, cols } => {
                synthetic::grid_path(spec, GridPathSolver::num_arcs(rows, cols))?
            }
            Self::Knapsack { items } => synthetic::knapsack(spec, items, dimensions_of(items))?.1,
            Self::Tsp { nodes } | Self::Cvrp { nodes } | Self::SpanningTree { nodes } => {
                synthetic::tsp(spec, nodes)?
            }
            Self::RoadNetwork { nodes } => {
                let lengths = RoadNetwork::new(nodes, spec.seed)?.lengths();
                synthetic::grid_path(spec, lengths.len())?.with_lengths(lengths)
            }
            Self::Assignment { size } => synthetic::grid_path(spec, size * size)?,
            Self::Transport {
                origins,
                destinations,
            } => synthetic::grid_path(spec, origins * destinations)?,
            Self::MultipleChoice { groups, offers } => {
                synthetic::knapsack(spec, groups * offers, 0)?.1
            }
            Self::Storage { steps } => synthetic::grid_path(spec, steps)?,
        };
        Ok((problem, data))
    }
}

/// Demands uniform on 1 to 10, then scaled to 70 % of the capacity of all vehicles. Few customers
/// cannot demand as much, since no route serves one alone: the scale is limited by what one simple
/// set of routes can carry.
fn paper_demands(customers: usize, seed: u32) -> Vec<f64> {
    let mut stream = RandomStream::new(Purpose::Benchmark, u64::from(seed), [0, 0]);
    let raw: Vec<f64> = (0..customers)
        .map(|_| (1 + stream.index_below(MAX_BENCHMARK_DEMAND)) as f64)
        .collect();
    let fleet_capacity = BENCHMARK_VEHICLES as f64 * BENCHMARK_CAPACITY;
    let target = BENCHMARK_LOAD_FRACTION * fleet_capacity / raw.iter().sum::<f64>();
    let factor = target.min(BENCHMARK_CAPACITY / largest_load(&raw));
    raw.into_iter().map(|demand| demand * factor).collect()
}

/// Largest load of as many routes as there are vehicles, or pairs of customers if these are fewer,
/// when customers are assigned by decreasing demand, to the routes in alternating direction: every
/// route then serves two or more.
fn largest_load(demands: &[f64]) -> f64 {
    let routes = BENCHMARK_VEHICLES.min(demands.len() / 2);
    let mut sorted = demands.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut loads = vec![0.0; routes];
    for (round, customers) in sorted.chunks(routes).enumerate() {
        for (i, demand) in customers.iter().enumerate() {
            let route = if round % 2 == 0 { i } else { routes - 1 - i };
            loads[route] += demand;
        }
    }
    loads.into_iter().fold(0.0, f64::max)
}

/// Weights uniform from 3 to 8, to one decimal.
pub fn paper_weights(items: usize, dimensions: usize, seed: u32) -> Vec<Vec<f64>> {
    let mut stream = RandomStream::new(Purpose::Benchmark, u64::from(seed), [0, 0]);
    let mut weight = |_| {
        let weight = stream.uniform(MIN_BENCHMARK_WEIGHT, MAX_BENCHMARK_WEIGHT);
        (weight * 10.0).round() / 10.0
    };
    (0..dimensions)
        .map(|_| (0..items).map(&mut weight).collect())
        .collect()
}

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GridPath { rows, cols } => write!(f, "SP{rows}x{cols}"),
            Self::Knapsack { items } => write!(f, "KS{items}"),
            Self::Tsp { nodes } => write!(f, "TSP{nodes}"),
            Self::Cvrp { nodes } => write!(f, "CVRP{nodes}"),
            Self::RoadNetwork { nodes } => write!(f, "ROAD{nodes}"),
            Self::Assignment { size } => write!(f, "AP{size}"),
            Self::Transport {
                origins,
                destinations,
            } => write!(f, "TP{origins}x{destinations}"),
            Self::MultipleChoice { groups, offers } => write!(f, "MCK{groups}x{offers}"),
            Self::SpanningTree { nodes } => write!(f, "MST{nodes}"),
            Self::Storage { steps } => write!(f, "STORAGE{steps}"),
        }
    }
}

impl FromStr for Benchmark {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |digits: &str| digits.parse::<usize>().ok().filter(|n| *n > 0);
        let two_numbers = |sizes: &str| {
            let (first, second) = sizes.split_once('X')?;
            Some([number(first)?, number(second)?])
        };
        let upper = text.to_ascii_uppercase();
        let Some(start) = upper.find(|character: char| character.is_ascii_digit()) else {
            return Err(Error::unknown("benchmark", text, &Self::EXAMPLES));
        };
        let (name, size) = upper.split_at(start);
        let found = match name {
            "SP" => two_numbers(size).map(|[rows, cols]| Self::GridPath { rows, cols }),
            "KS" => number(size).map(|items| Self::Knapsack { items }),
            "TSP" => number(size).map(|nodes| Self::Tsp { nodes }),
            "CVRP" => number(size).map(|nodes| Self::Cvrp { nodes }),
            "ROAD" => number(size).map(|nodes| Self::RoadNetwork { nodes }),
            "AP" => number(size).map(|size| Self::Assignment { size }),
            "TP" => two_numbers(size).map(|[origins, destinations]| Self::Transport {
                origins,
                destinations,
            }),
            "MCK" => {
                two_numbers(size).map(|[groups, offers]| Self::MultipleChoice { groups, offers })
            }
            "MST" => number(size).map(|nodes| Self::SpanningTree { nodes }),
            "STORAGE" => number(size).map(|steps| Self::Storage { steps }),
            _ => None,
        };
        found.ok_or_else(|| Error::unknown("benchmark", text, &Self::EXAMPLES))
    }
}

impl TryFrom<String> for Benchmark {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Benchmark> for String {
    fn from(benchmark: Benchmark) -> Self {
        benchmark.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BENCHMARK_CAPACITY, BENCHMARK_LOAD_FRACTION, BENCHMARK_VEHICLES, Benchmark, ProblemSpec,
        SyntheticSpec,
    };

    #[test]
    fn customers_demand_seventy_percent_of_the_fleet() {
        let benchmark: Benchmark = "cvrp20".parse().unwrap();
        assert_eq!(benchmark.to_string(), "CVRP20");
        let (ProblemSpec::Cvrp(problem), data) =
            benchmark.generate(SyntheticSpec::paper(3, 1)).unwrap()
        else {
            panic!("not vehicle routing")
        };
        assert_eq!((problem.nodes(), data.costs().cols()), (20, 190));
        let load: f64 = problem.demands().iter().sum();
        assert!(
            (load - BENCHMARK_LOAD_FRACTION * BENCHMARK_VEHICLES as f64 * BENCHMARK_CAPACITY).abs()
                < 1e-9
        );
        let unit = problem
            .demands()
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        assert!(problem.demands().iter().any(|demand| *demand > 1.5 * unit));
        let (other, _) = benchmark.generate(SyntheticSpec::paper(3, 2)).unwrap();
        assert_ne!(other, ProblemSpec::Cvrp(problem));
    }

    #[cfg(feature = "highs")]
    #[test]
    fn benchmarks_of_any_size_have_routes() {
        use crate::solve::SearchLimits;
        for nodes in 3..15 {
            for seed in 0..20 {
                let (spec, data) = Benchmark::Cvrp { nodes }
                    .generate(SyntheticSpec::paper(1, seed))
                    .unwrap();
                let costs: Vec<f64> = data
                    .costs()
                    .row(0)
                    .iter()
                    .map(|cost| f64::from(*cost))
                    .collect();
                let found = spec
                    .build()
                    .unwrap()
                    .solver(&SearchLimits::default())
                    .solve(&costs);
                assert!(found.is_ok(), "CVRP{nodes}, seed {seed}: {spec:?}");
            }
        }
        let message = Benchmark::Cvrp { nodes: 2 }
            .generate(SyntheticSpec::paper(1, 1))
            .unwrap_err()
            .to_string();
        assert!(message.contains("two customers or more"), "{message}");
    }

    #[test]
    fn the_problem_alone_is_that_of_the_table() {
        for name in [
            "SP3x4", "KS8", "KS80", "TSP6", "CVRP12", "ROAD30", "AP4", "TP3x5", "MCK6x3", "MST7",
            "STORAGE9",
        ] {
            let benchmark: Benchmark = name.parse().unwrap();
            let (generated, _) = benchmark.generate(SyntheticSpec::paper(2, 7)).unwrap();
            assert_eq!(benchmark.problem(7).unwrap(), generated, "{name}");
        }
    }

    #[test]
    fn customers_of_the_usual_sizes_demand_their_whole_share() {
        for nodes in [20, 30, 40] {
            for seed in 0..200 {
                let load: f64 = super::paper_demands(nodes - 1, seed).iter().sum();
                assert!(
                    (load
                        - BENCHMARK_LOAD_FRACTION * BENCHMARK_VEHICLES as f64 * BENCHMARK_CAPACITY)
                        .abs()
                        < 1e-9,
                    "CVRP{nodes}, seed {seed}"
                );
            }
        }
    }
}
