//! Cost ranges: valid on many random cases, as wide as possible if exact, and equal to golden ones.

use super::{choice, costs, grid, knapsack, stream};
#[cfg(feature = "highs")]
use super::{routes, tour};
use crate::tests::common::{assert_close, golden, numbers, rows};
use regretless::problem::{GridPath, Knapsack, ProblemKind};
use regretless::solve::relaxation::{CostRangeKind, CostRanges, Relaxation};
use regretless::solve::{SearchLimits, SolveFailure};

/// Distance from the end of a range at which costs are tested, inside and outside.
const OFFSET: f64 = 1e-6;

fn ranges(problem: &dyn ProblemKind, kind: CostRangeKind, costs: &[f64]) -> CostRanges {
    problem
        .sensitivity()
        .cost_ranging(kind, &SearchLimits::default())
        .unwrap()
        .ranges(costs)
        .unwrap()
}

/// Excess of the optimum under `costs` over the new optimum when cost `j` becomes `cost`.
fn excess(problem: &dyn ProblemKind, costs: &[f64], j: usize, cost: f64) -> f64 {
    let mut relaxation_solver = problem
        .sensitivity()
        .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
        .unwrap();
    let point = relaxation_solver.relax(costs).unwrap().decision;
    let mut changed = costs.to_vec();
    changed[j] = cost;
    match relaxation_solver.relax(&changed) {
        Err(SolveFailure::Unbounded) => f64::INFINITY,
        actual => point.dot(&changed) - actual.unwrap().objective,
    }
}

/// Checks every range of a problem; returns the number of finite ends.
fn check(problem: &dyn ProblemKind, kind: CostRangeKind, costs: &[f64], case: u64) -> usize {
    let ranges = ranges(problem, kind, costs);
    let mut num_finite_ends = 0;
    for j in 0..costs.len() {
        assert!(
            ranges.lower[j] <= costs[j] + 1e-9 && ranges.upper[j] >= costs[j] - 1e-9,
            "case {case}, cost {j}"
        );
        for (end, outwards) in [(ranges.lower[j], -1.0), (ranges.upper[j], 1.0)] {
            let inside = if end.is_finite() {
                end - outwards * OFFSET
            } else {
                costs[j] + outwards * 1000.0
            };
            let is_in_range = (inside - costs[j]) * outwards >= 0.0;
            assert!(
                !is_in_range || excess(problem, costs, j, inside) < 1e-7,
                "case {case}: cost {j} should be able to become {inside}"
            );
            if end.is_finite() {
                num_finite_ends += 1;
                let excess_outside = excess(problem, costs, j, end + outwards * 100.0 * OFFSET);
                assert!(
                    kind == CostRangeKind::Basis || excess_outside > OFFSET,
                    "case {case}: cost {j} should not be able to exceed {end}"
                );
            }
        }
    }
    num_finite_ends
}

fn assert_enough(num_finite_ends: usize) {
    assert!(
        num_finite_ends > 2000,
        "only {num_finite_ends} ends were tested"
    );
}

#[test]
fn exact_ranges_of_grids_are_valid_and_cannot_be_wider() {
    let mut num_finite_ends = 0;
    for case in 0..200 {
        let mut stream = stream(1, case);
        let problem = grid(&mut stream, 5);
        let costs = costs(&mut stream, &problem, case);
        num_finite_ends += check(&problem, CostRangeKind::Exact, &costs, case);
    }
    assert_enough(num_finite_ends);
}

#[test]
fn exact_ranges_of_choices_are_valid_and_cannot_be_wider() {
    let mut num_finite_ends = 0;
    for case in 0..700 {
        let mut stream = stream(2, case);
        let problem = choice(&mut stream, 8);
        let costs = costs(&mut stream, &problem, case);
        num_finite_ends += check(&problem, CostRangeKind::Exact, &costs, case);
    }
    assert_enough(num_finite_ends);
}

#[test]
fn ranges_of_knapsacks_are_valid() {
    let mut num_finite_ends = 0;
    for case in 0..600 {
        let mut stream = stream(3, case);
        let problem = knapsack(&mut stream, case, 10);
        let costs = costs(&mut stream, &problem, case);
        num_finite_ends += check(&problem, CostRangeKind::Basis, &costs, case);
    }
    assert_enough(num_finite_ends);
}

