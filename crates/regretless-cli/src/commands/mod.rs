//! One file per command. Each turns its options into calls of the library and reports.

use std::ffi::OsString;
use std::path::Path;

use regretless::data::{CostMatching, Dataset, InstanceKeys, RowParameters, TableSource};
use regretless::evaluate::TrainingOverlap;
use regretless::job::{LabeledTable, MatchedTable, RowLabels};
use regretless::label::{LabelReport, LabelStore, LabeledDataset};
use regretless::notes::{Note, NoteKind};
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::predict::CostModel;
use regretless::{Error, Model, Problem, Result};
use regretless_study::table_report::{SkippedRows, UnusedColumns};
use regretless_study::text::grouped;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::{Command, CommandArgs, ExecutionOptions, GlobalOptions};
use crate::input::{in_file, keys_of_table};
use crate::output::{CommandReport, print_warning};
use crate::progress::ProgressObserver;
use crate::settings;

mod backtest;
mod check;
mod compare;
mod data_split;
mod decide;
mod decision_page;
mod encoding;
mod evaluate;
mod explain;
mod fit;
mod generate;
mod inspect;
mod label;
mod new;
mod reproduce;
mod row_file;
mod solve;
mod train;

pub use new::NewOptions;

/// Most rows without a label that are named. Untuned: keeps the output short.
const MAX_SKIPPED_ROWS_SHOWN: usize = 10;

/// State that all commands have.
pub struct CommandContext {
    /// Progress bars and Ctrl-C.
    pub progress: ProgressObserver,
    /// Whether existing outputs are replaced.
    pub force: bool,
    /// The command line of this run, with the name of the program.
    pub arguments: Vec<OsString>,
    quiet: bool,
}

impl CommandContext {
    fn new(common: &GlobalOptions, arguments: &[OsString]) -> Self {
        Self {
            progress: ProgressObserver::new(common.quiet),
            force: common.force,
            arguments: arguments.to_vec(),
            quiet: common.quiet,
        }
    }

    /// Prints a warning, unless `--quiet`.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            print_warning(text);
        }
    }
}

impl CommandContext {
    /// Matches a table to its problem; warns if costs, or numbers of the problem, match by position
    /// only.
    fn open_table(&self, data: Dataset, file: &Path, problem: &Problem) -> Result<MatchedTable> {
        let table = MatchedTable::open(problem.kind().as_ref(), data, "the table");
        let table = table.map_err(in_file(file))?;
        for note in table.notes() {
            self.warn(&format!("note: {}: {}", file.display(), note.text));
        }
        Ok(table)
    }

    /// Warns if numbers of another problem than the model's match its costs by position only.
    fn warn_about_positions(&self, file: &Path, model: &Model) {
        let problem = model.problem();
        let note = model
            .predictor()
            .position_note(problem.spec(), problem.kind().as_ref());
        if let Some(note) = note {
            self.warn(&format!("note: {}: {note}", file.display()));
        }
    }

