//! Our side of the training race: the public `train` call.

use regretless::Result;
use regretless::data::Split;
use regretless::train::{Recipe, Select, Settings, Task, train};
use regretless::watch::Silent;

use super::Epochs;
use super::case::{BATCH, Case, Data, RATE, SEED};

/// Trains and takes the time of each epoch from the report.
pub fn epochs(case: &Case, data: &Data, threads: usize) -> Result<Epochs> {
    let (labelled, oracle) = data.labelled(case, threads)?;
    let split = Split::in_order(case.instances, [case.instances, 0, 0])?;
    let task = Task { data: &labelled, split: &split, oracle: &oracle, watch: &Silent };
    let settings = Settings {
        epochs: case.epochs,
        batch: BATCH,
        learning_rate: RATE,
        select: Select::Last,
        output_map: false,
        ..Settings::paper(SEED)
    };
    let method: regretless::train::Method = case.loss.parse()?;
    let trained = train(&task, &Recipe::new(method, case.predictor(), settings), &case.problem())?;
    let reports: Vec<_> = trained.report.rounds.iter().flat_map(|round| &round.epochs).collect();
    Ok(Epochs {
        form: "ours".into(),
        seconds: reports.windows(2).map(|pair| pair[1].seconds - pair[0].seconds).collect(),
        losses: reports.iter().filter_map(|report| report.training_loss).collect(),
    })
}
