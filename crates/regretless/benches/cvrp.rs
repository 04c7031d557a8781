//! Solve times of branch and cut for the CVRP on the paper's synthetic data.
//!
//! `cargo bench -p regretless --bench cvrp`, with instance names such as `CVRP20` after `--` to
//! select some. Costs are of two kinds: true, and predicted by ordinary least squares. Times are
//! CPU times of the thread.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]
#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

mod measure;

use measure::{median, timed, wanted};
use regretless::problem::{Benchmark, ProblemKind};
use regretless::solve::{SearchLimits, SolveStatus};

fn main() {
    for (nodes, instances) in [(20, 40), (30, 20), (40, 15)] {
        if wanted(&format!("CVRP{nodes}")) {
            let (spec, kinds) = measure::kinds(Benchmark::Cvrp { nodes }, instances);
            let problem = spec.build().unwrap();
            // The third kind takes about as long as the second.
            for (kind, rows) in &kinds[..2] {
                report(problem.as_ref(), kind, rows);
            }
        }
    }
}

fn report(problem: &dyn ProblemKind, kind: &str, rows: &[Vec<f64>]) {
    let mut solver = problem.solver(&SearchLimits::default());
    let mut initial = problem.solver(&SearchLimits {
        nodes: 0,
        ..SearchLimits::default()
    });
    let (mut unproven, mut total, mut excess) = (0, 0.0, 0.0);
    let mut times = Vec::new();
    for costs in rows {
        let (time, solution) = timed(|| solver.solve(costs).unwrap());
        times.push(time);
        unproven += usize::from(solution.status != SolveStatus::Optimal);
        total += solution.objective;
        excess += initial.solve(costs).unwrap().objective - solution.objective;
    }
    let median = median(&mut times);
    println!(
        "{} {kind}: median {:.1} ms  mean {:.1}  max {:.1}  unproven {unproven}  mean cost {:.4}  \
            initial {:.3} % above",
        problem.name(),
        median,
        times.iter().sum::<f64>() / times.len() as f64,
        times[times.len() - 1],
        total / rows.len() as f64,
        100.0 * excess / total.abs(),
    );
}
