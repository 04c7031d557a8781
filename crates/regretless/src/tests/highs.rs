//! The wrapper around HiGHS: published optima, cost ranging, bases, and invalid files.

#![cfg(feature = "highs")]
use std::path::{Path, PathBuf};

use crate::tests::common::{
    assert_close, golden, numbers, print_suite_summary, reference_data, rows,
};
use regretless::solve::highs::{
    BasicVariable, BasisStatus, LinearModel, Lp, LpColumns, LpRows, LpStatus, SimplexMethod,
};

/// `max 3x + 2y, x + y ≤ 4, x + 3y ≤ 6, 0 ≤ x ≤ 3`: optimum (3, 1), value 11.
fn small_lp() -> Lp {
    let (mut columns, mut constraints) = (LpColumns::default(), LpRows::default());
    columns.push(3.0, [0.0, 3.0], []);
    columns.push(2.0, [0.0, f64::INFINITY], []);
    constraints.push([f64::NEG_INFINITY, 4.0], [(0, 1.0), (1, 1.0)]);
    constraints.push([f64::NEG_INFINITY, 6.0], [(0, 1.0), (1, 3.0)]);
    let mut lp = Lp::by_rows(&columns, &constraints).unwrap();
    lp.set_objective(true, 0.0).unwrap();
    lp
}

fn assert_equal(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "actual {actual}, expected {expected}"
    );
}

#[test]
fn a_small_program_has_the_point_and_duals_of_a_hand_calculation() {
    let mut lp = small_lp();
    // At (3, 1) the bound on x and both rows bind: relax the second row to make the duals unique.
    lp.set_row_bounds(1, [f64::NEG_INFINITY, 9.0]).unwrap();
    assert_eq!(lp.solve().unwrap(), LpStatus::Optimal);
    let point = lp.point().unwrap();
    assert_close(&point.value, &[3.0, 1.0], 1e-9, "values");
    assert_close(&point.activity, &[4.0, 6.0], 1e-9, "activities");
    assert_close(&point.dual, &[2.0, 0.0], 1e-9, "duals");
    assert_close(&point.reduced_cost, &[1.0, 0.0], 1e-9, "reduced costs");
    assert_equal(lp.objective(), 11.0);
}

#[test]
fn cost_ranges_of_a_small_program_agree_with_a_hand_calculation() {
    let mut lp = small_lp();
    lp.set_row_bounds(1, [f64::NEG_INFINITY, 9.0]).unwrap();
    lp.solve().unwrap();
    let ranges = lp.cost_ranges().unwrap();
    // x stays at its bound while its value is at least that of y in the shared row; y stays basic
    // while its value is positive and at most that of x.
    assert_close(&ranges.lower, &[2.0, 0.0], 1e-9, "lower");
    assert_close(&ranges.upper, &[f64::INFINITY, 3.0], 1e-9, "upper");
}

#[test]
fn the_matrix_can_be_passed_by_columns() {
    let (mut columns, mut constraints) = (LpColumns::default(), LpRows::default());
    constraints.push([f64::NEG_INFINITY, 4.0], []);
    constraints.push([f64::NEG_INFINITY, 6.0], []);
    columns.push(-3.0, [0.0, 3.0], [(0, 1.0), (1, 1.0)]);
    columns.push(-2.0, [0.0, f64::INFINITY], [(0, 1.0), (1, 3.0)]);
    let mut lp = Lp::by_columns(&constraints, &columns).unwrap();
    assert_eq!(lp.solve().unwrap(), LpStatus::Optimal);
    assert_equal(lp.objective(), -11.0);
}

