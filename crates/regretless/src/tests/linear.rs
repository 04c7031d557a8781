//! Linear problems: compared with enumeration, hand calculation, and other formulations.

#![cfg(feature = "highs")]
use std::sync::Arc;

use crate::tests::common::print_suite_summary;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::label::LabeledDataset;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::problem::{
    LinearArrays, LinearBuilder, LinearColumn, LinearProblem, LinearRow, ProblemKind, ProblemSpec,
    Sense, VariableBounds, VariableDomain,
};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::linear::LinearSolver;
use regretless::solve::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};

const INFINITE: f64 = f64::INFINITY;

fn solve(problem: &LinearProblem, costs: &[f64]) -> Result<Solution, SolveFailure> {
    Oracle::new(Arc::new(problem.clone())).worker().solve(costs)
}

fn dense(problem: &LinearProblem, solution: &Solution) -> Vec<f64> {
    let mut values = vec![0.0; problem.num_costs()];
    solution.decision.write_dense(&mut values);
    values
}

fn knapsack(
    stream: &mut RandomStream,
    items: usize,
    sense: Sense,
) -> (LinearProblem, Vec<Vec<f64>>) {
    let weights: Vec<Vec<f64>> = (0..2)
        .map(|_| (0..items).map(|_| stream.uniform(1.0, 5.0)).collect())
        .collect();
    let mut build = LinearBuilder::new("knapsack", sense);
    (0..items).for_each(|item| _ = build.predicted(format!("x{item}"), VariableDomain::Binary));
    for row in &weights {
        build.row([-INFINITE, 8.0], row.iter().copied().enumerate());
    }
    (build.build().unwrap(), weights)
}

/// The minimum cost over all feasible choices of items.
fn enumerate(weights: &[Vec<f64>], costs: &[f64]) -> f64 {
    let total = |set: u32, values: &[f64]| -> f64 {
        values
            .iter()
            .enumerate()
            .filter(|(item, _)| set >> item & 1 == 1)
            .map(|(_, value)| value)
            .sum()
    };
    let fits = |set: &u32| weights.iter().all(|row| total(*set, row) <= 8.0);
    (0..1 << costs.len())
        .filter(fits)
        .map(|set| total(set, costs))
        .fold(INFINITE, f64::min)
}

#[test]
fn knapsacks_agree_with_enumeration() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 11, [0, 0]);
    for sense in [Sense::Minimize, Sense::Maximize] {
        for _ in 0..10 {
            let (problem, weights) = knapsack(&mut stream, 9, sense);
            let costs: Vec<f64> = (0..9).map(|_| -stream.uniform(-1.0, 5.0)).collect();
            let solution = solve(&problem, &costs).unwrap();
            let expected = enumerate(&weights, &costs);
            assert!(
                (solution.objective - expected).abs() < 1e-9,
                "{} {expected}",
                solution.objective
            );
            assert_eq!(
                (solution.status, solution.bound),
                (SolveStatus::Optimal, solution.objective)
            );
            assert!(solution.decision.is_binary());
        }
    }
}

