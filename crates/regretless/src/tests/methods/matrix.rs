//! Every method on every kind of problem: training gives byte-identical models on any number of
//! threads, or an error that names the missing capability of the problem.

use std::sync::Arc;

use regretless::data::RowParameters;
use regretless::data::synthetic::{SyntheticSpec, grid_path};
use regretless::loss::{CostSensitiveSpec, LossSpec, Normalization};
use regretless::method::{Method, TrainingStage};
use regretless::problem::{Benchmark, EqualityConstraints, ProblemKind, ProblemSpec, Sense, TopK};
#[cfg(feature = "highs")]
use regretless::problem::{Cvrp, LinearBuilder, LinearProblem, VariableDomain};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::solve::SearchLimits;
use regretless::solve::relaxation::{CostRangeKind, Relaxation};
use regretless::{Error, Problem};
use serde_json::json;

use crate::tests::fixture::{TrainingFixture, quick_settings};

/// Training, validation and test rows.
const ROWS: [usize; 3] = [6, 2, 0];

/// Every loss, and losses with options of every kind.
fn methods() -> Vec<String> {
    let with_options = [
        "MAE(C,O,S)",
        "MAE(C,O,E)",
        "MSE(O_S)",
        "MAE(O_S(exact),S)",
        "MSE(O_S,E)",
        "MSE(W(0.5))",
        "MSE(EIC(2))",
        "MSE(O) knn(2,0.5)",
        "SPO+ relax",
        "SPO+ relax tight labels relaxed",
        "PFYL(samples=2) cache 50%",
        "MAP cache 0%",
        "MAE(O,S) then SPO+ lr 0.01 epochs 1",
    ];
    // A few Frank-Wolfe steps are enough; a complete run would solve a hundred times per row.
    let with_few_steps = |method_name: String| {
        if method_name.starts_with("RF") {
            format!("{method_name}(steps=5)")
        } else {
            method_name
        }
    };
    let losses = LossSpec::examples()
        .unwrap()
        .iter()
        .map(LossSpec::to_string)
        .map(with_few_steps)
        .collect::<Vec<_>>();
    losses
        .into_iter()
        .chain(with_options.map(str::to_owned))
        .collect()
}

fn settings() -> TrainingSettings {
    TrainingSettings {
        epochs: 2,
        batch_size: 4,
        select: SelectionCriterion::ValidationLoss,
        ..quick_settings()
    }
}

fn benchmark_fixtures(name: &str) -> [TrainingFixture; 2] {
    [1, 3].map(|threads| {
        let (problem, data) = name
            .parse::<Benchmark>()
            .unwrap()
            .generate(SyntheticSpec::paper(8, 2))
            .unwrap();
        TrainingFixture::new(problem, data, ROWS, threads)
    })
}

/// A problem that is not a benchmark, with costs generated as for grid paths.
fn fixtures_with(problem: &Arc<dyn ProblemKind>, spec: &ProblemSpec) -> [TrainingFixture; 2] {
    [1, 3].map(|threads| {
        let data = grid_path(SyntheticSpec::paper(8, 2), problem.num_costs())
            .unwrap()
            .dataset()
            .unwrap();
        TrainingFixture::with_oracle_problem(Arc::clone(problem), spec.clone(), data, ROWS, threads)
    })
}

fn fixtures_for(spec: &ProblemSpec) -> [TrainingFixture; 2] {
    fixtures_with(&spec.build().unwrap(), spec)
}

/// A production problem with six goods and two resources: up to 3 units of each good, integer or
/// continuous.
#[cfg(feature = "highs")]
fn production(is_integer: bool) -> [TrainingFixture; 2] {
    let mut build = LinearBuilder::new("production", Sense::Maximize);
    let domain = if is_integer {
        VariableDomain::Integer([0.0, 3.0])
    } else {
        VariableDomain::Continuous([0.0, 3.0])
    };
    let goods: Vec<usize> = (0..6)
        .map(|good| build.predicted(format!("good {good}"), domain))
        .collect();
    for resource in 0..2 {
        let consumption = |good: &usize| (*good, 1.0 + ((3 * good + 5 * resource) % 4) as f64);
        build.row(
            [f64::NEG_INFINITY, 11.5 + resource as f64],
            goods.iter().map(consumption),
        );
    }
    let problem: LinearProblem = build.build().unwrap();
    let spec = ProblemSpec::TopK(TopK::new(6, 2, Sense::Maximize).unwrap());
    fixtures_with(&(Arc::new(problem) as Arc<dyn ProblemKind>), &spec)
}

