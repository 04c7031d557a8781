//! How the oracle asks relaxations: counted, in order, and with a clear word when there is none.

use std::sync::Arc;

use super::{costs, stream};
use regretless::data::Matrix;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::problem::{GridPath, Knapsack, ProblemKind, Sense};
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::solve::{SearchLimits, Solver};
use regretless::{Decision, Error};

/// A problem that knows nothing beyond its best decisions.
#[derive(Debug)]
struct Silence;

impl ProblemKind for Silence {
    fn name(&self) -> String {
        "a silent problem".into()
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        4
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        GridPath { grid: [2, 2] }.solver(limits)
    }

    fn check(&self, _: &Decision) -> Result<(), String> {
        Ok(())
    }
}

fn knapsack() -> (Oracle, Matrix) {
    let mut stream = stream(31, 0);
    let weights: Vec<Vec<f64>> = (0..2)
        .map(|_| (0..20).map(|_| stream.uniform(3.0, 8.0)).collect())
        .collect();
    let problem = Knapsack {
        weights,
        capacity: vec![20.0, 20.0],
    };
    let values: Vec<f32> = (0..50)
        .flat_map(|_| costs(&mut stream, &problem, 0))
        .map(|cost| cost as f32)
        .collect();
    (
        Oracle::new(Arc::new(problem)),
        Matrix::new(50, 20, values).unwrap(),
    )
}

#[test]
fn relaxed_answers_are_counted_and_do_not_depend_on_threads() {
    let (oracle, costs) = knapsack();
    let one = oracle
        .relax_all((&costs, Relaxation::Plain), ("SPO+ relax", &NoopObserver))
        .unwrap();
    assert_eq!(
        (oracle.relaxed_solves(), oracle.counts().exact, one.len()),
        (50, 0, 50)
    );
    let oracle = oracle.with_threads(Threads::new(3).unwrap());
    assert_eq!(
        oracle
            .relax_all((&costs, Relaxation::Tight), ("SPO+ relax", &NoopObserver))
            .unwrap(),
        one
    );
    assert_eq!(oracle.relaxed_solves(), 100);
    let exact = oracle.worker().solve_row(costs.row(7)).unwrap();
    assert!(one[7].as_ref().unwrap().objective <= exact.objective);
}

#[test]
fn neighbours_and_ranges_are_counted_and_reach_their_rows() {
    let (oracle, costs) = knapsack();
    let oracle = oracle.with_threads(Threads::new(2).unwrap());
    let mut objectives = vec![0.0; 50];
    let keep = |_: usize,
                (solution, deltas): (regretless::solve::Solution, Vec<Decision>),
                slot: &mut f64| {
        assert!(deltas.len() >= 18);
        *slot = solution.objective;
    };
    oracle
        .adjacent_vertices_all(&costs, &mut objectives, keep, ("LAVA", &NoopObserver))
        .unwrap();
    let relaxed = oracle
        .relax_all((&costs, Relaxation::Plain), ("LAVA", &NoopObserver))
        .unwrap();
    assert_eq!(
        objectives,
        relaxed
            .into_iter()
            .map(|answer| answer.unwrap().objective)
            .collect::<Vec<_>>()
    );
    let mut rows = vec![usize::MAX; 50];
    oracle
        .ranges_all(
            (&costs, CostRangeKind::Basis),
            &mut rows,
            |row, _, slot| *slot = row,
            ("O_S", &NoopObserver),
        )
        .unwrap();
    assert_eq!(rows, (0..50).collect::<Vec<_>>());
    assert_eq!(oracle.relaxed_solves(), 150);
}

#[test]
fn what_is_missing_is_named_with_the_method_and_a_way_out() {
    let oracle = Oracle::new(Arc::new(Silence));
    let costs = Matrix::zeros(1, 4);
    let mut slots = [()];
    let words = |error: Error| {
        assert!(matches!(error, Error::Capability { .. }));
        error.to_string()
    };
    for (message, method, capability) in [
        (
            words(
                oracle
                    .require_relaxation(Relaxation::Plain, "SPO+ relax")
                    .unwrap_err(),
            ),
            "SPO+ relax",
            "relaxation",
        ),
        (
            words(
                oracle
                    .relax_all((&costs, Relaxation::Tight), ("PFYL", &NoopObserver))
                    .unwrap_err(),
            ),
            "PFYL",
            "relaxation",
        ),
        (
            words(oracle.cone(&Decision::default(), "CaVE").unwrap_err()),
            "CaVE",
            "cone",
        ),
        (
            words(
                oracle
                    .adjacent_vertices_all(
                        &costs,
                        &mut slots,
                        |_, _, ()| (),
                        ("LAVA", &NoopObserver),
                    )
                    .unwrap_err(),
            ),
            "LAVA",
            "adjacent vertices",
        ),
        (
            words(
                oracle
                    .ranges_all(
                        (&costs, CostRangeKind::Basis),
                        &mut slots,
                        |_, _, ()| (),
                        ("O_S", &NoopObserver),
                    )
                    .unwrap_err(),
            ),
            "O_S",
            "cost ranges",
        ),
    ] {
        assert!(
            message.starts_with(&format!("{method} needs")) && message.contains(capability),
            "{message}"
        );
        assert!(
            message.contains("a silent problem") && message.contains("; use "),
            "{message}"
        );
    }
    assert_eq!(oracle.relaxed_solves(), 0);
}

#[test]
fn the_other_kind_of_ranges_is_pointed_to() {
    let (oracle, costs) = knapsack();
    let mut slots = vec![(); 50];
    let found = oracle.ranges_all(
        (&costs, CostRangeKind::Exact),
        &mut slots,
        |_, _, ()| (),
        ("MSE(O_S(exact))", &NoopObserver),
    );
    assert!(
        found
            .unwrap_err()
            .to_string()
            .contains("use O_S instead of O_S(exact)")
    );
}

#[test]
fn costs_that_are_no_numbers_fail_their_own_row_only() {
    let oracle = Oracle::new(Arc::new(GridPath { grid: [2, 2] }));
    let costs = Matrix::new(2, 4, [[1.0; 4], [f32::NAN; 4]].concat()).unwrap();
    let answers = oracle
        .relax_all((&costs, Relaxation::Plain), ("SPO+ relax", &NoopObserver))
        .unwrap();
    assert!(answers[0].is_ok() && answers[1].is_err());
    let mut slots = [(); 2];
    let found = oracle.ranges_all(
        (&costs, CostRangeKind::Exact),
        &mut slots,
        |_, _, ()| (),
        ("O_S", &NoopObserver),
    );
    assert!(matches!(found, Err(Error::Solver { instance: 1, .. })));
}
