//! Warm starts change the time of a solve, not its result: warm solves and certificates against
//! cold solves, on drifting costs, integer and real, positive and negative.

use regretless::problem::{GridPath, Knapsack, ProblemKind, Tsp};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::relaxation::RelaxationSolver;
use regretless::solve::warm_start::WarmStart;
use regretless::solve::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};

/// Relative standard deviations of the successive changes of the costs of an instance, small as
/// between epochs and large.
const DRIFTS: [f64; 10] = [0.002, 0.0, 0.02, 0.002, 0.0005, 0.1, 0.002, 1e-9, 0.02, 1.0];

fn stream(test: u64, instance: u64) -> RandomStream {
    RandomStream::new(Purpose::Benchmark, 4000 + test, [instance, 0])
}

/// The solver of a relaxation as a [`Solver`].
#[cfg_attr(
    not(feature = "highs"),
    expect(dead_code, reason = "relaxations need HiGHS")
)]
struct RelaxationAsSolver(Box<dyn RelaxationSolver>);

impl Solver for RelaxationAsSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.0.relax(costs)
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.0.relax_warm(costs, warm_start)
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.0.certify(costs, warm_start)
    }
}

/// Counts over the drifts of one instance.
#[derive(Debug, Default)]
struct WarmCounts {
    solver_calls: usize,
    certified: usize,
    /// Results whose decision differs from that of a cold solve.
    different_decisions: usize,
}

impl WarmCounts {
    fn add(&mut self, more: &Self) {
        self.solver_calls += more.solver_calls;
        self.certified += more.certified;
        self.different_decisions += more.different_decisions;
    }
}

/// One instance whose costs change from solve to solve.
struct DriftingInstance {
    costs: Vec<f64>,
    /// Costs stay integers, so there are ties.
    has_integer_costs: bool,
    /// Whether ties may be broken differently than in a cold solve.
    may_break_ties_differently: bool,
}

impl DriftingInstance {
    fn drift(&mut self, drift_size: f64, stream: &mut RandomStream) {
        for cost in &mut self.costs {
            *cost *= 1.0 + drift_size * stream.normal();
            if self.has_integer_costs {
                *cost = (*cost
                    + if drift_size > 0.01 {
                        stream.uniform(-1.0, 1.0)
                    } else {
                        0.0
                    })
                .round();
            }
        }
    }

    /// Solves the instance with all its drifts, by independent cold and warm solvers.
    fn check(
        mut self,
        [cold, warm]: &mut [Box<dyn Solver>; 2],
        stream: &mut RandomStream,
    ) -> WarmCounts {
        let mut counts = WarmCounts::default();
        let mut warm_start = WarmStart::new(true);
        for drift in DRIFTS {
            self.drift(drift, stream);
            let Ok(expected) = cold.solve(&self.costs) else {
                return counts;
            };
            assert_eq!(expected.status, SolveStatus::Optimal);
            counts.solver_calls += 1;
            if let Some(certified_solution) = warm.certify(&self.costs, &warm_start) {
                counts.certified += 1;
                counts.different_decisions +=
                    usize::from(self.decisions_differ(&expected, &certified_solution));
            }
            let warm_solution = warm.solve_warm(&self.costs, &mut warm_start).unwrap();
            counts.different_decisions +=
                usize::from(self.decisions_differ(&expected, &warm_solution));
        }
        counts
    }

    /// Whether decisions differ; objectives must not.
    fn decisions_differ(&self, expected: &Solution, actual: &Solution) -> bool {
        assert_eq!(actual.status, SolveStatus::Optimal);
        let tolerance = 1e-9 * (1.0 + expected.objective.abs());
        assert!(
            (actual.objective - expected.objective).abs() <= tolerance,
            "{} not {}",
            actual.objective,
            expected.objective
        );
        assert!((actual.objective - actual.decision.dot(&self.costs)).abs() <= tolerance);
        actual.decision != expected.decision
    }
}

/// Solves many instances of a problem: at least 1000 solver calls, and the same decisions, with
/// ties or without.
fn check_all(
    instances: u64,
    make: impl Fn(&mut RandomStream, u64) -> (DriftingInstance, [Box<dyn Solver>; 2]),
) -> WarmCounts {
    let mut counts = WarmCounts::default();
    for number in 0..instances {
        let mut stream = stream(instances, number);
        let (instance, mut solvers) = make(&mut stream, number);
        let may_tie = instance.has_integer_costs && instance.may_break_ties_differently;
        let instance_counts = instance.check(&mut solvers, &mut stream);
        assert!(
            may_tie || instance_counts.different_decisions == 0,
            "instance {number}: {instance_counts:?}"
        );
        counts.add(&instance_counts);
    }
    assert!(counts.solver_calls >= 1000, "{counts:?}");
    counts
}

