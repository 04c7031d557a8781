//! `label`: the optimal decision of every row, computed once and stored next to the table, on one
//! machine or several.

use regretless::error::InputPlace;
use regretless::label::Shard;
use regretless::{Error, Result};
use regretless_study::text::grouped;
use serde_json::json;

use super::{CommandContext, LabeledTable, labeled, oracle, store};
use crate::args::LabelOptions;
use crate::input::{CostTable, costs_only, in_file, require};
use crate::output::{CommandReport, path_json};

/// Labels the whole table or a shard of it.
pub fn run(options: &LabelOptions, context: &CommandContext) -> Result<CommandReport> {
    let shard = options
        .shard
        .as_deref()
        .map(str::parse::<Shard>)
        .transpose()?;
    let problem = require(options.problem.as_ref(), "--problem")?;
    let CostTable {
        source,
        problem,
        data: mut table,
    } = costs_only(&options.data, &problem)?;
    let file = source.costs_file().to_path_buf();
    let unused = context.unused_columns(&source, &table, &[])?;
    context.match_table(&mut table, &file, &problem)?;
    let oracle = oracle(&problem, &table, &options.execution).map_err(in_file(&file))?;
    let store = store(&file, &options.execution);
    let Some(shard) = shard else {
        let LabeledTable {
            data,
            report: labels,
            skipped_rows,
        } = labeled(table, &source, &store, &problem, &oracle, context).map_err(in_file(&file))?;
        let solved = oracle.counts().total();
        let json = json!({
            "heuristic": oracle.heuristic(),
            "rows": data.len(),
            "solved": solved,
            "stored": labels.stored_rows,
            "labels": labels.is_stored.then(|| path_json(store.folder())),
            "quality": data.label_counts(&data.rows()),
            "failed": skipped_rows,
            "unused_columns": unused.json(),
        });
        let mut report = CommandReport {
            json,
            ..CommandReport::default()
        };
        let (rows, solved) = (grouped(data.rows().len() as u64), grouped(solved));
        let kind = match oracle.heuristic() {
            None if data.label_counts(&data.rows()).are_optimal() => "optimal decisions".into(),
            None => "decisions within the limits".into(),
            Some(heuristic) => format!("decisions by '{heuristic}'"),
        };
        if labels.is_stored {
            report.line(format!(
                "{kind} of {rows} rows in {}, {solved} solved now",
                store.folder().display()
            ));
        } else {
            // Labels that are not stored are a failure of this command.
            report.line(format!(
                "{kind} of {rows} rows computed but not stored, {solved} solved now"
            ));
            let message = "the labels could not be written";
            report.failure = Some(
                Error::input(InputPlace::file(store.folder()), message)
                    .with_remedy("make their folder writable, or copy the table elsewhere"),
            );
        }
        return Ok(report);
    };
    let shard_report = store
        .label_shard(table, problem.spec(), &oracle, shard, &context.progress)
        .map_err(|error| context.explain_interrupted_labels(error, &store))
        .map_err(in_file(&file))?;
    for warning in &shard_report.warnings {
        context.warn(&format!("note: {warning}"));
    }
    let json = json!({
        "solved": shard_report.solved_rows,
        "known": shard_report.known_rows,
        "rows": shard_report.rows,
        "folder": path_json(store.folder()),
        "unused_columns": unused.json(),
    });
    let mut report = CommandReport {
        json,
        ..CommandReport::default()
    };
    let [solved, known, rows] = [
        shard_report.solved_rows,
        shard_report.known_rows,
        shard_report.rows,
    ]
    .map(|count| grouped(count as u64));
    report.line(format!(
        "{solved} rows solved, {known} of {rows} known; the command without --shard merges them"
    ));
    Ok(report)
}
