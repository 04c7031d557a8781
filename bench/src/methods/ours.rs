//! Our side of the methods race: the public `train` call and the regret of what it learned.

use regretless::Result;
use regretless::data::{Matrix, Split};
use regretless::evaluate::evaluate;
use regretless::label::Labelled;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::train::{Method, Recipe, SelectionCriterion, Settings, Task};
use regretless::watch::NoopObserver;

use super::Run;
use super::case::{Case, Method as Known, RATE, Table};
use crate::epochs::{BATCH, Epochs, SEED, train_timed};

/// Trains every method on so many threads.
pub fn runs(
    case: &Case,
    table: &Table,
    (methods, threads): (&[&Known], usize),
) -> Result<Vec<Run>> {
    let oracle = Oracle::new(table.problem.build()?).with_threads(Threads::new(threads)?);
    let data = Labelled::solve(table.data.clone(), &oracle, &NoopObserver)?;
    let split = Split::in_order(data.len(), [case.train, 0, case.test])?;
    let task = Task {
        data: &data,
        split: &split,
        oracle: &oracle,
        watch: &NoopObserver,
    };
    methods
        .iter()
        .map(|method| run(&task, table, method.label, case.epochs_of(method)))
        .collect()
}

fn run(task: &Task<'_>, table: &Table, label: &str, epochs: usize) -> Result<Run> {
    let settings = Settings {
        epochs,
        batch: BATCH,
        learning_rate: RATE,
        select: SelectionCriterion::Last,
        output_map: false,
        ..Settings::paper(SEED)
    };
    let recipe = Recipe::new(label.parse::<Method>()?, PredictorSpec::Linear, settings);
    let (timed, trained) = train_timed(task, &recipe, &table.problem)?;
    let rows = &task.split.test;
    let all = trained.model.predict(table.data.features())?;
    let tested = rows.iter().flat_map(|row| all.row(*row)).copied().collect();
    let mut predictions = Matrix::new(rows.len(), all.cols(), tested)?;
    task.data.sense().flip(predictions.as_mut_slice());
    let evaluation = evaluate(&predictions, task.data, rows, (task.oracle, &NoopObserver))?;
    Ok(Run {
        epochs: Epochs {
            form: label.to_owned(),
            ..timed
        },
        regret: evaluation.normalised_regret,
    })
}
