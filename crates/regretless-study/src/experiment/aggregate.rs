//! The results of a problem from its cells: means over seeds, and which methods are best.

use std::collections::BTreeMap;

use regretless::oracle::SolveCounts;
use regretless_base::statistics::{ConfidenceInterval, MeanAndDeviation};

use super::bootstrap::{RegretSample, RowRegret};
use super::cell::{CellMetrics, CellOutcome, CellRecord};
use super::problem_source::ProblemSource;
use super::results::{MethodResults, ProblemResults, SeedResult};
use super::runner::ExperimentRunner;
use super::seed_design::SeedDesign;
use super::spec::{Experiment, ExperimentMethod, ExperimentProblem};

pub(super) fn problem_results(
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
    let seeds = seed_ratios(&cells, reference);
    let ratios: Vec<f64> = seeds.iter().filter_map(|seed| seed.ratio).collect();
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

/// The regret of each seed over that of the reference with this seed. If the reference has no
/// regret, a ratio to it is undefined, and the seed is left out.
fn seed_ratios(cells: &[(u32, &CellMetrics)], reference: &[(u32, f64)]) -> Vec<SeedResult> {
    let mut seeds = Vec::new();
    for (seed, cell) in cells {
        let base = reference.iter().find(|(known, _)| known == seed);
        if let Some((_, base)) = base.filter(|(_, base)| *base > 0.0) {
            seeds.push(SeedResult {
                seed: *seed,
                ratio: Some(cell.test.regret / base),
                seconds: cell.seconds,
            });
        }
    }
    seeds
}

/// The regrets of finished seeds; their interval covers test rows too if they are few.
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