    /// Prints a line for each note.
    pub fn print_notes<'n>(&self, notes: impl IntoIterator<Item = &'n Note>) {
        for note in notes {
            let word = match note.kind {
                NoteKind::DataCheck(_) => "check",
                NoteKind::Scale => "warning",
                _ => "note",
            };
            self.warn(&format!("{word}: {}", note.text));
        }
    }

    /// Warns if costs are matched by position.
    fn warn_about_matching(&self, file: &Path, matching: &CostMatching) {
        if let Some(warning) = matching.warning() {
            self.warn(&format!("note: {}: {warning}", file.display()));
        }
    }

    /// Says that solved rows are kept if labeling was interrupted.
    fn explain_interrupted_labels(&self, error: Error, store: &LabelStore) -> Error {
        if matches!(error, Error::Interrupted) {
            let folder = store.folder().display();
            self.warn(&format!(
                "note: rows solved so far are stored in {folder}; the same command resumes"
            ));
        }
        error
    }

    /// Names the rows that have no label, as the user calls them.
    fn name_skipped_rows(&self, report: &LabelReport, source: &TableSource) -> SkippedRows {
        let keys = if report.failed.is_empty() {
            None
        } else {
            named_rows(source, report.rows)
        };
        for (row, failure) in report.failed.iter().take(MAX_SKIPPED_ROWS_SHOWN) {
            let name = match &keys {
                Some(keys) => format!("; {} {}", keys.name(), keys.values()[*row]),
                None => String::new(),
            };
            self.warn(&format!(
                "note: row {row} (counted from 0{name}) is skipped: {failure}"
            ));
        }
        if report.failed.len() > MAX_SKIPPED_ROWS_SHOWN {
            self.warn(&format!(
                "note: {} rows are skipped in total",
                grouped(report.failed.len() as u64)
            ));
        }
        SkippedRows::new(&report.failed, keys.as_ref())
    }

    /// Names the columns of a table that are not used; `data` is the table as it was read. Columns
    /// with another use, such as the times of a split, are `used`.
    fn unused_columns(
        &self,
        source: &TableSource,
        data: &Dataset,
        used: &[&str],
    ) -> Result<UnusedColumns> {
        let mut unused = source.unused_columns(data)?;
        unused.retain(|(name, _)| !used.contains(&name.as_str()));
        if data.features().names().is_empty() {
            // A command that reads costs only selects no features.
            for (_, reason) in &mut unused {
                if reason == "not selected" {
                    "no cost".clone_into(reason);
                }
            }
        }
        let unused = UnusedColumns::new(unused);
        if let Some(text) = unused.text() {
            self.warn(&format!(
                "note: {}: columns that are not used: {text}",
                source.costs_file().display()
            ));
        }
        Ok(unused)
    }

    /// Notes that several instances have the same key.
    fn warn_about_duplicate_keys(&self, keys: &InstanceKeys) {
        if let Some((key, count)) = keys.first_duplicate() {
            self.warn(&format!(
                "note: {count} instances have the key '{key}' in column {}; results are in the \
                 order of the table",
                keys.name()
            ));
        }
    }

    /// Notes that instances lack items which others have: a row may have been forgotten.
    fn warn_about_absent_items(&self, file: &Path, parameters: &RowParameters) {
        let lacking = parameters.rows_lacking_items();
        if let Some(first) = lacking.first() {
            let [count, rows] = [lacking.len(), parameters.rows()].map(|n| grouped(n as u64));
            let verb = if lacking.len() == 1 { "has" } else { "have" };
            self.warn(&format!(
                "note: {}: {count} of {rows} instances {verb} fewer items than others, the first \
                 of them is instance {first} (counted from 0); missing items count as absent",
                file.display()
            ));
        }
    }

    /// Warns if a model was trained on rows that it is measured on.
    fn warn_about_overlap(
        &self,
        model: &CostModel,
        data: &LabeledDataset,
        rows: &[usize],
    ) -> Option<TrainingOverlap> {
        let overlap = model.training_overlap(data, rows)?;
        if let Some(warning) = overlap.warning() {
            self.warn(&format!("note: {warning}"));
        }
        Some(overlap)
    }

    /// Hints at a format in which a large table stays on disk.
    fn hint_at_storage(&self, source: &TableSource, data: &Dataset) {
        if let Some(hint) = source.storage_hint(data) {
            self.warn(&format!("note: {hint}"));
        }
    }
}

/// Which options the user has chosen, before defaults are filled in.
#[derive(Clone, Copy)]
struct GivenOptions {
    /// The method or methods.
    method: bool,
    /// The criterion by which epochs are selected: by itself, or by a profile.
    selection: bool,
    /// The split.
    split: bool,
}

/// Runs a command and prints its report; returns the failure that the report contains.
pub fn run(command: Command, arguments: &[OsString]) -> Result<Option<Error>> {
    match command {
        Command::Generate(call) => run_command(call, arguments, "generate", generate::run),
        Command::Check(call) => run_command(call, arguments, "check", check::run),
        Command::Fit(call) => run_command(*call, arguments, "fit", fit::run),
        Command::Label(call) => run_command(call, arguments, "label", label::run),
        Command::Train(call) => run_command(*call, arguments, "train", train::run),
        Command::Evaluate(call) => run_command(call, arguments, "evaluate", evaluate::run),
        Command::Decide(call) => run_command(call, arguments, "decide", decide::run),
        Command::Explain(call) => run_command(*call, arguments, "explain", explain::run),
        Command::Inspect(call) => run_command(call, arguments, "inspect", inspect::run),
        Command::New(call) => run_command(call, arguments, "new", new::run),
        Command::Solve(call) => run_command(call, arguments, "solve", solve::run),
        Command::Compare(call) => run_command(*call, arguments, "compare", compare::run),
        Command::Backtest(call) => run_command(*call, arguments, "backtest", backtest::run),
        Command::Reproduce(call) => run_command(call, arguments, "reproduce", reproduce::run),
    }
}

