//! Feasible sets that differ between rows: the same labels, decisions and regrets as with one
//! problem per row that is built by hand.

use regretless::data::{Dataset, FeatureShape, Features, Matrix, RowParameters, SplitIndices};
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::CostModel;
use regretless::problem::ProblemSpec;
use regretless::random::{Purpose, RandomStream};
use regretless::settings::TrainingSettings;
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

mod decisions;
mod named;

const ROWS: usize = 40;

/// A problem file with column references, the columns, and the file of a row by hand.
struct Case {
    name: &'static str,
    template: Value,
    costs: usize,
    /// Name, numbers per row, and the numbers of all rows.
    columns: Vec<(&'static str, usize, Vec<f64>)>,
    by_hand: fn(&Case, usize) -> Value,
}

impl Case {
    fn value(&self, column: &str, row: usize) -> f64 {
        self.values(column, row)[0]
    }

    fn values(&self, column: &str, row: usize) -> &[f64] {
        let (_, width, values) = self
            .columns
            .iter()
            .find(|(name, ..)| *name == column)
            .unwrap();
        &values[row * width..][..*width]
    }

    fn parameters(&self) -> RowParameters {
        let mut parameters = RowParameters::new(ROWS);
        for (name, width, values) in &self.columns {
            parameters = parameters
                .with_column(*name, *width, Arc::new(values.clone()))
                .unwrap();
        }
        parameters
    }

    fn spec(&self) -> ProblemSpec {
        ProblemSpec::from_json(self.template.clone()).unwrap()
    }

    fn dataset(&self) -> Dataset {
        let costs = numbers(self.name, 1, ROWS * self.costs, 1.0, 9.0);
        let features: Vec<f64> = (0..ROWS)
            .flat_map(|row| {
                let row_costs = &costs[row * self.costs..][..self.costs];
                [
                    row_costs[0],
                    row_costs.iter().sum::<f64>(),
                    row as f64 * 0.1,
                ]
            })
            .collect();
        let features = Matrix::from_f64(ROWS, 3, &features).unwrap();
        let features = Features::new(features, FeatureShape::Wide, None).unwrap();
        let matrix = Matrix::from_f64(ROWS, self.costs, &costs).unwrap();
        Dataset::new(features, matrix, None).unwrap()
    }
}

fn numbers(name: &str, position: u64, count: usize, low: f64, high: f64) -> Vec<f64> {
    let seed = name.bytes().map(u64::from).sum();
    let mut stream = RandomStream::new(Purpose::Importance, seed, [position, 0]);
    let draw = |_| low + (high - low) * stream.standard_uniform();
    (0..count).map(draw).collect()
}

fn whole_numbers(name: &str, position: u64, low: f64, high: f64) -> Vec<f64> {
    let drawn = numbers(name, position, ROWS, low, high + 1.0);
    drawn.into_iter().map(f64::floor).collect()
}

/// The problem of a row by hand: the template with the numbers of the row.
fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case {
            name: "capacity of a knapsack",
            template: json!({"kind": "knapsack", "weights": [[3.0, 4.0, 5.0, 2.0, 6.0, 4.5]],
                "capacity": [{"column": "cap"}]}),
            costs: 6,
            columns: vec![("cap", 1, numbers("cap", 2, ROWS, 4.0, 20.0))],
            by_hand: |case, row| {
                json!({"kind": "knapsack", "weights": [[3.0, 4.0, 5.0, 2.0, 6.0, 4.5]],
                    "capacity": [case.value("cap", row)]})
            },
        },
        Case {
            name: "weights and one of two capacities",
            template: json!({"kind": "knapsack", "items": 5,
                "weights": [{"columns": "w*"}, [1.0, 2.0, 3.0, 4.0, 5.0]],
                "capacity": [6.0, {"column": "cap"}]}),
            costs: 5,
            columns: vec![
                ("w", 5, numbers("w", 2, ROWS * 5, 1.0, 4.0)),
                ("cap", 1, numbers("cap", 3, ROWS, 3.0, 12.0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "knapsack",
                    "weights": [case.values("w", row), [1.0, 2.0, 3.0, 4.0, 5.0]],
                    "capacity": [6.0, case.value("cap", row)]})
            },
        },
        Case {
            name: "k of the best",
            template: json!({"kind": "top_k", "items": 7, "k": {"column": "k"},
                "sense": "minimize"}),
            costs: 7,
            columns: vec![("k", 1, whole_numbers("k", 2, 1.0, 6.0))],
            by_hand: |case, row| {
                json!({"kind": "top_k", "items": 7, "k": case.value("k", row) as u64,
                    "sense": "minimize"})
            },
        },
    ];
    cases.extend(cases_with_absent_items());
    if cfg!(feature = "highs") {
        cases.extend(cases_with_highs());
    }
    cases
}

