//! `fit`: from a table to a verdict, a model and a page.
//!
//! The folder holds `cells/`, one file per training that is finished, so the same command resumes;
//! then `settings.toml`, which names every role, and the results.

use std::path::{Path, PathBuf};

use regretless::data::{CsvDialect, LongColumns};
use regretless::{Error, Result};
use regretless_study::fit::{
    CARD_FILE_NAME, FitCommand, FitExample, FitPlan, FitResults, FitSettings, FitTable,
    MODEL_FILE_NAME, NEW_ROWS_FILE_NAME, PAGE_FILE_NAME, RowFile, SETTINGS_FILE_NAME, StatedRoles,
    TableRoles, check_settings,
};
use regretless_study::text::{grouped, write_text};
use serde_json::json;

use super::CommandContext;
use crate::args::{CsvOptions, ExecutionOptions, FitOptions, ProblemSource, RoleOptions};
use crate::input::{load_spec, require};
use crate::output::{CommandReport, path_json, set_resumable};
use crate::settings as settings_file;
use crate::shell::{command_line, quoted};

/// Width of the column of roles: that of the longest, `row parameters`.
const ROLE_WIDTH: usize = 14;

/// The decisions of the command that is printed.
const DECISIONS_FILE_NAME: &str = "new-decisions.csv";

/// Finds the roles of the columns, compares methods, and writes model and page.
pub fn run(options: &FitOptions, context: &CommandContext) -> Result<CommandReport> {
    let options = &with_example(options.clone(), context)?;
    let settings = fit_settings(options, context)?;
    let table = FitTable::read(&settings)?;
    let resolved = with_roles(options, &table.roles, &settings);
    check_folder(&settings, &resolved, options.rows_only, context)?;
    print_roles(&table, &settings, context);
    context.print_notes(&table.notes);
    if options.rows_only {
        return write_rows(&table, &settings);
    }
    let plan = FitPlan::new(&table, &settings)?;
    context.warn(&plan.announcement());
    set_resumable();
    let results = table.fit(&plan, &settings, &context.progress)?;
    context.print_notes(&results.notes);
    write(&table, &settings, &resolved, &results)?;
    report(&settings, &table, &results)
}

/// The options of an example, whose table and problem are written first.
fn with_example(mut options: FitOptions, context: &CommandContext) -> Result<FitOptions> {
    let Some(name) = options.example.take() else {
        return Ok(options);
    };
    if options.table.is_some() || options.problem.is_some() {
        return Err(Error::setting("--example brings its own table and problem")
            .with_remedy("drop it, or drop TABLE and --problem"));
    }
    let example = FitExample::named(&name)?;
    let folder = options
        .out
        .get_or_insert_with(|| Path::new("runs").join(format!("example-{name}")));
    let [table, problem] = example.write(folder)?;
    context.warn(&format!(
        "{name}: the same as regretless fit {} --problem {} --costs '{}' --unit {}",
        table.display(),
        problem.display(),
        example.costs,
        example.unit
    ));
    options.table = Some(vec![table]);
    options.problem = Some(ProblemSource::File(problem));
    options
        .roles
        .costs
        .get_or_insert_with(|| vec![example.costs.into()]);
    options.unit.get_or_insert_with(|| example.unit.into());
    options.title.get_or_insert_with(|| example.title.into());
    Ok(options)
}

fn fit_settings(options: &FitOptions, context: &CommandContext) -> Result<FitSettings> {
    let command = FitCommand::Shell(command_line(&context.arguments));
    let files = require(options.table.as_ref(), "TABLE")?;
    let problem = load_spec(&require(options.problem.as_ref(), "--problem")?)?;
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| default_folder(&files[0]));
    let tables = row_files(&files, &options.csv)?;
    let (file, dialect) = match tables.as_slice() {
        [only] => (only.file.clone(), only.dialect),
        several => {
            let joined = RowFile::join(several, &folder, context.force)?;
            (joined, CsvDialect::default())
        }
    };
    let list = |given: &Option<Vec<String>>| given.clone().unwrap_or_default();
    let roles = &options.roles;
    Ok(FitSettings {
        dialect,
        parameters: options.parameter_files.files(),
        features: options.encoding.features()?,
        roles: StatedRoles {
            costs: list(&roles.costs),
            time: roles.time.clone(),
            decisions: list(&roles.decisions),
            forecasts: list(&roles.forecasts),
            features: list(&roles.features),
            ignore: list(&roles.ignore),
            keys: list(&roles.keys),
            long: long_columns(options),
        },
        method: options.method.clone(),
        budget: options.budget.unwrap_or(FitSettings::DEFAULT_BUDGET),
        seed: options.seed.unwrap_or(0),
        season: options.season,
        lags: FitSettings::lags_of(&list(&roles.lags))?,
        horizon: options.horizon.unwrap_or(1),
        unit: options.unit.clone(),
        title: options.title.clone(),
        threads: options.execution.threads.unwrap_or(0),
        limits: options.execution.limits.search_limits()?,
        heuristic: options.execution.heuristic,
        ..FitSettings::new(file, problem, folder, command)
    })
}

