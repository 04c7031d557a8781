//! The files that a training writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use regretless::checkpoint::{CheckpointFolder, ResultFiles};
use regretless::report::TrainReport;
use regretless::trainer::TrainingOutcome;
use regretless::{Error, Result};
use regretless_study::text::{CsvText, optional_cell};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::args::PageOptions;
use crate::commands::{CommandContext, decision_page, json};
use crate::output::{CommandReport, path_json};
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
    pub fn check(&self, results: &ResultFiles<'_>) -> Result<()> {
        check_file_name_fits(&self.model, &[CheckpointFolder::CHECKPOINT_FOLDER_SUFFIX])?;
        for path in self.paths() {
            check_file_name_fits(path, &[""])?;
            results.check(path)?;
        }
        Ok(())
    }

    /// Locks the run and checks that all files can be written, unless they are those of a finished
    /// run of the same command.
    pub fn lock(
        &self,
        results: &ResultFiles<'_>,
        finished: Option<&FinishedRun>,
    ) -> Result<impl Drop + use<>> {
        let check = || match finished {
            Some(_) => Ok(()),
            None => self.check(results),
        };
        check().inspect_err(|_| results.checkpoints.remove_stale_lock())?;
        let lock = results.checkpoints.lock()?;
        // The run that held the lock until now may have ended.
        check().map(|()| lock)
    }

    /// The run that wrote the files, if its settings were the same and no file was changed since.
    pub fn finished(&self, results: &ResultFiles<'_>) -> Option<FinishedRun> {
        let text = std::fs::read(&self.report).ok()?;
        let mut report: Value = serde_json::from_slice(&text).ok()?;
        let record: RunRecord =
            serde_json::from_value(report.as_object_mut()?.remove(RUN_FIELD)?).ok()?;
        let is_unchanged = |path: &Path| {
            ResultFiles::hash_of_file(path).as_ref() == record.files.get(&file_name(path))
        };
        let mut others = self.paths().into_iter().filter(|path| *path != self.report);
        if record.settings != results.identity(&[]) || !others.all(is_unchanged) {
            return None;
        }
        report["model"] = path_json(&self.model);
        Some(FinishedRun { record, report })
    }

    /// Writes the model last: if it exists, all other files exist too.
    pub fn write(&self, run: &WrittenRun<'_>, results: &ResultFiles<'_>) -> Result<()> {
        let trained = &run.outcome.report;
        let [epochs_csv_file, epochs_jsonl_file] = &self.epochs;
        let mut texts = vec![
            (epochs_csv_file, epochs_csv(trained)?),
            (epochs_jsonl_file, epochs_jsonl(trained)?),
            (&self.settings, run.settings.to_owned()),
        ];
        let mut files = BTreeMap::new();
        for (path, text) in &texts {
            files.insert(file_name(path), hash_of_text(text)?);
        }
        let hash = ResultFiles::hash_of_content(|out| run.outcome.model.write_to(out));
        files.insert(
            file_name(&self.model),
            hash.map_err(Error::io(&self.model))?,
        );
        let record = RunRecord {
            settings: results.identity(&[]),
            identity: run.identity.to_owned(),
            files,
            page: run.page.map(hash_of_text).transpose()?,
            text: run.text.to_owned(),
        };
        let mut report = run.report.clone();
        report[RUN_FIELD] = json(&record)?;
        texts.push((&self.report, format!("{report:#}\n")));
        let mut paths: Vec<&Path> = texts.iter().map(|(path, _)| path.as_path()).collect();
        paths.push(&self.model);
        results.write(&paths, |path, out| {
            match texts.iter().find(|(of_text, _)| of_text.as_path() == path) {
                Some((_, text)) => out.write_all(text.as_bytes()),
                None => run.outcome.model.write_to(out),
            }
        })
    }
}

/// What a training writes.
pub struct WrittenRun<'a> {
    pub outcome: &'a TrainingOutcome,
    /// The report as JSON.
    pub report: &'a Value,
    /// The settings file.
    pub settings: &'a str,
    /// Hash of the settings and the rows.
    pub identity: &'a str,
    /// The page, if one is wanted.
    pub page: Option<&'a str>,
    /// What is printed.
    pub text: &'a str,
}

/// The field of the report file with a [`RunRecord`].
const RUN_FIELD: &str = "run";

/// What the report file says about the run that wrote it, so the same command repeats its report
/// instead of the training.
#[derive(Serialize, Deserialize)]
struct RunRecord {
    /// Hash of the settings.
    settings: String,
    /// Hash of the settings and the rows.
    identity: String,
    /// Hashes of the other files by their names.
    files: BTreeMap<String, String>,
    /// Hash of the page, if one was written.
    page: Option<String>,
    /// What was printed.
    text: String,
}

/// A training of the same settings whose files are all there, unchanged.
pub struct FinishedRun {
    record: RunRecord,
    report: Value,
}

impl FinishedRun {
    /// Whether a page is the one that the run wrote.
    pub fn wrote_page(&self, page: &PageOptions) -> bool {
        let hash = page.report.as_deref().and_then(ResultFiles::hash_of_file);
        hash.is_some() && hash == self.record.page
    }

    /// The report of the run, if its rows and its page were those of this command.
    pub fn report(
        self,
        identity: &str,
        page: &PageOptions,
        context: &CommandContext,
    ) -> Option<CommandReport> {
        let has_page = !page.is_wanted() || page.figures.is_none() && self.wrote_page(page);
        if self.record.identity != identity || !has_page {
            return None;
        }
        context.warn("note: this training was complete; its results are unchanged");
        let mut report = CommandReport {
            json: self.report,
            text: self.record.text,
            ..CommandReport::default()
        };
        if let Some(path) = &page.report {
            decision_page::mention(path, &mut report);
        }
        Some(report)
    }
}

fn hash_of_text(text: &(impl AsRef<str> + ?Sized)) -> Result<String> {
    let hash = ResultFiles::hash_of_content(|out| out.write_all(text.as_ref().as_bytes()));
    hash.map_err(|error| Error::setting(error.to_string()))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
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
