//! The page of a backtest, and what it was made from.

use std::path::PathBuf;

use super::DecisionPage;
use crate::backtest::{Backtest, BacktestResults, BacktestTable};
use crate::report::PageSummary;
use crate::review::{DecisionReview, ReviewOptions};
use crate::table_report::{EncodingReport, Fact, TableFacts, UnusedColumns};
use crate::text::grouped;
use regretless::Result;
use regretless::data::{CostNames, Finding};
use regretless::observer::Observer;

/// A finished backtest, and what its page says about it.
pub struct BacktestPage<'a> {
    /// Costs, regrets and verdict.
    pub results: &'a BacktestResults,
    /// The settings of the backtest.
    pub backtest: &'a Backtest,
    /// The history.
    pub table: BacktestTable<'a>,
    /// What the data check found in it.
    pub findings: &'a [Finding],
    /// Where everything comes from.
    pub facts: BacktestFacts,
}

/// How a backtest is described to people.
#[derive(Debug, Clone, Default)]
pub struct BacktestFacts {
    /// What the title asks about: a file, or else the problem.
    pub table: Option<String>,
    /// Where the rows come from: what it is, and its value.
    pub origin: Vec<Fact>,
    /// What people call the costs, if it is something else than the table does.
    pub cost_names: Option<CostNames>,
    /// The column of the times, if a column has them.
    pub time_column: Option<String>,
    /// A file with the coordinates of nodes.
    pub coordinates: Option<PathBuf>,
    /// The file with all settings, if there is one.
    pub settings_file: Option<String>,
    /// Commands or calls that repeat it.
    pub commands: Vec<String>,
    /// Columns that were not read.
    pub unused_columns: UnusedColumns,
    /// The title, if it is not a question about the table.
    pub title: Option<String>,
}

impl BacktestPage<'_> {
    /// Draws the page. One model or a few are fitted again.
    ///
    /// # Errors
    /// When the file of coordinates does not fit the problem, a model cannot be fitted again, or
    /// the user interrupts.
    pub fn draw(&self, observer: &dyn Observer) -> Result<DecisionPage> {
        let options = ReviewOptions {
            cost_names: self.facts.cost_names.as_ref(),
            coordinates: self.facts.coordinates.as_deref(),
            ..ReviewOptions::default()
        };
        let review = DecisionReview::of_backtest(
            self.results,
            self.backtest,
            &self.table,
            &options,
            observer,
        )?;
        let messages = self.findings.iter().map(|finding| &finding.message);
        let summary = PageSummary {
            data_check: Some(messages.cloned().collect()),
            checks_halves: true,
            ..self.summary()
        };
        Ok(DecisionPage::of_review(&review, summary))
    }

    /// What the page says besides the review.
    fn summary(&self) -> PageSummary {
        let BacktestTable {
            data,
            oracle,
            periods,
            folds,
            ..
        } = self.table;
        let problem = oracle.problem().name();
        let table = TableFacts {
            origin: self.facts.origin.clone(),
            problem: problem.clone(),
            table: data,
            encoding: &EncodingReport::of(data.data().features()),
            unused_columns: &self.facts.unused_columns,
        };
        let mut facts = table.list();
        let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
        let first = folds.first().map_or(0, |fold| fold.history.len());
        let what = match &self.facts.time_column {
            Some(column) => format!("periods of the column {column}"),
            None if periods.are_ordered() => "periods of the times given".into(),
            None => "rows without times, in random order".into(),
        };
        let rows = grouped(first as u64);
        add(
            "history",
            format!("{what}; the first training has {rows} rows"),
        );
        let trainings = self.results.trainings;
        add("trainings", format!("{trainings} of each model"));
        let labels = data.label_counts(&data.rows());
        add("best decisions in hindsight", labels.to_string());
        add("seed", self.backtest.training.seed.to_string());
        for note in periods.notes() {
            add("note", note);
        }
        if let Some(file) = &self.facts.settings_file {
            add("all settings", file.clone());
        }
        let name = self.facts.table.clone().unwrap_or_else(|| problem.clone());
        PageSummary {
            title: self
                .facts
                .title
                .clone()
                .unwrap_or_else(|| format!("What would have been saved on {name}?")),
            description: self.results.title(&problem),
            facts,
            commands: self.facts.commands.clone(),
            ..PageSummary::default()
        }
    }
}