/// The tables with how each of them is written.
fn row_files(files: &[PathBuf], csv: &CsvOptions) -> Result<Vec<RowFile>> {
    let mut tables = Vec::with_capacity(files.len());
    for file in files {
        tables.push(RowFile {
            file: file.clone(),
            dialect: csv.dialect(file)?,
        });
    }
    Ok(tables)
}

/// The columns of a long table, if one of them is named.
fn long_columns(options: &FitOptions) -> Option<LongColumns> {
    let columns = &options.columns;
    let is_long = columns.instance_column.is_some()
        || columns.item_column.is_some()
        || options.cost_column.is_some();
    let long = columns.long(Vec::new());
    is_long.then(|| LongColumns {
        cost: options.cost_column.clone().unwrap_or(long.cost),
        ..long
    })
}

fn default_folder(table: &Path) -> PathBuf {
    let stem = table.file_stem();
    let name = stem.map_or("table".into(), |stem| stem.to_string_lossy());
    Path::new("runs").join(format!("fit-{name}"))
}

/// The options with every role as it was found: another table with more columns has the same ones.
fn with_roles(options: &FitOptions, roles: &TableRoles, settings: &FitSettings) -> FitOptions {
    let list = |names: &[String]| Some(names.to_vec()).filter(|names| !names.is_empty());
    let or_none = |names: &[String]| Some(list(names).unwrap_or_else(|| vec!["none".into()]));
    let from_folder = |file: &PathBuf| settings_file::path_from(&settings.folder, file);
    let problem = match &options.problem {
        Some(ProblemSource::File(file)) => Some(ProblemSource::File(from_folder(file))),
        Some(ProblemSource::Inline(_)) | None => options.problem.clone(),
    };
    let tables = options.table.iter().flatten();
    let mut encoding = options.encoding.clone();
    encoding.holidays = encoding.holidays.as_ref().map(from_folder);
    FitOptions {
        table: Some(tables.map(from_folder).collect()),
        problem,
        encoding,
        out: Some(".".into()),
        roles: RoleOptions {
            // That of a long table is its cost column.
            costs: list(&roles.costs).filter(|_| roles.instances.is_empty()),
            time: Some(roles.time.clone().unwrap_or_else(|| "none".into())),
            decisions: or_none(&roles.decisions),
            forecasts: or_none(&roles.forecasts),
            keys: or_none(&roles.keys),
            features: list(&roles.features),
            lags: or_none(
                &roles
                    .lag_periods
                    .iter()
                    .map(usize::to_string)
                    .collect::<Vec<_>>(),
            ),
            ignore: options.roles.ignore.clone(),
        },
        rows_only: false,
        horizon: Some(settings.horizon),
        budget: Some(settings.budget),
        seed: Some(settings.seed),
        execution: ExecutionOptions {
            threads: None,
            ..options.execution.clone()
        },
        ..options.clone()
    }
}

/// Refuses a folder with results of other settings, another table or problem. A longer table has
/// another next row, which a model that is there decides.
fn check_folder(
    settings: &FitSettings,
    resolved: &FitOptions,
    is_rows_only: bool,
    context: &CommandContext,
) -> Result<()> {
    let folder = &settings.folder;
    if context.force && (!folder.exists() || folder.is_dir()) {
        return Ok(());
    }
    let mut text = settings_file::text(resolved, "fit")?;
    if !is_rows_only {
        text = settings.with_inputs(&text)?;
    }
    let checked = check_settings(folder, &text);
    if checked.is_err() && folder.is_dir() {
        context.warn(&format!(
            "{}: has results of other settings, another table or another problem",
            folder.display()
        ));
    }
    checked
}

