//! The files that a training writes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use regretless::Result;
use regretless::checkpoint::{CheckpointFolder, ResultFiles};
use regretless::report::TrainReport;
use regretless::trainer::TrainingOutcome;
use regretless_study::text::{CsvText, optional_cell};
use serde_json::{Value, json};

use crate::commands::{CommandContext, json};
use crate::text::check_file_name_fits;

/// Output files of one training.
pub struct TrainOutputs {
    pub model: PathBuf,
    epochs: [PathBuf; 2],
    pub report: PathBuf,
    pub settings: PathBuf,
}

impl TrainOutputs {
    pub fn of(model: &Path) -> Self {
        let next_to_model = |extension: &str| model.with_extension(extension);
        Self {
            model: model.to_path_buf(),
            epochs: [next_to_model("epochs.csv"), next_to_model("epochs.jsonl")],
            report: next_to_model("report.json"),
            settings: next_to_model("settings.toml"),
        }
    }

    fn paths(&self) -> [&Path; 5] {
        let [epochs_csv, epochs_jsonl] = &self.epochs;
        [
            &self.model,
            epochs_csv,
            epochs_jsonl,
            &self.report,
            &self.settings,
        ]
    }

    /// Checks before the training that all of them can be written.
    fn check(&self, results: &ResultFiles<'_>) -> Result<()> {
        check_file_name_fits(&self.model, &[CheckpointFolder::CHECKPOINT_FOLDER_SUFFIX])?;
        for path in self.paths() {
            check_file_name_fits(path, &[""])?;
            results.check(path)?;
        }
        Ok(())
    }

    /// Locks the run and checks that all files can be written.
    pub fn lock(
        &self,
        results: &ResultFiles<'_>,
        context: &CommandContext,
    ) -> Result<impl Drop + use<>> {
        self.check(results)
            .inspect_err(|_| results.checkpoints.remove_stale_lock())?;
        let lock = results.checkpoints.lock()?;
        // The run that held the lock until now may have ended.
        self.check(results)?;
        if results.are_complete(&self.paths()) {
            context.warn(
                "note: the results of this run are complete, but it was interrupted before it \
                 reported them",
            );
        }
        Ok(lock)
    }

    /// Writes the model last: if it exists, all other files exist too.
    pub fn write(
        &self,
        outcome: &TrainingOutcome,
        report: &Value,
        settings: &str,
        results: &ResultFiles<'_>,
    ) -> Result<()> {
        let [epochs_csv_file, epochs_jsonl_file] = &self.epochs;
        let texts = [
            (epochs_csv_file, epochs_csv(&outcome.report)?),
            (epochs_jsonl_file, epochs_jsonl(&outcome.report)?),
            (&self.report, format!("{report:#}\n")),
            (&self.settings, settings.to_owned()),
        ];
        let mut paths: Vec<&Path> = texts.iter().map(|(path, _)| path.as_path()).collect();
        paths.push(&self.model);
        results.write(&paths, |path, out| {
            match texts.iter().find(|(of_text, _)| of_text.as_path() == path) {
                Some((_, text)) => out.write_all(text.as_bytes()),
                None => outcome.model.write_to(out),
            }
        })
    }
}

fn epochs_csv(report: &TrainReport) -> Result<String> {
    let mut table = CsvText::new(&[
        "round",
        "epoch",
        "training_loss",
        "validation_loss",
        "validation_regret",
        "seconds",
    ])?;
    for (round, epochs) in report.rounds.iter().enumerate() {
        for epoch in &epochs.epochs {
            table.row(&[
                (round + 1).to_string(),
                epoch.epoch.to_string(),
                optional_cell(epoch.training_loss),
                optional_cell(epoch.validation_loss),
                optional_cell(epoch.validation_regret),
                format!("{:.6}", epoch.seconds),
            ])?;
        }
    }
    table.finish()
}

fn epochs_jsonl(report: &TrainReport) -> Result<String> {
    let mut text = String::new();
    for (round, epochs) in report.rounds.iter().enumerate() {
        for epoch in &epochs.epochs {
            let mut line = json(epoch)?;
            line["round"] = json!(round + 1);
            let _ = writeln!(text, "{line}");
        }
    }
    Ok(text)
}