/// Costs of both signs; every fourth instance has integer costs.
fn instance(stream: &mut RandomStream, number: u64, costs: usize) -> DriftingInstance {
    let has_integer_costs = number % 4 == 3;
    let draw = |_| match number % 4 {
        0 => stream.uniform(-20.0, 5.0),
        1 => stream.standard_uniform(),
        2 => stream.normal() * 100.0 - 40.0,
        _ => stream.index_below(40) as f64 - 25.0,
    };
    DriftingInstance {
        costs: (0..costs).map(draw).collect(),
        has_integer_costs,
        may_break_ties_differently: false,
    }
}

/// The cold and the warm solver.
fn solver_pair(make: impl Fn() -> Box<dyn Solver>) -> [Box<dyn Solver>; 2] {
    [make(), make()]
}

#[test]
fn tours_are_the_same_warm_certified_and_cold() {
    let counts = check_all(150, |stream, number| {
        let problem = Tsp::new(3 + (number as usize * 7) % 30).unwrap();
        (
            instance(stream, number, problem.num_costs()),
            solver_pair(|| problem.solver(&SearchLimits::default())),
        )
    });
    assert!(counts.certified > 300, "{counts:?}");
}

#[cfg(feature = "highs")]
#[test]
fn tours_by_branch_and_cut_are_the_same_warm_certified_and_cold() {
    use regretless::solve::tsp::branch_and_cut::TspBranchAndCut;
    let counts = check_all(110, |stream, number| {
        let nodes = 5 + (number as usize * 7) % 35;
        let make =
            || Box::new(TspBranchAndCut::new(nodes, SearchLimits::default())) as Box<dyn Solver>;
        (
            DriftingInstance {
                may_break_ties_differently: true,
                ..instance(stream, number, Tsp::new(nodes).unwrap().num_costs())
            },
            solver_pair(make),
        )
    });
    assert!(counts.certified > 50, "{counts:?}");
}

#[cfg(feature = "highs")]
#[test]
fn relaxed_tours_are_the_same_warm_and_cold() {
    use regretless::solve::relaxation::Relaxation;
    check_all(120, |stream, number| {
        let problem = Tsp::new(5 + (number as usize * 7) % 30).unwrap();
        let kind = if number % 8 < 4 {
            Relaxation::Plain
        } else {
            Relaxation::Tight
        };
        let make = || {
            Box::new(RelaxationAsSolver(
                problem
                    .capabilities()
                    .sensitivity
                    .relaxation_solver(kind, &SearchLimits::default())
                    .unwrap(),
            )) as Box<dyn Solver>
        };
        (
            instance(stream, number, problem.num_costs()),
            solver_pair(make),
        )
    });
}

fn knapsack(stream: &mut RandomStream, number: u64) -> Knapsack {
    let (items, dimensions) = (1 + stream.index_below(40), 1 + stream.index_below(4));
    let mut weight = |_| match number % 3 {
        0 => stream.uniform(0.0, 10.0),
        1 => (stream.uniform(3.0, 8.0) * 10.0).round() / 10.0,
        _ => stream.index_below(5) as f64,
    };
    let weights = (0..dimensions)
        .map(|_| (0..items).map(&mut weight).collect())
        .collect();
    Knapsack::with_capacity_fraction(weights, [0.5, 0.2, 0.1][(number / 3 % 3) as usize]).unwrap()
}

#[test]
fn knapsacks_are_the_same_warm_certified_and_cold() {
    let counts = check_all(200, |stream, number| {
        let problem = knapsack(stream, number);
        (
            instance(stream, number, problem.num_costs()),
            solver_pair(|| problem.solver(&SearchLimits::default())),
        )
    });
    assert!(counts.certified > 500, "{counts:?}");
}

#[cfg(feature = "highs")]
mod linear {
    use super::{
        DriftingInstance, GridPath, RandomStream, RelaxationAsSolver, SearchLimits, Solver,
        check_all, instance, knapsack, solver_pair,
    };
    use crate::tests::common::row_bounds;
    use regretless::problem::{LinearBuilder, LinearProblem, ProblemKind, Sense, VariableDomain};
    use regretless::solve::relaxation::Relaxation;

