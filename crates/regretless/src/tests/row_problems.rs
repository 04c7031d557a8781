//! Feasible sets that differ between rows: the same labels, decisions and regrets as with one
//! problem per row that is built by hand.

use std::sync::Arc;

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
use regretless::train::{FitResult, TrainingContext};
use regretless::trainer::Trainer;
use serde_json::{Value, json};

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
    if cfg!(feature = "highs") {
        cases.extend(cases_with_highs());
    }
    cases
}

fn cases_with_highs() -> Vec<Case> {
    vec![
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
                "columns": [{"upper": 4.0, "lower": 0.0}, {"upper": {"column": "limit"}, "lower": 0.0},
                    {"lower": 0.0, "integer": true, "upper": 9.0}, {"lower": 0.0, "cost": {"column": "fee"}}],
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

    fn train(&self, method: &str) -> FitResult {
        let settings = TrainingSettings {
            epochs: 4,
            learning_rate: 0.05,
            ..TrainingSettings::default()
        };
        let context = TrainingContext {
            data: &self.data,
            split: &self.split,
            oracle: &self.oracle,
            observer: &NoopObserver,
        };
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
