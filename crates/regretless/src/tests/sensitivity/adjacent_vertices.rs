//! Adjacent vertices: exactly those that enumeration finds.
//!
//! Two vertices of a polytope in n dimensions are adjacent if the constraints that bind at both
//! have rank n − 1.

use std::collections::BTreeSet;

use super::{choice, costs, grid, knapsack, stream};
use regretless::Decision;
use regretless::problem::ProblemKind;
use regretless::random::RandomStream;
use regretless::solve::relaxation::VertexDelta;
use regretless::solve::{SearchLimits, Solution};

/// Rows `a·x ≤ b` of a polytope, bounds and both sides of equations included.
#[derive(Default)]
struct Polytope(Vec<(Vec<f64>, f64)>);

/// Slack up to which a row binds.
const BINDING_TOLERANCE: f64 = 1e-7;
/// Smaller pivots count as zero in Gaussian elimination.
const PIVOT_TOLERANCE: f64 = 1e-9;

impl Polytope {
    fn cube(bounds: &[[f64; 2]]) -> Self {
        let mut rows = Self::default();
        for (j, bound) in bounds.iter().enumerate() {
            let mut unit = vec![0.0; bounds.len()];
            unit[j] = 1.0;
            rows.row(*bound, &unit);
        }
        rows
    }

    fn row(&mut self, [lower, upper]: [f64; 2], entries: &[f64]) {
        if upper.is_finite() {
            self.0.push((entries.to_vec(), upper));
        }
        if lower.is_finite() {
            self.0
                .push((entries.iter().map(|entry| -entry).collect(), -lower));
        }
    }

    fn slack(&self, row: usize, point: &[f64]) -> f64 {
        let (entries, bound) = &self.0[row];
        bound - entries.iter().zip(point).map(|(a, x)| a * x).sum::<f64>()
    }

    fn binding(&self, point: &[f64]) -> Vec<usize> {
        (0..self.0.len())
            .filter(|row| self.slack(*row, point).abs() < BINDING_TOLERANCE)
            .collect()
    }

    fn rank(&self, rows: &[usize]) -> usize {
        rank(rows.iter().map(|row| self.0[*row].0.clone()).collect())
    }

    fn holds(&self, point: &[f64]) -> bool {
        (0..self.0.len()).all(|row| self.slack(row, point) > -BINDING_TOLERANCE)
    }

    fn is_vertex(&self, point: &[f64]) -> bool {
        self.holds(point) && self.rank(&self.binding(point)) == point.len()
    }

    fn are_adjacent(&self, a: &[f64], b: &[f64]) -> bool {
        let common_rows: Vec<usize> = self
            .binding(a)
            .into_iter()
            .filter(|row| self.slack(*row, b).abs() < BINDING_TOLERANCE)
            .collect();
        self.rank(&common_rows) + 1 == a.len()
    }

    /// All vertices, from every set of rows that intersect in one point.
    fn vertices(&self, count: usize) -> Vec<Vec<f64>> {
        let mut vertices = Vec::new();
        let mut seen = BTreeSet::new();
        for_each_subset(self.0.len(), count, &mut |rows| {
            let system = rows
                .iter()
                .map(|row| (self.0[*row].0.clone(), self.0[*row].1))
                .collect();
            let is_new = |point: &Vec<f64>| {
                seen.insert(
                    point
                        .iter()
                        .map(|x| (x * 1e6).round() as i64)
                        .collect::<Vec<_>>(),
                )
            };
            vertices.extend(
                intersect(system)
                    .filter(|point| self.holds(point))
                    .filter(is_new),
            );
        });
        vertices
    }
}

/// Calls `visit` with every subset of `count` of the numbers below `total`.
fn for_each_subset(total: usize, count: usize, visit: &mut dyn FnMut(&[usize])) {
    fn extend(
        from: usize,
        total: usize,
        chosen: &mut Vec<usize>,
        count: usize,
        visit: &mut dyn FnMut(&[usize]),
    ) {
        if chosen.len() == count {
            return visit(chosen);
        }
        for next in from..total {
            chosen.push(next);
            extend(next + 1, total, chosen, count, visit);
            chosen.pop();
        }
    }
    extend(0, total, &mut Vec::new(), count, visit);
}