    /// A problem with a feasible point, rows of all kinds, and a column without predicted cost.
    fn random(stream: &mut RandomStream, columns: usize) -> LinearProblem {
        let mut build = LinearBuilder::new("random", Sense::Minimize);
        let mut point = Vec::new();
        for column in 0..columns {
            let (lower, upper) = (
                -(stream.index_below(3) as f64),
                1.0 + stream.index_below(4) as f64,
            );
            point.push(stream.uniform(lower, upper));
            build.predicted(
                format!("x{column}"),
                VariableDomain::Continuous([lower, upper]),
            );
        }
        build.auxiliary("aside", VariableDomain::Continuous([0.0, 5.0]), 0.7);
        for _ in 0..1 + stream.index_below(6) {
            let mut entries: Vec<(usize, f64)> = (0..columns)
                .map(|j| (j, stream.uniform(-2.0, 3.0)))
                .collect();
            let activity: f64 = entries.iter().map(|(j, entry)| entry * point[*j]).sum();
            entries.push((columns, 1.0));
            let slack = stream.uniform(0.1, 3.0);
            build.row(row_bounds(stream, activity, slack), entries);
        }
        build.build().unwrap()
    }

    #[test]
    fn linear_problems_are_the_same_warm_certified_and_cold() {
        let counts = check_all(160, |stream, number| {
            let columns = 3 + stream.index_below(12);
            let problem = random(stream, columns);
            (
                instance(stream, number, columns),
                solver_pair(|| problem.solver(&SearchLimits::default())),
            )
        });
        assert!(counts.certified > 500, "{counts:?}");
    }

    #[test]
    fn paths_as_linear_problems_are_the_same_warm_certified_and_cold() {
        let counts = check_all(104, |stream, number| {
            let problem = GridPath::new(3 + number as usize % 4, 5).unwrap();
            let model = std::sync::Arc::new(regretless::solve::grid_path::flow::model(
                [problem.rows(), problem.cols()],
                problem.source(),
                problem.target(),
            ));
            let all: std::sync::Arc<[usize]> = (0..problem.num_costs()).collect();
            let make = || {
                let search = regretless::solve::linear::LinearSolver::new(
                    model.clone(),
                    all.clone(),
                    SearchLimits::default(),
                );
                Box::new(search) as Box<dyn Solver>
            };
            (
                instance(stream, number, problem.num_costs()),
                solver_pair(make),
            )
        });
        assert!(counts.certified > 300, "{counts:?}");
    }

    /// Knapsacks and top-k as mixed-integer programs; the relaxation of top-k is integral.
    #[test]
    fn mixed_integer_programs_are_the_same_warm_certified_and_cold() {
        let counts = check_all(110, |stream, number| {
            let items = knapsack(stream, number);
            let count = items.num_costs().min(12);
            let mut build = LinearBuilder::new("items", Sense::Minimize);
            for item in 0..count {
                build.predicted(format!("x{item}"), VariableDomain::Binary);
            }
            let rows = items.weights().iter().zip(items.capacity());
            for (weights, capacity) in rows.take(if number % 8 < 4 { 8 } else { 0 }) {
                build.row(
                    [f64::NEG_INFINITY, *capacity],
                    weights.iter().copied().take(count).enumerate(),
                );
            }
            build.row(
                [1.0, 1.0 + (count / 2) as f64],
                (0..count).map(|item| (item, 1.0)),
            );
            let problem = build.build().unwrap();
            (
                DriftingInstance {
                    may_break_ties_differently: true,
                    ..instance(stream, number, count)
                },
                solver_pair(|| problem.solver(&SearchLimits::default())),
            )
        });
        assert!(counts.certified > 100, "{counts:?}");
    }

    #[test]
    fn relaxed_linear_problems_are_the_same_warm_certified_and_cold() {
        let counts = check_all(104, |stream, number| {
            let columns = 3 + stream.index_below(12);
            let problem = random(stream, columns);
            let relaxation_solver = || {
                problem
                    .capabilities()
                    .sensitivity
                    .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
                    .unwrap()
            };
            (
                instance(stream, number, columns),
                solver_pair(|| Box::new(RelaxationAsSolver(relaxation_solver()))),
            )
        });
        assert!(counts.certified > 300, "{counts:?}");
    }
}

/// As in training: one solver for many instances in turn.
#[test]
fn one_solver_used_for_many_instances_in_turn_returns_the_cold_results() {
    let items = knapsack(&mut stream(11, 0), 3);
    for problem in [&Tsp::new(14).unwrap() as &dyn ProblemKind, &items] {
        let [mut cold, mut warm] = solver_pair(|| problem.solver(&SearchLimits::default()));
        let mut instances: Vec<(DriftingInstance, WarmStart)> = (0..30)
            .map(|number| {
                (
                    instance(&mut stream(11, number), number % 3, problem.num_costs()),
                    WarmStart::new(true),
                )
            })
            .collect();
        let mut certified = 0;
        for round in 0..40 {
            for (number, (instance, warm_start)) in instances.iter_mut().enumerate() {
                instance.drift(
                    [0.003, 0.0, 0.03, 0.001][round % 4],
                    &mut stream(round as u64, number as u64),
                );
                let expected = cold.solve(&instance.costs).unwrap();
                let certified_solution = warm.certify(&instance.costs, warm_start);
                certified += usize::from(certified_solution.is_some());
                let warm_solution = certified_solution
                    .map_or_else(|| warm.solve_warm(&instance.costs, warm_start), Ok)
                    .unwrap();
                assert!(
                    !instance.decisions_differ(&expected, &warm_solution),
                    "round {round}, instance {number}"
                );
            }
        }
        assert!(certified > 300, "{certified}");
    }
}

