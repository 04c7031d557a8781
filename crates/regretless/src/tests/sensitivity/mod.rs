//! Sensitivity analysis of linear relaxations: cost ranges, adjacent vertices, normal cones, and
//! the oracle's solves of relaxations.

mod adjacent_vertices;
mod cones;
mod oracle;
mod ranges;

#[cfg(feature = "highs")]
use regretless::problem::{Cvrp, Tsp};
use regretless::problem::{GridPath, Knapsack, ProblemKind, Sense, TopK};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::relaxation::Relaxation;
use regretless::solve::{SearchLimits, SolveFailure};

/// An independent random stream for each case of a test.
fn stream(test: u64, case: u64) -> RandomStream {
    RandomStream::new(Purpose::Benchmark, 1000 + test, [case, 0])
}

fn grid(stream: &mut RandomStream, max: usize) -> GridPath {
    GridPath::new(1 + stream.index_below(max), 2 + stream.index_below(max - 1)).unwrap()
}

/// Choice of exactly or at most k items.
fn choice(stream: &mut RandomStream, max: usize) -> TopK {
    let items = 1 + stream.index_below(max);
    let problem = if stream.index_below(2) == 0 {
        TopK::at_most(items, stream.index_below(items + 1), Sense::Minimize)
    } else {
        TopK::new(items, stream.index_below(items + 1), Sense::Minimize)
    };
    problem.unwrap()
}

/// Knapsacks whose type depends on their number: general, decimal, integer and thus often
/// degenerate, without capacity.
fn knapsack(stream: &mut RandomStream, case: u64, max: usize) -> Knapsack {
    let (items, dimensions) = (1 + stream.index_below(max), 1 + stream.index_below(3));
    let mut weight = |_| match case % 4 {
        0 => stream.uniform(0.0, 10.0),
        1 => (stream.uniform(3.0, 8.0) * 10.0).round() / 10.0,
        _ => stream.index_below(4) as f64,
    };
    let weights: Vec<Vec<f64>> = (0..dimensions)
        .map(|_| (0..items).map(&mut weight).collect())
        .collect();
    let fraction = [0.5, 0.3, 0.25, 0.5][(case / 4 % 4) as usize];
    let problem = Knapsack::with_capacity_fraction(weights, fraction).unwrap();
    if case % 4 != 3 {
        return problem;
    }
    let mut capacity = problem.capacity().to_vec();
    capacity[0] = 0.0;
    Knapsack::new(problem.weights().to_vec(), capacity).unwrap()
}

/// Tours through 3 nodes or more.
#[cfg(feature = "highs")]
fn tour(stream: &mut RandomStream, max: usize) -> Box<dyn ProblemKind> {
    Box::new(Tsp::new(3 + stream.index_below(max - 2)).unwrap())
}

/// Routes of 4 nodes or more; every other problem allows routes with a single customer.
#[cfg(feature = "highs")]
fn routes(stream: &mut RandomStream, case: u64, max: usize) -> Box<dyn ProblemKind> {
    let demands: Vec<f64> = (0..3 + stream.index_below(max - 3))
        .map(|_| 1.0 + stream.index_below(5) as f64)
        .collect();
    let vehicles = 1 + stream.index_below(3);
    let (mean_load, largest) = (demands.iter().sum::<f64>() / vehicles as f64, 5.0);
    let capacity = (1.2 * mean_load).max(largest);
    Box::new(
        Cvrp::new(demands, capacity, vehicles)
            .unwrap()
            .with_single_customer_routes(case.is_multiple_of(2)),
    )
}

/// Costs that are real or, in every third case, integers with many ties.
fn costs(stream: &mut RandomStream, problem: &dyn ProblemKind, case: u64) -> Vec<f64> {
    let is_integer = case % 3 == 2;
    let cost = |_| {
        if is_integer {
            stream.index_below(9) as f64 - 6.0
        } else {
            stream.uniform(-6.0, 3.0)
        }
    };
    (0..problem.num_costs()).map(cost).collect()
}

/// Whether the problem is unbounded.
fn is_unbounded(problem: &dyn ProblemKind, costs: &[f64]) -> bool {
    let mut relaxation_solver = problem
        .sensitivity()
        .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
        .unwrap();
    relaxation_solver.relax(costs) == Err(SolveFailure::Unbounded)
}

/// A linear problem with bounded columns, rows of all kinds, and a feasible point. Every fifth
/// may be unbounded.
#[cfg(feature = "highs")]
fn linear(
    stream: &mut RandomStream,
    case: u64,
    columns: usize,
) -> regretless::problem::LinearProblem {
    use crate::tests::common::row_bounds;
    use regretless::problem::{LinearBuilder, VariableDomain};
    let mut build = LinearBuilder::new("random", Sense::Minimize);
    let mut point = Vec::new();
    for column in 0..columns {
        let (lower, upper) = (
            -(stream.index_below(3) as f64),
            stream.index_below(4) as f64,
        );
        point.push(stream.uniform(lower, upper).round());
        let has_no_upper_bound = column == 0 && case % 5 == 4;
        build.predicted(
            format!("x{column}"),
            VariableDomain::Continuous([
                lower,
                if has_no_upper_bound {
                    f64::INFINITY
                } else {
                    upper
                },
            ]),
        );
    }
    for _ in 0..stream.index_below(4) {
        let entries: Vec<(usize, f64)> = (0..columns)
            .map(|j| (j, stream.index_below(5) as f64 - 2.0))
            .collect();
        let activity: f64 = entries.iter().map(|(j, entry)| entry * point[*j]).sum();
        // A slack of 0 makes degenerate vertices.
        let slack = if case.is_multiple_of(2) {
            stream.index_below(3) as f64
        } else {
            stream.uniform(0.5, 4.0)
        };
        build.row(row_bounds(stream, activity, slack), entries);
    }
    build.build().unwrap()
}
