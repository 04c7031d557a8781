//! Numbers of a comparison.
//!
//! The ratio of a loss is the mean over seeds of its test regret divided by the test regret of MSE
//! on the same seed, with the sample standard deviation over seeds.

use std::fmt::Write as _;
use std::path::Path;

use regretless::Error;
use regretless::evaluate::Evaluation;
use regretless::experiment::Spread;
use regretless::train::{Method, Recipe, TrainReport};
use serde::Serialize;
use serde_json::{Value, json};

use super::reference;
use crate::output::{grouped, number, percent};
use crate::table::Table;

/// One run: a loss, a seed, and what came of them.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    loss: Method,
    seed: u64,
    best_epoch: usize,
    epochs: usize,
    validation_regret: Option<f64>,
    test_regret: f64,
    test_normalised_regret: f64,
    test_relative_regret: f64,
    test_mse: f64,
    test_mae: f64,
    test_optimal_share: f64,
    solves: u64,
    seconds: f64,
}

impl Outcome {
    /// What a run came to.
    pub fn new(recipe: &Recipe, report: &TrainReport, test: &Evaluation) -> Self {
        let last = report.rounds.last();
        let best = last.and_then(|round| round.epochs.get(round.best_epoch));
        Self {
            loss: recipe.method.clone(),
            seed: recipe.settings.seed,
            best_epoch: report.best_epoch(),
            epochs: last.map_or(0, |round| round.epochs.len().saturating_sub(1)),
            validation_regret: best.and_then(|epoch| epoch.validation_regret),
            test_regret: test.regret,
            test_normalised_regret: test.normalised_regret,
            test_relative_regret: test.relative_regret,
            test_mse: test.mse,
            test_mae: test.mae,
            test_optimal_share: test.optimal_share,
            solves: report.solves.total(),
            seconds: report.seconds,
        }
    }
}

/// One loss over all its seeds.
#[derive(Debug, Clone, Serialize)]
struct Line {
    loss: Method,
    runs: usize,
    ratio: Option<f64>,
    ratio_sd: Option<f64>,
    test_regret: Option<f64>,
    test_normalised_regret: Option<f64>,
    solves: Option<f64>,
    seconds: Option<f64>,
}

/// All losses.
#[derive(Debug, Clone)]
pub struct Summary {
    lines: Vec<Line>,
    /// Test regret of MSE by seed.
    reference: Vec<(u64, f64)>,
}

impl Summary {
    /// Averages of all runs, loss by loss.
    pub fn of(losses: &[Method], outcomes: &[Outcome]) -> Self {
        let mse = reference();
        let reference = outcomes.iter().filter(|run| run.loss == mse).map(|run| (run.seed, run.test_regret)).collect();
        let mut summary = Self { lines: Vec::new(), reference };
        summary.lines = losses.iter().map(|loss| summary.line(loss, outcomes)).collect();
        summary
    }

    fn line(&self, loss: &Method, outcomes: &[Outcome]) -> Line {
        let runs: Vec<&Outcome> = outcomes.iter().filter(|run| run.loss == *loss).collect();
        let mean = |value: fn(&Outcome) -> f64| Spread::of(&runs.iter().map(|run| value(run)).collect::<Vec<_>>()).mean;
        let ratios: Vec<f64> = runs.iter().filter_map(|run| self.ratio(run)).collect();
        let Spread { mean: ratio, sd: ratio_sd, .. } = Spread::of(&ratios);
        Line {
            loss: loss.clone(),
            runs: runs.len(),
            ratio,
            ratio_sd,
            test_regret: mean(|run| run.test_regret),
            test_normalised_regret: mean(|run| run.test_normalised_regret),
            solves: mean(|run| run.solves as f64),
            seconds: mean(|run| run.seconds),
        }
    }

    /// Regret of a run over that of MSE on the same seed; none if MSE has not run or has no regret.
    fn ratio(&self, run: &Outcome) -> Option<f64> {
        let (_, regret) = self.reference.iter().find(|(seed, _)| *seed == run.seed)?;
        (*regret > 0.0).then(|| run.test_regret / regret)
    }

    /// The lowest ratio there is.
    fn lowest(&self) -> Option<f64> {
        self.lines.iter().filter_map(|line| line.ratio).min_by(f64::total_cmp)
    }

    /// The table for people.
    pub fn text(&self) -> String {
        let mut table = Table::new(["loss", "ratio to MSE", " ", "test regret", "normalised", "solves", "seconds"]);
        let shown = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), form);
        for line in &self.lines {
            let ratio = shown(line.ratio, |ratio| format!("{ratio:.3}"));
            let deviation = line.ratio_sd.map(|sd| format!(" ± {sd:.3}")).unwrap_or_default();
            let best = line.ratio.is_some() && line.ratio == self.lowest();
            table.row([
                line.loss.to_string(),
                ratio + &deviation,
                if best { "*" } else { " " }.to_owned(),
                shown(line.test_regret, number),
                shown(line.test_normalised_regret, percent),
                shown(line.solves, |solves| grouped(solves.round() as u64)),
                shown(line.seconds, |seconds| format!("{seconds:.2}")),
            ]);
        }
        let notes = "\
ratio to MSE: test regret over that of MSE on the same seed, mean ± deviation over seeds; * lowest
all other columns are means over seeds; solves and seconds are those of training
";
        format!("{}\n{notes}", table.text())
    }

    /// The table for spreadsheets.
    pub fn csv(&self) -> String {
        let header = "loss,runs,ratio,ratio_sd,test_regret,test_normalised_regret,solves,seconds\n";
        let mut text = String::from(header);
        for line in &self.lines {
            let values =
                [line.ratio, line.ratio_sd, line.test_regret, line.test_normalised_regret, line.solves, line.seconds];
            let _ = writeln!(text, "{},{},{}", quoted(&line.loss), line.runs, values.map(cell).join(","));
        }
        text
    }

    /// Every run, for spreadsheets.
    pub fn runs_csv(&self, outcomes: &[Outcome]) -> String {
        let mut text = String::from(
            "loss,seed,best_epoch,epochs,validation_regret,test_regret,test_normalised_regret,test_relative_regret,\
             test_mse,test_mae,test_optimal_share,ratio,solves,seconds\n",
        );
        for run in outcomes {
            let values = [
                run.validation_regret,
                Some(run.test_regret),
                Some(run.test_normalised_regret),
                Some(run.test_relative_regret),
                Some(run.test_mse),
                Some(run.test_mae),
                Some(run.test_optimal_share),
                self.ratio(run),
            ];
            let counts = [run.seed as usize, run.best_epoch, run.epochs].map(|count| count.to_string()).join(",");
            let (loss, values) = (quoted(&run.loss), values.map(cell).join(","));
            let _ = writeln!(text, "{loss},{counts},{values},{},{}", run.solves, run.seconds);
        }
        text
    }

    /// The table for machines.
    pub fn json(&self, folder: &Path, failures: &[(String, Error)]) -> Value {
        let failed: Vec<Value> =
            failures.iter().map(|(run, error)| json!({"run": run, "error": error.to_string()})).collect();
        json!({"out": folder, "losses": self.lines, "failed": failed})
    }
}

fn cell(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Labels hold commas.
fn quoted(loss: &Method) -> String {
    format!("\"{loss}\"")
}