/// The cold and the warm solver with limits.
fn limited_solver_pair(problem: &dyn ProblemKind, limits: SearchLimits) -> [Box<dyn Solver>; 2] {
    solver_pair(|| problem.solver(&limits))
}

#[test]
fn a_warm_search_that_ends_at_its_limit_returns_the_cold_result() {
    let mut num_limited = 0;
    for number in 0..60 {
        let mut stream = stream(7, number);
        let tour = Tsp::new(30).unwrap();
        let items = knapsack(&mut stream, 3 * number);
        for problem in [&tour as &dyn ProblemKind, &items] {
            let mut instance = instance(&mut stream, 2, problem.num_costs());
            let [mut cold, mut warm] = limited_solver_pair(
                problem,
                SearchLimits {
                    nodes: 1,
                    gap: 0.0,
                    ..SearchLimits::default()
                },
            );
            let mut warm_start = WarmStart::new(false);
            for _ in 0..4 {
                instance.drift(0.01, &mut stream);
                let (expected, actual) = (
                    cold.solve(&instance.costs).unwrap(),
                    warm.solve_warm(&instance.costs, &mut warm_start),
                );
                let actual = actual.unwrap();
                if actual.status == SolveStatus::LimitReached {
                    num_limited += 1;
                    assert_eq!(actual, expected);
                }
                assert!(actual.objective <= expected.objective);
            }
        }
    }
    assert!(num_limited > 50, "{num_limited}");
}

#[test]
fn solvers_with_a_gap_use_no_warm_starts() {
    let mut stream = stream(8, 0);
    let items = knapsack(&mut stream, 0);
    for problem in [&Tsp::new(12).unwrap() as &dyn ProblemKind, &items] {
        let instance = instance(&mut stream, 0, problem.num_costs());
        let [mut cold, mut warm] = limited_solver_pair(
            problem,
            SearchLimits {
                gap: 0.05,
                ..SearchLimits::default()
            },
        );
        let mut warm_start = WarmStart::new(true);
        assert_eq!(
            warm.solve_warm(&instance.costs, &mut warm_start),
            cold.solve(&instance.costs)
        );
        assert!(warm_start.is_empty());
    }
}

#[test]
fn the_warm_start_of_another_problem_is_ignored() {
    let mut stream = stream(9, 0);
    let problems: Vec<Box<dyn ProblemKind>> = vec![
        Box::new(Tsp::new(12).unwrap()),
        Box::new(Tsp::new(15).unwrap()),
        #[cfg(feature = "highs")]
        Box::new(Tsp::new(70).unwrap()),
        Box::new(knapsack(&mut stream, 3)),
        Box::new(knapsack(&mut stream, 6)),
        Box::new(GridPath::new(4, 4).unwrap()),
    ];
    let mut warm_start = WarmStart::new(true);
    for _ in 0..2 {
        for problem in &problems {
            let instance = instance(&mut stream, 2, problem.num_costs());
            let [mut cold, mut warm] =
                limited_solver_pair(problem.as_ref(), SearchLimits::default());
            assert!(warm.certify(&instance.costs, &warm_start).is_none());
            let expected = cold.solve(&instance.costs).unwrap();
            assert_eq!(
                warm.solve_warm(&instance.costs, &mut warm_start)
                    .unwrap()
                    .decision,
                expected.decision
            );
        }
    }
}

#[test]
fn a_warm_start_with_less_memory_gives_the_same_decision() {
    let problem = Tsp::new(30).unwrap();
    let mut num_shrunk = 0;
    for number in 0..40 {
        let mut stream = stream(10, number);
        let mut instance = instance(&mut stream, 0, problem.num_costs());
        let [mut cold, mut warm] = limited_solver_pair(&problem, SearchLimits::default());
        let mut warm_start = WarmStart::new(false);
        warm.solve_warm(&instance.costs, &mut warm_start).unwrap();
        let bytes = warm_start.bytes();
        warm_start.shrink_to(bytes - 1);
        num_shrunk += usize::from(!warm_start.is_empty());
        instance.drift(0.01, &mut stream);
        let actual = warm.solve_warm(&instance.costs, &mut warm_start).unwrap();
        assert_eq!(
            actual.decision,
            cold.solve(&instance.costs).unwrap().decision
        );
    }
    assert!(
        num_shrunk > 10,
        "only {num_shrunk} warm starts could be shrunk"
    );
}
