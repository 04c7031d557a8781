//! `auto` returns the average of the best candidates, on any number of threads, and keeps its time
//! budget.

use regretless::Result;
use regretless::data::synthetic::SyntheticSpec;
use regretless::evaluate::{MissingPredictions, regrets};
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::problem::Benchmark;
use regretless::report::CandidateReport;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::trainer::{Trainer, TrainingOutcome};

use crate::tests::fixture::{TrainingFixture, quick_settings};

fn benchmark_fixture(name: &str, threads: usize) -> TrainingFixture {
    let (problem, data) = name
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(150, 5))
        .unwrap();
    TrainingFixture::new(problem, data, [80, 40, 30], threads)
}

fn train_candidates(fixture: &TrainingFixture, method: Method) -> Result<TrainingOutcome> {
    let trainer = Trainer::new(method).settings(quick_settings());
    trainer.train(&fixture.context(), &fixture.problem, None)
}

fn train_auto(fixture: &TrainingFixture) -> TrainingOutcome {
    // Long enough for all folds of the slowest fixture.
    let auto: Method = "auto 60s".parse().unwrap();
    train_candidates(fixture, auto).unwrap()
}

fn validation_regret(fixture: &TrainingFixture, model: &CostModel) -> f64 {
    let rows = &fixture.split.validation;
    let predictions = model.predict_instances(&fixture.data, rows).unwrap();
    let regrets = regrets(
        &predictions,
        MissingPredictions::Refused,
        &fixture.data,
        rows,
        &fixture.oracle,
        &NoopObserver,
    )
    .unwrap();
    regrets.iter().sum::<f64>() / regrets.len() as f64
}

#[test]
fn the_best_candidate_of_all_folds_is_part_of_the_model() {
    let mut names = vec!["SP4x4", "KS10", "TSP7"];
    if cfg!(feature = "highs") {
        names.push("CVRP8");
    }
    for name in names {
        let fixture = benchmark_fixture(name, 1);
        let trained = train_auto(&fixture);
        let search = trained.report.search.unwrap();
        let complete: Vec<&CandidateReport> = trained
            .report
            .candidates
            .iter()
            .filter(|candidate| candidate.folds == search.folds && candidate.regret.is_some())
            .collect();
        assert!(
            complete.len() >= 4,
            "{name}: {:?}",
            trained.report.candidates
        );
        let best = complete
            .iter()
            .min_by(|a, b| a.regret.unwrap().total_cmp(&b.regret.unwrap()))
            .unwrap();
        assert!(
            best.is_chosen || search.is_least_squares,
            "{name}: {best:?}"
        );
        // Rows in order: fewer than 60 have no interval.
        assert!(search.rows >= 60, "{name}: {}", search.rows);
        if let Some([lower, upper]) = search.interval {
            assert!(lower < search.expected_regret && search.expected_regret < upper);
        }
        assert_eq!(
            search.is_least_squares,
            search.least_squares_regret == Some(search.expected_regret)
        );
        for candidate in trained
            .report
            .candidates
            .iter()
            .filter(|candidate| candidate.is_chosen)
        {
            assert_eq!(candidate.folds, search.folds, "{candidate:?}");
        }
    }
}

#[test]
fn methods_of_the_user_are_candidates_with_their_settings() {
    let fixture = benchmark_fixture("KS10", 1);
    let method = "auto with MAE(O,S) epochs 2 then MSE(O_S) lr 0.02 or NCE";
    let trained = train_candidates(&fixture, method.parse().unwrap()).unwrap();
    let names: Vec<&str> = trained
        .report
        .candidates
        .iter()
        .map(|candidate| candidate.method.as_str())
        .collect();
    for part in ["MAE(O,S) lr 0.2 epochs 2 ", "MSE(O_S) lr 0.02", "NCE lr"] {
        let with_part = names.iter().filter(|name| name.contains(part));
        // A linear predictor and a network.
        assert!(with_part.count() >= 2, "{part}: {names:?}");
    }
    // A candidate that the problem cannot serve is refused by name before anything is trained.
    let method: Method = "auto with CaVE(inner) or MSE(E)".parse().unwrap();
    let error = train_candidates(&fixture, method).unwrap_err();
    assert!(error.to_string().contains("MSE(E)"), "{error}");
    let method: Method = "auto 1s solve 5s with MSE".parse().unwrap();
    let error = train_candidates(&fixture, method).unwrap_err();
    assert!(error.to_string().contains("more seconds"), "{error}");
}

