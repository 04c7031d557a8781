//! Solvers against golden optima and brute force.

use std::sync::Arc;

use crate::tests::common::{golden, numbers, rows};
use proptest::prelude::{ProptestConfig, prop, prop_assert, proptest};
use regretless::data::Matrix;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::problem::{GridPath, ProblemKind, Sense, TopK};
use regretless::solve::{SearchLimits, SolveFailure};

/// Minimum cost over all subsets of the variables that are feasible.
fn brute_force(problem: &dyn ProblemKind, costs: &[f64]) -> f64 {
    let subsets = (0_u32..1 << costs.len()).map(|bits| {
        let chosen = (0..costs.len() as u32).filter(move |j| bits >> j & 1 == 1);
        regretless::Decision::from_indices(chosen)
    });
    let feasible = subsets.filter(|decision| problem.check(decision).is_ok());
    feasible
        .map(|decision| decision.dot(costs))
        .fold(f64::INFINITY, f64::min)
}

fn solve(problem: &impl ProblemKind, costs: &[f64]) -> Result<f64, SolveFailure> {
    let solution = problem.solver(&SearchLimits::default()).solve(costs)?;
    problem.check(&solution.decision).unwrap();
    assert_eq!(solution.objective, solution.decision.dot(costs));
    Ok(solution.objective)
}

#[test]
fn shortest_paths_equal_the_golden_ones() {
    let file = golden("solvers");
    let case = &file["problems"]["SP4x6"];
    let problem = GridPath::new(4, 6).unwrap();
    for (costs, objective) in rows(&case["costs"])
        .iter()
        .zip(numbers(&case["objectives"]))
    {
        assert!((solve(&problem, costs).unwrap() - objective).abs() < 1e-9);
    }
}

#[test]
fn of_two_paths_with_the_same_cost_the_one_from_above_is_returned() {
    let solution = GridPath::new(2, 2)
        .unwrap()
        .solver(&SearchLimits::default())
        .solve(&[1.0; 4])
        .unwrap();
    assert_eq!(solution.decision.indices(), [0, 2]);
}

#[test]
fn a_grid_of_one_row_has_one_path() {
    assert_eq!(
        solve(&GridPath::new(1, 4).unwrap(), &[1.0, -2.0, 3.0]),
        Ok(2.0)
    );
    assert_eq!(
        solve(&GridPath::new(4, 1).unwrap(), &[1.0, -2.0, 3.0]),
        Ok(2.0)
    );
}

#[test]
fn invalid_problems_are_refused() {
    for grid in [[0, 5], [5, 0], [1, 1]] {
        assert!(GridPath::new(grid[0], grid[1]).is_err());
    }
    assert!(TopK::new(3, 4, Sense::Minimize).is_err());
}

#[test]
fn infeasible_decisions_fail_the_check() {
    let path = GridPath::new(3, 3).unwrap();
    for infeasible in [vec![], vec![0, 1], vec![0, 1, 4, 11], vec![2, 7, 10, 99]] {
        assert!(
            path.check(&regretless::Decision::from_indices(infeasible.clone()))
                .is_err(),
            "{infeasible:?}"
        );
    }
    assert!(
        path.check(&regretless::Decision::from_dense(&[0.5, 0.5]))
            .is_err()
    );
}

#[test]
fn the_oracle_counts_every_solve_and_keeps_the_order_of_rows() {
    let costs: Vec<f32> = (0..400 * 12)
        .map(|i| ((i * 37 % 101) as f32).sin())
        .collect();
    let costs = Matrix::new(400, 12, costs).unwrap();
    let results = |threads: usize| {
        let oracle = Oracle::new(Arc::new(GridPath::new(3, 3).unwrap()))
            .with_threads(Threads::new(threads).unwrap());
        let results = oracle.solve_all(&costs, &NoopObserver).unwrap();
        assert_eq!(oracle.counts().exact, 400);
        results
            .into_iter()
            .map(|result| result.unwrap().decision)
            .collect::<Vec<_>>()
    };
    let on_one_thread = results(1);
    assert_eq!(on_one_thread, results(2));
    assert_eq!(on_one_thread, results(3));
}

#[test]
fn a_failed_instance_does_not_affect_the_others() {
    let oracle = Oracle::new(Arc::new(GridPath::new(2, 2).unwrap()));
    let costs = Matrix::new(3, 4, [[1.0; 4], [f32::NAN; 4], [2.0; 4]].concat()).unwrap();
    let results = oracle.solve_all(&costs, &NoopObserver).unwrap();
    assert!(results[0].is_ok() && results[2].is_ok());
    assert!(
        matches!(&results[1], Err(SolveFailure::SolverError(message)) if message.contains("cost 0"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn grid_paths_are_optimal(
        rows in 1_usize..4,
        cols in 2_usize..4,
        costs in prop::collection::vec(-3.0..5.0_f64, 12),
    ) {
        let problem = GridPath::new(rows, cols).unwrap();
        let costs = &costs[..problem.num_costs()];
        let difference = solve(&problem, costs).unwrap() - brute_force(&problem, costs);
        prop_assert!(difference.abs() < 1e-12);
    }

    #[test]
    fn top_k_solutions_are_optimal(
        k in 0_usize..8,
        at_most: bool,
        costs in prop::collection::vec(-3_i8..3, 8),
    ) {
        let build = if at_most { TopK::at_most } else { TopK::new };
        let problem = build(8, k, Sense::Minimize).unwrap();
        let costs: Vec<f64> = costs.into_iter().map(f64::from).collect();
        prop_assert!(solve(&problem, &costs).unwrap() == brute_force(&problem, &costs));
    }
}
