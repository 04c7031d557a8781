//! Time of SPO+ and PFYL per instance and step, and the fraction spent in the solver; one thread,
//! no validation.
//!
//! Measures CPU time of the thread where the operating system reports it, so other work on the
//! machine does not count; prints the best of several runs. The solver is also measured alone, on
//! the costs of the solver calls of the last step.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it fails"
)]

#[path = "measure/random.rs"]
#[allow(dead_code, reason = "each benchmark uses its own part")]
mod random;

use std::time::Instant;

use random::SplitMix64;
use regretless::data::SyntheticSpec;
use regretless::data::{Matrix, SplitIndices};
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::predict::PredictorSpec;
use regretless::problem::{Benchmark, ProblemKind, ProblemSpec};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::solve::SearchLimits;
use regretless::train::TrainingContext;
use regretless::trainer::Trainer;

const RUNS: usize = 7;
/// Shortest run in seconds: the operating system counts in ticks.
const MIN_RUN_SECONDS: f64 = 0.1;

/// CPU seconds of this thread, or wall-clock seconds where they are unknown.
fn seconds(work: impl FnOnce()) -> f64 {
    let spent = || -> Option<f64> {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(stat.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
    };
    let (before, started) = (spent(), Instant::now());
    work();
    before.zip(spent()).map_or_else(
        || started.elapsed().as_secs_f64(),
        |(before, after)| after - before,
    )
}

/// The best of several runs, in seconds per call of `work`.
fn best(mut work: impl FnMut()) -> f64 {
    let started = Instant::now();
    work();
    let times = (MIN_RUN_SECONDS / started.elapsed().as_secs_f64())
        .ceil()
        .max(1.0) as usize;
    let run = |_| seconds(|| (0..times).for_each(|_| work())) / times as f64;
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

fn main() {
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    for (name, rows, epochs) in [("SP5x5", 1000, 50), ("KS32", 500, 5), ("TSP20", 200, 2)] {
        if only.as_ref().is_none_or(|only| only == name) {
            let (problem, data) = name
                .parse::<Benchmark>()
                .unwrap()
                .generate(SyntheticSpec::paper(rows, 0))
                .unwrap();
            let oracle = Oracle::new(problem.build().unwrap());
            let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
            for method in ["SPO+", "PFYL"] {
                measure((name, method), (&problem, &oracle, &data), epochs);
            }
        }
    }
}

fn measure(
    (name, method): (&str, &str),
    (problem, oracle, data): (&ProblemSpec, &Oracle, &LabeledDataset),
    epochs: usize,
) {
    let split = SplitIndices::in_order(data.len(), [data.len(), 0, 0]).unwrap();
    let task = TrainingContext {
        data,
        split: &split,
        oracle,
        observer: &NoopObserver,
    };
    let steps = (epochs * data.len()) as f64;
    let run = |epochs: usize| {
        let settings = TrainingSettings {
            epochs,
            select: SelectionCriterion::Last,
            ..TrainingSettings::default()
        };
        let trainer = Trainer::new(method.parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        trainer.train(&task, problem, None).unwrap().model
    };
    let whole = (best(|| drop(run(epochs))) - best(|| drop(run(0)))) / steps;
    let predictions = run(epochs).predict(data.data().features()).unwrap();
    let alone = solving(method, oracle.problem().as_ref(), (data, &predictions));
    let (whole, alone) = (whole * 1e6, alone * 1e6);
    println!(
        "{name:6} {method:5} {whole:9.3} µs per instance and step, solving {alone:9.3} ({:.0} %)",
        { 100.0 * alone / whole }
    );
}

/// Seconds per instance in the solver alone, for the solver calls of one instance.
fn solving(
    method: &str,
    problem: &dyn ProblemKind,
    (data, predictions): (&LabeledDataset, &Matrix),
) -> f64 {
    let sense = data.sense();
    let mut stream = SplitMix64::new(0);
    let mut calls: Vec<Vec<f64>> = Vec::new();
    for row in 0..data.len() {
        let pairs = predictions
            .row(row)
            .iter()
            .zip(data.data().costs().row(row));
        let (p, c): (Vec<f64>, Vec<f64>) = pairs
            .map(|(p, c)| (sense.convert(f64::from(*p)), f64::from(*c)))
            .unzip();
        if method == "SPO+" {
            calls.push(p.iter().zip(&c).map(|(p, c)| 2.0 * p - c).collect());
        } else {
            calls.extend((0..10).map(|_| p.iter().map(|p| p + stream.normal()).collect()));
        }
    }
    let mut solver = problem.solver(&SearchLimits::default());
    let time = best(|| {
        calls
            .iter()
            .for_each(|costs| drop(std::hint::black_box(solver.solve(costs))));
    });
    time / data.len() as f64
}
