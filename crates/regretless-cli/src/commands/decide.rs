//! `decide`: predicted costs of new rows, and the decisions they lead to.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use regretless::data::{FeatureOptions, FeatureShape, InstanceKeys, OutputFile};
use regretless::model::PredictedDecisions;
use regretless::predict::CostModel;
use regretless::{Error, Method, Model, Result};
use regretless_study::table_report::SkippedRows;
use regretless_study::text::grouped;
use serde_json::json;

use super::CommandContext;
use crate::args::{DecideOptions, ResultFormat};
use crate::input::{InputFile, NewRows, TableFormat, in_file, load_model, require};
use crate::output::{CommandReport, ResultTarget, is_stream, path_json};

/// Predicts, decides, and writes.
pub fn run(options: &DecideOptions, context: &CommandContext) -> Result<CommandReport> {
    let model_file = require(options.model.as_ref(), "--model")?;
    let data = require(options.data.as_ref(), "--data")?;
    let out = require(options.out.as_ref(), "--out")?;
    let format = checked_format(options, &out)?;
    let target = ResultTarget::of(&out, context.force);
    target.check_free()?;
    check_predictions_file(options, context)?;
    let model = model(&model_file, options, context)?;
    let predictor = model.predictor();
    let input = InputFile::open(&data)?;
    let in_input = |error: Error| input.error(error);
    let rows = NewRows {
        path: input.path(),
        columns: &options.columns,
        csv: &options.csv,
        parameters: &options.parameter_files,
    };
    let (features, parameters) = rows.read(&model).map_err(in_input)?;
    for note in features.encoding_notes() {
        context.warn(&format!("note: {note}"));
    }
    if options.predictions_out.is_some() && parameters.may_lack_items() {
        return Err(in_input(Error::setting(
            "instances have different items, so predictions cannot be written as one table",
        ))
        .with_remedy("leave --predictions-out out"));
    }
    if items_are_matched_by_position(options, predictor) {
        let warning = "rows of an instance are matched to the model's costs by position; name them \
            by --item-column";
        context.warn(&format!("note: {}: {warning}", data.display()));
    }
    context.warn_about_absent_items(input.path(), &parameters);
    let keys = rows
        .keys(predictor, options.key.as_deref(), features.instances())
        .map_err(in_input)?;
    context.warn_about_duplicate_keys(&keys);
    let decided = model
        .decide_rows(&features, Some(&Arc::new(parameters)), &context.progress)
        .map_err(in_input)?;
    let unpredicted = decided.unpredicted_note();
    if let Some(note) = &unpredicted {
        context.warn(&format!("note: {note}"));
    }
    if format == ResultFormat::Npy
        && let Some((row, failure)) = decided.failed.first()
    {
        return Err(in_input(Error::solver(*row, failure.clone())));
    }
    warn_about_failures(&decided, &keys, context);
    let decided_keys = keys.select(&decided.rows);
    let sparse = options.sparse.unwrap_or(false);
    let content = content(&decided, &decided_keys, format, sparse).map_err(in_input)?;
    write_predictions(&decided, options, context)?;
    target.write(content)?;
    let mut report = report(options, &out, &decided);
    let has_names = keys != InstanceKeys::numbered(keys.values().len());
    let failed = SkippedRows::new(&decided.failed, has_names.then_some(&keys));
    report.json["failed"] = json!(failed);
    report.json["encoding_notes"] = json!(features.encoding_notes());
    report.json["unpredicted"] = json!(unpredicted);
    // The decisions are written, but not all that were asked for.
    report.failure = decided
        .failed
        .first()
        .map(|(row, failure)| in_input(Error::solver(*row, failure.clone())));
    Ok(report)
}

/// The model with the settings of the options; says what the user should know about it.
fn model(file: &Path, options: &DecideOptions, context: &CommandContext) -> Result<Model> {
    let mut model = load_model(file, options.problem.as_ref())?
        .with_threads(options.execution.threads.unwrap_or(0))?
        .with_limits(options.execution.limits.search_limits()?)
        .with_heuristic(options.execution.heuristic);
    if let Some(file) = &options.holidays {
        model = model.with_holidays(&FeatureOptions::read_holidays(file)?)?;
    }
    let predictor = model.predictor();
    let matching = predictor
        .match_problem(model.problem().kind().as_ref())
        .map_err(in_file(file))?;
    context.warn_about_matching(file, &matching);
    context.warn_about_positions(file, &model);
    let method = &predictor.metadata.method;
    let notes = [Method::scale_note(method), Method::bias_note(method)];
    for note in notes.into_iter().flatten() {
        context.warn(&format!("note: {note}"));
    }
    Ok(model)
}

