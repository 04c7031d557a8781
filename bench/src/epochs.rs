//! Epochs of training and their times.

use regretless::Result;
use regretless::label::LabeledDataset;
use regretless::oracle::Oracle;
use regretless::problem::ProblemSpec;
use regretless::settings::TrainingSettings;
use regretless::train::TrainingContext;
use regretless::trainer::{Trainer, TrainingOutcome};
use serde::{Deserialize, Serialize};

use crate::epoch_clock::{self, EpochTime};
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
    fn of(times: &[EpochTime], trained: &TrainingOutcome) -> Self {
        let reports = trained.report.rounds.iter().flat_map(|round| &round.epochs);
        Self {
            name: "ours".into(),
            wall: Times(times.iter().map(|epoch| epoch.wall).collect()),
            cpu: Times(times.iter().map(|epoch| epoch.cpu).collect()),
            losses: reports.filter_map(|report| report.training_loss).collect(),
        }
    }

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
    let (times, trained) = epoch_clock::train(context, trainer, problem)?;
    Ok((Epochs::of(&times, &trained), trained))
}

/// The times of a training on all rows of a table.
pub fn train_on_all_rows(
    data: &LabeledDataset,
    oracle: &Oracle,
    trainer: &Trainer,
    problem: &ProblemSpec,
) -> Result<Epochs> {
    let (times, trained) = epoch_clock::train_on_all_rows(data, oracle, trainer, problem)?;
    Ok(Epochs::of(&times, &trained))
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

#[cfg(test)]
mod tests {
    use regretless::data::SyntheticSpec;
    use regretless::label::LabeledDataset;
    use regretless::method::Method;
    use regretless::observer::NoopObserver;
    use regretless::oracle::Oracle;
    use regretless::predict::PredictorSpec;
    use regretless::problem::Benchmark;
    use regretless::settings::{SelectionCriterion, TrainingSettings};
    use regretless::trainer::Trainer;

    use super::train_on_all_rows;

    #[test]
    fn every_epoch_has_a_time_and_a_loss() {
        let (problem, data) = "SP3x3"
            .parse::<Benchmark>()
            .unwrap()
            .generate(SyntheticSpec::paper(40, 1))
            .unwrap();
        let oracle = Oracle::new(problem.build().unwrap());
        let data = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        let settings = TrainingSettings {
            epochs: 7,
            select: SelectionCriterion::Last,
            ..TrainingSettings::paper(1)
        };
        let trainer = Trainer::new("SPO+".parse::<Method>().unwrap())
            .predictor(PredictorSpec::Linear)
            .settings(settings);
        let epochs = train_on_all_rows(&data, &oracle, &trainer, &problem).unwrap();
        assert_eq!(
            (epochs.wall.0.len(), epochs.cpu.0.len(), epochs.losses.len()),
            (7, 7, 7)
        );
        assert!(epochs.wall.0.iter().all(|seconds| *seconds > 0.0));
    }
}
