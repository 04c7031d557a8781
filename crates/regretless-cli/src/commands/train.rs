//! `train`: one model with one method.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use regretless::baseline::Baseline;
use regretless::checkpoint::{CheckpointFolder, ResultFiles};
use regretless::error::InputPlace;
use regretless::evaluate::Evaluation;
use regretless::job::TrainingJob;
use regretless::method::Method;
use regretless::notes::{Note, NoteKind};
use regretless::predict::{CostModel, PredictorSpec};
use regretless::report::{CandidateReport, ScoringKind, TrainReport};
use regretless::trainer::{Trainer, TrainingOutcome};
use regretless::{Error, Result};
use regretless_study::decision_page::DecisionPage;
use regretless_study::experiment::CellData;
use regretless_study::report::PageSummary;
use regretless_study::review::{DecisionReview, ReviewOptions};
use regretless_study::table_report::{
    DataFindings, EncodingReport, SkippedRows, TableFacts, UnusedColumns,
};
use regretless_study::text::{CsvText, first_columns, grouped, number, optional_cell, percent};
use serde_json::json;

use super::data_split::{DataSource, standard_split};
use super::{CommandContext, decision_page, encoding, json, oracle};
use crate::args::{PageOptions, ProblemOptions, Profile, TrainOptions};
use crate::input::load_problem;
use crate::output::{CommandReport, path_json, set_resumable};
use crate::settings;
use crate::shell::command_line;
use crate::text::check_file_name_fits;

/// Model file unless `--out` is given.
const DEFAULT_MODEL_FILE: &str = "model.safetensors";
/// Candidates of `auto` that are printed; the report file has all of them.
const MAX_CANDIDATE_LINES: usize = 12;

/// Output files of one training.
struct TrainOutputs {
    model: PathBuf,
    epochs: [PathBuf; 2],
    report: PathBuf,
    settings: PathBuf,
}

