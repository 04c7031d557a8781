//! `decide`: predicted costs of new rows, and the decisions they lead to.

use std::path::Path;

use regretless::data::{CostNames, FeatureShape, OutputFile};
use regretless::predict::CostModel;
use regretless::{Decision, Error, Result};
use serde_json::json;

use super::CommandContext;
use crate::args::DecideOptions;
use crate::input::{TableFormat, features_for_model, in_file, load_model, require};
use crate::output::{CommandReport, grouped, path_json};

/// Predicts, decides, and writes.
pub fn run(options: &DecideOptions, context: &CommandContext) -> Result<CommandReport> {
    let model_file = require(options.model.as_ref(), "--model")?;
    let data = require(options.data.as_ref(), "--data")?;
    let out = require(options.out.as_ref(), "--out")?;
    let sparse = options.sparse.unwrap_or(false);
    if TableFormat::of(&out)? == TableFormat::Npy && sparse {
        return Err(
            Error::setting("--sparse writes CSV").with_remedy("name a file that ends in .csv")
        );
    }
    for path in options.predictions_out.iter().chain([&out]) {
        TableFormat::of(path)?;
        OutputFile::new(path, context.force).check_free()?;
    }
    let model = load_model(&model_file, options.problem.as_ref())?
        .with_threads(options.execution.threads.unwrap_or(0))?
        .with_limits(options.execution.limits.search_limits()?)
        .with_heuristic(options.execution.heuristic);
    let predictor = model.predictor();
    let matching = predictor
        .match_problem(model.problem().kind().as_ref())
        .map_err(in_file(&model_file))?;
    context.warn_about_matching(&model_file, &matching);
    let features = features_for_model(&data, &options.columns, &options.csv, predictor)?;
    if items_are_matched_by_position(options, predictor) {
        let warning = "rows of an instance are matched to the model's costs by position; name them \
            by --item-column";
        context.warn(&format!("note: {}: {warning}", data.display()));
    }
    let decided = model
        .decide_all(&features, &context.progress)
        .map_err(in_file(&data))?;
    if let Some(path) = &options.predictions_out {
        match TableFormat::of(path)? {
            TableFormat::Csv => {
                decided
                    .costs
                    .write_csv(path, &decided.names, context.force)?;
            }
            TableFormat::Npy => decided.costs.write_npy(path, context.force)?,
        }
    }
    write(
        &out,
        &decided.names,
        &decided.decisions,
        sparse,
        context.force,
    )?;
    let decisions = &decided.decisions;
    let mut report = CommandReport {
        json: json!({
            "instances": decisions.len(),
            "decisions": path_json(&out),
            "predictions": options.predictions_out.as_deref().map(path_json),
        }),
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

fn write(
    path: &Path,
    names: &CostNames,
    decisions: &[Decision],
    sparse: bool,
    force: bool,
) -> Result<()> {
    match TableFormat::of(path)? {
        TableFormat::Csv if sparse => Decision::write_sparse_csv(decisions, path, names, force),
        TableFormat::Csv => Decision::write_csv(decisions, path, names, force),
        TableFormat::Npy => Decision::write_npy(decisions, path, names.len(), force),
    }
}
