//! `train`: one model on one loss.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use regretless::error::Place;
use regretless::evaluate::few_rows_warning;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::text::check_file_name_fits;
use regretless::train::{
    CheckpointFolder, Method, ResultFile, ResultFiles, ScoringKind, TrainReport, Trainer,
    TrainingContext, TrainingOutcome,
};
use regretless::{Error, Result};
use serde_json::json;

use super::data_split::{DataSource, DataSplit, standard_split};
use super::{CommandContext, json, oracle};
use crate::args::{Profile, TrainOptions};
use crate::output::{CommandReport, grouped, number, path_json, percent};
use crate::settings;

/// Files of one training.
struct TrainOutputs {
    model: PathBuf,
    epochs: [PathBuf; 2],
    report: PathBuf,
    settings: PathBuf,
}

impl TrainOutputs {
    fn of(model: &Path) -> Self {
        let beside = |end: &str| model.with_extension(end);
        Self {
            model: model.to_path_buf(),
            epochs: [beside("epochs.csv"), beside("epochs.jsonl")],
            report: beside("report.json"),
            settings: beside("settings.toml"),
        }
    }

    /// Asks before the work whether all of them could be written.
    fn check(&self, results: &ResultFiles<'_>) -> Result<()> {
        check_file_name_fits(&self.model, &[CheckpointFolder::CHECKPOINT_FOLDER_SUFFIX])?;
        for path in [
            &self.model,
            &self.epochs[0],
            &self.epochs[1],
            &self.report,
            &self.settings,
        ] {
            check_file_name_fits(path, &[""])?;
            results.check(path)?;
        }
        Ok(())
    }
}

/// Trains, tests and writes the model.
pub fn run(options: &TrainOptions, session: &CommandContext) -> Result<CommandReport> {
    let options = resolved(options.clone())?;
    let seed = u64::from(options.seed.unwrap_or(0));
    let out = TrainOutputs::of(
        options
            .out
            .as_deref()
            .unwrap_or(Path::new("model.safetensors")),
    );
    check_names(&options)?;
    let settings = settings::text(&options, "train")?;
    let checkpoints = CheckpointFolder::for_model(&out.model).with_interval(
        options
            .execution
            .checkpoint_interval(CheckpointFolder::DEFAULT_CHECKPOINT_INTERVAL),
    );
    let results = ResultFiles {
        checkpoints: &checkpoints,
        run: &settings,
        force: session.force,
    };
    out.check(&results)?;
    let _lock = checkpoints.lock()?;
    let plan = Trainer {
        method: options.method.clone().unwrap_or_default(),
        predictor: options
            .split
            .predictor
            .clone()
            .unwrap_or(PredictorSpec::Linear),
        settings: options.training.settings(Profile::Default, seed),
        start: options
            .init_model
            .as_deref()
            .map(CostModel::load)
            .transpose()?,
        threads: 0,
    };
    let source = DataSource::open(
        &options.data,
        &options.problem,
        options.split.split,
        &options.execution,
        session,
    )?;
    let grounds = source.data_splits(options.seed.into_iter())?;
    let data_split = grounds
        .first()
        .ok_or_else(|| Error::setting("--seed is missing"))?;
    let DataSplit {
        problem,
        data,
        split,
    } = data_split;
    let oracle = &oracle(problem, &options.execution)?;
    let task = TrainingContext {
        data,
        split,
        oracle,
        observer: &session.progress,
    };
    let outcome = plan.fit_and_evaluate(&task, problem.spec(), Some(&checkpoints))?;
    let found = TrainCommandResult {
        plan: &plan,
        outcome: &outcome,
    };
    write(&out, &found, &settings, &results)?;
    checkpoints.remove()?;
    found.report(&out, data_split)
}

/// Settings are written beside the model, and a settings file is text: file names that are none are
/// refused by name.
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
            Place::file(path),
            "the name is not UTF-8, as settings files must be; rename it",
        )),
        None => Ok(()),
    }
}

/// The options with every default written out.
fn resolved(mut options: TrainOptions) -> Result<TrainOptions> {
    let split = standard_split(&options.data, &options.problem)?;
    options.split.split.get_or_insert(split);
    options.split.predictor.get_or_insert(PredictorSpec::Linear);
    options.method.get_or_insert_with(Method::default);
    options.seed.get_or_insert(0);
    options
        .out
        .get_or_insert_with(|| "model.safetensors".into());
    options.training = options.training.resolved(Profile::Default);
    Ok(options)
}

