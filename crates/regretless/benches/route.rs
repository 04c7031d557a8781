//! Times of exact vehicle routes on the paper's synthetic data.
//!
//! `cargo bench -p regretless --bench route`, or with names such as `CVRP20` behind `--`. Costs are of two
//! kinds: true, and predicted by ordinary least squares. Times are those a thread worked, not waited.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]
#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::sync::LazyLock;
use std::time::Instant;

use regretless::data::Dataset;
use regretless::data::synthetic::Recipe;
use regretless::problem::{Benchmark, Problem};
use regretless::solve::{Limits, Status};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (nodes, instances) in [(20, 40), (30, 20), (40, 15)] {
        if wanted.is_empty() || wanted.contains(&format!("CVRP{nodes}")) {
            measure(nodes, instances);
        }
    }
}

fn measure(nodes: usize, instances: usize) {
    let (spec, data) = Benchmark::Routes { nodes }.generate(Recipe::paper(100, 135)).unwrap();
    let problem = spec.build().unwrap();
    for (kind, rows) in [("c", wide(&data)), ("h", least_squares(&data))] {
        report(problem.as_ref(), kind, &rows[..instances]);
    }
}

fn report(problem: &dyn Problem, kind: &str, rows: &[Vec<f64>]) {
    let mut solver = problem.solver(&Limits::default());
    let mut first = problem.solver(&Limits { nodes: 0, gap: 0.0 });
    let (mut unproven, mut total, mut excess) = (0, 0.0, 0.0);
    let mut times = Vec::new();
    for costs in rows {
        let begin = worked();
        let solution = solver.solve(costs).unwrap();
        times.push((worked() - begin) * 1e3);
        unproven += usize::from(solution.status != Status::Optimal);
        total += solution.objective;
        excess += first.solve(costs).unwrap().objective - solution.objective;
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{} {kind}: median {:.1} ms  mean {:.1}  max {:.1}  unproven {unproven}  mean cost {:.4}  start {:.3} % above",
        problem.name(),
        times[times.len() / 2],
        times.iter().sum::<f64>() / times.len() as f64,
        times[times.len() - 1],
        total / rows.len() as f64,
        100.0 * excess / total.abs(),
    );
}

/// Seconds that this thread has worked, where the system tells; else seconds that have passed.
fn worked() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

fn wide(data: &Dataset) -> Vec<Vec<f64>> {
    (0..data.len()).map(|row| data.costs().row(row).iter().map(|cost| f64::from(*cost)).collect()).collect()
}

/// Predictions of the least-squares fit with an intercept, by the normal equations.
fn least_squares(data: &Dataset) -> Vec<Vec<f64>> {
    let features: Vec<Vec<f64>> = (0..data.len())
        .map(|row| std::iter::once(1.0).chain(data.features().of(row).iter().map(|x| f64::from(*x))).collect())
        .collect();
    let (size, costs) = (features[0].len(), data.costs().cols());
    let mut system = vec![vec![0.0; size + costs]; size];
    for (row, x) in features.iter().enumerate() {
        for i in 0..size {
            (0..size).for_each(|j| system[i][j] += x[i] * x[j]);
            (0..costs).for_each(|j| system[i][size + j] += x[i] * f64::from(data.costs().row(row)[j]));
        }
    }
    for pivot in 0..size {
        let row = system[pivot].clone();
        for (other, target) in system.iter_mut().enumerate() {
            if other != pivot {
                let factor = target[pivot] / row[pivot];
                target.iter_mut().zip(&row).for_each(|(t, r)| *t -= factor * r);
            }
        }
    }
    let weight = |i: usize, j: usize| system[i][size + j] / system[i][i];
    let predict = |x: &Vec<f64>| (0..costs).map(|j| (0..size).map(|i| x[i] * weight(i, j)).sum()).collect();
    features.iter().map(predict).collect()
}
