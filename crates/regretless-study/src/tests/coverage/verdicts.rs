//! What each verdict states about a simulated table, next to the truth.

use std::collections::BTreeMap;
use std::sync::Arc;

use regretless::data::SplitIndices;
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::predict::PredictorSpec;
use regretless::problem::Problem;
use regretless::settings::TrainingSettings;
use regretless::train::{TrainingContext, linear_fit};
use regretless::trainer::{Trainer, TrainingOutcome};
use regretless_study::experiment::MeanAndDeviation;

use super::tables::{RowRelation, World};
use crate::backtest::{Backtest, BacktestFold, BacktestTable, Periods, RollingOrigin};
use crate::experiment::{CellData, SeedDesign};
use regretless::baseline::{Baseline, mean_costs};
use regretless_base::statistics::{ConfidenceInterval, mean_interval};

const ROWS: usize = 160;
const ROWS_OF_TRAINING: usize = 320;
const SEEDS: u32 = 5;
const METHODS: [&str; 3] = ["MSE", "MAE(O,S)", "MSE(O,S)"];

/// Who states something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum StatedVerdict {
    Train,
    AutoOfFolds,
    AutoOfOneFold,
    Compare,
    Backtest,
}

impl StatedVerdict {
    pub(super) const ALL: [Self; 5] = [
        Self::Train,
        Self::AutoOfFolds,
        Self::AutoOfOneFold,
        Self::Compare,
        Self::Backtest,
    ];
}

/// A statement and the truth.
pub(super) struct Observation {
    /// Who states what.
    pub(super) name: &'static str,
    /// Whether it is the first of its name on its table.
    pub(super) is_first: bool,
    pub(super) interval: Option<[f64; 2]>,
    /// The number that the interval is about; an improvement where something is claimed.
    pub(super) truth: f64,
    /// Whether a number below 0 is a loss.
    pub(super) is_saving: bool,
    /// Whether an improvement is claimed.
    pub(super) is_claim: bool,
}

fn ends(interval: Option<ConfidenceInterval>) -> Option<[f64; 2]> {
    interval.map(|interval| [interval.lower, interval.upper])
}

/// A search of `auto` with a number of folds that its budget allows.
struct AutoSetting {
    method: &'static str,
    folds: usize,
    rows: usize,
    names: [&'static str; 2],
}

const AUTO_OF_FOLDS: AutoSetting = AutoSetting {
    method: "auto 20s",
    folds: 5,
    rows: ROWS,
    names: ["auto of 5 folds, regret", "auto of 5 folds, improvement"],
};

/// A fifth of its rows validates: in order of time, fewer than 60 have no interval.
const AUTO_OF_ONE_FOLD: AutoSetting = AutoSetting {
    method: "auto 0.1s",
    folds: 1,
    rows: 320,
    names: ["auto of 1 fold, regret", "auto of 1 fold, improvement"],
};

/// What these verdicts state about a table.
pub(super) fn observe(verdicts: &[StatedVerdict], world: &World, table: u64) -> Vec<Observation> {
    let mut all = Vec::new();
    for verdict in verdicts {
        all.extend(match verdict {
            StatedVerdict::Train => train(world, table),
            StatedVerdict::AutoOfFolds => auto(world, table, &AUTO_OF_FOLDS),
            StatedVerdict::AutoOfOneFold => auto(world, table, &AUTO_OF_ONE_FOLD),
            StatedVerdict::Compare => compare(world, table),
            StatedVerdict::Backtest => backtest(world, table),
        });
    }
    all
}

fn split(world: &World, rows: usize, seed: u64) -> SplitIndices {
    match world.relation {
        RowRelation::Independent => SplitIndices::random(rows, 0.2, 0.2, seed).unwrap(),
        RowRelation::InTime => {
            let part = rows / 5;
            SplitIndices::in_order(rows, [rows - 2 * part, part, part]).unwrap()
        }
    }
}

fn settings() -> TrainingSettings {
    TrainingSettings {
        epochs: 5,
        learning_rate: 0.05,
        standardize: true,
        ..TrainingSettings::default()
    }
}

fn fit(context: &TrainingContext<'_>, world: &World, method: &str, seed: u64) -> TrainingOutcome {
    let settings = TrainingSettings { seed, ..settings() };
    let mut trainer = Trainer::new(method.parse::<Method>().unwrap()).settings(settings);
    trainer = trainer.predictor(PredictorSpec::Linear);
    trainer.train(context, &world.problem, None).unwrap()
}

fn context<'a>(
    world: &'a World,
    data: &'a LabeledDataset,
    split: &'a SplitIndices,
) -> TrainingContext<'a> {
    TrainingContext {
        data,
        split,
        oracle: &world.oracle,
        observer: &NoopObserver,
    }
}