fn rank(mut rows: Vec<Vec<f64>>) -> usize {
    let (mut rank, width) = (0, rows.first().map_or(0, Vec::len));
    for column in 0..width {
        let pivot_row = (rank..rows.len())
            .max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()));
        let Some(pivot_row) = pivot_row.filter(|row| rows[*row][column].abs() > PIVOT_TOLERANCE)
        else {
            continue;
        };
        rows.swap(rank, pivot_row);
        let pivot = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[column] / pivot[column];
            row.iter_mut()
                .zip(&pivot)
                .for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
        rank += 1;
    }
    rank
}

/// The unique solution of a square system, if there is one.
fn intersect(mut system: Vec<(Vec<f64>, f64)>) -> Option<Vec<f64>> {
    for column in 0..system.len() {
        let size = |row: &usize| system[*row].0[column].abs();
        let pivot_row = (column..system.len()).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if size(&pivot_row) < PIVOT_TOLERANCE {
            return None;
        }
        system.swap(column, pivot_row);
        let (pivot, pivot_bound) = system[column].clone();
        for (index, (row, bound)) in system.iter_mut().enumerate() {
            let factor = row[column] / pivot[column];
            if index != column {
                row.iter_mut()
                    .zip(&pivot)
                    .for_each(|(entry, pivot)| *entry -= factor * pivot);
                *bound -= factor * pivot_bound;
            }
        }
    }
    Some(
        system
            .iter()
            .enumerate()
            .map(|(column, (row, bound))| bound / row[column])
            .collect(),
    )
}

fn dense(decision: &Decision, count: usize) -> Vec<f64> {
    let mut out = vec![0.0; count];
    decision.write_dense(&mut out);
    out
}

/// The relaxed optimum and the differences of its adjacent vertices.
fn adjacent_vertices(problem: &dyn ProblemKind, costs: &[f64]) -> (Solution, Vec<VertexDelta>) {
    let sensitivity = problem.sensitivity();
    let mut solver = sensitivity
        .adjacent_vertices(&SearchLimits::default())
        .unwrap();
    solver.adjacent_vertices(costs).unwrap()
}

/// The relaxed optimum and its adjacent vertices as dense vectors.
fn adjacent(problem: &dyn ProblemKind, costs: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut solver = problem
        .sensitivity()
        .adjacent_vertices(&SearchLimits::default())
        .unwrap();
    let (solution, deltas) = solver.adjacent_vertices(costs).unwrap();
    assert_eq!(
        solver.adjacent_vertices(costs).unwrap(),
        (solution.clone(), deltas.clone()),
        "the result changed"
    );
    let optimum = dense(&solution.decision, costs.len());
    let add = |delta: &Decision| {
        let mut vertex = optimum.clone();
        delta.add_to(1.0, &mut vertex);
        vertex
    };
    let all = deltas.iter().map(add).collect();
    (optimum, all)
}

/// Checks feasibility, adjacency, distinctness, and that no adjacent vertex is better.
fn check(
    problem: &dyn ProblemKind,
    polytope: &Polytope,
    costs: &[f64],
    context: &str,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (optimum, adjacent_points) = adjacent(problem, costs);
    let cost = |point: &[f64]| point.iter().zip(costs).map(|(x, c)| x * c).sum::<f64>();
    assert!(
        polytope.is_vertex(&optimum),
        "{context}: the optimum is not a vertex"
    );
    for (number, vertex) in adjacent_points.iter().enumerate() {
        assert!(
            polytope.is_vertex(vertex),
            "{context}: adjacent vertex {number} is not a vertex: {vertex:?}"
        );
        assert!(
            polytope.are_adjacent(&optimum, vertex),
            "{context}: adjacent vertex {number} is not adjacent"
        );
        assert!(
            cost(vertex) >= cost(&optimum) - 1e-7,
            "{context}: adjacent vertex {number} is better"
        );
    }
    let round = |point: &Vec<f64>| {
        point
            .iter()
            .map(|x| (x * 1e6).round() as i64)
            .collect::<Vec<_>>()
    };
    let distinct: BTreeSet<Vec<i64>> = adjacent_points.iter().map(round).collect();
    assert_eq!(
        distinct.len(),
        adjacent_points.len(),
        "{context}: an adjacent vertex is listed twice"
    );
    (optimum, adjacent_points)
}

