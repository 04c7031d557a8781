//! Time of a fused epoch with component E, beside that with S, on one thread.
//!
//! `cargo bench --bench equality -- [only=TSP50]` prints milliseconds of CPU time per epoch of MAE,
//! the fastest of several runs, and the ratios of E to S. The `_` of a loss stands for S and E.
//! Epochs are timed one by one: the preparation of the data takes as long as many epochs, so a
//! difference of whole trainings would mostly be noise.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, not library code"
)]
#![allow(missing_docs, reason = "a program")]

#[path = "../../../bench/src/epoch_clock.rs"]
mod epoch_clock;
#[path = "measure/options.rs"]
mod options;

use epoch_clock::train_on_all_rows;
use options::option;
use regretless::data::SyntheticSpec;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::{Heuristic, Oracle};
use regretless::predict::PredictorSpec;
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::trainer::Trainer;

/// Benchmarks and training rows.
const CASES: [(&str, usize); 8] = [
    ("SP5x5", 1000),
    ("SP20x20", 500),
    ("AP25", 500),
    ("AP60", 200),
    ("TSP20", 500),
    ("TSP50", 300),
    ("TSP100", 200),
    ("TSP200", 100),
];
/// The first is printed; of the others, the ratios.
const LOSSES: [&str; 4] = ["MAE(_)", "MSE(_)", "MSE(O,_)", "MAE(O,_)"];
/// Runs of each training, S and E in turn.
const RUNS: usize = 5;
/// Costs of all rows and epochs of a run: every run takes some hundredths of a second.
const VALUES_PER_RUN: usize = 30_000_000;

fn main() {
    println!("| problem | MAE(S) | MAE(E) | ratio | ratios of four losses |");
    println!("|---|---|---|---|---|");
    for (name, rows) in CASES {
        if option("only").is_some_and(|only| only != name) {
            continue;
        }
        let case = Case::new(name, rows);
        let times =
            LOSSES.map(|loss| case.best_epochs(&["S", "E"].map(|word| loss.replace('_', word))));
        let mut ratios = times.map(|[scale, equality]| equality / scale);
        let ([scale, equality], ratio) = (times[0], ratios[0]);
        ratios.sort_by(f64::total_cmp);
        println!(
            "| {name} | {:.4} | {:.4} | {ratio:.2} | {:.2} to {:.2} |",
            1e3 * scale,
            1e3 * equality,
            ratios[0],
            ratios[LOSSES.len() - 1]
        );
    }
}

struct Case {
    problem: ProblemSpec,
    oracle: Oracle,
    data: LabeledDataset,
    epochs: usize,
}

impl Case {
    /// Labels are only needed to be decisions: those of a fast heuristic, where there is one.
    fn new(name: &str, rows: usize) -> Self {
        let benchmark: Benchmark = name.parse().unwrap();
        let (problem, data) = benchmark.generate(SyntheticSpec::paper(rows, 0)).unwrap();
        let heuristic = name
            .starts_with("TSP")
            .then_some(Heuristic::FastLocalSearch);
        let oracle = Oracle::new(problem.build().unwrap());
        let oracle = oracle.with_heuristic(heuristic).unwrap();
        let costs = data.costs().cols();
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        Self {
            problem,
            oracle,
            data,
            epochs: (VALUES_PER_RUN / (rows * costs)).max(2),
        }
    }

    /// The fastest epoch of each loss, in CPU seconds.
    fn best_epochs(&self, losses: &[String; 2]) -> [f64; 2] {
        let mut best = [f64::INFINITY; 2];
        for _ in 0..RUNS {
            for (best, loss) in best.iter_mut().zip(losses) {
                *best = best.min(self.fastest_epoch(loss));
            }
        }
        best
    }

    /// Trains, and returns the time of the fastest epoch.
    fn fastest_epoch(&self, loss: &str) -> f64 {
        let settings = TrainingSettings {
            epochs: self.epochs,
            select: SelectionCriterion::Last,
            ..TrainingSettings::default()
        };
        let trainer = Trainer::new(loss.parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        let trained = train_on_all_rows(&self.data, &self.oracle, &trainer, &self.problem);
        let (epochs, _) = trained.unwrap();
        let times = epochs.iter().map(|epoch| epoch.cpu);
        times.fold(f64::INFINITY, f64::min)
    }
}
