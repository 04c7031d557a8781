//! The knapsack solver against brute force, golden values and published optima.

use crate::tests::common::{
    assert_close, golden, numbers, print_suite_summary, reference_data, rows,
};
use regretless::problem::formats::orlib;
use regretless::problem::{Knapsack, ProblemKind};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::knapsack::{KnapsackBasicVariable, KnapsackBranchAndBound};
use regretless::solve::{SearchLimits, SolveStatus, Solver};

/// The minimum cost over all feasible subsets, by enumeration.
fn brute_force(problem: &Knapsack, costs: &[f64]) -> f64 {
    let fits = |subset: u32| {
        problem
            .weights()
            .iter()
            .zip(problem.capacity())
            .all(|(row, capacity)| {
                let load: f64 = (0..costs.len())
                    .filter(|j| subset >> j & 1 == 1)
                    .map(|j| row[j])
                    .sum();
                load <= capacity + 1e-9 * capacity.max(1.0)
            })
    };
    let cost = |subset: u32| {
        (0..costs.len())
            .filter(|j| subset >> j & 1 == 1)
            .map(|j| costs[j])
            .sum::<f64>()
    };
    (0..1_u32 << costs.len())
        .filter(|s| fits(*s))
        .map(cost)
        .fold(0.0, f64::min)
}

/// A small instance whose type depends on its number.
fn small_instance(number: u64) -> (Knapsack, Vec<f64>) {
    let mut stream = RandomStream::new(Purpose::Benchmark, 99, [number, 0]);
    let items = 1 + stream.index_below(14);
    let dimensions = 1 + stream.index_below(8);
    let mut weight = |_: usize| match number % 6 {
        0 => stream.uniform(0.0, 10.0),
        1 => (stream.uniform(3.0, 8.0) * 10.0).round() / 10.0,
        2 => stream.index_below(4) as f64,
        3 => 5.0,
        4 => stream.index_below(100) as f64 * stream.index_below(2) as f64,
        _ => stream.uniform(0.0, 1.0).powi(8) * 1000.0,
    };
    let weights: Vec<Vec<f64>> = (0..dimensions)
        .map(|_| (0..items).map(&mut weight).collect())
        .collect();
    let fraction = [0.5, 0.3, 0.1, 0.7, 1.0, 0.0][(number / 6 % 6) as usize];
    let problem = if number % 6 == 1 {
        Knapsack::new(weights, vec![20.0; dimensions]).unwrap()
    } else {
        Knapsack::with_capacity_fraction(weights, fraction).unwrap()
    };
    let cost = |_: usize| match number / 36 % 4 {
        0 => stream.uniform(-10.0, 2.0),
        1 => -(stream.index_below(20) as f64) + 3.0,
        2 => stream.uniform(-1e-4, 0.0),
        _ => -1.0,
    };
    let costs = (0..items).map(cost).collect();
    (problem, costs)
}

fn solver(problem: &Knapsack, limits: SearchLimits) -> KnapsackBranchAndBound {
    KnapsackBranchAndBound::new(problem.weights(), problem.capacity(), limits)
}

#[test]
fn optima_of_small_instances_equal_brute_force() {
    for number in 0..1500 {
        let (problem, costs) = small_instance(number);
        let solution = solver(&problem, SearchLimits::default())
            .solve(&costs)
            .unwrap();
        problem
            .check(&solution.decision)
            .unwrap_or_else(|error| panic!("instance {number}: {error}"));
        let expected = brute_force(&problem, &costs);
        assert_close(
            &[solution.objective],
            &[expected],
            1e-9,
            &format!("instance {number}"),
        );
        assert_eq!(solution.status, SolveStatus::Optimal, "instance {number}");
        let all_have_value = solution
            .decision
            .indices()
            .iter()
            .all(|j| costs[*j as usize] < 0.0);
        assert!(
            all_have_value,
            "instance {number} chooses an item without value"
        );
    }
}

