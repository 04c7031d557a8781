//! Explanations of decisions on every kind of problem, compared with brute force and with solves of
//! changed costs.

mod choices;
mod features;
#[cfg(feature = "highs")]
mod quantities;
mod ranges;
mod refused;
mod regret;

use regretless::data::{CostNames, FeatureShape};
use regretless::predict::{CostModel, CostScaler, ModelMetadata, Network};
use regretless::problem::{ProblemKind, TopK};
use regretless::random::{Purpose, RandomStream};
use regretless::{Decision, ExplainSettings, Explanation, Model, Problem, Sense};

/// A kind of problem, with random members.
pub struct TestedKind {
    pub name: &'static str,
    /// A random problem.
    pub build: fn(&mut RandomStream) -> Problem,
    /// Lowest and highest cost.
    pub costs: [f64; 2],
}

impl TestedKind {
    const fn new(
        name: &'static str,
        build: fn(&mut RandomStream) -> Problem,
        costs: [f64; 2],
    ) -> Self {
        Self { name, build, costs }
    }

    /// The problem and costs of a case.
    pub fn draw(&self, case: u64) -> DrawnCase {
        let seed = 500 + self.name.len() as u64;
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [case, 1]);
        let problem = (self.build)(&mut stream);
        let [low, high] = self.costs;
        let mut costs = || {
            let count = problem.num_costs();
            (0..count).map(|_| stream.uniform(low, high)).collect()
        };
        DrawnCase {
            predicted: costs(),
            true_costs: costs(),
            context: format!("{} {case}", self.name),
            problem,
        }
    }
}

/// A problem with predicted and true costs in the user's sense.
pub struct DrawnCase {
    pub problem: Problem,
    pub predicted: Vec<f64>,
    pub true_costs: Vec<f64>,
    pub context: String,
}

impl DrawnCase {
    /// The explanation of the decision for the predicted costs.
    pub fn explain(&self, settings: &ExplainSettings) -> Explanation {
        let model = predicting(&self.problem, &self.predicted);
        let explained = model.explain([0.0].as_slice(), settings);
        explained.unwrap_or_else(|error| panic!("{}: {error}", self.context))
    }

    /// The predicted costs of an explanation, minimized; they are rounded to single precision.
    pub fn minimized(&self, explanation: &Explanation) -> Vec<f64> {
        let mut totals = vec![0.0; self.problem.num_costs()];
        for cost in &explanation.costs {
            totals[cost.index] = explanation.sense.convert(cost.predicted + cost.known);
        }
        totals
    }

    /// The explained decision.
    pub fn decision(&self, explanation: &Explanation) -> Decision {
        let values = explanation.costs.iter();
        let values = values.filter(|cost| cost.value != 0.0);
        Decision::from_entries(values.map(|cost| (cost.index as u32, cost.value)))
    }

    /// The decision for the costs of an explanation, with the cost of auxiliary columns.
    pub fn solved(&self, explanation: &Explanation) -> Decision {
        let mut costs = self.minimized(explanation);
        explanation.sense.convert_slice(&mut costs);
        let solved = self.problem.solve(&costs).unwrap().decision;
        let explained = self.decision(explanation);
        assert_eq!(solved.indices(), explained.indices(), "{}", self.context);
        assert_eq!(solved.values(), explained.values(), "{}", self.context);
        solved
    }

    /// Whether some decision is the best one for these minimized costs.
    pub fn has_optimum(&self, minimized: &[f64]) -> bool {
        let mut costs = minimized.to_vec();
        self.problem.sense().convert_slice(&mut costs);
        self.problem.solve(&costs).is_ok()
    }

    /// How much worse a decision is than the best one for these minimized costs.
    pub fn excess(&self, decision: &Decision, minimized: &[f64]) -> f64 {
        let mut costs = minimized.to_vec();
        self.problem.sense().convert_slice(&mut costs);
        let best = self.problem.solve(&costs).unwrap();
        decision.dot(minimized) - self.problem.sense().convert(best.objective)
    }
}

