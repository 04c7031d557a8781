//! Every method on every kind of problem: it runs, with the same bytes on any number of threads, or
//! says what it misses.

use std::sync::Arc;

use regretless::Error;
use regretless::data::synthetic::{SyntheticSpec, grid_path};
use regretless::loss::LossSpec;
use regretless::method::{Method, TrainingStage};
use regretless::problem::{Benchmark, ProblemKind, ProblemSpec, Sense, TopK};
#[cfg(feature = "highs")]
use regretless::problem::{Cvrp, LinearBuilder, LinearProblem, VariableDomain};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::solve::SearchLimits;
use regretless::solve::relaxation::{CostRangeKind, Relaxation};

use crate::tests::setting::{Setting, quick};

/// Rows to train and validate on.
const ROWS: [usize; 3] = [6, 2, 0];

/// Every loss, and what may stand behind one.
fn methods() -> Vec<String> {
    let additions = [
        "MAE(C,O,S)",
        "MSE(O_S)",
        "MAE(O_S(exact),S)",
        "MSE(W(0.5))",
        "MSE(EIC(2))",
        "MSE(O) knn(2,0.5)",
        "SPO+ relax",
        "SPO+ relax tight labels relaxed",
        "PFYL(samples=2) cache 50%",
        "MAP cache 0%",
        "MAE(O,S) then SPO+ lr 0.01 epochs 1",
    ];
    // Enough steps to show that it runs: a whole search would solve a hundred times per row.
    let shorter = |label: String| {
        if label.starts_with("RF") {
            format!("{label}(steps=5)")
        } else {
            label
        }
    };
    let losses = LossSpec::examples()
        .unwrap()
        .iter()
        .map(LossSpec::to_string)
        .map(shorter)
        .collect::<Vec<_>>();
    losses
        .into_iter()
        .chain(additions.map(str::to_owned))
        .collect()
}

fn settings() -> TrainingSettings {
    TrainingSettings {
        epochs: 2,
        batch_size: 4,
        select: SelectionCriterion::ValidationLoss,
        ..quick()
    }
}

fn named(name: &str) -> [Setting; 2] {
    [1, 3].map(|threads| {
        let (problem, data) = name
            .parse::<Benchmark>()
            .unwrap()
            .generate(SyntheticSpec::paper(8, 2))
            .unwrap();
        Setting::new(problem, data, ROWS, threads)
    })
}

/// A problem without a name, with costs of the kind that paths have.
fn unnamed(problem: &Arc<dyn ProblemKind>, spec: &ProblemSpec) -> [Setting; 2] {
    [1, 3].map(|threads| {
        let data = grid_path(SyntheticSpec::paper(8, 2), problem.num_costs())
            .unwrap()
            .dataset()
            .unwrap();
        Setting::solved_as(Arc::clone(problem), spec.clone(), data, ROWS, threads)
    })
}

fn built(spec: &ProblemSpec) -> [Setting; 2] {
    unnamed(&spec.build().unwrap(), spec)
}

/// Six goods, two resources; whole numbers up to 3 of each good where it is a mixed-integer
/// problem.
#[cfg(feature = "highs")]
fn production(whole: bool) -> [Setting; 2] {
    let mut build = LinearBuilder::new("production", Sense::Maximize);
    let domain = if whole {
        VariableDomain::Integer([0.0, 3.0])
    } else {
        VariableDomain::Continuous([0.0, 3.0])
    };
    let goods: Vec<usize> = (0..6)
        .map(|good| build.predicted(format!("good {good}"), domain))
        .collect();
    for resource in 0..2 {
        let use_of = |good: &usize| (*good, 1.0 + ((3 * good + 5 * resource) % 4) as f64);
        build.row(
            [f64::NEG_INFINITY, 11.5 + resource as f64],
            goods.iter().map(use_of),
        );
    }
    let problem: LinearProblem = build.build().unwrap();
    let spec = ProblemSpec::TopK(TopK::new(6, 2, Sense::Maximize).unwrap());
    unnamed(&(Arc::new(problem) as Arc<dyn ProblemKind>), &spec)
}

