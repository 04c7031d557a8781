//! Feasible sets that differ between rows: the same labels, decisions and regrets as with one
//! problem per row that is built by hand.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use regretless::Decision;
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
use tempfile::TempDir;

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
                ("open", 17, {
                    let mut open = vec![1.0; 17 * ROWS];
                    // A closed arc per row that leaves a way around it.
                    (0..ROWS).for_each(|row| open[17 * row + 7 + row % 3] = 0.0);
                    open
                }),
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
                ("open", 5, {
                    let mut open = vec![1.0; 5 * ROWS];
                    (0..ROWS).for_each(|row| open[5 * row + row % 4] = 0.0);
                    open
                }),
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
                ("open", 8, {
                    let mut open = vec![1.0; 8 * ROWS];
                    // A closed arc per row that leaves a way around it.
                    (0..ROWS).for_each(|row| open[8 * row + 4 + row % 4] = 0.0);
                    open
                }),
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
            columns: vec![("e", 6, {
                let mut open = vec![1.0; 6 * ROWS];
                (0..ROWS).for_each(|row| open[6 * row + row % 6] = 0.0);
                open
            })],
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

#[test]
fn labels_are_those_of_problems_built_by_hand() {
    for case in cases() {
        let fixture = Fixture::of(&case, 2);
        let mut distinct = 0;
        for row in 0..ROWS {
            let by_hand = ProblemSpec::from_json((case.by_hand)(&case, row)).unwrap();
            let problem = by_hand.build().unwrap();
            let mut costs = Vec::new();
            fixture.data.data().costs().read(row, &mut costs);
            let mut solver = problem.solver(fixture.oracle.limits());
            let mut expected = solver.solve(&costs).unwrap();
            expected.objective = expected.decision.dot(&costs);
            let label = fixture.data.solution(row);
            assert_eq!(label, &expected, "{}, row {row}", case.name);
            problem.check(&label.decision).unwrap();
            distinct += usize::from(label.decision != *fixture.data.optimal_decision(0));
        }
        assert!(distinct > 0, "{}: all rows have one label", case.name);
    }
}

#[test]
fn regret_is_that_of_problems_built_by_hand() {
    for case in cases() {
        let fixture = Fixture::of(&case, 1);
        for method in ["MAE(O,S)", "SPO+"] {
            let model = fixture.train(method).model;
            let evaluation = fixture.evaluate(&model);
            let rows = &fixture.split.test;
            let predictions = model.predict_instances(&fixture.data, rows).unwrap();
            for (position, row) in rows.iter().enumerate() {
                let by_hand = ProblemSpec::from_json((case.by_hand)(&case, *row)).unwrap();
                let problem = by_hand.build().unwrap();
                let (mut predicted, mut costs) = (Vec::new(), Vec::new());
                predictions.read(position, &mut predicted);
                fixture.data.data().costs().read(*row, &mut costs);
                let solve = |costs: &[f64]| {
                    let mut solver = problem.solver(fixture.oracle.limits());
                    solver.solve(costs).unwrap().decision
                };
                let regret = solve(&predicted).dot(&costs) - solve(&costs).dot(&costs);
                let actual = evaluation.regrets[position];
                assert_eq!(actual, regret, "{} {method}, row {row}", case.name);
            }
        }
    }
}

#[test]
fn equal_parameters_give_the_model_of_the_fixed_problem() {
    for case in cases() {
        let first = (case.by_hand)(&case, 0);
        let equal = Case {
            columns: case
                .columns
                .iter()
                .map(|(name, width, values)| (*name, *width, values[..*width].repeat(ROWS)))
                .collect(),
            ..cases()
                .into_iter()
                .find(|other| other.name == case.name)
                .unwrap()
        };
        let per_row = Fixture::of(&equal, 2);
        let fixed = Fixture::new(ProblemSpec::from_json(first).unwrap(), case.dataset(), 1);
        assert_eq!(
            per_row.data.solutions(),
            fixed.data.solutions(),
            "{}",
            case.name
        );
        for method in ["MAE(O,S)", "MSE(C,O,S)", "SPO+", "MAP cache 50%"] {
            let (a, b) = (per_row.train(method).model, fixed.train(method).model);
            let name = case.name;
            assert_eq!(a.networks, b.networks, "{name} {method}");
            assert_eq!(
                per_row.evaluate(&a).regrets,
                fixed.evaluate(&b).regrets,
                "{name} {method}"
            );
        }
    }
}

