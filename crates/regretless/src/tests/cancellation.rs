//! A canceled solve ends and is reported as interrupted, never as a solution, unless its caller
//! asks for incumbents; a solve at its time limit ends with its incumbent.
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
use regretless::problem::{
    Benchmark, Cvrp, Knapsack, LinearBuilder, ProblemKind, Sense, VariableDomain,
};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::{SearchLimits, SolveFailure, SolveStatus};

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

/// A problem with costs that no search solves in reasonable time.
struct HardCase {
    name: &'static str,
    problem: Arc<dyn ProblemKind>,
    costs: Vec<f64>,
}

fn hard_cases() -> [HardCase; 5] {
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
    let routes = Cvrp::new(vec![1.0; 60], 40.0, 8).unwrap();
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
    let case = |name, problem, costs| HardCase {
        name,
        problem,
        costs,
    };
    [
        case("knapsack", Arc::new(knapsack), values.clone()),
        case("linear", Arc::new(linear), values),
        case("small tour", benchmark("TSP64"), edges(64)),
        case("large tour", benchmark("TSP400"), edges(400)),
        case("routes", Arc::new(routes), edges(61)),
    ]
}

#[test]
fn every_search_ends_when_it_is_canceled() {
    for case in hard_cases() {
        let oracle = Oracle::new(case.problem);
        let scope = canceled().enter();
        assert_eq!(
            oracle.worker().solve(&case.costs),
            Err(SolveFailure::Interrupted),
            "{}",
            case.name
        );
        drop(scope);
    }
}

#[test]
fn every_search_ends_at_its_time_limit_with_an_incumbent_and_a_bound() {
    for case in hard_cases() {
        // Tours have an incumbent at once; the other searches need some time to find one, and more
        // on a busy machine.
        let is_tour = case.name.ends_with("tour");
        let time_limits: &[f64] = if is_tour { &[1e-6] } else { &[0.3, 1.0, 3.0] };
        let mut solution = Err(SolveFailure::TimeLimitReached);
        for seconds in time_limits {
            let limits = SearchLimits {
                seconds: Some(*seconds),
                ..SearchLimits::default()
            };
            let oracle = Oracle::new(case.problem.clone()).with_limits(limits);
            solution = oracle.worker().solve(&case.costs);
            if solution.is_ok() {
                break;
            }
        }
        let solution = solution.unwrap();
        assert_eq!(solution.status, SolveStatus::LimitReached, "{}", case.name);
        // The oracle has checked that the decision is feasible.
        // Routes have a bound only after their local search, which may take longer.
        assert!(
            solution.bound < solution.objective
                && (solution.bound.is_finite() || case.name == "routes"),
            "{}: {} of {}",
            case.name,
            solution.bound,
            solution.objective
        );
    }
}

#[test]
fn a_time_limit_without_an_incumbent_is_a_failure_of_the_row() {
    let [_, linear, ..] = hard_cases();
    let limits = SearchLimits {
        seconds: Some(1e-9),
        ..SearchLimits::default()
    };
    let oracle = Oracle::new(linear.problem).with_limits(limits);
    assert_eq!(
        oracle.worker().solve(&linear.costs),
        Err(SolveFailure::TimeLimitReached)
    );
}

#[test]
fn a_canceled_search_returns_its_incumbent_if_the_caller_wants_it() {
    let cases = hard_cases();
    let [knapsack, _, tour, ..] = &cases;
    for case in [knapsack, tour] {
        let oracle = Oracle::new(case.problem.clone()).with_incumbents_on_cancellation();
        let _scope = canceled().enter();
        let solution = oracle.worker().solve(&case.costs).unwrap();
        assert_eq!(solution.status, SolveStatus::LimitReached, "{}", case.name);
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