/// What a problem must offer for a method, by asking the problem; `None` when it offers all.
fn misses(name: &str, setting: &Setting) -> Option<&'static str> {
    let Method::Stages(stages) = name.parse().unwrap() else {
        panic!("{name} is not a method of stages")
    };
    let method: &TrainingStage = &stages[0];
    let (problem, limits) = (setting.oracle.problem(), SearchLimits::default());
    let has_relaxation = |kind: Relaxation| problem.relaxation_solver(kind, &limits).is_some();
    let label = method.loss.to_string();
    let relaxations = [method.oracle.relaxation, method.labels.relaxed];
    if relaxations
        .into_iter()
        .flatten()
        .any(|kind| !has_relaxation(kind))
    {
        Some("a linear relaxation")
    } else if label.contains("CaVE") && !problem.has_vertex_decisions() {
        Some("decisions of zeros and ones")
    } else if label.contains("CaVE") && problem.cone(setting.data.optimal_decision(0)).is_none() {
        Some("the cone of binding constraints")
    } else if label.contains("LAVA") && problem.adjacent_vertices(&limits).is_none() {
        Some("adjacent vertices")
    } else if label.contains("O_S") && problem.cost_ranging(range_kind(&label), &limits).is_none() {
        Some("cost ranges")
    } else {
        None
    }
}

fn range_kind(label: &str) -> CostRangeKind {
    if label.contains("O_S(exact)") {
        CostRangeKind::Exact
    } else {
        CostRangeKind::Basis
    }
}

/// Runs all methods on a problem; returns how many of them ran.
fn run_all([one, three]: &[Setting; 2]) -> usize {
    let problem = one.oracle.problem().name();
    let mut ran = 0;
    for label in methods() {
        let outcome = one.train(&label, settings());
        match misses(&label, one) {
            None => {
                let model = outcome
                    .unwrap_or_else(|error| panic!("{label} on {problem}: {error}"))
                    .model;
                let other = three.train(&label, settings()).unwrap().model;
                assert!(
                    model.to_bytes().unwrap() == other.to_bytes().unwrap(),
                    "{label} on {problem}: threads matter"
                );
                ran += 1;
            }
            Some(capability) => {
                let error = outcome
                    .err()
                    .unwrap_or_else(|| panic!("{label} ran on {problem} without {capability}"));
                assert!(
                    matches!(error, Error::Capability { .. }),
                    "{label} on {problem}: {error}"
                );
                let message = error.to_string();
                let loss = label.split_whitespace().next().unwrap();
                assert!(
                    message.contains(loss) && message.contains(&problem),
                    "{message}"
                );
                assert!(
                    message.contains(capability) && message.contains("use "),
                    "{message}"
                );
            }
        }
    }
    ran
}

#[test]
fn every_method_runs_on_paths() {
    let without_basis = usize::from(cfg!(not(feature = "highs")));
    assert_eq!(
        run_all(&named("SP3x3")),
        methods().len() - without_basis,
        "a basis comes from HiGHS"
    );
}

#[test]
fn every_method_runs_on_knapsacks() {
    assert!(
        run_all(&named("KS6")) >= methods().len() - 1,
        "all but exact cost ranges"
    );
}

#[test]
fn every_method_runs_on_choices() {
    let spec = ProblemSpec::TopK(TopK::new(6, 2, Sense::Maximize).unwrap());
    assert_eq!(run_all(&built(&spec)), methods().len());
}

#[test]
fn every_method_runs_on_tours_or_says_what_it_misses() {
    assert!(run_all(&named("TSP5")) >= methods().len() - 10);
}

#[cfg(feature = "highs")]
#[test]
fn every_method_runs_on_routes_or_says_what_it_misses() {
    let demands = vec![3.0, 4.0, 2.0, 3.0];
    let spec = ProblemSpec::Cvrp(Cvrp::new(demands, 8.0, 2).unwrap());
    assert!(run_all(&built(&spec)) >= methods().len() - 12);
}

#[cfg(feature = "highs")]
#[test]
fn every_method_runs_on_a_linear_programme_or_says_what_it_misses() {
    assert!(
        run_all(&production(false)) >= methods().len() - 1,
        "all but exact cost ranges"
    );
}

#[cfg(feature = "highs")]
#[test]
fn every_method_runs_on_a_mixed_integer_programme_or_says_what_it_misses() {
    assert!(
        run_all(&production(true)) >= methods().len() - 7,
        "all but exact cost ranges and cones"
    );
}

#[test]
fn every_method_lowers_the_validation_regret_of_the_untrained_model() {
    let (problem, data) = "SP5x5"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(200, 3))
        .unwrap();
    let setting = Setting::new(problem, data, [128, 72, 0], 1);
    for label in methods()
        .into_iter()
        .filter(|label| misses(label, &setting).is_none())
    {
        let rounds = setting
            .train(
                &label,
                TrainingSettings {
                    epochs: 6,
                    ..quick()
                },
            )
            .unwrap()
            .report
            .rounds;
        let regret =
            |round: usize, epoch: usize| rounds[round].epochs[epoch].validation_regret.unwrap();
        let (first, last) = (
            regret(0, 0),
            regret(rounds.len() - 1, rounds[rounds.len() - 1].best_epoch),
        );
        assert!(
            last < first,
            "{label}: {last} after training, {first} before"
        );
    }
}
