//! Warm starts change the time of a solve, not its result: warm solves and certificates against
//! cold solves, on drifting costs, integer and real, positive and negative.

use regretless::problem::{GridPath, Knapsack, ProblemKind, Tsp};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::relaxation::RelaxationSolver;
use regretless::solve::warm_start::WarmStart;
use regretless::solve::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};

/// Successive drifts of an instance.
const DRIFTS: [f64; 10] = [0.002, 0.0, 0.02, 0.002, 0.0005, 0.1, 0.002, 1e-9, 0.02, 1.0];

fn stream(test: u64, case: u64) -> RandomStream {
    RandomStream::new(Purpose::Benchmark, 4000 + test, [case, 0])
}

/// A relaxation as a solver.
struct Relaxed(Box<dyn RelaxationSolver>);

impl Solver for Relaxed {
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
    /// Results whose decision differs from the cold one.
    other: usize,
}

impl WarmCounts {
    fn add(&mut self, more: &Self) {
        self.solver_calls += more.solver_calls;
        self.certified += more.certified;
        self.other += more.other;
    }
}

/// One instance whose costs drift.
struct Case {
    costs: Vec<f64>,
    /// Costs stay integers, so that there are ties.
    has_integer_costs: bool,
    /// Whether ties may be broken differently than in a cold solve.
    tied_otherwise: bool,
}

impl Case {
    fn drift(&mut self, by: f64, stream: &mut RandomStream) {
        for cost in &mut self.costs {
            *cost *= 1.0 + by * stream.normal();
            if self.has_integer_costs {
                *cost = (*cost
                    + if by > 0.01 {
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
            let Ok(right) = cold.solve(&self.costs) else {
                return counts;
            };
            assert_eq!(right.status, SolveStatus::Optimal);
            counts.solver_calls += 1;
            if let Some(proved) = warm.certify(&self.costs, &warm_start) {
                counts.certified += 1;
                counts.other += usize::from(self.differ(&right, &proved));
            }
            let again = warm.solve_warm(&self.costs, &mut warm_start).unwrap();
            counts.other += usize::from(self.differ(&right, &again));
        }
        counts
    }

    /// Whether decisions differ; objectives must not.
    fn differ(&self, right: &Solution, found: &Solution) -> bool {
        assert_eq!(found.status, SolveStatus::Optimal);
        let size = 1e-9 * (1.0 + right.objective.abs());
        assert!(
            (found.objective - right.objective).abs() <= size,
            "{} not {}",
            found.objective,
            right.objective
        );
        assert!((found.objective - found.decision.dot(&self.costs)).abs() <= size);
        found.decision != right.decision
    }
}

/// Solves many instances of a problem: at least 1000 solver calls, and the same decisions, with
/// ties or without.
fn check_all(
    instances: u64,
    make: impl Fn(&mut RandomStream, u64) -> (Case, [Box<dyn Solver>; 2]),
) -> WarmCounts {
    let mut counts = WarmCounts::default();
    for number in 0..instances {
        let mut stream = stream(instances, number);
        let (case, mut solvers) = make(&mut stream, number);
        let may_tie = case.has_integer_costs && case.tied_otherwise;
        let one = case.check(&mut solvers, &mut stream);
        assert!(may_tie || one.other == 0, "instance {number}: {one:?}");
        counts.add(&one);
    }
    assert!(counts.solver_calls >= 1000, "{counts:?}");
    counts
}

/// Costs of both signs; every fourth instance has integer costs.
fn case(stream: &mut RandomStream, number: u64, costs: usize) -> Case {
    let has_integer_costs = number % 4 == 3;
    let draw = |_| match number % 4 {
        0 => stream.uniform(-20.0, 5.0),
        1 => stream.standard_uniform(),
        2 => stream.normal() * 100.0 - 40.0,
        _ => stream.index_below(40) as f64 - 25.0,
    };
    Case {
        costs: (0..costs).map(draw).collect(),
        has_integer_costs,
        tied_otherwise: false,
    }
}

fn twice(make: impl Fn() -> Box<dyn Solver>) -> [Box<dyn Solver>; 2] {
    [make(), make()]
}

#[test]
fn tours_are_the_same_warm_certified_and_cold() {
    let counts = check_all(150, |stream, number| {
        let problem = Tsp::new(3 + (number as usize * 7) % 30).unwrap();
        (
            case(stream, number, problem.num_costs()),
            twice(|| problem.solver(&SearchLimits::default())),
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
            Case {
                tied_otherwise: true,
                ..case(stream, number, Tsp::new(nodes).unwrap().num_costs())
            },
            twice(make),
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
            Box::new(Relaxed(
                problem
                    .relaxation_solver(kind, &SearchLimits::default())
                    .unwrap(),
            )) as Box<dyn Solver>
        };
        (case(stream, number, problem.num_costs()), twice(make))
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
            case(stream, number, problem.num_costs()),
            twice(|| problem.solver(&SearchLimits::default())),
        )
    });
    assert!(counts.certified > 500, "{counts:?}");
}

#[cfg(feature = "highs")]
mod linear {
    use super::{
        Case, GridPath, RandomStream, Relaxed, SearchLimits, Solver, case, check_all, knapsack,
        twice,
    };
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
            let bounds = match stream.index_below(4) {
                0 => [f64::NEG_INFINITY, activity + slack],
                1 => [activity - slack, f64::INFINITY],
                2 => [activity - slack, activity + slack],
                _ => [activity, activity],
            };
            build.row(bounds, entries);
        }
        build.build().unwrap()
    }

    #[test]
    fn linear_problems_are_the_same_warm_certified_and_cold() {
        let counts = check_all(160, |stream, number| {
            let columns = 3 + stream.index_below(12);
            let problem = random(stream, columns);
            (
                case(stream, number, columns),
                twice(|| problem.solver(&SearchLimits::default())),
            )
        });
        assert!(counts.certified > 500, "{counts:?}");
    }