#[test]
fn an_item_that_never_fits_has_an_unbounded_cost_range() {
    let problem = Knapsack::new(vec![vec![1.0, 2.0], vec![0.0, 1.0]], vec![1.0, 0.0]).unwrap();
    let actual = ranges(&problem, CostRangeKind::Basis, &[-1.0, -5.0]);
    assert_eq!(
        (actual.lower, actual.upper),
        (vec![f64::NEG_INFINITY; 2], vec![0.0, f64::INFINITY])
    );
}

#[cfg(feature = "highs")]
#[test]
fn basis_ranges_of_grids_are_valid_and_lie_within_the_exact_ones() {
    let (mut num_finite_ends, mut narrower) = (0, 0);
    for case in 0..120 {
        let mut stream = stream(4, case);
        let problem = grid(&mut stream, 5);
        let costs = costs(&mut stream, &problem, 0);
        num_finite_ends += check(&problem, CostRangeKind::Basis, &costs, case);
        let basis = ranges(&problem, CostRangeKind::Basis, &costs);
        let exact = ranges(&problem, CostRangeKind::Exact, &costs);
        for j in 0..costs.len() {
            assert!(
                basis.lower[j] >= exact.lower[j] - 1e-7 && basis.upper[j] <= exact.upper[j] + 1e-7
            );
            narrower += usize::from(basis.upper[j] < exact.upper[j] - 1e-7);
        }
    }
    assert!(
        num_finite_ends > 2000 && narrower > 100,
        "{num_finite_ends} ends were tested, {narrower} were narrower"
    );
}

#[cfg(feature = "highs")]
#[test]
fn ranges_of_linear_problems_are_valid() {
    let mut num_finite_ends = 0;
    for case in 0..400 {
        let mut stream = stream(5, case);
        let problem = super::linear(&mut stream, case, 6);
        let costs = costs(&mut stream, &problem, case);
        if !super::is_unbounded(&problem, &costs) {
            num_finite_ends += check(&problem, CostRangeKind::Basis, &costs, case);
        }
    }
    assert_enough(num_finite_ends);
}

#[cfg(feature = "highs")]
#[test]
fn ranges_of_tours_and_routes_are_valid() {
    let mut num_finite_ends = [0; 2];
    for case in 0..60 {
        let mut stream = stream(8, case);
        let problems = [tour(&mut stream, 12), routes(&mut stream, case, 12)];
        for (num_finite_ends, problem) in num_finite_ends.iter_mut().zip(problems) {
            let costs = costs(&mut stream, problem.as_ref(), case);
            let relaxed = problem
                .sensitivity()
                .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
                .unwrap()
                .relax(&costs);
            if relaxed != Err(SolveFailure::Infeasible) {
                *num_finite_ends += check(problem.as_ref(), CostRangeKind::Basis, &costs, case);
            }
        }
    }
    assert!(
        num_finite_ends
            .iter()
            .all(|num_finite_ends| *num_finite_ends > 2000),
        "only {num_finite_ends:?} ends were tested"
    );
}

/// A model large enough for presolve has the ranges of the same model solved by the knapsack
/// solver.
#[cfg(feature = "highs")]
#[test]
fn ranges_and_adjacent_vertices_of_large_models_equal_those_of_the_knapsack_solver() {
    use regretless::problem::{LinearBuilder, Sense, VariableDomain};
    let mut stream = stream(7, 0);
    let weights: Vec<Vec<f64>> = (0..8)
        .map(|_| (0..1300).map(|_| stream.uniform(3.0, 8.0)).collect())
        .collect();
    let knapsack = Knapsack::with_capacity_fraction(weights, 0.1).unwrap();
    let mut build = LinearBuilder::new("knapsack", Sense::Minimize);
    for item in 0..1300 {
        build.predicted(format!("x{item}"), VariableDomain::Binary);
    }
    for (weights, capacity) in knapsack.weights().iter().zip(knapsack.capacity()) {
        build.row(
            [f64::NEG_INFINITY, *capacity],
            weights.iter().copied().enumerate(),
        );
    }
    let linear = build.build().unwrap();
    let costs: Vec<f64> = (0..1300).map(|_| stream.uniform(-5.0, 1.0)).collect();
    let (a, b) = (
        ranges(&knapsack, CostRangeKind::Basis, &costs),
        ranges(&linear, CostRangeKind::Basis, &costs),
    );
    assert_close(&a.lower, &b.lower, 1e-6, "lower ends");
    assert_close(&a.upper, &b.upper, 1e-6, "upper ends");
    let adjacent_vertices = |problem: &dyn ProblemKind| {
        problem
            .sensitivity()
            .adjacent_vertices(&SearchLimits::default())
            .unwrap()
            .adjacent_vertices(&costs)
            .unwrap()
    };
    let sorted = |(_, deltas): (_, Vec<regretless::Decision>)| {
        let mut cost_differences: Vec<f64> = deltas.iter().map(|delta| delta.dot(&costs)).collect();
        cost_differences.sort_by(f64::total_cmp);
        cost_differences
    };
    let (by_knapsack, by_linear) = (
        sorted(adjacent_vertices(&knapsack)),
        sorted(adjacent_vertices(&linear)),
    );
    assert_eq!(by_knapsack.len(), 1300);
    assert_close(
        &by_knapsack,
        &by_linear,
        1e-6,
        "cost differences to adjacent vertices",
    );
}