/// A model that predicts these costs whatever the features are.
pub fn predicting(problem: &Problem, costs: &[f64]) -> Model {
    let count = costs.len();
    let network = Network::with_parameters(vec![1, count], vec![0.0; 2 * count]).unwrap();
    let predictor = CostModel {
        networks: vec![network],
        input: None,
        output: CostScaler {
            offset: costs.to_vec(),
            scale: vec![1.0; count],
        },
        metadata: ModelMetadata {
            method: "constant".into(),
            problem: serde_json::Value::Null,
            problem_file_hash: None,
            seed: 0,
            features: vec!["x".into()],
            costs: match problem.cost_names() {
                Some(names) => names.clone(),
                None => CostNames::numbered(count),
            },
            shape: FeatureShape::Wide,
            encoding: None,
            unobserved: Vec::new(),
            record: None,
        },
        problem_file: None,
        sketch: None,
    };
    Model::new(predictor, problem.clone()).unwrap()
}

/// Every binary decision that the problem's own check accepts, the best first.
pub fn all_decisions(problem: &dyn ProblemKind, minimized: &[f64]) -> Vec<Decision> {
    let count = problem.num_costs();
    assert!(count <= 14, "{count} costs are too many");
    let subsets = 0_u32..1 << count;
    let mut feasible: Vec<Decision> = subsets
        .map(|subset| Decision::from_indices((0..count as u32).filter(|j| subset >> j & 1 == 1)))
        .filter(|decision| problem.check(decision).is_ok())
        .collect();
    feasible.sort_by(|a, b| a.dot(minimized).total_cmp(&b.dot(minimized)));
    feasible
}

/// Settings without a list of other decisions.
pub fn without_alternatives() -> ExplainSettings {
    ExplainSettings {
        alternatives: Some(0),
        ..ExplainSettings::default()
    }
}

fn knapsack(stream: &mut RandomStream) -> Problem {
    let items = 2 + stream.index_below(8);
    let mut row = || (0..items).map(|_| stream.uniform(1.0, 9.0)).collect();
    let weights: Vec<Vec<f64>> = vec![row(), row()];
    let capacity = weights.iter().map(|row| 0.5 * row.iter().sum::<f64>());
    let capacity = capacity.collect();
    Problem::knapsack(weights, capacity).unwrap()
}

fn top_k(stream: &mut RandomStream) -> Problem {
    let (items, sense) = (2 + stream.index_below(8), Sense::Maximize);
    Problem::top_k(items, 1 + stream.index_below(items), sense).unwrap()
}

fn at_most_k(stream: &mut RandomStream) -> Problem {
    let items = 2 + stream.index_below(6);
    let k = 1 + stream.index_below(items);
    Problem::from_kind(TopK::at_most(items, k, Sense::Minimize).unwrap())
}

fn grid_path(stream: &mut RandomStream) -> Problem {
    let sizes = [[2, 2], [2, 3], [3, 2], [2, 4], [3, 3]];
    let [rows, cols] = sizes[stream.index_below(sizes.len())];
    Problem::grid_path(rows, cols).unwrap()
}

/// Arcs from lower to higher nodes, so costs may have any sign.
fn acyclic_graph(stream: &mut RandomStream) -> Problem {
    graph(stream, false)
}

/// Arcs in both directions.
fn cyclic_graph(stream: &mut RandomStream) -> Problem {
    graph(stream, true)
}

fn graph(stream: &mut RandomStream, has_cycles: bool) -> Problem {
    let nodes = ["a", "b", "c", "d", "e"];
    let mut arcs = vec![["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"]];
    while arcs.len() < 11 {
        let [from, to] = [stream.index_below(5), stream.index_below(5)];
        let arc = [nodes[from], nodes[to]];
        if from != to && (has_cycles || from < to) && !arcs.contains(&arc) {
            arcs.push(arc);
        } else if !has_cycles && arcs.len() >= 10 {
            break;
        }
    }
    Problem::graph_path(arcs, "a", "e").unwrap()
}

fn node_grid(stream: &mut RandomStream) -> Problem {
    let neighbors = if stream.index_below(2) == 0 { 4 } else { 8 };
    Problem::node_grid_path(3, 2 + stream.index_below(2), neighbors).unwrap()
}

fn spanning_tree(stream: &mut RandomStream) -> Problem {
    let nodes = ["a", "b", "c", "d", "e"];
    let mut edges = vec![["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"]];
    for (first, from) in nodes.iter().enumerate() {
        for to in nodes.iter().skip(first + 2) {
            if stream.index_below(3) > 0 {
                edges.push([from, to]);
            }
        }
    }
    Problem::spanning_tree(edges).unwrap()
}

