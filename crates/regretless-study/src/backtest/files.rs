//! Result files of a backtest: `periods.csv` (period × method), `decisions.csv` (values that are
//! not 0) and `summary.json`. The same results give the same bytes.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::results::{BacktestResults, ChosenCandidates, FailedMethod, MethodHistory};
use super::savings::MethodSaving;
use regretless::data::atomic_write::write_atomically;
use regretless::data::csv::{name_cell, shortest};
use regretless::sense::Sense;
use regretless_base::error::Result;
use regretless_base::statistics::CONFIDENCE;

/// The content of `summary.json`.
#[derive(Serialize)]
struct BacktestSummary<'a> {
    verdict: String,
    remarks: &'a [String],
    reference: &'a str,
    sense: Sense,
    unit: Option<&'a str>,
    periods: usize,
    first_period: Option<&'a String>,
    last_period: Option<&'a String>,
    trainings: usize,
    days_per_period: Option<f64>,
    confidence: f64,
    methods: Vec<MethodSummary<'a>>,
    failures: &'a [FailedMethod],
}

/// A method in `summary.json`.
#[derive(Serialize)]
struct MethodSummary<'a> {
    name: &'a str,
    total_cost: f64,
    total_regret: f64,
    cost_per_period: f64,
    regret_per_period: f64,
    unproven_decisions: usize,
    /// What `auto` chose in each training.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    chosen: &'a [ChosenCandidates],
    /// None for the reference.
    saving: Option<&'a MethodSaving>,
}

impl BacktestResults {
    /// Everything but periods and decisions, as JSON.
    ///
    /// # Errors
    /// Never for results of a run.
    pub fn summary(&self) -> Result<serde_json::Value> {
        let count = self.periods.len().max(1) as f64;
        let mut methods = Vec::with_capacity(self.methods.len());
        for method in &self.methods {
            methods.push(MethodSummary {
                name: &method.name,
                total_cost: method.total_cost(),
                total_regret: method.total_regret(),
                cost_per_period: method.total_cost() / count,
                regret_per_period: method.total_regret() / count,
                unproven_decisions: method.unproven,
                chosen: &method.chosen,
                saving: self
                    .savings
                    .iter()
                    .find(|saving| saving.name == method.name),
            });
        }
        let summary = BacktestSummary {
            verdict: self.sentence(),
            remarks: &self.remarks,
            reference: self.methods.first().map_or("", |method| &method.name),
            sense: self.sense,
            unit: self.unit.as_deref(),
            periods: self.periods.len(),
            first_period: self.periods.first(),
            last_period: self.periods.last(),
            trainings: self.trainings,
            days_per_period: self.days_per_period,
            confidence: CONFIDENCE,
            methods,
            failures: &self.failures,
        };
        serde_json::to_value(summary).map_err(|error| {
            regretless_base::error::Error::setting(format!(
                "the summary cannot be written: {error}"
            ))
        })
    }

    /// Writes the files into a folder, which is created if it is missing; existing files are
    /// replaced.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(regretless_base::error::Error::io(folder))?;
        write_atomically(&folder.join("periods.csv"), true, |out| {
            self.write_periods(out)
        })?;
        let decisions = folder.join("decisions.csv");
        write_atomically(&decisions, true, |out| self.write_decisions(out))?;
        let summary = self.summary()?;
        // The last file: a folder with it is complete.
        write_atomically(&folder.join("summary.json"), true, |out| {
            serde_json::to_writer_pretty(&mut *out, &summary)?;
            out.write_all(b"\n")
        })
    }

    fn write_periods(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["period", "method", "cost", "regret", "best"])?;
        for (period, name) in self.periods.iter().enumerate() {
            for method in &self.methods {
                writer.write_record([
                    name_cell(name),
                    name_cell(&method.name),
                    shortest(method.costs[period]),
                    shortest(method.regrets[period]),
                    shortest(self.best[period]),
                ])?;
            }
        }
        writer.flush()
    }

    fn write_decisions(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["period", "row", "method", "column", "value"])?;
        for method in &self.methods {
            self.write_decisions_of(method, &mut writer)?;
        }
        writer.flush()
    }

    fn write_decisions_of<W: Write>(
        &self,
        method: &MethodHistory,
        writer: &mut csv::Writer<W>,
    ) -> io::Result<()> {
        let rows = self.rows_of_table.as_ref();
        for decision in &method.decisions {
            let row = rows.map_or(decision.row, |rows| rows[decision.row]);
            for (position, column) in decision.columns.iter().enumerate() {
                let value = decision
                    .values
                    .as_ref()
                    .map_or(1.0, |values| values[position]);
                writer.write_record([
                    name_cell(&self.periods[decision.period]),
                    row.to_string(),
                    name_cell(&method.name),
                    name_cell(&self.column_name(decision.row, *column as usize)),
                    shortest(value),
                ])?;
            }
        }
        Ok(())
    }
}