/// The optimal objective for integer weights in two dimensions, by dynamic programming over loads.
fn dynamic_program(weights: [&[f64]; 2], capacity: [usize; 2], costs: &[f64]) -> f64 {
    let (rows, cols) = (capacity[0] + 1, capacity[1] + 1);
    let mut min = vec![0.0_f64; rows * cols];
    for (item, cost) in costs.iter().enumerate() {
        let [a, b] = weights.map(|row| row[item] as usize);
        for x in (a..rows).rev() {
            for y in (b..cols).rev() {
                min[x * cols + y] = min[x * cols + y].min(min[(x - a) * cols + y - b] + cost);
            }
        }
    }
    min[rows * cols - 1]
}

#[test]
fn optima_of_larger_instances_equal_those_of_a_dynamic_program() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 7, [0, 0]);
    for number in 0..60 {
        let items = 50 + stream.index_below(150);
        let rows: Vec<Vec<f64>> = (0..2)
            .map(|_| {
                (0..items)
                    .map(|_| (1 + stream.index_below(30)) as f64)
                    .collect()
            })
            .collect();
        let capacity = [40 + stream.index_below(160), 40 + stream.index_below(160)];
        let is_correlated = number % 3 == 0;
        let costs: Vec<f64> = (0..items)
            .map(|j| {
                if is_correlated {
                    -rows[0][j] - stream.uniform(0.0, 1.0)
                } else {
                    stream.uniform(-9.0, 1.0)
                }
            })
            .collect();
        let problem = Knapsack::new(rows.clone(), capacity.map(|c| c as f64).to_vec()).unwrap();
        let objective = solver(&problem, SearchLimits::default())
            .solve(&costs)
            .unwrap()
            .objective;
        let expected = dynamic_program([&rows[0], &rows[1]], capacity, &costs);
        assert_close(
            &[objective],
            &[expected],
            2e-9,
            &format!("instance {number}"),
        );
    }
}

#[test]
fn the_relaxation_is_a_lower_bound_and_its_duals_prove_it() {
    for number in 0..600 {
        let (problem, costs) = small_instance(number);
        let mut solver = solver(&problem, SearchLimits::default());
        let relaxed = solver.relax(&costs).unwrap();
        let optimum = solver.solve(&costs).unwrap();
        let scale = optimum
            .objective
            .abs()
            .max(costs.iter().fold(0.0, |max: f64, c| max.max(c.abs())));
        // With a capacity of 0, tiny weights fit only by the feasibility tolerance of integral
        // solutions.
        let has_zero_capacity = problem.capacity().contains(&0.0);
        assert!(
            has_zero_capacity || relaxed.objective <= optimum.objective + 1e-8 * scale,
            "instance {number}"
        );
        let capacity = problem
            .capacity()
            .iter()
            .zip(&relaxed.duals)
            .map(|(c, y)| c * y)
            .sum::<f64>();
        let dual = capacity
            + relaxed
                .reduced_costs
                .iter()
                .map(|d| d.min(0.0))
                .sum::<f64>();
        assert!(
            (dual - relaxed.objective).abs() <= 1e-8 * scale,
            "instance {number}: {dual} {}",
            relaxed.objective
        );
        assert!(relaxed.duals.iter().all(|y| *y <= 0.0), "instance {number}");
        assert_eq!(
            relaxed.basis.len(),
            problem.weights().len(),
            "instance {number}"
        );
        for (row, capacity) in problem.weights().iter().zip(problem.capacity()) {
            assert!(
                relaxed.decision.dot(row) <= capacity + 1e-8 * capacity.max(1.0),
                "instance {number}"
            );
        }
    }
}