/// Compares with all vertices. Under other costs, if another vertex is optimal, some adjacent
/// vertex must be better.
fn compare(
    problem: &dyn ProblemKind,
    polytope: &Polytope,
    vertices: &[Vec<f64>],
    stream: &mut RandomStream,
    case: u64,
) {
    let costs = costs(stream, problem, case);
    let context = format!("case {case}");
    let (optimum, adjacent_points) = check(problem, polytope, &costs, &context);
    let adjacent = vertices
        .iter()
        .filter(|vertex| polytope.are_adjacent(&optimum, vertex))
        .count();
    assert_eq!(adjacent_points.len(), adjacent, "{context}: {optimum:?}");
    for _ in 0..5 {
        let other = super::costs(stream, problem, 0);
        let cost = |point: &[f64]| point.iter().zip(&other).map(|(x, c)| x * c).sum::<f64>();
        let min = vertices
            .iter()
            .map(|vertex| cost(vertex))
            .fold(f64::INFINITY, f64::min);
        let improves = adjacent_points
            .iter()
            .any(|vertex| cost(vertex) < cost(&optimum) - 1e-9);
        if super::is_unbounded(problem, &other) {
            continue;
        }
        assert_eq!(
            improves,
            min < cost(&optimum) - 1e-9,
            "{context}: a vertex is optimal if and only if no adjacent vertex is better"
        );
    }
}

/// All feasible binary points of a problem.
fn choices(problem: &dyn ProblemKind) -> Vec<Vec<f64>> {
    let subsets = (0_u32..1 << problem.num_costs()).map(|bits| {
        Decision::from_indices((0..problem.num_costs() as u32).filter(|j| bits >> j & 1 == 1))
    });
    let feasible = subsets.filter(|decision| problem.check(decision).is_ok());
    feasible
        .map(|decision| dense(&decision, problem.num_costs()))
        .collect()
}

#[test]
fn adjacent_vertices_of_paths_are_complete() {
    for case in 0..150 {
        let mut stream = stream(11, case);
        let problem = grid(&mut stream, 4);
        let (rows, cols) = (problem.rows(), problem.cols());
        if problem.num_costs() > 17 {
            continue;
        }
        let mut polytope = Polytope::cube(&vec![[0.0, 1.0]; problem.num_costs()]);
        for (node, balance) in regretless::solve::grid_path::flow::balances(rows, cols)
            .into_iter()
            .enumerate()
        {
            let mut row = vec![0.0; problem.num_costs()];
            balance
                .into_iter()
                .for_each(|(arc, entry)| row[arc] = entry);
            let supply =
                f64::from(u8::from(node == 0)) - f64::from(u8::from(node == rows * cols - 1));
            polytope.row([supply, supply], &row);
        }
        compare(&problem, &polytope, &choices(&problem), &mut stream, case);
    }
}

#[test]
fn adjacent_vertices_of_top_k_problems_are_complete() {
    for case in 0..300 {
        let mut stream = stream(12, case);
        let problem = choice(&mut stream, 7);
        let mut polytope = Polytope::cube(&vec![[0.0, 1.0]; problem.items()]);
        let min = if problem.allows_fewer() {
            0.0
        } else {
            problem.k() as f64
        };
        polytope.row([min, problem.k() as f64], &vec![1.0; problem.items()]);
        compare(&problem, &polytope, &choices(&problem), &mut stream, case);
    }
}

#[test]
fn adjacent_vertices_of_knapsacks_are_complete() {
    for case in 0..400 {
        let mut stream = stream(13, case);
        let problem = knapsack(&mut stream, case, 6);
        let mut polytope = Polytope::cube(&vec![[0.0, 1.0]; problem.num_costs()]);
        for (weights, capacity) in problem.weights().iter().zip(problem.capacity()) {
            polytope.row([f64::NEG_INFINITY, *capacity], weights);
        }
        let vertices = polytope.vertices(problem.num_costs());
        compare(&problem, &polytope, &vertices, &mut stream, case);
    }
}

