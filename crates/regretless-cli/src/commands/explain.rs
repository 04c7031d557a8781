//! `explain`: why one decision was made, how firm it is, and what else was possible.

use std::path::PathBuf;
use std::sync::Arc;

use regretless::data::{Features, InstanceKeys, RowParameters};
use regretless::explain::{ExplainSettings, Explanation};
use regretless::{Error, Model, Result};
use regretless_study::explanation::full_text;
use regretless_study::table_report::NamesFile;
use serde_json::json;

use super::{CommandContext, json};
use crate::args::ExplainOptions;
use crate::input::{
    InputFile, NewRows, dataset_for_model, in_file, load_model, require, table_source_for_model,
};
use crate::output::CommandReport;

/// Most keys in a message. Untuned: keeps messages short.
const MAX_KEYS_SHOWN: usize = 5;

/// The row to explain.
struct ExplainedRow {
    /// The table as the user named it.
    file: PathBuf,
    /// Its number in the table.
    number: usize,
    /// How the user calls it.
    name: String,
    features: Features,
    parameters: Arc<RowParameters>,
}

/// Decides for one row and explains the decision.
pub fn run(options: &ExplainOptions, context: &CommandContext) -> Result<CommandReport> {
    let model_file = require(options.model.as_ref(), "--model")?;
    let model = load_model(&model_file, options.problem.as_ref())?
        .with_threads(options.execution.threads.unwrap_or(0))?
        .with_limits(options.execution.limits.search_limits()?)
        .with_heuristic(options.execution.heuristic);
    let matching = model
        .predictor()
        .match_problem(model.problem().kind().as_ref())
        .map_err(in_file(&model_file))?;
    context.warn_about_matching(&model_file, &matching);
    context.warn_about_positions(&model_file, &model);
    let row = read_row(&model, options, context)?;
    let settings = ExplainSettings {
        alternatives: options.alternatives,
        force: options.force_choice.clone(),
        forbid: options.forbid_choice.clone(),
        costs: true_costs(&model, options, &row, context)?,
        max_solves: options.max_solves,
        cost_names: match &options.names.names {
            Some(file) => {
                let own = matching
                    .names()
                    .unwrap_or(&model.predictor().metadata.costs);
                Some(NamesFile::read(file)?.of(own)?)
            }
            None => None,
        },
    };
    let mut explanation = model
        .explain_instance(
            &row.features,
            Some(&row.parameters),
            &settings,
            &context.progress,
        )
        .map_err(in_file(&row.file))?;
    name_flags(&mut explanation);
    let mut report = CommandReport::default();
    let text = full_text(&explanation, &row.name, "see --json");
    report.text.push_str(&text);
    report.json = json(&explanation)?;
    report.json["row"] = json!(row.number);
    report.json["encoding_notes"] = json!(row.features.encoding_notes());
    Ok(report)
}

/// Calls the limit of solves by its flag if a reason names the setting.
fn name_flags(explanation: &mut Explanation) {
    let reasons = [
        &mut explanation.ranges.reason,
        &mut explanation.alternatives.reason,
        &mut explanation.features.reason,
    ];
    for reason in reasons.into_iter().flatten() {
        *reason = reason
            .replace("max_solves = ", "--max-solves ")
            .replace("max_solves", "--max-solves");
    }
}

/// Reads the table and selects the row.
fn read_row(
    model: &Model,
    options: &ExplainOptions,
    context: &CommandContext,
) -> Result<ExplainedRow> {
    let data = require(options.data.data.as_ref(), "--data")?;
    let input = InputFile::open(&data)?;
    let in_input = |error: Error| input.error(error);
    if needs_true_costs(options) && input.path() != data {
        let message = "true costs are read from a file, not from standard input";
        return Err(Error::setting(message));
    }
    let rows = NewRows {
        path: input.path(),
        columns: &options.data.columns,
        csv: &options.data.csv,
        parameters: &options.data.parameter_files,
    };
    let (features, parameters) = rows.read(model).map_err(in_input)?;
    let instances = features.instances();
    let (number, name) = match (options.row, &options.key) {
        (None, Some(key)) => {
            let (column, value) = key.split_once('=').ok_or_else(|| {
                Error::setting(format!("--key '{key}' has no value"))
                    .with_remedy("write it as --key date=2026-01-05")
            })?;
            let keys = rows.keys(model.predictor(), Some(column), instances);
            let number = row_of_key(&keys.map_err(in_input)?, value).map_err(in_input)?;
            (number, format!("{column} {value}"))
        }
        (Some(row), None) => (row, format!("row {row}")),
        (None, None) if instances == 1 => (0, "row 0".to_owned()),
        _ => {
            return Err(Error::setting(format!(
                "the table has {instances} rows; one is explained"
            ))
            .with_remedy("give --row N, counted from 0, or --key COLUMN=VALUE"));
        }
    };
    if number >= instances {
        let last = instances.saturating_sub(1);
        let error = Error::data(format!("row {number} does not exist"))
            .with_remedy(format!("rows are counted from 0 to {last}"));
        return Err(in_input(error));
    }
    let selected = features.select_rows(&[number]);
    for note in selected.encoding_notes() {
        context.warn(&format!("note: {note}"));
    }
    Ok(ExplainedRow {
        file: data,
        number,
        name,
        features: selected,
        parameters: Arc::new(parameters.select_rows(&[number])),
    })
}

/// The only row with this key.
fn row_of_key(keys: &InstanceKeys, value: &str) -> Result<usize> {
    let has_key = |(_, key): &(usize, &String)| key.as_str() == value;
    let mut found = keys.values().iter().enumerate().filter(has_key);
    match (found.next(), found.count()) {
        (Some((row, _)), 0) => Ok(row),
        (Some(_), more) => {
            Err(
                Error::data(format!("{} rows have {} {value}", more + 1, keys.name()))
                    .with_remedy("choose one of them with --row"),
            )
        }
        (None, _) => {
            let first = &keys.values()[..keys.values().len().min(MAX_KEYS_SHOWN)];
            Err(Error::data(format!("no row has {} {value}", keys.name()))
                .with_remedy(format!("the column begins with {}", first.join(", "))))
        }
    }
}

/// Whether the options name columns or files with the true costs.
fn needs_true_costs(options: &ExplainOptions) -> bool {
    let data = &options.data;
    data.costs.is_some() || data.cost_data.is_some() || data.cost_column.is_some()
}

/// The true costs of the row, if they are asked for.
fn true_costs(
    model: &Model,
    options: &ExplainOptions,
    row: &ExplainedRow,
    context: &CommandContext,
) -> Result<Option<Vec<f64>>> {
    if !needs_true_costs(options) {
        return Ok(None);
    }
    let source = table_source_for_model(&options.data, model)?;
    let (problem, mut table) = dataset_for_model(&source, model)?;
    let in_table = in_file(source.costs_file());
    let warnings = model
        .predictor()
        .match_table(&mut table, problem.kind().as_ref())
        .map_err(&in_table)?;
    for warning in warnings {
        let file = source.costs_file().display();
        context.warn(&format!("note: {file}: {warning}"));
    }
    let mut costs = Vec::new();
    if row.number >= table.len() {
        let error = Error::data(format!("row {} has no true costs", row.number));
        return Err(in_table(error));
    }
    table.costs().read(row.number, &mut costs);
    Ok(Some(costs))
}