/// The first capability that a method needs and the problem does not have.
fn missing_capability(name: &str, fixture: &TrainingFixture) -> Option<&'static str> {
    let Method::Stages(stages) = name.parse().unwrap() else {
        panic!("{name} is not a method of stages")
    };
    let method: &TrainingStage = &stages[0];
    let (problem, limits) = (fixture.oracle.problem(), SearchLimits::default());
    let has_relaxation = |kind: Relaxation| {
        problem
            .sensitivity()
            .relaxation_solver(kind, &limits)
            .is_some()
    };
    let method_name = method.loss.to_string();
    let relaxations = [method.oracle.relaxation, method.labels.relaxed];
    if relaxations
        .into_iter()
        .flatten()
        .any(|kind| !has_relaxation(kind))
    {
        Some("a linear relaxation")
    } else if method_name.contains("CaVE") && !problem.geometry().has_vertex_decisions() {
        Some("decisions of zeros and ones")
    } else if method_name.contains("CaVE") && !problem.geometry().has_cones() {
        Some("the cone of binding constraints")
    } else if method_name.contains("LAVA")
        && problem.sensitivity().adjacent_vertices(&limits).is_none()
    {
        Some("adjacent vertices")
    } else if is_equality_invariant(&method.loss)
        && problem.geometry().equality_constraints() == EqualityConstraints::None
    {
        Some("equality constraints")
    } else if method_name.contains("O_S")
        && problem
            .sensitivity()
            .cost_ranging(range_kind(&method_name), &limits)
            .is_none()
    {
        Some("cost ranges")
    } else if method.labels.robust.is_some()
        && (problem.row_problems().has_known_costs() || problem.may_have_absent_costs())
    {
        Some("costs that are predicted as a whole")
    } else {
        None
    }
}

fn is_equality_invariant(loss: &LossSpec) -> bool {
    let spec = loss.downcast_ref::<CostSensitiveSpec>();
    spec.is_some_and(|spec| spec.normalization == Normalization::EqualityInvariant)
}

/// Methods that problems without equality constraints refuse.
fn num_equality_invariant() -> usize {
    let is_equality_invariant = |name: &&String| name.contains("E)");
    methods().iter().filter(is_equality_invariant).count()
}

fn range_kind(method_name: &str) -> CostRangeKind {
    if method_name.contains("O_S(exact)") {
        CostRangeKind::Exact
    } else {
        CostRangeKind::Basis
    }
}

/// What is missing is known before anything is solved, and when the loss is built.
fn check_before_training(method_name: &str, fixture: &TrainingFixture) {
    let (method, oracle): (Method, _) = (method_name.parse().unwrap(), &fixture.oracle);
    let solves_before = oracle.counts();
    let checked = method.check_problem(oracle);
    assert_eq!(
        oracle.counts(),
        solves_before,
        "{method_name} solved to be checked"
    );
    match missing_capability(method_name, fixture) {
        None => checked.unwrap_or_else(|error| panic!("{method_name}: {error}")),
        Some(capability) => {
            let message = checked.unwrap_err().to_string();
            assert!(message.contains(capability), "{method_name}: {message}");
            assert!(
                message.contains(method_name.split(' ').next().unwrap()),
                "{message}"
            );
        }
    }
}

