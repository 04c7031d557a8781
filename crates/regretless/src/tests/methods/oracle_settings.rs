//! How questions are answered and counted.

use std::sync::Arc;

use regretless::loss::{LossInput, LossSpec, NoiseKey};
use regretless::observer::NoopObserver;
use regretless::oracle::{CacheSettings, OracleSettings, SolveCounts, TrainingOracle};
use regretless::problem::{GridPath, ProblemKind, Sense};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::solve::relaxation::{Relaxation, RelaxationSolver};
use regretless::solve::{SearchLimits, Solution, SolveFailure, Solver};
use regretless::{Decision, Error};

use crate::tests::setting::{Setting, quick};

/// Rows of [`Setting::paths`] that train, and epochs of the tests.
const ROWS: u64 = 160;
const EPOCHS: u64 = 3;

fn unjudged() -> TrainingSettings {
    TrainingSettings {
        epochs: EPOCHS as usize,
        select: SelectionCriterion::Last,
        ..quick()
    }
}

fn solves(setting: &Setting, method: &str) -> SolveCounts {
    setting.train(method, unjudged()).unwrap().report.solves
}

/// A path, with a relaxation that is known to be integral.
#[derive(Debug, Clone)]
struct RelaxedPath(GridPath);

impl ProblemKind for RelaxedPath {
    fn name(&self) -> String {
        self.0.name()
    }

    fn sense(&self) -> Sense {
        self.0.sense()
    }

    fn num_costs(&self) -> usize {
        self.0.num_costs()
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        self.0.solver(limits)
    }

    fn relaxation_solver(
        &self,
        kind: Relaxation,
        limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        (kind == Relaxation::Plain)
            .then(|| Box::new(Plain(self.0.solver(limits))) as Box<dyn RelaxationSolver>)
    }

    fn check(&self, decision: &Decision) -> Result<(), String> {
        self.0.check(decision)
    }
}

struct Plain(Box<dyn Solver>);

impl RelaxationSolver for Plain {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.0.solve(costs)
    }
}

pub fn relaxed_paths() -> Setting {
    let path = RelaxedPath(GridPath::new(4, 4).unwrap());
    let (problem, data) = Setting::path_data();
    Setting::solved_as(Arc::new(path), problem, data, [160, 40, 60], 1)
}

/// Table 1 of the paper, labels known: t·n for SPO+ and MAP, as often per sample for PFYL, × p
/// under a cache, relaxed ones under `relax`, none for O and S, n more for C.
#[test]
fn solves_are_those_of_the_papers_table() {
    let setting = Setting::paths(2);
    let exact = |count| SolveCounts {
        exact: count,
        ..SolveCounts::default()
    };
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
    let relaxed = SolveCounts {
        relaxed: EPOCHS * ROWS,
        ..SolveCounts::default()
    };
    assert_eq!(solves(&setting, "SPO+ relax"), relaxed);
    let networks = |method: &str| setting.train(method, unjudged()).unwrap().model.networks;
    assert_eq!(
        networks("SPO+ relax"),
        networks("SPO+"),
        "an integral relaxation answers as the problem itself"
    );
    let with_cache = solves(&setting, "SPO+ relax cache 50%");
    assert_eq!(with_cache.exact, 0);
    assert_eq!(with_cache.relaxed + with_cache.cache_hits, EPOCHS * ROWS);
}

