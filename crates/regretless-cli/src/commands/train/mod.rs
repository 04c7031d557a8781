//! `train`: one model with one method.

use std::path::PathBuf;

use regretless::checkpoint::{CheckpointFolder, ResultFiles};
use regretless::error::InputPlace;
use regretless::job::TrainingJob;
use regretless::method::Method;
use regretless::notes::Note;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::trainer::Trainer;
use regretless::{Error, Result};
use regretless_study::decision_page::DecisionPage;
use regretless_study::report::PageSummary;
use regretless_study::review::{DecisionReview, ReviewOptions};
use regretless_study::table_report::{EncodingReport, TableReport};

use super::data_split::{DataSource, LabeledSplits, standard_split};
use super::{CommandContext, GivenOptions, decision_page, json, oracle};
use crate::args::{PageOptions, ProblemOptions, Profile, TrainOptions};
use crate::output::{CommandReport, set_resumable};
use crate::settings;
use crate::shell::command_line;

mod outputs;
mod report;

use outputs::{FinishedRun, TrainOutputs, WrittenRun};
use report::TrainText;

/// Model file unless `--out` is given.
const DEFAULT_MODEL_FILE: &str = "model.safetensors";
/// Trains, tests and writes the model.
pub fn run(options: &TrainOptions, context: &CommandContext) -> Result<CommandReport> {
    let resolved = resolve(options.clone())?;
    check_names(&resolved.options)?;
    let run_description = run_description(&resolved.options)?;
    let interval = CheckpointFolder::DEFAULT_CHECKPOINT_INTERVAL;
    let interval = resolved.options.execution.checkpoint_interval(interval);
    let checkpoints = CheckpointFolder::for_model(&resolved.out.model).with_interval(interval);
    let results = ResultFiles {
        checkpoints: &checkpoints,
        run: &run_description,
        force: context.force,
    };
    let page = &resolved.page;
    let finished = if context.force {
        None
    } else {
        resolved.out.finished(&results)
    };
    let is_own_page = finished.as_ref().is_some_and(|run| run.wrote_page(page));
    let unit = resolved.options.unit.as_deref();
    decision_page::check(page, unit, is_own_page, context)?;
    decision_page::check_coordinates(page)?;
    let lock = resolved.out.lock(&results, finished.as_ref())?;
    set_resumable();
    if !resolved.given.method && resolved.options.problem.benchmark.is_some() {
        let method = &resolved.trainer.method;
        context.warn(&format!(
            "note: {method} is the method of the paper for its benchmarks; --method auto searches"
        ));
    }
    let mut report = train(resolved, &results, finished, context)?;
    report.end = Some(Box::new(move || checkpoints.remove(lock)));
    Ok(report)
}

/// Reads the table, trains, writes and reports.
fn train(
    resolved: ResolvedTraining,
    results: &ResultFiles<'_>,
    finished: Option<FinishedRun>,
    context: &CommandContext,
) -> Result<CommandReport> {
    let ResolvedTraining {
        mut options,
        page,
        mut trainer,
        out,
        given,
    } = resolved;
    if let Some(file) = &options.init_model {
        trainer.start = Some(CostModel::load(file)?);
    }
    let TrainingRows {
        splits,
        time_split,
        mut table,
    } = training_rows(&mut options, given.split, page.is_wanted(), context)?;
    let rows = splits
        .cells
        .first()
        .ok_or_else(|| Error::setting("no data for the seed"))?;
    let oracle = &oracle(&rows.problem, rows.data.data(), &options.execution)?;
    let methods = [trainer.method.clone()];
    let job = TrainingJob {
        time_split: time_split.as_deref(),
        epochs_setting: "--epochs",
        ..TrainingJob::new(rows, oracle, &methods, &context.progress)
    };
    let identity = identity(&job, &options, results)?;
    let is_own_page = finished.as_ref().is_some_and(|run| run.wrote_page(&page));
    if let Some(run) = finished {
        if let Some(report) = run.report(&identity, &page, context) {
            return Ok(report);
        }
        out.check(results)?;
    }
    let select = (!given.selection).then_some(&mut trainer);
    let prepared = job.prepare(select, |check| splits.check(check))?;
    context.print_notes(&prepared.notes);
    options.training.select = Some(trainer.settings.select);
    table.findings = splits.findings(prepared.findings);
    let outcome = job.run(&trainer, Some(results.checkpoints))?;
    let in_report = |note: &&Note| TrainText::is_in_report(note.kind);
    context.print_notes(outcome.notes.iter().filter(|note| !in_report(note)));
    let text = TrainText {
        outcome: &outcome,
        table: &table,
        encoding: EncodingReport::of(rows.data.data().features()),
    };
    let trained = Trained {
        text,
        job: &job,
        options: &options,
        page: &page,
        out: &out,
    };
    trained.write(&identity, context.force || is_own_page, results, context)
}