/// Small random problems: rows of every sense, columns of every domain, integer or continuous, some
/// without a solution.
fn random_problem(case: u64) -> (LinearProblem, Vec<f64>) {
    let mut stream = RandomStream::new(Purpose::Benchmark, 77, [case, 0]);
    let (columns, rows) = (2 + stream.index_below(14), stream.index_below(9));
    let has_integer_numbers = case.is_multiple_of(3);
    let number = |stream: &mut RandomStream, span: f64| {
        let number = stream.uniform(-span, span);
        if has_integer_numbers {
            number.round()
        } else {
            number
        }
    };
    // With continuous columns, equations and no upper bound, branch and bound may not terminate.
    let large_upper = if has_integer_numbers { INFINITE } else { 20.0 };
    let mut build = LinearBuilder::new(
        "random",
        if case.is_multiple_of(2) {
            Sense::Minimize
        } else {
            Sense::Maximize
        },
    );
    let mut point = Vec::new();
    for column in 0..columns {
        let low = f64::from(stream.index_below(5) as u32) - 3.0;
        let (domain, value) = match (case / 2 % 4, stream.index_below(6)) {
            (0, _) | (1, 0..3) => (VariableDomain::Binary, stream.index_below(2) as f64),
            (3, 0) => (
                VariableDomain::Integer([low, large_upper]),
                low + stream.index_below(4) as f64,
            ),
            (_, 0..4) => (
                VariableDomain::Integer([low, low + 4.0]),
                low + stream.index_below(5) as f64,
            ),
            _ => (
                VariableDomain::Continuous([low, low + 2.5]),
                low + stream.uniform(0.0, 2.5),
            ),
        };
        build.predicted(format!("x{column}"), domain);
        point.push(value);
    }
    for _ in 0..rows {
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for column in 0..columns {
            if stream.index_below(3) > 0 {
                entries.push((column, number(&mut stream, 9.0)));
            }
        }
        let activity: f64 = entries
            .iter()
            .map(|(column, entry)| entry * point[*column])
            .sum();
        // Rows hold at a known point, except for some that may make the problem infeasible.
        let activity = if stream.index_below(25) == 0 {
            activity + number(&mut stream, 30.0)
        } else {
            activity
        };
        let slack = stream.index_below(5) as f64;
        let bounds = [
            [activity, activity],
            [activity - slack, INFINITE],
            [-INFINITE, activity + slack],
            [activity - slack, activity + 1.0],
        ];
        build.row(bounds[stream.index_below(4)], entries);
    }
    let costs = (0..columns).map(|_| number(&mut stream, 20.0)).collect();
    (build.build().unwrap(), costs)
}

/// A solver that uses HiGHS only.
fn highs_solver(problem: &LinearProblem, limits: SearchLimits) -> LinearSolver {
    let (model, predicted) = (Arc::clone(problem.model()), Arc::clone(problem.predicted()));
    LinearSolver::new(model, predicted, limits).without_dense_search()
}

/// Compares the dense search, which solves small problems, with HiGHS.
fn compare_with_highs(cases: std::ops::Range<u64>) {
    let (mut solved, mut unsolvable) = (0, 0);
    for case in cases {
        let (problem, costs) = random_problem(case);
        let dense_search = problem.solver(&SearchLimits::default()).solve(&costs);
        let highs = highs_solver(&problem, SearchLimits::default()).solve(&costs);
        match (&dense_search, &highs) {
            (Ok(dense_search), Ok(highs)) => {
                solved += 1;
                assert_eq!(dense_search.status, SolveStatus::Optimal, "case {case}");
                let tolerance = 1e-6 * dense_search.objective.abs().max(20.0);
                let difference = (dense_search.objective - highs.objective).abs();
                assert!(
                    difference <= tolerance,
                    "case {case}: {} not {}",
                    dense_search.objective,
                    highs.objective
                );
            }
            (Err(dense_search), Err(highs)) => {
                unsolvable += 1;
                assert_eq!(dense_search, highs, "case {case}");
            }
            _ => panic!("case {case}: {dense_search:?} but {highs:?}"),
        }
    }
    assert!(
        solved > 4 * unsolvable && unsolvable > 0,
        "{solved} solved, {unsolvable} without a solution"
    );
    print_suite_summary(solved + unsolvable, Some(solved));
}

#[test]
fn the_dense_search_and_highs_agree_on_small_problems() {
    compare_with_highs(0..600);
}

#[test]
#[ignore = "takes two minutes"]
fn the_dense_search_and_highs_agree_on_very_many_small_problems() {
    compare_with_highs(600..4_000);
}

