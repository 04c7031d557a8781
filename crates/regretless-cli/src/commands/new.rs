//! `new`: a problem file to begin with.

use std::path::{Path, PathBuf};

use clap::Args;
use regretless::data::{Layout, OutputFile, TableSource, WideColumns};
use regretless::problem::{ProblemFamily, ProblemSpec};
use regretless::{Error, Result};
use regretless_study::fit::{FitCommand, FitSettings, FitTable, FoundCosts, StatedRoles};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::CommandContext;
use crate::args::CsvOptions;
use crate::output::{CommandReport, path_json};
use crate::shell::{command_line, quoted};

/// Problem file unless `--out` is given.
const DEFAULT_FILE: &str = "problem.toml";

/// Options of `new`.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct NewOptions {
    /// The kind of problem
    #[arg(value_name = "KIND")]
    pub kind: Option<String>,
    /// List the kinds
    #[arg(long)]
    #[serde(skip)]
    pub list: bool,
    /// A table whose costs the problem is for (CSV or Parquet)
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// The costs of the table, by name or pattern such as 'c*' [default: the only group of numbers
    /// with names that are alike]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMNS",
        requires = "table"
    )]
    pub costs: Option<Vec<String>>,
    /// How CSV files are written.
    #[command(flatten)]
    #[serde(flatten)]
    pub csv: CsvOptions,
    /// The problem file [default: problem.toml]
    #[arg(long, value_name = "FILE.toml", help_heading = "Output")]
    pub out: Option<PathBuf>,
}

/// Writes a commented problem file, or lists the kinds.
pub fn run(options: &NewOptions, context: &CommandContext) -> Result<CommandReport> {
    match &options.kind {
        Some(kind) if !options.list => write(kind, options, context),
        _ => Ok(list()),
    }
}

/// Kinds that are written by hand.
fn families() -> impl Iterator<Item = (&'static ProblemFamily, &'static str)> {
    let families = ProblemFamily::all().iter();
    families.filter_map(|family| Some((*family, family.in_words()?)))
}

fn list() -> CommandReport {
    let mut report = CommandReport::default();
    let width = families().map(|(family, _)| family.name().len()).max();
    let mut kinds = Vec::new();
    for (family, words) in families() {
        let (name, width) = (family.name(), width.unwrap_or(0));
        report.line(format!("{name:width$}  {words}"));
        kinds.push(json!({ "kind": name, "in_words": words, "finds": family.summary() }));
    }
    report.line("Models in MPS and LP files, and of modeling languages, are the kind linear.");
    report.json = json!({ "kinds": kinds });
    report
}

fn write(kind: &str, options: &NewOptions, context: &CommandContext) -> Result<CommandReport> {
    let found = families().find(|(family, _)| family.name() == kind);
    let Some((family, _)) = found else {
        return Err(no_starter(kind));
    };
    let found = costs_of_table(options, context)?;
    let costs = found.as_ref().map(|found| found.columns.as_slice());
    let text = family.starter(costs).unwrap_or_default();
    let file = options.out.clone().unwrap_or_else(|| DEFAULT_FILE.into());
    let problem = ProblemSpec::from_toml(&text)?.build()?;
    OutputFile::new(&file, context.force).write(|out| out.write_all(text.as_bytes()))?;
    let mut report = CommandReport {
        json: json!({ "kind": kind, "problem": path_json(&file), "costs": problem.num_costs() }),
        ..CommandReport::default()
    };
    report.line(format!(
        "{} for {}: replace every '# fill in' and the value before it",
        file.display(),
        problem.name()
    ));
    if let (Some(found), Some(table)) = (&found, &options.table) {
        let [wanted, has] = [found.columns.len(), problem.num_costs()];
        report.line(if wanted == has {
            checked(&text, found, table, options)?
        } else {
            format!(
                "{} has {wanted} costs, the problem as it stands {has}: the two must agree",
                table.display()
            )
        });
        report.line(format!(
            "next: regretless fit {} --problem {} --costs {}",
            quoted(&table.to_string_lossy()),
            quoted(&file.to_string_lossy()),
            quoted(&found.selection.join(","))
        ));
    }
    Ok(report)
}

/// Whether `fit` can read the table for the problem as it stands, in words: what is to be filled in
/// may change that.
fn checked(
    problem: &str,
    costs: &FoundCosts,
    table: &Path,
    options: &NewOptions,
) -> Result<String> {
    let spec = ProblemSpec::from_toml(problem)?;
    let command = FitCommand::Shell(format!("regretless fit {}", table.display()));
    let settings = FitSettings {
        dialect: options.csv.dialect(table)?,
        roles: StatedRoles {
            costs: costs.selection.clone(),
            ..StatedRoles::default()
        },
        // Costs of earlier periods are no part of the problem.
        lags: Some(Vec::new()),
        ..FitSettings::new(table.to_path_buf(), spec, PathBuf::new(), command)
    };
    Ok(match FitTable::read(&settings) {
        Ok(read) => format!(
            "checked against {}: {} costs in {} rows",
            table.display(),
            costs.columns.len(),
            read.rows()
        ),
        Err(error) => format!("{} does not fit as it stands: {error}", table.display()),
    })
}

/// Why there is no problem file to begin with.
fn no_starter(kind: &str) -> Error {
    // The reader of problem files knows misspelled names, and quantities that are no costs.
    let only_kind = toml::Table::from_iter([("kind".to_owned(), kind.into())]);
    match ProblemSpec::from_toml(&only_kind.to_string()) {
        Err(unknown)
            if ProblemFamily::all()
                .iter()
                .all(|family| family.name() != kind) =>
        {
            unknown
        }
        _ => Error::setting(format!("'{kind}' is not written by hand")).with_remedy(
            "for a model in an MPS or LP file: kind = \"linear\", file = \"model.mps\" and \
             costs = [\"x*\"]",
        ),
    }
}

/// The costs of the table, if there is one.
fn costs_of_table(options: &NewOptions, context: &CommandContext) -> Result<Option<FoundCosts>> {
    let Some(table) = &options.table else {
        return Ok(None);
    };
    let source = TableSource::Csv {
        file: table.clone(),
        layout: Layout::Wide(WideColumns::default()),
        dialect: options.csv.dialect(table)?,
        parameters: Vec::new(),
    };
    if let Some(costs) = &options.costs {
        return Ok(Some(FoundCosts {
            columns: source.matching_columns(costs)?,
            selection: costs.clone(),
        }));
    }
    let command = FitCommand::Shell(command_line(&context.arguments));
    let found = FoundCosts::of(&source.profile()?, &command);
    found.map(Some).map_err(|error| error.in_file(table))
}