/// What there is to tell.
struct TrainCommandResult<'a> {
    plan: &'a Trainer,
    outcome: &'a TrainingOutcome,
}

impl TrainCommandResult<'_> {
    fn json(&self) -> Result<serde_json::Value> {
        json(&self.plan.summary(self.outcome))
    }

    fn report(&self, out: &TrainOutputs, data: &DataSplit) -> Result<CommandReport> {
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
            self.plan.method,
            data.problem.name(),
            data.rows()
        ));
        self.report_candidates(&mut report);
        report.line(format!(
            "  best epoch         {} of {epochs}",
            trained.best_epoch()
        ));
        for (name, part) in [
            ("validation regret", &self.outcome.validation),
            ("test regret", &self.outcome.test),
        ] {
            if let Some(part) = part {
                let share = percent(part.normalized_regret);
                report.line(format!(
                    "  {name:<18} {} ({share} of the best objective)",
                    number(part.regret)
                ));
            }
        }
        if let Some(test) = &self.outcome.test
            && let Some(warning) = few_rows_warning("test", test.instances)
        {
            report.line(format!("  {warning}"));
        }
        if let Some(heuristic) = self.outcome.heuristic {
            report.line(format!(
                "  decided by         {heuristic}, which need not find the best"
            ));
        }
        report.line(format!(
            "  solves             {}",
            grouped(trained.solves.total())
        ));
        report.line(format!("  seconds            {:.2}", trained.seconds));
        report.line(format!("\nmodel written to {}", out.model.display()));
        Ok(report)
    }
}

impl TrainCommandResult<'_> {
    /// What `auto` tried, and what it chose.
    fn report_candidates(&self, report: &mut CommandReport) {
        for entry in &self.outcome.tried {
            let regret = entry.regret.map(number).unwrap_or_default();
            let judged = match entry.scoring {
                ScoringKind::Exact => regret,
                ScoringKind::Relaxed => format!("{regret} (relaxed)"),
                ScoringKind::Unscored => "not judged".into(),
                ScoringKind::Failed => "failed".into(),
            };
            let chosen = if entry.method == self.outcome.trained.model.about.loss {
                "  <"
            } else {
                ""
            };
            report.line(format!(
                "  tried {:<44} {judged} in {:.2} s{chosen}",
                entry.method, entry.seconds
            ));
        }
        if let Some(seconds) = self.outcome.trained.report.timed_solve_seconds {
            report.line(format!(
                "  planned from a solve of {seconds} s by the clock: not reproducible"
            ));
        }
    }
}

/// Writes what lies beside the model first: a model file means that all of it is there.
fn write(
    out: &TrainOutputs,
    found: &TrainCommandResult<'_>,
    settings: &str,
    results: &ResultFiles<'_>,
) -> Result<()> {
    let trained = &found.outcome.trained;
    let [as_csv, as_lines] = &out.epochs;
    let texts = [
        (as_csv, epochs_csv(&trained.report)),
        (as_lines, epochs_jsonl(&trained.report)?),
        (&out.report, format!("{:#}\n", found.json()?)),
        (&out.settings, settings.to_owned()),
    ];
    let writers = texts
        .each_ref()
        .map(|(_, text)| move |out: &mut dyn Write| out.write_all(text.as_bytes()));
    let model = |out: &mut dyn Write| trained.model.write_to(out);
    let mut files: Vec<ResultFile<'_>> = Vec::new();
    for ((path, _), write) in texts.iter().zip(&writers) {
        files.push(ResultFile { path, write });
    }
    files.push(ResultFile {
        path: &out.model,
        write: &model,
    });
    results.write(&files)
}

fn epochs_csv(report: &TrainReport) -> String {
    let cell = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut text =
        String::from("round,epoch,training_loss,validation_loss,validation_regret,seconds\n");
    for (round, epochs) in report.rounds.iter().enumerate() {
        for e in &epochs.epochs {
            let scores = [e.training_loss, e.validation_loss, e.validation_regret]
                .map(cell)
                .join(",");
            let _ = writeln!(text, "{},{},{scores},{:.6}", round + 1, e.epoch, e.seconds);
        }
    }
    text
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