/// In each row ones, and a zero at the place that `zero` gives for the row.
fn ones_but_one(count: usize, zero: fn(usize) -> usize) -> Vec<f64> {
    let mut ones = vec![1.0; count * ROWS];
    for (row, values) in ones.chunks_exact_mut(count).enumerate() {
        values[zero(row)] = 0.0;
    }
    ones
}

/// Zeros and ones, at least `fewest` ones in each row.
fn zeros_and_ones(name: &str, count: usize, fewest: usize) -> Vec<f64> {
    let mut drawn = numbers(name, 7, ROWS * count, 0.0, 1.0);
    for row in drawn.chunks_exact_mut(count) {
        for (index, number) in row.iter_mut().enumerate() {
            *number = if *number < 0.6 || index < fewest {
                1.0
            } else {
                0.0
            };
        }
    }
    drawn
}

fn cases_with_absent_items() -> Vec<Case> {
    vec![
        Case {
            name: "items on offer",
            template: json!({"kind": "knapsack", "weights": [[3.0, 4.0, 5.0, 2.0, 6.0, 4.5]],
                "capacity": [{"column": "cap"}], "present": {"columns": "offer*"}}),
            costs: 6,
            columns: vec![
                ("cap", 1, numbers("cap", 2, ROWS, 4.0, 20.0)),
                ("offer", 6, zeros_and_ones("offer", 6, 1)),
            ],
            by_hand: |case, row| {
                json!({"kind": "knapsack", "weights": [[3.0, 4.0, 5.0, 2.0, 6.0, 4.5]],
                    "capacity": [case.value("cap", row)],
                    "present": whole(case.values("offer", row))})
            },
        },
        Case {
            name: "offers of the day",
            template: json!({"kind": "top_k", "items": 7, "k": 2, "sense": "maximize",
                "present": {"columns": "offer*"}}),
            costs: 7,
            columns: vec![("offer", 7, zeros_and_ones("offers", 7, 2))],
            by_hand: |case, row| {
                json!({"kind": "top_k", "items": 7, "k": 2, "sense": "maximize",
                    "present": whole(case.values("offer", row))})
            },
        },
        Case {
            name: "ends and closed arcs",
            template: json!({"kind": "grid_path", "grid": [3, 4], "source": {"column": "from"},
                "target": {"column": "to"}, "present": {"columns": "open*"}}),
            costs: 17,
            columns: vec![
                ("from", 1, whole_numbers("from", 2, 0.0, 1.0)),
                ("to", 1, whole_numbers("to", 3, 10.0, 11.0)),
                // A closed arc per row that leaves a way around it.
                ("open", 17, ones_but_one(17, |row| 7 + row % 3)),
            ],
            by_hand: |case, row| {
                json!({"kind": "grid_path", "grid": [3, 4],
                    "source": case.value("from", row) as u64,
                    "target": case.value("to", row) as u64,
                    "present": whole(case.values("open", row))})
            },
        },
        Case {
            name: "drivers on duty",
            template: json!({"kind": "assignment", "agents": ["Ann", "Ben", "Cem"], "tasks": 4,
                "forbidden": [["Ben", 0]], "present": {"columns": "may*"}}),
            costs: 12,
            columns: vec![("may", 12, {
                let mut may = vec![1.0; 12 * ROWS];
                (0..ROWS).for_each(|row| may[12 * row + 1 + row % 5] = 0.0);
                (0..ROWS).for_each(|row| may[12 * row + 6 + row % 3] = 0.0);
                may
            })],
            by_hand: |case, row| {
                json!({"kind": "assignment", "agents": ["Ann", "Ben", "Cem"], "tasks": 4,
                    "forbidden": [["Ben", 0]], "present": whole(case.values("may", row))})
            },
        },
        Case {
            name: "offers and budget of the day",
            template: json!({"kind": "multiple_choice_knapsack", "groups": [2, 3, 1],
                "weights": {"columns": "w*"}, "capacity": {"column": "budget"},
                "present": {"columns": "offer*"}, "optional": true}),
            costs: 6,
            columns: vec![
                ("w", 6, numbers("w", 2, ROWS * 6, 1.0, 5.0)),
                ("budget", 1, numbers("budget", 3, ROWS, 2.0, 9.0)),
                ("offer", 6, zeros_and_ones("offered", 6, 1)),
            ],
            by_hand: |case, row| {
                let weights = case.values("w", row);
                json!({"kind": "multiple_choice_knapsack",
                    "weights": [&weights[..2], &weights[2..5], &weights[5..]],
                    "capacity": case.value("budget", row), "optional": true,
                    "present": whole(case.values("offer", row))})
            },
        },
        Case {
            name: "single weights of offers",
            template: json!({"kind": "multiple_choice_knapsack", "capacity": 6.0,
                "weights": [[1.0, {"column": "a"}], [{"column": "b"}, 2.0, 0.5]],
                "present": [1, 1, {"column": "has_b"}, 1, 1]}),
            costs: 5,
            columns: vec![
                ("a", 1, numbers("a", 2, ROWS, 1.0, 5.0)),
                ("b", 1, numbers("b", 3, ROWS, 1.0, 5.0)),
                ("has_b", 1, zeros_and_ones("has_b", 1, 0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "multiple_choice_knapsack", "capacity": 6.0,
                    "weights": [[1.0, case.value("a", row)], [case.value("b", row), 2.0, 0.5]],
                    "present": [1, 1, case.value("has_b", row) as u8, 1, 1]})
            },
        },
        Case {
            name: "supplies, capacities and open arcs",
            template: json!({"kind": "min_cost_flow",
                "arcs": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["a", "d"]],
                "supply": {"a": {"column": "sent"}, "d": {"column": "got"}},
                "capacity": ["inf", {"column": "most"}, "inf", "inf", 9.0],
                "present": {"columns": "open*"}}),
            costs: 5,
            columns: vec![
                ("sent", 1, whole_numbers("sent", 2, 1.0, 4.0)),
                ("got", 1, {
                    let sent = whole_numbers("sent", 2, 1.0, 4.0);
                    sent.into_iter().map(|sent| -sent).collect()
                }),
                ("most", 1, numbers("most", 3, ROWS, 0.5, 2.0)),
                ("open", 5, ones_but_one(5, |row| row % 4)),
            ],
            by_hand: |case, row| {
                json!({"kind": "min_cost_flow",
                    "arcs": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["a", "d"]],
                    "supply": {"a": case.value("sent", row), "d": case.value("got", row)},
                    "capacity": ["inf", case.value("most", row), "inf", "inf", 9.0],
                    "present": whole(case.values("open", row))})
            },
        },
        Case {
            name: "demands of the day",
            template: json!({"kind": "transport", "supply": [9.0, {"column": "own"}],
                "destinations": 3, "demand": {"columns": "need*"}, "capacity": 7.0}),
            costs: 6,
            columns: vec![
                ("own", 1, numbers("own", 2, ROWS, 3.0, 6.0)),
                ("need", 3, numbers("need", 3, ROWS * 3, 0.0, 4.0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "transport", "supply": [9.0, case.value("own", row)],
                    "demand": case.values("need", row), "capacity": 7.0})
            },
        },
        Case {
            name: "ends in a graph",
            template: json!({"kind": "graph_path", "source": {"column": "from"},
                "target": {"column": "to"}, "present": {"columns": "open*"},
                "arcs": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3], [2, 1], [3, 1]]}),
            costs: 8,
            columns: vec![
                ("from", 1, whole_numbers("from", 2, 0.0, 3.0)),
                ("to", 1, whole_numbers("to", 3, 0.0, 3.0)),
                // A closed arc per row that leaves a way around it.
                ("open", 8, ones_but_one(8, |row| 4 + row % 4)),
            ],
            by_hand: |case, row| {
                json!({"kind": "graph_path", "source": case.value("from", row) as u64,
                    "target": case.value("to", row) as u64,
                    "arcs": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3], [2, 1], [3, 1]],
                    "present": whole(case.values("open", row))})
            },
        },
        Case {
            name: "ends on a map",
            template: json!({"kind": "graph_path", "grid": [3, 3], "neighbors": 8,
                "source": {"columns": "start*"}, "target": [2, {"column": "col"}]}),
            costs: 9,
            columns: vec![
                ("start", 2, {
                    let rows = whole_numbers("start row", 2, 0.0, 1.0);
                    let cols = whole_numbers("start col", 3, 0.0, 2.0);
                    rows.into_iter()
                        .zip(cols)
                        .flat_map(|(row, col)| [row, col])
                        .collect()
                }),
                ("col", 1, whole_numbers("col", 4, 0.0, 2.0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "graph_path", "grid": [3, 3], "neighbors": 8,
                    "source": case.values("start", row), "target": [2.0, case.value("col", row)]})
            },
        },
        Case {
            name: "edges of a tree",
            template: json!({"kind": "spanning_tree", "nodes": 4, "present": {"columns": "e*"}}),
            costs: 6,
            columns: vec![("e", 6, ones_but_one(6, |row| row % 6))],
            by_hand: |case, row| {
                let present = whole(case.values("e", row));
                json!({"kind": "spanning_tree", "nodes": 4, "present": present})
            },
        },
        Case {
            name: "size and rest of a battery",
            template: json!({"kind": "storage", "steps": 6, "capacity": {"column": "size"},
                "initial": {"column": "rest"}, "charge_limit": 1.0,
                "discharge_limit": {"columns": "sell*"}, "discharge_efficiency": 0.9}),
            costs: 6,
            columns: vec![
                ("size", 1, numbers("size", 2, ROWS, 2.0, 4.0)),
                ("rest", 1, numbers("rest", 3, ROWS, 0.0, 1.5)),
                ("sell", 6, numbers("sell", 4, 6 * ROWS, 0.0, 2.0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "storage", "steps": 6, "capacity": case.value("size", row),
                    "initial": case.value("rest", row), "charge_limit": 1.0,
                    "discharge_limit": case.values("sell", row), "discharge_efficiency": 0.9})
            },
        },
        Case {
            name: "customers of the day",
            template: json!({"kind": "tsp", "nodes": 7, "present": {"columns": "visit*"}}),
            costs: 21,
            columns: vec![("visit", 7, zeros_and_ones("visit", 7, 3))],
            by_hand: |case, row| {
                let present = whole(case.values("visit", row));
                json!({"kind": "tsp", "nodes": 7, "present": present})
            },
        },
    ]
}

