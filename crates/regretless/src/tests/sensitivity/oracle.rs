//! Relaxed solves of the oracle: counted, in row order, with a clear error when unsupported.

use std::sync::Arc;

use super::{costs, stream};
use regretless::data::Matrix;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::problem::{GridPath, Knapsack, ProblemKind, Sense};
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::solve::{SearchLimits, Solution, Solver};
use regretless::{Decision, Error, SolvePlace};

/// A problem with an exact solver and no other capability.
#[derive(Debug)]
struct SolveOnly;

impl ProblemKind for SolveOnly {
    fn name(&self) -> String {
        "a minimal problem".into()
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        4
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        GridPath::new(2, 2).unwrap().solver(limits)
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
    let problem = Knapsack::new(weights, vec![20.0, 20.0]).unwrap();
    let values: Vec<f32> = (0..50)
        .flat_map(|_| costs(&mut stream, &problem, 0))
        .map(|cost| cost as f32)
        .collect();
    (
        Oracle::new(Arc::new(problem)),
        Matrix::new(50, 20, values).unwrap(),
    )
}

/// Asks for the exact ranges of all rows, and drops them.
fn exact_ranges(oracle: &Oracle, costs: &Matrix) -> regretless::Result<()> {
    let mut slots = vec![(); costs.rows()];
    oracle.ranges_all(
        costs,
        CostRangeKind::Exact,
        &mut slots,
        |_| true,
        |_, _, ()| (),
        &NoopObserver,
    )
}

#[test]
fn relaxed_solves_are_counted_and_do_not_depend_on_threads() {
    let (oracle, costs) = knapsack();
    let one = oracle
        .relax_all(&costs, Relaxation::Plain, &NoopObserver)
        .unwrap();
    assert_eq!(
        (oracle.relaxed_solves(), oracle.counts().exact, one.len()),
        (50, 0, 50)
    );
    let oracle = oracle.with_threads(Threads::new(3).unwrap());
    assert_eq!(
        oracle
            .relax_all(&costs, Relaxation::Tight, &NoopObserver)
            .unwrap(),
        one
    );
    assert_eq!(oracle.relaxed_solves(), 100);
    let exact = oracle.worker().solve_row(costs.row(7)).unwrap();
    assert!(one[7].as_ref().unwrap().objective <= exact.objective);
}

#[test]
fn adjacent_vertices_and_ranges_are_counted_and_stored_by_row() {
    let (oracle, costs) = knapsack();
    let oracle = oracle.with_threads(Threads::new(2).unwrap());
    let mut objectives = vec![0.0; 50];
    let store = |_, solution: Solution, deltas: Vec<Decision>, slot: &mut f64| {
        assert!(deltas.len() >= 18);
        *slot = solution.objective;
    };
    oracle
        .adjacent_vertices_all(&costs, &mut objectives, |_| true, store, &NoopObserver)
        .unwrap();
    let relaxed = oracle
        .relax_all(&costs, Relaxation::Plain, &NoopObserver)
        .unwrap();
    assert_eq!(
        objectives,
        relaxed
            .into_iter()
            .map(|result| result.unwrap().objective)
            .collect::<Vec<_>>()
    );
    let mut rows = vec![usize::MAX; 50];
    oracle
        .ranges_all(
            &costs,
            CostRangeKind::Basis,
            &mut rows,
            |_| true,
            |row, _, slot| *slot = row,
            &NoopObserver,
        )
        .unwrap();
    assert_eq!(rows, (0..50).collect::<Vec<_>>());
    assert_eq!(oracle.relaxed_solves(), 150);
}

#[test]
fn a_missing_capability_is_an_error_with_the_method_and_an_alternative() {
    let oracle = Oracle::new(Arc::new(SolveOnly));
    let costs = Matrix::zeros(1, 4);
    let mut slots = [()];
    let no_ranges = oracle.ranges_all(
        &costs,
        CostRangeKind::Basis,
        &mut slots,
        |_| true,
        |_, _, ()| (),
        &NoopObserver,
    );
    let no_vertices = oracle.adjacent_vertices_all(
        &costs,
        &mut slots,
        |_| true,
        |_, _, _, ()| (),
        &NoopObserver,
    );
    let errors = [
        (
            oracle.require_relaxation(Relaxation::Plain).unwrap_err(),
            "relaxation",
        ),
        (
            oracle
                .relax_all(&costs, Relaxation::Tight, &NoopObserver)
                .unwrap_err(),
            "relaxation",
        ),
        (oracle.cone(&Decision::default()).unwrap_err(), "cone"),
        (no_vertices.unwrap_err(), "adjacent vertices"),
        (no_ranges.unwrap_err(), "cost ranges"),
    ];
    for (error, capability) in errors {
        assert!(matches!(error, Error::Capability { .. }));
        assert!(error.to_string().starts_with("this method needs"));
        let message = error.for_method("CaVE(inner)").to_string();
        assert!(
            message.starts_with("CaVE(inner) needs") && message.contains(capability),
            "{message}"
        );
        assert!(
            message.contains("a minimal problem") && message.contains("; use "),
            "{message}"
        );
    }
    assert_eq!(oracle.relaxed_solves(), 0);
}

#[test]
fn the_error_names_the_other_kind_of_ranges() {
    let (oracle, costs) = knapsack();
    let result = exact_ranges(&oracle, &costs);
    assert!(
        result
            .unwrap_err()
            .to_string()
            .contains("use O_S instead of O_S(exact)")
    );
}

#[test]
fn costs_that_are_not_finite_fail_their_own_row_only() {
    let oracle = Oracle::new(Arc::new(GridPath::new(2, 2).unwrap()));
    let costs = Matrix::new(2, 4, [[1.0; 4], [f32::NAN; 4]].concat()).unwrap();
    let results = oracle
        .relax_all(&costs, Relaxation::Plain, &NoopObserver)
        .unwrap();
    assert!(results[0].is_ok() && results[1].is_err());
    let result = exact_ranges(&oracle, &costs);
    assert!(matches!(
        result,
        Err(Error::Solver {
            place: SolvePlace::Row(1),
            ..
        })
    ));
}
