//! `backtest`: what each method would have cost on the user's history.
//!
//! The folder holds `cells/`, one file per training that is finished, so the same command resumes;
//! then `settings.toml` and the results: `periods.csv`, `decisions.csv`, `summary.json`.

use std::path::{Path, PathBuf};

use regretless::data::{CostNames, DataCheck, SplitIndices, SplitRule, TableSource};
use regretless::job::PreparedJob;
use regretless::label::Shard;
use regretless::method::Method;
use regretless::oracle::Oracle;
use regretless::{Error, Result};
use regretless_study::backtest::{
    Backtest, BacktestHistory, BacktestTable, Periods, RollingOrigin, TrainingWindow,
};
use regretless_study::decision_page::{BacktestFacts, BacktestPage};
use regretless_study::table_report::{SkippedRows, UnusedColumns};
use regretless_study::text::{settings_text, write_text};

use super::decision_page;
use super::train::check_utf8;
use super::{CommandContext, LabeledRows, labeled};
use crate::args::{BacktestOptions, PageOptions, Profile};
use crate::input::{in_file, require, table_and_problem, table_source};
use crate::output::CommandReport;
use crate::shell::command_line;

mod given;
mod report;

use given::DecisionColumns;

const SETTINGS_FILE_NAME: &str = "settings.toml";
/// The last file of the results.
const SUMMARY_FILE_NAME: &str = "summary.json";

/// The labeled history with its folds.
struct History {
    labeled: BacktestHistory,
    oracle: Oracle,
    skipped_rows: SkippedRows,
    unused_columns: UnusedColumns,
    /// What a user should know about the times.
    notes: Vec<String>,
    source: TableSource,
    /// Names of the costs as the table has them, before they are in the order of the problem.
    table_costs: CostNames,
    /// Its columns with decisions that were made.
    decision_columns: Option<DecisionColumns>,
}

impl History {
    fn table(&self) -> BacktestTable<'_> {
        self.labeled.table(&self.oracle)
    }
}

/// The earlier and the later half of the rows.
fn halves(source: &TableSource, time: &str, rows: usize) -> Result<SplitIndices> {
    let rule = SplitRule::Time {
        column: time.to_owned(),
        fractions: [0.0, 0.5],
    };
    source.split(&rule.with_seed(0), rows)
}

/// Where the results come from, for the page.
fn facts(
    options: &BacktestOptions,
    page: &PageOptions,
    folder: &Path,
    history: &History,
    context: &CommandContext,
) -> BacktestFacts {
    BacktestFacts {
        table: decision_page::table_name(&options.data),
        origin: decision_page::origin(&options.data),
        time_column: options.origin.time.clone(),
        coordinates: page.coordinates.clone(),
        settings_file: Some(format!("{}/{SETTINGS_FILE_NAME}", folder.display())),
        commands: vec![command_line(&context.arguments)],
        unused_columns: history.unused_columns.clone(),
        ..BacktestFacts::default()
    }
}

/// Refuses the report of one shard.
fn check_shard(shard: Option<&Shard>, page: &PageOptions) -> Result<()> {
    if shard.is_some() && page.is_wanted() {
        return Err(Error::setting("one shard has no report")
            .with_remedy("when all shards are finished, give --report without --shard"));
    }
    Ok(())
}