impl TrainOutputs {
    fn of(model: &Path) -> Self {
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
    fn lock(
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
}

/// Trains, tests and writes the model.
pub fn run(options: &TrainOptions, context: &CommandContext) -> Result<CommandReport> {
    let has_default_split = options.split.split.is_none();
    let has_default_method = options.method.is_none();
    let ResolvedTraining {
        mut options,
        page,
        trainer,
        seed,
        out,
        is_selection_given,
    } = resolve(options.clone())?;
    check_names(&options)?;
    decision_page::check(&page, options.unit.as_deref(), context)?;
    decision_page::check_coordinates(&page)?;
    let run_description = run_description(&options)?;
    let checkpoints = CheckpointFolder::for_model(&out.model).with_interval(
        options
            .execution
            .checkpoint_interval(CheckpointFolder::DEFAULT_CHECKPOINT_INTERVAL),
    );
    let results = ResultFiles {
        checkpoints: &checkpoints,
        run: &run_description,
        force: context.force,
    };
    let lock = out.lock(&results, context)?;
    set_resumable();
    let mut trainer = Trainer {
        start: options
            .init_model
            .as_deref()
            .map(CostModel::load)
            .transpose()?,
        ..trainer
    };
    let source = DataSource::open(
        &options.data,
        &options.problem,
        options.split.split.clone(),
        &options.execution,
        context,
    )?;
    let time_split = if has_default_split {
        source.time_split()?
    } else {
        None
    };
    // The settings that are written name the features, so that they do not depend on the columns
    // that the table has when they are used again.
    if options.data.features.is_none() {
        options.data.features = source.feature_names();
    }
    let unused_columns = source.unused_columns();
    let keys = if page.is_wanted() {
        source.row_keys()?
    } else {
        None
    };
    let data_splits = source.data_splits(std::iter::once(seed))?;
    let data_split = data_splits
        .cells
        .first()
        .ok_or_else(|| Error::setting("no data for the seed"))?;
    let table = data_split.data.data();
    let oracle = &oracle(&data_split.problem, table, &options.execution)?;
    let methods = [trainer.method.clone()];
    let job = TrainingJob {
        method_setting: has_default_method.then_some("--method"),
        time_split: time_split.as_deref(),
        epochs_setting: "--epochs",
        ..TrainingJob::new(data_split, oracle, &methods, &context.progress)
    };
    let select = (!is_selection_given).then_some(&mut trainer);
    let prepared = job.prepare(select, |check| data_splits.check(check))?;
    context.print_notes(&prepared.notes);
    options.training.select = Some(trainer.settings.select);
    let findings = data_splits.findings(prepared.findings);
    let settings = settings::text(&options, "train")?;
    let outcome = job.run(&trainer, Some(&checkpoints))?;
    let in_report = |note: &&Note| TrainCommandResult::is_in_report(note.kind);
    context.print_notes(outcome.notes.iter().filter(|note| !in_report(note)));
    let encoding = EncodingReport::of(table.features());
    let result = TrainCommandResult {
        trainer: &trainer,
        outcome: &outcome,
        unused_columns: unused_columns.with(&encoding),
        encoding,
        skipped_rows: &data_splits.skipped_rows,
        findings: findings.as_ref(),
    };
    write(&out, &result, &settings, &results)?;
    let mut report = result.report(&out, data_split)?;
    if page.is_wanted() {
        let review_options = ReviewOptions {
            unit: options.unit.as_deref(),
            keys: keys.as_ref(),
            coordinates: page.coordinates.as_deref(),
        };
        let method = trainer.method.to_string();
        let review = DecisionReview::of_training(
            &outcome,
            &method,
            &job.context(),
            &data_split.problem,
            &review_options,
        )?;
        let summary = PageSummary {
            commands: vec![command_line(&context.arguments)],
            ..result.page_summary(&options, &out, data_split)
        };
        let drawn = DecisionPage::of_review(&review, summary);
        decision_page::write(&drawn, &page, context, &mut report)?;
    }
    report.end = Some(Box::new(move || checkpoints.remove(lock)));
    Ok(report)
}

/// Settings are written next to the model as TOML, which is UTF-8; other file names are refused.
fn check_names(options: &TrainOptions) -> Result<()> {
    check_utf8([
        &options.data.data,
        &options.data.cost_data,
        &options.init_model,
        &options.out,
    ])
}

/// Refuses file names that a settings file cannot hold.
pub fn check_utf8<const N: usize>(paths: [&Option<PathBuf>; N]) -> Result<()> {
    match paths
        .into_iter()
        .flatten()
        .find(|path| path.to_str().is_none())
    {
        Some(path) => Err(Error::input(
            InputPlace::file(path),
            "the file name is not UTF-8, as settings files must be",
        )
        .with_remedy("rename it")),
        None => Ok(()),
    }
}

/// Options of a training with their defaults.
struct ResolvedTraining {
    /// The options with every default filled in, as the settings file shows them.
    options: TrainOptions,
    /// The page, which is not part of the settings, since it changes no result.
    page: PageOptions,
    /// The trainer, without an initial model.
    trainer: Trainer,
    seed: u32,
    out: TrainOutputs,
    /// Whether the user chose how the epoch is selected, by an option or a profile.
    is_selection_given: bool,
}

/// What identifies an interrupted run: its settings without the unit, which changes no result.
fn run_description(options: &TrainOptions) -> Result<String> {
    let options = TrainOptions {
        unit: None,
        ..options.clone()
    };
    settings::text(&options, "train")
}

/// The method for a problem, unless the user gives one. A problem that cannot be read is reported
/// when the table is.
fn default_method(options: &ProblemOptions) -> Method {
    let problem = options.problem.as_ref().map(load_problem);
    match problem {
        Some(Ok(problem)) => Method::default_for(problem.kind().as_ref()),
        Some(Err(_)) | None => Method::default(),
    }
}

fn resolve(mut options: TrainOptions) -> Result<ResolvedTraining> {
    let page = std::mem::take(&mut options.page);
    let split = standard_split(&options.data, &options.problem)?;
    options.split.split.get_or_insert(split);
    let default = || default_method(&options.problem);
    let method = options.method.get_or_insert_with(default);
    if !matches!(method, Method::Auto { .. }) {
        options.split.predictor.get_or_insert(PredictorSpec::Linear);
    }
    let seed = *options.seed.get_or_insert(0);
    let model = options.out.get_or_insert_with(|| DEFAULT_MODEL_FILE.into());
    let trainer = Trainer {
        method: method.clone(),
        predictor: options.split.predictor.clone(),
        settings: options.training.settings(Profile::Default, u64::from(seed)),
        start: None,
        threads: 0,
    };
    let out = TrainOutputs::of(model);
    let is_selection_given = options.training.select.is_some()
        || options.training.profile.is_some()
        || options.problem.benchmark.is_some();
    options.training = options.training.resolved(Profile::Default);
    Ok(ResolvedTraining {
        options,
        page,
        trainer,
        seed,
        out,
        is_selection_given,
    })
}

/// Result of the command.
struct TrainCommandResult<'a> {
    trainer: &'a Trainer,
    outcome: &'a TrainingOutcome,
    unused_columns: UnusedColumns,
    encoding: EncodingReport,
    skipped_rows: &'a SkippedRows,
    findings: Option<&'a DataFindings>,
}

impl TrainCommandResult<'_> {
    /// Whether notes of a kind are lines of the report, next to the numbers they are about.
    fn is_in_report(kind: NoteKind) -> bool {
        matches!(
            kind,
            NoteKind::Epochs | NoteKind::FewTestRows | NoteKind::BetterBaseline(_)
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

    fn json(&self) -> Result<serde_json::Value> {
        let mut report = json(&self.trainer.summary(self.outcome))?;
        report["unused_columns"] = self.unused_columns.json();
        report["encoding"] = self.encoding.json();
        report["skipped_rows"] = json!(self.skipped_rows);
        if let Some(findings) = self.findings {
            report["data_check"] = json(findings)?;
        }
        Ok(report)
    }

    fn report(&self, out: &TrainOutputs, data: &CellData) -> Result<CommandReport> {
        let mut json = self.json()?;
        json["model"] = path_json(&out.model);
        let mut report = CommandReport {
            json,
            ..CommandReport::default()
        };
        let trained = &self.outcome.trained.report;
        let epochs = trained
            .rounds
            .last()
            .map_or(0, |round| round.epochs.len().saturating_sub(1));
        report.line(format!(
            "{} on {}, {}",
            self.trainer.method,
            data.problem.name(),
            self.outcome.split
        ));
        let features = &self.outcome.trained.model.metadata.features;
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
        if self.skipped_rows.count() > 0 {
            report.line(format!(
                "  skipped rows       {}; {} says why",
                grouped(self.skipped_rows.count() as u64),
                out.report.display()
            ));
        }
        report.line(format!(
            "  solves             {}",
            grouped(trained.solves.total())
        ));
        if trained.solves.unpooled_rows > 0 {
            report.line(format!(
                "                     {} of them where fewer than two decisions of the pool were \
                 feasible for the row",
                grouped(trained.solves.unpooled_rows)
            ));
        }
        report.line(format!("  seconds            {:.2}", trained.seconds));
        report.line(format!("\nmodel written to {}", out.model.display()));
        Ok(report)
    }
}

impl TrainCommandResult<'_> {
    /// What the page says besides the review.
    fn page_summary(
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
            unused_columns: &self.unused_columns,
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
        add("method", self.trainer.method.to_string());
        if let Some(predictor) = &self.trainer.predictor {
            add("predictor", predictor.to_string());
        }
        add("seed", self.trainer.settings.seed.to_string());
        add("model", out.model.display().to_string());
        add("all settings", out.settings.display().to_string());
        let name = decision_page::table_name(&options.data);
        let name = name.unwrap_or_else(|| data.problem.name());
        PageSummary {
            title: format!("How well does the model decide on {name}?"),
            description: format!(
                "{} on {}, {}",
                self.trainer.method,
                data.problem.name(),
                self.outcome.split
            ),
            facts,
            data_check: self.findings.map(DataFindings::messages),
            ..PageSummary::default()
        }
    }

    /// The regrets of the model and of baselines: of the training mean always, of others where
    /// they decide better.
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
            if let Some(better) = self.outcome.better_baseline(baseline) {
                let remark = format!(": {}", baseline.implication());
                add(&baseline.to_string(), better, &remark);
            } else if let (Baseline::TrainingMean, Some(mean)) =
                (baseline, &self.outcome.training_mean)
            {
                let remark = ": the test regret of decisions without a model";
                add("training mean", mean, remark);
            }
        }
    }

    /// The candidates of `auto` and the chosen one.
    fn report_candidates(&self, report: &mut CommandReport) {
        let mut entries: Vec<&CandidateReport> = self.outcome.trained.candidates.iter().collect();
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
        if let Some(search) = &self.outcome.trained.search {
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
        }
        if let Some(seconds) = self.outcome.trained.report.timed_solve_seconds {
            report.line(format!(
                "  planned from a measured solve time of {seconds} s: not reproducible"
            ));
        }
    }
}

/// Writes the model last: where it exists, all other files exist too.
fn write(
    out: &TrainOutputs,
    result: &TrainCommandResult<'_>,
    settings: &str,
    results: &ResultFiles<'_>,
) -> Result<()> {
    let trained = &result.outcome.trained;
    let [epochs_csv_file, epochs_jsonl_file] = &out.epochs;
    let texts = [
        (epochs_csv_file, epochs_csv(&trained.report)?),
        (epochs_jsonl_file, epochs_jsonl(&trained.report)?),
        (&out.report, format!("{:#}\n", result.json()?)),
        (&out.settings, settings.to_owned()),
    ];
    let mut paths: Vec<&Path> = texts.iter().map(|(path, _)| path.as_path()).collect();
    paths.push(&out.model);
    results.write(&paths, |path, out| {
        match texts.iter().find(|(of_text, _)| of_text.as_path() == path) {
            Some((_, text)) => out.write_all(text.as_bytes()),
            None => trained.model.write_to(out),
        }
    })
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
