//! `label`: the optimal decision of every row, computed once and stored next to the table, on one
//! machine or several.

use regretless::error::InputPlace;
use regretless::label::{LabelSource, Shard};
use regretless::{Error, Result};
use serde_json::json;

use super::{CommandContext, labeled, oracle, store};
use crate::args::LabelOptions;
use crate::input::{costs_only, in_file, load_problem, require};
use crate::output::{CommandReport, grouped, path_json};

/// Labels the whole table or a shard of it.
pub fn run(options: &LabelOptions, session: &CommandContext) -> Result<CommandReport> {
    let shard = options
        .shard
        .as_deref()
        .map(str::parse::<Shard>)
        .transpose()?;
    let problem = load_problem(&require(options.problem.as_ref(), "--problem")?)?;
    let oracle = oracle(&problem, &options.execution)?;
    let (file, mut table) = costs_only(&options.data)?;
    session.match_table(&mut table, &file, &problem)?;
    let store = store(&file, &options.execution);
    let Some(shard) = shard else {
        let (data, found) =
            labeled(table, &store, &problem, &oracle, session).map_err(in_file(&file))?;
        let solved = oracle.counts().total();
        let shown = json!({
            "heuristic": oracle.heuristic(),
            "rows": data.len(),
            "solved": solved,
            "continued": found.resumed_rows,
            "labels": found.is_stored.then(|| path_json(&found.file)),
            "found": found.source == LabelSource::Stored, "failed": found.failed,
        });
        let mut report = CommandReport {
            json: shown,
            ..CommandReport::default()
        };
        let (rows, solved) = (grouped(data.rows().len() as u64), grouped(solved));
        let what = oracle
            .heuristic()
            .map_or("optimal decisions".into(), |how| {
                format!("decisions by '{how}'")
            });
        if found.is_stored {
            report.line(format!(
                "{what} of {rows} rows in {}, {solved} solved now",
                found.file.display()
            ));
        } else {
            // Labels that are not stored are a failure of this command.
            report.line(format!(
                "{what} of {rows} rows computed but not stored, {solved} solved now"
            ));
            let message = "the labels could not be written";
            report.failure = Some(
                Error::input(InputPlace::file(&found.file), message)
                    .with_remedy("make their folder writable, or copy the table elsewhere"),
            );
        }
        return Ok(report);
    };
    let done = store
        .label_shard(table, problem.spec(), &oracle, shard, &session.progress)
        .map_err(in_file(&file))?;
    done.warnings
        .iter()
        .for_each(|warning| session.warn(&format!("note: {warning}")));
    let shown = json!({
        "solved": done.solved,
        "known": done.total_solved,
        "rows": done.rows,
        "folder": path_json(store.folder()),
    });
    let mut report = CommandReport {
        json: shown,
        ..CommandReport::default()
    };
    let [solved, known, rows] =
        [done.solved, done.total_solved, done.rows].map(|count| grouped(count as u64));
    report.line(format!(
        "{solved} rows solved, {known} of {rows} known; the command without --shard merges them"
    ));
    Ok(report)
}
