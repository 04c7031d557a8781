//! Methods beyond their losses: how questions are answered and counted, robust labels, training on.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

#[path = "common/setting.rs"]
mod setting;

use std::sync::Arc;

use regretless::data::synthetic::Recipe as DataRecipe;
use regretless::label::Robust;
use regretless::loss::{Draw, LossSpec, Query};
use regretless::oracle::{Answering, Cache, OracleSettings, SolveCounts};
use regretless::predict::PredictorSpec;
use regretless::problem::{Benchmark, Problem, Sense, ShortestPath};
use regretless::solve::relax::{Relaxation, Relaxer};
use regretless::solve::{Failure, Limits, Solution, Solver};
use regretless::train::{Recipe, Select, Settings};
use regretless::watch::Silent;
use regretless::{Decision, Error};

use setting::{Setting, quick};

/// Rows of [`Setting::paths`] that train, and epochs of the tests.
const ROWS: u64 = 160;
const EPOCHS: u64 = 3;

fn unjudged() -> Settings {
    Settings { epochs: EPOCHS as usize, select: Select::Last, ..quick() }
}

fn solves(setting: &Setting, method: &str) -> SolveCounts {
    setting.train(method, unjudged()).unwrap().report.solves
}

/// A path, with a relaxation that is known to be integral.
#[derive(Debug, Clone)]
struct RelaxedPath(ShortestPath);

impl Problem for RelaxedPath {
    fn name(&self) -> String {
        self.0.name()
    }

    fn sense(&self) -> Sense {
        self.0.sense()
    }

    fn num_costs(&self) -> usize {
        self.0.num_costs()
    }

    fn solver(&self, limits: &Limits) -> Box<dyn Solver> {
        self.0.solver(limits)
    }

    fn relaxer(&self, kind: Relaxation, limits: &Limits) -> Option<Box<dyn Relaxer>> {
        (kind == Relaxation::Plain).then(|| Box::new(Plain(self.0.solver(limits))) as Box<dyn Relaxer>)
    }

    fn check(&self, decision: &Decision) -> Result<(), String> {
        self.0.check(decision)
    }
}

struct Plain(Box<dyn Solver>);

impl Relaxer for Plain {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, Failure> {
        self.0.solve(costs)
    }
}

fn relaxed_paths() -> Setting {
    let path = RelaxedPath(ShortestPath { grid: [4, 4] });
    Setting::solved_as(Arc::new(path), Setting::path_data(), [160, 40, 60], 1)
}

/// Table 1 of the paper, labels known: t·n for SPO+ and MAP, as often per sample for PFYL, × p under a cache,
/// relaxed ones under `relax`, none for O and S, n more for C.
#[test]
fn solves_are_those_of_the_papers_table() {
    let setting = Setting::paths(2);
    let exact = |count| SolveCounts { exact: count, ..SolveCounts::default() };
    for (method, count) in [
        ("SPO+", EPOCHS * ROWS),
        ("PFYL", EPOCHS * ROWS * 10),
        ("PFYL(samples=1)", EPOCHS * ROWS),
        ("MAP", EPOCHS * ROWS),
        ("LTR(list)", EPOCHS * ROWS),
        ("MAP cache 0%", 0),
        ("NCE_c cache 100%", EPOCHS * ROWS),
        ("PG", EPOCHS * ROWS * 2),
        ("DBB", EPOCHS * ROWS * 2),
        ("NID", EPOCHS * ROWS),
        ("DPO(samples=4)", EPOCHS * ROWS * 4),
        ("I-MLE(samples=4)", EPOCHS * ROWS * 8),
        ("I-MLE(samples=4,central)", EPOCHS * ROWS * 12),
        ("MAE(O,S)", 0),
        ("MAE(C,O,S)", ROWS + 40),
        ("MSE(O) knn(3,0.5)", ROWS),
    ] {
        assert_eq!(solves(&setting, method), exact(count), "{method}");
    }
}

#[test]
fn relaxed_solves_are_counted_as_such_and_answer_the_loss() {
    let setting = relaxed_paths();
    let relaxed = SolveCounts { relaxed: EPOCHS * ROWS, ..SolveCounts::default() };
    assert_eq!(solves(&setting, "SPO+ relax"), relaxed);
    let members = |method: &str| setting.train(method, unjudged()).unwrap().model.members;
    assert_eq!(members("SPO+ relax"), members("SPO+"), "an integral relaxation answers as the problem itself");
    let with_cache = solves(&setting, "SPO+ relax cache 50%");
    assert_eq!(with_cache.exact, 0);
    assert_eq!(with_cache.relaxed + with_cache.pooled, EPOCHS * ROWS);
}