/// The page of `train`: what the model saves per decision against least squares.
fn train(world: &World, table: u64) -> Vec<Observation> {
    // A fifth of them tests: in order of time, fewer than 60 test rows have no interval.
    let data = &world.table(table, ROWS_OF_TRAINING);
    let split = split(world, data.len(), table);
    let context = context(world, data, &split);
    let model = fit(&context, world, "MAE(O,S)", table).model;
    let least_squares = linear_fit(&context, &world.problem, 0.0).unwrap();
    let regrets = |model| {
        let rows = &split.test;
        Evaluation::of_model(model, data, rows, &world.oracle, &NoopObserver)
            .unwrap()
            .regrets
    };
    let (own, reference) = (regrets(&model), regrets(&least_squares));
    let pairs = reference.iter().zip(&own);
    let savings: Vec<f64> = pairs.map(|(reference, own)| reference - own).collect();
    let interval = mean_interval(&savings, split.row_order(), 1.0);
    let truth = world.expected_regret(&least_squares) - world.expected_regret(&model);
    vec![Observation {
        name: "train",
        is_first: true,
        interval: ends(interval),
        truth,
        is_saving: true,
        is_claim: interval.is_some_and(|interval| interval.lower > 0.0),
    }]
}

/// The report of `auto`: the expected regret, and the improvement over least squares.
fn auto(world: &World, table: u64, search: &AutoSetting) -> Vec<Observation> {
    let data = &world.table(table, search.rows);
    let validation = data.len() / 5;
    let split = match world.relation {
        RowRelation::Independent => SplitIndices::random(data.len(), 0.2, 0.0, table).unwrap(),
        RowRelation::InTime => {
            SplitIndices::in_order(data.len(), [data.len() - validation, validation, 0]).unwrap()
        }
    };
    let context = context(world, data, &split);
    let fitted = fit(&context, world, search.method, table);
    let report = fitted.report.search.unwrap();
    assert_eq!(report.folds, search.folds);
    let mut trained = split.clone();
    if report.folds > 1 {
        // The average of its models is trained on all rows.
        trained
            .train
            .extend(std::mem::take(&mut trained.validation));
    }
    let reference = TrainingContext {
        split: &trained,
        ..context
    };
    let least_squares = linear_fit(&reference, &world.problem, 0.0).unwrap();
    let own = world.expected_regret(&fitted.model);
    let improvement = world.expected_regret(&least_squares) - own;
    vec![
        Observation {
            name: search.names[0],
            is_first: true,
            interval: report.interval,
            truth: world.normalized(own),
            is_saving: false,
            is_claim: false,
        },
        Observation {
            name: search.names[1],
            is_first: true,
            interval: report.improvement,
            truth: world.normalized_difference(improvement),
            is_saving: true,
            is_claim: report.improvement.is_some_and(|[lower, _]| lower > 0.0),
        },
    ]
}

/// Test regrets of a method by seed, and the true mean over its models.
struct Compared {
    regrets: BTreeMap<u32, f64>,
    truth: f64,
}

impl Compared {
    fn mean(&self) -> f64 {
        self.regrets.values().sum::<f64>() / self.regrets.len() as f64
    }
}

fn lowest(all: &[Compared]) -> &Compared {
    let by_mean = |a: &&Compared, b: &&Compared| a.mean().total_cmp(&b.mean());
    all.iter().min_by(by_mean).unwrap()
}

