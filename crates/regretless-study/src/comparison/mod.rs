//! Comparisons of methods on one problem, by seeds.
//!
//! A comparison is an experiment with one problem. Every pair of method and seed is a cell of it,
//! here called a run.
//!
//! * `cells`: the experiment, from labeled rows to results and an explained decision.
//! * `summary`: averages over seeds, as tables.
//! * `conclusion`: the verdict in sentences, and warnings.
//! * `files`: the folder of the results, where an interrupted comparison resumes.
//! * `page`: the page.

use std::path::Path;

use regretless::loss::{BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting, Normalization};
use regretless::method::{AutoBudget, Method};
use regretless::observer::Observer;
use regretless::settings::TrainingSettings;
use regretless::train::TrainingContext;
use regretless::{Error, Result, Trainer};
use serde_json::{Value, json};

use crate::decision_page::DecisionPage;
use crate::experiment::{CellId, CellRecord, DecisionLayout, ExperimentResults};

mod cells;
mod conclusion;
mod files;
mod page;
mod summary;

pub use cells::{
    Comparison, ComparisonExplanation, ComparisonFacts, ComparisonInput, ComparisonResult,
    Conclusion, FailedRun,
};
pub use files::{ComparisonKey, FolderLock, ResultFolder, RunLog};
pub use page::ComparisonPage;
pub use summary::{ComparisonSummary, SummaryRow};

/// The outcome of [`compare_cells`].
pub struct ComparedCells {
    /// The table of methods with its notes.
    pub text: String,
    /// Methods with averages and intervals, verdict, split and failures.
    pub json: Value,
    /// Every run as CSV.
    pub runs_csv: String,
    /// The page and its figures.
    pub page: DecisionPage,
}

/// Compares methods and concludes. `command` repeats the comparison; the page shows
/// it. With a folder, the same comparison resumes there, and a finished one is read.
///
/// # Errors
/// When a setting is invalid, the folder has other results, no method could be trained, or the user
/// interrupts; finished runs are kept in the folder.
pub fn compare_cells(
    input: ComparisonInput<'_>,
    command: String,
    out: Option<&Path>,
    observer: &dyn Observer,
) -> Result<ComparedCells> {
    let comparison = Comparison::new(input)?;
    let runs = comparison.runner.cell_ids()?;
    let folder = match out {
        Some(path) => Some(KeptFolder::open(path, &runs, &command)?),
        None => None,
    };
    let log = match &folder {
        Some(kept) => kept.log()?,
        None => RunLog::in_memory(),
    };
    let result = comparison.run(observer, &runs, log)?;
    if observer.interrupted() {
        return Err(Error::Interrupted);
    }
    let conclusion = comparison.conclude(&result, result.failures.is_empty(), observer)?;
    let explained = comparison.explain(&conclusion, observer)?;
    let layout = DecisionLayout::for_problem(comparison.data[0].problem.spec(), None)?;
    let page = ComparisonPage {
        comparison: &comparison,
        result: &result,
        layout,
        conclusion: &conclusion,
        explained: &explained,
        commands: vec![command],
        settings_file: None,
    };
    let page_results = page.results();
    let mut json = comparison.json(&conclusion);
    json["methods"] = methods_with_intervals(&conclusion.summary, &page_results);
    json["failed"] = conclusion.summary.failures_json(&result.failures);
    let page = page.draw();
    if let Some(kept) = &folder {
        kept.folder
            .finish(&result.runs, &conclusion.summary, &page.html)?;
    }
    Ok(ComparedCells {
        text: conclusion.summary.text(&comparison.facts.unit),
        json,
        runs_csv: conclusion.summary.runs_csv(&result.runs)?,
        page,
    })
}

/// A folder that keeps the runs of a comparison, while it is locked.
struct KeptFolder {
    folder: ResultFolder,
    _lock: FolderLock,
    /// The call as TOML; what runs depend on is in their keys.
    settings: String,
    earlier: Vec<CellRecord>,
}

impl KeptFolder {
    fn open(path: &Path, runs: &[CellId], command: &str) -> Result<Self> {
        let call = toml::Table::from_iter([("call".to_owned(), command.into())]);
        let settings = format!("# The tables are not part of it.\n{call}");
        let key = ComparisonKey {
            runs,
            settings: &settings,
        };
        let (folder, earlier) = ResultFolder::keep(path, &key)?;
        Ok(Self {
            _lock: folder.lock()?,
            folder,
            settings,
            earlier,
        })
    }

    fn log(&self) -> Result<RunLog> {
        self.folder
            .runs(self.settings.clone(), self.earlier.clone())
    }
}

/// The rows of the summary with the intervals of the page: ratio minus 1, if seeds are tested on
/// different rows.
fn methods_with_intervals(summary: &ComparisonSummary, results: &ExperimentResults) -> Value {
    let mut rows = json!(summary.rows);
    let statistics = results.problems.iter().flat_map(|problem| &problem.methods);
    for (row, method) in rows.as_array_mut().into_iter().flatten().zip(statistics) {
        let interval = method.difference;
        row["difference"] = json!(interval.map(|interval| interval.mean));
        row["lower"] = json!(interval.map(|interval| interval.lower));
        row["upper"] = json!(interval.map(|interval| interval.upper));
    }
    rows
}

/// The method whose regret is the denominator of all ratios.
pub fn reference() -> Method {
    Method::mse().into()
}

/// The methods that are compared on a table of the user's: `auto`, the reference, the method of
/// the paper, and SPO+ where its solves take no longer than a search.
pub fn default_methods(training: &TrainingSettings, context: &TrainingContext<'_>) -> Vec<Method> {
    let mut methods = vec![Method::auto(), reference(), Method::of_paper()];
    let spo_plus = Trainer::new(Method::spo_plus()).settings(*training);
    let seconds = spo_plus.loss_solve_seconds(context);
    if seconds.is_some_and(|seconds| seconds <= AutoBudget::DEFAULT_SECONDS) {
        methods.push(spo_plus.method);
    }
    methods
}

/// The methods that benchmarks are compared with, as in the paper: squared and absolute error with
/// every subset of the components C, O and S.
pub fn paper_methods() -> Vec<Method> {
    let components = [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 1, 0],
        [1, 0, 1],
        [0, 1, 1],
        [1, 1, 1],
    ];
    let mut methods = Vec::new();
    for error in [BaseError::Squared, BaseError::Absolute] {
        for [costs, one_sided, scale_invariant] in
            components.map(|subset| subset.map(|included| included == 1))
        {
            let loss = CostSensitiveSpec {
                error,
                side: if one_sided {
                    ErrorSide::OneSided
                } else {
                    ErrorSide::Both
                },
                normalization: if scale_invariant {
                    Normalization::UnitNorm
                } else {
                    Normalization::None
                },
                weighting: if costs {
                    InstanceWeighting::InstanceCosts
                } else {
                    InstanceWeighting::Equal
                },
            };
            methods.push(Method::from(loss));
        }
    }
    methods
}