/// Runs the backtest and reports.
pub fn run(options: &BacktestOptions, context: &CommandContext) -> Result<CommandReport> {
    check_utf8([&options.data.data, &options.data.cost_data, &options.out])?;
    let selection_is_given =
        options.training.select.is_some() || options.training.profile.is_some();
    let mut options = resolved(options.clone());
    let shard: Option<Shard> = options.shard.take().map(|text| text.parse()).transpose()?;
    // It changes no result and is no setting of it.
    let page = std::mem::take(&mut options.page);
    // That of a complete backtest is compared with what would be written.
    let may_be_same = folder(&options).join(SUMMARY_FILE_NAME).exists();
    decision_page::check(&page, None, may_be_same, context)?;
    decision_page::check_coordinates(&page)?;
    check_shard(shard.as_ref(), &page)?;
    let time = require(options.origin.time.as_ref(), "--time")?;
    let folder = folder(&options);
    let history = checked_history(&mut options, &time, &folder, context)?;
    let check = |check: DataCheck<'_>| history.source.check(check, Some(&time));
    let given = given::methods(&options, &history)?;
    let mut backtest = backtest_of(&options, folder.clone());
    let (labeled, oracle) = (&history.labeled, &history.oracle);
    let PreparedJob { findings, notes } =
        backtest.prepare(labeled, oracle, selection_is_given, check)?;
    context.print_notes(&notes);
    let explain = |error: Error| {
        if matches!(error, Error::Interrupted) {
            context.warn(&format!(
                "note: finished trainings are kept in {}; the same command resumes",
                folder.display()
            ));
        }
        error
    };
    match shard {
        Some(shard) => {
            let cells = backtest.run_shard(&history.table(), &given, shard, &context.progress);
            Ok(shard_report(cells.map_err(explain)?, shard, &folder))
        }
        None => {
            let results = backtest.run(&history.table(), &given, &context.progress);
            let results = results.map_err(explain)?;
            write_settings(&folder, &options)?;
            let summary = folder.join(SUMMARY_FILE_NAME);
            let earlier = std::fs::read(&summary).ok();
            results.write(&folder)?;
            if earlier.is_some() && earlier == std::fs::read(&summary).ok() {
                context.warn("note: this backtest was complete; its results are unchanged");
            }
            let mut report = report::report(&results, &history, &folder)?;
            if page.is_wanted() {
                let cost_names = page.names.of_table(history.labeled.data.data())?;
                let facts = BacktestFacts {
                    cost_names,
                    ..facts(&options, &page, &folder, &history, context)
                };
                let drawn = BacktestPage {
                    results: &results,
                    backtest: &backtest,
                    table: history.table(),
                    findings: &findings,
                    facts,
                };
                let drawn = drawn.draw(&context.progress)?;
                decision_page::write(&drawn, &page, context.force, &mut report)?;
            }
            Ok(report)
        }
    }
}

/// Reads and labels the table. The options get the default method, which depends on the folds;
/// methods that are given are compared with those of the folder before anything is solved.
fn checked_history(
    options: &mut BacktestOptions,
    time: &str,
    folder: &Path,
    context: &CommandContext,
) -> Result<History> {
    if options.methods.is_some() {
        check_settings(folder, options, context)?;
        return read_history(options, time, context);
    }
    let history = read_history(options, time, context)?;
    let backtest = backtest_of(options, folder.to_path_buf());
    options.methods = Some(vec![backtest.default_method(history.labeled.folds.len())]);
    check_settings(folder, options, context)?;
    Ok(history)
}

/// The options with every default filled in, except for a method that depends on the folds.
fn resolved(mut options: BacktestOptions) -> BacktestOptions {
    options.training = options.training.resolved(Profile::Default);
    options.seed.get_or_insert(0);
    if let Some(listed) = options.methods.take() {
        let mut methods: Vec<Method> = Vec::new();
        for method in listed {
            // Least squares is always compared.
            if !methods.contains(&method) && method != Method::least_squares() {
                methods.push(method);
            }
        }
        options.methods = Some(methods);
    }
    options
}

/// The folder of the results.
fn folder(options: &BacktestOptions) -> PathBuf {
    options.out.clone().unwrap_or_else(|| {
        let stem = options.data.data.as_deref().and_then(Path::file_stem);
        let name = stem.map_or("table".into(), |stem| stem.to_string_lossy());
        Path::new("runs").join(format!("backtest-{name}"))
    })
}

/// The settings that decide about results, for comparison.
fn settings_table(text: &str) -> Option<toml::Table> {
    let mut table = text.parse::<toml::Table>().ok()?;
    for irrelevant in ["threads", "out", "shard"] {
        table.remove(irrelevant);
    }
    Some(table)
}

/// Refuses a folder with results of other settings. Those of the same settings are replaced: the
/// table may have new rows.
fn check_settings(
    folder: &Path,
    options: &BacktestOptions,
    context: &CommandContext,
) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::Exists(folder.to_path_buf()));
    }
    let path = folder.join(SETTINGS_FILE_NAME);
    if context.force || !path.exists() {
        return Ok(());
    }
    let written = std::fs::read(&path).map_err(Error::io(&path))?;
    let written = settings_table(&String::from_utf8_lossy(&written));
    if written.is_none() || written != settings_table(&settings_text(options, "backtest")?) {
        return Err(Error::Exists(path));
    }
    Ok(())
}

