//! Solver calls during training: warm starts, certificates and heuristics, and their counts.

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
use regretless::train::FitResult;
#[cfg(feature = "highs")]
use regretless::Decision;
use regretless::Error;

use crate::tests::fixture::{TrainingFixture, quick_settings};

/// Rows that train and validate, and epochs.
const ROWS: u64 = 48;
const VALIDATION: u64 = 16;
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
        [ROWS as usize, VALIDATION as usize, 16],
        threads,
    )
}

/// A small learning rate, so that costs drift little, with epochs evaluated by regret.
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

/// Training and validation loss by epoch.
fn course(trained: &FitResult) -> Vec<(Option<f64>, Option<f64>)> {
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
                    course(&warm),
                    course(&plain),
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
        assert_eq!(warm.report.solves.relaxed, EPOCHS * ROWS, "{method}");
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
    let found = counts(&fixture, "SPO+ certify");
    assert_eq!(found.exact + found.certified, EPOCHS * ROWS);
    assert!(found.certified > ROWS, "{found:?}");
    assert_eq!(found.total(), found.exact, "a certificate is not a solve");
    assert_eq!(
        counts(&fixture, "SPO+ warm"),
        SolveCounts {
            exact: EPOCHS * ROWS,
            ..SolveCounts::default()
        }
    );
    let cached = counts(&fixture, "SPO+ cache 50% per-instance certify");
    assert_eq!(
        cached.exact + cached.certified + cached.cache_hits,
        EPOCHS * ROWS
    );
    assert!(
        cached.certified > 0 && cached.cache_hits > ROWS,
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
    assert_eq!(course(&warm), course(&plain));
    assert_eq!(plain.report.solves.exact, (EPOCHS + 1) * VALIDATION);
    assert_eq!(warm.report.solves.total_calls(), (EPOCHS + 1) * VALIDATION);
    assert!(
        warm.report.solves.certified > VALIDATION,
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
    let known = vec![decision; 2500];
    let data = LabeledDataset::from_decisions(data, &oracle, known).unwrap();
    let split = regretless::data::SplitIndices::in_order(2500, [20, 0, 0]).unwrap();
    let fixture = TrainingFixture {
        problem,
        data,
        split,
        oracle,
    };
    let still = TrainingSettings {
        learning_rate: 1e-9,
        epochs: 2,
        ..without_evaluation()
    };
    let certified = |method: &str| {
        fixture
            .train(method, still)
            .unwrap()
            .report
            .solves
            .certified
    };
    assert_eq!(
        certified("SPO+ certify memory 1MB"),
        0,
        "209 bytes per state are too few for a tour"
    );
    assert!(certified("SPO+ certify") > 10);
}

#[test]
fn heuristic_solves_are_counted_separately() {
    let heuristic = SolveCounts {
        heuristic: EPOCHS * ROWS,
        ..SolveCounts::default()
    };
    let tours = fixture("TSP12", 2);
    for method in [
        "SPO+ local-search",
        "SPO+ local-search:fast",
        "SPO+ local-search:from-label",
    ] {
        assert_eq!(counts(&tours, method), heuristic, "{method}");
    }
    for benchmark in ["TSP12", "KS20", "SP4x4"] {
        assert_eq!(
            counts(&fixture(benchmark, 2), "SPO+ node-limit 1"),
            heuristic,
            "{benchmark}"
        );
    }
    let untrained = tours
        .evaluate_test_rows(
            &tours
                .train(
                    "SPO+",
                    TrainingSettings {
                        epochs: 0,
                        ..quick_settings()
                    },
                )
                .unwrap()
                .model,
        )
        .regret;
    for method in [
        "SPO+ local-search",
        "SPO+ local-search:from-label",
        "SPO+ node-limit 1",
    ] {
        let regret = tours
            .evaluate_test_rows(&tours.train(method, quick_settings()).unwrap().model)
            .regret;
        assert!(
            regret < untrained,
            "{method}: {regret}, untrained {untrained}"
        );
    }
    let evaluated = tours
        .train("SPO+ local-search", small_rate())
        .unwrap()
        .report
        .solves;
    assert_eq!(
        evaluated.exact,
        (EPOCHS + 1) * VALIDATION,
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
    let mut worse = 0;
    for number in 0..200 {
        let problem = Tsp::new(3 + number as usize % 40).unwrap();
        let mut stream = RandomStream::new(Purpose::Benchmark, 77, [number, 0]);
        let costs: Vec<f64> = (0..problem.num_costs())
            .map(|_| stream.uniform(-9.0, 4.0))
            .collect();
        let best = problem
            .solver(&SearchLimits::default())
            .solve(&costs)
            .unwrap();
        let quick = problem
            .fast_local_search(&SearchLimits::default())
            .unwrap()
            .solve(&costs)
            .unwrap();
        problem.check(&quick.decision).unwrap();
        assert!(quick.objective >= best.objective - 1e-9 && quick.bound <= best.objective);
        check_descent(&problem, &costs, best.objective, &mut stream);
        let mut search = problem.local_search(&SearchLimits::default()).unwrap();
        let found = search.solve(&costs).unwrap();
        problem.check(&found.decision).unwrap();
        assert!(found.objective >= best.objective - 1e-9 && found.bound <= best.objective + 1e-9);
        assert!(
            found.status != SolveStatus::Optimal || (found.objective - best.objective).abs() < 1e-9
        );
        assert!(
            found.objective - best.objective < 0.15 * best.objective.abs(),
            "{found:?}"
        );
        worse += usize::from(found.objective > best.objective + 1e-9);
    }
    assert!(
        worse > 0,
        "if local search always finds the optimum, this test checks nothing"
    );
}

/// Local search from the optimum under other costs: a feasible decision that costs at most as much
/// as its start and at least as much as the optimum.
fn check_descent(problem: &dyn ProblemKind, costs: &[f64], min: f64, stream: &mut RandomStream) {
    let others: Vec<f64> = costs
        .iter()
        .map(|cost| cost + stream.uniform(-4.0, 4.0))
        .collect();
    let start = problem
        .solver(&SearchLimits::default())
        .solve(&others)
        .unwrap()
        .decision;
    let found = problem
        .fast_local_search(&SearchLimits::default())
        .unwrap()
        .solve_from(costs, &start)
        .unwrap();
    problem.check(&found.decision).unwrap();
    assert!((found.decision.dot(costs) - found.objective).abs() < 1e-9);
    assert!(
        found.objective <= start.dot(costs) + 1e-9 && found.objective >= min - 1e-9,
        "{found:?}"
    );
    assert!(found.bound <= min && found.status == SolveStatus::LimitReached);
}

#[cfg(feature = "highs")]
#[test]
fn routes_of_local_search_are_feasible_and_not_better_than_the_optimum() {
    let mut worse = [0, 0];
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
        let best = problem
            .solver(&SearchLimits::default())
            .solve(&costs)
            .unwrap();
        let searches = [
            problem.local_search(&SearchLimits::default()),
            problem.fast_local_search(&SearchLimits::default()),
        ];
        for (search, worse) in searches.into_iter().zip(&mut worse) {
            let found = search.unwrap().solve(&costs).unwrap();
            problem.check(&found.decision).unwrap();
            assert!((found.decision.dot(&costs) - found.objective).abs() < 1e-9);
            assert!(
                found.objective >= best.objective - 1e-9 && found.bound <= best.objective + 1e-9
            );
            let behind = found.objective > best.objective + 1e-9;
            assert!(
                found.status != SolveStatus::Optimal || !behind,
                "proven optimal, but not the optimum"
            );
            *worse += usize::from(behind);
        }
        check_descent(&problem, &costs, best.objective, &mut stream);
    }
    assert!(
        worse[0] <= worse[1] && worse[1] < 30,
        "{worse:?}: more kicks find better routes"
    );
}

#[test]
fn local_search_from_the_label_gives_another_model_than_a_cold_one() {
    let tours = fixture("TSP30", 1);
    let networks = |method: &str| {
        tours
            .train(method, without_evaluation())
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
        tours
            .train(method, without_evaluation())
            .unwrap_err()
            .to_string()
    };
    assert!(refused("SPO+ local-search:from-label labels relaxed").contains("integral decisions"));
}

/// An infeasible start (overloaded, or with unserved customers) is ignored: the search starts cold.
#[cfg(feature = "highs")]
#[test]
fn local_search_from_an_infeasible_start_returns_a_feasible_decision() {
    let problem = Cvrp::new(vec![4.0, 5.0, 1.0, 3.0], 9.0, 2).unwrap();
    let costs: Vec<f64> = (0..10).map(|edge| f64::from(edge % 4)).collect();
    let mut search = problem.fast_local_search(&SearchLimits::default()).unwrap();
    let edge = |i, j| edge_index(5, i, j) as u32;
    let all = Decision::from_indices([edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 4), edge(0, 4)]);
    assert!(problem.check(&all).is_err());
    for start in [all, Decision::default()] {
        let found = search.solve_from(&costs, &start).unwrap();
        assert_eq!(problem.check(&found.decision), Ok(()));
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

/// Table 1 of the paper without precomputed labels: n* + t·n, with each kind of solver call counted
/// separately.
#[test]
fn solves_by_kind_are_those_of_the_papers_table() {
    let (problem, data) = "SP4x4"
        .parse::<Benchmark>()
        .unwrap()
        .generate(SyntheticSpec::paper(80, 5))
        .unwrap();
    let rows = data.len() as u64;
    let fixture = TrainingFixture::new(problem, data, [ROWS as usize, VALIDATION as usize, 16], 1);
    assert_eq!(
        fixture.oracle.counts(),
        SolveCounts {
            exact: rows,
            ..SolveCounts::default()
        },
        "n*"
    );
    let none = SolveCounts::default;
    let (t, n) = (EPOCHS, ROWS);
    for (method, right) in [
        (
            "SPO+",
            SolveCounts {
                exact: t * n,
                ..none()
            },
        ),
        (
            "SPO+ relax",
            SolveCounts {
                relaxed: t * n,
                ..none()
            },
        ),
        (
            "SPO+ cache 0%",
            SolveCounts {
                cache_hits: t * n,
                ..none()
            },
        ),
        (
            "SPO+ rows-per-epoch 10",
            SolveCounts {
                exact: t * 10,
                ..none()
            },
        ),
        (
            "PFYL(samples=7)",
            SolveCounts {
                exact: 7 * t * n,
                ..none()
            },
        ),
        (
            "PFYL(samples=7) relax",
            SolveCounts {
                relaxed: 7 * t * n,
                ..none()
            },
        ),
        (
            "MAP",
            SolveCounts {
                exact: t * n,
                ..none()
            },
        ),
        (
            "MAP relax",
            SolveCounts {
                relaxed: t * n,
                ..none()
            },
        ),
        (
            "NCE node-limit 5",
            SolveCounts {
                heuristic: t * n,
                ..none()
            },
        ),
        ("LTR(pair) cache 0%", none()),
        (
            "DBB",
            SolveCounts {
                exact: 2 * t * n,
                ..none()
            },
        ),
        (
            "DBB relax",
            SolveCounts {
                relaxed: 2 * t * n,
                ..none()
            },
        ),
        (
            "CaVE",
            SolveCounts {
                projected: t * n,
                ..none()
            },
        ),
        (
            "LAVA",
            SolveCounts {
                relaxed: rows,
                ..none()
            },
        ),
        ("MSE", none()),
        ("MSE(O,S)", none()),
        (
            "MSE(C)",
            SolveCounts {
                exact: n + VALIDATION,
                ..none()
            },
        ),
        (
            "MSE(O_S(exact))",
            SolveCounts {
                relaxed: rows,
                ..none()
            },
        ),
        (
            "MSE(IC(3),O_S(exact))",
            SolveCounts {
                exact: 2 * (n + VALIDATION),
                relaxed: rows,
                ..none()
            },
        ),
    ] {
        assert_eq!(counts(&fixture, method), right, "{method}");
    }
}