#[test]
fn a_reused_solver_returns_the_same_as_a_new_one() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 5, [0, 0]);
    let row = |stream: &mut RandomStream| {
        (0..40)
            .map(|_| (stream.uniform(3.0, 8.0) * 10.0).round() / 10.0)
            .collect()
    };
    let problem =
        Knapsack::with_capacity_fraction((0..3).map(|_| row(&mut stream)).collect(), 0.3).unwrap();
    let mut reused = solver(&problem, SearchLimits::default());
    for kind in 0..40 {
        let rounded = |cost: f64| if kind % 2 == 0 { cost.round() } else { cost };
        let costs: Vec<f64> = (0..40)
            .map(|_| rounded(stream.uniform(-8.0, 1.0)))
            .collect();
        let by_new_solver = solver(&problem, SearchLimits::default())
            .solve(&costs)
            .unwrap();
        assert_eq!(reused.solve(&costs).unwrap(), by_new_solver);
    }
}

#[test]
fn a_node_limit_leaves_a_valid_bound() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 6, [0, 0]);
    let row = |stream: &mut RandomStream| (0..60).map(|_| stream.uniform(3.0, 8.0)).collect();
    let problem =
        Knapsack::with_capacity_fraction((0..4).map(|_| row(&mut stream)).collect(), 0.4).unwrap();
    let (mut num_stopped, mut num_within_gap) = (0, 0);
    for _ in 0..20 {
        let costs: Vec<f64> = (0..60).map(|_| stream.uniform(-8.0, -4.0)).collect();
        let optimum = solver(&problem, SearchLimits::default())
            .solve(&costs)
            .unwrap();
        for nodes in [1, 5, 30] {
            let limited = solver(
                &problem,
                SearchLimits {
                    nodes,
                    gap: 0.0,
                    ..SearchLimits::default()
                },
            )
            .solve(&costs)
            .unwrap();
            problem.check(&limited.decision).unwrap();
            assert!(
                limited.bound <= optimum.objective + 1e-9
                    && limited.objective >= optimum.objective - 1e-9
            );
            num_stopped += u32::from(limited.status == SolveStatus::LimitReached);
        }
        let within_gap = solver(
            &problem,
            SearchLimits {
                gap: 0.01,
                ..SearchLimits::default()
            },
        )
        .solve(&costs)
        .unwrap();
        assert!(
            within_gap.bound <= optimum.objective + 1e-9,
            "{} {}",
            within_gap.bound,
            optimum.objective
        );
        assert!(
            within_gap.objective - within_gap.bound <= 0.01 * within_gap.objective.abs() + 1e-9
        );
        if let SolveStatus::WithinGap(gap) = within_gap.status {
            assert!(gap <= 0.01 + 1e-12);
            num_within_gap += 1;
        }
    }
    assert!(num_stopped > 0 && num_within_gap > 0);
}

#[test]
fn decimal_weights_may_fill_a_capacity_exactly() {
    let weights = vec![vec![6.9, 6.7, 6.4, 3.1, 0.1, 0.2]];
    let problem = Knapsack::new(weights, vec![20.0]).unwrap();
    let solution = solver(&problem, SearchLimits::default())
        .solve(&[-6.9, -6.7, -6.4, -3.0, 0.0, -1e-3])
        .unwrap();
    assert_eq!(solution.decision.indices(), [0, 1, 2]);
}

#[test]
fn items_without_value_are_left_out_and_items_without_weight_are_chosen() {
    let problem = Knapsack::new(vec![vec![0.0, 0.0, 1.0, 9.0]], vec![2.0]).unwrap();
    let solution = solver(&problem, SearchLimits::default())
        .solve(&[-1.0, 0.0, 2.0, -50.0])
        .unwrap();
    assert_eq!(solution.decision.indices(), [0]);
    assert!(
        solver(&problem, SearchLimits::default())
            .solve(&[1.0])
            .is_err()
    );
}