#[test]
fn small_integer_problems_agree_with_enumeration() {
    let mut compared = 0;
    for case in (0..600).filter(|case| case / 2 % 4 == 0) {
        let (problem, costs) = random_problem(case);
        if costs.len() > 10 {
            continue;
        }
        let check = |set: u32| {
            let values: Vec<f64> = (0..costs.len())
                .map(|item| f64::from(set >> item & 1))
                .collect();
            let decision = regretless::Decision::from_dense(&values);
            problem
                .check(&decision)
                .is_ok()
                .then(|| decision.dot(&costs))
        };
        let optimum = (0..1 << costs.len())
            .filter_map(check)
            .fold(INFINITE, f64::min);
        match solve(&problem, &costs) {
            Ok(solution) => {
                assert!(
                    (solution.objective - optimum).abs() < 1e-9,
                    "case {case}: {} {optimum}",
                    solution.objective
                );
            }
            Err(failure) => assert_eq!(
                (failure, optimum),
                (SolveFailure::Infeasible, INFINITE),
                "case {case}"
            ),
        }
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn solutions_depend_on_neither_threads_nor_earlier_solves() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 12, [0, 0]);
    let (problem, _) = knapsack(&mut stream, 12, Sense::Maximize);
    for problem in [problem.relaxed(), problem] {
        // Few different costs: many decisions are tied.
        let all_costs: Vec<f64> = (0..20 * 12)
            .map(|_| -stream.uniform(1.0, 4.0).floor())
            .collect();
        let table = Matrix::from_f64(20, 12, &all_costs).unwrap();
        let by_new_solvers: Vec<_> = all_costs
            .chunks(12)
            .map(|costs| solve(&problem, costs).unwrap())
            .collect();
        for threads in [1, 2] {
            let oracle =
                Oracle::new(Arc::new(problem.clone())).with_threads(Threads::new(threads).unwrap());
            for _ in 0..2 {
                let solutions = oracle.solve_all(&table, &NoopObserver).unwrap();
                let solutions: Vec<_> = solutions.into_iter().map(Result::unwrap).collect();
                assert_eq!(solutions, by_new_solvers);
            }
        }
    }
}

#[test]
fn a_decision_does_not_change_when_all_costs_are_scaled() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 13, [0, 0]);
    let (problem, _) = knapsack(&mut stream, 12, Sense::Maximize);
    let costs: Vec<f64> = (0..12).map(|_| -stream.uniform(1.0, 1.5)).collect();
    let decision = solve(&problem, &costs).unwrap().decision;
    for scale in [2.0_f64.powi(-40), 2.0_f64.powi(30)] {
        let scaled: Vec<f64> = costs.iter().map(|cost| cost * scale).collect();
        assert_eq!(solve(&problem, &scaled).unwrap().decision, decision);
    }
}

