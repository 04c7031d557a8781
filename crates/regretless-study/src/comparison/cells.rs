//! A comparison as an experiment with one problem: labeled rows of each seed in, results, verdict
//! and an explained decision out.

use std::path::PathBuf;
use std::sync::Arc;

use regretless::baseline::Baseline;
use regretless::data::CostNames;
use regretless::label::LabelCounts;
use regretless::method::Method;
use regretless::observer::Observer;
use regretless::oracle::{Heuristic, Oracle};
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::settings::TrainingSettings;
use regretless::{Error, Evaluation, Result};
use serde_json::{Value, json};

use super::conclusion;
use super::files::RunLog;
use super::summary::{ComparisonSummary, SummaryRow};
use crate::experiment::{
    CellData, CellId, CellMethod, CellRecord, DataFiles, Experiment, ExperimentResults,
    ExperimentRunner, ProblemResults, SeedDesign,
};
use crate::review::{ExplainedRow, ReviewOptions};
use crate::table_report::{EncodingReport, TableReport};
use crate::verdict::{AmountUnit, Verdict};

/// Longest training that is repeated to explain a decision: cells do not store models. Untuned.
const MAX_REFIT_SECONDS: f64 = 60.0;

/// What is compared.
pub struct ComparisonInput<'a> {
    /// Labeled and divided rows of consecutive seeds.
    pub data: Vec<CellData>,
    /// Decides; its limits and heuristic are those of all runs.
    pub oracle: &'a Oracle,
    /// Methods that are trained, MSE among them.
    pub methods: Vec<Method>,
    /// Predictions that exist already ([`CellMethod::Given`]).
    pub given: Vec<CellMethod>,
    /// What is trained; by default a linear predictor, and for `auto` the best of several.
    pub predictor: Option<PredictorSpec>,
    /// Settings of every training.
    pub training: TrainingSettings,
    /// How many runs there are at a time.
    pub threads: Threads,
    /// How the comparison is described.
    pub facts: ComparisonFacts,
    /// What is known about the table.
    pub table: TableReport,
}

/// How a comparison is described to people.
#[derive(Debug, Clone, Default)]
pub struct ComparisonFacts {
    /// Its name: the benchmark or the table.
    pub name: String,
    /// What the title of the page asks about: a file or a benchmark.
    pub table: String,
    /// Where the rows come from: what it is, and its value.
    pub origin: Vec<(String, String)>,
    /// The first seed.
    pub first_seed: u32,
    /// The profile of the training settings.
    pub profile: String,
    /// The unit of costs; empty if it is not known.
    pub unit: String,
    /// What people call the costs, if it is something else than the table does.
    pub cost_names: Option<CostNames>,
}

/// The explained decision of a comparison.
pub enum ComparisonExplanation {
    /// The decision.
    Row(Box<ExplainedRow>),
    /// Why there is none.
    Remark(String),
    /// No method has a model.
    Nothing,
}

/// What follows from the results.
pub struct Conclusion {
    /// Averages of the methods.
    pub summary: ComparisonSummary,
    /// The verdict; none for an incomplete comparison.
    pub verdict: Option<Verdict>,
    /// Warnings about the results.
    pub warnings: Vec<String>,
}

impl Conclusion {
    /// The verdict, then warnings.
    pub fn sentences(&self) -> Vec<String> {
        let verdict = self.verdict.iter().map(Verdict::sentence);
        verdict.chain(self.warnings.iter().cloned()).collect()
    }
}

/// An experiment with one problem, and the data of each seed.
pub struct Comparison {
    pub(super) methods: Vec<CellMethod>,
    /// Labeled and divided rows of each seed.
    pub data: Vec<CellData>,
    /// Runs the cells.
    pub runner: ExperimentRunner,
    /// How the comparison is described.
    pub facts: ComparisonFacts,
    /// What is known about the table.
    pub table: TableReport,
    pub(super) epochs: usize,
    pub(super) predictor: Option<PredictorSpec>,
    pub(super) heuristic: Option<Heuristic>,
}