#[test]
fn threads_do_not_change_models() {
    for case in cases() {
        let (one, two) = (Fixture::of(&case, 1), Fixture::of(&case, 2));
        for method in [
            "SPO+",
            "PFYL",
            "MAP cache 20%",
            "NCE cache 20%",
            "LTR(pair) cache 20%",
        ] {
            let (a, b) = (one.train(method), two.train(method));
            assert_eq!(a.model.networks, b.model.networks, "{} {method}", case.name);
        }
    }
}

/// A knapsack of three items whose purchase prices are known and whose resale values are predicted.
fn resale(known: &Value) -> ProblemSpec {
    ProblemSpec::from_json(json!({"kind": "knapsack", "weights": [[1.0, 1.0, 1.0]],
        "capacity": [2.0], "known": known}))
    .unwrap()
}

fn table(features: &[[f64; 1]], costs: &[[f64; 3]]) -> Dataset {
    Dataset::from_arrays(features, costs).unwrap()
}

#[test]
fn known_costs_are_part_of_the_objective() {
    let values = [[5.0, 6.0, 7.0], [5.0, 6.0, 7.0]];
    let data = table(&[[0.0], [1.0]], &values);
    let prices = vec![1.0, 5.5, 2.0, 4.5, 0.5, 9.0];
    let parameters = RowParameters::new(2)
        .with_column("price", 3, Arc::new(prices))
        .unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let fixture = Fixture {
        split: SplitIndices::in_order(2, [2, 0, 0]).unwrap(),
        ..Fixture::new_of_rows(resale(&json!({"column": "price", "factor": -1})), data)
    };
    // Margins: 4, 0.5, 5 in the first row; 0.5, 5.5, -2 in the second.
    assert_eq!(fixture.data.optimal_decision(0).indices(), [0, 2]);
    assert_eq!(fixture.data.optimal_decision(1).indices(), [0, 1]);
    let predicted = Matrix::from_f64(2, 3, &[9.0, 0.0, 0.0, 0.0, 0.0, 12.0]).unwrap();
    let rows = [0, 1];
    let totals = fixture.data.select_predictions(&predicted, &rows).unwrap();
    let (oracle, data) = (&fixture.oracle, &fixture.data);
    let evaluation =
        Evaluation::of_predictions(&totals, data, &rows, oracle, &NoopObserver).unwrap();
    // Predicted margins 8, -5.5, -2 and -4.5, -0.5, 3: the first item alone, the third alone.
    assert_eq!(evaluation.regrets, [9.0 - 4.0, 6.0 + 2.0]);
    assert_eq!(evaluation.objectives, [4.0, -2.0]);
    // The error of a prediction is that of the predicted part.
    let errors: f64 = [4.0_f64, 6.0, 7.0, 5.0, 6.0, 5.0].iter().sum();
    assert!((evaluation.mae - errors / 6.0).abs() < 1e-6);
}

