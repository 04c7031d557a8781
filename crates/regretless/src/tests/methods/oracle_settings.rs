//! Oracle settings: how solver calls are handled (exact, relaxed, cached) and counted.

use std::sync::Arc;

use regretless::loss::{LossInput, LossSpec, NoiseKey};
use regretless::observer::NoopObserver;
use regretless::oracle::{CacheSettings, OracleSettings, SolveCounts, TrainingOracle};
use regretless::problem::{GridPath, KindCapabilities, ProblemKind, Sense, Sensitivity};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::solve::relaxation::{Relaxation, RelaxationSolver};
use regretless::solve::{SearchLimits, Solution, SolveFailure, Solver};
use regretless::{Decision, Error, SolvePlace};

use crate::tests::fixture::{TrainingFixture, quick_settings};

/// Rows of [`TrainingFixture::grid_paths`].
const TRAINING_ROWS: u64 = 160;
const VALIDATION_ROWS: u64 = 40;
const ALL_ROWS: u64 = 260;
/// Epochs of [`last_epoch_settings`].
const EPOCHS: u64 = 3;
/// Batch size of [`quick_settings`].
const BATCH_SIZE: u64 = 32;

/// Keeps the last epoch, so epochs are not evaluated.
fn last_epoch_settings() -> TrainingSettings {
    TrainingSettings {
        epochs: EPOCHS as usize,
        select: SelectionCriterion::Last,
        ..quick_settings()
    }
}

fn solves(fixture: &TrainingFixture, method: &str) -> SolveCounts {
    fixture
        .train(method, last_epoch_settings())
        .unwrap()
        .report
        .solves
}

/// Grid paths with a relaxation, which is integral. They have no other capability.
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

    fn check(&self, decision: &Decision) -> Result<(), String> {
        self.0.check(decision)
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities {
            sensitivity: self,
            ..KindCapabilities::NONE
        }
    }
}

impl Sensitivity for RelaxedPath {
    fn relaxation_solver(
        &self,
        kind: Relaxation,
        limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        (kind == Relaxation::Plain).then(|| {
            Box::new(ExactAsRelaxation(self.0.solver(limits))) as Box<dyn RelaxationSolver>
        })
    }
}

/// The exact solver as the solver of the relaxation.
struct ExactAsRelaxation(Box<dyn Solver>);

impl RelaxationSolver for ExactAsRelaxation {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.0.solve(costs)
    }
}

pub fn relaxed_paths() -> TrainingFixture {
    let path = RelaxedPath(GridPath::new(4, 4).unwrap());
    let (problem, data) = TrainingFixture::grid_path_data();
    TrainingFixture::with_oracle_problem(Arc::new(path), problem, data, [160, 40, 60], 1)
}

/// Solves during training as in Table 1 of the paper, without those for labels. With t epochs and n
/// training rows: t·n for SPO+ and MAP, t·n per sample for PFYL, times the solve ratio with a
/// cache; relaxed solves with `relax`; none for O and S; one per training and validation row for C.
#[test]
fn solves_are_those_of_the_papers_table() {
    let fixture = TrainingFixture::grid_paths(2);
    let exact = |count| SolveCounts {
        exact: count,
        ..SolveCounts::default()
    };
    for (method, count) in [
        ("SPO+", EPOCHS * TRAINING_ROWS),
        ("PFYL", EPOCHS * TRAINING_ROWS * 10),
        ("PFYL(samples=1)", EPOCHS * TRAINING_ROWS),
        ("MAP", EPOCHS * TRAINING_ROWS),
        ("LTR(list)", EPOCHS * TRAINING_ROWS),
        ("MAP cache 0%", 0),
        ("NCE_c cache 100%", EPOCHS * TRAINING_ROWS),
        ("PG", EPOCHS * TRAINING_ROWS * 2),
        ("DBB", EPOCHS * TRAINING_ROWS * 2),
        ("NID", EPOCHS * TRAINING_ROWS),
        ("DPO(samples=4)", EPOCHS * TRAINING_ROWS * 4),
        ("I-MLE(samples=4)", EPOCHS * TRAINING_ROWS * 8),
        ("I-MLE(samples=4,central)", EPOCHS * TRAINING_ROWS * 12),
        ("MAE(O,S)", 0),
        ("MAE(C,O,S)", TRAINING_ROWS + VALIDATION_ROWS),
        // knn: one more solve per training row, for its robust label.
        ("MSE(O) knn(3,0.5)", TRAINING_ROWS),
    ] {
        assert_eq!(solves(&fixture, method), exact(count), "{method}");
    }
}