/// A run and its error.
pub struct FailedRun {
    /// The run.
    pub run: CellId,
    /// Why it failed.
    pub error: Error,
}

impl FailedRun {
    /// The run, for people.
    pub fn name(&self) -> String {
        format!("{}, seed {}", self.run.name, self.run.seed)
    }
}

/// Results of all runs, in order, and their statistics by method.
pub struct ComparisonResult {
    /// The finished runs.
    pub runs: Vec<CellRecord>,
    /// The others.
    pub failures: Vec<FailedRun>,
    pub(super) statistics: ProblemResults,
    /// What the page shows, without its problem, which is `statistics`.
    pub(super) experiment: ExperimentResults,
}

impl Comparison {
    /// The experiment of a comparison. The baselines run too.
    ///
    /// # Errors
    /// When there are no test rows, or rows of another kind that a method or setting needs.
    pub fn new(input: ComparisonInput<'_>) -> Result<Self> {
        let ComparisonInput {
            data,
            oracle,
            methods: trained,
            given,
            predictor,
            training,
            threads,
            facts,
            table,
        } = input;
        if data.is_empty() || data.iter().any(|data| data.split.test.is_empty()) {
            return Err(Error::setting("compare needs test rows")
                .with_remedy("give the split a fraction or a number of test rows"));
        }
        // Before any training: an invalid split of the last seed would cost all other runs.
        for data in &data {
            training.check(&data.split)?;
        }
        let has_auto = trained
            .iter()
            .any(|method| matches!(method, Method::Auto { .. }));
        if has_auto && data.iter().any(|data| data.split.validation.is_empty()) {
            return Err(Error::setting("auto needs validation rows")
                .with_remedy("give the split a fraction or a number of them"));
        }
        check_given(&given, &data[0])?;
        let mut methods: Vec<CellMethod> = trained.into_iter().map(CellMethod::Trained).collect();
        methods.extend(given);
        for baseline in [Baseline::LeastSquares, Baseline::TrainingMean] {
            methods.push(CellMethod::Baseline(baseline));
        }
        // Elsewhere the row before a test row need not be known when the test row is decided, or
        // need not have the same items.
        let has_previous_rows =
            |data: &CellData| Baseline::has_previous_rows_for(data.data.data(), &data.split);
        if data.iter().all(has_previous_rows) {
            methods.push(CellMethod::Baseline(Baseline::PreviousRow));
        }
        check_names(&methods)?;
        let experiment = Experiment::comparison(
            facts.name.clone(),
            facts.first_seed,
            data.clone(),
            oracle,
            &methods,
            predictor.clone(),
            &training,
        )?;
        let runner = ExperimentRunner {
            experiment,
            folder: PathBuf::new(),
            labels: PathBuf::new(),
            files: DataFiles::default(),
            time_budget: None,
            shard: None,
            threads,
        };
        Ok(Self {
            methods,
            data,
            runner,
            facts,
            table,
            epochs: training.epochs,
            predictor,
            heuristic: oracle.heuristic(),
        })
    }

