//! A canceled solve ends and is reported as interrupted, never as a solution.
//!
//! The problems are so hard that a search that ignored the request would not finish in reasonable
//! time.

#![cfg(feature = "highs")]
use std::sync::Arc;

use regretless::Error;
use regretless::cancellation::Cancellation;
use regretless::data::synthetic::SyntheticSpec;
use regretless::label::{LabelStore, LabeledDataset};
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::problem::{Benchmark, Knapsack, LinearBuilder, ProblemKind, Sense, VariableDomain};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::SolveFailure;

fn canceled() -> Cancellation {
    let cancellation = Cancellation::new();
    cancellation.request();
    cancellation
}

fn stream() -> RandomStream {
    RandomStream::new(Purpose::Benchmark, 5, [0, 0])
}

/// Integer weights close to the values: bounds hardly ever prune a node.
fn hard_knapsack(items: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut stream = stream();
    let weights: Vec<Vec<f64>> = (0..8)
        .map(|_| {
            (0..items)
                .map(|_| 100.0 + stream.index_below(900) as f64)
                .collect()
        })
        .collect();
    let costs = (0..items)
        .map(|item| -weights.iter().map(|row| row[item]).sum::<f64>() / 8.0 - 50.0)
        .collect();
    (weights, costs)
}

#[test]
fn every_search_ends_when_it_is_canceled() {
    let (weights, values) = hard_knapsack(200);
    let knapsack = Knapsack::with_capacity_fraction(weights.clone(), 0.5).unwrap();
    let mut build = LinearBuilder::new("hard", Sense::Minimize);
    (0..200).for_each(|item| _ = build.predicted(format!("x{item}"), VariableDomain::Binary));
    for row in &weights {
        let max = row.iter().sum::<f64>() / 2.0;
        build.row(
            [f64::NEG_INFINITY, max.floor()],
            row.iter().copied().enumerate(),
        );
    }
    let linear = build.build().unwrap();
    let mut stream = stream();
    let mut edges = |nodes: usize| {
        (0..nodes * (nodes - 1) / 2)
            .map(|_| stream.uniform(10.0, 11.0))
            .collect::<Vec<f64>>()
    };
    let benchmark = |name: &str| {
        name.parse::<Benchmark>()
            .unwrap()
            .problem(1)
            .unwrap()
            .build()
            .unwrap()
    };
    let cases: [(&str, Arc<dyn ProblemKind>, Vec<f64>); 5] = [
        ("knapsack", Arc::new(knapsack), values.clone()),
        ("linear", Arc::new(linear), values),
        ("small tour", benchmark("TSP64"), edges(64)),
        ("large tour", benchmark("TSP400"), edges(400)),
        ("routes", benchmark("CVRP60"), edges(60)),
    ];
    for (name, problem, costs) in cases {
        let oracle = Oracle::new(problem);
        let scope = canceled().enter();
        assert_eq!(
            oracle.worker().solve(&costs),
            Err(SolveFailure::Interrupted),
            "{name}"
        );
        drop(scope);
    }
}

#[test]
fn a_request_from_another_thread_ends_a_running_search() {
    let (weights, values) = hard_knapsack(200);
    let oracle = Oracle::new(Arc::new(
        Knapsack::with_capacity_fraction(weights, 0.5).unwrap(),
    ));
    let cancellation = Cancellation::new();
    std::thread::scope(|threads| {
        let work = threads.spawn(|| {
            let _scope = cancellation.enter();
            oracle.worker().solve(&values)
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        cancellation.request();
        assert_eq!(work.join().unwrap(), Err(SolveFailure::Interrupted));
    });
}

#[test]
fn an_interrupted_solve_is_an_error_and_not_a_failed_row() {
    let (problem, data) = "KS32"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(20, 1))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = LabelStore::for_table(&folder.path().join("t.csv"));
    for threads in [1, 2] {
        let oracle =
            Oracle::new(problem.build().unwrap()).with_threads(Threads::new(threads).unwrap());
        let scope = canceled().enter();
        let labeled = LabeledDataset::solve_feasible(data.clone(), &oracle, &NoopObserver);
        assert!(matches!(labeled, Err(Error::Interrupted)));
        let stored = store.label(data.clone(), &problem, &oracle, &NoopObserver);
        assert!(matches!(stored, Err(Error::Interrupted)));
        drop(scope);
        // Without the cancellation the same oracle solves all rows.
        let (_, failed) =
            LabeledDataset::solve_feasible(data.clone(), &oracle, &NoopObserver).unwrap();
        assert!(failed.is_empty());
    }
    let (_, report) = store
        .label(
            data,
            &problem,
            &Oracle::new(problem.build().unwrap()),
            &NoopObserver,
        )
        .unwrap();
    assert_eq!(
        (report.stored_rows, report.failed.len()),
        (0, 0),
        "interrupted runs stored no labels"
    );
}