/// The verdict of `compare` over seeds: whether the best method beats the best baseline.
fn compare(world: &World, table: u64) -> Vec<Observation> {
    let data = Arc::new(world.table(table, ROWS));
    let mut seeds = Vec::new();
    for seed in 0..SEEDS {
        let problem = Problem::from_spec(world.problem.clone()).unwrap();
        let split = split(world, data.len(), u64::from(seed));
        seeds.push(CellData::new(problem, data.clone(), split).unwrap());
    }
    let mut methods = Vec::new();
    for method in METHODS {
        methods.push(compared(world, &seeds, |context, seed| {
            let model = fit(context, world, method, u64::from(seed)).model;
            let rows = &context.split.test;
            let test = Evaluation::of_model(&model, &data, rows, &world.oracle, &NoopObserver);
            [test.unwrap().regret, world.expected_regret(&model)]
        }));
    }
    let least_squares = compared(world, &seeds, |context, _| {
        let model = linear_fit(context, &world.problem, 0.0).unwrap();
        let test = Baseline::LeastSquares.evaluate(context, &world.problem);
        [test.unwrap().regret, world.expected_regret(&model)]
    });
    let mean = compared(world, &seeds, |context, _| {
        let test = Baseline::TrainingMean.evaluate(context, &world.problem);
        let truth = world.expected_regret_of_constant(&mean_costs(context));
        [test.unwrap().regret, truth]
    });
    let baselines = [least_squares, mean];
    let (method, baseline) = (lowest(&methods), lowest(&baselines));
    let design = SeedDesign::of(&seeds);
    let difference = |method: &Compared, baseline: &Compared, best_of: usize| {
        let pairs = method.regrets.values().zip(baseline.regrets.values());
        let differences: Vec<f64> = pairs.map(|(own, base)| base - own).collect();
        design.interval(&MeanAndDeviation::of(&differences), best_of)
    };
    let interval = difference(method, baseline, METHODS.len());
    let claims = interval.is_some_and(|interval| interval.lower > 0.0);
    let mut all = vec![Observation {
        name: "compare, best method",
        is_first: true,
        interval: ends(interval),
        truth: baseline.truth - method.truth,
        is_saving: true,
        is_claim: claims && method.mean() < baseline.mean(),
    }];
    for (number, method) in methods.iter().enumerate() {
        let interval = difference(method, &baselines[0], 1);
        all.push(Observation {
            name: "compare, each method",
            is_first: number == 0,
            interval: ends(interval),
            truth: baselines[0].truth - method.truth,
            is_saving: true,
            is_claim: false,
        });
    }
    all
}

fn compared(
    world: &World,
    seeds: &[CellData],
    run: impl Fn(&TrainingContext<'_>, u32) -> [f64; 2],
) -> Compared {
    let mut regrets = BTreeMap::new();
    let mut truth = 0.0;
    for (seed, data) in (0..SEEDS).zip(seeds) {
        let [regret, expected] = run(&context(world, &data.data, &data.split), seed);
        regrets.insert(seed, regret);
        truth += expected / f64::from(SEEDS);
    }
    Compared { regrets, truth }
}

/// The verdict of `backtest`: what each method saves per period against least squares.
fn backtest(world: &World, table: u64) -> Vec<Observation> {
    const FRESH_PER_FOLD: usize = 400;
    let origin = RollingOrigin {
        step: Some(20),
        ..RollingOrigin::default()
    };
    let times = |count: usize| (0..count).map(|time| time.to_string()).collect::<Vec<_>>();
    let folds = origin
        .folds(&Periods::from_times(&times(ROWS)).unwrap())
        .unwrap();
    let data = world.table_with_fresh_rows(table, ROWS, folds.len() * FRESH_PER_FOLD);
    let periods = Periods::from_times(&times(data.len())).unwrap();
    let methods = METHODS.map(|name| name.parse::<Method>().unwrap());
    let mut backtest = Backtest::new(methods.to_vec());
    backtest.training = settings();
    let run = |folds: &[BacktestFold]| {
        let table = BacktestTable {
            spec: &world.problem,
            data: &data,
            oracle: &world.oracle,
            periods: &periods,
            folds,
        };
        backtest.run(&table, &[], &NoopObserver).unwrap()
    };
    let stated = run(&folds);
    let mut fresh_folds = folds;
    for (number, fold) in fresh_folds.iter_mut().enumerate() {
        let start = ROWS + number * FRESH_PER_FOLD;
        fold.test = (start..start + FRESH_PER_FOLD).collect();
    }
    let truth = run(&fresh_folds);
    let best = stated
        .savings
        .iter()
        .filter(|saving| saving.interval.is_some_and(|interval| interval.lower > 0.0))
        .max_by(|a, b| a.per_period.total_cmp(&b.per_period));
    let mut all = Vec::new();
    for (stated, truth) in stated.savings.iter().zip(&truth.savings) {
        assert_eq!(stated.name, truth.name);
        // The costs of the last period are noise in the table, and not in fresh rows.
        if stated.name.contains("last") {
            continue;
        }
        all.push(Observation {
            name: "backtest",
            is_first: all.is_empty(),
            interval: ends(stated.interval),
            truth: truth.per_period,
            is_saving: true,
            is_claim: best.is_some_and(|best| best.name == stated.name),
        });
    }
    all
}