#[test]
fn equalities_integers_and_continuous_columns_are_respected() {
    // x + y + z = 4.5 with x integer: the cheap x is as large as possible.
    let mut build = LinearBuilder::new("mix", Sense::Minimize);
    let x = build.predicted("x", VariableDomain::Integer([-2.0, 3.0]));
    let y = build.predicted("y", VariableDomain::Continuous([0.0, 1.25]));
    let z = build.predicted("z", VariableDomain::Continuous([-INFINITE, INFINITE]));
    build.row([4.5, 4.5], [(x, 1.0), (y, 1.0), (z, 1.0)]);
    build.row([-1.0, 10.0], [(z, 1.0)]);
    let problem = build.build().unwrap();
    let solution = solve(&problem, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(dense(&problem, &solution), [3.0, 1.25, 0.25]);
    assert_eq!(solution.objective, 3.0 + 2.5 + 0.75);
    let solution = solve(&problem, &[3.0, 2.0, -5.0]).unwrap();
    // z = 10 would need x + y = -5.5; x = -2, y = 0 leaves z = 6.5.
    assert_eq!(dense(&problem, &solution), [-2.0, 0.0, 6.5]);
    let expected = VariableBounds::Box {
        lower: vec![-2.0, 0.0, -INFINITE],
        upper: vec![3.0, 1.25, INFINITE],
    };
    assert_eq!(problem.capabilities().choices.bounds(), expected);
}

/// One of two machines makes 3 units; switching on costs 4 (A) or 1 (B), running costs are
/// predicted, a unit not made costs 10.
fn machines(sense: Sense) -> LinearProblem {
    let sign = sense.convert(1.0);
    let mut build = LinearBuilder::new("machines", sense);
    let on_a = build.auxiliary("on_a", VariableDomain::Binary, 4.0 * sign);
    let run_a = build.predicted("run_a", VariableDomain::Continuous([0.0, INFINITE]));
    let on_b = build.auxiliary("on_b", VariableDomain::Binary, sign);
    let run_b = build.predicted("run_b", VariableDomain::Continuous([0.0, INFINITE]));
    let missing = build.auxiliary(
        "missing",
        VariableDomain::Continuous([0.0, 3.0]),
        10.0 * sign,
    );
    build.row([3.0, 3.0], [(run_a, 1.0), (run_b, 1.0), (missing, 1.0)]);
    build.row([-INFINITE, 0.0], [(run_a, 1.0), (on_a, -3.0)]);
    build.row([-INFINITE, 0.0], [(run_b, 1.0), (on_b, -2.0)]);
    build.offset(100.0 * sign);
    build.build().unwrap()
}

#[test]
fn fixed_terms_affect_the_decision_and_its_objective() {
    for sense in [Sense::Minimize, Sense::Maximize] {
        let problem = machines(sense);
        let names = problem.capabilities().names.cost_names().unwrap();
        assert_eq!(names.to_vec(), ["run_a", "run_b"]);
        // A alone: 4 + 3·1; A and B: 4 + 1 + 1 + 2·2; B and a missing unit: 1 + 4 + 10.
        let a_alone = solve(&problem, &[1.0, 2.0]).unwrap();
        assert_eq!(
            (dense(&problem, &a_alone), a_alone.objective),
            (vec![3.0, 0.0], 107.0)
        );
        assert_eq!(a_alone.decision.fixed(), 104.0);
        // Expensive A: 4 + 3·6 = 22; both: 5 + 6 + 4 = 15; B and a missing unit: 15, without A's
        // switch.
        let both = solve(&problem, &[5.5, 2.0]).unwrap();
        assert_eq!(
            (dense(&problem, &both), both.objective),
            (vec![1.0, 2.0], 114.5)
        );
        let with_missing = solve(&problem, &[6.5, 2.0]).unwrap();
        assert_eq!(
            (dense(&problem, &with_missing), with_missing.objective),
            (vec![0.0, 2.0], 115.0)
        );
        assert_eq!(with_missing.decision.fixed(), 111.0);
    }
}

#[test]
fn regret_compares_totals_with_fixed_costs() {
    let oracle = Oracle::new(Arc::new(machines(Sense::Minimize)));
    let features = Features::new(Matrix::zeros(1, 1), FeatureShape::Wide, None).unwrap();
    let data = Dataset::new(features, Matrix::new(1, 2, vec![1.0, 2.0]).unwrap(), None).unwrap();
    let labeled = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
    let suboptimal = oracle.worker().solve(&[6.5, 2.0]).unwrap().decision;
    // B and a missing unit cost 1 + 2·2 + 10 where A alone would have cost 7.
    assert_eq!(
        suboptimal.dot(labeled.data().costs().row(0)) - labeled.optimal_objective(0),
        8.0
    );
}

#[test]
fn partial_decisions_are_checked() {
    let problem = machines(Sense::Minimize);
    let check = |values: &[f64]| problem.check(&regretless::Decision::from_dense(values));
    assert_eq!(check(&[3.0, 0.0]), Ok(()));
    assert!(
        check(&[3.5, 0.0]).unwrap_err().contains("row r0"),
        "more than is needed"
    );
    assert!(
        check(&[0.5, 2.5]).unwrap_err().contains("row r2"),
        "more than B can make"
    );
    assert!(check(&[-0.1, 0.0]).unwrap_err().contains("run_a"));
    assert!(check(&[f64::NAN, 0.0]).is_err());
    assert!(check(&[0.0, 0.0, 1.0]).is_err(), "there are two costs only");
    let (knapsack, _) = knapsack(
        &mut RandomStream::new(Purpose::Benchmark, 1, [0, 0]),
        9,
        Sense::Maximize,
    );
    assert!(
        knapsack
            .check(&regretless::Decision::from_indices(0..9))
            .is_err()
    );
    assert!(
        knapsack
            .check(&regretless::Decision::from_dense(&[0.5]))
            .unwrap_err()
            .contains("not an integer")
    );
    assert_eq!(
        knapsack
            .relaxed()
            .check(&regretless::Decision::from_dense(&[0.5])),
        Ok(())
    );
    assert_eq!(
        (
            knapsack.capabilities().choices.bounds(),
            knapsack.relaxed().capabilities().choices.bounds() == VariableBounds::Binary
        ),
        (VariableBounds::Binary, false)
    );
}

#[test]
fn infeasible_and_unbounded_problems_are_reported() {
    for integer in [false, true] {
        let domain = |bounds| {
            if integer {
                VariableDomain::Integer(bounds)
            } else {
                VariableDomain::Continuous(bounds)
            }
        };
        let mut build = LinearBuilder::new("none", Sense::Minimize);
        let x = build.predicted("x", domain([0.0, 1.0]));
        let y = build.predicted("y", domain([0.0, INFINITE]));
        build.row([2.0, INFINITE], [(x, 1.0)]);
        build.row([0.0, INFINITE], [(x, 1.0), (y, 1.0)]);
        assert_eq!(
            solve(&build.build().unwrap(), &[1.0, -1.0]),
            Err(SolveFailure::Infeasible)
        );
        let mut build = LinearBuilder::new("unbounded", Sense::Minimize);
        let x = build.predicted("x", domain([0.0, INFINITE]));
        let y = build.predicted("y", domain([0.0, INFINITE]));
        build.row([-1.0, 1.0], [(x, 1.0), (y, -1.0)]);
        let problem = build.build().unwrap();
        assert!(matches!(
            solve(&problem, &[-1.0, 0.5]),
            Err(SolveFailure::UnboundedAlong(reason)) if reason.contains("among them x")
        ));
        assert_eq!(solve(&problem, &[1.0, 1.0]).unwrap().objective, 0.0);
    }
}

#[test]
fn a_solver_works_after_a_failure() {
    let mut build = LinearBuilder::new("unbounded", Sense::Minimize);
    build.predicted("x", VariableDomain::Continuous([-1.0, INFINITE]));
    let mut solver = build.build().unwrap().solver(&SearchLimits::default());
    assert_eq!(solver.solve(&[-1.0]), Err(SolveFailure::Unbounded));
    assert_eq!(solver.solve(&[2.0]).unwrap().objective, -2.0);
    assert_eq!(solver.solve(&[0.0]).unwrap().objective, 0.0);
}

#[test]
fn search_limits_are_respected_and_reported() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 5, [0, 0]);
    let items = 60;
    let mut build = LinearBuilder::new("hard", Sense::Maximize);
    (0..items).for_each(|item| _ = build.predicted(format!("x{item}"), VariableDomain::Binary));
    for _ in 0..5 {
        let row: Vec<f64> = (0..items).map(|_| stream.uniform(10.0, 90.0)).collect();
        build.row(
            [-INFINITE, row.iter().sum::<f64>() / 3.0],
            row.into_iter().enumerate(),
        );
    }
    let problem = build.build().unwrap();
    let costs: Vec<f64> = (0..items).map(|_| -stream.uniform(10.0, 90.0)).collect();
    let one_node = SearchLimits {
        nodes: 1,
        ..SearchLimits::default()
    };
    let stopped = highs_solver(&problem, one_node).solve(&costs).unwrap();
    assert_eq!(stopped.status, SolveStatus::LimitReached);
    assert!(stopped.bound < stopped.objective);
    let two_percent = SearchLimits {
        gap: 0.02,
        ..SearchLimits::default()
    };
    let dense_search = problem.solver(&two_percent).solve(&costs);
    let highs = highs_solver(&problem, two_percent).solve(&costs);
    for within_gap in [dense_search.unwrap(), highs.unwrap()] {
        let SolveStatus::WithinGap(gap) = within_gap.status else {
            panic!("{:?}", within_gap.status)
        };
        assert!(gap <= 0.02 && within_gap.bound <= within_gap.objective);
        assert!(stopped.bound <= within_gap.objective && within_gap.bound <= stopped.objective);
    }
}