/// Runs all methods on a problem; returns how many of them ran.
fn run_all([one_thread, three_threads]: &[TrainingFixture; 2]) -> usize {
    let problem = one_thread.oracle.problem().name();
    let mut num_runs = 0;
    for method_name in methods() {
        let outcome = one_thread.train(&method_name, settings());
        check_before_training(&method_name, one_thread);
        match missing_capability(&method_name, one_thread) {
            None => {
                let model = outcome
                    .unwrap_or_else(|error| panic!("{method_name} on {problem}: {error}"))
                    .model;
                let other = three_threads.train(&method_name, settings()).unwrap().model;
                assert!(
                    model.to_bytes().unwrap() == other.to_bytes().unwrap(),
                    "{method_name} on {problem}: the model depends on the number of threads"
                );
                num_runs += 1;
            }
            Some(capability) => {
                let error = outcome.err().unwrap_or_else(|| {
                    panic!("{method_name} ran on {problem} without {capability}")
                });
                assert!(
                    matches!(error, Error::Capability { .. }),
                    "{method_name} on {problem}: {error}"
                );
                let message = error.to_string();
                let loss = method_name.split_whitespace().next().unwrap();
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
    num_runs
}

#[test]
fn every_method_runs_on_paths() {
    // Basis cost ranges need HiGHS; some examples have them.
    let num_runs = run_all(&benchmark_fixtures("SP3x3"));
    if cfg!(not(feature = "highs")) {
        assert!(
            (1..=2).contains(&(methods().len() - num_runs)),
            "{num_runs}"
        );
        return;
    }
    assert_eq!(num_runs, methods().len(), "every method runs on paths");
}

#[test]
fn every_method_runs_on_knapsacks() {
    assert!(
        run_all(&benchmark_fixtures("KS6")) >= methods().len() - 1 - num_equality_invariant(),
        "all but exact cost ranges and equality constraints"
    );
}

#[test]
fn every_method_runs_on_top_k_problems() {
    let spec = ProblemSpec::TopK(TopK::new(6, 2, Sense::Maximize).unwrap());
    assert_eq!(run_all(&fixtures_for(&spec)), methods().len());
}

#[test]
fn every_method_runs_on_networks_and_storage_or_names_the_missing_capability() {
    let arcs = serde_json::json!([
        ["a", "b"],
        ["b", "c"],
        ["a", "c"],
        ["c", "b"],
        ["c", "d"],
        ["b", "d"]
    ]);
    let count = |loss: &str| {
        let all = methods();
        all.iter().filter(|method| method.starts_with(loss)).count()
    };
    let (cones, adjacent_vertices) = (count("CaVE"), count("LAVA"));
    assert!(adjacent_vertices > 0);
    for (spec, missing) in [
        (
            serde_json::json!({"kind": "graph_path", "arcs": arcs, "source": "a", "target": "d"}),
            0,
        ),
        (
            serde_json::json!({"kind": "graph_path", "grid": [2, 3], "neighbors": 8}),
            cones + adjacent_vertices + num_equality_invariant(),
        ),
        (
            serde_json::json!({"kind": "spanning_tree", "nodes": 4}),
            cones,
        ),
        (
            serde_json::json!({"kind": "storage", "steps": 6, "capacity": 2.0,
                "charge_limit": 1.0, "discharge_limit": 1.0, "charge_efficiency": 0.9}),
            cones + adjacent_vertices + num_equality_invariant(),
        ),
    ] {
        let name = spec.to_string();
        let spec = ProblemSpec::from_json(spec).unwrap();
        let found = run_all(&fixtures_for(&spec));
        assert_eq!(found, methods().len() - missing, "{name}");
    }
}

#[test]
fn every_method_runs_on_assignments_and_flows() {
    for spec in [
        json!({"kind": "assignment", "agents": 2, "tasks": 3}),
        json!({"kind": "transport", "supply": [4, 3], "demand": [2, 1, 3], "capacity": 2}),
        json!({"kind": "min_cost_flow", "supply": {"a": 3, "d": -3}, "capacity": 2,
            "arcs": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["a", "d"], ["b", "c"]]}),
    ] {
        let spec = ProblemSpec::from_json(spec).unwrap();
        assert_eq!(run_all(&fixtures_for(&spec)), methods().len());
    }
}

#[test]
fn every_method_runs_on_multiple_choice_knapsacks() {
    let spec = json!({"kind": "multiple_choice_knapsack", "weights": [[1, 3], [2, 4], [5, 1]],
        "capacity": 8});
    let spec = ProblemSpec::from_json(spec).unwrap();
    assert!(
        run_all(&fixtures_for(&spec)) >= methods().len() - 1,
        "all but exact cost ranges"
    );
}

#[test]
fn every_method_runs_on_assignments_and_flows_of_the_day() {
    let mut allowed = vec![1.0; 48];
    for absent in [1, 9, 14, 22, 31, 40] {
        allowed[absent] = 0.0;
    }
    let template = json!({"kind": "assignment", "agents": 2, "tasks": 3,
        "present": {"columns": "may"}});
    let fixtures = fixtures_per_row(template, &[("may", 6, allowed)]);
    assert_eq!(
        run_all(&fixtures),
        methods().len() - 1,
        "all but averaged costs"
    );
    let needs: Vec<f64> = (0..24).map(|i| f64::from(i % 4) * 0.5).collect();
    let template = json!({"kind": "transport", "supply": [4, 3], "destinations": 3,
        "demand": {"columns": "need"}});
    let fixtures = fixtures_per_row(template, &[("need", 3, needs)]);
    assert_eq!(run_all(&fixtures), methods().len());
}

#[test]
fn every_method_runs_on_a_function_or_names_the_missing_capability() {
    let cheapest = |costs: &[f64]| {
        let mut decision = vec![0.0; costs.len()];
        let best = (0..costs.len()).min_by(|i, j| costs[*i].total_cmp(&costs[*j]));
        decision[best?] = 1.0;
        Some(decision)
    };
    let problem = Problem::from_solver("cheapest", Sense::Minimize, 6, cheapest).unwrap();
    let num_runs = run_all(&fixtures_with(problem.kind(), problem.spec()));
    let has_needs = |name: &String| {
        ["relax", "CaVE", "LAVA", "O_S", "E)"]
            .iter()
            .any(|word| name.contains(word))
    };
    assert_eq!(
        num_runs,
        methods().iter().filter(|name| !has_needs(name)).count()
    );
}

#[test]
fn a_later_stage_that_the_problem_cannot_serve_is_refused_before_the_first_is_trained() {
    let [fixture, _] = benchmark_fixtures("TSP5");
    let error = fixture.train("SPO+ then LAVA", settings()).unwrap_err();
    assert!(matches!(error, Error::Capability { .. }), "{error}");
    assert_eq!(fixture.oracle.counts().total(), fixture.data.len() as u64);
}

#[test]
fn every_method_runs_on_tours_or_names_the_missing_capability() {
    assert!(run_all(&benchmark_fixtures("TSP5")) >= methods().len() - 10);
}

#[cfg(feature = "highs")]
#[test]
fn every_method_runs_on_routes_or_names_the_missing_capability() {
    let demands = vec![3.0, 4.0, 2.0, 3.0];
    let spec = ProblemSpec::Cvrp(Cvrp::new(demands, 8.0, 2).unwrap());
    assert!(run_all(&fixtures_for(&spec)) >= methods().len() - 12);
}

#[cfg(feature = "highs")]
#[test]
fn every_method_runs_on_a_linear_program_or_names_the_missing_capability() {
    assert!(
        run_all(&production(false)) >= methods().len() - 1 - num_equality_invariant(),
        "all but exact cost ranges and equality constraints"
    );
}

#[cfg(feature = "highs")]
#[test]
fn every_method_runs_on_a_mixed_integer_program_or_names_the_missing_capability() {
    assert!(
        run_all(&production(true)) >= methods().len() - 7 - num_equality_invariant(),
        "all but exact cost ranges, cones and equality constraints"
    );
}

/// A problem whose feasible sets differ between rows: `columns` have the given numbers per row.
fn fixtures_per_row(
    template: serde_json::Value,
    columns: &[(&str, usize, Vec<f64>)],
) -> [TrainingFixture; 2] {
    let spec = ProblemSpec::from_json(template).unwrap();
    let problem = spec.build().unwrap();
    [1, 3].map(|threads| {
        let data = grid_path(SyntheticSpec::paper(8, 2), problem.num_costs())
            .unwrap()
            .dataset()
            .unwrap();
        let mut parameters = RowParameters::new(8);
        for (name, width, values) in columns {
            parameters = parameters
                .with_column(*name, *width, Arc::new(values.clone()))
                .unwrap();
        }
        let data = data.with_parameters(parameters).unwrap();
        TrainingFixture::new(spec.clone(), data, ROWS, threads)
    })
}

#[test]
fn every_method_runs_on_knapsacks_of_the_day() {
    let capacities = vec![6.0, 9.0, 5.0, 7.5, 12.0, 6.0, 8.0, 9.0];
    let prices: Vec<f64> = (0..48).map(|i| f64::from(i % 5) * -0.1).collect();
    let mut present = vec![1.0; 48];
    for absent in [2, 7, 13, 22, 23, 31, 40] {
        present[absent] = 0.0;
    }
    let template = json!({"kind": "knapsack", "weights": [[3.0, 4.0, 5.0, 2.0, 6.0, 4.5]],
        "capacity": [{"column": "cap"}], "present": {"columns": "offer*"},
        "known": {"columns": "price*"}});
    let columns = [
        ("cap", 1, capacities),
        ("offer", 6, present),
        ("price", 6, prices),
    ];
    let runs = run_all(&fixtures_per_row(template, &columns));
    assert!(
        runs >= methods().len() - 2 - num_equality_invariant(),
        "all but exact cost ranges, averaged costs and equality constraints"
    );
}

#[test]
fn every_method_runs_on_tours_through_the_customers_of_the_day() {
    let mut visits = vec![1.0; 48];
    for absent in [1, 9, 15, 20, 27, 35, 44] {
        visits[absent] = 0.0;
    }
    let template = json!({"kind": "tsp", "nodes": 6, "present": {"columns": "visit*"}});
    let runs = run_all(&fixtures_per_row(template, &[("visit", 6, visits)]));
    assert!(runs >= methods().len() - 11, "{runs}");
}

#[cfg(feature = "highs")]
#[test]
fn every_method_runs_on_linear_programs_of_the_day() {
    let limits: Vec<f64> = (0..8).map(|row| 2.0 + f64::from(row) * 0.5).collect();
    let demands: Vec<f64> = (0..8).map(|row| 3.0 + f64::from(row % 3)).collect();
    let template = json!({"kind": "linear_arrays", "name": "plan", "sense": "minimize",
        "columns": [{"lower": 0.0, "upper": {"column": "limit"}}, {"lower": 0.0, "upper": 4.0},
            {"lower": 0.0, "upper": 2.0}, {"lower": 0.0, "upper": 5.0}],
        "rows": [{"lower": {"column": "demand"}, "upper": 9.0,
            "entries": [[0, 1.0], [1, 1.0], [2, 2.0], [3, 1.0]]}]});
    let columns = [("limit", 1, limits), ("demand", 1, demands)];
    let runs = run_all(&fixtures_per_row(template, &columns));
    assert!(
        runs >= methods().len() - 1 - num_equality_invariant(),
        "all but exact cost ranges and equality constraints"
    );
}

#[test]
fn every_method_lowers_the_validation_regret_of_the_untrained_model() {
    let (problem, data) = "SP5x5"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(200, 3))
        .unwrap();
    let fixture = TrainingFixture::new(problem, data, [128, 72, 0], 1);
    for method_name in methods()
        .into_iter()
        .filter(|method_name| missing_capability(method_name, &fixture).is_none())
    {
        let rounds = fixture
            .train(
                &method_name,
                TrainingSettings {
                    epochs: 6,
                    ..quick_settings()
                },
            )
            .unwrap()
            .report
            .rounds;
        let regret =
            |round: usize, epoch: usize| rounds[round].epochs[epoch].validation_regret.unwrap();
        let (before, after) = (
            regret(0, 0),
            regret(rounds.len() - 1, rounds[rounds.len() - 1].best_epoch),
        );
        assert!(
            after < before,
            "{method_name}: {after} after training, {before} before"
        );
    }
}
