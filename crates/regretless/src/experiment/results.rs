//! Results of an experiment, aggregated over its cells (one per problem, method and seed).
//!
//! The ratio of a method is the mean over seeds of its test regret divided by that of the reference
//! on the same seed. Differences are paired by seed. A method is on the Pareto front when no other
//! method has at most its regret in at most its time and is better in one of both; times within a
//! tolerance count as equal.

use serde::{Deserialize, Serialize};

use super::cell::{CellMetrics, CellOutcome, CellRecord, CurvePoint};
use super::example::{DecisionLayout, Example, ExampleDecision};
use super::runner::ExperimentRunner;
use super::spec::{
    Experiment, ExperimentMethod, ExperimentProblem, FigureKind, PublishedResult,
    default_equal_seconds,
};
use super::statistics::{ConfidenceInterval, MeanAndDeviation};
use crate::oracle::SolveCounts;

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
    /// Times that differ by less count as equal on a Pareto front, in seconds.
    #[serde(default = "default_equal_seconds")]
    pub equal_seconds: f64,
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

/// Name of the processor, where the system reports it.
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

fn problem_results(
    runner: &ExperimentRunner,
    problem: &ExperimentProblem,
    records: &[CellRecord],
) -> ProblemResults {
    let experiment = &runner.experiment;
    let name = problem.source.to_string();
    let records: Vec<&CellRecord> = records
        .iter()
        .filter(|record| record.id.problem == name)
        .collect();
    let reference: Vec<(u32, f64)> = finished_cells(&records, &experiment.reference)
        .map(|(seed, cell)| (seed, cell.test.regret))
        .collect();
    let mut methods: Vec<MethodResults> = experiment
        .methods_of(problem)
        .map(|method| method_results(experiment, problem, &method, &records, &reference))
        .collect();
    mark_best_and_front(&mut methods, experiment.equal_seconds);
    let contexts: Vec<_> = runner
        .seeds(problem)
        .filter_map(|seed| runner.read_context(problem, seed))
        .collect();
    let label_seconds: Vec<f64> = contexts
        .iter()
        .map(|context| context.label_seconds)
        .collect();
    let costs = contexts.first().map_or(0, |context| context.costs);
    let (layout, examples) = runner
        .read_context(problem, problem.source.first_seed())
        .map(|context| (context.layout, context.examples))
        .unwrap_or_default();
    let (rows, seeds) = (problem.split, experiment.seeds_of(problem));
    ProblemResults {
        name,
        rows,
        costs,
        seeds,
        label_seconds: MeanAndDeviation::of(&label_seconds),
        methods,
        layout,
        examples,
    }
}

/// Seeds and metrics of the finished cells of a method.
fn finished_cells<'a>(
    records: &'a [&CellRecord],
    name: &'a str,
) -> impl Iterator<Item = (u32, &'a CellMetrics)> {
    records
        .iter()
        .filter(move |record| record.id.name == name)
        .filter_map(|record| match &record.outcome {
            CellOutcome::Done(cell) => Some((record.id.seed, &**cell)),
            CellOutcome::Failed(_) => None,
        })
}