    #[test]
    fn paths_as_linear_problems_are_the_same_warm_certified_and_cold() {
        let counts = check_all(104, |stream, number| {
            let problem = GridPath::new(3 + number as usize % 4, 5).unwrap();
            let model = std::sync::Arc::new(regretless::solve::grid_path::flow::model(
                problem.rows(),
                problem.cols(),
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
            (case(stream, number, problem.num_costs()), twice(make))
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
                Case {
                    tied_otherwise: true,
                    ..case(stream, number, count)
                },
                twice(|| problem.solver(&SearchLimits::default())),
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
                    .relaxation_solver(Relaxation::Plain, &SearchLimits::default())
                    .unwrap()
            };
            (
                case(stream, number, columns),
                twice(|| Box::new(Relaxed(relaxation_solver()))),
            )
        });
        assert!(counts.certified > 300, "{counts:?}");
    }
}

/// As in training: one solver for many instances in turn.
#[test]
fn one_solver_serves_many_instances_in_turn() {
    let items = knapsack(&mut stream(11, 0), 3);
    for problem in [&Tsp::new(14).unwrap() as &dyn ProblemKind, &items] {
        let [mut cold, mut warm] = twice(|| problem.solver(&SearchLimits::default()));
        let mut instances: Vec<(Case, WarmStart)> = (0..30)
            .map(|number| {
                (
                    case(&mut stream(11, number), number % 3, problem.num_costs()),
                    WarmStart::new(true),
                )
            })
            .collect();
        let mut certified = 0;
        for round in 0..40 {
            for (number, (case, warm_start)) in instances.iter_mut().enumerate() {
                case.drift(
                    [0.003, 0.0, 0.03, 0.001][round % 4],
                    &mut stream(round as u64, number as u64),
                );
                let right = cold.solve(&case.costs).unwrap();
                let proved = warm.certify(&case.costs, warm_start);
                certified += usize::from(proved.is_some());
                let again = proved
                    .map_or_else(|| warm.solve_warm(&case.costs, warm_start), Ok)
                    .unwrap();
                assert!(
                    !case.differ(&right, &again),
                    "round {round}, instance {number}"
                );
            }
        }
        assert!(certified > 300, "{certified}");
    }
}

/// Solvers with limits that allow suboptimal solutions.
fn limited(problem: &dyn ProblemKind, limits: SearchLimits) -> [Box<dyn Solver>; 2] {
    twice(|| problem.solver(&limits))
}

#[test]
fn a_warm_search_that_ends_at_its_limit_returns_the_cold_result() {
    let mut limited_answers = 0;
    for number in 0..60 {
        let mut stream = stream(7, number);
        let tour = Tsp::new(30).unwrap();
        let items = knapsack(&mut stream, 3 * number);
        for problem in [&tour as &dyn ProblemKind, &items] {
            let mut case = case(&mut stream, 2, problem.num_costs());
            let [mut cold, mut warm] = limited(problem, SearchLimits { nodes: 1, gap: 0.0 });
            let mut warm_start = WarmStart::new(false);
            for _ in 0..4 {
                case.drift(0.01, &mut stream);
                let (right, found) = (
                    cold.solve(&case.costs).unwrap(),
                    warm.solve_warm(&case.costs, &mut warm_start),
                );
                let found = found.unwrap();
                if found.status == SolveStatus::LimitReached {
                    limited_answers += 1;
                    assert_eq!(found, right);
                }
                assert!(found.objective <= right.objective);
            }
        }
    }
    assert!(limited_answers > 50, "{limited_answers}");
}

#[test]
fn solvers_with_a_gap_use_no_warm_starts() {
    let mut stream = stream(8, 0);
    let items = knapsack(&mut stream, 0);
    for problem in [&Tsp::new(12).unwrap() as &dyn ProblemKind, &items] {
        let case = case(&mut stream, 0, problem.num_costs());
        let [mut cold, mut warm] = limited(
            problem,
            SearchLimits {
                gap: 0.05,
                ..SearchLimits::default()
            },
        );
        let mut warm_start = WarmStart::new(true);
        assert_eq!(
            warm.solve_warm(&case.costs, &mut warm_start),
            cold.solve(&case.costs)
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
            let case = case(&mut stream, 2, problem.num_costs());
            let [mut cold, mut warm] = limited(problem.as_ref(), SearchLimits::default());
            assert!(warm.certify(&case.costs, &warm_start).is_none());
            let right = cold.solve(&case.costs).unwrap();
            assert_eq!(
                warm.solve_warm(&case.costs, &mut warm_start)
                    .unwrap()
                    .decision,
                right.decision
            );
        }
    }
}

#[test]
fn a_shrunk_state_is_enough_for_a_warm_start() {
    let problem = Tsp::new(30).unwrap();
    let mut lighter = 0;
    for number in 0..40 {
        let mut stream = stream(10, number);
        let mut case = case(&mut stream, 0, problem.num_costs());
        let [mut cold, mut warm] = limited(&problem, SearchLimits::default());
        let mut warm_start = WarmStart::new(false);
        warm.solve_warm(&case.costs, &mut warm_start).unwrap();
        let bytes = warm_start.bytes();
        warm_start.shrink_to(bytes - 1);
        lighter += usize::from(!warm_start.is_empty());
        case.drift(0.01, &mut stream);
        let found = warm.solve_warm(&case.costs, &mut warm_start).unwrap();
        assert_eq!(found.decision, cold.solve(&case.costs).unwrap().decision);
    }
    assert!(lighter > 10, "only {lighter} states had a part to drop");
}
