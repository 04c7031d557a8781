//! Time of a fused epoch with component E, beside that with S, on one thread.
//!
//! `cargo bench --bench equality -- [loss=MAE(O,_)] [only=TSP50]` prints milliseconds of CPU time
//! per epoch, the best of several runs, and the ratio of E to S. The `_` of the loss stands for S
//! and E.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, not library code"
)]
#![allow(missing_docs, reason = "a program")]

use regretless::data::SplitIndices;
use regretless::data::SyntheticSpec;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::{Heuristic, Oracle};
use regretless::predict::PredictorSpec;
use regretless::problem::{Benchmark, ProblemSpec};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
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
const LOSSES: [&str; 4] = ["MSE(_)", "MAE(_)", "MSE(O,_)", "MAE(O,_)"];
/// Runs of each training, S and E in turn.
const RUNS: usize = 5;
/// Costs of all rows and epochs of a run: every run takes some hundredths of a second.
const VALUES_PER_RUN: usize = 8_000_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        words
            .iter()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    for (name, rows) in CASES {
        if option("only").is_some_and(|only| only != name) {
            continue;
        }
        let case = Case::new(name, rows);
        for loss in option("loss").map_or(LOSSES.to_vec(), |loss| vec![loss]) {
            let [scale, equality] =
                case.best_epochs(&["S", "E"].map(|word| loss.replace('_', word)));
            println!(
                "{name:8} {loss:9} S {:9.4} ms  E {:9.4} ms  ratio {:.2}",
                1e3 * scale,
                1e3 * equality,
                equality / scale
            );
        }
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
                let whole = seconds(|| self.train(loss, self.epochs));
                // Without the preparation of the data.
                let preparation = seconds(|| self.train(loss, 0));
                *best = best.min((whole - preparation) / self.epochs as f64);
            }
        }
        best
    }

    fn train(&self, loss: &str, epochs: usize) {
        let split = SplitIndices::in_order(self.data.len(), [self.data.len(), 0, 0]).unwrap();
        let context = TrainingContext {
            data: &self.data,
            split: &split,
            oracle: &self.oracle,
            observer: &NoopObserver,
        };
        let settings = TrainingSettings {
            epochs,
            select: SelectionCriterion::Last,
            ..TrainingSettings::default()
        };
        let trainer = Trainer::new(loss.parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        drop(trainer.train(&context, &self.problem, None).unwrap());
    }
}

/// CPU seconds of this process, or wall-clock seconds where they are unknown.
fn seconds(work: impl FnOnce()) -> f64 {
    let started = std::time::Instant::now();
    let before = cpu_seconds();
    work();
    before.zip(cpu_seconds()).map_or_else(
        || started.elapsed().as_secs_f64(),
        |(before, after)| after - before,
    )
}

#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}
