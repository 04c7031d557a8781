//! Solver calls during training: warm starts, certificates and heuristics, and their counts.

#[cfg(feature = "highs")]
use regretless::Decision;
use regretless::Error;
use regretless::data::synthetic::SyntheticSpec;
use regretless::label::LabeledDataset;
use regretless::oracle::{Oracle, SolveCounts};
#[cfg(feature = "highs")]
use regretless::problem::Cvrp;
use regretless::problem::{Benchmark, ProblemKind, Tsp};
use regretless::random::{Purpose, RandomStream};
use regretless::settings::{SelectionCriterion, TrainingSettings};
#[cfg(feature = "highs")]
use regretless::solve::complete_graph::edge_index;
use regretless::solve::{SearchLimits, SolveStatus};
use regretless::trainer::TrainingOutcome;

use crate::tests::fixture::{TrainingFixture, quick_settings};

const TRAINING_ROWS: u64 = 48;
const VALIDATION_ROWS: u64 = 16;
const EPOCHS: u64 = 4;

fn fixture(name: &str, threads: usize) -> TrainingFixture {
    let (problem, data) = name
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(80, 5))
        .unwrap();
    TrainingFixture::new(
        problem,
        data,
        [TRAINING_ROWS as usize, VALIDATION_ROWS as usize, 16],
        threads,
    )
}

/// A small learning rate, so costs drift little, with epochs evaluated by regret.
fn small_rate() -> TrainingSettings {
    let select = SelectionCriterion::ValidationRegret;
    TrainingSettings {
        epochs: EPOCHS as usize,
        learning_rate: 0.002,
        batch_size: 16,
        select,
        ..quick_settings()
    }
}

fn without_evaluation() -> TrainingSettings {
    TrainingSettings {
        select: SelectionCriterion::Last,
        ..small_rate()
    }
}

fn counts(fixture: &TrainingFixture, method: &str) -> SolveCounts {
    fixture
        .train(method, without_evaluation())
        .unwrap()
        .report
        .solves
}

/// Training loss and validation regret by epoch.
fn metrics_by_epoch(trained: &TrainingOutcome) -> Vec<(Option<f64>, Option<f64>)> {
    trained
        .report
        .rounds
        .iter()
        .flat_map(|round| &round.epochs)
        .map(|e| (e.training_loss, e.validation_regret))
        .collect()
}

#[test]
fn warm_starts_change_no_model_and_no_report() {
    for (benchmark, methods) in [
        (
            "TSP12",
            &[
                "SPO+",
                "PFYL(samples=3,sigma=0.05)",
                "DBB",
                "RFY(steps=8)",
                "MAP cache 50% per-instance",
            ][..],
        ),
        ("KS20", &["SPO+", "PG", "I-MLE(samples=2)"]),
        ("SP4x4", &["SPO+", "NCE"]),
    ] {
        let fixture = fixture(benchmark, 1);
        for method in methods {
            let plain = fixture.train(method, small_rate()).unwrap();
            for setting_words in ["warm", "certify", "warm certify", "warm certify memory 1MB"] {
                let warm = fixture
                    .train(&format!("{method} {setting_words}"), small_rate())
                    .unwrap();
                assert_eq!(
                    warm.model.networks, plain.model.networks,
                    "{benchmark} {method} {setting_words}"
                );
                assert_eq!(
                    metrics_by_epoch(&warm),
                    metrics_by_epoch(&plain),
                    "{benchmark} {method} {setting_words}"
                );
                assert_eq!(
                    warm.report.solves.total_calls(),
                    plain.report.solves.total_calls(),
                    "{benchmark} {method} {setting_words}"
                );
            }
        }
    }
}

#[cfg(feature = "highs")]
#[test]
fn warm_starts_of_relaxations_change_no_model() {
    let fixture = fixture("TSP10", 1);
    for method in ["SPO+ relax", "SPO+ relax tight"] {
        let plain = fixture.train(method, small_rate()).unwrap();
        let warm = fixture
            .train(&format!("{method} warm certify"), small_rate())
            .unwrap();
        assert_eq!(warm.model.networks, plain.model.networks, "{method}");
        assert_eq!(
            warm.report.solves.relaxed,
            EPOCHS * TRAINING_ROWS,
            "{method}"
        );
    }
}