#[test]
fn a_missing_relaxation_is_refused_with_what_to_do() {
    let error = relaxed_paths().train("PFYL relax tight", quick()).unwrap_err();
    assert!(matches!(error, Error::Capability { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("PFYL relax tight") && message.contains("leave out 'relax'"), "{message}");
}

#[test]
fn cones_and_neighbours_are_counted_and_their_absence_is_named() {
    let setting = Setting::paths(1);
    let projected = SolveCounts { projected: EPOCHS * ROWS, ..SolveCounts::default() };
    assert_eq!(solves(&setting, "CaVE"), projected);
    let hybrid = solves(&setting, "CaVE(hybrid)").projected as f64 / (EPOCHS * ROWS) as f64;
    assert!((0.2..0.4).contains(&hybrid), "{hybrid}");
    assert_eq!(solves(&setting, "LAVA"), SolveCounts { relaxed: 260, ..SolveCounts::default() });
    for method in ["CaVE", "LAVA"] {
        let error = relaxed_paths().train(method, unjudged()).unwrap_err();
        assert!(matches!(error, Error::Capability { .. }), "{error}");
        assert!(error.to_string().contains(method) && error.to_string().contains("MAE(O,S)"), "{error}");
    }
}

#[test]
fn a_cache_solves_its_share_and_answers_the_rest() {
    let setting = Setting::paths(1);
    let asked = EPOCHS * ROWS;
    assert_eq!(solves(&setting, "SPO+ cache 0%"), SolveCounts { pooled: asked, ..SolveCounts::default() });
    assert_eq!(solves(&setting, "SPO+ cache 100%"), SolveCounts { exact: asked, ..SolveCounts::default() });
    for (method, least, most) in [("SPO+ cache 40%", 0.1, 0.7), ("SPO+ cache 40% per instance", 0.33, 0.47)] {
        let counts = solves(&setting, method);
        assert_eq!(counts.exact + counts.pooled, asked, "{method}");
        let share = counts.exact as f64 / asked as f64;
        assert!((least..=most).contains(&share), "{method}: {share}");
        let batches = counts.exact.is_multiple_of(32);
        assert_eq!(batches, !method.contains("instance"), "{method}: {} solves", counts.exact);
    }
}

#[test]
fn epochs_of_a_cached_method_are_judged_on_the_cache() {
    let setting = Setting::paths(1);
    let settings = Settings { epochs: 2, select: Select::ValidationLoss, ..quick() };
    let counts = |method: &str| setting.train(method, settings).unwrap().report.solves;
    assert_eq!(counts("SPO+ cache 100%"), SolveCounts { exact: 2 * ROWS, pooled: 3 * 40, ..SolveCounts::default() });
    assert_eq!(counts("SPO+").exact, 2 * ROWS + 3 * 40);
    assert_eq!(counts("MAP").total(), 2 * ROWS, "a pool is at hand without solves");
}

#[test]
fn a_small_pool_still_trains() {
    let setting = Setting::paths(1);
    let untrained = setting.test(&setting.train("SPO+", Settings { epochs: 0, ..quick() }).unwrap().model).regret;
    for method in ["SPO+ cache 5%", "SPO+ cache 0%", "MAP cache 0%", "SPO+ cache 20% most 5"] {
        let regret = setting.test(&setting.train(method, quick()).unwrap().model).regret;
        assert!(regret < untrained, "{method}: {regret}, untrained {untrained}");
    }
}

#[test]
fn training_on_starts_where_the_first_method_ended() {
    let setting = Setting::paths(1);
    let settings = Settings { then_learning_rate: Some(0.001), then_epochs: Some(4), ..quick() };
    let whole = setting.train("MAE(O,S) then SPO+", settings).unwrap();
    assert_eq!(whole.model.about.loss, "MAE(O,S) then SPO+");
    let rounds = &whole.report.rounds;
    let named: Vec<(&str, usize)> = rounds.iter().map(|round| (&*round.method, round.epochs.len() - 1)).collect();
    assert_eq!(named, [("MAE(O,S)", 12), ("SPO+", 4)]);
    let first = setting.train("MAE(O,S)", settings).unwrap();
    let kept = first.report.rounds[0].best_epoch;
    assert_eq!(rounds[1].epochs[0].validation_regret, first.report.rounds[0].epochs[kept].validation_regret);
    let recipe = Recipe {
        start: Some(first.model),
        settings: Settings { learning_rate: 0.001, epochs: 4, ..quick() },
        ..Recipe::new("SPO+".parse::<LossSpec>().unwrap(), PredictorSpec::Linear, quick())
    };
    assert_eq!(setting.follow(&recipe).unwrap().model.members, whole.model.members);
}

#[test]
fn training_on_keeps_the_sense_of_a_maximisation() {
    let benchmark: Benchmark = "KS10".parse().unwrap();
    let (problem, data) = benchmark.generate(DataRecipe::paper(120, 1)).unwrap();
    let setting = Setting::new(problem, data, [80, 20, 20], 1);
    let settings = Settings { then_epochs: Some(1), then_learning_rate: Some(1e-9), ..quick() };
    let alone = setting.train("MSE", settings).unwrap().model;
    let whole = setting.train("MSE then SPO+", settings).unwrap().model;
    assert_eq!(whole.output, alone.output);
    assert_eq!(setting.test(&whole).regret, setting.test(&alone).regret);
}

#[test]
fn a_model_that_does_not_fit_is_not_trained_on() {
    let setting = Setting::paths(1);
    let quick = Settings { epochs: 1, ..quick() };
    let start = |model| Recipe {
        start: Some(model),
        ..Recipe::new("SPO+".parse::<LossSpec>().unwrap(), PredictorSpec::Linear, quick)
    };
    let mean = setting.train("MSE(EIC(2))", quick).unwrap().model;
    let message = setting.follow(&start(mean)).unwrap_err().to_string();
    assert!(message.contains("mean of 2 networks"), "{message}");
    let mut foreign = setting.train("MSE", quick).unwrap().model;
    foreign.about.features[0] = "other".into();
    assert!(setting.follow(&start(foreign)).unwrap_err().to_string().contains("other"));
    let mut wider = setting.train("MSE", quick).unwrap().model;
    wider.about.costs.push("c24".into());
    assert!(setting.follow(&start(wider)).unwrap_err().to_string().contains("25 costs"));
}

#[test]
fn robust_labels_mix_costs_with_those_of_similar_rows_and_solve_again() {
    let setting = Setting::paths(1);
    let own = Robust { neighbours: 4, weight: 1.0 };
    let rows = &setting.split.train;
    let same = own.apply(&setting.data, rows, (&setting.oracle, &Silent)).unwrap();
    assert_eq!(same.data(), setting.data.data());
    let shared = Robust { neighbours: ROWS as usize - 1, weight: 0.0 };
    let mean = shared.apply(&setting.data, rows, (&setting.oracle, &Silent)).unwrap();
    let costs = setting.data.data().costs();
    let others = rows.iter().filter(|row| **row != 7).map(|row| f64::from(costs.row(*row)[2])).sum::<f64>();
    assert!((f64::from(mean.data().costs().row(7)[2]) - others / (ROWS as f64 - 1.0)).abs() < 1e-5);
    assert_eq!(mean.data().costs().row(200), costs.row(200), "rows that do not train stay as they are");
    for row in [7, 42, 200] {
        let solved = setting.oracle.asker().solve_row(mean.data().costs().row(row)).unwrap();
        assert_eq!(*mean.best(row), solved.decision);
    }
}

#[test]
fn joined_rows_train_too_and_cannot_judge() {
    let setting = Setting::paths(1);
    let joined = Settings { epochs: 2, ..quick() }.joined();
    let trained = setting.train("SPO+", joined).unwrap();
    assert_eq!(trained.report.solves.total(), 2 * (ROWS + 40));
    assert!(trained.report.best_epoch() > 0);
    let wrong = Settings { select: Select::ValidationRegret, ..joined };
    let message = setting.train("SPO+", wrong).unwrap_err().to_string();
    assert!(message.contains("training-loss"), "{message}");
}

#[test]
fn an_empty_pool_is_named_with_what_to_do() {
    let setting = Setting::paths(1);
    let settings = OracleSettings { cache: Some(Cache::new(0.0)), ..OracleSettings::default() };
    let empty = Answering::new(&setting.oracle, settings, ("MAP", 0)).unwrap();
    let costs = vec![1.0; 24];
    let query =
        Query { instance: 3, costs: &costs, prediction: &costs, best: setting.data.best(3), draw: Draw::default() };
    let evaluate = |label: &str| {
        let loss = label.parse::<LossSpec>().unwrap().build(&setting.data, &setting.oracle, &Silent).unwrap();
        let mut asker = empty.asker();
        asker.take_turn(regretless::oracle::Turn::Recall);
        loss.evaluate(&query, &mut asker, &mut [0.0; 24]).unwrap_err()
    };
    for label in ["MAP", "NCE_c", "LTR(pair)"] {
        let message = evaluate(label).to_string();
        assert!(message.contains(label) && message.contains("pool is empty"), "{message}");
    }
    let error = evaluate("SPO+");
    assert!(matches!(error, Error::Solver { instance: 3, failure: Failure::NothingKnown }), "{error}");
    assert!(error.to_string().contains("cache 5%"), "{error}");
}
