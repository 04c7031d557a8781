//! Averages of a comparison over its seeds.
//!
//! The ratio of a method is the mean over seeds of its test regret divided by the test regret of
//! MSE on the same seed, with the sample standard deviation over seeds.

use std::path::Path;

use regretless::Result;
use regretless::experiment::MeanAndDeviation;
use serde::Serialize;
use serde_json::{Value, json};

use super::run::{ComparedMethod, RunResult};
use super::{FailedRun, reference};
use crate::csv_text::{CsvText, optional_cell};
use crate::output::{grouped, number, percent};
use crate::text_table::TextTable;

/// One method or baseline over all its seeds.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryRow {
    /// Its name.
    pub method: String,
    pub runs: usize,
    pub ratio: Option<f64>,
    pub ratio_sd: Option<f64>,
    pub test_regret: Option<f64>,
    pub test_normalized_regret: Option<f64>,
    pub test_mse: Option<f64>,
    pub test_mae: Option<f64>,
    pub solves: Option<f64>,
    pub seconds: Option<f64>,
    pub is_baseline: bool,
    /// Runs whose training loss was clearly still falling at the end.
    pub still_falling: usize,
    #[serde(skip)]
    pub compared: ComparedMethod,
    /// Seed and test regret of each run.
    #[serde(skip)]
    pub regrets: Vec<(u64, f64)>,
}

/// All methods and baselines.
#[derive(Debug, Clone)]
pub struct ComparisonSummary {
    /// In the order of the table: methods, then baselines.
    pub lines: Vec<SummaryRow>,
    /// Test regret of MSE by seed.
    reference: Vec<(u64, f64)>,
}

impl ComparisonSummary {
    /// Averages of all runs, method by method.
    pub fn of(methods: &[ComparedMethod], outcomes: &[RunResult]) -> Self {
        let mse = reference().to_string();
        let reference = outcomes
            .iter()
            .filter(|run| run.method == mse)
            .map(|run| (run.seed, run.test.regret))
            .collect();
        let mut summary = Self {
            lines: Vec::new(),
            reference,
        };
        for method in methods {
            let line = summary.line(method, outcomes);
            summary.lines.push(line);
        }
        summary
    }

    fn line(&self, method: &ComparedMethod, outcomes: &[RunResult]) -> SummaryRow {
        let name = method.to_string();
        let runs: Vec<&RunResult> = outcomes.iter().filter(|run| run.method == name).collect();
        let mean = |value: fn(&RunResult) -> f64| {
            MeanAndDeviation::of(&runs.iter().map(|run| value(run)).collect::<Vec<_>>()).mean
        };
        let ratios: Vec<f64> = runs.iter().filter_map(|run| self.ratio(run)).collect();
        let MeanAndDeviation {
            mean: ratio,
            sd: ratio_sd,
            ..
        } = MeanAndDeviation::of(&ratios);
        SummaryRow {
            method: name,
            runs: runs.len(),
            ratio,
            ratio_sd,
            test_regret: mean(|run| run.test.regret),
            test_normalized_regret: mean(|run| run.test.normalized_regret),
            test_mse: mean(|run| run.test.mse),
            test_mae: mean(|run| run.test.mae),
            solves: mean(|run| run.solves as f64),
            seconds: mean(|run| run.seconds),
            is_baseline: matches!(method, ComparedMethod::Baseline(_)),
            still_falling: runs
                .iter()
                .filter(|run| run.still_falling == Some(true))
                .count(),
            compared: method.clone(),
            regrets: runs.iter().map(|run| (run.seed, run.test.regret)).collect(),
        }
    }

    /// Regret of a run divided by that of MSE on the same seed; none if MSE has not run or has no
    /// regret.
    fn ratio(&self, run: &RunResult) -> Option<f64> {
        let (_, regret) = self.reference.iter().find(|(seed, _)| *seed == run.seed)?;
        (*regret > 0.0).then(|| run.test.regret / regret)
    }

    /// The lowest ratio of all rows.
    fn lowest(&self) -> Option<f64> {
        self.lines
            .iter()
            .filter_map(|line| line.ratio)
            .min_by(f64::total_cmp)
    }

    /// The table for people.
    pub fn text(&self) -> String {
        let mut table = TextTable::new([
            "method",
            "ratio to MSE",
            " ",
            "test regret",
            "normalized",
            "solves",
            "seconds",
        ]);
        let shown = |value: Option<f64>, format: fn(f64) -> String| {
            value.map_or_else(|| "–".to_owned(), format)
        };
        for line in &self.lines {
            let ratio = shown(line.ratio, |ratio| format!("{ratio:.3}"));
            let deviation = line
                .ratio_sd
                .map(|sd| format!(" ± {sd:.3}"))
                .unwrap_or_default();
            let best = line.ratio.is_some() && line.ratio == self.lowest();
            table.row([
                line.method.clone(),
                ratio + &deviation,
                if best { "*" } else { " " }.to_owned(),
                shown(line.test_regret, number),
                shown(line.test_normalized_regret, percent),
                shown(line.solves, |solves| grouped(solves.round() as u64)),
                shown(line.seconds, |seconds| format!("{seconds:.2}")),
            ]);
        }
        let notes = "\
ratio to MSE: test regret / test regret of MSE on the same seed, mean ± standard deviation; * lowest
other columns: means over seeds; normalized: regret / optimal objective; solves, seconds: training
";
        format!("{}\n{notes}\n", table.text())
    }

    /// The table for spreadsheets.
    pub fn csv(&self) -> Result<String> {
        let mut table = CsvText::new(&[
            "method",
            "runs",
            "ratio",
            "ratio_sd",
            "test_regret",
            "test_normalized_regret",
            "solves",
            "seconds",
        ])?;
        for line in &self.lines {
            let values = [
                line.ratio,
                line.ratio_sd,
                line.test_regret,
                line.test_normalized_regret,
                line.solves,
                line.seconds,
            ];
            let mut row = vec![line.method.clone(), line.runs.to_string()];
            row.extend(values.map(optional_cell));
            table.row(&row)?;
        }
        table.finish()
    }

    /// Every run, for spreadsheets.
    pub fn runs_csv(&self, outcomes: &[RunResult]) -> Result<String> {
        let mut table = CsvText::new(&[
            "method",
            "seed",
            "best_epoch",
            "epochs",
            "validation_regret",
            "test_regret",
            "test_normalized_regret",
            "test_relative_regret",
            "test_mse",
            "test_mae",
            "test_optimal_fraction",
            "ratio",
            "solves",
            "seconds",
        ])?;
        for run in outcomes {
            let values = [
                run.validation_regret,
                Some(run.test.regret),
                Some(run.test.normalized_regret),
                Some(run.test.relative_regret),
                Some(run.test.mse),
                Some(run.test.mae),
                Some(run.test.optimal_fraction),
                self.ratio(run),
            ];
            let mut row = vec![
                run.method.clone(),
                run.seed.to_string(),
                run.best_epoch.to_string(),
                run.epochs.to_string(),
            ];
            row.extend(values.map(optional_cell));
            row.extend([run.solves.to_string(), run.seconds.to_string()]);
            table.row(&row)?;
        }
        table.finish()
    }

    /// The table for machines.
    pub fn json(&self, folder: &Path, failures: &[FailedRun]) -> Value {
        let failed: Vec<Value> = failures
            .iter()
            .map(|failure| json!({"run": failure.run, "error": failure.error.to_string()}))
            .collect();
        // A path need not be UTF-8, as JSON must be.
        json!({"out": folder.to_string_lossy(), "methods": self.lines, "failed": failed})
    }
}