/// With one fold the scored rows are the validation rows.
#[test]
fn the_reported_regret_of_a_candidate_is_that_of_training_it_alone() {
    let fixture = benchmark_fixture("KS10", 1);
    let auto: Method = "auto 20s solve 0.005s".parse().unwrap();
    let trained = train_candidates(&fixture, auto).unwrap();
    assert_eq!(trained.report.search.unwrap().folds, 1);
    let alone_settings = TrainingSettings {
        select: SelectionCriterion::Last,
        ..quick_settings()
    };
    let mut compared = 0;
    for candidate in &trained.report.candidates {
        let Ok(method) = candidate.method.parse::<Method>() else {
            assert!(
                candidate.method.contains("least squares") || candidate.method.contains("ridge")
            );
            continue;
        };
        if candidate.method.contains("(C") {
            // Instance costs need no validation rows here, and have some there.
            continue;
        }
        let trainer = Trainer::new(method)
            .predictor(candidate.predictor.parse().unwrap())
            .settings(alone_settings);
        let model = fixture.run(&trainer).unwrap().model;
        let regret = validation_regret(&fixture, &model);
        assert_eq!(Some(regret), candidate.regret, "{}", candidate.method);
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}

/// The average of linear models is one linear model; a free choice may have networks.
#[test]
fn a_linear_predictor_stays_one_linear_model() {
    let fixture = benchmark_fixture("SP4x4", 1);
    let auto: Method = "auto".parse().unwrap();
    let trainer = Trainer::new(auto)
        .predictor(PredictorSpec::Linear)
        .settings(quick_settings());
    let trained = fixture.run(&trainer).unwrap();
    assert_eq!(trained.model.architecture(), "linear");
    assert_eq!(trained.model.networks.len(), 1);
    assert!(
        trained
            .report
            .candidates
            .iter()
            .all(|candidate| candidate.predictor == "linear")
    );
}

/// Validation rows are evaluated by models that were not trained on them, so the outcome does not
/// depend on the costs of a row's own fold.
#[test]
fn validation_regret_is_that_of_models_that_did_not_see_the_rows() {
    let fixture = benchmark_fixture("SP4x4", 1);
    let trainer = Trainer::new("auto".parse::<Method>().unwrap()).settings(quick_settings());
    let outcome = trainer
        .fit_and_evaluate(&fixture.context(), &fixture.problem, None)
        .unwrap();
    assert!(outcome.report.search.is_some_and(|search| search.folds > 1));
    let held_out = outcome.validation.unwrap();
    assert_eq!(held_out.instances, fixture.split.validation.len());
    let seen = validation_regret(&fixture, &outcome.model);
    assert!(held_out.regret > seen, "{} {seen}", held_out.regret);
}

#[test]
fn the_winner_is_the_same_on_any_number_of_threads() {
    for name in ["KS10", "TSP7"] {
        let (one, three) = (
            train_auto(&benchmark_fixture(name, 1)),
            train_auto(&benchmark_fixture(name, 3)),
        );
        assert_eq!(one.model, three.model, "{name}");
        let regrets_by_method = |candidates: &[CandidateReport]| {
            candidates
                .iter()
                .map(|candidate| (candidate.method.clone(), candidate.regret))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            regrets_by_method(&one.report.candidates),
            regrets_by_method(&three.report.candidates),
            "{name}"
        );
    }
}

#[test]
fn without_validation_rows_auto_is_an_error() {
    let mut fixture = benchmark_fixture("KS10", 1);
    fixture.split.validation.clear();
    let auto: Method = "auto".parse().unwrap();
    let error = train_candidates(&fixture, auto).unwrap_err();
    assert!(error.to_string().contains("validation rows"), "{error}");
}

#[test]
fn the_solves_of_all_candidates_are_reported() {
    let fixture = benchmark_fixture("KS10", 1);
    let before = fixture.oracle.counts();
    let trained = train_auto(&fixture);
    let candidates = &trained.report.candidates;
    assert_eq!(trained.report.solves, fixture.oracle.counts() - before);
    // Every candidate is scored on a fold of 24 rows at least.
    assert!(
        trained.report.solves.total() >= 24 * candidates.len() as u64,
        "{:?}",
        trained.report.solves
    );
}

#[cfg(feature = "highs")]
mod linear {
    use std::sync::Arc;

    use regretless::data::{Dataset, FeatureShape, Features, Matrix};
    use regretless::decision::Decision;
    use regretless::label::LabelStore;
    use regretless::method::Method;
    use regretless::observer::NoopObserver;
    use regretless::oracle::Oracle;
    use regretless::problem::{
        ExternalProblem, LinearArrays, LinearColumn, LinearRow, ProblemKind, ProblemSpec, Sense,
    };
    use regretless::report::{CandidateReport, ScoringKind};
    use regretless::solve::{SearchLimits, Solution, SolveFailure, Solver};
    use regretless::trainer::TrainingOutcome;

    use crate::tests::fixture::TrainingFixture;

    /// A generalized assignment problem with 12 jobs and 5 machines, too large for the dense
    /// tableau search, so HiGHS solves it.
    fn assignment() -> ProblemSpec {
        let (machines, jobs) = (5, 12);
        let column = LinearColumn {
            name: None,
            lower: Some(0.0),
            upper: Some(1.0),
            integer: true,
            cost: None,
        };
        let mut rows = Vec::new();
        for job in 0..jobs {
            let entries = (0..machines)
                .map(|machine| (machine * jobs + job, 1.0))
                .collect();
            rows.push(LinearRow {
                lower: Some(1.0),
                upper: Some(1.0),
                entries,
            });
        }
        for machine in 0..machines {
            let entries = (0..jobs)
                .map(|job| {
                    (
                        machine * jobs + job,
                        (3 + (7 * job + 5 * machine) % 9) as f64,
                    )
                })
                .collect();
            rows.push(LinearRow {
                lower: None,
                upper: Some(21.0),
                entries,
            });
        }
        // Redundant rows make the model too large for the dense tableau search.
        for _ in 0..60 {
            rows.push(LinearRow {
                lower: None,
                upper: Some(100.0),
                entries: (0..machines * jobs).map(|j| (j, 1.0)).collect(),
            });
        }
        let columns = vec![column; machines * jobs];
        ProblemSpec::LinearArrays(LinearArrays {
            name: "jobs".into(),
            sense: Sense::Minimize,
            columns,
            rows,
        })
    }

    fn table(costs: usize, rows: usize) -> Dataset {
        let feature = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f32 / 11.0 - 1.0;
        let mut x = Vec::new();
        let mut c = Vec::new();
        for row in 0..rows {
            let features: Vec<f32> = (0..3).map(|j| feature(row, j)).collect();
            c.extend((0..costs).map(|j| {
                let weight = |k: usize| ((j * 13 + k * 7) % 11) as f32 - 5.0;
                20.0 + (0..3).map(|k| weight(k) * features[k]).sum::<f32>()
                    + ((row * 7 + j * 3) % 5) as f32
            }));
            x.extend(features);
        }
        let features =
            Features::new(Matrix::new(rows, 3, x).unwrap(), FeatureShape::Wide, None).unwrap();
        Dataset::new(features, Matrix::new(rows, costs, c).unwrap(), None).unwrap()
    }

    fn assignment_fixture(threads: usize) -> TrainingFixture {
        TrainingFixture::new(assignment(), table(60, 60), [30, 20, 10], threads)
    }

    fn train_auto_as(fixture: &TrainingFixture, method: &str) -> TrainingOutcome {
        let auto: Method = method.parse().unwrap();
        super::train_candidates(fixture, auto).unwrap()
    }

    #[test]
    fn counted_work_does_not_depend_on_threads_and_is_stored_with_the_labels() {
        let (one, three) = (assignment_fixture(1), assignment_fixture(3));
        assert!(one.oracle.work() > 0);
        assert_eq!(one.oracle.work(), three.oracle.work());
        let rows: Vec<usize> = (0..60).collect();
        let mean_work = one.data.mean_work(&rows).unwrap();
        assert_eq!(Some(mean_work), three.data.mean_work(&rows));
        let folder = tempfile::tempdir().unwrap();
        let store = LabelStore::for_table(&folder.path().join("table"));
        for _ in 0..2 {
            let oracle = Oracle::new(assignment().build().unwrap());
            let (labels, _) = store
                .label(table(60, 60), &assignment(), &oracle, &NoopObserver)
                .unwrap();
            assert_eq!(
                labels.mean_work(&rows),
                Some(mean_work),
                "solved in the first round, read from the store in the second"
            );
        }
    }

    #[test]
    fn a_budget_in_counted_work_is_not_exceeded() {
        let fixture = assignment_fixture(1);
        let seconds_per_solve = 1e-9 * fixture.data.mean_work(&fixture.split.train).unwrap();
        for solves in [3.0, 30.0, 1000.0, 20_000.0] {
            let budget = solves * seconds_per_solve;
            let before = fixture.oracle.work();
            let trained = train_auto_as(&fixture, &format!("auto {budget}s"));
            let candidates = &trained.report.candidates;
            let spent = 1e-9 * (fixture.oracle.work() - before) as f64;
            assert!(
                spent <= 1.5 * budget,
                "{spent} of {budget} s for {solves} solves: {candidates:?}"
            );
            assert!(trained.report.timed_solve_seconds.is_none());
            let expected = match solves as u64 {
                3 => vec![ScoringKind::Relaxed, ScoringKind::Unscored],
                30 => vec![ScoringKind::Relaxed],
                _ => vec![ScoringKind::Exact],
            };
            assert!(
                candidates
                    .iter()
                    .all(|candidate| expected.contains(&candidate.scoring)),
                "{solves}: {candidates:?}"
            );
        }
    }

    #[test]
    fn the_winner_is_the_same_on_any_number_of_threads() {
        let (one, three) = (assignment_fixture(1), assignment_fixture(3));
        for method in ["auto 0.5s", "auto 20s"] {
            let regrets_by_method = |candidates: &[CandidateReport]| {
                candidates
                    .iter()
                    .map(|candidate| (candidate.method.clone(), candidate.regret))
                    .collect::<Vec<_>>()
            };
            let (a, b) = (train_auto_as(&one, method), train_auto_as(&three, method));
            assert_eq!(a.model, b.model, "{method}");
            assert_eq!(
                regrets_by_method(&a.report.candidates),
                regrets_by_method(&b.report.candidates),
                "{method}"
            );
        }
    }

    /// Choice of the cheapest item, with a solver that does not count its work.
    #[derive(Debug)]
    struct CheapestItem;

    impl ProblemKind for CheapestItem {
        fn name(&self) -> String {
            "cheapest item".into()
        }

        fn sense(&self) -> Sense {
            Sense::Minimize
        }

        fn num_costs(&self) -> usize {
            4
        }

        fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
            Box::new(CheapestItemSolver)
        }

        fn check(&self, _decision: &Decision) -> Result<(), String> {
            Ok(())
        }
    }

    struct CheapestItemSolver;

    impl Solver for CheapestItemSolver {
        fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
            let min = (0..costs.len())
                .min_by(|a, b| costs[*a].total_cmp(&costs[*b]))
                .unwrap_or(0);
            Ok(Solution::optimal(
                Decision::from_indices([min as u32]),
                costs[min],
            ))
        }
    }

    fn external_fixture() -> TrainingFixture {
        let problem = ProblemSpec::External(ExternalProblem {
            name: "cheapest item".into(),
            sense: Sense::Minimize,
            costs: 4,
            cost_names: None,
        });
        TrainingFixture::with_oracle_problem(
            Arc::new(CheapestItem),
            problem,
            table(4, 60),
            [30, 20, 10],
            1,
        )
    }

    #[test]
    fn an_external_solver_is_planned_by_its_stated_seconds() {
        let fixture = external_fixture();
        let before = fixture.oracle.counts();
        let trained = train_auto_as(&fixture, "auto 20s solve 10s");
        let candidates = &trained.report.candidates;
        assert_eq!(candidates.len(), 1, "{candidates:?}");
        assert_eq!(
            (candidates[0].scoring, trained.report.solves.total()),
            (ScoringKind::Unscored, 0)
        );
        assert_eq!(
            fixture.oracle.counts(),
            before,
            "two solves would use the whole budget"
        );
        let trained = train_auto_as(&fixture, "auto 20s solve 0.001s");
        let candidates = &trained.report.candidates;
        assert!(
            candidates.len() >= 4 && trained.report.timed_solve_seconds.is_none(),
            "{candidates:?}"
        );
    }

    #[test]
    fn an_external_solver_without_stated_seconds_is_timed_and_reported() {
        let trained = train_auto_as(&external_fixture(), "auto 20s");
        let candidates = &trained.report.candidates;
        assert!(
            trained
                .report
                .timed_solve_seconds
                .is_some_and(|seconds| seconds > 0.0 && seconds < 1.0)
        );
        assert!(candidates.len() >= 4, "{candidates:?}");
    }
}
