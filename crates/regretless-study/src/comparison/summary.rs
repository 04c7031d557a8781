//! Averages of a comparison over its seeds.
//!
//! The ratio of a method is the mean over seeds of its test regret divided by the test regret of
//! MSE on the same seed, with the sample standard deviation over seeds.

use std::collections::BTreeMap;
use std::path::Path;

use regretless::Result;
use regretless_base::statistics::ConfidenceInterval;
use serde::Serialize;
use serde_json::{Value, json};

use super::cells::{ComparisonResult, FailedRun};
use crate::experiment::{CellId, CellMethod, CellRecord, MethodResults};
use crate::text::{CsvText, TextTable, grouped, number, optional_cell, percent};

/// One method or baseline over all its seeds.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryRow {
    /// Its name.
    pub method: String,
    /// Finished runs.
    pub runs: usize,
    /// Mean ratio of its test regret to that of MSE.
    pub ratio: Option<f64>,
    /// Standard deviation of the ratio over seeds.
    pub ratio_sd: Option<f64>,
    /// The ratio minus 1 with its interval.
    #[serde(skip)]
    difference: Option<ConfidenceInterval>,
    /// Mean test regret; the other numbers are means too.
    pub test_regret: Option<f64>,
    /// Test regret divided by the optimal objective.
    pub test_normalized_regret: Option<f64>,
    /// Standard deviation of that over seeds.
    pub test_normalized_regret_sd: Option<f64>,
    /// Mean squared error of the predicted costs.
    pub test_mse: Option<f64>,
    /// Mean absolute error of the predicted costs.
    pub test_mae: Option<f64>,
    /// Solves of a training.
    pub solves: Option<f64>,
    /// Duration of a training.
    pub seconds: Option<f64>,
    /// Whether it is not trained.
    pub is_baseline: bool,
    /// Runs whose training loss has not converged.
    pub not_converged: usize,
    #[serde(skip)]
    pub(super) compared: CellMethod,
    /// Test regret of each run by seed.
    #[serde(skip)]
    pub(super) regrets: BTreeMap<u32, f64>,
    /// Ratio of each run by seed; none if MSE has not run or has no regret.
    #[serde(skip)]
    ratios: BTreeMap<u32, f64>,
}

impl SummaryRow {
    fn new(method: &CellMethod, statistics: &MethodResults, runs: &[CellRecord]) -> Self {
        let mut regrets = BTreeMap::new();
        for run in runs.iter().filter(|run| run.id.name == statistics.name) {
            if let Some(metrics) = run.metrics() {
                regrets.insert(run.id.seed, metrics.test.regret);
            }
        }
        let mut ratios = BTreeMap::new();
        for result in &statistics.seeds {
            if let Some(ratio) = result.ratio {
                ratios.insert(result.seed, ratio);
            }
        }
        Self {
            method: statistics.name.clone(),
            runs: statistics.regret.count,
            ratio: statistics.ratio.mean,
            ratio_sd: statistics.ratio.sd,
            difference: statistics.difference,
            test_regret: statistics.regret.mean,
            test_normalized_regret: statistics.normalized_regret.mean,
            test_normalized_regret_sd: statistics.normalized_regret.sd,
            test_mse: statistics.mse.mean,
            test_mae: statistics.mae.mean,
            solves: statistics.total_solves.mean,
            seconds: statistics.seconds.mean,
            is_baseline: !matches!(method, CellMethod::Trained(_)),
            not_converged: statistics.not_converged,
            compared: method.clone(),
            regrets,
            ratios,
        }
    }
}

/// All methods and baselines.
#[derive(Debug, Clone)]
pub struct ComparisonSummary {
    /// In the order of the table: methods, then baselines.
    pub rows: Vec<SummaryRow>,
}

impl ComparisonSummary {
    /// Averages of all runs, method by method.
    pub fn new(methods: &[CellMethod], result: &ComparisonResult) -> Self {
        let mut rows = Vec::new();
        for (method, statistics) in methods.iter().zip(&result.statistics.methods) {
            rows.push(SummaryRow::new(method, statistics, &result.runs));
        }
        Self { rows }
    }