#[test]
fn golden_knapsacks_have_their_optima_and_relaxed_optima() {
    let golden = golden("solvers");
    let case = &golden["problems"]["KS14"];
    let capacity = numbers(&case["problem"]["capacity"]);
    let problem = Knapsack::new(rows(&case["problem"]["weights"]), capacity).unwrap();
    let mut solver = solver(&problem, SearchLimits::default());
    let (optima, relaxed_optima) = (
        numbers(&case["objectives"]),
        numbers(&case["lp_objectives"]),
    );
    let (points, fractions) = (rows(&case["solutions"]), rows(&case["lp_solutions"]));
    for (index, values) in rows(&case["costs"]).iter().enumerate() {
        let costs: Vec<f64> = values.iter().map(|v| -v).collect();
        let solution = solver.solve(&costs).unwrap();
        assert_close(&[-solution.objective], &[optima[index]], 1e-8, "objective");
        let mut dense = vec![0.0; costs.len()];
        solution.decision.write_dense(&mut dense);
        assert_eq!(dense, points[index]);
        let relaxed = solver.relax(&costs).unwrap();
        assert_close(
            &[-relaxed.objective],
            &[relaxed_optima[index]],
            1e-8,
            "relaxed objective",
        );
        relaxed.decision.write_dense(&mut dense);
        assert_close(&dense, &fractions[index], 1e-8, "relaxed solution");
        for basic in &relaxed.basis {
            if let KnapsackBasicVariable::Item(item) = basic {
                assert_eq!(relaxed.reduced_costs[*item as usize], 0.0);
            }
        }
    }
}

/// The knapsacks of a published file, their values negated.
fn published(path: &str) -> Vec<(Knapsack, Vec<f64>)> {
    let instances = orlib::read(&reference_data().join(path))
        .unwrap()
        .into_iter();
    let knapsack = |instance: orlib::OrLibInstance| {
        let costs = instance.values.iter().map(|value| -value).collect();
        (
            Knapsack::new(instance.weights, instance.capacity).unwrap(),
            costs,
        )
    };
    instances.map(knapsack).collect()
}

/// A column of a CSV file.
fn column(path: &str, column: usize) -> Vec<f64> {
    let text = std::fs::read_to_string(reference_data().join(path)).unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.split(',').nth(column).unwrap().parse().unwrap())
        .collect()
}

#[test]
fn published_small_instances_reach_their_optima() {
    let instances = published("mkp/mknap1.txt");
    let (optima, relaxed_optima) = (
        column("mkp/mknap1_opt.csv", 3),
        column("mkp/mknap1_opt.csv", 4),
    );
    assert_eq!(instances.len(), optima.len());
    for ((problem, costs), (optimum, relaxed_optimum)) in instances
        .into_iter()
        .zip(optima.into_iter().zip(relaxed_optima))
    {
        let mut solver = solver(&problem, SearchLimits::default());
        assert_close(
            &[-solver.solve(&costs).unwrap().objective],
            &[optimum],
            1e-9,
            "optimum",
        );
        assert_close(
            &[-solver.relax(&costs).unwrap().objective],
            &[relaxed_optimum],
            1e-7,
            "relaxed optimum",
        );
    }
}

/// Fails unless the solver proves that this is the most that can be packed; costs are negated
/// profits.
fn assert_solved(problem: &Knapsack, costs: &[f64], optimum: f64) {
    let solution = solver(problem, SearchLimits::default())
        .solve(costs)
        .unwrap();
    assert_eq!(
        (-solution.objective, solution.status),
        (optimum, SolveStatus::Optimal)
    );
}

/// Solves the first instances of a hard published set, or all of them.
fn solve_hard_instances(count: Option<usize>) {
    let instances = published("mkp/mknapcb1.txt");
    let optima = column("mkp/mknapcb1_best.csv", 1);
    assert_eq!(instances.len(), optima.len());
    let count = count.unwrap_or(instances.len());
    assert!((1..=instances.len()).contains(&count));
    for ((problem, costs), optimum) in instances.into_iter().zip(optima).take(count) {
        assert_solved(&problem, &costs, optimum);
    }
    print_suite_summary(count, Some(count));
}

