//! Results of an experiment, aggregated over its cells (one per problem, method and seed).
//!
//! The ratio of a method is the mean over seeds of its test regret divided by that of the reference
//! on the same seed. Differences are paired by seed. A method is on the Pareto front when no other
//! method has at most its regret in at most its time and is better in one of both. Two times count
//! as equal if their difference does not matter, next to the longest training of the problem, or is
//! within the noise that the seeds show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::aggregate::problem_results;
use super::bootstrap::RegretSample;
use super::cell::{CellRecord, CurvePoint};
use super::example::{Example, ExampleDecision, auxiliary_entries};
use super::runner::ExperimentRunner;
use super::spec::{FigureKind, PublishedResult};
use regretless::label::LabeledDataset;
use regretless::oracle::Oracle;
use regretless::problem::DecisionLayout;
use regretless::sense::Sense;
use regretless_base::observer::NoopObserver;
use regretless_base::statistics::{ConfidenceInterval, MeanAndDeviation};

/// An experiment and its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResults {
    /// Its short name.
    pub name: String,
    /// Title of the report.
    pub title: String,
    /// Description in a few sentences.
    pub description: String,
    /// The method whose regret is the denominator of ratios.
    pub reference: String,
    /// Figures of the report.
    pub figures: Vec<FigureKind>,
    /// Times that differ by less count as equal on a Pareto front, in seconds, if the experiment
    /// sets it.
    #[serde(default)]
    pub equal_seconds: Option<f64>,
    /// Whether it is a smoke test, whose numbers are meaningless; it has no ratios.
    #[serde(default)]
    pub is_smoke_test: bool,
    /// Origin of the results.
    pub provenance: Provenance,
    /// One entry per problem.
    pub problems: Vec<ProblemResults>,
}

/// Origin of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// Processor and number of threads.
    pub machine: String,
    /// Command line; empty unless the caller sets it.
    pub command: String,
    /// Date; empty unless the caller sets it.
    pub date: String,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProblemResults {
    /// Its name.
    pub name: String,
    /// Rows to train, validate and test on.
    pub rows: [usize; 3],
    /// Costs per row; 0 before the first cell.
    pub costs: usize,
    /// Number of seeds.
    pub seeds: u32,
    /// Seconds of labeling, over seeds.
    pub label_seconds: MeanAndDeviation,
    /// Times that differ by less count as equal on the Pareto front, in seconds: as the experiment
    /// sets it, or else 1 % of the longest training.
    #[serde(default)]
    pub equal_seconds: f64,
    /// Whether costs are paid or gained; none before the first cell.
    #[serde(default)]
    pub sense: Option<Sense>,
    /// Names of the costs; empty if they are numbered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cost_names: Vec<String>,
    /// Names of the columns of a user's problem without predicted costs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auxiliary_names: Vec<String>,
    /// Published test regrets by method.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub published_regrets: BTreeMap<String, RegretSample>,
    /// One entry per method, in the order of the experiment.
    pub methods: Vec<MethodResults>,
    /// How decisions are laid out in figures, if they can be drawn.
    pub layout: Option<DecisionLayout>,
    /// Test rows that are drawn.
    pub examples: Vec<Example>,
}

/// One method on one problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodResults {
    /// Its name in tables.
    pub name: String,
    /// Regret divided by that of the reference.
    pub ratio: MeanAndDeviation,
    /// Ratio minus 1 with its interval.
    pub difference: Option<ConfidenceInterval>,
    /// Regret in units of the objective.
    pub regret: MeanAndDeviation,
    /// Regret relative to the optimal objective of each row.
    pub relative_regret: MeanAndDeviation,
    /// Sum of regrets over the sum of optimal objectives.
    #[serde(default)]
    pub normalized_regret: MeanAndDeviation,
    /// The same for each seed with an interval, if the problem has published test regrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret_sample: Option<RegretSample>,
    /// Mean squared error of predicted costs.
    #[serde(default)]
    pub mse: MeanAndDeviation,
    /// Mean absolute error of predicted costs.
    #[serde(default)]
    pub mae: MeanAndDeviation,
    /// Seconds of training.
    pub seconds: MeanAndDeviation,
    /// Solver calls of training, without certified solutions and cache hits.
    #[serde(default)]
    pub total_solves: MeanAndDeviation,
    /// Number of seeds on which the training loss has not converged.
    #[serde(default)]
    pub not_converged: usize,
    /// Mean number of solves by kind.
    pub solves: [(String, f64); 6],
    /// Number of solves according to the paper.
    pub published_solves: Option<String>,
    /// Published result.
    pub published: Option<PublishedResult>,
    /// Finished seeds on which the reference has a regret.
    pub seeds: Vec<SeedResult>,
    /// Epochs of the first seed.
    pub curve: Vec<CurvePoint>,
    /// Decisions of the first seed.
    pub examples: Vec<ExampleDecision>,
    /// Why results of some seeds are missing.
    pub note: Option<String>,
    /// Whether it is on the Pareto front.
    pub on_front: bool,
    /// Whether its mean ratio is the lowest.
    pub is_best: bool,
}

/// One method on one problem with one seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SeedResult {
    /// The seed.
    pub seed: u32,
    /// Regret divided by that of the reference; none in a smoke test.
    pub ratio: Option<f64>,
    /// Seconds of training.
    pub seconds: f64,
}

