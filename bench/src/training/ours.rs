//! Our side of the training race: the public `train` call.

use regretless::Result;
use regretless::data::Split;
use regretless::train::{Method, Recipe, SelectionCriterion, Settings, Task};
use regretless::watch::NoopObserver;

use super::case::{Case, Data, RATE};
use crate::epochs::{BATCH, Epochs, SEED, train_timed};

/// Trains and keeps the time of each epoch.
pub fn epochs(case: &Case, data: &Data, threads: usize) -> Result<Epochs> {
    let (labelled, oracle) = data.labelled(case, threads)?;
    let split = Split::in_order(case.instances, [case.instances, 0, 0])?;
    let task = Task {
        data: &labelled,
        split: &split,
        oracle: &oracle,
        watch: &NoopObserver,
    };
    let settings = Settings {
        epochs: case.epochs,
        batch: BATCH,
        learning_rate: RATE,
        select: SelectionCriterion::Last,
        output_map: false,
        ..Settings::paper(SEED)
    };
    let method: Method = case.loss.parse()?;
    let (epochs, _) = train_timed(
        &task,
        &Recipe::new(method, case.predictor(), settings),
        &case.problem(),
    )?;
    Ok(epochs)
}
