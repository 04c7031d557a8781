//! `auto`: what it returns is the best of what it tried, whoever solves and on how many threads.

use regretless::Result;
use regretless::data::synthetic::SyntheticSpec as DataRecipe;
use regretless::evaluate::regrets;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::predict::CostModel;
use regretless::problem::Benchmark;
use regretless::report::CandidateReport;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::train::FitResult;
use regretless::trainer::Trainer;

use crate::tests::setting::{Setting, quick};

fn small(name: &str, threads: usize) -> Setting {
    let (problem, data) = name
        .parse::<Benchmark>()
        .unwrap()
        .generate(DataRecipe::paper(150, 5))
        .unwrap();
    Setting::new(problem, data, [80, 40, 30], threads)
}

fn race(setting: &Setting, method: Method) -> Result<(FitResult, Vec<CandidateReport>)> {
    let trainer = Trainer::new(method).settings(quick());
    let trained = trainer.train(&setting.task(), &setting.problem, None)?;
    let candidates = trained.candidates.clone();
    Ok((trained, candidates))
}

fn chosen(setting: &Setting) -> (FitResult, Vec<CandidateReport>) {
    let auto: Method = "auto".parse().unwrap();
    race(setting, auto).unwrap()
}

fn validation_regret(setting: &Setting, model: &CostModel) -> f64 {
    let rows = &setting.split.validation;
    let predictions = model.predict_instances(&setting.data, rows).unwrap();
    let regrets = regrets(
        &predictions,
        &setting.data,
        rows,
        &setting.oracle,
        &NoopObserver,
    )
    .unwrap();
    regrets.iter().sum::<f64>() / regrets.len() as f64
}

#[test]
fn no_competitor_has_less_regret_on_the_validation_rows_than_the_winner() {
    for name in ["SP4x4", "KS10", "TSP7", "CVRP8"] {
        let setting = small(name, 1);
        let (trained, tried) = chosen(&setting);
        let found = validation_regret(&setting, &trained.model);
        assert!(tried.len() >= 4, "{name}: {tried:?}");
        let min = tried
            .iter()
            .filter_map(|one| one.regret)
            .fold(f64::INFINITY, f64::min);
        assert!(
            (found - min).abs() <= 1e-9 * (1.0 + min),
            "{name}: {found} is not the least of {tried:?}"
        );
    }
}

#[test]
fn what_it_says_of_a_competitor_is_what_training_it_alone_gives() {
    let setting = small("KS10", 1);
    let (_, tried) = chosen(&setting);
    let alone = TrainingSettings {
        select: SelectionCriterion::ValidationLoss,
        ..quick()
    };
    for one in tried.iter().filter(|one| !one.method.contains("SPO+")) {
        let model = setting.train(&one.method, alone).unwrap().model;
        assert_eq!(
            Some(validation_regret(&setting, &model)),
            one.regret,
            "{}",
            one.method
        );
    }
}

#[test]
fn the_winner_is_the_same_on_any_number_of_threads() {
    for name in ["KS10", "TSP7"] {
        let (one, two) = (chosen(&small(name, 1)), chosen(&small(name, 3)));
        assert_eq!(one.0.model, two.0.model, "{name}");
        let told = |tried: &[CandidateReport]| {
            tried
                .iter()
                .map(|one| (one.method.clone(), one.regret))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&one.1), told(&two.1), "{name}");
    }
}

#[test]
fn the_name_of_the_winner_is_that_of_a_method_that_can_be_trained_alone() {
    let setting = small("SP4x4", 1);
    let (trained, tried) = chosen(&setting);
    assert!(
        tried
            .iter()
            .any(|one| one.method == trained.model.metadata.method),
        "{}: {tried:?}",
        trained.model.metadata.method
    );
    assert!(
        trained.model.metadata.method.parse::<Method>().is_ok(),
        "{}",
        trained.model.metadata.method
    );
}

#[test]
fn without_validation_rows_it_says_what_to_do() {
    let mut setting = small("KS10", 1);
    setting.split.validation.clear();
    let auto: Method = "auto".parse().unwrap();
    let error = race(&setting, auto).unwrap_err();
    assert!(error.to_string().contains("validation rows"), "{error}");
}

