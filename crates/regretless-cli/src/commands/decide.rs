//! `decide`: predicted costs of new rows, and the decisions they lead to.

use std::path::Path;

use regretless::data::atomic_write::check_free;
use regretless::data::{CostNames, FeatureShape, Matrix, csv, npy};
use regretless::evaluate::match_model;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::predict::CostModel;
use regretless::{Decision, Error, Result};
use serde_json::json;

use super::{CommandContext, oracle};
use crate::args::DecideOptions;
use crate::input::{BuiltProblem, TableFormat, features_for_model, in_file, require};
use crate::output::{CommandReport, grouped, path_json};

/// Predicts, decides, and writes.
pub fn run(options: &DecideOptions, session: &CommandContext) -> Result<CommandReport> {
    let model_file = require(options.model.as_ref(), "--model")?;
    let data = require(options.data.as_ref(), "--data")?;
    let out = require(options.out.as_ref(), "--out")?;
    let sparse = options.sparse.unwrap_or(false);
    if TableFormat::of(&out)? == TableFormat::Npy && sparse {
        return Err(Error::setting(
            "--sparse writes CSV; name a file that ends in .csv",
        ));
    }
    for path in options.predictions_out.iter().chain([&out]) {
        TableFormat::of(path)?;
        check_free(path, session.force)?;
    }
    let model = CostModel::load(&model_file)?;
    let built = BuiltProblem::of_model((&model, &model_file), options.problem.as_ref())?;
    let matching = match_model(&model, built.problem.as_ref()).map_err(in_file(&model_file))?;
    session.warn_about_matching(&model_file, &matching);
    let features = features_for_model(&data, &options.columns, &model)?;
    if positions_name_items(options, &model) {
        let notice = "rows of an instance are matched to the model's costs by position; name them \
            by --item-column";
        session.warn(&format!("note: {}: {notice}", data.display()));
    }
    let predicted = model
        .predict_matched(&features, &matching)
        .map_err(in_file(&data))?;
    check_width(&predicted, &built).map_err(in_file(&data))?;
    let decisions = decide(
        predicted.clone(),
        &oracle(&built, &options.execution)?,
        session,
    )?;
    let names = matching
        .names()
        .cloned()
        .unwrap_or_else(|| names(&model, predicted.cols()));
    if let Some(path) = &options.predictions_out {
        match TableFormat::of(path)? {
            TableFormat::Csv => csv::write_predictions(path, &names, &predicted, session.force)?,
            TableFormat::Npy => npy::write_predictions(path, &predicted, session.force)?,
        }
    }
    write(&out, &names, &decisions, sparse, session.force)?;
    let mut report = CommandReport {
        json: json!({"instances": decisions.len(), "decisions": path_json(&out), "predictions": options.predictions_out.as_deref().map(path_json)}),
        ..CommandReport::default()
    };
    report.line(format!(
        "{} decisions written to {}",
        grouped(decisions.len() as u64),
        out.display()
    ));
    if let Some(path) = &options.predictions_out {
        report.line(format!("predicted costs written to {}", path.display()));
    }
    Ok(report)
}

fn check_width(predicted: &Matrix, built: &BuiltProblem) -> Result<()> {
    let (found, right) = (predicted.cols(), built.problem.num_costs());
    if found == right {
        return Ok(());
    }
    Err(Error::data(format!(
        "{found} costs are predicted per instance, {} needs {right}",
        built.problem.name()
    )))
}

/// Whether only the order of rows says which item of a long table is which, though the model knows
/// items by name.
fn positions_name_items(options: &DecideOptions, model: &CostModel) -> bool {
    match model.about.shape {
        FeatureShape::Wide => false,
        FeatureShape::Long { .. } => {
            !model.about.costs.are_numbered() && options.columns.item_column.is_none()
        }
    }
}

/// Names of the variables; a long table without item names may have another number of items.
fn names(model: &CostModel, count: usize) -> CostNames {
    let known = &model.about.costs;
    if known.len() == count {
        known.clone()
    } else {
        CostNames::numbered(count)
    }
}

fn decide(mut costs: Matrix, oracle: &Oracle, session: &CommandContext) -> Result<Vec<Decision>> {
    oracle
        .problem()
        .sense()
        .convert_single(costs.as_mut_slice());
    session.progress.begin("deciding", costs.rows() as u64);
    let answers = oracle.solve_all(&costs, &session.progress)?;
    session.progress.end();
    let each = answers
        .into_iter()
        .enumerate()
        .map(|(instance, answer)| match answer {
            Ok(solution) => Ok(solution.decision),
            Err(failure) => Err(Error::solver(instance, failure)),
        });
    each.collect()
}

fn write(
    path: &Path,
    names: &CostNames,
    decisions: &[Decision],
    sparse: bool,
    force: bool,
) -> Result<()> {
    let form = if sparse {
        csv::DecisionFormat::Sparse
    } else {
        csv::DecisionFormat::Dense
    };
    match TableFormat::of(path)? {
        TableFormat::Csv => csv::write_decisions(path, names, decisions, form, force),
        TableFormat::Npy => npy::write_decisions(path, names.len(), decisions, force),
    }
}