fn method_results(
    experiment: &Experiment,
    problem: &ExperimentProblem,
    method: &ExperimentMethod,
    records: &[&CellRecord],
    reference: &[(u32, f64)],
) -> MethodResults {
    let cells: Vec<(u32, &CellMetrics)> = finished_cells(records, &method.name).collect();
    let (mut seeds, mut ratios) = (Vec::new(), Vec::new());
    for (seed, cell) in &cells {
        let base = reference.iter().find(|(known, _)| known == seed);
        // Where the reference has no regret, a ratio to it is undefined.
        if let Some((_, base)) = base.filter(|(_, base)| *base > 0.0) {
            let ratio = cell.test.regret / base;
            ratios.push(ratio);
            seeds.push(SeedResult {
                seed: *seed,
                ratio: Some(ratio),
                seconds: cell.seconds,
            });
        }
    }
    let over_seeds = |value: &dyn Fn(&CellMetrics) -> f64| {
        let values: Vec<f64> = cells.iter().map(|(_, cell)| value(cell)).collect();
        MeanAndDeviation::of(&values)
    };
    let ratio = MeanAndDeviation::of(&ratios);
    let first = cells
        .iter()
        .find(|(seed, _)| *seed == problem.source.first_seed())
        .map(|(_, cell)| *cell);
    MethodResults {
        name: method.name.clone(),
        ratio,
        difference: ratio.interval().map(|interval| ConfidenceInterval {
            mean: interval.mean - 1.0,
            lower: interval.lower - 1.0,
            upper: interval.upper - 1.0,
        }),
        regret: over_seeds(&|cell| cell.test.regret),
        relative_regret: over_seeds(&|cell| cell.test.relative_regret),
        normalized_regret: over_seeds(&|cell| cell.test.normalized_regret),
        mse: over_seeds(&|cell| cell.test.mse),
        mae: over_seeds(&|cell| cell.test.mae),
        total_solves: over_seeds(&|cell| cell.solves.total() as f64),
        not_converged: cells
            .iter()
            .filter(|(_, cell)| cell.converged == Some(false))
            .count(),
        seconds: over_seeds(&|cell| cell.seconds),
        solves: solves(&cells),
        published_solves: method.solves.clone(),
        published: experiment
            .published
            .get(&problem.source.to_string())
            .and_then(|results| results.get(&method.name))
            .copied(),
        curve: first.map(|cell| cell.curve.clone()).unwrap_or_default(),
        examples: first.map(|cell| cell.examples.clone()).unwrap_or_default(),
        note: note(
            records,
            method,
            cells.len(),
            experiment.seeds_of(problem) as usize,
        ),
        seeds,
        on_front: false,
        is_best: false,
    }
}

fn solves(cells: &[(u32, &CellMetrics)]) -> [(String, f64); 6] {
    let kind = |name: &str, count: &dyn Fn(&SolveCounts) -> u64| {
        let total: u64 = cells.iter().map(|(_, cell)| count(&cell.solves)).sum();
        (name.to_string(), total as f64 / cells.len().max(1) as f64)
    };
    [
        kind("exact", &|counts| counts.exact),
        kind("relaxed", &|counts| counts.relaxed),
        kind("heuristic", &|counts| counts.heuristic),
        kind("projected", &|counts| counts.projected),
        kind("certified", &|counts| counts.certified),
        kind("cache_hits", &|counts| counts.cache_hits),
    ]
}

/// Why results of some seeds are missing.
fn note(
    records: &[&CellRecord],
    method: &ExperimentMethod,
    finished: usize,
    seeds: usize,
) -> Option<String> {
    let failed = records
        .iter()
        .filter(|record| record.id.name == method.name)
        .find_map(|record| match &record.outcome {
            CellOutcome::Failed(reason) => Some(format!("seed {}: {reason}", record.id.seed)),
            CellOutcome::Done(_) => None,
        });
    failed.or_else(|| match seeds - finished.min(seeds) {
        0 => None,
        missing if missing == seeds => Some("not run yet".into()),
        missing => Some(format!("not run yet: {missing} of {seeds} seeds")),
    })
}

/// Marks the best ratio and the Pareto front.
fn mark_best_and_front(methods: &mut [MethodResults], equal_seconds: f64) {
    let points: Vec<Option<(f64, f64)>> = methods
        .iter()
        .map(|method| method.ratio.mean.zip(method.seconds.mean))
        .collect();
    let best = points
        .iter()
        .flatten()
        .map(|(ratio, _)| *ratio)
        .fold(f64::INFINITY, f64::min);
    for (index, method) in methods.iter_mut().enumerate() {
        let Some((ratio, seconds)) = points[index] else {
            continue;
        };
        let dominates = |(other_ratio, other_seconds): &(f64, f64)| {
            let is_no_slower = *other_seconds <= seconds + equal_seconds;
            let is_faster = *other_seconds < seconds - equal_seconds;
            is_no_slower && (*other_ratio < ratio || (*other_ratio == ratio && is_faster))
        };
        method.on_front = !points.iter().flatten().any(dominates);
        method.is_best = ratio == best;
    }
}
