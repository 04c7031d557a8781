//! `check`: defects of a table that make training useless or its results too good to be true.

use regretless::data::{DataCheck, Dataset, SplitRule, TableSource};
use regretless::label::LabeledDataset;
use regretless::notes::Note;
use regretless::{Problem, Result};
use regretless_study::table_report::{DataFindings, EncodingReport};
use regretless_study::text::grouped;
use serde_json::json;

use super::data_split::time_split;
use super::{CommandContext, encoding, json, labeled, oracle, store};
use crate::args::CheckOptions;
use crate::input::{in_file, table_and_problem, table_source};
use crate::output::CommandReport;

/// Width of the column of kinds: that of the longest, `near-duplicate`.
const KIND_WIDTH: usize = 14;

/// Checks the table and prints every finding.
pub fn run(options: &CheckOptions, context: &CommandContext) -> Result<CommandReport> {
    let source = table_source(&options.data)?;
    let file = source.costs_file();
    let (problem, data) = match &options.problem {
        Some(problem) => {
            let (problem, mut data) = table_and_problem(&source, problem)?;
            context.match_table(&mut data, file, &problem)?;
            (Some(problem), data)
        }
        None => (None, source.read()?),
    };
    let unused = context.unused_columns(&source, &data, &[])?;
    let seed = u64::from(options.seed.unwrap_or(0));
    if options.split.is_none()
        && let Some(split) = time_split(&source)?
    {
        context.print_notes(&[Note::of_random_split(&split)]);
    }
    let rule = options.split.clone().unwrap_or(SplitRule::DEFAULT);
    let split = source.split(&rule.with_seed(seed), data.len())?;
    let data = data.encoded(&split.train).map_err(in_file(file))?;
    let encoding = EncodingReport::of(data.features());
    encoding::warn(&encoding, context);
    let size = format!(
        "{} rows, {}, {}",
        grouped(data.len() as u64),
        counted(data.features().names().len(), "feature"),
        counted(data.costs().cols(), "cost")
    );
    let labeled = match &problem {
        Some(problem) => Some(labels(data.clone(), problem, &source, options, context)?),
        None => None,
    };
    let objectives = labeled.as_ref().map(LabeledDataset::best_objectives);
    let mut check = DataCheck::new(&data).with_split(&split);
    if let (Some(labeled), Some(objectives)) = (&labeled, &objectives) {
        check = check
            .with_labeled(labeled.data())
            .with_objectives(objectives);
    }
    let findings: DataFindings = source.check(check, rule.time_column())?.into();
    let mut report = CommandReport {
        json: json!({
            "rows": data.len(),
            "findings": json(&findings)?,
            "unused_columns": unused.with(&encoding).json(),
            "encoding": encoding.json(),
        }),
        ..CommandReport::default()
    };
    report.line(format!("{}: {size}", file.display()));
    for finding in findings.list() {
        let kind = finding.kind.to_string();
        report.line(format!("  {kind:KIND_WIDTH$}  {}", finding.message));
    }
    if findings.list().is_empty() {
        report.line("  no findings");
    }
    Ok(report)
}

/// The labels of all rows, solved or read from a store.
fn labels(
    data: Dataset,
    problem: &Problem,
    source: &TableSource,
    options: &CheckOptions,
    context: &CommandContext,
) -> Result<LabeledDataset> {
    let file = source.costs_file();
    let oracle = oracle(problem, &data, &options.execution).map_err(in_file(file))?;
    let labels = store(file, &options.execution);
    let labeled = labeled(data, source, &labels, problem, &oracle, context);
    Ok(labeled.map_err(in_file(file))?.data)
}

/// A number of things: `1 feature`, `2 features`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count as u64))
}
