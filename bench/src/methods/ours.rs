//! Regretless in the method suite: the public `train` call and the regret of its model.

use regretless::Result;
use regretless::data::SplitIndices;
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::TrainingContext;
use regretless::trainer::Trainer;

use super::MethodRun;
use super::case::{LEARNING_RATE, Method, MethodCase, MethodTable};
use crate::epochs::{BATCH_SIZE, Epochs, SEED, train_timed};

/// Trains every method with this number of threads.
pub fn runs(
    case: &MethodCase,
    table: &MethodTable,
    methods: &[&Method],
    threads: usize,
) -> Result<Vec<MethodRun>> {
    let oracle = Oracle::new(table.problem.build()?).with_threads(Threads::new(threads)?);
    let data = LabeledDataset::solve(table.data.clone(), &oracle, &NoopObserver)?;
    let split = SplitIndices::in_order(data.len(), [case.train, 0, case.test])?;
    let context = TrainingContext {
        data: &data,
        split: &split,
        oracle: &oracle,
        observer: &NoopObserver,
    };
    methods
        .iter()
        .map(|method| run(&context, table, method.name, case.epochs_of(method)))
        .collect()
}

fn run(
    context: &TrainingContext<'_>,
    table: &MethodTable,
    name: &str,
    epochs: usize,
) -> Result<MethodRun> {
    let settings = TrainingSettings {
        epochs,
        batch_size: BATCH_SIZE,
        learning_rate: LEARNING_RATE,
        select: SelectionCriterion::Last,
        scale_costs: false,
        ..TrainingSettings::paper(SEED)
    };
    let trainer = Trainer::new(name.parse::<regretless::Method>()?)
        .predictor(PredictorSpec::Linear)
        .settings(settings);
    let (timed, trained) = train_timed(context, &trainer, &table.problem)?;
    let rows = &context.split.test;
    let all_predictions = trained.model.predict(table.data.features())?;
    let predictions = context.data.select_predictions(&all_predictions, rows)?;
    let evaluation = Evaluation::of_predictions(
        &predictions,
        context.data,
        rows,
        context.oracle,
        &NoopObserver,
    )?;
    Ok(MethodRun {
        epochs: Epochs {
            name: name.to_owned(),
            ..timed
        },
        regret: evaluation.normalized_regret,
    })
}
