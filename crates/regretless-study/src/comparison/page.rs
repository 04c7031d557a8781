//! The page of a comparison: what it was made from, and the results for its figures.

use time::OffsetDateTime;

use super::cells::{Comparison, ComparisonExplanation, ComparisonResult, Conclusion};
use crate::decision_page::DecisionPage;
use crate::experiment::{DecisionLayout, ExperimentResults, FigureKind, ProblemResults};
use crate::explanation;
use crate::report::{PageSummary, comparison_figures, comparison_page};
use crate::table_report::{DataFindings, Fact, TableFacts};
use crate::text::grouped;

/// Everything a page is made from.
pub struct ComparisonPage<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// Its results.
    pub result: &'a ComparisonResult,
    /// How decisions of a user's problem are drawn.
    pub layout: Option<DecisionLayout>,
    /// What follows from them.
    pub conclusion: &'a Conclusion,
    /// An explained decision.
    pub explained: &'a ComparisonExplanation,
    /// Commands that repeat the comparison, that of this run first.
    pub commands: Vec<String>,
    /// The file with all settings, if there is one.
    pub settings_file: Option<String>,
}

impl ComparisonPage<'_> {
    /// The page and its figures.
    pub fn draw(&self) -> DecisionPage {
        let mut verdict = self.conclusion.sentences();
        let labels = self.comparison.label_counts();
        if !labels.are_optimal() {
            verdict.push(format!(
                "Not all labels are proven optimal: {labels}. Regrets are differences to the \
                 labels."
            ));
        }
        let (explained, explanation) = match self.explained {
            ComparisonExplanation::Row(row) => {
                (Some(&**row), explanation::sentences(&row.explanation))
            }
            ComparisonExplanation::Remark(remark) => {
                verdict.push(remark.clone());
                (None, Vec::new())
            }
            ComparisonExplanation::Nothing => (None, Vec::new()),
        };
        let findings = self.comparison.table.findings.as_ref();
        let summary = PageSummary {
            verdict,
            unit: self.comparison.facts.unit.clone(),
            explanation,
            facts: self.facts(),
            data_check: findings.map(DataFindings::messages),
            commands: self.commands.clone(),
            ..PageSummary::default()
        };
        let results = self.results();
        DecisionPage {
            html: comparison_page(&results, explained, &summary),
            figures: comparison_figures(&results, explained, &summary.unit),
        }
    }

    /// The results with title, figures and origin.
    pub(super) fn results(&self) -> ExperimentResults {
        let mut results = self.result.experiment.clone();
        let what = &self.comparison.facts.table;
        results.title = format!("Which method decides best on {what}?");
        results.description = self.comparison.title();
        results.figures = vec![
            FigureKind::Bars,
            FigureKind::Examples,
            FigureKind::Pareto,
            FigureKind::Curves,
            FigureKind::Solves,
        ];
        results.provenance.command = self.commands.first().cloned().unwrap_or_default();
        results.provenance.date = OffsetDateTime::now_utc().date().to_string();
        let mut problem = self.result.statistics.clone();
        note_failures(&mut problem, self.result);
        problem.layout = self.layout.clone().or(problem.layout);
        if let Some(names) = &self.comparison.facts.cost_names {
            problem.cost_names = names.to_vec();
        }
        if let Some(keys) = &self.comparison.table.keys {
            for example in &mut problem.examples {
                if let Some(key) = keys.values().get(example.row) {
                    example.key = format!("{} {key}", keys.name());
                }
            }
        }
        results.problems = vec![problem];
        results
    }

    /// Data, split and settings.
    fn facts(&self) -> Vec<Fact> {
        let comparison = self.comparison;
        let data = &comparison.data[0];
        let table = TableFacts {
            origin: comparison.facts.origin.clone(),
            problem: data.problem.name(),
            table: &data.data,
            encoding: &comparison.encoding(),
            unused_columns: &comparison.table.unused_columns,
        };
        let mut facts = table.list();
        let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
        let [train, validation, test] = data.split.counts().map(|rows| grouped(rows as u64));
        let seeds = if comparison.shares_test_rows() {
            "the same for all seeds"
        } else {
            "for each seed"
        };
        let parts = format!("{train} rows to train, {validation} to validate, {test} to test");
        add("split", format!("{parts}; {}, {seeds}", data.split.rule));
        add("labels", comparison.label_counts().to_string());
        let (first, count) = (comparison.facts.first_seed, comparison.data.len());
        add("seeds", format!("{count}, from {first}"));
        if let Some(predictor) = &comparison.predictor {
            add("predictor", predictor.to_string());
        }
        add(
            "training",
            format!(
                "{} epochs, profile {}",
                comparison.epochs, comparison.facts.profile
            ),
        );
        if let Some(heuristic) = comparison.heuristic {
            add(
                "decisions",
                format!("by a heuristic, {heuristic}: labels and decisions need not be optimal"),
            );
        }
        if let Some(file) = &self.settings_file {
            add("all settings", file.clone());
        }
        facts
    }
}

/// Failed runs are not stored, so the same command repeats them; the page has their errors.
fn note_failures(problem: &mut ProblemResults, result: &ComparisonResult) {
    for failure in &result.failures {
        let mut methods = problem.methods.iter_mut();
        if let Some(method) = methods.find(|method| method.name == failure.run.name) {
            method.note = Some(format!("seed {}: {}", failure.run.seed, failure.error));
        }
    }
}