fn assignment(stream: &mut RandomStream) -> Problem {
    let sizes = [[2, 3], [3, 3], [3, 4], [3, 2]];
    let [agents, tasks] = sizes[stream.index_below(sizes.len())];
    Problem::assignment(agents, tasks, &[[0, 0]], Sense::Minimize).unwrap()
}

fn one_per_group(stream: &mut RandomStream) -> Problem {
    offers(stream, false)
}

fn at_most_one_per_group(stream: &mut RandomStream) -> Problem {
    offers(stream, true)
}

fn offers(stream: &mut RandomStream, optional: bool) -> Problem {
    let groups = 2 + stream.index_below(2);
    let mut weights: Vec<Vec<f64>> = Vec::new();
    for _ in 0..groups {
        let offers = 2 + stream.index_below(2);
        weights.push((0..offers).map(|_| stream.uniform(1.0, 5.0)).collect());
    }
    let least: f64 = weights
        .iter()
        .map(|group| {
            group
                .iter()
                .fold(f64::INFINITY, |min, weight| min.min(*weight))
        })
        .sum();
    Problem::multiple_choice_knapsack(&weights, 1.3 * least, optional).unwrap()
}

fn tsp(stream: &mut RandomStream) -> Problem {
    Problem::tsp(4 + stream.index_below(2)).unwrap()
}

#[cfg(feature = "highs")]
fn cvrp(stream: &mut RandomStream) -> Problem {
    use regretless::problem::Cvrp;
    let demands: Vec<f64> = (0..4).map(|_| 1.0 + stream.index_below(3) as f64).collect();
    let capacity = (0.7 * demands.iter().sum::<f64>()).max(3.0).round();
    Problem::from_kind(Cvrp::new(demands, capacity, 2).unwrap())
}

/// Chooses the better half of pairs of items by a user's function.
fn user_function(stream: &mut RandomStream) -> Problem {
    let pairs = 1 + stream.index_below(5);
    let solve = |costs: &[f64]| {
        let mut chosen = vec![0.0; costs.len()];
        for (pair, values) in costs.chunks_exact(2).enumerate() {
            chosen[2 * pair + usize::from(values[1] > values[0])] = 1.0;
        }
        Some(chosen)
    };
    Problem::from_solver("pairs", Sense::Maximize, 2 * pairs, solve).unwrap()
}

fn storage(stream: &mut RandomStream) -> Problem {
    Problem::storage(3 + stream.index_below(6), 4.0, 2.0, 1.5).unwrap()
}

fn transport(stream: &mut RandomStream) -> Problem {
    let mut amount = || 1.0 + stream.index_below(6) as f64;
    let demand = vec![amount(), amount(), amount()];
    let total: f64 = demand.iter().sum();
    Problem::transport(vec![0.6 * total, 0.7 * total], demand, None).unwrap()
}

fn min_cost_flow(stream: &mut RandomStream) -> Problem {
    let arcs = [
        ["a", "b"],
        ["a", "c"],
        ["b", "c"],
        ["b", "d"],
        ["c", "d"],
        ["a", "d"],
    ];
    let flow = stream.uniform(1.0, 3.0);
    let capacity = arcs.iter().map(|_| stream.uniform(2.0, 4.0)).collect();
    Problem::min_cost_flow(arcs, &[("a", flow), ("d", -flow)], Some(capacity)).unwrap()
}

/// A linear problem whose columns are continuous.
#[cfg(feature = "highs")]
fn linear_program(stream: &mut RandomStream) -> Problem {
    use regretless::problem::{LinearBuilder, VariableDomain};
    let mut build = LinearBuilder::new("mix", Sense::Minimize);
    let columns: Vec<(usize, f64)> = (0..5)
        .map(|column| {
            let upper = stream.uniform(1.0, 3.0);
            let name = format!("x{column}");
            let column = build.predicted(name, VariableDomain::Continuous([0.0, upper]));
            (column, stream.uniform(0.5, 2.0))
        })
        .collect();
    build.row([3.0, f64::INFINITY], columns);
    Problem::from_kind(build.build().unwrap())
}

