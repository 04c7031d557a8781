//! `new`: a problem file to begin with.

use std::path::PathBuf;

use clap::Args;
use regretless::data::{Layout, OutputFile, TableSource, WideColumns};
use regretless::problem::{ProblemFamily, ProblemSpec};
use regretless::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::CommandContext;
use crate::args::CsvOptions;
use crate::output::{CommandReport, path_json};

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
    #[arg(long, value_name = "FILE", requires = "costs")]
    pub table: Option<PathBuf>,
    /// The costs of the table, by name or pattern such as 'c*'
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
    let costs = costs_of_table(options)?;
    let text = family.starter(costs.as_deref()).unwrap_or_default();
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
    if let (Some(costs), Some(table)) = (&costs, &options.table) {
        let [wanted, has] = [costs.len(), problem.num_costs()];
        if wanted != has {
            report.line(format!(
                "{} has {wanted} costs, the problem as it stands {has}: the two must agree",
                table.display()
            ));
        }
        report.line(format!(
            "next: regretless fit {} --problem {} --costs '{}'",
            table.display(),
            file.display(),
            options.costs.as_deref().unwrap_or_default().join(",")
        ));
    }
    Ok(report)
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

/// The names of the costs of the table, if there is one.
fn costs_of_table(options: &NewOptions) -> Result<Option<Vec<String>>> {
    let (Some(table), Some(costs)) = (&options.table, &options.costs) else {
        return Ok(None);
    };
    let source = TableSource::Csv {
        file: table.clone(),
        layout: Layout::Wide(WideColumns::default()),
        dialect: options.csv.dialect(table)?,
        parameters: Vec::new(),
    };
    source.matching_columns(costs).map(Some)
}