/// The root node of HiGHS takes longer than the complete dense search of a small model: a node
/// limit must not switch from one to the other.
#[test]
fn a_node_limit_does_not_skip_the_dense_search() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 6, [0, 0]);
    let (problem, _) = knapsack(&mut stream, 14, Sense::Maximize);
    let costs: Vec<f64> = (0..14).map(|_| -stream.uniform(10.0, 90.0)).collect();
    let solved = |nodes| {
        let mut solver = problem.solver(&SearchLimits {
            nodes,
            ..SearchLimits::default()
        });
        let solution = solver.solve(&costs).unwrap();
        (solution, solver.work())
    };
    let (limited, unlimited) = (solved(1), solved(10_000_000));
    assert_eq!(limited, unlimited);
    assert_eq!(limited.0.status, SolveStatus::Optimal);
}

#[test]
fn a_switch_within_the_integrality_tolerance_is_off() {
    // With a capacity of 1e7 a switch at 1e-7 admits one unit; an integral switch must be paid for.
    let mut build = LinearBuilder::new("switch", Sense::Minimize);
    let flow = build.predicted("flow", VariableDomain::Continuous([0.0, 1.0]));
    let switch = build.auxiliary("switch", VariableDomain::Binary, 5.0);
    build.row([-INFINITE, 0.0], [(flow, 1.0), (switch, -1e7)]);
    let problem = build.build().unwrap();
    let solution = solve(&problem, &[-3.0]).unwrap();
    assert_eq!(
        (dense(&problem, &solution), solution.decision.fixed()),
        (vec![0.0], 0.0)
    );
    let solution = solve(&problem, &[-7.0]).unwrap();
    assert_eq!(
        (dense(&problem, &solution), solution.decision.fixed()),
        (vec![1.0], 5.0)
    );
}

