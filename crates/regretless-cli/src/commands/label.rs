//! `label`: the optimal decision of every row, computed once and stored next to the table, on one
//! machine or several.

use regretless::data::TableSource;
use regretless::error::InputPlace;
use regretless::job::MatchedTable;
use regretless::label::Shard;
use regretless::{Error, Problem, Result};
use regretless_study::table_report::UnusedColumns;
use regretless_study::text::grouped;
use serde_json::json;

use super::{CommandContext, LabeledRows, labeled, oracle, store};
use crate::args::LabelOptions;
use crate::input::{CostTable, costs_only, in_file, require};
use crate::output::{CommandReport, path_json};

/// The table that is labeled.
struct Labeling<'a> {
    problem: Problem,
    source: TableSource,
    table: MatchedTable,
    unused: UnusedColumns,
    options: &'a LabelOptions,
    context: &'a CommandContext,
}

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
        data,
    } = costs_only(&options.data, &problem)?;
    let unused = context.unused_columns(&source, &data, &[])?;
    let labeling = Labeling {
        table: context.open_table(data, source.costs_file(), &problem)?,
        problem,
        source,
        unused,
        options,
        context,
    };
    match shard {
        Some(shard) => labeling.label_shard(shard),
        None => labeling.label(),
    }
}

impl Labeling<'_> {
    fn label(self) -> Result<CommandReport> {
        let execution = &self.options.execution;
        let LabeledRows {
            table,
            oracle,
            skipped_rows,
        } = labeled(
            self.table,
            &self.source,
            &self.problem,
            execution,
            self.context,
        )?;
        let (data, labels) = (table.rows, table.report);
        let store = store(self.source.costs_file(), execution);
        let solved = oracle.counts().total();
        let json = json!({
            "heuristic": oracle.heuristic(),
            "rows": data.len(),
            "solved": solved,
            "stored": labels.stored_rows,
            "labels": labels.is_stored.then(|| path_json(store.folder())),
            "quality": data.label_counts(&data.rows()),
            "failed": skipped_rows,
            "unused_columns": self.unused.json(),
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
        Ok(report)
    }

    fn label_shard(self, shard: Shard) -> Result<CommandReport> {
        let (file, context) = (self.source.costs_file(), self.context);
        let execution = &self.options.execution;
        let data = self.table.data().clone();
        let oracle = oracle(&self.problem, &data, execution).map_err(in_file(file))?;
        let store = store(file, execution);
        let labeled = store
            .label_shard(data, self.problem.spec(), &oracle, shard, &context.progress)
            .map_err(|error| context.explain_interrupted_labels(error, &store))
            .map_err(in_file(file))?;
        for warning in &labeled.warnings {
            context.warn(&format!("note: {warning}"));
        }
        let json = json!({
            "solved": labeled.solved_rows,
            "known": labeled.known_rows,
            "rows": labeled.rows,
            "folder": path_json(store.folder()),
            "unused_columns": self.unused.json(),
        });
        let mut report = CommandReport {
            json,
            ..CommandReport::default()
        };
        let [solved, known, rows] = [labeled.solved_rows, labeled.known_rows, labeled.rows]
            .map(|count| grouped(count as u64));
        report.line(format!(
            "{solved} rows solved, {known} of {rows} known; the command without --shard merges them"
        ));
        Ok(report)
    }
}
