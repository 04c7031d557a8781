//! Epochs of training and their times.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use regretless::Result;
use regretless::observer::Observer;
use regretless::problem::ProblemSpec;
use regretless::settings::TrainingSettings;
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::statistics::Times;

/// Rows per gradient step.
pub const BATCH_SIZE: usize = 32;
/// Seed of parameters and batches.
pub const SEED: u64 = 135;

/// Epochs of one program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Epochs {
    /// Name of the program, its variant or the method.
    pub name: String,
    /// Wall-clock seconds of each epoch.
    pub wall: Times,
    /// CPU seconds of each epoch, summed over all threads.
    pub cpu: Times,
    /// Mean training loss of each epoch.
    pub losses: Vec<f64>,
}

impl Epochs {
    /// Adds the times of a second run of the same training.
    pub fn add_times(&mut self, second: Self) {
        self.wall.0.extend(second.wall.0);
        self.cpu.0.extend(second.cpu.0);
    }

    /// Largest relative difference between the losses of the same epoch.
    pub fn max_relative_difference(&self, other: &Self) -> f64 {
        let pairs = self.losses.iter().zip(&other.losses);
        pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// Trains by the public call and returns the time of each epoch.
pub fn train_timed(
    context: &TrainingContext<'_>,
    trainer: &Trainer,
    problem: &ProblemSpec,
) -> Result<(Epochs, TrainingOutcome)> {
    let clock = EpochClock::default();
    let timed_context = TrainingContext {
        observer: &clock,
        ..*context
    };
    let trained = trainer.train(&timed_context, problem, None)?;
    let marks = clock
        .marks
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let between = |clock: usize| {
        Times(
            marks
                .windows(2)
                .map(|pair| pair[1][clock] - pair[0][clock])
                .collect(),
        )
    };
    let reports = trained.report.rounds.iter().flat_map(|round| &round.epochs);
    let losses = reports.filter_map(|report| report.training_loss).collect();
    Ok((
        Epochs {
            name: "ours".into(),
            wall: between(0),
            cpu: between(1),
            losses,
        },
        trained,
    ))
}

/// The order in which training visits rows 0 to `rows` − 1 in an epoch; the first epoch is 1.
pub fn order(rows: usize, epoch: usize) -> Vec<usize> {
    let settings = TrainingSettings {
        seed: SEED,
        ..TrainingSettings::default()
    };
    let mut order: Vec<usize> = (0..rows).collect();
    settings.shuffle_rows(&mut order, epoch);
    order
}

/// Reads the clocks when training begins and after every epoch.
#[derive(Debug)]
struct EpochClock {
    start: Instant,
    /// Wall-clock and CPU seconds at each mark.
    marks: Mutex<Vec<[f64; 2]>>,
}

impl Default for EpochClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            marks: Mutex::new(Vec::new()),
        }
    }
}

impl EpochClock {
    fn mark(&self) {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        let cpu = now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9;
        let mark = [self.start.elapsed().as_secs_f64(), cpu];
        self.marks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(mark);
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

#[cfg(test)]
mod tests {
    use regretless::data::SplitIndices;
    use regretless::data::SyntheticSpec;
    use regretless::label::LabeledDataset;
    use regretless::method::Method;
    use regretless::observer::NoopObserver;
    use regretless::oracle::Oracle;
    use regretless::predict::PredictorSpec;
    use regretless::problem::Benchmark;
    use regretless::settings::{SelectionCriterion, TrainingSettings};
    use regretless::train::TrainingContext;
    use regretless::trainer::Trainer;

    use super::train_timed;

    #[test]
    fn every_epoch_has_a_time_and_a_loss() {
        let (problem, data) = "SP3x3"
            .parse::<Benchmark>()
            .unwrap()
            .generate(SyntheticSpec::paper(40, 1))
            .unwrap();
        let oracle = Oracle::new(problem.build().unwrap());
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        let split = SplitIndices::in_order(40, [40, 0, 0]).unwrap();
        let context = TrainingContext {
            data: &data,
            split: &split,
            oracle: &oracle,
            observer: &NoopObserver,
        };
        let settings = TrainingSettings {
            epochs: 7,
            select: SelectionCriterion::Last,
            ..TrainingSettings::paper(1)
        };
        let trainer = Trainer::new("SPO+".parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        let (epochs, _) = train_timed(&context, &trainer, &problem).unwrap();
        assert_eq!(
            (epochs.wall.0.len(), epochs.cpu.0.len(), epochs.losses.len()),
            (7, 7, 7)
        );
        assert!(epochs.wall.0.iter().all(|seconds| *seconds > 0.0));
    }
}