impl ExperimentResults {
    /// Results of one problem without an experiment; the first method is the reference.
    pub(crate) fn of_problem(problem: ProblemResults) -> Self {
        Self {
            name: String::new(),
            title: String::new(),
            description: String::new(),
            reference: problem
                .methods
                .first()
                .map_or(String::new(), |method| method.name.clone()),
            figures: vec![FigureKind::Examples],
            equal_seconds: None,
            is_smoke_test: false,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_string(),
                machine: String::new(),
                command: String::new(),
                date: String::new(),
            },
            problems: vec![problem],
        }
    }

    pub(super) fn new(runner: &ExperimentRunner, records: &[CellRecord]) -> Self {
        let experiment = &runner.experiment;
        let mut problems: Vec<ProblemResults> = experiment
            .problems
            .iter()
            .map(|problem| problem_results(runner, problem, records))
            .collect();
        if experiment.is_smoke_test {
            problems
                .iter_mut()
                .flat_map(|problem| &mut problem.methods)
                .for_each(MethodResults::drop_ratios);
        }
        let machine = format!("{}, {} threads", processor(), runner.threads.count());
        let version = env!("CARGO_PKG_VERSION").to_string();
        Self {
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            description: experiment.description.clone(),
            reference: experiment.reference.clone(),
            figures: experiment.figures.clone(),
            equal_seconds: experiment.equal_seconds,
            is_smoke_test: experiment.is_smoke_test,
            provenance: Provenance {
                version,
                machine,
                command: String::new(),
                date: String::new(),
            },
            problems,
        }
    }

    /// Number of cells without an outcome.
    pub fn missing(&self) -> usize {
        let missing = |problem: &ProblemResults| {
            let missing_seeds = |method: &MethodResults| {
                let failed = method
                    .note
                    .as_deref()
                    .is_some_and(|note| !note.starts_with("not run"));
                if failed {
                    0
                } else {
                    (problem.seeds as usize).saturating_sub(method.regret.count)
                }
            };
            problem.methods.iter().map(missing_seeds).sum::<usize>()
        };
        self.problems.iter().map(missing).sum()
    }
}

impl MethodResults {
    /// A method of which the regrets and some decisions of one training are known.
    pub(crate) fn of_decisions(
        name: &str,
        regrets: &[f64],
        examples: Vec<ExampleDecision>,
    ) -> Self {
        let mean = MeanAndDeviation::of(regrets);
        Self {
            name: name.to_owned(),
            ratio: MeanAndDeviation::default(),
            difference: None,
            regret: MeanAndDeviation { sd: None, ..mean },
            relative_regret: MeanAndDeviation::default(),
            normalized_regret: MeanAndDeviation::default(),
            regret_sample: None,
            mse: MeanAndDeviation::default(),
            mae: MeanAndDeviation::default(),
            seconds: MeanAndDeviation::default(),
            total_solves: MeanAndDeviation::default(),
            not_converged: 0,
            solves: Default::default(),
            published_solves: None,
            published: None,
            seeds: Vec::new(),
            curve: Vec::new(),
            examples,
            note: None,
            on_front: false,
            is_best: false,
        }
    }

    /// Removes comparisons with the reference.
    fn drop_ratios(&mut self) {
        self.ratio = MeanAndDeviation {
            mean: None,
            sd: None,
            ..self.ratio
        };
        self.difference = None;
        for seed in &mut self.seeds {
            seed.ratio = None;
        }
        self.on_front = false;
        self.is_best = false;
    }
}

/// Name of the processor, if the system reports it.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok();
    let line = info
        .as_deref()
        .and_then(|text| text.lines().find(|line| line.starts_with("model name")));
    let name = line
        .and_then(|line| line.split_once(':'))
        .map(|(_, name)| name.trim().to_string());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_string())
}

impl ProblemResults {
    /// Stored test rows of the first seed by the regret of a method's decisions, the lowest first.
    /// The last row is its worst one, the middle row a typical one.
    pub fn rows_by_regret(&self, method: &str) -> Vec<usize> {
        let mut methods = self.methods.iter();
        let Some(method) = methods.find(|known| known.name == method) else {
            return Vec::new();
        };
        let mut decisions: Vec<&ExampleDecision> = method
            .examples
            .iter()
            .filter(|decision| decision.regret.is_finite())
            .collect();
        decisions.sort_by(|a, b| a.regret.total_cmp(&b.regret));
        decisions.iter().map(|decision| decision.row).collect()
    }

    /// Adds the columns of a user's problem that have no predicted costs to the optimal decisions
    /// of the typical and the worst row of the reference. Labels do not store them, so both rows
    /// are solved again.
    pub(crate) fn add_auxiliary_columns(
        &mut self,
        reference: &str,
        data: &LabeledDataset,
        oracle: &Oracle,
    ) {
        let names = oracle.problem().model_parts().auxiliary_names();
        let rows = self.rows_by_regret(reference);
        let (Some(worst), false) = (rows.last(), names.is_empty()) else {
            return;
        };
        let shown = [rows[(rows.len() - 1) / 2], *worst];
        let costs = data.data().costs().select_rows(&shown);
        // An interruption leaves them out.
        let Ok(solutions) = oracle.solve_instances_complete(&costs, &shown, &NoopObserver) else {
            return;
        };
        self.auxiliary_names = names.to_vec();
        for (row, solution) in shown.into_iter().zip(solutions) {
            // A search with a time limit need not find the label again.
            let Ok((solution, complete)) = solution else {
                continue;
            };
            if solution.decision != *data.optimal_decision(row) {
                continue;
            }
            let mut examples = self.examples.iter_mut();
            if let Some(example) = examples.find(|example| example.row == row) {
                example.auxiliary = Some(auxiliary_entries(&complete, costs.cols()));
            }
        }
    }
}