#[test]
fn adjacent_vertices_of_large_knapsacks_differ_in_few_entries() {
    let mut stream = stream(14, 0);
    let weights: Vec<Vec<f64>> = (0..4)
        .map(|_| (0..300).map(|_| stream.uniform(3.0, 8.0)).collect())
        .collect();
    let problem = regretless::problem::Knapsack::with_capacity_fraction(weights, 0.1).unwrap();
    let costs: Vec<f64> = (0..300).map(|_| stream.uniform(-5.0, -1.0)).collect();
    let (_, deltas) = adjacent_vertices(&problem, &costs);
    assert_eq!(deltas.len(), 300, "one per nonbasic variable");
    assert!(deltas.iter().all(|delta| delta.indices().len() <= 5));
}

#[test]
fn at_most_ten_thousand_adjacent_vertices_of_large_grids_are_listed() {
    let problem = regretless::problem::GridPath::new(14, 14).unwrap();
    let costs: Vec<f64> = (0..problem.num_costs())
        .map(|arc| (arc as f64).sin())
        .collect();
    let (solution, deltas) = adjacent_vertices(&problem, &costs);
    assert_eq!(deltas.len(), 10_000);
    let path = dense(&solution.decision, costs.len());
    for delta in &deltas {
        let mut other = path.clone();
        delta.add_to(1.0, &mut other);
        problem.check(&Decision::from_dense(&other)).unwrap();
        assert!(delta.dot(&costs) >= -1e-12);
    }
}

#[cfg(feature = "highs")]
mod linear {
    use super::{Polytope, adjacent_vertices, check, compare, costs, stream};
    use crate::tests::sensitivity::{is_unbounded, linear};
    use regretless::problem::{LinearBuilder, LinearProblem, Sense, VariableDomain};

    fn polytope(problem: &LinearProblem) -> Polytope {
        let model = problem.model();
        let mut polytope = Polytope::cube(&model.column_bounds);
        for (row, bounds) in model.row_bounds.iter().enumerate() {
            let mut entries = vec![0.0; model.cost.len()];
            model
                .rows
                .entries(row)
                .for_each(|(column, entry)| entries[column] = entry);
            polytope.row(*bounds, &entries);
        }
        polytope
    }

    #[test]
    fn adjacent_vertices_of_linear_problems_are_complete() {
        for case in 0..250 {
            let mut stream = stream(15, case);
            let problem = linear(&mut stream, case, 4);
            let polytope = polytope(&problem);
            if case % 5 == 4 && is_unbounded(&problem, &costs(&mut stream.clone(), &problem, case))
            {
                continue;
            }
            compare(
                &problem,
                &polytope,
                &polytope.vertices(4),
                &mut stream,
                case,
            );
        }
    }

    #[test]
    fn adjacent_vertices_of_degenerate_paths_by_the_simplex_method_are_complete() {
        let grid = regretless::problem::GridPath::new(3, 3).unwrap();
        let mut build = LinearBuilder::new("grid", Sense::Minimize);
        for arc in 0..12 {
            build.predicted(format!("a{arc}"), VariableDomain::Binary);
        }
        for (node, balance) in regretless::solve::grid_path::flow::balances(3, 3)
            .into_iter()
            .enumerate()
        {
            let supply = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0][node];
            build.row([supply, supply], balance);
        }
        let problem = build.build().unwrap();
        let polytope = polytope(&problem);
        for case in 0..40 {
            let mut stream = stream(16, case);
            let costs = costs(&mut stream, &problem, 0);
            let adjacent_points = check(&problem, &polytope, &costs, &format!("case {case}")).1;
            let (_, detours) = adjacent_vertices(&grid, &costs);
            assert_eq!(adjacent_points.len(), detours.len(), "case {case}");
        }
    }

    /// One unit is bought in a shop with a predicted price or in one with a known price.
    #[test]
    fn the_cost_of_auxiliary_columns_is_part_of_the_difference() {
        let mut build = LinearBuilder::new("shops", Sense::Minimize);
        let a = build.predicted("a", VariableDomain::Continuous([0.0, 1.0]));
        let b = build.auxiliary("b", VariableDomain::Continuous([0.0, 1.0]), 3.0);
        build.row([1.0, 1.0], [(a, 1.0), (b, 1.0)]);
        let problem = build.build().unwrap();
        let (solution, deltas) = adjacent_vertices(&problem, &[2.0]);
        assert_eq!((solution.objective, deltas.len()), (2.0, 1));
        assert_eq!(
            (deltas[0].value(0), deltas[0].fixed(), deltas[0].dot(&[2.0])),
            (-1.0, 3.0, 1.0)
        );
    }
}