fn run_command<O: clap::Args + Serialize + DeserializeOwned>(
    call: CommandArgs<O>,
    arguments: &[OsString],
    name: &str,
    work: impl FnOnce(&O, &CommandContext) -> Result<CommandReport>,
) -> Result<Option<Error>> {
    let context = CommandContext::new(&call.common, arguments);
    let options = settings::merged(call.options, call.common.config.as_deref(), name)?;
    let outcome = work(&options, &context);
    // A failed command leaves its progress bar, which would be drawn over the error.
    context.progress.end();
    let report = outcome?;
    if call.common.json || !(report.stdout_is_taken && call.common.quiet) {
        report.print(call.common.json)?;
    }
    if let Some(end) = report.end {
        end()?;
    }
    Ok(report.failure)
}

/// The oracle of a problem and the rows of a table, whose costs are in the order of the problem,
/// with the threads and heuristic of the options.
fn oracle(problem: &Problem, data: &Dataset, execution: &ExecutionOptions) -> Result<Oracle> {
    let threads = Threads::new(execution.threads.unwrap_or(0))?;
    Oracle::new(problem.kind().clone())
        .with_threads(threads)
        .with_limits(execution.limits.search_limits()?)
        .with_heuristic(execution.heuristic)?
        .with_parameters(data.parameters())
}

/// The label store next to a table.
fn store(file: &Path, execution: &ExecutionOptions) -> LabelStore {
    LabelStore::for_table(file)
        .with_flush_interval(execution.checkpoint_interval(LabelStore::DEFAULT_FLUSH_INTERVAL))
}

/// A labeled table and the oracle of its rows.
struct LabeledRows {
    table: LabeledTable,
    oracle: Oracle,
    /// The rows without a label, as the user calls them.
    skipped_rows: SkippedRows,
}

/// Labels a table; stored labels are used if they exist. Rows that cannot be solved are named as
/// the user calls them.
fn labeled(
    table: MatchedTable,
    source: &TableSource,
    problem: &Problem,
    execution: &ExecutionOptions,
    context: &CommandContext,
) -> Result<LabeledRows> {
    let file = source.costs_file();
    if let Some(parameters) = table.data().parameters() {
        context.warn_about_absent_items(file, parameters);
    }
    let oracle = oracle(problem, table.data(), execution).map_err(in_file(file))?;
    let store = store(file, execution);
    let table = table
        .label(
            problem,
            &oracle,
            RowLabels::Stored(&store),
            &context.progress,
        )
        .map_err(|error| context.explain_interrupted_labels(error, &store))
        .map_err(in_file(file))?;
    let report = &table.report;
    for warning in &report.warnings {
        context.warn(&format!("note: {warning}"));
    }
    context.print_notes(&table.notes);
    if report.stored_rows > 0 {
        let [stored, rows, solved] = [report.stored_rows, report.rows, report.solved_rows]
            .map(|count| grouped(count as u64));
        context.warn(&format!(
            "note: labels of {stored} of {rows} rows read from {}, {solved} solved now",
            store.folder().display()
        ));
    }
    let skipped_rows = context.name_skipped_rows(report, source);
    Ok(LabeledRows {
        table,
        oracle,
        skipped_rows,
    })
}

/// How the user calls the rows of a table: by a column of dates, or by the instances of a long
/// table; `None` if they have only numbers.
fn named_rows(source: &TableSource, rows: usize) -> Option<InstanceKeys> {
    let column = source.date_column().ok().flatten();
    let keys = keys_of_table(source, column.as_deref(), rows).ok()?;
    (keys != InstanceKeys::numbered(rows)).then_some(keys)
}

/// A value as JSON.
fn json<T: Serialize>(value: &T) -> Result<serde_json::Value> {
    serde_json::to_value(value)
        .map_err(|e| Error::setting(format!("the result cannot be written as JSON: {e}")))
}