#[test]
fn warm_starts_do_not_depend_on_the_number_of_threads() {
    for (benchmark, method) in [
        ("TSP12", "SPO+ warm certify"),
        ("TSP12", "PFYL(samples=3) warm certify memory 1MB"),
    ] {
        let one = fixture(benchmark, 1).train(method, small_rate()).unwrap();
        for threads in [2, 3] {
            let more = fixture(benchmark, threads)
                .train(method, small_rate())
                .unwrap();
            assert_eq!(
                more.model.networks, one.model.networks,
                "{method}, {threads} threads"
            );
            assert_eq!(
                more.report.solves, one.report.solves,
                "{method}, {threads} threads"
            );
        }
    }
}

#[test]
fn certificates_replace_solves_and_are_counted_separately() {
    let fixture = fixture("TSP12", 1);
    let solves = counts(&fixture, "SPO+ certify");
    assert_eq!(solves.exact + solves.certified, EPOCHS * TRAINING_ROWS);
    assert!(solves.certified > TRAINING_ROWS, "{solves:?}");
    assert_eq!(solves.total(), solves.exact, "a certificate is not a solve");
    assert_eq!(
        counts(&fixture, "SPO+ warm"),
        SolveCounts {
            exact: EPOCHS * TRAINING_ROWS,
            ..SolveCounts::default()
        }
    );
    let cached = counts(&fixture, "SPO+ cache 50% per-instance certify");
    assert_eq!(
        cached.exact + cached.certified + cached.cache_hits,
        EPOCHS * TRAINING_ROWS
    );
    assert!(
        cached.certified > 0 && cached.cache_hits > TRAINING_ROWS,
        "{cached:?}"
    );
}

#[test]
fn epochs_of_a_loss_without_solver_calls_are_evaluated_with_warm_starts_too() {
    let fixture = fixture("TSP12", 1);
    let plain = fixture.train("MAE(O,S)", small_rate()).unwrap();
    let warm = fixture
        .train("MAE(O,S) warm certify", small_rate())
        .unwrap();
    assert_eq!(metrics_by_epoch(&warm), metrics_by_epoch(&plain));
    assert_eq!(plain.report.solves.exact, (EPOCHS + 1) * VALIDATION_ROWS);
    assert_eq!(
        warm.report.solves.total_calls(),
        (EPOCHS + 1) * VALIDATION_ROWS
    );
    assert!(
        warm.report.solves.certified > VALIDATION_ROWS,
        "{:?}",
        warm.report.solves
    );
}

#[test]
fn a_small_memory_limit_disables_warm_starts() {
    let (problem, data) = "TSP40"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(2500, 5))
        .unwrap();
    let oracle = Oracle::new(problem.build().unwrap());
    let decision = oracle.worker().solve_row(data.costs().row(0)).unwrap();
    let labels = vec![decision; 2500];
    let data = LabeledDataset::from_decisions(data, &oracle, labels).unwrap();
    let split = regretless::data::SplitIndices::in_order(2500, [20, 0, 0]).unwrap();
    let fixture = TrainingFixture {
        problem,
        data,
        split,
        oracle,
    };
    let tiny_rate = TrainingSettings {
        learning_rate: 1e-9,
        epochs: 2,
        ..without_evaluation()
    };
    let certified = |method: &str| {
        fixture
            .train(method, tiny_rate)
            .unwrap()
            .report
            .solves
            .certified
    };
    assert_eq!(
        certified("SPO+ certify memory 1MB"),
        0,
        "1 MB divided among all rows is too little for the state of a tour"
    );
    assert!(certified("SPO+ certify") > 10);
}