#[test]
fn relaxed_solves_are_counted_as_such_and_used_by_the_loss() {
    let fixture = relaxed_paths();
    let relaxed = SolveCounts {
        relaxed: EPOCHS * TRAINING_ROWS,
        ..SolveCounts::default()
    };
    assert_eq!(solves(&fixture, "SPO+ relax"), relaxed);
    let networks = |method: &str| {
        fixture
            .train(method, last_epoch_settings())
            .unwrap()
            .model
            .networks
    };
    assert_eq!(
        networks("SPO+ relax"),
        networks("SPO+"),
        "an integral relaxation has the solutions of the problem itself"
    );
    let with_cache = solves(&fixture, "SPO+ relax cache 50%");
    assert_eq!(with_cache.exact, 0);
    assert_eq!(
        with_cache.relaxed + with_cache.cache_hits,
        EPOCHS * TRAINING_ROWS
    );
}

#[test]
fn a_missing_relaxation_is_an_error_with_a_remedy() {
    let error = relaxed_paths()
        .train("PFYL relax tight", quick_settings())
        .unwrap_err();
    assert!(matches!(error, Error::Capability { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("PFYL relax tight") && message.contains("leave out 'relax'"),
        "{message}"
    );
}

#[test]
fn cones_and_adjacent_vertices_are_counted_and_their_absence_is_an_error() {
    let fixture = TrainingFixture::grid_paths(1);
    let projected = SolveCounts {
        projected: EPOCHS * TRAINING_ROWS,
        ..SolveCounts::default()
    };
    assert_eq!(solves(&fixture, "CaVE"), projected);
    if cfg!(feature = "clarabel") {
        assert_eq!(solves(&fixture, "CaVE+"), projected);
    }
    // CaVE(hybrid) projects a random 30 % of the rows.
    let projected_fraction =
        solves(&fixture, "CaVE(hybrid)").projected as f64 / (EPOCHS * TRAINING_ROWS) as f64;
    assert!(
        (0.2..0.4).contains(&projected_fraction),
        "{projected_fraction}"
    );
    assert_eq!(
        solves(&fixture, "LAVA"),
        SolveCounts {
            relaxed: ALL_ROWS,
            ..SolveCounts::default()
        }
    );
    for method in ["CaVE", "LAVA"] {
        let error = relaxed_paths()
            .train(method, last_epoch_settings())
            .unwrap_err();
        assert!(matches!(error, Error::Capability { .. }), "{error}");
        assert!(
            error.to_string().contains(method) && error.to_string().contains("MAE(O,S)"),
            "{error}"
        );
    }
}

#[test]
fn a_cache_keeps_its_solve_ratio_and_looks_up_the_other_solutions() {
    let fixture = TrainingFixture::grid_paths(1);
    let solver_calls = EPOCHS * TRAINING_ROWS;
    assert_eq!(
        solves(&fixture, "SPO+ cache 0%"),
        SolveCounts {
            cache_hits: solver_calls,
            ..SolveCounts::default()
        }
    );
    assert_eq!(
        solves(&fixture, "SPO+ cache 100%"),
        SolveCounts {
            exact: solver_calls,
            ..SolveCounts::default()
        }
    );
    // Solves are drawn per batch, or per instance with a smaller spread.
    for (method, min, max) in [
        ("SPO+ cache 40%", 0.1, 0.7),
        ("SPO+ cache 40% per-instance", 0.33, 0.47),
    ] {
        let counts = solves(&fixture, method);
        assert_eq!(counts.exact + counts.cache_hits, solver_calls, "{method}");
        let solve_ratio = counts.exact as f64 / solver_calls as f64;
        assert!(
            (min..=max).contains(&solve_ratio),
            "{method}: {solve_ratio}"
        );
        let solves_whole_batches = counts.exact.is_multiple_of(BATCH_SIZE);
        assert_eq!(
            solves_whole_batches,
            !method.contains("instance"),
            "{method}: {} solves",
            counts.exact
        );
    }
}

#[test]
fn epochs_of_a_cached_method_are_evaluated_with_the_solution_pool() {
    let fixture = TrainingFixture::grid_paths(1);
    let settings = TrainingSettings {
        epochs: 2,
        select: SelectionCriterion::ValidationLoss,
        ..quick_settings()
    };
    // The untrained model and two epochs.
    let evaluations = 3 * VALIDATION_ROWS;
    let counts = |method: &str| fixture.train(method, settings).unwrap().report.solves;
    assert_eq!(
        counts("SPO+ cache 100%"),
        SolveCounts {
            exact: 2 * TRAINING_ROWS,
            cache_hits: evaluations,
            ..SolveCounts::default()
        }
    );
    assert_eq!(counts("SPO+").exact, 2 * TRAINING_ROWS + evaluations);
    assert_eq!(
        counts("MAP").total(),
        2 * TRAINING_ROWS,
        "MAP evaluates the validation rows against its pool, without solves"
    );
}

#[test]
fn training_with_a_small_pool_reduces_regret() {
    let fixture = TrainingFixture::grid_paths(1);
    let untrained = fixture.untrained_regret("SPO+");
    for method in [
        "SPO+ cache 5%",
        "SPO+ cache 0%",
        "MAP cache 0%",
        "SPO+ cache 20% capacity 5",
    ] {
        let regret = fixture
            .evaluate_test_rows(&fixture.train(method, quick_settings()).unwrap().model)
            .regret;
        assert!(
            regret < untrained,
            "{method}: {regret}, untrained {untrained}"
        );
    }
}

#[test]
fn validation_rows_that_are_trained_on_cannot_select_the_epoch() {
    let fixture = TrainingFixture::grid_paths(1);
    let with_validation_rows_settings = TrainingSettings {
        epochs: 2,
        ..quick_settings()
    }
    .with_validation_rows();
    let trained = fixture
        .train("SPO+", with_validation_rows_settings)
        .unwrap();
    assert_eq!(
        trained.report.solves.total(),
        2 * (TRAINING_ROWS + VALIDATION_ROWS)
    );
    assert!(trained.report.best_epoch() > 0);
    let by_validation_regret = TrainingSettings {
        select: SelectionCriterion::ValidationRegret,
        ..with_validation_rows_settings
    };
    let message = fixture
        .train("SPO+", by_validation_regret)
        .unwrap_err()
        .to_string();
    assert!(message.contains("training-loss"), "{message}");
}

#[test]
fn an_empty_pool_is_an_error_with_a_remedy() {
    let fixture = TrainingFixture::grid_paths(1);
    let settings = OracleSettings {
        cache: Some(CacheSettings::new(0.0)),
        ..OracleSettings::default()
    };
    let oracle_with_empty_pool = TrainingOracle::new(&fixture.oracle, settings, 0).unwrap();
    let costs = vec![1.0; 24];
    let input = LossInput {
        instance: 3,
        costs: &costs,
        prediction: &costs,
        label: fixture.data.optimal_decision(3),
        noise: NoiseKey::default(),
    };
    let evaluate = |loss_name: &str| {
        let loss = loss_name
            .parse::<LossSpec>()
            .unwrap()
            .build(&fixture.data, &fixture.oracle, &NoopObserver)
            .unwrap();
        let mut worker = oracle_with_empty_pool.worker();
        worker.set_cache_action(regretless::oracle::CacheAction::Lookup);
        loss.evaluate(&input, &mut worker, &mut [0.0; 24])
            .unwrap_err()
    };
    for loss_name in ["MAP", "NCE_c", "LTR(pair)"] {
        let message = evaluate(loss_name).to_string();
        assert!(
            message.contains(loss_name) && message.contains("pool is empty"),
            "{message}"
        );
        assert!(matches!(evaluate(loss_name), Error::EmptyPool { .. }));
    }
    let error = evaluate("SPO+");
    assert!(
        matches!(
            error,
            Error::Solver {
                place: SolvePlace::Row(3),
                failure: SolveFailure::EmptySolutionPool
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("cache 5%"), "{error}");
}