#[test]
fn published_hard_instances_reach_their_optima() {
    solve_hard_instances(Some(5));
}

#[test]
#[ignore = "the full set takes several seconds"]
fn all_published_hard_instances_reach_their_optima() {
    solve_hard_instances(None);
}

/// Solves the problems of a published file of 48, all of them or those with few dimensions, and
/// compares with the optima, which the file has too.
fn solve_published_collection(max_dimensions: usize) {
    let instances = orlib::read(&reference_data().join("mkp/mknap2.txt")).unwrap();
    let optima = column("mkp/mknap2_opt.csv", 3);
    assert_eq!((instances.len(), optima.len()), (48, 48));
    let known: Vec<f64> = instances.iter().filter_map(|i| i.best_known).collect();
    assert_eq!(known, optima);
    let mut solved = 0;
    for ((problem, costs), optimum) in published("mkp/mknap2.txt").into_iter().zip(optima) {
        if problem.capacity().len() > max_dimensions {
            continue;
        }
        assert_solved(&problem, &costs, optimum);
        solved += 1;
    }
    print_suite_summary(solved, Some(solved));
}

#[test]
fn published_problems_between_lines_of_text_reach_their_optima() {
    solve_published_collection(5);
}

#[test]
#[ignore = "the full set takes several seconds"]
fn all_published_problems_between_lines_of_text_reach_their_optima() {
    solve_published_collection(usize::MAX);
}

/// House prices in dollars, in row order.
fn house_prices() -> Vec<f64> {
    let text =
        std::fs::read_to_string(reference_data().join("california/cal_housing.csv")).unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect()
}

/// Solves every instance of a file of house knapsacks, with true and, if present, predicted
/// values.
fn solve_houses(file: &str) {
    let folder = reference_data();
    let case: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("caks").join(file)).unwrap()).unwrap();
    let to_hundredths = |row: Vec<f64>| row.iter().map(|w| 10.0 * w).collect();
    let weights = rows(&case["weights_tenths"])
        .into_iter()
        .map(to_hundredths)
        .collect();
    let problem = Knapsack::new(weights, numbers(&case["capacity_hundredths"])).unwrap();
    let prices = house_prices();
    let mut solver = solver(&problem, SearchLimits::default());
    let mut check = |costs: &[f64], optimum: &serde_json::Value| {
        let solution = solver.solve(costs).unwrap();
        assert_eq!(-solution.objective, optimum.as_f64().unwrap());
        problem.check(&solution.decision).unwrap();
    };
    for instance in case["instances"].as_array().unwrap() {
        let houses = numbers(&instance["rows"]);
        check(
            &houses
                .iter()
                .map(|row| -prices[*row as usize])
                .collect::<Vec<_>>(),
            &instance["optimum_dollars"],
        );
        if let Some(predicted) = instance.get("pred_micro") {
            let costs: Vec<f64> = numbers(predicted).iter().map(|v| -v).collect();
            check(&costs, &instance["pred_optimum_micro"]);
        }
    }
}

#[test]
fn knapsacks_of_100_houses_reach_their_optima() {
    solve_houses("caks_n100.json");
}

#[test]
fn knapsacks_of_500_houses_reach_their_optima() {
    solve_houses("caks_n500.json");
}

#[test]
fn knapsacks_of_1000_houses_reach_their_optima() {
    solve_houses("caks_n1000.json");
}

#[test]
fn a_knapsack_without_items_is_refused_with_a_message() {
    let error = Knapsack::new(vec![vec![]], vec![1.0]).unwrap_err();
    assert!(error.to_string().contains("at least one item"));
    let json = r#"{"weights": [], "capacity": []}"#;
    assert!(serde_json::from_str::<Knapsack>(json).is_err());
}