#[test]
fn heuristic_solves_are_counted_separately() {
    let heuristic = SolveCounts {
        heuristic: EPOCHS * TRAINING_ROWS,
        ..SolveCounts::default()
    };
    let tsp = fixture("TSP12", 2);
    for method in [
        "SPO+ local-search",
        "SPO+ local-search:fast",
        "SPO+ local-search:from-label",
    ] {
        assert_eq!(counts(&tsp, method), heuristic, "{method}");
    }
    for benchmark in ["TSP12", "KS20", "SP4x4"] {
        assert_eq!(
            counts(&fixture(benchmark, 2), "SPO+ node-limit 1"),
            heuristic,
            "{benchmark}"
        );
    }
    let untrained = tsp.untrained_regret("SPO+");
    for method in [
        "SPO+ local-search",
        "SPO+ local-search:from-label",
        "SPO+ node-limit 1",
    ] {
        let regret = tsp
            .evaluate_test_rows(&tsp.train(method, quick_settings()).unwrap().model)
            .regret;
        assert!(
            regret < untrained,
            "{method}: {regret}, untrained {untrained}"
        );
    }
    let evaluated = tsp
        .train("SPO+ local-search", small_rate())
        .unwrap()
        .report
        .solves;
    assert_eq!(
        evaluated.exact,
        (EPOCHS + 1) * VALIDATION_ROWS,
        "regrets are always exact"
    );
}

#[test]
fn a_search_with_a_large_node_limit_is_exact() {
    let fixture = fixture("KS20", 1);
    let networks = |method: &str| {
        fixture
            .train(method, without_evaluation())
            .unwrap()
            .model
            .networks
    };
    assert_eq!(networks("SPO+ node-limit 100000"), networks("SPO+"));
}

#[test]
fn tours_of_local_search_are_feasible_and_not_better_than_the_optimum() {
    let mut num_suboptimal = 0;
    for number in 0..200 {
        let problem = Tsp::new(3 + number as usize % 40).unwrap();
        let mut stream = RandomStream::new(Purpose::Benchmark, 77, [number, 0]);
        let costs: Vec<f64> = (0..problem.num_costs())
            .map(|_| stream.uniform(-9.0, 4.0))
            .collect();
        let optimum = problem
            .solver(&SearchLimits::default())
            .solve(&costs)
            .unwrap();
        let fast = problem
            .capabilities()
            .solver_traits
            .fast_local_search(&SearchLimits::default())
            .unwrap()
            .solve(&costs)
            .unwrap();
        problem.check(&fast.decision).unwrap();
        assert!(fast.objective >= optimum.objective - 1e-9 && fast.bound <= optimum.objective);
        check_search_from_start(&problem, &costs, optimum.objective, &mut stream);
        let mut search = problem
            .capabilities()
            .solver_traits
            .local_search(&SearchLimits::default())
            .unwrap();
        let solution = search.solve(&costs).unwrap();
        problem.check(&solution.decision).unwrap();
        assert!(
            solution.objective >= optimum.objective - 1e-9
                && solution.bound <= optimum.objective + 1e-9
        );
        assert!(
            solution.status != SolveStatus::Optimal
                || (solution.objective - optimum.objective).abs() < 1e-9
        );
        assert!(
            solution.objective - optimum.objective < 0.15 * optimum.objective.abs(),
            "{solution:?}"
        );
        num_suboptimal += usize::from(solution.objective > optimum.objective + 1e-9);
    }
    assert!(
        num_suboptimal > 0,
        "if local search always finds the optimum, this test checks nothing"
    );
}

