//! The file of `evaluate --rows-out`: regret and objectives of every instance.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use regretless::data::InstanceKeys;
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::oracle::Heuristic;
use regretless::solve::SolveFailure;
use regretless::{Error, Result};
use regretless_study::text::{CsvText, optional_cell};
use serde::Serialize;

use crate::args::ResultFormat;
use crate::output::ResultTarget;
use crate::text::escape_formula;

/// What the rows of an evaluation are written from.
pub struct RowFile<'a> {
    /// The key of every instance of the table.
    pub keys: &'a InstanceKeys,
    /// The labeled table.
    pub data: &'a LabeledDataset,
    /// The evaluation of all rows with a label.
    pub evaluation: &'a Evaluation,
    /// The heuristic that made labels and decisions.
    pub heuristic: Option<Heuristic>,
    /// Rows without a label, and why.
    pub failed: &'a [(usize, SolveFailure)],
}

/// One instance; numbers are missing if it has no label.
#[derive(Serialize)]
struct EvaluatedRow<'a> {
    key: &'a str,
    regret: Option<f64>,
    objective: Option<f64>,
    optimal_objective: Option<f64>,
    relative_regret: Option<f64>,
    decision_status: Option<String>,
    label_status: String,
}

impl RowFile<'_> {
    /// Checks before long work that the file can be written, and its format.
    pub fn check(path: &Path, force: bool) -> Result<ResultFormat> {
        let format = ResultFormat::of(path, None)?;
        if format == ResultFormat::Npy {
            return Err(Error::setting("an NPY file holds numbers only, no keys")
                .with_remedy("name a file that ends in .csv or .jsonl"));
        }
        ResultTarget::of(path, force).check_free()?;
        Ok(format)
    }

    /// Writes the file.
    pub fn write(&self, path: &Path, format: ResultFormat, force: bool) -> Result<()> {
        let text = match format {
            ResultFormat::Csv | ResultFormat::Npy => self.csv()?,
            ResultFormat::Jsonl => self.json_lines()?,
        };
        ResultTarget::of(path, force).write(|out| out.write_all(text.as_bytes()))
    }

    fn rows(&self) -> Vec<EvaluatedRow<'_>> {
        let failed: HashMap<usize, &SolveFailure> = self
            .failed
            .iter()
            .map(|(row, failure)| (*row, failure))
            .collect();
        let mut evaluated = 0;
        let mut rows = Vec::with_capacity(self.data.len());
        for (row, key) in self.keys.values().iter().enumerate() {
            if !self.data.has_label(row) {
                let reason = failed.get(&row);
                rows.push(EvaluatedRow {
                    key,
                    regret: None,
                    objective: None,
                    optimal_objective: None,
                    relative_regret: None,
                    decision_status: None,
                    label_status: reason.map_or_else(|| "no label".into(), |f| f.to_string()),
                });
                continue;
            }
            let best = self.data.optimal_objective(row);
            let regret = self.evaluation.regrets[evaluated];
            let status = self.evaluation.statuses.get(evaluated);
            rows.push(EvaluatedRow {
                key,
                regret: Some(regret),
                objective: Some(self.evaluation.objectives[evaluated]),
                optimal_objective: Some(self.data.stated_optimal_objective(row)),
                relative_regret: Some(Evaluation::relative_regret_of(regret, best)),
                decision_status: status.map(|status| status.describe(self.heuristic.is_some())),
                label_status: self
                    .data
                    .solution(row)
                    .status
                    .describe(self.heuristic.is_some()),
            });
            evaluated += 1;
        }
        rows
    }

    fn csv(&self) -> Result<String> {
        let mut table = CsvText::new(&[
            escape_formula(self.keys.name()).as_ref(),
            "regret",
            "objective",
            "optimal_objective",
            "relative_regret",
            "decision_status",
            "label_status",
        ])?;
        for row in self.rows() {
            table.row(&[
                escape_formula(row.key).into_owned(),
                optional_cell(row.regret),
                optional_cell(row.objective),
                optional_cell(row.optimal_objective),
                optional_cell(row.relative_regret),
                row.decision_status.unwrap_or_default(),
                row.label_status,
            ])?;
        }
        table.finish()
    }

    fn json_lines(&self) -> Result<String> {
        let mut text = String::new();
        for row in self.rows() {
            let line = serde_json::to_string(&row)
                .map_err(|e| Error::setting(format!("a row cannot be written as JSON: {e}")))?;
            let _ = writeln!(text, "{line}");
        }
        Ok(text)
    }
}
