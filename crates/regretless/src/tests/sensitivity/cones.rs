//! Normal cones: the binding normals of golden decisions, and projections against nonnegative least
//! squares and the optimality conditions.

use super::{choice, costs, grid, knapsack, stream};
#[cfg(feature = "highs")]
use super::{routes, tour};
use crate::tests::common::{assert_close, golden, numbers, rows, subtour_sets};
use regretless::Decision;
use regretless::problem::{GridPath, Knapsack, ProblemKind, Tsp};
use regretless::random::RandomStream;
use regretless::solve::SearchLimits;
use regretless::solve::cone::{BoundStatus, NormalCone};
#[cfg(feature = "highs")]
use regretless::solve::relaxation::Relaxation;
use serde_json::Value;

/// All normals of a cone as rays, an equation as two.
fn rays(cone: &NormalCone) -> Vec<Vec<f64>> {
    let count = cone.statuses().len();
    let mut rays = Vec::new();
    let mut add = |entries: &[(usize, f64)], sign: f64| {
        let mut ray = vec![0.0; count];
        entries.iter().for_each(|(j, value)| ray[*j] = sign * value);
        rays.push(ray);
    };
    for (j, status) in cone.statuses().iter().enumerate() {
        if matches!(status, BoundStatus::Lower | BoundStatus::Fixed) {
            add(&[(j, 1.0)], -1.0);
        }
        if matches!(status, BoundStatus::Upper | BoundStatus::Fixed) {
            add(&[(j, 1.0)], 1.0);
        }
    }
    for row in 0..cone.num_rows() {
        let (entries, free) = cone.normal(row);
        let entries: Vec<(usize, f64)> = entries.collect();
        add(&entries, 1.0);
        if free {
            add(&entries, -1.0);
        }
    }
    rays
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Nonnegative least squares by the active-set method of Lawson and Hanson (1974): slow and
/// independent.
fn project_by_least_squares(rays: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    let mut weights = vec![0.0; rays.len()];
    let combine = |weights: &[f64]| -> Vec<f64> {
        (0..vector.len())
            .map(|j| rays.iter().zip(weights).map(|(ray, w)| w * ray[j]).sum())
            .collect()
    };
    let mut passive: Vec<usize> = Vec::new();
    for _ in 0..10 * rays.len() {
        let point = combine(&weights);
        let residual: Vec<f64> = vector.iter().zip(&point).map(|(v, p)| v - p).collect();
        let outside = (0..rays.len()).filter(|ray| !passive.contains(ray));
        let gain = |ray: &usize| dot(&rays[*ray], &residual);
        let Some(entering) = outside
            .max_by(|a, b| gain(a).total_cmp(&gain(b)))
            .filter(|ray| gain(ray) > 1e-11)
        else {
            break;
        };
        passive.push(entering);
        loop {
            let solution = least_squares(
                &passive
                    .iter()
                    .map(|ray| &rays[*ray][..])
                    .collect::<Vec<_>>(),
                vector,
            );
            let nonpositive: Vec<usize> = (0..passive.len())
                .filter(|index| solution[*index] <= 0.0)
                .collect();
            let step_to_zero = |index: &usize| {
                weights[passive[*index]] / (weights[passive[*index]] - solution[*index])
            };
            let step = nonpositive.iter().map(step_to_zero).fold(1.0, f64::min);
            for (index, ray) in passive.iter().enumerate() {
                weights[*ray] += step * (solution[index] - weights[*ray]);
            }
            if nonpositive.is_empty() {
                break;
            }
            passive.retain(|ray| weights[*ray] > 1e-14);
            (0..rays.len())
                .filter(|ray| !passive.contains(ray))
                .for_each(|ray| weights[ray] = 0.0);
        }
    }
    combine(&weights)
}

/// Coefficients of the combination nearest to a vector, by normal equations.
fn least_squares(rays: &[&[f64]], vector: &[f64]) -> Vec<f64> {
    let mut system: Vec<Vec<f64>> = rays
        .iter()
        .map(|a| {
            rays.iter()
                .map(|b| dot(a, b))
                .chain([dot(a, vector)])
                .collect()
        })
        .collect();
    for column in 0..system.len() {
        let size = |row: &usize| system[*row][column].abs();
        let pivot_row = (column..system.len())
            .max_by(|a, b| size(a).total_cmp(&size(b)))
            .unwrap();
        system.swap(column, pivot_row);
        let pivot = system[column].clone();
        for (_, row) in system
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| *index != column)
        {
            let factor = row[column] / pivot[column];
            row.iter_mut()
                .zip(&pivot)
                .for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    system
        .iter()
        .enumerate()
        .map(|(index, row)| row[row.len() - 1] / row[index])
        .collect()
}

/// The nearest point of a cone is the point whose residual makes no acute angle with any ray and is
/// orthogonal to the point. Returns whether one Newton step does not find it.
fn assert_nearest(cone: &NormalCone, vector: &[f64], context: &str) -> bool {
    let actual = cone.project(vector);
    let residual: Vec<f64> = vector.iter().zip(&actual).map(|(v, p)| v - p).collect();
    let scale = dot(vector, vector).sqrt();
    for ray in rays(cone) {
        assert!(
            dot(&ray, &residual) <= 1e-10 * scale,
            "{context}: {} of {scale}",
            dot(&ray, &residual)
        );
    }
    assert!(
        dot(&actual, &residual).abs() <= 1e-10 * scale * scale,
        "{context}: the residual is not orthogonal"
    );
    let expected = project_by_least_squares(&rays(cone), vector);
    assert_close(&actual, &expected, 1e-8, context);
    // Stopped early, the method returns a point of the cone that is further away.
    let early = cone.project_with_limit(vector, 1);
    assert_close(
        &cone.project(&early),
        &early,
        1e-8,
        &format!("{context}, stopped"),
    );
    let squared_distance = |point: &[f64]| {
        vector
            .iter()
            .zip(point)
            .map(|(v, p)| (v - p) * (v - p))
            .sum::<f64>()
    };
    assert!(
        squared_distance(&early) >= squared_distance(&actual) - 1e-9 * scale * scale,
        "{context}, stopped"
    );
    squared_distance(&early) > squared_distance(&actual) + 1e-3
}

fn vector(stream: &mut RandomStream, count: usize) -> Vec<f64> {
    (0..count).map(|_| stream.uniform(-3.0, 3.0)).collect()
}

#[test]
fn projections_equal_those_by_nonnegative_least_squares() {
    let mut num_several_steps = 0;
    for case in 0..300 {
        let mut stream = stream(21, case);
        let problem: Box<dyn ProblemKind> = match case % 3 {
            0 => Box::new(grid(&mut stream, 4)),
            1 => Box::new(knapsack(&mut stream, case, 8)),
            _ => Box::new(choice(&mut stream, 8)),
        };
        let costs = costs(&mut stream, problem.as_ref(), case);
        let optimal_decision = problem
            .solver(&SearchLimits::default())
            .solve(&costs)
            .unwrap()
            .decision;
        let cone = problem.geometry().cone(&optimal_decision).unwrap();
        num_several_steps += usize::from(assert_nearest(
            &cone,
            &vector(&mut stream, costs.len()),
            &format!("case {case}"),
        ));
    }
    assert!(
        num_several_steps > 30,
        "only {num_several_steps} of 300 projections needed several steps"
    );
}

#[test]
fn projections_onto_random_cones_with_many_rows_are_nearest() {
    for case in 0..300 {
        let mut stream = stream(22, case);
        let count = 2 + stream.index_below(12);
        let bounds = vec![[0.0, 1.0]; count];
        let point: Vec<f64> = (0..count)
            .map(|_| [0.0, 0.5, 1.0][stream.index_below(3)])
            .collect();
        let mut cone = NormalCone::new(&point, &bounds);
        for row in 0..stream.index_below(2 * count) {
            let entries: Vec<(usize, f64)> = (0..count)
                .map(|j| (j, (stream.index_below(5) as f64 - 2.0) * 1000.0))
                .collect();
            if row % 3 == 0 {
                cone.add_equation(entries);
            } else {
                cone.add_binding_row(entries);
            }
        }
        assert_nearest(&cone, &vector(&mut stream, count), &format!("case {case}"));
    }
}

#[test]
fn costs_under_which_a_decision_is_optimal_are_their_own_projection() {
    for case in 0..60 {
        let mut stream = stream(23, case);
        let problem = grid(&mut stream, 6);
        let costs = costs(&mut stream, &problem, case);
        let optimal_decision = problem
            .solver(&SearchLimits::default())
            .solve(&costs)
            .unwrap()
            .decision;
        let negated: Vec<f64> = costs.iter().map(|cost| -cost).collect();
        let actual = problem
            .capabilities()
            .geometry
            .cone(&optimal_decision)
            .unwrap()
            .project(&negated);
        assert_close(&actual, &negated, 1e-10, &format!("case {case}"));
        // A decision is optimal under the projection of any vector.
        let arbitrary = vector(&mut stream, costs.len());
        let projection = problem
            .capabilities()
            .geometry
            .cone(&optimal_decision)
            .unwrap()
            .project(&arbitrary);
        let within: Vec<f64> = projection.iter().map(|entry| -entry).collect();
        let min = problem
            .solver(&SearchLimits::default())
            .solve(&within)
            .unwrap()
            .objective;
        assert!(optimal_decision.dot(&within) - min < 1e-9, "case {case}");
    }
}

/// The vectors that CaVE projects in a golden file: minus the costs to be minimized.
fn projected(file: &Value) -> Vec<Vec<f64>> {
    let sign = if file["sense"] == "max" { 1.0 } else { -1.0 };
    rows(&file["inputs"]["pred"])
        .iter()
        .map(|row| row.iter().map(|p| sign * p).collect())
        .collect()
}

fn assert_golden(file: &Value, cone: impl Fn(&Decision, &[Vec<f64>]) -> NormalCone) {
    let normals = &file["inputs"]["tight_constraint_normals"];
    let normals: Vec<Vec<Vec<f64>>> = normals.as_array().unwrap().iter().map(rows).collect();
    let optimal_decisions: Vec<Decision> = rows(&file["inputs"]["true_sol"])
        .iter()
        .map(|x| Decision::from_dense(x))
        .collect();
    let expected = rows(&file["losses"]["cave_exact_200_iterations"]["projection"]);
    let heuristic = numbers(&file["losses"]["cave_heuristic_branch"]["per_instance"]);
    for (row, vector) in projected(file).iter().enumerate() {
        let cone = cone(&optimal_decisions[row], &normals[row]);
        let mut actual: Vec<Vec<f64>> = rays(&cone);
        let unit = |ray: &Vec<f64>| {
            ray.iter()
                .map(|x| x / dot(ray, ray).sqrt())
                .collect::<Vec<f64>>()
        };
        let mut expected_rays: Vec<Vec<f64>> = normals[row]
            .iter()
            .filter(|ray| dot(ray, ray) > 0.0)
            .map(unit)
            .collect();
        for rays in [&mut actual, &mut expected_rays] {
            rays.iter_mut()
                .flatten()
                .for_each(|x| *x = (*x * 1e6).round() / 1e6 + 0.0);
            rays.sort_by(|a, b| a.partial_cmp(b).unwrap());
        }
        assert_eq!(actual, expected_rays, "normals of row {row}");
        assert_close(
            &cone.project(vector),
            &expected[row],
            2e-4,
            &format!("projection of row {row}"),
        );
        let length = dot(vector, vector).sqrt();
        let mean = cone.mean_normal();
        let inner: Vec<f64> = vector
            .iter()
            .zip(&mean)
            .map(|(v, m)| 0.8 * v / length + 0.2 * m)
            .collect();
        let loss = 1.0 - dot(vector, &inner) / length / dot(&inner, &inner).sqrt();
        assert_close(&[loss], &[heuristic[row]], 1e-5, "loss of the heuristic");
    }
}

#[test]
fn golden_paths_have_their_normals_and_projections() {
    let file = golden("cave_sp4x5_min");
    assert_golden(&file, |optimal_decision, _| {
        GridPath::new(4, 5)
            .unwrap()
            .capabilities()
            .geometry
            .cone(optimal_decision)
            .unwrap()
    });
}

#[test]
fn golden_knapsacks_have_their_normals_and_projections() {
    let file = golden("cave_ks10_max");
    let problem = Knapsack::new(
        rows(&file["problem"]["weights"]),
        numbers(&file["problem"]["capacity"]),
    )
    .unwrap();
    assert_golden(&file, |optimal_decision, _| {
        problem
            .capabilities()
            .geometry
            .cone(optimal_decision)
            .unwrap()
    });
}

#[test]
fn golden_tours_have_their_normals_and_projections() {
    let file = golden("cave_tsp7_min");
    let problem = Tsp::new(7).unwrap();
    assert_golden(&file, |optimal_decision, normals| {
        problem.cone_with_subtours(optimal_decision, &subtour_sets(7, normals))
    });
}

#[test]
fn subtour_constraints_with_slack_add_nothing_to_the_cone() {
    let tour = Decision::from_indices([0, 4, 5, 9, 12, 14]);
    let problem = Tsp::new(6).unwrap();
    assert_eq!(problem.check(&tour), Ok(()));
    let rows = |sets: &[Vec<usize>]| problem.cone_with_subtours(&tour, sets).num_rows();
    assert_eq!(
        (
            rows(&[]),
            rows(&[vec![0, 1, 5]]),
            rows(&[vec![0, 2, 4], vec![1, 5]])
        ),
        (6, 7, 6)
    );
    assert_eq!(
        problem.capabilities().geometry.cone(&tour).unwrap(),
        problem.cone_with_subtours(&tour, &[])
    );
}

/// Under the projection of any costs a tour is the optimum of the plain relaxation, and routes are
/// optimal routes.
#[cfg(feature = "highs")]
#[test]
fn tours_and_routes_are_optimal_under_projections_onto_their_cones() {
    let (mut num_depot_rows, mut num_with_set_rows) = (0, 0);
    for case in 0..80 {
        let mut stream = stream(25, case);
        let problem = if case % 2 == 0 {
            tour(&mut stream, 9)
        } else {
            routes(&mut stream, case / 2, 8)
        };
        let Ok(solution) = problem.solver(&SearchLimits::default()).solve(&costs(
            &mut stream,
            problem.as_ref(),
            case,
        )) else {
            continue;
        };
        let cone = problem.geometry().cone(&solution.decision).unwrap();
        let arbitrary = vector(&mut stream, problem.num_costs());
        assert_nearest(&cone, &arbitrary, &format!("case {case}"));
        let within: Vec<f64> = cone
            .project(&arbitrary)
            .iter()
            .map(|entry| -entry)
            .collect();
        let min = if case % 2 == 0 {
            problem
                .sensitivity()
                .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
                .unwrap()
                .relax(&within)
                .unwrap()
                .objective
        } else {
            problem
                .solver(&SearchLimits::default())
                .solve(&within)
                .unwrap()
                .objective
        };
        assert!(
            (solution.decision.dot(&within) - min).abs() < 1e-7,
            "case {case}"
        );
        let rows = (0..cone.num_rows()).filter(|row| !cone.normal(*row).1);
        let depot = |row: &usize| cone.normal(*row).0.any(|(edge, _)| edge == 0);
        let (depot_rows, set_rows): (Vec<usize>, Vec<usize>) = rows.partition(depot);
        num_depot_rows += depot_rows.len();
        num_with_set_rows += usize::from(set_rows.len() > 2);
    }
    assert!(
        num_depot_rows > 5,
        "only {num_depot_rows} routes used all vehicles"
    );
    assert!(
        num_with_set_rows > 10,
        "only {num_with_set_rows} sets of routes had several binding capacity rows"
    );
}

#[cfg(feature = "highs")]
#[test]
fn linear_problems_have_the_cone_of_their_relaxed_optimum() {
    let mut num_rows = 0;
    for case in 0..120 {
        let mut stream = stream(24, case);
        let problem = super::linear(&mut stream, case, 6);
        let costs = costs(&mut stream, &problem, case);
        if super::is_unbounded(&problem, &costs) {
            continue;
        }
        let mut relaxation_solver = problem
            .capabilities()
            .sensitivity
            .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
            .unwrap();
        let cone = problem
            .capabilities()
            .geometry
            .cone(&relaxation_solver.relax(&costs).unwrap().decision)
            .unwrap();
        let negated: Vec<f64> = costs.iter().map(|cost| -cost).collect();
        assert_close(
            &cone.project(&negated),
            &negated,
            1e-9,
            &format!("case {case}"),
        );
        assert_nearest(&cone, &vector(&mut stream, 6), &format!("case {case}"));
        num_rows += cone.num_rows();
    }
    assert!(num_rows > 50);
}

#[cfg(feature = "highs")]
#[test]
fn linear_problems_with_auxiliary_columns_have_no_cone() {
    use regretless::problem::{LinearBuilder, Sense, VariableDomain};
    let mut build = LinearBuilder::new("shops", Sense::Minimize);
    build.predicted("a", VariableDomain::Binary);
    build.auxiliary("b", VariableDomain::Binary, 3.0);
    assert_eq!(
        build
            .build()
            .unwrap()
            .capabilities()
            .geometry
            .cone(&Decision::default()),
        None
    );
}
