//! The page about decisions on one's own data that `train` and `backtest` write, and what it has in
//! common with that of `compare`.

use std::path::Path;

use regretless::data::OutputFile;
use regretless::label::LabeledDataset;
use regretless::{Error, Result};
use regretless_study::report::{Figure, PageSummary, review_figures, review_page};
use regretless_study::review::DecisionReview;

use super::encoding::EncodingReport;
use super::{CommandContext, UnusedColumns, explain};
use crate::args::{DataOptions, PageOptions};
use crate::output::{CommandReport, grouped, path_json, write_text};

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
    if let Some(folder) = &page.figures {
        check_figures(folder, context.force)?;
    }
    match &page.report {
        Some(path) => OutputFile::new(path, context.force).check_free(),
        None => Ok(()),
    }
}

/// Refuses a folder of figures that is a file or, without `force`, has files.
fn check_figures(folder: &Path, force: bool) -> Result<()> {
    let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_none());
    let is_usable = folder.is_dir() && (force || is_empty());
    if folder.exists() && !is_usable {
        return Err(Error::Exists(folder.to_path_buf()));
    }
    Ok(())
}

/// Refuses coordinates where no page is written that would use them.
pub fn check_coordinates(page: &PageOptions) -> Result<()> {
    if !page.is_wanted() && page.coordinates.is_some() {
        return Err(Error::setting("--coordinates are for a page")
            .with_remedy("give --report a file or --figures a folder, or leave them out"));
    }
    Ok(())
}

/// A page, and its figures as files.
pub struct DecisionPage {
    /// The page as HTML.
    pub html: String,
    /// The same drawings as SVG.
    pub figures: Vec<Figure>,
}

impl DecisionPage {
    /// The page of a review.
    pub fn of_review(review: &DecisionReview, mut summary: PageSummary) -> Self {
        if let Some(explained) = &review.explained {
            summary.explanation = explain::text::sentences(&explained.explanation);
        }
        Self {
            html: review_page(review, &summary),
            figures: review_figures(review),
        }
    }

    /// Writes what the options ask for, and says where it is.
    pub fn write(
        &self,
        page: &PageOptions,
        context: &CommandContext,
        report: &mut CommandReport,
    ) -> Result<()> {
        if let Some(path) = &page.report {
            write_text(path, &self.html, context.force)?;
            mention(path, report);
        }
        self.write_figures(page, report)
    }

    /// Writes the figures where the options ask for them.
    pub fn write_figures(&self, page: &PageOptions, report: &mut CommandReport) -> Result<()> {
        let Some(folder) = &page.figures else {
            return Ok(());
        };
        write_figures(folder, &self.figures)?;
        report.json["figures"] = path_json(folder);
        report.line(format!(
            "{} figures in {}",
            self.figures.len(),
            folder.display()
        ));
        Ok(())
    }
}

/// Writes every figure as SVG, and as PNG where the program was built with it.
pub fn write_figures(folder: &Path, figures: &[Figure]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    for figure in figures {
        let file = |extension: &str| folder.join(format!("{}.{extension}", figure.name));
        write_text(&file("svg"), &figure.svg, true)?;
        #[cfg(feature = "png")]
        {
            let picture = regretless_study::report::png(&figure.svg, 1600)
                .map_err(|error| Error::setting(error.to_string()))?;
            OutputFile::new(&file("png"), true).write(|out| out.write_all(&picture))?;
        }
    }
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
    pub table: &'a LabeledDataset,
    pub encoding: &'a EncodingReport,
    pub unused_columns: &'a UnusedColumns,
}

impl TableFacts<'_> {
    /// All of them, for the end of a page.
    pub fn list(&self) -> Vec<Fact> {
        let mut facts = self.origin.clone();
        let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
        add("problem", self.problem.clone());
        let table = self.table.data();
        let features = table.features();
        let [rows, costs] =
            [features.instances(), table.costs().cols()].map(|count| grouped(count as u64));
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
        let skipped = self.table.len() - self.table.rows().len();
        if skipped > 0 {
            let count = grouped(skipped as u64);
            add("rows left out", format!("{count}, without a decision"));
        }
        facts
    }
}
