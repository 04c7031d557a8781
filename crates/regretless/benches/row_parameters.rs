//! Labeling with parameters per row and with one feasible set, side by side: one thread, medians
//! of alternating rounds.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, not library code"
)]
#![allow(missing_docs, reason = "a program")]

use std::fmt::Write as _;
use std::sync::Arc;

mod measure;

use measure::random::SplitMix64;
use measure::{median, timed, wanted};

use regretless::data::{RowParameters, SyntheticSpec};
use regretless::label::LabeledDataset;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::{Dataset, Problem};
use serde_json::json;

const ROUNDS: usize = 9;

/// A problem with one feasible set, the same with parameters per row, and a table for both.
struct Case {
    name: &'static str,
    fixed: Problem,
    per_row: Problem,
    data: Dataset,
}

fn main() {
    println!("| problem | one set, µs a row | a set per row, µs a row | speed |");
    println!("|---|---|---|---|");
    if wanted("KS32") {
        knapsack(4000).run();
    }
    if wanted("LP100") {
        transport(400).run();
    }
    if wanted("TSP20") {
        tours(300).run();
    }
    if wanted("weights") {
        weights(20_000).run();
    }
}

impl Case {
    fn run(&self) {
        let (mut fixed, mut per_row) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            fixed.push(self.label(&self.fixed));
            per_row.push(self.label(&self.per_row));
        }
        let rows = self.data.len() as f64;
        let (fixed, per_row) = (median(&mut fixed), median(&mut per_row));
        println!(
            "| {} | {:.2} | {:.2} | {:.2} |",
            self.name,
            1e3 * fixed / rows,
            1e3 * per_row / rows,
            fixed / per_row
        );
    }

    /// Milliseconds of labeling the table.
    fn label(&self, problem: &Problem) -> f64 {
        let oracle = Oracle::new(problem.kind().clone())
            .for_dataset(&self.data)
            .unwrap();
        let data = self.data.clone();
        let (time, labeled) = timed(|| LabeledDataset::solve(data, &oracle, &NoopObserver));
        assert_eq!(labeled.unwrap().len(), self.data.len());
        time
    }
}

/// Factors that are 1 up to a millionth: every row has a set of its own, and all are equally hard.
fn factors(count: usize) -> Vec<f64> {
    let mut stream = SplitMix64::new(5);
    (0..count).map(|_| 1.0 + 1e-6 * stream.normal()).collect()
}

/// Capacities per row.
fn knapsack(rows: usize) -> Case {
    let (spec, data) = "KS32"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(rows, 135))
        .unwrap();
    let ProblemSpec::Knapsack(knapsack) = &spec else {
        unreachable!("KS32 is a knapsack")
    };
    let mut parameters = RowParameters::new(rows);
    let mut references = Vec::new();
    for (dimension, capacity) in knapsack.capacity().iter().enumerate() {
        let name = format!("capacity_{dimension}");
        let values = factors(rows).into_iter().map(|factor| factor * capacity);
        parameters = parameters
            .with_column(&name, 1, Arc::new(values.collect::<Vec<f64>>()))
            .unwrap();
        references.push(json!({ "column": name }));
    }
    let template =
        json!({"kind": "knapsack", "weights": knapsack.weights(), "capacity": references});
    Case {
        name: "KS32, capacities per row",
        fixed: Problem::from_spec(spec.clone()).unwrap(),
        per_row: Problem::from_spec(ProblemSpec::from_json(template).unwrap()).unwrap(),
        data: data.with_parameters(parameters).unwrap(),
    }
}