/// Local search from the optimum under other costs: a feasible decision that costs at most as much
/// as its start and at least as much as the optimum.
fn check_search_from_start(
    problem: &dyn ProblemKind,
    costs: &[f64],
    min: f64,
    stream: &mut RandomStream,
) {
    let other_costs: Vec<f64> = costs
        .iter()
        .map(|cost| cost + stream.uniform(-4.0, 4.0))
        .collect();
    let start = problem
        .solver(&SearchLimits::default())
        .solve(&other_costs)
        .unwrap()
        .decision;
    let solution = problem
        .solver_traits()
        .fast_local_search(&SearchLimits::default())
        .unwrap()
        .solve_from(costs, &start)
        .unwrap();
    problem.check(&solution.decision).unwrap();
    assert!((solution.decision.dot(costs) - solution.objective).abs() < 1e-9);
    assert!(
        solution.objective <= start.dot(costs) + 1e-9 && solution.objective >= min - 1e-9,
        "{solution:?}"
    );
    assert!(solution.bound <= min && solution.status == SolveStatus::LimitReached);
}

#[cfg(feature = "highs")]
#[test]
fn routes_of_local_search_are_feasible_and_not_better_than_the_optimum() {
    let mut num_suboptimal = [0, 0];
    for number in 0..60 {
        let customers = 4 + number as usize % 9;
        let mut stream = RandomStream::new(Purpose::Benchmark, 78, [number, 0]);
        let demands: Vec<f64> = (0..customers)
            .map(|_| 1.0 + stream.index_below(9) as f64)
            .collect();
        let capacity = demands.iter().sum::<f64>() / 2.0 + 9.0;
        let problem = Cvrp::new(demands, capacity, 3)
            .unwrap()
            .with_single_customer_routes(number % 2 == 0);
        let costs: Vec<f64> = (0..problem.num_costs())
            .map(|_| stream.uniform(-4.0, 9.0))
            .collect();
        let optimum = problem
            .solver(&SearchLimits::default())
            .solve(&costs)
            .unwrap();
        let searches = [
            problem
                .capabilities()
                .solver_traits
                .local_search(&SearchLimits::default()),
            problem
                .capabilities()
                .solver_traits
                .fast_local_search(&SearchLimits::default()),
        ];
        for (search, num_suboptimal) in searches.into_iter().zip(&mut num_suboptimal) {
            let solution = search.unwrap().solve(&costs).unwrap();
            problem.check(&solution.decision).unwrap();
            assert!((solution.decision.dot(&costs) - solution.objective).abs() < 1e-9);
            assert!(
                solution.objective >= optimum.objective - 1e-9
                    && solution.bound <= optimum.objective + 1e-9
            );
            let is_suboptimal = solution.objective > optimum.objective + 1e-9;
            assert!(
                solution.status != SolveStatus::Optimal || !is_suboptimal,
                "proven optimal, but not the optimum"
            );
            *num_suboptimal += usize::from(is_suboptimal);
        }
        check_search_from_start(&problem, &costs, optimum.objective, &mut stream);
    }
    assert!(
        num_suboptimal[0] <= num_suboptimal[1] && num_suboptimal[1] < 30,
        "{num_suboptimal:?}: the search with more perturbations finds better routes"
    );
}

#[test]
fn local_search_from_the_label_gives_another_model_than_from_scratch() {
    let tsp = fixture("TSP30", 1);
    let networks = |method: &str| {
        tsp.train(method, without_evaluation())
            .unwrap()
            .model
            .networks
    };
    for loss in ["SPO+", "MAP cache 50%"] {
        assert_ne!(
            networks(&format!("{loss} local-search:from-label")),
            networks(&format!("{loss} local-search:fast")),
            "{loss}"
        );
    }
    let refused = |method: &str| {
        tsp.train(method, without_evaluation())
            .unwrap_err()
            .to_string()
    };
    assert!(refused("SPO+ local-search:from-label labels relaxed").contains("integral decisions"));
}

/// An infeasible start (overloaded, or with unserved customers) is ignored.
#[cfg(feature = "highs")]
#[test]
fn local_search_from_an_infeasible_start_returns_a_feasible_decision() {
    let problem = Cvrp::new(vec![4.0, 5.0, 1.0, 3.0], 9.0, 2).unwrap();
    let costs: Vec<f64> = (0..10).map(|edge| f64::from(edge % 4)).collect();
    let mut search = problem
        .capabilities()
        .solver_traits
        .fast_local_search(&SearchLimits::default())
        .unwrap();
    let edge = |i, j| edge_index(5, i, j) as u32;
    let overloaded =
        Decision::from_indices([edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 4), edge(0, 4)]);
    assert!(problem.check(&overloaded).is_err());
    for start in [overloaded, Decision::default()] {
        let solution = search.solve_from(&costs, &start).unwrap();
        assert_eq!(problem.check(&solution.decision), Ok(()));
    }
}

