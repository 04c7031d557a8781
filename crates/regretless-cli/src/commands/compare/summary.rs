//! Numbers of a comparison.
//!
//! The ratio of a contender is the mean over seeds of its test regret divided by the test regret of
//! MSE on the same seed, with the sample standard deviation over seeds.

use std::path::Path;

use regretless::experiment::MeanAndDeviation;
use regretless::{Error, Result};
use serde::Serialize;
use serde_json::{Value, json};

use super::run::{ComparedMethod, RunResult};
use super::{FailedRun, reference};
use crate::output::{grouped, number, percent};
use crate::text_table::TextTable;

/// One contender over all its seeds.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryRow {
    pub loss: String,
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
    pub method: ComparedMethod,
    /// Seed and test regret of each run.
    #[serde(skip)]
    pub regrets: Vec<(u64, f64)>,
}

/// All contenders.
#[derive(Debug, Clone)]
pub struct ComparisonSummary {
    /// In the order of the table: methods, then baselines.
    pub lines: Vec<SummaryRow>,
    /// Test regret of MSE by seed.
    reference: Vec<(u64, f64)>,
}

impl ComparisonSummary {
    /// Averages of all runs, contender by contender.
    pub fn of(contenders: &[ComparedMethod], outcomes: &[RunResult]) -> Self {
        let mse = reference().to_string();
        let reference = outcomes
            .iter()
            .filter(|run| run.loss == mse)
            .map(|run| (run.seed, run.test_regret))
            .collect();
        let mut summary = Self {
            lines: Vec::new(),
            reference,
        };
        for method in contenders {
            let line = summary.line(method, outcomes);
            summary.lines.push(line);
        }
        summary
    }

    fn line(&self, method: &ComparedMethod, outcomes: &[RunResult]) -> SummaryRow {
        let name = method.to_string();
        let runs: Vec<&RunResult> = outcomes.iter().filter(|run| run.loss == name).collect();
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
            loss: name,
            runs: runs.len(),
            ratio,
            ratio_sd,
            test_regret: mean(|run| run.test_regret),
            test_normalized_regret: mean(|run| run.test_normalized_regret),
            test_mse: mean(|run| run.test_mse),
            test_mae: mean(|run| run.test_mae),
            solves: mean(|run| run.solves as f64),
            seconds: mean(|run| run.seconds),
            is_baseline: matches!(method, ComparedMethod::Baseline(_)),
            still_falling: runs
                .iter()
                .filter(|run| run.still_falling == Some(true))
                .count(),
            method: method.clone(),
            regrets: runs.iter().map(|run| (run.seed, run.test_regret)).collect(),
        }
    }

    /// Regret of a run over that of MSE on the same seed; none if MSE has not run or has no regret.
    fn ratio(&self, run: &RunResult) -> Option<f64> {
        let (_, regret) = self.reference.iter().find(|(seed, _)| *seed == run.seed)?;
        (*regret > 0.0).then(|| run.test_regret / regret)
    }

    /// The lowest ratio there is.
    fn lowest(&self) -> Option<f64> {
        self.lines
            .iter()
            .filter_map(|line| line.ratio)
            .min_by(f64::total_cmp)
    }

    /// The table for people.
    pub fn text(&self) -> String {
        let mut table = TextTable::new([
            "loss",
            "ratio to MSE",
            " ",
            "test regret",
            "normalised",
            "solves",
            "seconds",
        ]);
        let shown = |value: Option<f64>, form: fn(f64) -> String| {
            value.map_or_else(|| "–".to_owned(), form)
        };
        for line in &self.lines {
            let ratio = shown(line.ratio, |ratio| format!("{ratio:.3}"));
            let deviation = line
                .ratio_sd
                .map(|sd| format!(" ± {sd:.3}"))
                .unwrap_or_default();
            let best = line.ratio.is_some() && line.ratio == self.lowest();
            table.row([
                line.loss.clone(),
                ratio + &deviation,
                if best { "*" } else { " " }.to_owned(),
                shown(line.test_regret, number),
                shown(line.test_normalized_regret, percent),
                shown(line.solves, |solves| grouped(solves.round() as u64)),
                shown(line.seconds, |seconds| format!("{seconds:.2}")),
            ]);
        }
        let notes = "\
ratio to MSE: test regret over that of MSE on the same seed, mean ± deviation over seeds; * lowest
all other columns are means over seeds; solves and seconds are those of training
";
        format!("{}\n{notes}\n", table.text())
    }

    /// The table for spreadsheets.
    pub fn csv(&self) -> Result<String> {
        let header = [
            "loss",
            "runs",
            "ratio",
            "ratio_sd",
            "test_regret",
            "test_normalized_regret",
            "solves",
            "seconds",
        ];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        for line in &self.lines {
            let values = [
                line.ratio,
                line.ratio_sd,
                line.test_regret,
                line.test_normalized_regret,
                line.solves,
                line.seconds,
            ];
            let mut row = vec![line.loss.clone(), line.runs.to_string()];
            row.extend(values.map(cell));
            rows.push(row);
        }
        csv_text(rows)
    }

    /// Every run, for spreadsheets.
    pub fn runs_csv(&self, outcomes: &[RunResult]) -> Result<String> {
        let header = [
            "loss",
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
        ];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        for run in outcomes {
            let values = [
                run.validation_regret,
                Some(run.test_regret),
                Some(run.test_normalized_regret),
                Some(run.test_relative_regret),
                Some(run.test_mse),
                Some(run.test_mae),
                Some(run.test_optimal_fraction),
                self.ratio(run),
            ];
            let mut row = vec![run.loss.clone()];
            row.extend(
                [run.seed as usize, run.best_epoch, run.epochs].map(|count| count.to_string()),
            );
            row.extend(values.map(cell));
            row.extend([run.solves.to_string(), run.seconds.to_string()]);
            rows.push(row);
        }
        csv_text(rows)
    }

    /// The table for machines.
    pub fn json(&self, folder: &Path, failures: &[FailedRun]) -> Value {
        let failed: Vec<Value> = failures
            .iter()
            .map(|failure| json!({"run": failure.run, "error": failure.error.to_string()}))
            .collect();
        // A path need not be text, which JSON is.
        json!({"out": folder.to_string_lossy(), "losses": self.lines, "failed": failed})
    }
}

fn cell(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn csv_text(rows: Vec<Vec<String>>) -> Result<String> {
    let broken = |error: String| Error::setting(format!("a table cannot be written: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer
            .write_record(row)
            .map_err(|error| broken(error.to_string()))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| broken(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| broken(error.to_string()))
}