#[test]
fn the_solves_of_all_candidates_are_reported() {
    let setting = small("KS10", 1);
    let before = setting.oracle.counts();
    let (trained, tried) = chosen(&setting);
    assert_eq!(trained.report.solves, setting.oracle.counts() - before);
    // Every candidate is judged on all forty validation rows.
    assert!(
        trained.report.solves.total() >= 40 * tried.len() as u64,
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
        VariableBounds,
    };
    use regretless::report::{CandidateReport, ScoringKind};
    use regretless::solve::{SearchLimits, Solution, SolveFailure, Solver};
    use regretless::train::FitResult;

    use crate::tests::setting::Setting;

    /// A generalised assignment of 12 jobs to 5 machines, too wide for the search on small
    /// tableaus.
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
        // Rows that bind nothing take the model beyond the small search.
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

    fn jobs(threads: usize) -> Setting {
        Setting::new(assignment(), table(60, 60), [30, 20, 10], threads)
    }

    fn raced(setting: &Setting, label: &str) -> (FitResult, Vec<CandidateReport>) {
        let auto: Method = label.parse().unwrap();
        super::race(setting, auto).unwrap()
    }

    #[test]
    fn work_is_counted_alike_on_any_number_of_threads_and_kept_with_the_labels() {
        let (one, three) = (jobs(1), jobs(3));
        assert!(one.oracle.work() > 0);
        assert_eq!(one.oracle.work(), three.oracle.work());
        let rows: Vec<usize> = (0..60).collect();
        let counted = one.data.mean_work(&rows).unwrap();
        assert_eq!(Some(counted), three.data.mean_work(&rows));
        let folder = tempfile::tempdir().unwrap();
        let store = LabelStore::for_table(&folder.path().join("table"));
        for _ in 0..2 {
            let oracle = Oracle::new(assignment().build().unwrap());
            let (labels, _) = store
                .label(table(60, 60), &assignment(), &oracle, &NoopObserver)
                .unwrap();
            assert_eq!(labels.mean_work(&rows), Some(counted), "solved or read");
        }
    }

    #[test]
    fn a_budget_in_counted_work_is_kept() {
        let setting = jobs(1);
        let solve = 1e-9 * setting.data.mean_work(&setting.split.train).unwrap();
        for solves in [3.0, 30.0, 1000.0, 20_000.0] {
            let budget = solves * solve;
            let before = setting.oracle.work();
            let (trained, tried) = raced(&setting, &format!("auto {budget}s"));
            let spent = 1e-9 * (setting.oracle.work() - before) as f64;
            assert!(
                spent <= 1.5 * budget,
                "{spent} of {budget} s for {solves} solves: {tried:?}"
            );
            assert!(trained.report.timed_solve_seconds.is_none());
            let expected = match solves as u64 {
                3 => vec![ScoringKind::Relaxed, ScoringKind::Unscored],
                30 => vec![ScoringKind::Relaxed],
                _ => vec![ScoringKind::Exact],
            };
            assert!(
                tried.iter().all(|one| expected.contains(&one.scoring)),
                "{solves}: {tried:?}"
            );
        }
    }

    #[test]
    fn the_winner_is_the_same_on_any_number_of_threads() {
        let (one, three) = (jobs(1), jobs(3));
        for label in ["auto 0.5s", "auto 20s"] {
            let told = |tried: &[CandidateReport]| {
                tried
                    .iter()
                    .map(|one| (one.method.clone(), one.regret))
                    .collect::<Vec<_>>()
            };
            let (a, b) = (raced(&one, label), raced(&three, label));
            assert_eq!(a.0.model, b.0.model, "{label}");
            assert_eq!(told(&a.1), told(&b.1), "{label}");
        }
    }

    /// The cheapest item, by a solver that nobody can look into.
    #[derive(Debug)]
    struct Own;

    impl ProblemKind for Own {
        fn name(&self) -> String {
            "own".into()
        }
        fn sense(&self) -> Sense {
            Sense::Minimize
        }
        fn num_costs(&self) -> usize {
            4
        }
        fn bounds(&self) -> VariableBounds {
            VariableBounds::Binary
        }
        fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
            Box::new(Cheapest)
        }
        fn check(&self, _decision: &Decision) -> Result<(), String> {
            Ok(())
        }
    }

    struct Cheapest;

    impl Solver for Cheapest {
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

    fn own() -> Setting {
        let problem = ProblemSpec::External(ExternalProblem {
            name: "own".into(),
            sense: Sense::Minimize,
            costs: 4,
            cost_names: None,
        });
        Setting::solved_as(Arc::new(Own), problem, table(4, 60), [30, 20, 10], 1)
    }

    #[test]
    fn a_users_solver_is_planned_by_its_stated_seconds() {
        let setting = own();
        let before = setting.oracle.counts();
        let (trained, tried) = raced(&setting, "auto 20s solve 10s");
        assert_eq!(tried.len(), 1, "{tried:?}");
        assert_eq!(
            (tried[0].scoring, trained.report.solves.total()),
            (ScoringKind::Unscored, 0)
        );
        assert_eq!(
            setting.oracle.counts(),
            before,
            "two solves would have taken the whole budget"
        );
        let (trained, tried) = raced(&setting, "auto 20s solve 0.001s");
        assert!(
            tried.len() >= 4 && trained.report.timed_solve_seconds.is_none(),
            "{tried:?}"
        );
    }

    #[test]
    fn a_users_solver_that_was_timed_is_marked() {
        let (trained, tried) = raced(&own(), "auto 20s");
        assert!(
            trained
                .report
                .timed_solve_seconds
                .is_some_and(|seconds| seconds > 0.0 && seconds < 1.0)
        );
        assert!(tried.len() >= 4, "{tried:?}");
    }
}