#[cfg(feature = "highs")]
#[test]
fn ranges_scale_with_costs() {
    let mut stream = stream(6, 0);
    let problem = super::linear(&mut stream, 1, 6);
    let small = costs(&mut stream, &problem, 0);
    let large: Vec<f64> = small.iter().map(|cost| 1024.0 * cost).collect();
    let (a, b) = (
        ranges(&problem, CostRangeKind::Basis, &small),
        ranges(&problem, CostRangeKind::Basis, &large),
    );
    assert_close(
        &b.lower,
        &a.lower.iter().map(|end| 1024.0 * end).collect::<Vec<_>>(),
        1e-12,
        "lower ends",
    );
    assert_close(
        &b.upper,
        &a.upper.iter().map(|end| 1024.0 * end).collect::<Vec<_>>(),
        1e-12,
        "upper ends",
    );
}

#[test]
fn golden_grids_have_their_exact_ranges_and_linear_optima() {
    let file = golden("solvers");
    let case = &file["problems"]["SP4x6"];
    let problem = GridPath::new(4, 6).unwrap();
    let mut relaxation_solver = problem
        .capabilities()
        .sensitivity
        .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
        .unwrap();
    let (lower, upper) = (
        rows(&case["exact_cost_lower"]),
        rows(&case["exact_cost_upper"]),
    );
    let objectives = numbers(&case["lp_objectives"]);
    for (row, costs) in rows(&case["costs"]).iter().enumerate() {
        let actual = ranges(&problem, CostRangeKind::Exact, costs);
        assert_close(&actual.lower, &lower[row], 1e-8, "lower ends");
        assert_close(&actual.upper, &upper[row], 1e-8, "upper ends");
        assert_close(
            &[relaxation_solver.relax(costs).unwrap().objective],
            &[objectives[row]],
            1e-8,
            "linear optimum",
        );
    }
}

#[test]
fn golden_knapsacks_have_their_ranges_and_linear_optima() {
    let file = golden("solvers");
    let case = &file["problems"]["KS14"];
    let capacity = numbers(&case["problem"]["capacity"]);
    let problem = Knapsack::new(rows(&case["problem"]["weights"]), capacity).unwrap();
    let mut relaxation_solver = problem
        .capabilities()
        .sensitivity
        .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
        .unwrap();
    let negated = |row: &[f64]| row.iter().map(|value| -value).collect::<Vec<f64>>();
    let (lower, upper) = (rows(&case["lp_cost_lower"]), rows(&case["lp_cost_upper"]));
    let objectives = numbers(&case["lp_objectives"]);
    for (row, values) in rows(&case["costs"]).iter().enumerate() {
        let costs = negated(values);
        let actual = ranges(&problem, CostRangeKind::Basis, &costs);
        assert_close(&negated(&actual.upper), &lower[row], 1e-8, "lower ends");
        assert_close(&negated(&actual.lower), &upper[row], 1e-8, "upper ends");
        assert_close(
            &[-relaxation_solver.relax(&costs).unwrap().objective],
            &[objectives[row]],
            1e-8,
            "linear optimum",
        );
    }
}