/// Zeros and ones as a problem file has them.
fn whole(values: &[f64]) -> Vec<u8> {
    values.iter().map(|value| *value as u8).collect()
}

/// An LP file of two plants and three customers.
fn plan_file() -> &'static Path {
    static FOLDER: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let write = || {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("plan.lp");
        let text = "Minimize
 cost: a1 + a2 + a3 + b1 + b2 + b3 + 20 late
Subject To
 demand_1: a1 + b1 + late >= 4
 demand_2: a2 + b2 >= 3
 demand_3: a3 + b3 = 2
 supply_a: a1 + 2 a2 + a3 <= 9
 supply_b: b1 + b2 + b3 <= 8
Bounds
 b2 <= 5
End
";
        std::fs::write(&path, text).unwrap();
        (folder, path)
    };
    &FOLDER.get_or_init(write).1
}

fn cases_with_highs() -> Vec<Case> {
    vec![
        Case {
            name: "numbers of an LP file",
            template: json!({"kind": "linear", "file": plan_file(), "costs": ["a*", "b*"],
                "rhs": {"demand_*": {"column": "d_*"}, "supply_b": 9.5},
                "row_upper": {"supply_a": {"column": "supply"}},
                "upper": {"b2": {"column": "most"}},
                "coefficients": {"supply_a": {"a2": {"column": "use"}}},
                "present": {"a1": {"column": "has_a1"}}}),
            costs: 6,
            columns: vec![
                ("d_1", 1, numbers("d_1", 2, ROWS, 2.0, 6.0)),
                ("d_2", 1, numbers("d_2", 3, ROWS, 1.0, 4.0)),
                ("d_3", 1, numbers("d_3", 4, ROWS, 1.0, 3.0)),
                ("supply", 1, numbers("supply", 5, ROWS, 6.0, 12.0)),
                ("most", 1, numbers("most", 6, ROWS, 0.5, 5.0)),
                ("use", 1, numbers("use", 8, ROWS, 1.0, 3.0)),
                ("has_a1", 1, zeros_and_ones("has_a1", 1, 0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "linear", "file": plan_file(), "costs": ["a*", "b*"],
                    "rhs": {"demand_1": case.value("d_1", row), "demand_2": case.value("d_2", row),
                        "demand_3": case.value("d_3", row), "supply_b": 9.5},
                    "row_upper": {"supply_a": case.value("supply", row)},
                    "upper": {"b2": case.value("most", row)},
                    "coefficients": {"supply_a": {"a2": case.value("use", row)}},
                    "present": {"a1": case.value("has_a1", row) as u8}})
            },
        },
        Case {
            name: "demands, capacity and vehicles",
            template: json!({"kind": "cvrp", "customers": 5, "demands": {"columns": "demand*"},
                "capacity": {"column": "truck"}, "vehicles": {"column": "vehicles"},
                "single_customer_routes": true}),
            costs: 15,
            columns: vec![
                ("demand", 5, numbers("demand", 2, ROWS * 5, 1.0, 4.0)),
                ("truck", 1, numbers("truck", 3, ROWS, 10.0, 20.0)),
                ("vehicles", 1, whole_numbers("vehicles", 4, 3.0, 5.0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "cvrp", "demands": case.values("demand", row),
                    "capacity": case.value("truck", row),
                    "vehicles": case.value("vehicles", row) as u64,
                    "single_customer_routes": true})
            },
        },
        Case {
            name: "bounds and entries of a linear problem",
            template: json!({"kind": "linear_arrays", "name": "plan", "sense": "minimize",
                "columns": [{"upper": 4.0, "lower": 0.0},
                    {"upper": {"column": "limit"}, "lower": 0.0},
                    {"lower": 0.0, "integer": true, "upper": 9.0},
                    {"lower": 0.0, "cost": {"column": "fee"}}],
                "rows": [{"lower": {"column": "demand"},
                    "entries": [[0, 1.0], [1, {"column": "yield"}], [2, 1.0], [3, 1.0]]}]}),
            costs: 3,
            columns: vec![
                ("limit", 1, numbers("limit", 2, ROWS, 0.5, 3.0)),
                ("fee", 1, numbers("fee", 3, ROWS, 2.0, 8.0)),
                ("demand", 1, numbers("demand", 4, ROWS, 3.0, 9.0)),
                ("yield", 1, numbers("yield", 5, ROWS, 0.5, 1.5)),
            ],
            by_hand: |case, row| {
                json!({"kind": "linear_arrays", "name": "plan", "sense": "minimize",
                    "columns": [{"upper": 4.0, "lower": 0.0},
                        {"upper": case.value("limit", row), "lower": 0.0},
                        {"lower": 0.0, "integer": true, "upper": 9.0},
                        {"lower": 0.0, "cost": case.value("fee", row)}],
                    "rows": [{"lower": case.value("demand", row),
                        "entries": [[0, 1.0], [1, case.value("yield", row)], [2, 1.0], [3, 1.0]]}]})
            },
        },
        Case {
            name: "tasks of the day",
            template: json!({"kind": "schedule", "minutes": 30.0,
                "machines": [[{"column": "machine"}]],
                "tasks": [
                    {"duration": {"column": "hours"}, "earliest": 0, "latest": 48,
                        "power": {"column": "power"}, "uses": [1.0]},
                    {"duration": 2, "earliest": {"column": "start"}, "latest": 48, "power": 3.0,
                        "uses": [1.0]}]}),
            costs: 48,
            columns: vec![
                ("machine", 1, whole_numbers("machine", 2, 1.0, 2.0)),
                ("hours", 1, whole_numbers("hours", 3, 1.0, 4.0)),
                ("power", 1, numbers("power", 4, ROWS, 1.0, 9.0)),
                ("start", 1, whole_numbers("start", 5, 0.0, 40.0)),
            ],
            by_hand: |case, row| {
                json!({"kind": "schedule", "minutes": 30.0,
                    "machines": [[case.value("machine", row)]],
                    "tasks": [
                        {"duration": case.value("hours", row) as u64, "earliest": 0, "latest": 48,
                            "power": case.value("power", row), "uses": [1.0]},
                        {"duration": 2, "earliest": case.value("start", row) as u64, "latest": 48,
                            "power": 3.0, "uses": [1.0]}]})
            },
        },
    ]
}