#[test]
fn costs_rows_columns_and_bounds_can_change_between_solves() {
    let mut lp = small_lp();
    lp.solve().unwrap();
    let mut optimum = |change: &dyn Fn(&mut Lp), expected: f64| {
        change(&mut lp);
        assert_eq!(lp.solve().unwrap(), LpStatus::Optimal);
        assert_equal(lp.objective(), expected);
    };
    optimum(
        &|lp| {
            lp.use_simplex(SimplexMethod::Primal)
                .and_then(|()| lp.set_costs(0, &[1.0, 4.0]))
                .unwrap();
        },
        8.0,
    );
    let mut limit = LpRows::default();
    limit.push([f64::NEG_INFINITY, 1.5], [(1, 1.0)]);
    optimum(
        &|lp| {
            lp.use_simplex(SimplexMethod::Dual)
                .and_then(|()| lp.add_rows(&limit))
                .unwrap();
        },
        7.5,
    );
    let mut bonus = LpColumns::default();
    bonus.push(10.0, [0.0, 1.0], [(0, 1.0)]);
    optimum(&|lp| lp.add_columns(&bonus).unwrap(), 17.5);
    optimum(&|lp| lp.delete_rows(&[false, false, true]).unwrap(), 18.0);
    optimum(&|lp| lp.delete_columns(&[false, false, true]).unwrap(), 8.0);
    optimum(
        &|lp| lp.set_column_bounds(0, [1.0, 3.0]).unwrap(),
        1.0 + 20.0 / 3.0,
    );
    optimum(&|lp| lp.set_integer(0, &[false, true]).unwrap(), 7.0);
}

#[test]
fn a_basis_can_be_read_and_set() {
    let mut lp = small_lp();
    lp.solve().unwrap();
    let basis = lp.basis().unwrap();
    lp.reset_basis_and_solution().unwrap();
    assert_eq!(lp.basis(), None);
    lp.set_basis(&basis).unwrap();
    assert_eq!(lp.solve().unwrap(), LpStatus::Optimal);
    assert_eq!(lp.iterations().unwrap(), 0);
    assert_equal(lp.objective(), 11.0);
}

#[test]
fn reduced_columns_solve_for_the_basis() {
    let mut lp = small_lp();
    lp.set_row_bounds(1, [f64::NEG_INFINITY, 9.0]).unwrap();
    lp.solve().unwrap();
    let basic_variables = lp.basic_variables().unwrap();
    let mut column = Vec::new();
    lp.reduced_column(0, &mut column).unwrap();
    // x leaving its bound by one lowers y by one; the slack of row 1 changes by 1 - 3.
    let y = basic_variables
        .iter()
        .position(|variable| *variable == BasicVariable::Column(1))
        .unwrap();
    assert!(basic_variables.contains(&BasicVariable::Row(1)));
    assert_equal(column[y], 1.0);
    let mut row = Vec::new();
    lp.reduced_row(y, &mut row).unwrap();
    assert_close(&row, &[1.0, 1.0], 1e-12, "row of y");
    assert!(lp.reduced_column(2, &mut column).is_err());
}

#[test]
fn a_search_can_start_from_a_point_and_a_solve_stop_at_a_bound() {
    let mut lp = small_lp();
    lp.set_integer(0, &[true, true]).unwrap();
    lp.limit_nodes(0).unwrap();
    lp.set_start(&[2.0, 1.0]).unwrap();
    lp.solve().unwrap();
    assert!(
        lp.has_point() && lp.objective() >= 8.0,
        "{}",
        lp.objective()
    );
    let mut covering = Lp::new().unwrap();
    let (mut columns, mut constraints) = (LpColumns::default(), LpRows::default());
    (0..40).for_each(|column| columns.push(1.0 + f64::from(column % 7), [0.0, 1.0], []));
    (0..60).for_each(|row| {
        constraints.push(
            [1.0, 9.0],
            (0..5).map(|k| ((row * 7 + k * k * 3) % 40, 1.0)),
        );
    });
    covering.add_columns(&columns).unwrap();
    covering.add_rows(&constraints).unwrap();
    covering.use_simplex(SimplexMethod::Dual).unwrap();
    covering.set_objective_bound(2.0).unwrap();
    assert_eq!(covering.solve().unwrap(), LpStatus::ObjectiveBound);
    covering.set_objective_bound(f64::INFINITY).unwrap();
    assert_eq!(covering.solve().unwrap(), LpStatus::Optimal);
    assert!(covering.objective() > 2.0);
}

