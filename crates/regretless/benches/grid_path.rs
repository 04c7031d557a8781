//! Time from a table to a model: labels per instance and a training run, on one thread.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops where it fails"
)]

use std::time::Instant;

use regretless::data::SplitIndices;
use regretless::data::SyntheticSpec as DataRecipe;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::predict::PredictorSpec;
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
use regretless::trainer::Trainer;

/// Best of several labelings, in microseconds per instance.
fn label(name: &str, instances: usize) -> (ProblemSpec, Oracle, LabeledDataset) {
    let benchmark: Benchmark = name.parse().unwrap();
    let (problem, data) = benchmark.generate(DataRecipe::paper(instances, 0)).unwrap();
    let oracle = Oracle::new(problem.build().unwrap());
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let copy = data.clone();
        let started = Instant::now();
        LabeledDataset::solve(copy, &oracle, &NoopObserver).unwrap();
        best = best.min(started.elapsed().as_secs_f64());
    }
    println!(
        "{name}: {:.2} µs per label ({instances} instances)",
        best / instances as f64 * 1e6
    );
    let labeled = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
    (problem, oracle, labeled)
}

fn main() {
    label("SP5x5", 2000);
    label("KS500", 200);
    let (problem, oracle, data) = label("KS32", 2000);
    let split = SplitIndices::in_order(2000, [1000, 400, 600]).unwrap();
    let task = TrainingContext {
        data: &data,
        split: &split,
        oracle: &oracle,
        observer: &NoopObserver,
    };
    for select in [
        SelectionCriterion::ValidationLoss,
        SelectionCriterion::ValidationRegret,
    ] {
        let settings = TrainingSettings {
            select,
            ..TrainingSettings::default()
        };
        let recipe = Trainer::new("MAE(O,S)".parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        let report = recipe.train(&task, &problem, None).unwrap().report;
        println!(
            "KS32, MAE(O,S), 50 epochs of 1000 instances, {select}: {:.3} s",
            report.seconds
        );
    }
}