#[test]
fn a_missing_relaxation_is_refused_with_what_to_do() {
    let error = relaxed_paths()
        .train("PFYL relax tight", quick())
        .unwrap_err();
    assert!(matches!(error, Error::Capability { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("PFYL relax tight") && message.contains("leave out 'relax'"),
        "{message}"
    );
}

#[test]
fn cones_and_neighbours_are_counted_and_their_absence_is_named() {
    let setting = Setting::paths(1);
    let projected = SolveCounts {
        projected: EPOCHS * ROWS,
        ..SolveCounts::default()
    };
    assert_eq!(solves(&setting, "CaVE"), projected);
    if cfg!(feature = "clarabel") {
        assert_eq!(solves(&setting, "CaVE+"), projected);
    }
    let hybrid = solves(&setting, "CaVE(hybrid)").projected as f64 / (EPOCHS * ROWS) as f64;
    assert!((0.2..0.4).contains(&hybrid), "{hybrid}");
    assert_eq!(
        solves(&setting, "LAVA"),
        SolveCounts {
            relaxed: 260,
            ..SolveCounts::default()
        }
    );
    for method in ["CaVE", "LAVA"] {
        let error = relaxed_paths().train(method, unjudged()).unwrap_err();
        assert!(matches!(error, Error::Capability { .. }), "{error}");
        assert!(
            error.to_string().contains(method) && error.to_string().contains("MAE(O,S)"),
            "{error}"
        );
    }
}

#[test]
fn a_cache_solves_its_share_and_answers_the_rest() {
    let setting = Setting::paths(1);
    let asked = EPOCHS * ROWS;
    assert_eq!(
        solves(&setting, "SPO+ cache 0%"),
        SolveCounts {
            cache_hits: asked,
            ..SolveCounts::default()
        }
    );
    assert_eq!(
        solves(&setting, "SPO+ cache 100%"),
        SolveCounts {
            exact: asked,
            ..SolveCounts::default()
        }
    );
    for (method, min, max) in [
        ("SPO+ cache 40%", 0.1, 0.7),
        ("SPO+ cache 40% per-instance", 0.33, 0.47),
    ] {
        let counts = solves(&setting, method);
        assert_eq!(counts.exact + counts.cache_hits, asked, "{method}");
        let share = counts.exact as f64 / asked as f64;
        assert!((min..=max).contains(&share), "{method}: {share}");
        let batches = counts.exact.is_multiple_of(32);
        assert_eq!(
            batches,
            !method.contains("instance"),
            "{method}: {} solves",
            counts.exact
        );
    }
}

#[test]
fn epochs_of_a_cached_method_are_judged_on_the_cache() {
    let setting = Setting::paths(1);
    let settings = TrainingSettings {
        epochs: 2,
        select: SelectionCriterion::ValidationLoss,
        ..quick()
    };
    let counts = |method: &str| setting.train(method, settings).unwrap().report.solves;
    assert_eq!(
        counts("SPO+ cache 100%"),
        SolveCounts {
            exact: 2 * ROWS,
            cache_hits: 3 * 40,
            ..SolveCounts::default()
        }
    );
    assert_eq!(counts("SPO+").exact, 2 * ROWS + 3 * 40);
    assert_eq!(
        counts("MAP").total(),
        2 * ROWS,
        "a pool is at hand without solves"
    );
}

#[test]
fn a_small_pool_still_trains() {
    let setting = Setting::paths(1);
    let untrained = setting
        .test(
            &setting
                .train(
                    "SPO+",
                    TrainingSettings {
                        epochs: 0,
                        ..quick()
                    },
                )
                .unwrap()
                .model,
        )
        .regret;
    for method in [
        "SPO+ cache 5%",
        "SPO+ cache 0%",
        "MAP cache 0%",
        "SPO+ cache 20% capacity 5",
    ] {
        let regret = setting
            .test(&setting.train(method, quick()).unwrap().model)
            .regret;
        assert!(
            regret < untrained,
            "{method}: {regret}, untrained {untrained}"
        );
    }
}

#[test]
fn joined_rows_train_too_and_cannot_judge() {
    let setting = Setting::paths(1);
    let joined = TrainingSettings {
        epochs: 2,
        ..quick()
    }
    .with_validation_rows();
    let trained = setting.train("SPO+", joined).unwrap();
    assert_eq!(trained.report.solves.total(), 2 * (ROWS + 40));
    assert!(trained.report.best_epoch() > 0);
    let wrong = TrainingSettings {
        select: SelectionCriterion::ValidationRegret,
        ..joined
    };
    let message = setting.train("SPO+", wrong).unwrap_err().to_string();
    assert!(message.contains("training-loss"), "{message}");
}

#[test]
fn an_empty_pool_is_named_with_what_to_do() {
    let setting = Setting::paths(1);
    let settings = OracleSettings {
        cache: Some(CacheSettings::new(0.0)),
        ..OracleSettings::default()
    };
    let empty = TrainingOracle::new(&setting.oracle, settings, 0).unwrap();
    let costs = vec![1.0; 24];
    let query = LossInput {
        instance: 3,
        costs: &costs,
        prediction: &costs,
        label: setting.data.optimal_decision(3),
        noise: NoiseKey::default(),
    };
    let evaluate = |label: &str| {
        let loss = label
            .parse::<LossSpec>()
            .unwrap()
            .build(&setting.data, &setting.oracle, &NoopObserver)
            .unwrap();
        let mut worker = empty.worker();
        worker.set_cache_action(regretless::oracle::CacheAction::Lookup);
        loss.evaluate(&query, &mut worker, &mut [0.0; 24])
            .unwrap_err()
    };
    for label in ["MAP", "NCE_c", "LTR(pair)"] {
        let message = evaluate(label).to_string();
        assert!(
            message.contains(label) && message.contains("pool is empty"),
            "{message}"
        );
        assert!(matches!(evaluate(label), Error::EmptyPool { .. }));
    }
    let error = evaluate("SPO+");
    assert!(
        matches!(
            error,
            Error::Solver {
                instance: 3,
                failure: SolveFailure::EmptySolutionPool
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("cache 5%"), "{error}");
}