#[test]
fn a_missing_local_search_is_an_error_with_an_alternative() {
    let error = fixture("KS20", 1)
        .train("SPO+ local-search", quick_settings())
        .unwrap_err();
    assert!(matches!(error, Error::Capability { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("SPO+ local-search needs a local search")
            && message.contains("node-limit 100"),
        "{message}"
    );
}

/// Table 1 of the paper without precomputed labels: n* solves for the labels of all rows and t·n
/// for t epochs of n training rows, with each kind of solver call counted separately.
#[test]
fn solves_by_kind_are_those_of_the_papers_table() {
    let (problem, data) = "SP4x4"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(80, 5))
        .unwrap();
    let rows = data.len() as u64;
    let fixture = TrainingFixture::new(
        problem,
        data,
        [TRAINING_ROWS as usize, VALIDATION_ROWS as usize, 16],
        1,
    );
    assert_eq!(
        fixture.oracle.counts(),
        SolveCounts {
            exact: rows,
            ..SolveCounts::default()
        },
        "one solve per label"
    );
    let no_solves = SolveCounts::default;
    let (t, n) = (EPOCHS, TRAINING_ROWS);
    for (method, expected) in [
        (
            "SPO+",
            SolveCounts {
                exact: t * n,
                ..no_solves()
            },
        ),
        (
            "SPO+ relax",
            SolveCounts {
                relaxed: t * n,
                ..no_solves()
            },
        ),
        (
            "SPO+ cache 0%",
            SolveCounts {
                cache_hits: t * n,
                ..no_solves()
            },
        ),
        (
            "SPO+ rows-per-epoch 10",
            SolveCounts {
                exact: t * 10,
                ..no_solves()
            },
        ),
        (
            "PFYL(samples=7)",
            SolveCounts {
                exact: 7 * t * n,
                ..no_solves()
            },
        ),
        (
            "PFYL(samples=7) relax",
            SolveCounts {
                relaxed: 7 * t * n,
                ..no_solves()
            },
        ),
        (
            "MAP",
            SolveCounts {
                exact: t * n,
                ..no_solves()
            },
        ),
        (
            "MAP relax",
            SolveCounts {
                relaxed: t * n,
                ..no_solves()
            },
        ),
        (
            "NCE node-limit 5",
            SolveCounts {
                heuristic: t * n,
                ..no_solves()
            },
        ),
        ("LTR(pair) cache 0%", no_solves()),
        (
            "DBB",
            SolveCounts {
                exact: 2 * t * n,
                ..no_solves()
            },
        ),
        (
            "DBB relax",
            SolveCounts {
                relaxed: 2 * t * n,
                ..no_solves()
            },
        ),
        (
            "CaVE",
            SolveCounts {
                projected: t * n,
                ..no_solves()
            },
        ),
        (
            "LAVA",
            SolveCounts {
                relaxed: rows,
                ..no_solves()
            },
        ),
        ("MSE", no_solves()),
        ("MSE(O,S)", no_solves()),
        (
            "MSE(C)",
            SolveCounts {
                exact: n + VALIDATION_ROWS,
                ..no_solves()
            },
        ),
        (
            "MSE(O_S(exact))",
            SolveCounts {
                relaxed: rows,
                ..no_solves()
            },
        ),
        (
            "MSE(IC(3),O_S(exact))",
            SolveCounts {
                exact: 2 * (n + VALIDATION_ROWS),
                relaxed: rows,
                ..no_solves()
            },
        ),
    ] {
        assert_eq!(counts(&fixture, method), expected, "{method}");
    }
}