fn print_roles(table: &FitTable, settings: &FitSettings, context: &CommandContext) {
    let rows = grouped(table.rows() as u64);
    context.warn(&format!("{}: {rows} rows", settings.file.display()));
    for (role, columns) in table.roles.lines() {
        context.warn(&format!("  {role:ROLE_WIDTH$}  {columns}"));
    }
}

/// Writes what the next decision needs, for a model that is there.
fn write_rows(table: &FitTable, settings: &FitSettings) -> Result<CommandReport> {
    let rows = table.write_new_rows(settings)?;
    let mut report = CommandReport {
        json: json!({ "rows": path_json(&rows) }),
        ..CommandReport::default()
    };
    report.line(format!("rows: {}", rows.display()));
    let model = settings.folder.join(MODEL_FILE_NAME);
    report.line("next:");
    report.line(decide_line(table, settings, &model));
    Ok(report)
}

/// The command that decides on the rows that are written.
fn decide_line(table: &FitTable, settings: &FitSettings, model: &Path) -> String {
    let folder = &settings.folder;
    let key = table.key();
    let key = key.map_or_else(String::new, |column| format!(" --key {}", quoted(column)));
    let [model, rows] = [model, &folder.join(NEW_ROWS_FILE_NAME)].map(quoted_path);
    let earlier = folder.join(DECISIONS_FILE_NAME);
    let decisions = quoted_path(&earlier);
    let columns = instance_flags(&table.roles);
    // Those of an earlier model, or for an earlier period, are replaced.
    let force = if earlier.exists() { " --force" } else { "" };
    format!(
        "  regretless decide --model {model} --data {rows}{columns}{key} --out {decisions}{force}"
    )
}

/// Writes everything; results of an earlier run with the same settings are replaced.
fn write(
    table: &FitTable,
    settings: &FitSettings,
    resolved: &FitOptions,
    results: &FitResults,
) -> Result<()> {
    results.write(table, settings)?;
    let text = settings.with_inputs(&settings_file::text(resolved, "fit")?)?;
    write_text(&settings.folder.join(SETTINGS_FILE_NAME), &text, true)
}

/// The flags of the columns that name instances and items of a long table.
fn instance_flags(roles: &TableRoles) -> String {
    let flags = ["--instance-column", "--item-column"].into_iter();
    let mut text = String::new();
    for (flag, column) in flags.zip(&roles.instances) {
        text += &format!(" {flag} {}", quoted(column));
    }
    text
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

fn report(settings: &FitSettings, table: &FitTable, results: &FitResults) -> Result<CommandReport> {
    let folder = &settings.folder;
    let [model, page] = [MODEL_FILE_NAME, PAGE_FILE_NAME].map(|name| folder.join(name));
    let verdict = &results.verdict;
    let mut report = CommandReport {
        json: json!({
            "verdict": verdict.sentence,
            "remarks": verdict.remarks,
            "method": verdict.chosen,
            "epochs": results.epochs,
            "roles": super::json(&table.roles)?,
            "summary": results.results.summary()?,
            "model": path_json(&model),
            "report": path_json(&page),
        }),
        ..CommandReport::default()
    };
    report.line(&verdict.sentence);
    for remark in &verdict.remarks {
        report.line(format!("  {remark}"));
    }
    report.line(format!("model: {}", model.display()));
    report.line(format!("page:  {}", page.display()));
    report.line(format!("card:  {}", folder.join(CARD_FILE_NAME).display()));
    if folder.join(DECISIONS_FILE_NAME).exists() {
        report.line(format!(
            "{DECISIONS_FILE_NAME} in this folder is of an earlier model; the next command \
             replaces it"
        ));
    }
    report.line("next:");
    report.line(decide_line(table, settings, &model));
    let rows = folder.join(NEW_ROWS_FILE_NAME);
    let [model, rows] = [&model, &rows].map(|path| quoted_path(path));
    let columns = instance_flags(&table.roles);
    // Explanations are about costs.
    if !table.problem.kind().recourse().predicts_quantities() {
        report.line(format!(
            "  regretless explain --model {model} --data {rows}{columns} --row 0"
        ));
    }
    if !table.roles.lags.is_empty() {
        let config = quoted_path(&folder.join(SETTINGS_FILE_NAME));
        report.line(format!("  regretless fit --config {config} --rows-only"));
        report.line(format!(
            "the last one once the costs of the next period are in {}: it writes new-rows.csv \
             for the period after",
            settings.file.display()
        ));
    }
    report.line("with your own rows instead of the one in new-rows.csv");
    Ok(report)
}