fn write_settings(folder: &Path, options: &BacktestOptions) -> Result<()> {
    let text = settings_text(options, "backtest")?;
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    write_text(&folder.join(SETTINGS_FILE_NAME), &text, true)
}

fn backtest_of(options: &BacktestOptions, folder: PathBuf) -> Backtest {
    let origin = &options.origin;
    let mut backtest = Backtest::new(options.methods.clone().unwrap_or_default());
    backtest.predictor = options.predictor.clone();
    let seed = u64::from(options.seed.unwrap_or(0));
    backtest.training = options.training.settings(Profile::Default, seed);
    if let Some(validation) = origin.validation {
        backtest.validation = validation;
    }
    backtest.refit = !origin.no_refit.unwrap_or(false);
    backtest.warm_start = origin.warm_start.unwrap_or(false);
    backtest.season = options.season;
    backtest.unit = options.unit.clone();
    backtest.folder = Some(folder);
    backtest
}

fn rolling_origin(options: &BacktestOptions) -> Result<RollingOrigin> {
    let origin = &options.origin;
    let window = match (origin.window.map(|window| window.0), origin.initial) {
        (None | Some(TrainingWindow::Expanding(_)), initial) => TrainingWindow::Expanding(initial),
        (Some(window @ TrainingWindow::Rolling(_)), None) => window,
        (Some(TrainingWindow::Rolling(_)), Some(_)) => {
            return Err(
                Error::setting("--initial is the first training of an expanding window")
                    .with_remedy("leave it out, or give --window expanding"),
            );
        }
    };
    Ok(RollingOrigin {
        window,
        step: origin.step,
        horizon: origin.horizon,
        gap: origin.gap_periods.unwrap_or(0),
    })
}

/// Reads and labels the table and divides its periods.
fn read_history(
    options: &BacktestOptions,
    time: &str,
    context: &CommandContext,
) -> Result<History> {
    let problem = require(options.problem.as_ref(), "--problem")?;
    let origin = rolling_origin(options)?;
    let source = table_source(&given::without_decisions(options)?)?;
    let file = source.costs_file().to_path_buf();
    let (problem, data) = table_and_problem(&source, &problem)?;
    let table_costs = data.cost_names().clone();
    let decision_columns = DecisionColumns::of_table(options, &source, &table_costs, &problem)?;
    let mut used = vec![time];
    if let Some(columns) = &decision_columns {
        used.extend(columns.names.iter().map(String::as_str));
        if let Some(note) = &columns.note {
            context.warn(&format!("note: {}: {note}", file.display()));
        }
    }
    let unused_columns = context.unused_columns(&source, &data, &used)?;
    let table = context.open_table(data, &file, &problem)?;
    context.hint_at_storage(&source, table.data());
    // Before rows are solved, which may take long: the times decide whether anything can be done.
    let periods = Periods::read(&source, time)?;
    origin.folds(&periods).map_err(in_file(&file))?;
    let LabeledRows {
        table,
        oracle,
        skipped_rows,
    } = labeled(table, &source, &problem, &options.execution, context)?;
    let halves = halves(&source, time, table.rows.len())?;
    let folds = |periods: &Periods| origin.folds(periods);
    let labeled = BacktestHistory::new(problem, table.rows, periods, halves, folds);
    let labeled = labeled.map_err(in_file(&file))?;
    let notes = labeled.periods.notes();
    for note in &notes {
        context.warn(&format!("note: {}: {note}", file.display()));
    }
    Ok(History {
        labeled,
        oracle,
        skipped_rows,
        unused_columns,
        notes,
        source,
        table_costs,
        decision_columns,
    })
}

fn shard_report(cells: usize, shard: Shard, folder: &Path) -> CommandReport {
    let mut report = CommandReport {
        json: serde_json::json!({
            "cells": cells,
            "folder": crate::output::path_json(folder),
        }),
        ..CommandReport::default()
    };
    report.line(format!(
        "shard {}/{} is finished: {cells} cells in {}; when all shards are, the same command \
         without --shard writes the results",
        shard.index + 1,
        shard.count,
        folder.display()
    ));
    report
}