#[test]
fn invalid_problems_are_refused_with_the_name_of_the_row_or_column() {
    let refused = |change: &dyn Fn(&mut LinearBuilder)| {
        let mut build = LinearBuilder::new("shop", Sense::Minimize);
        build.predicted("x", VariableDomain::Binary);
        change(&mut build);
        build.build().unwrap_err().to_string()
    };
    let continuous = |bounds| VariableDomain::Continuous(bounds);
    assert!(refused(&|b| _ = b.predicted("y", continuous([2.0, 1.0]))).contains("shop: column y"));
    assert!(refused(&|b| _ = b.predicted("y", continuous([f64::NAN, 1.0]))).contains("column y"));
    assert!(
        refused(&|b| _ = b.auxiliary("y", VariableDomain::Binary, f64::INFINITY))
            .contains("column y")
    );
    assert!(refused(&|b| _ = b.row([0.0, 1.0], [(1, 1.0)])).contains("row r0: column 1 of 1"));
    assert!(refused(&|b| _ = b.row([0.0, 1.0], [(0, 1.0), (0, 1.0)])).contains("two entries"));
    assert!(refused(&|b| _ = b.row([0.0, 1.0], [(0, f64::NAN)])).contains("row r0"));
    assert!(refused(&|b| b.offset(f64::NAN)).contains("constant"));
    assert!(
        LinearBuilder::new("empty", Sense::Minimize)
            .build()
            .is_err()
    );
}

/// The dual simplex method of HiGHS fails on this problem without a status.
#[test]
fn a_direction_with_a_small_cost_and_no_bound_is_unbounded() {
    let mut build = LinearBuilder::new("slope", Sense::Minimize);
    for (column, bounds) in [
        [0.0, INFINITE],
        [-1.0, 1.0],
        [0.0, 0.0],
        [-1.0, 2.0],
        [-2.0, 3.0],
        [-2.0, 3.0],
    ]
    .iter()
    .enumerate()
    {
        build.predicted(format!("x{column}"), VariableDomain::Continuous(*bounds));
    }
    build.row(
        [-INFINITE, 0.03826837076833023],
        [-2.0, 1.0, -2.0, 2.0, 2.0, 0.0].into_iter().enumerate(),
    );
    let mut costs = [
        -9.999999999999999e-5,
        -1.5051125074277536,
        -2.308679560658745,
        0.9273956831501735,
        0.12792982184242518,
        -0.10399135346325394,
    ];
    let problem = build.build().unwrap();
    assert!(matches!(
        solve(&problem, &costs),
        Err(SolveFailure::UnboundedAlong(reason)) if reason.contains("x0")
    ));
    costs[0] = 1e-4;
    assert!(solve(&problem, &costs).is_ok());
}

