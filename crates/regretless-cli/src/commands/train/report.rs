//! What `train` prints, and what its page says besides the decision report.

use regretless::Result;
use regretless::baseline::Baseline;
use regretless::evaluate::Evaluation;
use regretless::notes::NoteKind;
use regretless::report::{CandidateReport, ScoringKind};
use regretless::trainer::TrainingOutcome;
use regretless_study::experiment::CellData;
use regretless_study::report::PageSummary;
use regretless_study::table_report::{DataFindings, EncodingReport, TableFacts, TableReport};
use regretless_study::text::{first_columns, grouped, number, percent};
use serde_json::{Value, json};

use super::outputs::TrainOutputs;
use crate::args::TrainOptions;
use crate::commands::{decision_page, encoding, json};
use crate::output::{CommandReport, path_json};

/// Candidates of `auto` that are printed; the report file has all of them.
const MAX_CANDIDATE_LINES: usize = 12;

/// A training in words.
pub struct TrainText<'a> {
    /// The training.
    pub outcome: &'a TrainingOutcome,
    /// What is known about its table.
    pub table: &'a TableReport,
    /// What became of its columns.
    pub encoding: EncodingReport,
}

impl TrainText<'_> {
    /// Whether notes of a kind are lines of the report, next to the numbers they are about.
    pub fn is_in_report(kind: NoteKind) -> bool {
        matches!(
            kind,
            NoteKind::Epochs | NoteKind::Auto | NoteKind::FewTestRows | NoteKind::BetterBaseline(_)
        )
    }

    /// The notes of a kind.
    fn texts(&self, kind: NoteKind) -> impl Iterator<Item = &str> {
        let notes = self
            .outcome
            .notes
            .iter()
            .filter(move |note| note.kind == kind);
        notes.map(|note| note.text.as_str())
    }

    /// The report as JSON.
    pub fn json(&self) -> Result<Value> {
        let mut report = json(self.outcome)?;
        report["unused_columns"] = self.table.unused_columns.with(&self.encoding).json();
        report["encoding"] = self.encoding.json();
        report["skipped_rows"] = json!(self.table.skipped_rows);
        if let Some(findings) = &self.table.findings {
            report["data_check"] = json(findings)?;
        }
        Ok(report)
    }

    /// The report as text and JSON.
    pub fn report(&self, out: &TrainOutputs, data: &CellData) -> Result<CommandReport> {
        let mut json = self.json()?;
        json["model"] = path_json(&out.model);
        let mut report = CommandReport {
            json,
            ..CommandReport::default()
        };
        let trained = &self.outcome.report;
        let epochs = trained
            .rounds
            .last()
            .map_or(0, |round| round.epochs.len().saturating_sub(1));
        report.line(format!(
            "{} on {}, {}",
            self.outcome.method,
            data.problem.name(),
            self.outcome.split
        ));
        let features = &self.outcome.model.metadata.features;
        report.line(format!(
            "  features           {}: {}",
            grouped(features.len() as u64),
            first_columns(features)
        ));
        encoding::print(&self.encoding, &mut report);
        self.report_candidates(&mut report);
        if !trained.rounds.is_empty() {
            report.line(format!(
                "  best epoch         {} of {epochs}",
                trained.best_epoch()
            ));
        }
        for remark in self.texts(NoteKind::Epochs) {
            report.line(format!("                     {remark}"));
        }
        self.report_regrets(&mut report);
        for warning in self.texts(NoteKind::FewTestRows) {
            report.line(format!("  {warning}"));
        }
        if let Some(heuristic) = self.outcome.heuristic {
            report.line(format!(
                "  heuristic          {heuristic}; its decisions need not be optimal"
            ));
        }
        if !self.outcome.labels.are_optimal() {
            report.line(format!("  labels             {}", self.outcome.labels));
        }
        if self.table.skipped_rows.count() > 0 {
            report.line(format!(
                "  skipped rows       {}; {} says why",
                grouped(self.table.skipped_rows.count() as u64),
                out.report.display()
            ));
        }
        report.line(format!(
            "  solves             {}",
            grouped(trained.solves.total())
        ));
        if trained.solves.unpooled_rows > 0 {
            report.line(format!(
                "                     {} of them because fewer than two decisions of the pool were \
                 feasible for the row",
                grouped(trained.solves.unpooled_rows)
            ));
        }
        report.line(format!("  seconds            {:.2}", trained.seconds));
        report.line(format!("\nmodel written to {}", out.model.display()));
        Ok(report)
    }

    /// What the page says besides the review.
    pub fn page_summary(
        &self,
        options: &TrainOptions,
        out: &TrainOutputs,
        data: &CellData,
    ) -> PageSummary {
        let table = TableFacts {
            origin: decision_page::origin(&options.data),
            problem: data.problem.name(),
            table: &data.data,
            encoding: &self.encoding,
            unused_columns: &self.table.unused_columns,
        };
        let mut facts = table.list();
        let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
        let [train, validation, test] = data.split.counts().map(|rows| grouped(rows as u64));
        let rule = &data.split.rule;
        add(
            "split",
            format!("{train} rows to train, {validation} to validate, {test} to test; {rule}"),
        );
        add(
            "best decisions in hindsight",
            self.outcome.labels.to_string(),
        );
        add("method", self.outcome.method.to_string());
        if let Some(predictor) = &options.split.predictor {
            add("predictor", predictor.to_string());
        }
        add("seed", self.outcome.settings.seed.to_string());
        add("model", out.model.display().to_string());
        add("all settings", out.settings.display().to_string());
        let name = decision_page::table_name(&options.data);
        let name = name.unwrap_or_else(|| data.problem.name());
        PageSummary {
            title: format!("How well does the model decide on {name}?"),
            description: format!(
                "{} on {}, {}",
                self.outcome.method,
                data.problem.name(),
                self.outcome.split
            ),
            facts,
            data_check: self.table.findings.as_ref().map(DataFindings::messages),
            ..PageSummary::default()
        }
    }

    /// The regrets of the model and of baselines: of the training mean and least squares always, of
    /// the previous row where it is lower.
    fn report_regrets(&self, report: &mut CommandReport) {
        let mut add = |name: &str, evaluation: &Evaluation, remark: &str| {
            report.line(format!(
                "  {name:<18} {} (normalized {}){remark}",
                number(evaluation.regret),
                percent(evaluation.normalized_regret)
            ));
        };
        if let Some(validation) = &self.outcome.validation {
            add("validation regret", validation, "");
        }
        if let Some(test) = &self.outcome.test {
            add("test regret", test, "");
        }
        for baseline in [
            Baseline::TrainingMean,
            Baseline::LeastSquares,
            Baseline::PreviousRow,
        ] {
            let Some(evaluation) = self.outcome.baseline(baseline) else {
                continue;
            };
            let is_better = self.outcome.better_baseline(baseline).is_some();
            let remark = match (baseline, self.outcome.verdict(baseline)) {
                (Baseline::TrainingMean, Some(_)) if !is_better => {
                    "the test regret of decisions without a model".into()
                }
                (Baseline::PreviousRow, Some(_)) if !is_better => continue,
                (_, Some(verdict)) => verdict.sentence(),
                (_, None) => "the model".into(),
            };
            add(&baseline.to_string(), evaluation, &format!(": {remark}"));
        }
    }

    /// The candidates of `auto` and the chosen one.
    fn report_candidates(&self, report: &mut CommandReport) {
        let mut entries: Vec<&CandidateReport> = self.outcome.report.candidates.iter().collect();
        entries.sort_by(|a, b| {
            let [first, second] = [a, b].map(|entry| entry.regret.unwrap_or(f64::INFINITY));
            (b.is_chosen, b.folds)
                .cmp(&(a.is_chosen, a.folds))
                .then(first.total_cmp(&second))
        });
        for entry in entries.iter().take(MAX_CANDIDATE_LINES) {
            let regret = entry.regret.map(number).unwrap_or_default();
            let score = match entry.scoring {
                ScoringKind::Exact => regret,
                ScoringKind::Relaxed => format!("{regret} (relaxed)"),
                ScoringKind::Unscored => "not scored".into(),
                ScoringKind::Failed => "failed".into(),
            };
            let name = entry.name();
            let chosen = if entry.is_chosen { "  <" } else { "" };
            report.line(format!(
                "  tried {name:<52} {score} in {:.2} s{chosen}",
                entry.seconds
            ));
        }
        if entries.len() > MAX_CANDIDATE_LINES {
            let more = entries.len() - MAX_CANDIDATE_LINES;
            report.line(format!("  tried {more} more, see the report file"));
        }
        if let Some(search) = &self.outcome.report.search {
            let range = |interval: Option<[f64; 2]>| {
                let interval = interval.map(|ends| ends.map(percent));
                interval.map_or_else(
                    || "too few rows for an interval".to_owned(),
                    |[lower, upper]| format!("95 %: {lower} to {upper}"),
                )
            };
            report.line(format!(
                "  expected regret    normalized {} ({}), by {}",
                percent(search.expected_regret),
                range(search.interval),
                search.basis()
            ));
            if let Some(regret) = search.least_squares_regret {
                let difference = if search.is_least_squares {
                    "the model".to_owned()
                } else {
                    format!("difference {}", range(search.improvement))
                };
                report.line(format!(
                    "  least squares      normalized {} on the same rows ({difference})",
                    percent(regret)
                ));
            }
            let tried = self.outcome.report.candidates.len();
            let candidates = self.outcome.report.candidates.iter();
            let chosen = candidates.filter(|entry| entry.is_chosen).count();
            report.line(format!(
                "  candidates         {tried} tried by {}, {chosen} in the model",
                search.basis()
            ));
            if let Some(sentence) = self.outcome.search_sentence() {
                report.line(format!("                     {sentence}"));
            }
        }
        if let Some(seconds) = self.outcome.report.timed_solve_seconds {
            report.line(format!(
                "  planned from a measured solve time of {seconds} s: not reproducible"
            ));
        }
    }
}