#[test]
fn a_basis_is_extended_by_new_rows_and_columns() {
    let mut lp = small_lp();
    lp.solve().unwrap();
    let (mut rows, mut columns) = (LpRows::default(), LpColumns::default());
    rows.push([f64::NEG_INFINITY, 100.0], [(0, 1.0)]);
    columns.push(-1.0, [0.0, 1.0], [(0, 1.0)]);
    lp.add_rows(&rows).unwrap();
    lp.add_columns(&columns).unwrap();
    let basis = lp.basis().unwrap();
    assert_eq!(
        (basis.columns[2], basis.rows[2]),
        (BasisStatus::Lower, BasisStatus::Basic)
    );
    lp.solve().unwrap();
    assert_eq!(lp.iterations().unwrap(), 0);
    lp.delete_rows(&[false, false, true]).unwrap();
    assert_eq!(
        lp.basis().unwrap().rows.len(),
        2,
        "a basic row may be deleted"
    );
    let nonbasic = lp
        .basis()
        .unwrap()
        .rows
        .iter()
        .map(|status| *status != BasisStatus::Basic)
        .collect::<Vec<_>>();
    lp.delete_rows(&nonbasic).unwrap();
    assert_eq!(lp.basis(), None, "a nonbasic row may not");
}

#[test]
fn invalid_arguments_are_refused() {
    let mut lp = small_lp();
    assert!(lp.point().is_err(), "nothing was solved yet");
    assert!(lp.cost_ranges().is_err(), "nothing was solved yet");
    assert!(lp.set_costs(1, &[1.0, 2.0]).is_err());
    assert!(lp.set_costs(0, &[f64::NAN]).is_err());
    assert!(lp.set_column_bounds(2, [0.0, 1.0]).is_err());
    assert!(lp.set_row_bounds(usize::MAX, [0.0, 1.0]).is_err());
    assert!(lp.delete_rows(&[true]).is_err());
    assert!(lp.set_start(&[1.0]).is_err());
    assert!(lp.set_option(c"no_such_option", 1).is_err());
    let mut row = LpRows::default();
    row.push([0.0, 1.0], [(2, 1.0)]);
    assert!(lp.add_rows(&row).is_err(), "there is no column 2");
    row = LpRows::default();
    row.push([0.0, 1.0], [(1, 1.0), (1, 1.0)]);
    assert!(lp.add_rows(&row).is_err(), "a duplicate entry");
}

#[test]
fn infeasible_unbounded_and_stopped_solves_are_reported() {
    let mut lp = small_lp();
    lp.set_row_bounds(0, [9.0, 9.0]).unwrap();
    assert_eq!(lp.solve().unwrap(), LpStatus::Infeasible);
    assert!(!lp.has_point());
    let mut free = Lp::new().unwrap();
    let mut columns = LpColumns::default();
    columns.push(-1.0, [0.0, f64::INFINITY], []);
    free.add_columns(&columns).unwrap();
    assert_eq!(free.solve().unwrap(), LpStatus::Unbounded);
    let mut stopped = small_lp();
    stopped.limit_iterations(Some(0)).unwrap();
    assert_eq!(stopped.solve().unwrap(), LpStatus::IterationLimit);
    stopped.limit_iterations(None).unwrap();
    assert_eq!(stopped.solve().unwrap(), LpStatus::Optimal);
}

#[test]
fn an_lp_can_move_to_another_thread() {
    let mut lp = small_lp();
    lp.solve().unwrap();
    let objective = std::thread::spawn(move || {
        lp.set_costs(0, &[1.0, 4.0]).unwrap();
        lp.solve().unwrap();
        lp.objective()
    });
    assert_equal(objective.join().unwrap(), 8.0);
}

/// Columns of a table of published optima: name, kind of file, HiGHS's optimum, optimum of the
/// relaxation.
fn optima(file: &str) -> (PathBuf, Vec<Vec<String>>) {
    let folder = reference_data().join("mps");
    let table = std::fs::read_to_string(folder.join(file)).unwrap();
    let lines = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(String::from).collect());
    (folder, lines.collect())
}