/// A training that has ended, with what is written about it.
struct Trained<'a> {
    text: TrainText<'a>,
    job: &'a TrainingJob<'a>,
    options: &'a TrainOptions,
    page: &'a PageOptions,
    out: &'a TrainOutputs,
}

impl Trained<'_> {
    /// Writes the results and, if it is wanted, the page.
    fn write(
        &self,
        identity: &str,
        may_replace_page: bool,
        results: &ResultFiles<'_>,
        context: &CommandContext,
    ) -> Result<CommandReport> {
        let mut report = self.text.report(self.out, self.job.labeled)?;
        // A page that cannot be drawn costs no results.
        let drawn = self.page.is_wanted().then(|| self.draw(context));
        let page = drawn.as_ref().and_then(|drawn| drawn.as_ref().ok());
        let run = WrittenRun {
            outcome: self.text.outcome,
            report: &self.text.json()?,
            settings: &settings::text(self.options, "train")?,
            identity,
            page: page.map(|page| page.html.as_str()),
            text: &report.text,
        };
        self.out.write(&run, results)?;
        if let Some(drawn) = drawn {
            decision_page::write(&drawn?, self.page, may_replace_page, &mut report)?;
        }
        Ok(report)
    }

    fn draw(&self, context: &CommandContext) -> Result<DecisionPage> {
        let review_options = ReviewOptions {
            unit: self.options.unit.as_deref(),
            keys: self.text.table.keys.as_ref(),
            coordinates: self.page.coordinates.as_deref(),
        };
        let rows = self.job.labeled;
        let review = DecisionReview::of_training(
            self.text.outcome,
            &self.job.context(),
            &rows.problem,
            &review_options,
        )?;
        let summary = PageSummary {
            commands: vec![command_line(&context.arguments)],
            ..self.text.page_summary(self.options, self.out, rows)
        };
        Ok(DecisionPage::of_review(&review, summary))
    }
}

/// A hash of everything that a training depends on: its settings, rows and initial model.
fn identity(
    job: &TrainingJob<'_>,
    options: &TrainOptions,
    results: &ResultFiles<'_>,
) -> Result<String> {
    let rows = job.context().fingerprint(job.labeled.problem.spec())?;
    let names = json(
        &job.labeled
            .data
            .data()
            .cost_names()
            .iter()
            .collect::<Vec<_>>(),
    )?;
    let start = options.init_model.as_deref();
    let start = start.and_then(ResultFiles::hash_of_file);
    Ok(results.identity(&[
        &rows,
        &names.to_string(),
        start.as_deref().unwrap_or_default(),
    ]))
}

/// The rows of a training.
struct TrainingRows {
    splits: LabeledSplits,
    /// How the user writes a split by time, if the split was left to the program.
    time_split: Option<String>,
    /// What is known about the table.
    table: TableReport,
}

/// Reads and labels the rows. The options get the names of the features, so the settings that are
/// written do not depend on the columns that the table has when they are used again.
fn training_rows(
    options: &mut TrainOptions,
    is_split_given: bool,
    wants_keys: bool,
    context: &CommandContext,
) -> Result<TrainingRows> {
    let source = DataSource::open(
        &options.data,
        &options.problem,
        options.split.split.clone(),
        &options.execution,
        context,
    )?;
    let time_split = if is_split_given {
        None
    } else {
        source.time_split()?
    };
    if options.data.features.is_none() {
        options.data.features = source.feature_names();
    }
    let unused_columns = source.unused_columns();
    let keys = if wants_keys { source.row_keys()? } else { None };
    let splits = source.data_splits(options.seed.into_iter())?;
    let table = TableReport {
        unused_columns,
        skipped_rows: splits.skipped_rows.clone(),
        findings: None,
        keys,
    };
    Ok(TrainingRows {
        splits,
        time_split,
        table,
    })
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
    out: TrainOutputs,
    given: GivenOptions,
}

/// What identifies an interrupted run: its settings without the unit, which changes no result.
fn run_description(options: &TrainOptions) -> Result<String> {
    let options = TrainOptions {
        unit: None,
        ..options.clone()
    };
    settings::text(&options, "train")
}

/// The method unless the user gives one: for the user's tables `auto`, for benchmarks that of the
/// paper.
fn default_method(options: &ProblemOptions) -> Method {
    match options.benchmark {
        Some(_) => Method::of_paper(),
        None => Method::default(),
    }
}

fn resolve(mut options: TrainOptions) -> Result<ResolvedTraining> {
    let given = GivenOptions {
        method: options.method.is_some(),
        split: options.split.split.is_some(),
        selection: options.training.select.is_some()
            || options.training.profile.is_some()
            || options.problem.benchmark.is_some(),
    };
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
    options.training = options.training.resolved(Profile::Default);
    Ok(ResolvedTraining {
        options,
        page,
        trainer,
        out,
        given,
    })
}