/// Quantities that need a set-up of known cost, which the linear relaxation pays in part.
#[cfg(feature = "highs")]
pub fn set_ups(stream: &mut RandomStream) -> Problem {
    use regretless::problem::{LinearBuilder, VariableDomain};
    let mut build = LinearBuilder::new("set-ups", Sense::Minimize);
    for product in 0..3 {
        let quantity = VariableDomain::Continuous([0.0, stream.uniform(3.0, 6.0)]);
        let quantity = build.predicted(format!("quantity{product}"), quantity);
        let cost = stream.uniform(2.0, 8.0);
        let set_up = build.auxiliary(format!("set_up{product}"), VariableDomain::Binary, cost);
        build.row([f64::NEG_INFINITY, 0.0], [(quantity, 1.0), (set_up, -12.0)]);
    }
    Problem::from_kind(build.build().unwrap())
}

/// Sites that may be opened, with a known cost for what the open ones do not supply.
#[cfg(feature = "highs")]
fn sites(stream: &mut RandomStream) -> Problem {
    use regretless::problem::{LinearBuilder, VariableDomain};
    let mut build = LinearBuilder::new("sites", Sense::Minimize);
    let mut supply: Vec<(usize, f64)> = Vec::new();
    for site in 0..4 + stream.index_below(4) {
        let column = build.predicted(format!("site{site}"), VariableDomain::Binary);
        supply.push((column, stream.uniform(1.0, 4.0)));
    }
    let missing = build.auxiliary("missing", VariableDomain::Continuous([0.0, 20.0]), 1.5);
    supply.push((missing, 1.0));
    build.row([8.0, f64::INFINITY], supply);
    Problem::from_kind(build.build().unwrap())
}

/// Kinds with binary decisions whose decisions can be listed.
pub fn binary_kinds() -> Vec<TestedKind> {
    let mut kinds = vec![
        TestedKind::new("knapsack", knapsack, [-1.0, 4.0]),
        TestedKind::new("top k", top_k, [-2.0, 4.0]),
        TestedKind::new("at most k", at_most_k, [-3.0, 3.0]),
        TestedKind::new("grid path", grid_path, [-2.0, 4.0]),
        TestedKind::new("acyclic graph", acyclic_graph, [-2.0, 4.0]),
        TestedKind::new("cyclic graph", cyclic_graph, [0.1, 4.0]),
        TestedKind::new("path over nodes", node_grid, [0.1, 4.0]),
        TestedKind::new("spanning tree", spanning_tree, [-1.0, 4.0]),
        TestedKind::new("assignment", assignment, [-1.0, 4.0]),
        TestedKind::new("one per group", one_per_group, [0.1, 4.0]),
        TestedKind::new("at most one per group", at_most_one_per_group, [0.1, 4.0]),
        TestedKind::new("TSP", tsp, [-1.0, 4.0]),
        TestedKind::new("user's function", user_function, [-1.0, 4.0]),
    ];
    kinds.extend(binary_kinds_on_highs());
    kinds
}

#[cfg(feature = "highs")]
fn binary_kinds_on_highs() -> Vec<TestedKind> {
    vec![TestedKind::new("CVRP", cvrp, [0.2, 4.0])]
}

#[cfg(not(feature = "highs"))]
fn binary_kinds_on_highs() -> Vec<TestedKind> {
    Vec::new()
}

/// All other kinds: decisions that are not binary, or that depend on auxiliary columns.
pub fn other_kinds() -> Vec<TestedKind> {
    let mut kinds = vec![
        TestedKind::new("storage", storage, [1.0, 9.0]),
        TestedKind::new("transport", transport, [0.5, 4.0]),
        TestedKind::new("flow of least cost", min_cost_flow, [0.5, 4.0]),
    ];
    kinds.extend(other_kinds_on_highs());
    kinds
}

#[cfg(feature = "highs")]
fn other_kinds_on_highs() -> Vec<TestedKind> {
    vec![
        TestedKind::new("linear program", linear_program, [0.5, 4.0]),
        TestedKind::new("sites with aux", sites, [0.5, 4.0]),
    ]
}

#[cfg(not(feature = "highs"))]
fn other_kinds_on_highs() -> Vec<TestedKind> {
    Vec::new()
}
