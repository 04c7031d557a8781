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

use std::sync::Mutex;

use regretless::data::SplitIndices;
use regretless::data::SyntheticSpec;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::{NoopObserver, Observer};
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
/// The first is printed; of the others, the ratios.
const LOSSES: [&str; 4] = ["MAE(_)", "MSE(_)", "MSE(O,_)", "MAE(O,_)"];
/// Runs of each training, S and E in turn.
const RUNS: usize = 5;
/// Costs of all rows and epochs of a run: every run takes some hundredths of a second.
const VALUES_PER_RUN: usize = 30_000_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        words
            .iter()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
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
        let clock = EpochClock::default();
        let split = SplitIndices::in_order(self.data.len(), [self.data.len(), 0, 0]).unwrap();
        let context = TrainingContext {
            data: &self.data,
            split: &split,
            oracle: &self.oracle,
            observer: &clock,
        };
        let settings = TrainingSettings {
            epochs: self.epochs,
            select: SelectionCriterion::Last,
            ..TrainingSettings::default()
        };
        let trainer = Trainer::new(loss.parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        drop(trainer.train(&context, &self.problem, None).unwrap());
        let marks = clock.marks.into_inner().unwrap();
        let times = marks.windows(2).map(|pair| pair[1] - pair[0]);
        times.fold(f64::INFINITY, f64::min)
    }
}

/// Reads the clock when training begins and after every epoch.
#[derive(Debug, Default)]
struct EpochClock {
    marks: Mutex<Vec<f64>>,
}

impl EpochClock {
    fn mark(&self) {
        self.marks.lock().unwrap().push(cpu_seconds());
    }
}

impl Observer for EpochClock {
    fn begin(&self, _task: &str, _steps: u64) {
        self.mark();
    }

    fn advance(&self, steps: u64) {
        // Training first reports the epochs that it resumes after: 0 in a new run.
        if steps > 0 {
            self.mark();
        }
    }
}

/// CPU seconds of this process, or wall-clock seconds where they are unknown.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64()
}
