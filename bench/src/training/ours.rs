//! Regretless in the training suite: the public `train` call.

use regretless::Result;
use regretless::method::TrainingStage;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::trainer::Trainer;

use super::case::{LEARNING_RATE, TrainingCase, TrainingData};
use crate::epochs::{BATCH_SIZE, Epochs, SEED, train_on_all_rows};

/// Trains and returns the time of each epoch.
pub fn epochs(case: &TrainingCase, data: &TrainingData, threads: usize) -> Result<Epochs> {
    let (labeled, oracle) = data.labeled(case, threads)?;
    let settings = TrainingSettings {
        epochs: case.epochs,
        batch_size: BATCH_SIZE,
        learning_rate: LEARNING_RATE,
        select: SelectionCriterion::Last,
        scale_costs: false,
        ..TrainingSettings::paper(SEED)
    };
    let method: TrainingStage = case.loss.parse()?;
    let trainer = Trainer::new(method)
        .predictor(case.predictor())
        .settings(settings);
    train_on_all_rows(&labeled, &oracle, &trainer, case.problem()?.spec())
}
