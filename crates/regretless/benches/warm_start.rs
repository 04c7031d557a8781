//! What memories save: solves from nothing, warm solves and certificates side by side, one thread.
//!
//! `cargo bench -p regretless --bench warm`, or with names of lines to be measured behind `--`.
//! Costs are 2·m − c, m the mean of the table, as SPO+ asks for at the start of training; they then
//! drift: each cost is multiplied by 1 + δ·ξ, ξ standard normal. Every time is the least of several
//! runs, since neighbours on the machine only add; lines show the mean over instances.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]
#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use regretless::data::synthetic::SyntheticSpec;
use regretless::problem::{Benchmark, ProblemKind};
#[cfg(feature = "highs")]
use regretless::problem::{LinearBuilder, LinearProblem, ProblemSpec, Sense, VariableDomain};
use regretless::random::{Purpose, RandomStream};
#[cfg(feature = "highs")]
use regretless::solve::linear::LinearSolver;
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
    println!(
        "{:22} {:>6} {:>11} {:>11} {:>6} {:>9} {:>11} {:>6}",
        "", "drift", "cold µs", "warm µs", "ratio", "certified", "question µs", "other"
    );
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
                Asked::Exact(problem.solver(&SearchLimits::default()))
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
                Asked::Relaxed(
                    problem
                        .relaxation_solver(kind, &SearchLimits::default())
                        .unwrap(),
                )
            });
        }
    }
    #[cfg(feature = "highs")]
    linear(&chosen);
}

/// Grid paths and knapsacks as any linear model, by HiGHS.
#[cfg(feature = "highs")]
fn linear(chosen: &dyn Fn(&str) -> bool) {
    for (name, side, instances) in [("SP5x5", 5, 100), ("SP50x50", 50, 5)] {
        let label = format!("{name} as LP");
        if chosen(&label) {
            let (problem, costs) = costs(name, instances);
            let model = Arc::new(regretless::solve::grid_path::flow::model(side, side));
            let all: Arc<[usize]> = (0..problem.num_costs()).collect();
            let search = || LinearSolver::new(model.clone(), all.clone(), SearchLimits::default());
            measure(&label, &costs, || Asked::Exact(Box::new(search())));
        }
    }
    if chosen("KS32 as MIP") {
        let (_, costs) = costs("KS32", 40);
        let problem = whole("KS32");
        measure("KS32 as MIP", &costs, || {
            Asked::Exact(problem.solver(&SearchLimits::default()))
        });
    }
}

/// A knapsack as a problem over whole numbers.
#[cfg(feature = "highs")]
fn whole(name: &str) -> LinearProblem {
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
    for (weights, capacity) in items.weights.iter().zip(&items.capacity) {
        build.row(
            [f64::NEG_INFINITY, *capacity],
            weights.iter().copied().enumerate(),
        );
    }
    build.build().unwrap()
}

/// An engine of either kind.
enum Asked {
    Exact(Box<dyn Solver>),
    Relaxed(Box<dyn RelaxationSolver>),
}

impl Asked {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        match self {
            Self::Exact(solver) => solver.solve(costs),
            Self::Relaxed(relaxer) => relaxer.relax(costs),
        }
    }

    fn solve_again(
        &mut self,
        costs: &[f64],
        memory: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        match self {
            Self::Exact(solver) => solver.solve_warm(costs, memory),
            Self::Relaxed(relaxer) => relaxer.relax_warm(costs, memory),
        }
    }

    fn certify(&mut self, costs: &[f64], memory: &WarmStart) -> Option<Solution> {
        match self {
            Self::Exact(solver) => solver.certify(costs, memory),
            Self::Relaxed(relaxer) => relaxer.certify(costs, memory),
        }
    }
}

/// Costs that SPO+ might ask about, to be minimised.
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
    let asked = |row: &Vec<f64>| {
        row.iter()
            .zip(&means)
            .map(|(cost, mean)| 2.0 * mean - cost)
            .collect()
    };
    (problem, rows.iter().take(instances).map(asked).collect())
}

fn drifted(costs: &[f64], drift: f64, row: usize) -> Vec<f64> {
    let mut stream = RandomStream::new(Purpose::Benchmark, 7, [row as u64, (drift * 1e4) as u64]);
    costs
        .iter()
        .map(|cost| cost * (1.0 + drift * stream.normal()))
        .collect()
}

/// Runs something a few times and keeps the least time.
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

fn measure(name: &str, rows: &[Vec<f64>], engine: impl Fn() -> Asked) {
    let mut engine = engine();
    for drift in DRIFTS {
        let (mut cold, mut warm, mut certified, mut question, mut other) = (0.0, 0.0, 0, 0.0, 0);
        for (row, costs) in rows.iter().enumerate() {
            let moved = drifted(costs, drift, row);
            let (time, fresh) = least(3, || timed(|| engine.solve(&moved).unwrap()));
            cold += time;
            let runs = if time > 1e5 { 1 } else { 3 };
            let mut memory = WarmStart::new(true);
            let (time, again) = least(runs, || {
                memory = WarmStart::new(false);
                engine.solve_again(costs, &mut memory).unwrap();
                timed(|| engine.solve_again(&moved, &mut memory).unwrap())
            });
            warm += time;
            let size = fresh.objective.abs().max(1.0);
            assert!(
                (again.objective - fresh.objective).abs() <= 1e-7 * size,
                "{name} {row}: {fresh:?} {again:?}"
            );
            other += u32::from(again.decision != fresh.decision);
            memory = WarmStart::new(true);
            engine.solve_again(costs, &mut memory).unwrap();
            let (time, proof) = least(3, || timed(|| engine.certify(&moved, &memory)));
            question += time;
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
        let (cold, warm, question) = (cold / count, warm / count, question / count);
        let ratio = cold / warm;
        println!(
            "{name:22} {:>5}% {cold:11.1} {warm:11.1} {ratio:6.1} {share:8.1}% {question:11.2} \
                {other:6}",
            100.0 * drift
        );
    }
}