    /// The lowest ratio of all rows.
    fn lowest(&self) -> Option<f64> {
        self.rows
            .iter()
            .filter_map(|row| row.ratio)
            .min_by(f64::total_cmp)
    }

    fn ratio(&self, run: &CellId) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.method == run.name)?;
        row.ratios.get(&run.seed).copied()
    }

    /// The table for people; the unit may be empty.
    pub fn text(&self, unit: &str) -> String {
        let regret = if unit.is_empty() {
            "test regret".to_owned()
        } else {
            format!("test regret ({unit})")
        };
        let mut table = TextTable::new([
            "method",
            "ratio to MSE",
            " ",
            &regret,
            "normalized",
            "solves",
            "seconds",
        ]);
        let shown = |value: Option<f64>, format: fn(f64) -> String| {
            value.map_or_else(|| "–".to_owned(), format)
        };
        for row in &self.rows {
            let ratio = shown(row.ratio, |ratio| format!("{ratio:.3}"));
            let deviation = row
                .ratio_sd
                .map(|sd| format!(" ± {sd:.3}"))
                .unwrap_or_default();
            let best = row.ratio.is_some() && row.ratio == self.lowest();
            table.row([
                row.method.clone(),
                ratio + &deviation,
                if best { "*" } else { " " }.to_owned(),
                shown(row.test_regret, number),
                shown(row.test_normalized_regret, percent),
                shown(row.solves, |solves| grouped(solves.round() as u64)),
                shown(row.seconds, |seconds| format!("{seconds:.2}")),
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
            "difference",
            "lower",
            "upper",
            "test_regret",
            "test_normalized_regret",
            "test_normalized_regret_sd",
            "solves",
            "seconds",
        ])?;
        for row in &self.rows {
            let values = [
                row.ratio,
                row.ratio_sd,
                row.difference.map(|interval| interval.mean),
                row.difference.map(|interval| interval.lower),
                row.difference.map(|interval| interval.upper),
                row.test_regret,
                row.test_normalized_regret,
                row.test_normalized_regret_sd,
                row.solves,
                row.seconds,
            ];
            let mut cells = vec![row.method.clone(), row.runs.to_string()];
            cells.extend(values.map(optional_cell));
            table.row(&cells)?;
        }
        table.finish()
    }

    /// Every run, for spreadsheets.
    pub fn runs_csv(&self, runs: &[CellRecord]) -> Result<String> {
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
        for run in runs {
            let Some(metrics) = run.metrics() else {
                continue;
            };
            let test = &metrics.test;
            let values = [
                metrics.validation_regret(),
                Some(test.regret),
                Some(test.normalized_regret),
                Some(test.relative_regret),
                Some(test.mse),
                Some(test.mae),
                Some(test.optimal_fraction),
                self.ratio(&run.id),
            ];
            let mut row = vec![
                run.id.name.clone(),
                run.id.seed.to_string(),
                metrics.best_epoch.to_string(),
                metrics.epochs().to_string(),
            ];
            row.extend(values.map(optional_cell));
            row.extend([
                metrics.solves.total().to_string(),
                metrics.seconds.to_string(),
            ]);
            table.row(&row)?;
        }
        table.finish()
    }

    /// The table for machines.
    pub fn json(&self, folder: &Path, report: &Path, failures: &[FailedRun]) -> Value {
        // A path need not be UTF-8, as JSON must be.
        json!({
            "out": folder.to_string_lossy(),
            "report": report.to_string_lossy(),
            "methods": self.rows,
            "failed": self.failures_json(failures),
        })
    }

    /// Failed runs for machines.
    pub fn failures_json(&self, failures: &[FailedRun]) -> Value {
        let failures = failures.iter();
        failures
            .map(|failure| json!({"run": failure.name(), "error": failure.error.to_string()}))
            .collect()
    }
}
