//! The page about decisions on one's own data that `train` and `backtest` write, and what it has in
//! common with that of `compare`.

use std::path::Path;

use regretless::data::{Dataset, OutputFile};
use regretless::review::DecisionReview;
use regretless::{Error, Result};
use regretless_report::{PageSummary, review_page};

use super::encoding::EncodingReport;
use super::skipped_rows::SkippedRows;
use super::{CommandContext, UnusedColumns, explain};
use crate::args::{DataOptions, PageOptions};
use crate::output::{CommandReport, grouped, path_json, write_text};
use crate::shell::command_line;

/// A fact about data or settings: what it is, and its value.
pub type Fact = (String, String);

/// Checks before long work that the page can be written.
pub fn check(page: &PageOptions, unit: Option<&str>, context: &CommandContext) -> Result<()> {
    if let Some(unit) = unit
        && (unit.trim().is_empty() || unit.chars().any(char::is_control))
    {
        return Err(Error::setting(format!(
            "the unit {unit:?} is empty or has control characters"
        ))
        .with_remedy("write a word such as EUR"));
    }
    match &page.report {
        Some(path) => OutputFile::new(path, context.force).check_free(),
        None => Ok(()),
    }
}

/// Refuses coordinates where no page is written that would use them.
pub fn check_coordinates(page: &PageOptions) -> Result<()> {
    if page.report.is_none() && page.coordinates.is_some() {
        return Err(Error::setting("--coordinates are for a page")
            .with_remedy("give --report a file, or leave them out"));
    }
    Ok(())
}

/// Writes the page of a review and says where it is.
pub fn write(
    path: &Path,
    review: &DecisionReview,
    mut summary: PageSummary,
    context: &CommandContext,
    report: &mut CommandReport,
) -> Result<()> {
    summary.commands = vec![command_line(&context.arguments)];
    if let Some(explained) = &review.explained {
        summary.explanation = explain::text::sentences(&explained.explanation);
    }
    write_text(path, &review_page(review, &summary), context.force)?;
    mention(path, report);
    Ok(())
}

/// Says where the page is.
pub fn mention(path: &Path, report: &mut CommandReport) {
    report.json["report"] = path_json(path);
    report.line(format!("report in {}", path.display()));
}

/// What a table is called in titles.
pub fn table_name(data: &DataOptions) -> Option<String> {
    let file = data.data.as_ref().or(data.cost_data.as_ref())?;
    Some(file.file_name()?.to_string_lossy().into_owned())
}

/// The files that a table was read from.
pub fn origin(data: &DataOptions) -> Vec<Fact> {
    let mut files = Vec::new();
    for (what, file) in [("table", &data.data), ("costs", &data.cost_data)] {
        if let Some(file) = file {
            files.push((what.to_string(), file.display().to_string()));
        }
    }
    files
}

/// A table and how it was read.
pub struct TableFacts<'a> {
    /// Where its rows come from.
    pub origin: Vec<Fact>,
    pub problem: String,
    pub table: &'a Dataset,
    pub encoding: &'a EncodingReport,
    pub unused_columns: &'a UnusedColumns,
    pub skipped_rows: &'a SkippedRows,
}

impl TableFacts<'_> {
    /// All of them, for the end of a page.
    pub fn list(&self) -> Vec<Fact> {
        let mut facts = self.origin.clone();
        let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
        add("problem", self.problem.clone());
        let features = self.table.features();
        let [rows, costs] =
            [features.instances(), self.table.costs().cols()].map(|count| grouped(count as u64));
        add("rows", format!("{rows} rows with {costs} costs each"));
        let names = if features.are_raw() {
            features.column_names()
        } else {
            features.names().to_vec()
        };
        add("features", names.join(", "));
        if !self.encoding.texts().is_empty() {
            add("encoding", self.encoding.texts().join("; "));
        }
        if let Some(unused) = self.unused_columns.with(self.encoding).text() {
            add("columns not used", unused);
        }
        let skipped = self.skipped_rows.count();
        if skipped > 0 {
            let count = grouped(skipped as u64);
            add("rows left out", format!("{count}, without a decision"));
        }
        facts
    }
}