/// Ten plants, ten customers, demands per row, in an LP file.
fn transport(rows: usize) -> Case {
    const PLANTS: usize = 10;
    const CUSTOMERS: usize = 10;
    let mut lp = String::from("Minimize\n obj:");
    for plant in 0..PLANTS {
        for customer in 0..CUSTOMERS {
            write!(lp, " + x_{plant}_{customer}").unwrap();
        }
    }
    lp.push_str("\nSubject To\n");
    for customer in 0..CUSTOMERS {
        let terms: Vec<String> = (0..PLANTS).map(|p| format!("x_{p}_{customer}")).collect();
        writeln!(lp, " demand_{customer}: {} >= 8", terms.join(" + ")).unwrap();
    }
    for plant in 0..PLANTS {
        let terms: Vec<String> = (0..CUSTOMERS).map(|c| format!("x_{plant}_{c}")).collect();
        writeln!(lp, " supply_{plant}: {} <= 10", terms.join(" + ")).unwrap();
    }
    lp.push_str("End\n");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("transport.lp");
    std::fs::write(&file, lp).unwrap();
    let mut parameters = RowParameters::new(rows);
    for customer in 0..CUSTOMERS {
        let values = factors(rows).into_iter().map(|factor| 8.0 * factor);
        parameters = parameters
            .with_column(
                format!("d_{customer}"),
                1,
                Arc::new(values.collect::<Vec<f64>>()),
            )
            .unwrap();
    }
    let problem = |template| Problem::from_spec(ProblemSpec::from_json(template).unwrap()).unwrap();
    let mut stream = SplitMix64::new(9);
    let costs: Vec<Vec<f64>> = (0..rows)
        .map(|_| {
            (0..PLANTS * CUSTOMERS)
                .map(|_| 5.0 + stream.normal())
                .collect()
        })
        .collect();
    let data = Dataset::from_arrays(&vec![[0.0]; rows], &costs).unwrap();
    Case {
        name: "LP file of 100 columns, right-hand sides per row",
        fixed: problem(json!({"kind": "linear", "file": file})),
        per_row: problem(json!({"kind": "linear", "file": file,
            "rhs": {"demand_*": {"column": "d_*"}}})),
        data: data.with_parameters(parameters).unwrap(),
    }
}

/// Tours through 20 nodes, and through the customers of the day: nine of ten on average.
fn tours(rows: usize) -> Case {
    let (spec, data) = "TSP20"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(rows, 135))
        .unwrap();
    let mut stream = SplitMix64::new(3);
    // A standard normal number is above −1.28 in nine of ten cases.
    let visits: Vec<f64> = (0..20 * rows)
        .map(|_| f64::from(u8::from(stream.normal() > -1.28)))
        .collect();
    let parameters = RowParameters::new(rows)
        .with_column("visit", 20, Arc::new(visits))
        .unwrap();
    let template = json!({"kind": "tsp", "nodes": 20, "present": {"columns": "visit*"}});
    Case {
        name: "TSP20, nine of ten customers present",
        fixed: Problem::from_spec(spec).unwrap(),
        per_row: Problem::from_spec(ProblemSpec::from_json(template).unwrap()).unwrap(),
        data: data.with_parameters(parameters).unwrap(),
    }
}

/// Knapsacks of six items with weights per row, which are built from the template row by row.
fn weights(rows: usize) -> Case {
    const ITEMS: usize = 6;
    let values = factors(ITEMS * rows).into_iter().enumerate();
    let weights = values.map(|(place, factor)| (3 + place % ITEMS) as f64 * factor);
    let parameters = RowParameters::new(rows)
        .with_column("weight", ITEMS, Arc::new(weights.collect::<Vec<f64>>()))
        .unwrap();
    let mut stream = SplitMix64::new(7);
    let costs: Vec<Vec<f64>> = (0..rows)
        .map(|_| (0..ITEMS).map(|_| 5.0 + stream.normal()).collect())
        .collect();
    let data = Dataset::from_arrays(&vec![[0.0]; rows], &costs).unwrap();
    let problem = |weights| {
        let template =
            json!({"kind": "knapsack", "items": ITEMS, "weights": weights, "capacity": [15.5]});
        Problem::from_spec(ProblemSpec::from_json(template).unwrap()).unwrap()
    };
    Case {
        name: "knapsack of six items, weights per row",
        fixed: problem(json!([[3.0, 4.0, 5.0, 6.0, 7.0, 8.0]])),
        per_row: problem(json!({"columns": "weight*"})),
        data: data.with_parameters(parameters).unwrap(),
    }
}