fn objective_of(path: &Path, relaxed: bool) -> f64 {
    let mut model = LinearModel::read(path).unwrap();
    if relaxed {
        model.integer.fill(false);
    }
    let mut lp = Lp::from_model(&model).unwrap();
    lp.use_presolve(true).unwrap();
    lp.set_gap(0.0, 0.0).unwrap();
    assert_eq!(lp.solve().unwrap(), LpStatus::Optimal, "{}", path.display());
    lp.objective()
}

fn assert_published(actual: f64, expected: &str, name: &str) {
    assert_close(&[actual], &[expected.parse().unwrap()], 1e-6, name);
}

#[test]
fn published_linear_programs_have_their_published_optima() {
    let (folder, table) = optima("optima_lp.csv");
    assert_eq!(table.len(), 14);
    for row in table {
        let actual = objective_of(&folder.join(format!("{}.mps", row[0])), false);
        // netlib omits the constant in the RHS section of e226.
        assert_published(
            actual,
            if row[0] == "e226" { &row[9] } else { &row[7] },
            &row[0],
        );
    }
}

#[test]
fn relaxations_of_published_integer_programs_have_their_published_optima() {
    let (folder, table) = optima("optima_mip.csv");
    assert_eq!(table.len(), 9);
    for row in table {
        assert_published(
            objective_of(&folder.join(format!("{}.mps", row[0])), true),
            &row[10],
            &row[0],
        );
    }
}

const SLOW: [&str; 3] = ["stein27", "mod008", "misc03"];

/// Solves all published integer programs that are slow, or all others.
fn check_integer_programs(slow: bool) {
    let (folder, table) = optima("optima_mip.csv");
    let is_selected = |row: &&Vec<String>| SLOW.contains(&row[0].as_str()) == slow;
    let count = table.iter().filter(is_selected).count();
    assert_eq!(
        count,
        if slow {
            SLOW.len()
        } else {
            table.len() - SLOW.len()
        }
    );
    for row in table.iter().filter(is_selected) {
        assert_published(
            objective_of(&folder.join(format!("{}.mps", row[0])), false),
            &row[9],
            &row[0],
        );
    }
    print_suite_summary(count, Some(count));
}

#[test]
fn published_integer_programs_have_their_published_optima() {
    check_integer_programs(false);
}

#[test]
#[ignore = "takes some seconds"]
fn slow_published_integer_programs_have_their_published_optima() {
    check_integer_programs(true);
}

#[test]
fn cost_ranges_of_knapsack_relaxations_agree_with_golden_files() {
    let file = golden("solvers");
    let case = &file["problems"]["KS14"];
    let (weights, capacity) = (
        rows(&case["problem"]["weights"]),
        numbers(&case["problem"]["capacity"]),
    );
    let (lower, upper) = (rows(&case["lp_cost_lower"]), rows(&case["lp_cost_upper"]));
    let (mut columns, mut constraints) = (LpColumns::default(), LpRows::default());
    (0..14).for_each(|_| columns.push(0.0, [0.0, 1.0], []));
    for (weights, capacity) in weights.iter().zip(&capacity) {
        constraints.push(
            [f64::NEG_INFINITY, *capacity],
            weights.iter().copied().enumerate(),
        );
    }
    let mut lp = Lp::by_rows(&columns, &constraints).unwrap();
    lp.set_objective(true, 0.0).unwrap();
    let objectives = numbers(&case["lp_objectives"]);
    for (instance, costs) in rows(&case["costs"]).iter().enumerate() {
        lp.set_costs(0, costs).unwrap();
        assert_eq!(lp.solve().unwrap(), LpStatus::Optimal);
        assert_close(
            &[lp.objective()],
            &[objectives[instance]],
            1e-7,
            "objective",
        );
        let ranges = lp.cost_ranges().unwrap();
        assert_close(&ranges.lower, &lower[instance], 1e-7, "lower");
        assert_close(&ranges.upper, &upper[instance], 1e-7, "upper");
    }
}