/// Refuses a file of predictions that cannot be written, before anything is decided.
fn check_predictions_file(options: &DecideOptions, context: &CommandContext) -> Result<()> {
    let Some(path) = &options.predictions_out else {
        return Ok(());
    };
    if is_stream(path) {
        return Err(Error::setting("--predictions-out needs a file")
            .with_remedy("standard output is for --out"));
    }
    TableFormat::of(path)?;
    OutputFile::new(path, context.force).check_free()
}

fn write_predictions(
    decided: &PredictedDecisions,
    options: &DecideOptions,
    context: &CommandContext,
) -> Result<()> {
    let Some(path) = &options.predictions_out else {
        return Ok(());
    };
    match TableFormat::of(path)? {
        TableFormat::Csv => decided.costs.write_csv(path, &decided.names, context.force),
        TableFormat::Npy => decided.costs.write_npy(path, context.force),
    }
}

/// Names the instances without a decision, with the reason.
fn warn_about_failures(
    decided: &PredictedDecisions,
    keys: &InstanceKeys,
    context: &CommandContext,
) {
    for (row, failure) in decided.failed.iter().take(MAX_FAILURES_SHOWN) {
        let (name, key) = (keys.name(), &keys.values()[*row]);
        context.warn(&format!("note: {name} {key} has no decision: {failure}"));
    }
    let count = decided.failed.len();
    if count > MAX_FAILURES_SHOWN {
        let count = grouped(count as u64);
        context.warn(&format!(
            "note: {count} instances have no decision in total"
        ));
    }
}

/// The format of the decisions; refuses what an array cannot hold.
fn checked_format(options: &DecideOptions, out: &Path) -> Result<ResultFormat> {
    let format = ResultFormat::of(out, options.format)?;
    if format != ResultFormat::Npy {
        return Ok(format);
    }
    let remedy = "name a file that ends in .csv or .jsonl";
    if options.sparse.unwrap_or(false) {
        return Err(Error::setting("--sparse writes CSV or JSON lines").with_remedy(remedy));
    }
    if options.key.is_some() {
        return Err(Error::setting("an NPY file holds numbers only, no --key").with_remedy(remedy));
    }
    Ok(format)
}

/// Most instances without a decision that are named. Untuned: keeps the output short.
const MAX_FAILURES_SHOWN: usize = 10;

/// Writes the decisions to a file or to standard output.
type ContentWriter<'a> = Box<dyn Fn(&mut dyn Write) -> std::io::Result<()> + 'a>;

fn content<'a>(
    decided: &'a PredictedDecisions,
    keys: &'a InstanceKeys,
    format: ResultFormat,
    sparse: bool,
) -> Result<ContentWriter<'a>> {
    Ok(match format {
        ResultFormat::Csv => Box::new(decided.csv(keys, sparse)?),
        ResultFormat::Npy => Box::new(decided.npy()),
        ResultFormat::Jsonl => Box::new(decided.json_lines(keys, sparse)?),
    })
}

fn report(options: &DecideOptions, out: &Path, decided: &PredictedDecisions) -> CommandReport {
    let instances = decided.solutions.len();
    let unproven = (0..instances)
        .filter(|instance| decided.status(*instance) != "optimal")
        .count();
    let mut report = CommandReport {
        json: json!({
            "instances": instances,
            "columns": decided.columns.len(),
            "not_proven_optimal": unproven,
            "decisions": path_json(out),
            "predictions": options.predictions_out.as_deref().map(path_json),
        }),
        stdout_is_taken: is_stream(out),
        ..CommandReport::default()
    };
    let place = if is_stream(out) {
        "standard output".to_owned()
    } else {
        out.display().to_string()
    };
    let noun = if instances == 1 {
        "decision"
    } else {
        "decisions"
    };
    report.line(format!(
        "{} {noun} written to {place}",
        grouped(instances as u64)
    ));
    if unproven > 0 {
        report.line(format!(
            "{} of them are not proven to be optimal; their status says why",
            grouped(unproven as u64)
        ));
    }
    if let Some(path) = &options.predictions_out {
        report.line(format!("predicted costs written to {}", path.display()));
    }
    report
}

/// Whether items of a long table are identified by the order of rows only, although the model has
/// names for them.
fn items_are_matched_by_position(options: &DecideOptions, model: &CostModel) -> bool {
    match model.metadata.shape {
        FeatureShape::Wide => false,
        FeatureShape::Long { .. } => {
            !model.metadata.costs.are_numbered() && options.columns.item_column.is_none()
        }
    }
}
