//! Savings of warm starts: cold solves, warm solves and certificates side by side, one thread.
//!
//! `cargo bench -p regretless --bench warm_start`, optionally with names of lines after `--`. Costs
//! are 2·m − c, m the mean of the table, as in the solver calls of SPO+ at the start of training;
//! they then drift: each cost is multiplied by 1 + δ·ξ, ξ standard normal. Every time is the
//! minimum of several runs, since other processes only add time; lines show the mean over
//! instances.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]
#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

#[path = "measure/random.rs"]
#[allow(dead_code, reason = "each benchmark uses its own part")]
mod random;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use random::SplitMix64;
use regretless::data::SyntheticSpec;
use regretless::problem::{Benchmark, ProblemKind};
#[cfg(feature = "highs")]
use regretless::problem::{LinearBuilder, LinearProblem, ProblemSpec, Sense, VariableDomain};
use regretless::solve::relaxation::{Relaxation, RelaxationSolver};
use regretless::solve::warm_start::WarmStart;
use regretless::solve::{SearchLimits, Solution, SolveFailure, Solver};

const DRIFTS: [f64; 4] = [0.002, 0.02, 0.1, 0.3];

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    println!("| problem | drift | cold | warm | × | certified | check | other decisions |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, instances) in [
        ("TSP20", 300),
        ("TSP50", 60),
        ("TSP100", 20),
        ("KS32", 300),
        ("KS500", 12),
    ] {
        if chosen(name) {
            let (problem, costs) = costs(name, instances);
            measure(name, &costs, || {
                AnySolver::Exact(problem.solver(&SearchLimits::default()))
            });
        }
    }
    for (name, instances, kind) in [
        ("TSP20", 100, Relaxation::Tight),
        ("TSP100", 30, Relaxation::Tight),
        ("TSP100", 30, Relaxation::Plain),
        ("TSP1000", 3, Relaxation::Tight),
    ] {
        let label = format!(
            "{name} {}",
            if kind == Relaxation::Tight {
                "relax tight"
            } else {
                "relax"
            }
        );
        if chosen(&label) {
            let (problem, costs) = costs(name, instances);
            measure(&label, &costs, || {
                AnySolver::Relaxed(
                    problem
                        .sensitivity()
                        .relaxation_solver(kind, &SearchLimits::default())
                        .unwrap(),
                )
            });
        }
    }
    #[cfg(feature = "highs")]
    linear(&chosen);
}

/// Grid paths and knapsacks as linear models, solved by HiGHS.
#[cfg(feature = "highs")]
fn linear(chosen: &dyn Fn(&str) -> bool) {
    for (name, side, instances) in [("SP5x5", 5, 100), ("SP50x50", 50, 5)] {
        let label = format!("{name} as LP");
        if chosen(&label) {
            let (_, costs) = costs(name, instances);
            let problem = grid_flow(&label, side);
            measure(&label, &costs, || {
                AnySolver::Exact(problem.solver(&SearchLimits::default()))
            });
        }
    }
    if chosen("KS32 as MIP") {
        let (_, costs) = costs("KS32", 40);
        let problem = integer_knapsack("KS32");
        measure("KS32 as MIP", &costs, || {
            AnySolver::Exact(problem.solver(&SearchLimits::default()))
        });
    }
}

/// Paths through a square grid as a linear program: one unit flows from the first node to the last.
/// Arcs are numbered as in the grid problem: in each row of nodes first those along the row, then
/// those to the next row.
#[cfg(feature = "highs")]
fn grid_flow(name: &str, side: usize) -> LinearProblem {
    let mut build = LinearBuilder::new(name, Sense::Minimize);
    let mut balances = vec![Vec::new(); side * side];
    let mut add_arc = |build: &mut LinearBuilder, tail: usize, head: usize| {
        let domain = VariableDomain::Continuous([0.0, 1.0]);
        let arc = build.predicted(format!("arc{tail}to{head}"), domain);
        balances[tail].push((arc, 1.0));
        balances[head].push((arc, -1.0));
    };
    for row in 0..side {
        for node in row * side..(row + 1) * side - 1 {
            add_arc(&mut build, node, node + 1);
        }
        if row + 1 < side {
            for node in row * side..(row + 1) * side {
                add_arc(&mut build, node, node + side);
            }
        }
    }
    for (node, balance) in balances.into_iter().enumerate() {
        let supply = f64::from(u8::from(node == 0)) - f64::from(u8::from(node == side * side - 1));
        build.row([supply, supply], balance);
    }
    build.build().unwrap()
}

/// A knapsack as a mixed-integer program.
#[cfg(feature = "highs")]
fn integer_knapsack(name: &str) -> LinearProblem {
    let (spec, _) = name
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(1, 135))
        .unwrap();
    let ProblemSpec::Knapsack(items) = spec else {
        panic!("{name} is no knapsack")
    };
    let mut build = LinearBuilder::new(name, Sense::Minimize);
    for item in 0..items.num_costs() {
        build.predicted(format!("x{item}"), VariableDomain::Binary);
    }
    for (weights, capacity) in items.weights().iter().zip(items.capacity()) {
        build.row(
            [f64::NEG_INFINITY, *capacity],
            weights.iter().copied().enumerate(),
        );
    }
    build.build().unwrap()
}

