//! Results of an experiment, aggregated over its cells (one per problem, method and seed).
//!
//! The ratio of a method is the mean over seeds of its test regret divided by that of the reference
//! on the same seed. Differences are paired by seed. A method is on the Pareto front when no other
//! method has at most its regret in at most its time and is better in one of both. Two times count
//! as equal where their difference does not matter, next to the longest training of the problem, or
//! is within the noise that the seeds show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bootstrap::{RegretSample, RowRegret};
use super::cell::{CellMetrics, CellOutcome, CellRecord, CurvePoint};
use super::example::{Example, ExampleDecision, auxiliary_entries};
use super::problem_source::ProblemSource;
use super::runner::ExperimentRunner;
use super::seed_design::SeedDesign;
use super::spec::{Experiment, ExperimentMethod, ExperimentProblem, FigureKind, PublishedResult};
use regretless::label::LabeledDataset;
use regretless::oracle::{Oracle, SolveCounts};
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
    /// Times that differ by less count as equal on a Pareto front, in seconds, where the experiment
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
    /// Names of the costs; empty where they are numbered.
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
    /// The same for each seed with an interval, where the problem has published test regrets.
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
    let equal_seconds = experiment
        .equal_seconds
        .unwrap_or(EQUAL_FRACTION_OF_LONGEST_TRAINING * longest_training(&methods));
    mark_best_and_front(&mut methods, equal_seconds);
    let contexts: Vec<_> = runner
        .seeds(problem)
        .filter_map(|seed| runner.read_context(problem, seed))
        .collect();
    let label_seconds: Vec<f64> = contexts
        .iter()
        .filter_map(|context| context.label_seconds)
        .collect();
    let costs = contexts.first().map_or(0, |context| context.costs);
    // Examples are those of the first seed, which may not have been run yet.
    let first = runner.read_context(problem, experiment.first_seed_of(problem));
    let first = first.unwrap_or_default();
    let (rows, seeds) = (problem.split, experiment.seeds_of(problem));
    let published = experiment.published_regrets.get(&name);
    let published_regrets = published.into_iter().flatten().map(|(method, regrets)| {
        let by_seed = (0..).zip(regrets.iter().copied()).collect();
        (method.clone(), RegretSample::of_seeds(by_seed))
    });
    let published_regrets = published_regrets.collect();
    let mut results = ProblemResults {
        name,
        rows,
        costs,
        seeds,
        label_seconds: MeanAndDeviation::of(&label_seconds),
        equal_seconds,
        sense: first.sense,
        cost_names: first.cost_names,
        auxiliary_names: Vec::new(),
        published_regrets,
        methods,
        layout: first.layout,
        examples: first.examples,
    };
    if let ProblemSource::Table(table) = &problem.source
        && let Ok(data) = table.data(table.first_seed)
        && let Ok(oracle) = runner.oracle(problem, data)
    {
        results.add_auxiliary_columns(&experiment.reference, &data.data, &oracle);
    }
    results
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
    /// of the typical and the worst row of the reference. Labels do not store them, so that both
    /// rows are solved again.
    pub(crate) fn add_auxiliary_columns(
        &mut self,
        reference: &str,
        data: &LabeledDataset,
        oracle: &Oracle,
    ) {
        let names = oracle.problem().auxiliary_names();
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
    let design = match &problem.source {
        ProblemSource::Named(_) => SeedDesign::OwnRows,
        ProblemSource::Table(table) => table.design,
    };
    let first = cells
        .iter()
        .find(|(seed, _)| *seed == experiment.first_seed_of(problem))
        .map(|(_, cell)| *cell);
    MethodResults {
        name: method.name.clone(),
        ratio,
        difference: design
            .interval(&ratio, 1)
            .map(|interval| ConfidenceInterval {
                mean: interval.mean - 1.0,
                lower: interval.lower - 1.0,
                upper: interval.upper - 1.0,
            }),
        regret: over_seeds(&|cell| cell.test.regret),
        relative_regret: over_seeds(&|cell| cell.test.relative_regret),
        normalized_regret: over_seeds(&|cell| cell.test.normalized_regret),
        regret_sample: experiment
            .published_regrets
            .contains_key(&problem.source.to_string())
            .then(|| regret_sample(&cells)),
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

/// The regrets of finished seeds; their interval covers test rows too where they are few.
fn regret_sample(cells: &[(u32, &CellMetrics)]) -> RegretSample {
    let mut by_seed = BTreeMap::new();
    let mut rows: Vec<&[RowRegret]> = Vec::new();
    for (seed, cell) in cells {
        by_seed.insert(*seed, cell.test.normalized_regret);
        rows.push(&cell.test_rows);
    }
    RegretSample::of_seeds_and_rows(by_seed, &rows)
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

/// Fraction of the longest training of a problem below which a difference in time does not matter:
/// whoever waits for the longest one does not notice a hundredth of it. For trainings of 50
/// minutes, as in the paper, these are the 30 seconds that count as equal there.
const EQUAL_FRACTION_OF_LONGEST_TRAINING: f64 = 0.01;

/// Standard errors within which two mean times count as equal: about a 95 % interval.
const EQUAL_STANDARD_ERRORS: f64 = 2.0;

/// Mean seconds of the slowest method.
fn longest_training(methods: &[MethodResults]) -> f64 {
    let seconds = methods.iter().filter_map(|method| method.seconds.mean);
    seconds.fold(0.0, f64::max)
}

/// The square of the standard error of a mean; 0 for a single value.
fn squared_error(times: &MeanAndDeviation) -> f64 {
    times.sd.map_or(0.0, |sd| sd * sd / times.count as f64)
}

/// Marks the best ratio and the Pareto front.
fn mark_best_and_front(methods: &mut [MethodResults], equal_seconds: f64) {
    struct ParetoPoint {
        ratio: f64,
        seconds: f64,
        squared_error: f64,
    }
    let point = |method: &MethodResults| {
        Some(ParetoPoint {
            ratio: method.ratio.mean?,
            seconds: method.seconds.mean?,
            squared_error: squared_error(&method.seconds),
        })
    };
    let points: Vec<Option<ParetoPoint>> = methods.iter().map(point).collect();
    let best = points
        .iter()
        .flatten()
        .map(|point| point.ratio)
        .fold(f64::INFINITY, f64::min);
    for (index, method) in methods.iter_mut().enumerate() {
        let Some(point) = &points[index] else {
            continue;
        };
        let dominates = |other: &ParetoPoint| {
            let noise = (point.squared_error + other.squared_error).sqrt();
            let tolerance = equal_seconds.max(EQUAL_STANDARD_ERRORS * noise);
            let is_no_slower = other.seconds <= point.seconds + tolerance;
            let is_faster = other.seconds < point.seconds - tolerance;
            is_no_slower && (other.ratio < point.ratio || (other.ratio == point.ratio && is_faster))
        };
        method.on_front = !points.iter().flatten().any(dominates);
        method.is_best = point.ratio == best;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        EQUAL_FRACTION_OF_LONGEST_TRAINING, MethodResults, longest_training, mark_best_and_front,
    };

    /// A method with this ratio, and seconds by seed.
    fn method(ratio: f64, seconds: &[f64]) -> MethodResults {
        let zero = serde_json::json!({ "mean": null, "sd": null, "count": 0 });
        let kinds: Vec<(String, f64)> = (0..6).map(|kind| (kind.to_string(), 0.0)).collect();
        let seconds = super::MeanAndDeviation::of(seconds);
        serde_json::from_value(serde_json::json!({
            "name": "", "ratio": { "mean": ratio, "sd": null, "count": 1 }, "difference": null,
            "regret": zero, "relative_regret": zero, "seconds": seconds, "solves": kinds,
            "published_solves": null, "published": null, "seeds": [], "curve": [],
            "examples": [], "note": null, "on_front": false, "is_best": false,
        }))
        .unwrap()
    }

    /// Whether each method, given by its ratio and its seconds by seed, is on the front.
    fn front(methods: &[(f64, &[f64])]) -> Vec<bool> {
        let mut methods: Vec<MethodResults> = methods
            .iter()
            .map(|(ratio, seconds)| method(*ratio, seconds))
            .collect();
        let equal = EQUAL_FRACTION_OF_LONGEST_TRAINING * longest_training(&methods);
        mark_best_and_front(&mut methods, equal);
        methods.iter().map(|method| method.on_front).collect()
    }

    #[test]
    fn the_front_is_the_same_for_short_and_long_trainings() {
        // Fast and good, as fast (within 1 % of the longest) and worse, slow and best.
        for unit in [1e-3, 1.0, 1e3] {
            let times = [[0.9 * unit], [0.8 * unit], [15.0 * unit]];
            let methods: Vec<(f64, &[f64])> = [0.61, 0.7, 0.55]
                .into_iter()
                .zip(times.iter().map(|time| time.as_slice()))
                .collect();
            assert_eq!(front(&methods), [true, false, true], "unit {unit}");
        }
    }

    #[test]
    fn times_within_the_noise_of_seeds_count_as_equal() {
        let steady = [9.0, 9.0, 9.0, 9.0];
        let noisy = [6.0, 14.0, 7.0, 13.0];
        assert_eq!(front(&[(0.7, &steady), (0.6, &[10.0; 4])]), [true, true]);
        assert_eq!(front(&[(0.7, &steady), (0.6, &noisy)]), [false, true]);
    }
}
