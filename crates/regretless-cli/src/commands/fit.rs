//! `fit`: from a table to a verdict, a model and a page.
//!
//! The folder holds `cells/`, one file per training that is finished, so the same command resumes;
//! then `settings.toml`, which names every role, and the results.

use std::path::{Path, PathBuf};

use regretless::data::LongColumns;
use regretless::problem::ProblemSpec;
use regretless::{Error, Result};
use regretless_study::fit::{
    CARD_FILE_NAME, FitCommand, FitExample, FitFiles, FitPlan, FitResults, FitSettings, FitTable,
    MODEL_FILE_NAME, NEW_ROWS_FILE_NAME, PAGE_FILE_NAME, SETTINGS_FILE_NAME, StatedRoles,
    TableRoles,
};
use regretless_study::text::grouped;
use serde_json::json;

use super::CommandContext;
use crate::args::{FitOptions, ProblemSource};
use crate::input::{checked_spec, require};
use crate::output::{CommandReport, path_json, set_resumable};
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
    check_folder(&settings, &table, options.rows_only, context)?;
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
    if results.write(&table, &settings)? {
        context.warn("note: this fit was complete; its results are unchanged");
    }
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
    let files = example.write(folder)?;
    let columns = &example.columns;
    context.warn(&format!(
        "{name}: the same as regretless fit {} --problem {}{} --unit {}{}",
        quoted_path(&files.table),
        quoted_path(&files.problem),
        columns.flags(),
        example.unit,
        names_flag(files.names.as_deref())
    ));
    options.names.names = options.names.names.or(files.names);
    let costs = columns.costs.map(|costs| vec![costs.to_owned()]);
    options.roles.costs = options.roles.costs.or(costs);
    for (given, column) in [
        (
            &mut options.columns.instance_column,
            columns.instance_column,
        ),
        (&mut options.columns.item_column, columns.item_column),
        (&mut options.cost_column, columns.cost_column),
    ] {
        *given = given.take().or(column.map(str::to_owned));
    }
    options.table = Some(vec![files.table]);
    options.problem = Some(ProblemSource::File(files.problem));
    options.unit.get_or_insert_with(|| example.unit.into());
    options.title.get_or_insert_with(|| example.title.into());
    Ok(options)
}

fn fit_settings(options: &FitOptions, context: &CommandContext) -> Result<FitSettings> {
    let command = FitCommand::Shell(command_line(&context.arguments));
    let tables = require(options.table.as_ref(), "TABLE")?;
    let source = require(options.problem.as_ref(), "--problem")?;
    if let ProblemSource::File(file) = &source {
        ProblemSpec::check_filled_in(file)?;
    }
    let problem = checked_spec(&source)?;
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| default_folder(&tables[0]));
    let files = FitFiles {
        tables,
        delimiter: options.csv.delimiter.clone(),
        decimal: options.csv.decimal.clone(),
        problem: match source {
            ProblemSource::File(path) => Some(path),
            ProblemSource::Inline(_) => None,
        },
        holidays: options.encoding.holidays.clone(),
        names: options.names.names.clone(),
    };
    let (file, dialect) = files.table(&folder, context.force, options.rows_only)?;
    let list = |given: &Option<Vec<String>>| given.clone().unwrap_or_default();
    let roles = &options.roles;
    Ok(FitSettings {
        files,
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

/// Refuses a folder with results of other settings, another table or problem.
fn check_folder(
    settings: &FitSettings,
    table: &FitTable,
    is_rows_only: bool,
    context: &CommandContext,
) -> Result<()> {
    let checked = settings.check_folder(&table.roles, context.force, is_rows_only);
    if checked.is_err() && settings.folder.is_dir() {
        context.warn(&format!(
            "{}: has results of other settings, another table or another problem",
            settings.folder.display()
        ));
    }
    checked
}

fn print_roles(table: &FitTable, settings: &FitSettings, context: &CommandContext) {
    context.warn(&format!("problem: {}", table.problem_in_words()));
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
        json: json!({ "rows": path_json(&rows), "fill_in": table.next_rows.fill_in }),
        ..CommandReport::default()
    };
    report.line(format!("rows: {}", rows.display()));
    let model = settings.folder.join(MODEL_FILE_NAME);
    report.line(table.next_rows.instruction(&rows));
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

/// The flags of the columns that name instances and items of a long table.
fn instance_flags(roles: &TableRoles) -> String {
    let flags = ["--instance-column", "--item-column"].into_iter();
    let mut text = String::new();
    for (flag, column) in flags.zip(&roles.instances) {
        text += &format!(" {flag} {}", quoted(column));
    }
    text
}

/// The flag of the file of names, if there is one.
fn names_flag(file: Option<&Path>) -> String {
    file.map_or_else(String::new, |file| {
        format!(" --names {}", quoted_path(file))
    })
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
            "fill_in": table.next_rows.fill_in,
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
    let rows = folder.join(NEW_ROWS_FILE_NAME);
    report.line(table.next_rows.instruction(&rows));
    report.line(decide_line(table, settings, &model));
    let [model, rows] = [&model, &rows].map(|path| quoted_path(path));
    let columns = instance_flags(&table.roles);
    // Explanations are about costs.
    if !table.problem.kind().recourse().predicts_quantities() {
        let names = names_flag(settings.files.names.as_deref());
        report.line(format!(
            "  regretless explain --model {model} --data {rows}{columns} --row 0{names}"
        ));
    }
    if !table.roles.lags.is_empty() {
        let config = quoted_path(&folder.join(SETTINGS_FILE_NAME));
        report.line(format!("  regretless fit --config {config} --rows-only"));
        report.line(format!(
            "Run the last command once the costs of the next period are in {}: it writes \
             new-rows.csv for the period after.",
            settings.file.display()
        ));
    }
    Ok(report)
}
