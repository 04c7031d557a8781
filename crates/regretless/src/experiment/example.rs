//! Example decisions for figures: the tour, the path, the chosen items.

use serde::{Deserialize, Serialize};

use super::named_problem::NamedProblem;
use crate::data::synthetic;
use crate::label::LabeledDataset;
use crate::oracle::SolveResult;
use crate::problem::{Benchmark, ProblemSpec};

/// Test rows whose decisions are stored. Untuned: figures show a few of them.
const MAX_EXAMPLE_ROWS: usize = 8;
/// Number of costs above which decisions are not drawn: single items would not be visible.
const MAX_DRAWN_COSTS: usize = 20_000;

/// The decision of one test row under predicted costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExampleDecision {
    /// Row of the table.
    pub row: usize,
    /// Its regret.
    pub regret: f64,
    /// Indices of the chosen costs.
    pub chosen: Vec<u32>,
}

/// The optimal decision of one test row, and its true costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Row of the table.
    pub row: usize,
    /// Indices of the optimal decision.
    pub optimal: Vec<u32>,
    /// Its objective, in the problem's sense.
    pub objective: f64,
    /// True costs in the problem's sense.
    pub costs: Vec<f32>,
}

/// How decisions of a problem are laid out in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DecisionLayout {
    /// Nodes in the plane; costs belong to pairs i < j in lexicographic order. The first node is
    /// the depot where there is one.
    Graph {
        /// Coordinates of the nodes.
        positions: Vec<[f64; 2]>,
        /// Whether the first node is a depot.
        depot: bool,
    },
    /// A grid; costs belong to arcs, row by row, first those to the right and then those down.
    Grid {
        /// Rows of nodes.
        rows: usize,
        /// Columns of nodes.
        cols: usize,
    },
    /// Items with a weight in each dimension.
    Items {
        /// One row per dimension.
        weights: Vec<Vec<f64>>,
        /// Capacity in each dimension.
        capacity: Vec<f64>,
    },
}

impl DecisionLayout {
    pub(super) fn new(spec: &ProblemSpec, problem: NamedProblem, seed: u32) -> Option<Self> {
        let graph = |nodes: usize, depot| {
            Some(Self::Graph {
                positions: synthetic::node_positions(nodes, seed),
                depot,
            })
        };
        match (spec, problem) {
            (_, NamedProblem::Benchmark(Benchmark::Tsp { nodes })) => graph(nodes, false),
            (_, NamedProblem::Benchmark(Benchmark::Cvrp { nodes })) => graph(nodes, true),
            (_, NamedProblem::Benchmark(Benchmark::GridPath { rows, cols })) => {
                Some(Self::Grid { rows, cols })
            }
            (ProblemSpec::Knapsack(knapsack), _) => Some(Self::Items {
                weights: knapsack.weights().to_vec(),
                capacity: knapsack.capacity().to_vec(),
            }),
            _ => None,
        }
    }
}

/// The first test rows as examples.
pub(super) fn examples(data: &LabeledDataset, rows: &[usize]) -> Vec<Example> {
    if data.data().costs().cols() > MAX_DRAWN_COSTS {
        return Vec::new();
    }
    let example = |row: &usize| {
        let mut costs = data.data().costs().row(*row).to_vec();
        data.sense().convert_single(&mut costs);
        let optimal = data.optimal_decision(*row);
        Example {
            row: *row,
            optimal: optimal.indices().to_vec(),
            objective: optimal.dot(&costs),
            costs,
        }
    };
    rows.iter().take(MAX_EXAMPLE_ROWS).map(example).collect()
}

/// The decisions of the same rows under predicted costs.
pub(super) fn example_decisions(
    solutions: &[SolveResult],
    data: &LabeledDataset,
    rows: &[usize],
) -> Vec<ExampleDecision> {
    if data.data().costs().cols() > MAX_DRAWN_COSTS {
        return Vec::new();
    }
    let mut examples = Vec::new();
    for (row, solution) in rows.iter().zip(solutions).take(MAX_EXAMPLE_ROWS) {
        if let Ok(solution) = solution {
            let decision = &solution.decision;
            let objective = decision.dot(data.data().costs().row(*row));
            examples.push(ExampleDecision {
                row: *row,
                regret: objective - data.optimal_objective(*row),
                chosen: decision.indices().to_vec(),
            });
        }
    }
    examples
}
