//! `evaluate`: the regret of a model, or of given predictions.

use std::path::Path;
use std::sync::Arc;

use regretless::data::{CostMatching, CostNames, InstanceKeys, Matrix, NamedCosts, TableSource};
use regretless::error::InputPlace;
use regretless::evaluate::{Evaluation, MissingPredictions};
use regretless::job::MatchedTable;
use regretless::label::LabeledDataset;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::solve::SolveFailure;
use regretless::{Error, Model, Result};
use regretless_study::table_report::{SkippedRows, UnusedColumns};
use regretless_study::text::{grouped, number, percent};
use serde_json::json;

use super::row_file::RowFile;
use super::{CommandContext, LabeledRows, json, labeled};
use crate::args::EvaluateOptions;
use crate::input::{
    CostTable, TableFormat, costs_only, dataset_for_model, in_file, keys_of_table, load_model,
    predictions, table_source_for_model,
};
use crate::output::{CommandReport, is_stream, path_json};

/// Predictions, and the labeled rows they are evaluated on.
struct EvaluationInput {
    predictions: PredictionSource,
    data: Arc<LabeledDataset>,
    /// Rows without a label, and why.
    failed: Vec<(usize, SolveFailure)>,
    skipped_rows: SkippedRows,
    /// The keys of all rows, if rows are written.
    keys: Option<InstanceKeys>,
    oracle: Oracle,
    unused_columns: UnusedColumns,
    /// Values that the model does not know, for people.
    encoding_notes: Vec<String>,
}

/// Source of the predictions.
enum PredictionSource {
    Model(Box<Model>),
    /// Given for all rows, in the problem's sense.
    Known(Matrix),
}

/// Predicts or reads predictions, solves, and measures the regret.
pub fn run(options: &EvaluateOptions, context: &CommandContext) -> Result<CommandReport> {
    let row_file = match &options.rows_out {
        Some(path) => Some((path, RowFile::check(path, context.force)?)),
        None if options.key.is_some() => {
            return Err(
                Error::setting("--key names the rows of a file").with_remedy("give --rows-out too")
            );
        }
        None => None,
    };
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
    let names = input.data.data().cost_names();
    let unpredicted = evaluation.unpredicted.note(names);
    if let Some(note) = &unpredicted {
        context.warn(&format!("note: {note}"));
    }
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
    json_report["skipped_rows"] = json!(input.skipped_rows);
    json_report["encoding_notes"] = json!(input.encoding_notes);
    json_report["unpredicted"] = json!(unpredicted);
    if let PredictionSource::Model(model) = &input.predictions {
        let rows = input.data.rows();
        let overlap = context.warn_about_overlap(model.predictor(), &input.data, &rows);
        json_report["training_overlap"] = json(&overlap)?;
    }
    let mut report = CommandReport {
        json: json_report,
        ..CommandReport::default()
    };
    report_evaluation(&evaluation, solves, &mut report);
    if !labels.are_optimal() {
        report.line(format!("{:<20} {labels}", "labels"));
    }
    if let (Some((path, format)), Some(keys)) = (row_file, &input.keys) {
        let rows = RowFile {
            keys,
            data: &input.data,
            evaluation: &evaluation,
            heuristic: input.oracle.heuristic(),
            failed: &input.failed,
        };
        rows.write(path, format, context.force)?;
        report.json["rows"] = path_json(path);
        report.stdout_is_taken = is_stream(path);
        if !report.stdout_is_taken {
            report.line(format!("rows written to {}", path.display()));
        }
    }
    Ok(report)
}

impl EvaluationInput {
    /// Without notes of an encoding.
    fn new(
        predictions: PredictionSource,
        labeled: LabeledRows,
        keys: Option<InstanceKeys>,
        unused_columns: UnusedColumns,
    ) -> Self {
        Self {
            predictions,
            data: labeled.table.rows,
            failed: labeled.table.report.failed,
            skipped_rows: labeled.skipped_rows,
            keys,
            oracle: labeled.oracle,
            unused_columns,
            encoding_notes: Vec::new(),
        }
    }

    fn of_model(file: &Path, options: &EvaluateOptions, context: &CommandContext) -> Result<Self> {
        let model = load_model(file, options.problem.as_ref())?;
        context.warn_about_positions(file, &model);
        let predictor = model.predictor();
        let source = table_source_for_model(&options.data, &model)?;
        let (problem, mut table) = dataset_for_model(&source, &model)?;
        let unused_columns =
            context.unused_columns(&source, &table, options.key.as_deref().as_slice())?;
        predictor
            .check(table.features())
            .map_err(in_file(source.costs_file()))?;
        let encoding_notes = table.features().encoding_notes().to_vec();
        for note in &encoding_notes {
            context.warn(&format!("note: {note}"));
        }
        let warnings = predictor
            .match_table(&mut table, problem.kind().as_ref())
            .map_err(in_file(source.costs_file()))?;
        for warning in warnings {
            context.warn(&format!(
                "note: {}: {warning}",
                source.costs_file().display()
            ));
        }
        let keys = requested_keys(&source, table.len(), options, context)?;
        let table = MatchedTable::new(table);
        let labeled = labeled(table, &source, &problem, &options.execution, context)?;
        let predictions = PredictionSource::Model(Box::new(model));
        Ok(Self {
            encoding_notes,
            ..Self::new(predictions, labeled, keys, unused_columns)
        })
    }

    fn of_predictions(
        file: &Path,
        options: &EvaluateOptions,
        context: &CommandContext,
    ) -> Result<Self> {
        let missing =
            || Error::setting("--problem is missing").with_remedy("predictions do not name one");
        let problem = options.problem.as_ref().ok_or_else(missing)?;
        let CostTable {
            source,
            problem,
            data,
        } = costs_only(&options.data, problem)?;
        let unused_columns =
            context.unused_columns(&source, &data, options.key.as_deref().as_slice())?;
        let opened = context.open_table(data, source.costs_file(), &problem)?;
        let table = opened.data();
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
        let keys = requested_keys(&source, table.len(), options, context)?;
        let labeled = labeled(opened, &source, &problem, &options.execution, context)?;
        let predictions = PredictionSource::Known(predictions);
        Ok(Self::new(predictions, labeled, keys, unused_columns))
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
        let missing = match &self.predictions {
            PredictionSource::Model(model) => model.predictor().missing_predictions(),
            PredictionSource::Known(_) => MissingPredictions::Refused,
        };
        let observer = &context.progress;
        observer.begin("deciding", rows.len() as u64);
        let evaluation = if unambiguous {
            let predictions = self.predicted(&rows)?;
            Evaluation::unambiguous(&predictions, missing, data, &rows, oracle, observer)?
        } else {
            let predict = |part: &[usize]| self.predicted(part);
            Evaluation::in_chunks(predict, missing, data, &rows, oracle, observer)?
        };
        observer.end();
        Ok(evaluation)
    }
}

/// The keys of a table, if its rows are written.
fn requested_keys(
    source: &TableSource,
    instances: usize,
    options: &EvaluateOptions,
    context: &CommandContext,
) -> Result<Option<InstanceKeys>> {
    if options.rows_out.is_none() {
        return Ok(None);
    }
    let keys = keys_of_table(source, options.key.as_deref(), instances)?;
    context.warn_about_duplicate_keys(&keys);
    Ok(Some(keys))
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
