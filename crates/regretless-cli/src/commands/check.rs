//! `check`: defects of a table that make training useless or its results too good to be true.

use regretless::Result;
use regretless::data::{DataCheck, Finding, FindingKind, SplitRule};
use regretless::job::MatchedTable;
use regretless::notes::{Note, NoteKind};
use regretless_study::table_report::{DataFindings, EncodingReport};
use regretless_study::text::grouped;
use serde_json::json;

use super::data_split::time_split;
use super::{CommandContext, LabeledRows, encoding, json, labeled};
use crate::args::CheckOptions;
use crate::input::{in_file, table_and_problem, table_source};
use crate::output::CommandReport;

/// Width of the column of kinds: that of the longest, `near-duplicate`.
const KIND_WIDTH: usize = 14;

/// Checks the table and prints every finding.
pub fn run(options: &CheckOptions, context: &CommandContext) -> Result<CommandReport> {
    let source = table_source(&options.data)?;
    let file = source.costs_file();
    let (problem, table) = match &options.problem {
        Some(problem) => {
            let (problem, data) = table_and_problem(&source, problem)?;
            let table = context.open_table(data, file, &problem)?;
            (Some(problem), table)
        }
        None => (None, MatchedTable::new(source.read()?)),
    };
    let unused = context.unused_columns(&source, table.data(), &[])?;
    let seed = u64::from(options.seed.unwrap_or(0));
    if options.split.is_none()
        && let Some(split) = time_split(&source)?
    {
        context.print_notes(&[Note::of_random_split(&split)]);
    }
    let rule = options.split.clone().unwrap_or(SplitRule::DEFAULT);
    let split = source.split(&rule.with_seed(seed), table.data().len())?;
    let table = table.divided(vec![split.clone()]).map_err(in_file(file))?;
    let data = table.data().clone();
    let encoding = EncodingReport::of(data.features());
    encoding::warn(&encoding, context);
    let size = format!(
        "{} rows, {}, {}",
        grouped(data.len() as u64),
        counted(data.features().names().len(), "feature"),
        counted(data.costs().cols(), "cost")
    );
    let labeled = match &problem {
        Some(problem) => Some(labeled(
            table,
            &source,
            problem,
            &options.execution,
            context,
        )?),
        None => None,
    };
    let no_choice = labeled.as_ref().and_then(no_choice_finding);
    let rows = labeled.map(|labeled| labeled.table.rows);
    let objectives = rows.as_ref().map(|rows| rows.best_objectives());
    let mut check = DataCheck::new(&data).with_split(&split);
    if let (Some(rows), Some(objectives)) = (&rows, &objectives) {
        check = check.with_labeled(rows.data()).with_objectives(objectives);
    }
    let mut findings = source.check(check, rule.time_column())?;
    findings.extend(no_choice);
    let findings = DataFindings::from(findings);
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

/// What was said of the labels, as a finding.
fn no_choice_finding(labeled: &LabeledRows) -> Option<Finding> {
    let mut notes = labeled.table.notes.iter();
    let note = notes.find(|note| note.kind == NoteKind::NoChoice)?;
    Some(Finding {
        kind: FindingKind::NoChoice,
        columns: Vec::new(),
        row: None,
        message: note.text.clone(),
    })
}

/// A number of things: `1 feature`, `2 features`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count as u64))
}
