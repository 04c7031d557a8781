//! Regretless in the training suite: the public `train` call.

use regretless::Result;
use regretless::data::SplitIndices;
use regretless::method::TrainingStage;
use regretless::observer::NoopObserver;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
use regretless::trainer::Trainer;

use super::case::{LEARNING_RATE, TrainingCase, TrainingData};
use crate::epochs::{BATCH_SIZE, Epochs, SEED, train_timed};

/// Trains and returns the time of each epoch.
pub fn epochs(case: &TrainingCase, data: &TrainingData, threads: usize) -> Result<Epochs> {
    let (labeled, oracle) = data.labeled(case, threads)?;
    let split = SplitIndices::in_order(case.instances, [case.instances, 0, 0])?;
    let context = TrainingContext {
        data: &labeled,
        split: &split,
        oracle: &oracle,
        observer: &NoopObserver,
    };
    let settings = TrainingSettings {
        epochs: case.epochs,
        batch_size: BATCH_SIZE,
        learning_rate: LEARNING_RATE,
        select: SelectionCriterion::Last,
        scale_costs: false,
        ..TrainingSettings::paper(SEED)
    };
    let method: TrainingStage = case.loss.parse()?;
    let (epochs, _) = train_timed(
        &context,
        &Trainer::new(method)
            .predictor(case.predictor())
            .settings(settings),
        case.problem()?.spec(),
    )?;
    Ok(epochs)
}