/// A labeled table with its oracle and split.
struct Fixture {
    spec: ProblemSpec,
    data: LabeledDataset,
    oracle: Oracle,
    split: SplitIndices,
}

impl Fixture {
    fn new(spec: ProblemSpec, data: Dataset, threads: usize) -> Self {
        let oracle = Oracle::new(spec.build().unwrap())
            .with_threads(Threads::new(threads).unwrap())
            .for_dataset(&data)
            .unwrap();
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        Self {
            spec,
            data,
            oracle,
            split: SplitIndices::in_order(ROWS, [24, 8, 8]).unwrap(),
        }
    }

    fn of(case: &Case, threads: usize) -> Self {
        let data = case.dataset().with_parameters(case.parameters()).unwrap();
        Self::new(case.spec(), data, threads)
    }

    /// All rows for training.
    fn new_of_rows(spec: ProblemSpec, data: Dataset) -> Self {
        let split = SplitIndices::in_order(data.len(), [data.len(), 0, 0]).unwrap();
        let oracle = Oracle::new(spec.build().unwrap())
            .for_dataset(&data)
            .unwrap();
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        Self {
            spec,
            data,
            oracle,
            split,
        }
    }

    fn context(&self) -> TrainingContext<'_> {
        TrainingContext {
            data: &self.data,
            split: &self.split,
            oracle: &self.oracle,
            observer: &NoopObserver,
        }
    }

    fn train(&self, method: &str) -> TrainingOutcome {
        let settings = TrainingSettings {
            epochs: 4,
            learning_rate: 0.05,
            ..TrainingSettings::default()
        };
        let context = self.context();
        Trainer::new(method.parse::<Method>().unwrap())
            .settings(settings)
            .train(&context, &self.spec, None)
            .unwrap()
    }

    fn evaluate(&self, model: &CostModel) -> Evaluation {
        let (rows, oracle) = (&self.split.test, &self.oracle);
        Evaluation::of_model(model, &self.data, rows, oracle, &NoopObserver).unwrap()
    }
}

fn table(features: &[[f64; 1]], costs: &[[f64; 3]]) -> Dataset {
    Dataset::from_arrays(features, costs).unwrap()
}