    /// Averages, verdict and warnings.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn conclude(
        &self,
        result: &ComparisonResult,
        is_complete: bool,
        observer: &dyn Observer,
    ) -> Result<Conclusion> {
        let summary = ComparisonSummary::new(&self.methods, result);
        let unit = AmountUnit {
            name: self.facts.unit.clone(),
            per: "per decision",
            is_maximize: self.data[0].data.sense().is_maximize(),
        };
        let mut warnings = Vec::new();
        if is_complete {
            warnings.extend(self.no_regret_note(&summary, observer)?);
        }
        warnings.extend(summary.warnings());
        if let Some(predictor) = self.predictor.as_ref().filter(|_| is_complete) {
            warnings.extend(summary.references(predictor, &unit));
        }
        warnings.extend(Evaluation::few_rows_warning("test", self.min_test_rows()));
        let problem = self.data[0].problem.kind().as_ref();
        let remark = CellRecord::negative_regret_remark(&result.runs, problem);
        warnings.extend(remark.map(|remark| format!("{remark}.")));
        let verdict = if is_complete {
            summary.verdict(SeedDesign::of(&self.data), unit, self.min_test_rows())
        } else {
            None
        };
        Ok(Conclusion {
            verdict,
            warnings,
            summary,
        })
    }

    /// What follows if no method has regret on the test rows of any seed; `None` if one has.
    fn no_regret_note(
        &self,
        summary: &ComparisonSummary,
        observer: &dyn Observer,
    ) -> Result<Option<String>> {
        let CellData {
            problem,
            data,
            split,
        } = &self.data[0];
        let is_without_regret = |row: &SummaryRow| {
            let regret = row.test_regret;
            regret.is_some_and(|regret| data.is_without_regret(&split.test, regret))
        };
        if !summary.rows.iter().all(is_without_regret) {
            return Ok(None);
        }
        let oracle = Oracle::new(problem.kind().clone()).with_heuristic(self.heuristic)?;
        let oracle = oracle.with_parameters(data.data().parameters())?;
        let note = data.no_regret_note(&split.test, &oracle, observer)?;
        Ok(note.map(|note| format!("Note: {note}.")))
    }

    /// Explains a decision of the method with the lowest regret among those that have a model. An
    /// incomplete comparison, which is resumed, has none.
    pub fn explain(
        &self,
        conclusion: &Conclusion,
        observer: &dyn Observer,
    ) -> Result<ComparisonExplanation> {
        let has_model = |row: &SummaryRow| match row.compared {
            CellMethod::Trained(_) | CellMethod::Baseline(Baseline::LeastSquares) => true,
            CellMethod::Baseline(_) | CellMethod::Given { .. } => false,
        };
        let best = conclusion::lowest_regret(&conclusion.summary, has_model);
        let Some(best) = best.filter(|_| !observer.interrupted()) else {
            return Ok(ComparisonExplanation::Nothing);
        };
        let name = &best.row.method;
        let seconds = best.row.seconds.unwrap_or(0.0);
        if seconds > MAX_REFIT_SECONDS {
            return Ok(ComparisonExplanation::Remark(format!(
                "No decision is explained: training {name} again would take {seconds:.0} s."
            )));
        }
        let options = ReviewOptions {
            keys: self.table.keys.as_ref(),
            cost_names: self.facts.cost_names.as_ref(),
            ..ReviewOptions::default()
        };
        match ExplainedRow::of_comparison(&self.runner, name, &options, observer) {
            Ok(Some(row)) => Ok(ComparisonExplanation::Row(Box::new(row))),
            Ok(None) => Ok(ComparisonExplanation::Nothing),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => Ok(ComparisonExplanation::Remark(format!(
                "No decision is explained: {error}."
            ))),
        }
    }

    /// Split, features, what happened to the table, and the verdict.
    pub fn json(&self, conclusion: &Conclusion) -> Value {
        let encoding = self.encoding();
        json!({
            "split": self.data[0].split.to_string(),
            "features": self.features(),
            "unused_columns": self.table.unused_columns.with(&encoding).json(),
            "encoding": encoding.json(),
            "skipped_rows": self.table.skipped_rows,
            "verdict": conclusion.sentences(),
        })
    }

    /// Names of the features.
    pub fn features(&self) -> &[String] {
        self.data[0].data.data().features().names()
    }

    /// What the encoding of the first seed does to columns.
    pub fn encoding(&self) -> EncodingReport {
        let encoding = EncodingReport::of(self.data[0].data.data().features());
        if self.data.len() == 1 || self.shares_test_rows() {
            encoding
        } else {
            encoding.of_seed(self.facts.first_seed)
        }
    }

    /// Problem, rows, seeds and settings in a line.
    pub fn title(&self) -> String {
        let data = &self.data[0];
        let seeds = if self.data.len() == 1 {
            "1 seed".into()
        } else {
            format!("{} seeds", self.data.len())
        };
        let (name, mut title) = (&self.facts.name, data.problem.name());
        if title != *name {
            title = format!("{name}: {title}");
        }
        format!(
            "{title}, {}, {seeds}, {} epochs, profile {}",
            data.split, self.epochs, self.facts.profile
        )
    }

    /// Whether all seeds are tested on the same rows of the same table.
    pub fn shares_test_rows(&self) -> bool {
        let first = &self.data[0];
        // A table is read once for all seeds; built-in data are generated for each seed.
        let same = |data: &CellData| {
            data.split.test == first.split.test && Arc::ptr_eq(&data.data, &first.data)
        };
        self.data[1..].iter().all(same)
    }

    /// Labels of the first seed by their proven quality; those of a table are the same for all
    /// seeds.
    pub fn label_counts(&self) -> LabelCounts {
        let data = &self.data[0].data;
        data.label_counts(&data.rows())
    }

    fn min_test_rows(&self) -> usize {
        self.data
            .iter()
            .map(|data| data.split.test.len())
            .min()
            .unwrap_or(0)
    }

    /// Runs the missing runs of the log; sorts all of them in the order of `runs`.
    ///
    /// # Errors
    /// The first failure, or the interruption, if no method was trained.
    pub fn run(
        &self,
        observer: &dyn Observer,
        runs: &[CellId],
        log: RunLog,
    ) -> Result<ComparisonResult> {
        let mut results = match self.runner.run_in(&log, observer) {
            // What has finished is shown, and is in the file for the next run.
            Err(Error::Interrupted) => self.runner.results_in(&log)?,
            other => other?,
        };
        observer.end();
        let (mut records, mut failures) = log.into_runs();
        let position = |id: &CellId| runs.iter().position(|run| run == id);
        records.sort_by_cached_key(|record| position(&record.id));
        failures.sort_by_cached_key(|failure| position(&failure.run));
        let is_trained = |record: &CellRecord| !is_baseline(&record.id.name);
        let statistics = results.problems.pop();
        match statistics.filter(|_| records.iter().any(is_trained)) {
            Some(statistics) => Ok(ComparisonResult {
                runs: records,
                failures,
                statistics,
                experiment: results,
            }),
            None => Err(failures
                .into_iter()
                .next()
                .map_or(Error::Interrupted, |failure| failure.error)),
        }
    }
}

/// Whether a run of this name is that of a baseline.
fn is_baseline(name: &str) -> bool {
    Baseline::ALL
        .iter()
        .any(|baseline| baseline.to_string() == name)
}

/// Refuses predictions that do not have a number for each cost of each row.
fn check_given(given: &[CellMethod], data: &CellData) -> Result<()> {
    let costs = data.data.data().costs();
    for method in given {
        let CellMethod::Given { name, predictions } = method else {
            continue;
        };
        for predicted in predictions.values() {
            if [predicted.rows(), predicted.cols()] != [costs.rows(), costs.cols()] {
                return Err(Error::data(format!(
                    "'{name}' has {} rows of {} columns, the table has {} rows of {} costs",
                    predicted.rows(),
                    predicted.cols(),
                    costs.rows(),
                    costs.cols()
                )));
            }
        }
    }
    Ok(())
}

/// Refuses two methods of the same name, whose results could not be told apart.
fn check_names(methods: &[CellMethod]) -> Result<()> {
    let names: Vec<String> = methods.iter().map(ToString::to_string).collect();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return Err(
                Error::setting(format!("two methods have the name '{name}'"))
                    .with_remedy("leave one of them out, or give it another name"),
            );
        }
    }
    Ok(())
}