#[test]
fn a_problem_is_unchanged_by_serialization() {
    let column = |upper, cost| LinearColumn {
        name: None,
        lower: Some(0.0),
        upper,
        integer: true,
        cost,
    };
    let spec = ProblemSpec::LinearArrays(LinearArrays {
        name: "sack".into(),
        sense: Sense::Maximize,
        columns: vec![
            column(Some(1.0), None),
            column(Some(1.0), None),
            column(None, Some(-0.5)),
        ],
        rows: vec![LinearRow {
            lower: None,
            upper: Some(3.0),
            entries: vec![(0, 2.0), (1, 2.5), (2, -1.0)],
        }],
    });
    let text = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<ProblemSpec>(&text).unwrap(), spec);
    // Both items are worth 4 and 3; capacity for the second costs half a unit for each of two.
    let problem = spec.build().unwrap();
    let solution = problem
        .solver(&SearchLimits::default())
        .solve(&[-4.0, -3.0])
        .unwrap();
    assert_eq!(
        (
            solution.objective,
            solution.decision.indices(),
            solution.decision.fixed()
        ),
        (-6.0, &[0, 1][..], 1.0)
    );
}

/// HiGHS searches forever if the lower bound of an integer column is 1e-9 and nodes are limited.
#[test]
fn bounds_of_integer_columns_are_rounded_inward() {
    let mut build = LinearBuilder::new("tiny", Sense::Minimize);
    build.predicted("a", VariableDomain::Integer([1e-9, 10.0]));
    build.predicted("b", VariableDomain::Integer([0.5, 7.5]));
    build.predicted("c", VariableDomain::Continuous([0.5, 7.5]));
    let problem = build.build().unwrap();
    assert_eq!(
        problem.model().column_bounds,
        [[0.0, 10.0], [1.0, 7.0], [0.5, 7.5]]
    );
    for nodes in [100, 10_000_000] {
        let oracle = Oracle::new(Arc::new(problem.clone())).with_limits(SearchLimits {
            nodes,
            ..SearchLimits::default()
        });
        let solution = oracle.worker().solve(&[1.0, -1.0, 1.0]).unwrap();
        assert_eq!(dense(&problem, &solution), [0.0, 7.0, 0.5], "{nodes} nodes");
    }
    let mut build = LinearBuilder::new("none", Sense::Minimize);
    build.predicted("a", VariableDomain::Integer([0.3, 0.7]));
    let message = build.build().unwrap_err().to_string();
    assert!(
        message.contains("column a") && message.contains("0.3 to 0.7"),
        "{message}"
    );
}

#[test]
fn objectives_with_numbers_that_would_overflow_are_refused() {
    let mut build = LinearBuilder::new("constant", Sense::Minimize);
    build.predicted("a", VariableDomain::Binary);
    build.offset(1e308);
    assert!(build.build().unwrap_err().to_string().contains("constant"));
    let mut build = LinearBuilder::new("cost", Sense::Minimize);
    build.predicted("a", VariableDomain::Binary);
    build.auxiliary("b", VariableDomain::Binary, -1e200);
    assert!(build.build().unwrap_err().to_string().contains("column b"));
}

/// Depots with known fixed costs between two columns with predicted costs, and a constant.
fn depots(sense: Sense) -> LinearProblem {
    let mut build = LinearBuilder::new("depots", sense);
    let flow = VariableDomain::Continuous([0.0, 6.0]);
    let open_a = build.auxiliary("open_a", VariableDomain::Binary, 3.0);
    let ship_a = build.predicted("ship_a", flow);
    let open_b = build.auxiliary("open_b", VariableDomain::Binary, 2.0);
    let ship_b = build.predicted("ship_b", flow);
    build.row([4.5, 4.5], [(ship_a, 1.0), (ship_b, 1.0)]);
    build.row([-INFINITE, 0.0], [(ship_a, 1.0), (open_a, -6.0)]);
    build.row([-INFINITE, 0.0], [(ship_b, 1.0), (open_b, -6.0)]);
    build.offset(10.0);
    build.build().unwrap()
}