/// A solver of either kind.
enum AnySolver {
    Exact(Box<dyn Solver>),
    Relaxed(Box<dyn RelaxationSolver>),
}

impl AnySolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        match self {
            Self::Exact(solver) => solver.solve(costs),
            Self::Relaxed(relaxation_solver) => relaxation_solver.relax(costs),
        }
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        match self {
            Self::Exact(solver) => solver.solve_warm(costs, warm_start),
            Self::Relaxed(relaxation_solver) => relaxation_solver.relax_warm(costs, warm_start),
        }
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        match self {
            Self::Exact(solver) => solver.certify(costs, warm_start),
            Self::Relaxed(relaxation_solver) => relaxation_solver.certify(costs, warm_start),
        }
    }
}

/// Costs of solver calls of SPO+, to be minimized.
fn costs(name: &str, instances: usize) -> (Arc<dyn ProblemKind>, Vec<Vec<f64>>) {
    let (spec, data) = name
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(instances.max(20), 135))
        .unwrap();
    let problem = spec.build().unwrap();
    let sense = problem.sense();
    let rows: Vec<Vec<f64>> = (0..data.len())
        .map(|row| {
            data.costs()
                .row(row)
                .iter()
                .map(|cost| sense.convert(f64::from(*cost)))
                .collect()
        })
        .collect();
    let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64;
    let means: Vec<f64> = (0..problem.num_costs()).map(mean).collect();
    let call_costs = |row: &Vec<f64>| {
        row.iter()
            .zip(&means)
            .map(|(cost, mean)| 2.0 * mean - cost)
            .collect()
    };
    (
        problem,
        rows.iter().take(instances).map(call_costs).collect(),
    )
}

fn drifted(costs: &[f64], drift: f64, row: usize) -> Vec<f64> {
    let mut stream = SplitMix64::new(((row as u64) << 32) + (drift * 1e4) as u64);
    costs
        .iter()
        .map(|cost| cost * (1.0 + drift * stream.normal()))
        .collect()
}

/// Runs a closure a few times and keeps the minimum time.
fn least<X>(runs: usize, mut run: impl FnMut() -> (f64, X)) -> (f64, X) {
    let first = run();
    (1..runs).map(|_| run()).fold(
        first,
        |best, next| if next.0 < best.0 { next } else { best },
    )
}

fn timed<X>(work: impl FnOnce() -> X) -> (f64, X) {
    let started = Instant::now();
    let found = black_box(work());
    (started.elapsed().as_secs_f64() * 1e6, found)
}

fn measure(name: &str, rows: &[Vec<f64>], solver: impl Fn() -> AnySolver) {
    let mut solver = solver();
    for drift in DRIFTS {
        let (mut cold, mut warm, mut certified, mut certify_time, mut other) =
            (0.0, 0.0, 0, 0.0, 0);
        for (row, costs) in rows.iter().enumerate() {
            let moved = drifted(costs, drift, row);
            let (time, fresh) = least(3, || timed(|| solver.solve(&moved).unwrap()));
            cold += time;
            let runs = if time > 1e5 { 1 } else { 3 };
            let mut warm_start = WarmStart::new(true);
            let (time, again) = least(runs, || {
                warm_start = WarmStart::new(false);
                solver.solve_warm(costs, &mut warm_start).unwrap();
                timed(|| solver.solve_warm(&moved, &mut warm_start).unwrap())
            });
            warm += time;
            let size = fresh.objective.abs().max(1.0);
            assert!(
                (again.objective - fresh.objective).abs() <= 1e-7 * size,
                "{name} {row}: {fresh:?} {again:?}"
            );
            other += u32::from(again.decision != fresh.decision);
            warm_start = WarmStart::new(true);
            solver.solve_warm(costs, &mut warm_start).unwrap();
            let (time, proof) = least(3, || timed(|| solver.certify(&moved, &warm_start)));
            certify_time += time;
            certified += u32::from(proof.is_some());
            if let Some(proof) = proof {
                assert!(
                    (proof.objective - fresh.objective).abs() <= 1e-7 * size,
                    "{name} {row}: {fresh:?} {proof:?}"
                );
            }
        }
        let count = rows.len() as f64;
        let share = 100.0 * f64::from(certified) / count;
        let (cold, warm, certify_time) = (cold / count, warm / count, certify_time / count);
        let ratio = cold / warm;
        println!(
            "| {name} | {} % | {cold:.1} | {warm:.1} | {ratio:.1} | {share:.1} % | \
             {certify_time:.2} | {other} |",
            100.0 * drift
        );
    }
}