/// A path beside a cycle, with known costs of 0.
#[test]
fn what_a_problem_says_of_its_rows_does_not_change_with_known_costs() {
    let arcs = json!([["a", "b"], ["b", "a"], ["b", "c"]]);
    let plain = json!({"kind": "graph_path", "arcs": arcs, "source": "a", "target": "c"});
    let mut template = plain.clone();
    template["known"] = json!([0.0, 0.0, 0.0]);
    for spec in [plain, template] {
        let problem = ProblemSpec::from_json(spec).unwrap().build().unwrap();
        let oracle = Oracle::new(Arc::clone(&problem));
        let costs = Matrix::from_f64(2, 3, &[1.0, -3.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
        let features = Matrix::from_f64(2, 1, &[0.0, 1.0]).unwrap();
        let features = Features::new(features, FeatureShape::Wide, None).unwrap();
        let data = Dataset::new(features, costs, None).unwrap();
        let (_, failed) = LabeledDataset::solve_feasible(data, &oracle, &NoopObserver).unwrap();
        let [(0, failure)] = failed.as_slice() else {
            panic!("{failed:?}");
        };
        assert!(failure.to_string().contains("node 'b'"), "{failure}");
    }
}

#[test]
fn known_costs_do_not_change_what_plain_losses_learn() {
    let case = &cases()[0];
    let prices = numbers("prices", 4, ROWS * 6, -3.0, 0.0);
    let parameters = case
        .parameters()
        .with_column("price", 6, Arc::new(prices))
        .unwrap();
    let mut template = case.template.clone();
    template["known"] = json!({"columns": "price*"});
    let spec = ProblemSpec::from_json(template).unwrap();
    let data = case.dataset().with_parameters(parameters).unwrap();
    let with_known = Fixture::new(spec, data, 1);
    let without = Fixture::of(case, 1);
    let settings = |fixture: &Fixture| {
        let context = fixture.context();
        let settings = TrainingSettings {
            epochs: 3,
            fused: false,
            select: "last".parse().unwrap(),
            ..TrainingSettings::default()
        };
        let trainer = Trainer::new("MSE".parse::<Method>().unwrap()).settings(settings);
        trainer.train(&context, &fixture.spec, None).unwrap().model
    };
    let (a, b) = (settings(&with_known), settings(&without));
    let features = without.data.data().features();
    let (a, b) = (a.predict(features).unwrap(), b.predict(features).unwrap());
    for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
        assert!((a - b).abs() < 1e-3 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn absent_costs_are_left_out_of_losses_scalers_and_errors() {
    let present = vec![1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let costs = [[1.0, 2.0, f64::NAN], [3.0, f64::NAN, 5.0], [2.0, 4.0, 6.0]];
    let features = [[0.0], [1.0], [2.0]];
    let parameters = RowParameters::new(3)
        .with_column("on", 3, Arc::new(present))
        .unwrap();
    let data = Dataset::from_arrays_with_missing_costs(&features, &costs).unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let spec = json!({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize",
        "present": {"columns": "on*"}});
    let fixture = Fixture::new_of_rows(ProblemSpec::from_json(spec).unwrap(), data);
    let data = fixture.data.data();
    assert_eq!(data.costs().row(0), [1.0, 2.0, 0.0]);
    assert_eq!([0, 1, 2].map(|row| data.num_present_costs(row)), [2, 2, 3]);
    let scaler = regretless::predict::CostScaler::fit(data, &[0, 1, 2], None);
    assert_eq!(scaler.offset, [2.0, 3.0, 5.5]);
    let predictions =
        Matrix::from_f64(3, 3, &[2.0, 0.0, 9.0, 3.0, 9.0, 5.0, 2.0, 4.0, 3.0]).unwrap();
    let predictions = fixture
        .data
        .select_predictions(&predictions, &[0, 1, 2])
        .unwrap();
    assert_eq!(predictions.row(0), [2.0, 0.0, 0.0]);
    let (oracle, rows) = (&fixture.oracle, [0, 1, 2]);
    let evaluation =
        Evaluation::of_predictions(&predictions, &fixture.data, &rows, oracle, &NoopObserver)
            .unwrap();
    // Errors 1 and 2 in the first row, none in the second, 3 in the third: of seven costs.
    assert!((evaluation.mae - 6.0 / 7.0).abs() < 1e-9);
    assert!((evaluation.mse - 14.0 / 7.0).abs() < 1e-9);
    assert_eq!(evaluation.regrets, [1.0, 0.0, 0.0]);
}

#[test]
fn a_missing_cost_of_a_present_item_is_refused_with_its_place() {
    let parameters = RowParameters::new(1)
        .with_column("on", 3, Arc::new(vec![1.0, 0.0, 1.0]))
        .unwrap();
    let costs = [[1.0, f64::NAN, f64::NAN]];
    let data = Dataset::from_arrays_with_missing_costs(&[[0.0]], &costs).unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let spec = json!({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize",
        "present": {"columns": "on*"}});
    let problem = ProblemSpec::from_json(spec).unwrap().build().unwrap();
    let oracle = Oracle::new(problem).for_dataset(&data).unwrap();
    let error = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap_err();
    let place = error.place().unwrap();
    assert_eq!(
        (place.row, place.column.as_deref()),
        (Some(0), Some("c2")),
        "{error}"
    );
}

#[test]
fn rows_without_a_problem_fail_alone_and_say_why() {
    let template = json!({"kind": "top_k", "items": 3, "k": {"column": "k"}, "sense": "minimize"});
    let spec = ProblemSpec::from_json(template).unwrap();
    let data = table(&[[0.0]; 4], &[[1.0, 2.0, 3.0]; 4]);
    let parameters = RowParameters::new(4)
        .with_column("k", 1, Arc::new(vec![1.0, 4.0, 1.5, -1.0]))
        .unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let oracle = Oracle::new(spec.build().unwrap())
        .for_dataset(&data)
        .unwrap();
    let (labeled, failed) = LabeledDataset::solve_feasible(data, &oracle, &NoopObserver).unwrap();
    assert_eq!(labeled.rows(), [0]);
    let words = [
        "cannot choose k = 4 of 3",
        "k = 1.5 (column k)",
        "k = -1 (column k)",
    ];
    for ((row, failure), words) in failed.iter().zip(words) {
        assert!(failure.to_string().contains(words), "row {row}: {failure}");
    }
    assert_eq!(failed.len(), 3);
}

#[test]
fn a_pool_offers_a_row_only_decisions_that_are_feasible_for_it() {
    // Every row chooses another number of items: no decision of another row is feasible unless it
    // has the same k.
    let template = json!({"kind": "top_k", "items": 6, "k": {"column": "k"}, "sense": "minimize"});
    let case = Case {
        name: "pools",
        template,
        costs: 6,
        columns: vec![("k", 1, (0..ROWS).map(|row| (row % 3 + 1) as f64).collect())],
        by_hand: |_, _| Value::Null,
    };
    let fixture = Fixture::of(&case, 1);
    let before = fixture.oracle.counts();
    fixture.train("MAP cache 0%");
    let counts = fixture.oracle.counts() - before;
    // Eight rows have each k, and their labels differ: no row has to be solved for the pool.
    assert_eq!(counts.unpooled_rows, 0, "{counts:?}");
    let lonely = Case {
        columns: vec![(
            "k",
            1,
            (0..ROWS)
                .map(|row| if row == 3 { 5.0 } else { 2.0 })
                .collect(),
        )],
        ..case
    };
    let fixture = Fixture::of(&lonely, 1);
    let before = fixture.oracle.counts();
    let report = fixture.train("SPO+ cache 0%").report;
    let counts = fixture.oracle.counts() - before;
    // Its decision is then in the pool, beside its label.
    assert_eq!(counts.unpooled_rows, 1, "{counts:?}");
    assert_eq!(report.solves.unpooled_rows, counts.unpooled_rows);
}

#[test]
fn references_in_other_places_are_refused() {
    for (template, words) in [
        (
            json!({"kind": "tsp", "nodes": {"column": "n"}}),
            "'nodes' of a tsp problem",
        ),
        (
            json!({"kind": "knapsack", "weights": [{"columns": "w*"}], "capacity": [1.0]}),
            "items",
        ),
        (
            json!({"kind": "knapsack", "weights": [[1.0]], "capacity": [{"columns": "c*"}]}),
            "one number",
        ),
        (
            json!({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize", "known": [1.0]}),
            "known has 1",
        ),
        (
            json!({"kind": "top_k", "items": 1, "k": 1, "sense": "minimize", "known": ["x"]}),
            "neither",
        ),
    ] {
        let error = ProblemSpec::from_json(template)
            .and_then(|spec| spec.build())
            .unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn an_oracle_without_the_parameters_of_the_table_is_refused() {
    let case = &cases()[0];
    let problem = case.spec().build().unwrap();
    let data = case.dataset();
    assert!(
        Oracle::new(Arc::clone(&problem))
            .for_dataset(&data)
            .is_err()
    );
    let error = LabeledDataset::solve(data, &Oracle::new(Arc::clone(&problem)), &NoopObserver);
    assert!(error.unwrap_err().to_string().contains("'cap'"));
    let data = case.dataset().with_parameters(case.parameters()).unwrap();
    let other = RowParameters::new(ROWS)
        .with_column("cap", 1, Arc::new(vec![3.0; ROWS]))
        .unwrap();
    let oracle = Oracle::new(problem)
        .with_parameters(Some(&Arc::new(other)))
        .unwrap();
    let error = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap_err();
    assert!(error.to_string().contains("another table"), "{error}");
}

#[test]
fn least_squares_of_a_cost_has_the_intercept_of_its_own_rows() {
    // Cost 1 exists where x is above 3 only, and is exactly linear there.
    let features: Vec<[f64; 1]> = (0..8).map(|x| [f64::from(x)]).collect();
    let costs: Vec<[f64; 2]> = (0..8)
        .map(|x| [f64::from(x), 100.0 - 7.0 * f64::from(x)])
        .collect();
    let present: Vec<f64> = (0..8)
        .flat_map(|x| [1.0, f64::from(u8::from(x > 3))])
        .collect();
    let parameters = RowParameters::new(8)
        .with_column("on", 2, Arc::new(present))
        .unwrap();
    let data = Dataset::from_arrays(&features, &costs).unwrap();
    let data = data.with_parameters(parameters).unwrap();
    let spec = json!({"kind": "top_k", "items": 2, "k": 1, "sense": "minimize",
        "present": {"columns": "on*"}});
    let fixture = Fixture::new_of_rows(ProblemSpec::from_json(spec).unwrap(), data);
    let rows: Vec<usize> = (4..8).collect();
    let predicted = fixture
        .data
        .data()
        .least_squares_predictions(&rows)
        .unwrap();
    for (row, predicted) in rows.iter().zip(predicted.chunks_exact(2)) {
        for (predicted, cost) in predicted.iter().zip(costs[*row]) {
            assert!(
                (f64::from(*predicted) - cost).abs() < 1e-3,
                "{row}: {predicted} {cost}"
            );
        }
    }
}

#[test]
fn large_known_costs_do_not_disturb_training() {
    let case = &cases()[0];
    let fixture = |size: f64| {
        let fees = numbers("fees", 4, ROWS * 6, 0.0, 1.0);
        let fees = fees.into_iter().map(|fee| size + fee).collect::<Vec<f64>>();
        let parameters = case
            .parameters()
            .with_column("fee", 6, Arc::new(fees))
            .unwrap();
        let mut template = case.template.clone();
        template["known"] = json!({"columns": "fee*"});
        let spec = ProblemSpec::from_json(template).unwrap();
        Fixture::new(spec, case.dataset().with_parameters(parameters).unwrap(), 1)
    };
    let predictions = |fixture: &Fixture| {
        let model = fixture.train("MSE").model;
        let features = fixture.data.data().features();
        model.predict(features).unwrap().as_slice().to_vec()
    };
    let (small, large) = (predictions(&fixture(0.0)), predictions(&fixture(1e8)));
    for (a, b) in small.iter().zip(&large) {
        assert!((a - b).abs() < 1e-2, "{a} {b}");
    }
}

/// A table of one row with these costs and numbers in columns.
fn named_row(costs: &[(&str, f32)], columns: &[(&str, f64)]) -> Dataset {
    let names: Vec<String> = costs.iter().map(|(name, _)| (*name).into()).collect();
    let values = costs.iter().map(|(_, cost)| *cost).collect();
    let values = Matrix::new(1, costs.len(), values).unwrap();
    let features = Matrix::new(1, 1, vec![0.0]).unwrap();
    let features = Features::new(features, FeatureShape::Wide, None).unwrap();
    let data = Dataset::new(features, values, Some(names.into())).unwrap();
    let mut parameters = RowParameters::new(1);
    for (name, value) in columns {
        let values = Arc::new(vec![*value]);
        parameters = parameters.with_column(*name, 1, values).unwrap();
    }
    data.with_parameters(parameters).unwrap()
}

/// The costs of the chosen items of the only row.
fn chosen_items(spec: &Value, data: Dataset) -> Vec<String> {
    let spec = ProblemSpec::from_json(spec.clone()).unwrap();
    let problem = spec.for_table(&data).unwrap().build().unwrap();
    let oracle = Oracle::new(problem).for_dataset(&data).unwrap();
    let labeled = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
    let names = labeled.data().cost_names();
    let chosen = labeled.optimal_decision(0).indices().iter();
    chosen
        .map(|item| names.get(*item as usize).into())
        .collect()
}

#[test]
fn named_items_of_a_knapsack_have_their_weights_in_any_order_of_the_table() {
    let named = json!({"kind": "knapsack", "weights": [12.0, 10.0, 3.0], "capacity": 13.0,
        "items": ["beer", "water", "cola"]});
    let by_day = json!({"kind": "knapsack", "weights": [12.0, 10.0, 3.0],
        "capacity": {"column": "truck"}, "items": ["beer", "water", "cola"]});
    let table = [("cola", 4.0), ("beer", 5.0), ("water", 3.0)];
    for spec in [&named, &by_day] {
        let data = named_row(&table, &[("truck", 13.0)]);
        assert_eq!(chosen_items(spec, data), ["water", "cola"]);
    }
    let spec = ProblemSpec::from_json(named.clone()).unwrap();
    let text = serde_json::to_value(&spec).unwrap();
    assert_eq!(text["items"], named["items"]);
    assert_eq!(ProblemSpec::from_json(text).unwrap(), spec);
    let problem = spec.build().unwrap();
    let names = problem.cost_names().unwrap();
    assert_eq!(problem.position_note(names), None);
    for (items, expected) in [
        (json!(["beer", "water"]), "2 items"),
        (
            json!(["beer", "water", "beer"]),
            "two items are named 'beer'",
        ),
        (json!(4), "4 items"),
    ] {
        let mut wrong = named.clone();
        wrong["items"] = items;
        let message = ProblemSpec::from_json(wrong).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn weights_from_columns_belong_to_the_costs_whose_names_they_have() {
    let spec = json!({"kind": "knapsack", "weights": {"columns": "w_*"}, "capacity": 13.0,
        "items": 3});
    let costs = [
        ("profit_cola", 4.0),
        ("profit_beer", 5.0),
        ("profit_water", 3.0),
    ];
    let weights = [("w_beer", 12.0), ("w_water", 10.0), ("w_cola", 3.0)];
    let data = named_row(&costs, &weights);
    assert_eq!(chosen_items(&spec, data), ["profit_cola", "profit_water"]);
    // Names that do not agree are matched by position, which a note says.
    let note = |weights: &[(&str, f64)]| {
        let spec = ProblemSpec::from_json(spec.clone()).unwrap();
        let data = named_row(&costs, weights);
        let problem = spec.for_table(&data).unwrap().build().unwrap();
        problem.position_note(data.cost_names())
    };
    assert_eq!(note(&weights), None);
    let other = [("w_1", 12.0), ("w_2", 10.0), ("w_3", 3.0)];
    let note = note(&other).unwrap();
    assert!(
        note.contains("profit_cola from w_1, profit_beer from w_2"),
        "{note}"
    );
}

#[test]
fn a_table_names_the_columns_of_its_patterns() {
    let template = json!({"kind": "knapsack", "weights": [{"columns": "w_*"}],
        "capacity": [{"column": "w_c"}], "items": 2, "known": {"columns": "k_*", "factor": -1}});
    let spec = ProblemSpec::from_json(template).unwrap();
    let data = Dataset::from_arrays(&[[0.0]], &[[3.0, 4.0]]).unwrap();
    let column = |parameters: RowParameters, name: &str, value: f64| {
        parameters
            .with_column(name, 1, Arc::new(vec![value]))
            .unwrap()
    };
    let mut parameters = RowParameters::new(1);
    for (name, value) in [("w_b", 2.0), ("w_a", 1.0), ("k_b", 5.0), ("k_a", 6.0)] {
        parameters = column(parameters, name, value);
    }
    let spec = spec
        .for_table(&data.with_parameters(parameters).unwrap())
        .unwrap();
    let ProblemSpec::Parametric { template } = &spec else {
        panic!("{spec:?}")
    };
    assert_eq!(
        template["weights"],
        json!([[{"column": "w_b"}, {"column": "w_a"}]])
    );
    let known = json!([{"column": "k_b", "factor": -1}, {"column": "k_a", "factor": -1}]);
    assert_eq!(template["known"], known);
    // Another table may have the columns in another order.
    let mut parameters = RowParameters::new(1);
    for (name, value) in [
        ("k_a", 6.0),
        ("w_c", 2.0),
        ("w_a", 1.0),
        ("k_b", 5.0),
        ("w_b", 2.0),
    ] {
        parameters = column(parameters, name, value);
    }
    let problem = spec.build().unwrap();
    let bound = Arc::new(parameters).bind(problem.parameters()).unwrap();
    let mut values = Vec::new();
    bound.read(0, &mut values);
    assert_eq!(problem.known_costs(&values), Some(vec![-5.0, -6.0]));
    let load = |items: &[u32]| Decision::from_indices(items.iter().copied());
    let row = problem.row_problem(&values).unwrap();
    assert!(row.check(&load(&[0])).is_ok() && row.check(&load(&[0, 1])).is_err());
}

#[cfg(feature = "highs")]
#[test]
fn patterns_of_named_costs_are_matched_by_name() {
    let template = json!({"kind": "linear", "file": plan_file(), "costs": ["a*", "b*"],
        "known": {"columns": "fee_*"}, "present": {"columns": "on_*"}});
    let problem = ProblemSpec::from_json(template).unwrap().build().unwrap();
    let columns: Vec<&str> = problem
        .parameters()
        .iter()
        .map(|c| c.pattern.as_str())
        .collect();
    let names = ["a1", "a2", "a3", "b1", "b2", "b3"];
    let expected: Vec<String> = ["on", "fee"]
        .iter()
        .flat_map(|kind| names.iter().map(move |name| format!("{kind}_{name}")))
        .collect();
    assert_eq!(columns, expected);
    let mut values = vec![1.0; 12];
    values[0] = 0.0;
    values[6] = 9.0;
    let row = problem.row_problem(&values).unwrap();
    assert_eq!(
        row.present_costs().unwrap(),
        [false, true, true, true, true, true]
    );
    assert_eq!(problem.known_costs(&values).unwrap()[0], 9.0);
}

#[cfg(feature = "highs")]
#[test]
fn an_infinite_bound_of_the_other_sign_is_refused() {
    let template = json!({"kind": "linear_arrays", "name": "plan", "sense": "minimize",
        "columns": [{"lower": 0.0, "upper": {"column": "most"}}],
        "rows": [{"lower": {"column": "least"}, "entries": [[0, 1.0]]}]});
    let problem = ProblemSpec::from_json(template).unwrap().build().unwrap();
    let infinity = f64::INFINITY;
    for (values, is_right) in [
        ([infinity, -infinity], true),
        ([-infinity, 1.0], false),
        ([5.0, infinity], false),
    ] {
        let built = problem.row_problem(&values);
        assert_eq!(built.is_ok(), is_right, "{values:?} {:?}", built.err());
    }
}

#[test]
fn as_many_items_as_dimensions_and_huge_counts() {
    // Two dimensions, two items: columns of the items, not one weight per item.
    let template = json!({"kind": "knapsack", "items": 2,
        "weights": [{"column": "kg"}, {"column": "liters"}], "capacity": [3.0, 4.0]});
    let problem = ProblemSpec::from_json(template).unwrap().build().unwrap();
    let counts: Vec<usize> = problem.parameters().iter().map(|c| c.count).collect();
    assert_eq!(counts, [2, 2]);
    for template in [
        json!({"kind": "knapsack", "items": 1_000_000_000_000_u64,
            "weights": [{"columns": "w*"}], "capacity": [1.0]}),
        json!({"kind": "tsp", "nodes": 4_000_000_000_u64, "present": {"columns": "v*"}}),
        json!({"kind": "grid_path", "grid": [1_000_000, 1_000_000], "present": {"columns": "v*"}}),
        json!({"kind": "knapsack", "items": 3, "weights": [[1.0, 2.0]],
            "capacity": [{"column": "c"}]}),
    ] {
        let refused = ProblemSpec::from_json(template).and_then(|spec| spec.build());
        assert!(refused.is_err());
    }
}

#[test]
fn ranges_and_adjacent_vertices_leave_out_rows_without_a_label() {
    let template = json!({"kind": "knapsack", "weights": [[1.0, 2.0, 3.0]],
        "capacity": [{"column": "cap"}]});
    let spec = ProblemSpec::from_json(template).unwrap();
    let costs: Vec<[f64; 3]> = (0..10).map(|row| [1.0, f64::from(row), 4.0]).collect();
    let features: Vec<[f64; 1]> = (0..10).map(|row| [f64::from(row)]).collect();
    let mut capacities = vec![3.0; 10];
    capacities[4] = -1.0;
    let parameters = RowParameters::new(10)
        .with_column("cap", 1, Arc::new(capacities))
        .unwrap();
    let data = table(&features, &costs)
        .with_parameters(parameters)
        .unwrap();
    let oracle = Oracle::new(spec.build().unwrap())
        .for_dataset(&data)
        .unwrap();
    let (data, failed) = LabeledDataset::solve_feasible(data, &oracle, &NoopObserver).unwrap();
    assert_eq!(failed.len(), 1);
    let words = "capacity -1 must be 0 or more; the row has capacity[0] = -1 (column cap)";
    assert!(failed[0].1.to_string().contains(words), "{}", failed[0].1);
    let split = SplitIndices::in_order(10, [6, 2, 2]).unwrap();
    let fixture = Fixture {
        spec,
        split: split.restrict_to(&data.rows()).unwrap(),
        data,
        oracle,
    };
    for method in ["MAE(O_S,S)", "LAVA"] {
        fixture.train(method);
    }
}

#[test]
fn a_model_finds_its_parameter_columns_by_name() {
    let template = json!({"kind": "knapsack", "items": 2, "weights": [{"columns": "w_*"}],
        "capacity": [3.0]});
    let spec = ProblemSpec::from_json(template).unwrap();
    let problem = regretless::Problem::from_spec(spec).unwrap();
    let parameters = |rows: usize, names: [&str; 2]| {
        let weights = |name: &str| if name == "w_a" { 1.0 } else { 3.0 };
        let mut parameters = RowParameters::new(rows);
        for name in names {
            let values = vec![weights(name); rows];
            parameters = parameters.with_column(name, 1, Arc::new(values)).unwrap();
        }
        parameters
    };
    let features: Vec<[f64; 1]> = (0..20).map(|row| [f64::from(row)]).collect();
    let costs: Vec<[f64; 2]> = (0..20).map(|row| [2.0 + f64::from(row % 3), 1.0]).collect();
    let data = Dataset::from_arrays(&features, &costs).unwrap();
    let data = data
        .with_parameters(parameters(20, ["w_a", "w_b"]))
        .unwrap();
    let data = data.split(regretless::Split::random(0)).unwrap();
    let model = Trainer::new(Method::mse())
        .epochs(2)
        .fit(&problem, &data)
        .unwrap();
    assert_eq!(
        model.evaluate(data.test()).unwrap().instances,
        data.test().len()
    );
    for names in [["w_a", "w_b"], ["w_b", "w_a"]] {
        let today = parameters(1, names);
        let decision = model.decide(regretless::Row::with_parameters(&[1.0], &today));
        // The first item weighs 1 and is the more valuable one; the second fills the capacity.
        assert_eq!(decision.unwrap().indices(), [0], "{names:?}");
    }
    let renamed = parameters(1, ["w_a", "w_x"]);
    let row = regretless::Row::with_parameters(&[1.0], &renamed);
    assert!(model.decide(row).unwrap_err().to_string().contains("w_b"));
}