#[test]
fn complete_decisions_have_the_columns_with_known_costs() {
    let problem = depots(Sense::Minimize);
    let kind: &dyn ProblemKind = &problem;
    assert_eq!(kind.model_parts().auxiliary_names(), ["open_a", "open_b"]);
    let oracle = Oracle::new(Arc::new(problem.clone())).with_threads(Threads::new(2).unwrap());
    // Shipping from a is cheaper by 1 per unit, or by 0.1, which does not pay for its depot.
    let costs = Matrix::new(2, 2, vec![1.0, 2.0, 1.9, 2.0]).unwrap();
    let found = oracle.solve_complete(&costs, &NoopObserver).unwrap();
    let expected = [
        ([4.5, 0.0, 1.0, 0.0], 10.0 + 3.0 + 4.5),
        ([0.0, 4.5, 0.0, 1.0], 10.0 + 2.0 + 9.0),
    ];
    for (result, (values, objective)) in found.into_iter().zip(expected) {
        let (solution, complete) = result.unwrap();
        let mut dense = [0.0; 4];
        complete.write_dense(&mut dense);
        assert_eq!((dense, solution.objective), (values, objective));
        let (decision, auxiliary) = (&solution.decision, &values[2..]);
        assert_eq!(kind.check_complete(decision, auxiliary), Ok(()));
        // The check is independent of the solver: anything else is refused.
        let refused = |auxiliary: &[f64], word: &str| {
            let message = kind.check_complete(decision, auxiliary).unwrap_err();
            assert!(message.contains(word), "{message}");
        };
        refused(&[0.0, 0.0], "row");
        refused(&[1.0, 1.0], "cost");
        refused(&[0.5, 1.0], "integer");
        refused(&[2.0, 1.0], "outside");
        refused(&[1.0], "1 values");
    }
    // A maximization: known costs are gains, and both depots are opened.
    let oracle = Oracle::new(Arc::new(depots(Sense::Maximize)));
    let (solution, complete) = oracle.worker().solve_complete(&[-1.0, -2.0]).unwrap();
    let objective = Sense::Maximize.convert(solution.objective);
    assert_eq!((complete.value(2), complete.value(3)), (1.0, 1.0));
    assert_eq!(objective, 10.0 + 3.0 + 2.0 + 4.5 * 2.0);
}

#[test]
fn decisions_of_other_problems_are_complete() {
    let problem = regretless::Problem::top_k(3, 2, Sense::Minimize).unwrap();
    let oracle = Oracle::new(problem.kind().clone());
    let (solution, complete) = oracle.worker().solve_complete(&[3.0, 1.0, 2.0]).unwrap();
    assert_eq!(complete, solution.decision);
    assert!(problem.kind().check_complete(&complete, &[1.0]).is_err());
}

/// HiGHS without presolve took the point 0 for the optimum of this problem.
#[test]
fn set_ups_of_quantities_without_an_upper_bound_are_solved_to_optimality() {
    let capacities = [
        2.755_738_162_284_321_6,
        4.716_494_519_697_662,
        4.668_103_047_471_366,
    ];
    let set_ups = [
        -2.662_741_728_371_363,
        -2.802_859_646_662_05,
        -1.435_750_878_825_027_4,
    ];
    let mut rows = vec![serde_json::json!({
        "upper": 7.022_544_225_633_136, "entries": [[0, 1.0], [1, 1.0], [2, 1.0]]
    })];
    let mut columns = vec![serde_json::json!({"lower": 0.0}); 3];
    for (lot, (capacity, cost)) in capacities.into_iter().zip(set_ups).enumerate() {
        let entries = serde_json::json!([[lot, 1.0], [3 + lot, -capacity]]);
        rows.push(serde_json::json!({"upper": 0.0, "entries": entries}));
        let column = serde_json::json!({"integer": true, "lower": 0.0, "upper": 1.0, "cost": cost});
        columns.push(column);
    }
    // Not the set-ups 4 and 5, 4 alone, or 3 and 4.
    for (lower, signs) in [
        (-1.0, [1.0, -1.0, -1.0]),
        (0.0, [1.0, -1.0, 1.0]),
        (-1.0, [-1.0, -1.0, 1.0]),
    ] {
        let entries = serde_json::json!([[3, signs[0]], [4, signs[1]], [5, signs[2]]]);
        rows.push(serde_json::json!({"lower": lower, "entries": entries}));
    }
    let spec = serde_json::json!({
        "kind": "linear_arrays", "name": "lots", "sense": "maximize", "columns": columns,
        "rows": rows,
    });
    let problem = regretless::Problem::from_spec(serde_json::from_value(spec).unwrap()).unwrap();
    let solution = problem
        .solve(&[0.803_434_014, 2.731_635_571, 1.217_369_676])
        .unwrap();
    // All lots are set up, and the second and the third are made.
    assert!(
        (solution.objective - 8.789_706_9).abs() < 1e-5,
        "{}",
        solution.objective
    );
}
