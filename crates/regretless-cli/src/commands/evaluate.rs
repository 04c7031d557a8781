//! `evaluate`: the regret of a model, or of given predictions.

use std::path::Path;

use regretless::data::{CostMatching, CostNames, Matrix, NamedCosts};
use regretless::error::InputPlace;
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::{Error, Model, Result};
use serde_json::json;

use super::{CommandContext, UnusedColumns, json, labeled, oracle, store};
use crate::args::EvaluateOptions;
use crate::input::{
    TableFormat, costs_only, dataset_for_model, in_file, load_model, load_problem,
    options_for_model, predictions, table_source,
};
use crate::output::{CommandReport, grouped, number, percent};

/// Predictions, and the labeled rows they are evaluated on.
struct EvaluationInput {
    predictions: PredictionSource,
    data: LabeledDataset,
    oracle: Oracle,
    unused_columns: UnusedColumns,
}

/// Source of the predictions.
enum PredictionSource {
    Model(Box<Model>),
    /// Given for all rows, in the problem's sense.
    Known(Matrix),
}

/// Predicts or reads predictions, solves, and measures the regret.
pub fn run(options: &EvaluateOptions, context: &CommandContext) -> Result<CommandReport> {
    let input = match (&options.model, &options.predictions) {
        (Some(model), None) => EvaluationInput::of_model(model, options, context)?,
        (None, Some(file)) => EvaluationInput::of_predictions(file, options, context)?,
        _ => {
            return Err(Error::setting("nothing to evaluate")
                .with_remedy("give either --model or --predictions"));
        }
    };
    let before = input.oracle.counts();
    let evaluation = input.measure(options.unambiguous.unwrap_or(false), context)?;
    let counts = input.oracle.counts() - before;
    let solves = counts.total();
    let mut json_report = json(&evaluation)?;
    json_report["solves"] = json!(solves);
    json_report["solves_by_kind"] = json!(counts);
    let labels = input.data.label_counts(&input.data.rows());
    json_report["labels"] = json!(labels);
    json_report["heuristic"] = json!(input.oracle.heuristic());
    json_report["problem"] = json!(input.oracle.problem().name());
    json_report["unused_columns"] = input.unused_columns.json();
    let mut report = CommandReport {
        json: json_report,
        ..CommandReport::default()
    };
    report_evaluation(&evaluation, solves, &mut report);
    if !labels.are_optimal() {
        report.line(format!("{:<20} {labels}", "labels"));
    }
    Ok(report)
}

impl EvaluationInput {
    fn of_model(file: &Path, options: &EvaluateOptions, context: &CommandContext) -> Result<Self> {
        let model = load_model(file, options.problem.as_ref())?;
        let (predictor, problem) = (model.predictor(), model.problem());
        let oracle = oracle(problem, &options.execution)?;
        let source = table_source(&options_for_model(&options.data, predictor))?;
        let mut table = dataset_for_model(&source, predictor)?;
        let unused_columns = context.unused_columns(&source, &table, None)?;
        predictor
            .check(table.features())
            .map_err(in_file(source.costs_file()))?;
        let warnings = predictor
            .match_table(&mut table, problem.kind().as_ref())
            .map_err(in_file(source.costs_file()))?;
        for warning in warnings {
            context.warn(&format!(
                "note: {}: {warning}",
                source.costs_file().display()
            ));
        }
        let labels = store(source.costs_file(), &options.execution);
        let labeled = labeled(table, &labels, problem, &oracle, context);
        let (data, _) = labeled.map_err(in_file(source.costs_file()))?;
        Ok(Self {
            predictions: PredictionSource::Model(Box::new(model)),
            data,
            oracle,
            unused_columns,
        })
    }

    fn of_predictions(
        file: &Path,
        options: &EvaluateOptions,
        context: &CommandContext,
    ) -> Result<Self> {
        let missing =
            || Error::setting("--problem is missing").with_remedy("predictions do not name one");
        let problem = load_problem(options.problem.as_ref().ok_or_else(missing)?)?;
        let oracle = oracle(&problem, &options.execution)?;
        let (source, mut table) = costs_only(&options.data)?;
        let costs_file = source.costs_file().to_path_buf();
        let unused_columns = context.unused_columns(&source, &table, None)?;
        context.match_table(&mut table, &costs_file, &problem)?;
        if TableFormat::of_input(file)? == TableFormat::Npy {
            let unnamed = CostNames::numbered(table.costs().cols());
            let (actual, expected) = (
                NamedCosts::new("the array", &unnamed),
                NamedCosts::new("the table", table.cost_names()),
            );
            context.warn_about_matching(file, &CostMatching::new(actual, expected)?);
        }
        let predictions = predictions(file, &table.cost_names().to_vec(), &options.data.csv)?;
        if predictions.rows() != table.len() {
            let message = format!(
                "{} rows of predictions for {} instances",
                predictions.rows(),
                table.len()
            );
            return Err(Error::input(InputPlace::file(file), message));
        }
        let labels = store(&costs_file, &options.execution);
        let (data, _) =
            labeled(table, &labels, &problem, &oracle, context).map_err(in_file(&costs_file))?;
        Ok(Self {
            predictions: PredictionSource::Known(predictions),
            data,
            oracle,
            unused_columns,
        })
    }

    /// Predictions for some rows, to be minimized.
    fn predicted(&self, rows: &[usize]) -> Result<Matrix> {
        match &self.predictions {
            PredictionSource::Model(model) => model.predictor().predict_instances(&self.data, rows),
            PredictionSource::Known(all) => self.data.select_predictions(all, rows),
        }
    }

    fn measure(&self, unambiguous: bool, context: &CommandContext) -> Result<Evaluation> {
        let Self { data, oracle, .. } = self;
        let rows = data.rows();
        let observer = &context.progress;
        observer.begin("deciding", rows.len() as u64);
        let evaluation = if unambiguous {
            let predictions = self.predicted(&rows)?;
            Evaluation::unambiguous(&predictions, data, &rows, oracle, observer)?
        } else {
            Evaluation::in_chunks(|part| self.predicted(part), data, &rows, oracle, observer)?
        };
        observer.end();
        Ok(evaluation)
    }
}

fn report_evaluation(evaluation: &Evaluation, solves: u64, report: &mut CommandReport) {
    let lines = [
        ("instances", grouped(evaluation.instances as u64)),
        ("mean regret", number(evaluation.regret)),
        ("normalized regret", percent(evaluation.normalized_regret)),
        ("relative regret", percent(evaluation.relative_regret)),
        ("decisions optimal", percent(evaluation.optimal_fraction)),
        ("mean squared error", number(evaluation.mse)),
        ("mean absolute error", number(evaluation.mae)),
        ("solves", grouped(solves)),
    ];
    lines
        .iter()
        .for_each(|(name, value)| report.line(format!("{name:<20} {value}")));
    if let Some(warning) = Evaluation::few_rows_warning("evaluated", evaluation.instances) {
        report.line(warning);
    }
}
